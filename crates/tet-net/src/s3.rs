//! Ranges of an object of S3, each request signed in its query, or not at all.

mod google;
mod object;

use std::fmt;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};
use rusty_s3::{Credentials, S3Action, UrlStyle};
use url::Url;

use crate::account::Account;
use crate::credentials::{Keys, Secret};
use crate::http::{Client, Send, ServerResponse};
use crate::object::{Headers, authorized};
use crate::ranges::{FileVersion, RangeAnswer, RangeFailure, RangeSource, Wanted};

/// How long a signature is good for.
const SIGNED_FOR: Duration = Duration::from_secs(600);

/// Characters that are encoded in the name of an object in a header.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Differences of a store from others with a similar API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    /// S3, or a server of its kind.
    S3,
    /// Google, with tokens: its own names of headers, and conditions by generations.
    Google,
    /// Google, with HMAC keys or none: it ignores conditions of writes.
    GoogleByKeys,
}

/// An object, and the access to it.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    /// A server other than those of AWS.
    pub endpoint: Option<String>,
    pub region: String,
    pub bucket: String,
    pub key: String,
    pub account: Account,
    pub store: Store,
    /// The URL, for messages.
    pub name: String,
}

/// An object of S3, or of a server with its API; [`open`](crate::open) makes it.
///
/// ```
/// use tet_net::{Lookup, Settings};
///
/// let endpoint = |name: &str| (name == "AWS_ENDPOINT_URL").then(|| "http://localhost:1".to_owned());
/// let settings = Settings { tries: 1, lookup: Lookup::new(endpoint), ..Settings::default() };
/// let error = tet_net::open("s3://bucket/key", &settings).unwrap_err();
/// assert!(error.to_string().starts_with("cannot open s3://bucket/key: "));
/// ```
pub struct S3 {
    client: Client,
    bucket: Bucket,
    /// The region of the bucket, as far as it is known.
    region: RwLock<String>,
}

impl fmt::Debug for S3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("S3").field(&self.bucket.name).finish()
    }
}

impl S3 {
    pub(crate) fn new(bucket: Bucket, client: Client) -> Self {
        let region = RwLock::new(bucket.region.clone());
        S3 { client, bucket, region }
    }

    /// Another object of the same server.
    fn with(&self, bucket: Bucket) -> S3 {
        S3::new(bucket, self.client.clone())
    }

    /// The name of the object in its bucket.
    fn key(&self) -> &str {
        &self.bucket.key
    }

    fn region(&self) -> String {
        self.region.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The bucket in its region.
    fn bucket(&self) -> Result<rusty_s3::Bucket, RangeFailure> {
        let Bucket { endpoint, bucket, .. } = &self.bucket;
        let region = self.region();
        // Certificates are for one level of names below the endpoint.
        let style = if endpoint.is_some() || bucket.contains('.') {
            UrlStyle::Path
        } else {
            UrlStyle::VirtualHost
        };
        let endpoint =
            endpoint.clone().unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
        let endpoint = Url::parse(&endpoint)
            .map_err(|_| RangeFailure::refused("the endpoint is not a URL"))?;
        rusty_s3::Bucket::new(endpoint, style, bucket.clone(), region)
            .map_err(|_| RangeFailure::refused("the bucket or the endpoint is not understood"))
    }

    /// The URL of one request, which `sign` makes of the bucket, the keys and the name of the object; and a header, where a
    /// token takes the place of keys.
    fn request(
        &self,
        sign: impl Fn(&rusty_s3::Bucket, Option<&Credentials>, &str) -> Url,
    ) -> Result<(Url, Option<String>), RangeFailure> {
        let (keys, header) = match self.bucket.account.secret(&self.client)? {
            None => (None, None),
            Some(Secret::Header(value)) => (None, Some(value)),
            Some(Secret::Keys(keys)) => {
                let Keys { key, secret, token } = keys;
                let keys = match token {
                    Some(token) => Credentials::new_with_token(key, secret, token),
                    None => Credentials::new(key, secret),
                };
                (Some(keys), None)
            }
        };
        Ok((sign(&self.bucket()?, keys.as_ref(), &self.bucket.key), header))
    }

    /// Makes a request that is not one for a range.
    fn send(
        &self,
        send: Send<'_>,
        headers: &Headers<'_>,
        sign: impl Fn(&rusty_s3::Bucket, Option<&Credentials>, &str) -> Url,
    ) -> Result<ServerResponse, RangeFailure> {
        self.in_region(|| {
            let (url, header) = self.request(&sign)?;
            self.client.send(send, &url, &authorized(header.as_deref(), headers))
        })
    }

    /// Repeats a request once where the server tells the region of a bucket that is in another.
    fn in_region<T>(
        &self,
        mut request: impl FnMut() -> Result<T, RangeFailure>,
    ) -> Result<T, RangeFailure> {
        let outcome = match request() {
            Err(RangeFailure::Region(region)) if region != self.region() => {
                *self.region.write().unwrap_or_else(PoisonError::into_inner) = region;
                request()
            }
            Err(RangeFailure::Region(_)) => Err(RangeFailure::denied(403)),
            outcome => outcome,
        };
        outcome.map_err(|failure| self.bucket.account.explained(failure))
    }
}

impl RangeSource for S3 {
    fn name(&self) -> &str {
        &self.bucket.name
    }

    fn get(
        &self,
        wanted: Wanted,
        pinned: Option<&FileVersion>,
        out: &mut Vec<u8>,
    ) -> Result<RangeAnswer, RangeFailure> {
        self.in_region(|| {
            let (mut url, header) =
                self.request(|bucket, keys, key| bucket.get_object(keys, key).sign(SIGNED_FOR))?;
            let headers = authorized(header.as_deref(), &[]);
            self.client.get(&mut url, &headers, wanted, pinned, out)
        })
    }
}
