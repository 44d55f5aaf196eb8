//! Ranges of a blob of Azure, each request with a shared access signature in its query, or without one.

mod access;
mod connection;
mod object;

use std::fmt;

use url::Url;
use url::form_urlencoded::Serializer;

use crate::http::{Answer, Client, Send};
use crate::object::Headers;
use crate::ranges::{FileVersion, RangeAnswer, RangeFailure, RangeSource, Wanted};

pub(crate) use access::Access;
pub(crate) use connection::variables;

/// The version of the service that is asked: blocks of up to 4,000 MiB.
const VERSION: &str = "2019-12-12";
/// Why requests without a signature may be refused, and what to do then.
const KEYLESS: &str = "there is no key: set AZURE_STORAGE_SAS_TOKEN, AZURE_STORAGE_KEY or \
                       AZURE_STORAGE_CONNECTION_STRING";

/// A blob, and how it is asked for.
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

    /// Makes a request that is not one for a range, to a URL with what it asks for in its query.
    fn send(
        &self,
        send: Send<'_>,
        (mut url, query): (Url, &[(&str, &str)]),
        headers: &Headers<'_>,
    ) -> Result<Answer, RangeFailure> {
        self.blob.access.sign(&mut url);
        let query = Serializer::new(String::new()).extend_pairs(query).finish();
        // A space is one in every reading.
        let query = query.replace('+', "%20");
        let parts = url.query().into_iter().chain(Some(&*query)).filter(|it| !it.is_empty());
        let query = parts.collect::<Vec<_>>().join("&");
        url.set_query(if query.is_empty() { None } else { Some(&query) });
        let headers = [&[("x-ms-version", VERSION)], headers].concat();
        self.client.send(send, &url, &headers).map_err(|failure| self.explained(failure))
    }

    fn explained(&self, failure: RangeFailure) -> RangeFailure {
        failure.without_keys(matches!(self.blob.access, Access::Public).then_some(KEYLESS))
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
        self.blob.access.sign(&mut url);
        let got = self.client.get(&mut url, (wanted, pinned), out);
        got.map_err(|failure| self.explained(failure))
    }
}
