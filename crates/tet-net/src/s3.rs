//! Ranges of an object of S3, each request signed in its query, or not at all.

mod object;

use std::fmt;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use rusty_s3::{Credentials, S3Action, UrlStyle};
use url::Url;

use crate::credentials::Keys;
use crate::http::{Answer, Client, Send};
use crate::ranges::{FileVersion, RangeAnswer, RangeFailure, RangeSource, Wanted};

/// How long a signature is good for.
const SIGNED_FOR: Duration = Duration::from_secs(600);

/// An object, and how it is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    /// A server other than those of AWS.
    pub endpoint: Option<String>,
    pub region: String,
    pub bucket: String,
    pub key: String,
    pub keys: Option<Keys>,
    /// Why there are no keys, and what to do if requests are refused.
    pub keyless: String,
    /// Whether a write with `If-Match` or `If-None-Match` is refused where it has to be.
    pub is_conditional: bool,
    /// The URL, for messages.
    pub name: String,
}

/// An object of S3, or of a server that is asked like S3; [`open`](crate::open) makes it.
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

    /// The URL of one request, which `sign` makes of the bucket, the keys and the name of the object.
    fn url(
        &self,
        sign: impl Fn(&rusty_s3::Bucket, Option<&Credentials>, &str) -> Url,
    ) -> Result<Url, RangeFailure> {
        let keys = self.bucket.keys.as_ref().map(|keys| match &keys.token {
            Some(token) => Credentials::new_with_token(&keys.key, &keys.secret, token),
            None => Credentials::new(&keys.key, &keys.secret),
        });
        Ok(sign(&self.bucket()?, keys.as_ref(), &self.bucket.key))
    }

    /// Makes a request that is not one for a range.
    fn send(
        &self,
        send: Send<'_>,
        headers: &[(&str, &str)],
        sign: impl Fn(&rusty_s3::Bucket, Option<&Credentials>, &str) -> Url,
    ) -> Result<Answer, RangeFailure> {
        self.in_region(|| self.client.send(send, &self.url(&sign)?, headers))
    }

    /// Repeats a request once where the server tells the region of a bucket that is in another.
    fn in_region<T>(
        &self,
        mut request: impl FnMut() -> Result<T, RangeFailure>,
    ) -> Result<T, RangeFailure> {
        let keyless = self.bucket.keys.is_none().then_some(&*self.bucket.keyless);
        let outcome = match request() {
            Err(RangeFailure::Region(region)) if region != self.region() => {
                *self.region.write().unwrap_or_else(PoisonError::into_inner) = region;
                request()
            }
            Err(RangeFailure::Region(_)) => Err(RangeFailure::denied(403)),
            outcome => outcome,
        };
        outcome.map_err(|failure| failure.without_keys(keyless))
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
        let url = || self.url(|bucket, keys, key| bucket.get_object(keys, key).sign(SIGNED_FOR));
        self.in_region(|| self.client.get(&mut url()?, (wanted, pinned), out))
    }
}
