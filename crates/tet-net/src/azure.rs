//! Ranges of a blob of Azure, each request with a shared access signature in its query, or without one.

mod access;
mod connection;
mod object;

use std::fmt;

use url::Url;
use url::form_urlencoded::Serializer;

use crate::credentials::Secret;
use crate::http::{Client, Send, ServerResponse};
use crate::object::{Headers, authorized, bucket_and_key};
use crate::ranges::{FileVersion, RangeAnswer, RangeFailure, RangeSource, Wanted};

pub(crate) use access::Access;
pub(crate) use connection::variables;

/// The version of the service API: blocks of up to 4,000 MiB, also of those that are copied with a token.
const VERSION: &str = "2020-10-02";
/// Scheme of the URL of a blob.
const SCHEME: &str = "az://";

/// A blob, and the access to it.
#[derive(Debug)]
pub(crate) struct Blob {
    /// The container, without a query.
    pub container: Url,
    /// Its name in the container.
    pub key: String,
    pub access: Access,
    /// The URL, for messages.
    pub name: String,
}

impl Blob {
    /// The address of the blob, without a signature.
    pub(crate) fn url(&self) -> Url {
        let mut url = self.container.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.extend(self.key.split('/'));
        }
        url
    }
}

/// A blob of Azure; [`open`](crate::open) makes it.
pub(crate) struct Azure {
    client: Client,
    blob: Blob,
}

impl fmt::Debug for Azure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Azure").field(&self.blob.name).finish()
    }
}

impl Azure {
    pub(crate) fn new(blob: Blob, client: Client) -> Self {
        Azure { client, blob }
    }

    /// Another blob of the same account.
    fn other_blob(&self, url: &str) -> Option<Azure> {
        let (container, key) = bucket_and_key(url, SCHEME)?;
        let mut at = self.blob.container.clone();
        at.path_segments_mut().ok()?.pop().push(container);
        let (key, access, name) = (key.to_owned(), self.blob.access.clone(), url.to_owned());
        Some(Azure::new(Blob { container: at, key, access, name }, self.client.clone()))
    }

    /// Signs the URL of a request; the value of its header, where a token takes the place of a signature.
    fn signed(&self, url: &mut Url) -> Result<Option<String>, RangeFailure> {
        self.blob.access.sign(url);
        match &self.blob.access {
            Access::Account(account) => match account.secret(&self.client)? {
                Some(Secret::Header(value)) => Ok(Some(value)),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Makes a request that is not one for a range, to a URL with what it asks for in its query.
    fn send(
        &self,
        send: Send<'_>,
        mut url: Url,
        query: &[(&str, &str)],
        headers: &Headers<'_>,
    ) -> Result<ServerResponse, RangeFailure> {
        let header = self.signed(&mut url)?;
        let query = Serializer::new(String::new()).extend_pairs(query).finish();
        // A space is one in every reading.
        let query = query.replace('+', "%20");
        let parts = url.query().into_iter().chain(Some(&*query)).filter(|it| !it.is_empty());
        let query = parts.collect::<Vec<_>>().join("&");
        url.set_query(if query.is_empty() { None } else { Some(&query) });
        let headers = [&[("x-ms-version", VERSION)], headers].concat();
        let headers = authorized(header.as_deref(), &headers);
        self.client.send(send, &url, &headers).map_err(|failure| self.explained(failure))
    }

    fn explained(&self, failure: RangeFailure) -> RangeFailure {
        match &self.blob.access {
            Access::Account(account) => account.explained(failure),
            _ => failure,
        }
    }
}

impl RangeSource for Azure {
    fn name(&self) -> &str {
        &self.blob.name
    }

    fn get(
        &self,
        wanted: Wanted,
        pinned: Option<&FileVersion>,
        out: &mut Vec<u8>,
    ) -> Result<RangeAnswer, RangeFailure> {
        let mut url = self.blob.url();
        let header = self.signed(&mut url)?;
        // Without a token, ranges need no version.
        let version: &Headers<'_> =
            if header.is_some() { &[("x-ms-version", VERSION)] } else { &[] };
        let headers = authorized(header.as_deref(), version);
        let got = self.client.get(&mut url, &headers, wanted, pinned, out);
        got.map_err(|failure| self.explained(failure))
    }
}
