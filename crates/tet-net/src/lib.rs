//! Files on servers as sources of bytes.
//!
//! ```text
//!   address      https://, http://, s3://, gs://, az://  -> server and access
//!   credentials  where keys and tokens are from; account: those that were fetched, until they end
//!   ranges       one request: a range, the version that it has to be of -> bytes
//!   http, s3, azure   who asks
//!   connect      through which proxy, and which certificates a server may have
//!   retry        requests that are repeated, and when
//!   object       the requests of a store that write, list and remove
//!   upload       a file written to a store: one request, or several parts
//!   objects      what a store has below a prefix; objects removed
//!   block_cache  blocks of files in a folder, for later runs; cached: ranges that are taken from it
//!   download     a file whose server has no ranges, whole
//!   remote       a tet_io::ReadAt: what is in memory, and requests for the rest
//! ```
//!
//! Nothing here reads the environment, but for the folder of temporary files: [`Settings::lookup`] gives the
//! variables that a program passes on. No message and no `Debug` has a key, a token or the query of a URL.

#![forbid(unsafe_code)]

mod account;
mod address;
mod azure;
mod block_cache;
mod blocks;
mod body;
mod cached;
mod connect;
mod credentials;
mod download;
mod hex;
mod http;
mod object;
mod objects;
mod ranges;
mod remote;
mod retry;
mod s3;
mod settings;
mod upload;

use std::fmt;
use std::sync::Arc;

use tet_io::{
    Error, Operation, PendingUpload, PutMode, Result, Source, UrlList, UrlStore, UrlUpload,
};

pub use block_cache::BlockCache;
pub use http::Http;
pub use ranges::{FileVersion, RangeAnswer, RangeFailure, RangeSource, Wanted};
pub use remote::Remote;
pub use s3::S3;
pub use settings::{Lookup, Settings};

use self::account::Secrets;
use self::address::Address;
use self::azure::Azure;
use self::cached::Cached;
use self::http::Client;
use self::object::Object;
use self::upload::Upload;

/// Opens the file of a URL: `https://`, `http://`, `s3://bucket/key`, `gs://bucket/key` or
/// `az://container/blob`.
///
/// ```
/// use tet_net::Settings;
///
/// let error = tet_net::open("ftp://host/file", &Settings::default()).unwrap_err();
/// assert!(error.to_string().contains("http, https, s3, gs and az"));
/// ```
///
/// # Errors
///
/// The URL is not understood, the server cannot be reached, refuses the request, or has no ranges.
pub fn open(url: &str, settings: &Settings) -> Result<Source> {
    Servers::new(settings.clone()).open(url)
}

/// Opens the file of a URL over the connections of `client`.
fn open_at(address: Address, client: &Client, settings: &Settings) -> Result<Source> {
    let (name, object) = (address.name().to_owned(), address.object());
    let open = |ranges: Box<dyn RangeSource>| {
        let ranges = match &settings.cache {
            Some(cache) => Box::new(Cached::new(ranges, cache.clone(), object.clone())),
            None => ranges,
        };
        let remote = Remote::open(ranges, settings)?;
        Ok(Source::from_named_reader(&name, Arc::new(remote)))
    };
    match address {
        Address::S3(bucket) => open(Box::new(S3::new(bucket, client.clone()))),
        Address::Azure(blob) => open(Box::new(Azure::new(blob, client.clone()))),
        Address::Http { url, name } => {
            let http = || Http::by(client.clone(), url.clone(), name.clone());
            let opened = open(Box::new(http()));
            match (opened, settings.download) {
                (Err(error), Some(len_max)) if download::is_needed(&error) => {
                    download::open(&http(), len_max, &object, &settings.of_thread())
                }
                (opened, _) => opened,
            }
        }
    }
}

/// From now on [`Source::open`] opens URLs in this process, with these settings, and
/// [`Publisher`](tet_io::Publisher) writes to those of `s3://`, `gs://` and `az://`.
pub fn register(settings: Settings) {
    tet_io::set_url_store(Servers::new(settings));
}

/// The files of all servers, over connections and with tokens that they share.
struct Servers {
    settings: Settings,
    client: Client,
    secrets: Secrets,
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Servers").field(&self.settings).finish()
    }
}

impl Servers {
    fn new(settings: Settings) -> Self {
        Servers { client: Client::new(&settings), settings, secrets: Secrets::default() }
    }

    fn address(&self, url: &str, step: Operation) -> Result<Address> {
        let address = Address::parse(url, (&self.settings.lookup, &self.secrets));
        address.map_err(|error| Error::io(step, url.as_ref(), error))
    }

    /// The object of a URL, or of the prefix of objects; `None` for a server of files.
    fn object(&self, url: &str, step: Operation) -> Result<Option<Box<dyn Object>>> {
        match self.address(url, step)? {
            Address::S3(bucket) => Ok(Some(Box::new(S3::new(bucket, self.client.clone())))),
            Address::Azure(blob) => Ok(Some(Box::new(Azure::new(blob, self.client.clone())))),
            Address::Http { .. } => Ok(None),
        }
    }

    /// The object of a URL that is written.
    fn output(&self, url: &str) -> Result<Box<dyn Object>> {
        let object = self.object(url, Operation::Write)?;
        object.ok_or_else(|| Error::UrlOutput { path: url.into() })
    }
}

impl UrlStore for Servers {
    fn open(&self, url: &str) -> Result<Source> {
        // The file stays open longer than the work of this thread.
        open_at(self.address(url, Operation::Open)?, &self.client, &self.settings)
    }

    fn depth(&self) -> usize {
        self.settings.depth
    }

    fn check_target(&self, url: &str, replace: bool) -> Result<()> {
        upload::check_target(&*self.output(url)?, replace, &self.settings.of_thread())
    }

    fn is_conditional(&self, url: &str) -> bool {
        self.output(url).is_ok_and(|object| object.is_conditional())
    }

    fn may_copy(&self, from: &str, to: &str) -> bool {
        self.output(to).is_ok_and(|object| object.other(from).is_some())
    }

    fn write(&self, url: &str, content: &Source, replace: PutMode<'_>) -> Result<()> {
        upload::write(self.output(url)?, content, replace, &self.settings.of_thread())
    }

    fn begin_upload(&self, url: &str, replace: PutMode<'_>) -> Result<Box<dyn UrlUpload>> {
        Ok(Box::new(Upload::begin(self.output(url)?, replace, &self.settings.of_thread())?))
    }

    fn list(&self, url: &str, count_max: usize) -> Result<UrlList> {
        match self.object(url, Operation::Read)? {
            Some(object) => objects::list(&*object, count_max, &self.settings.of_thread()),
            None => Err(Error::UrlFolder { path: url.into() }),
        }
    }

    fn uploads(&self, url: &str) -> Result<Vec<PendingUpload>> {
        match self.object(url, Operation::Read)? {
            Some(object) => objects::uploads(&*object, &self.settings.of_thread()),
            None => Err(Error::UrlFolder { path: url.into() }),
        }
    }

    fn abort_upload(&self, url: &str, id: &str) -> Result<()> {
        objects::abort(&*self.output(url)?, id, &self.settings.of_thread())
    }

    fn remove(&self, url: &str) -> Result<()> {
        objects::remove(&*self.output(url)?, &self.settings.of_thread())
    }
}

#[cfg(test)]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
