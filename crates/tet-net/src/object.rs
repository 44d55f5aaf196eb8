//! An object that can be written: the requests of one store, each made once.

use std::io;

use tet_format::Span;
use tet_io::{PendingUpload, UrlList};

use crate::body::Body;
use crate::http::{ServerResponse, range};
use crate::ranges::{FileVersion, RangeFailure, RangeSource, Wanted};

/// Headers of a request.
pub(crate) type Headers<'a> = [(&'a str, &'a str)];

/// The headers of a request with the value of `Authorization`, if it has one.
pub(crate) fn authorized<'a>(
    authorization: Option<&'a str>,
    headers: &Headers<'a>,
) -> Vec<(&'a str, &'a str)> {
    let first = authorization.map(|value| ("authorization", value));
    first.into_iter().chain(headers.iter().copied()).collect()
}

/// The bucket and the key of a URL with this scheme.
pub(crate) fn bucket_and_key<'a>(url: &'a str, scheme: &str) -> Option<(&'a str, &'a str)> {
    url.strip_prefix(scheme)?.split_once('/')
}

/// Where a page of uploads ends: a key, and an upload.
pub(crate) type Markers = (String, String);

/// Uploads, and where they go on.
pub(crate) type UploadPage = (Vec<PendingUpload>, Option<Markers>);

/// Bytes of an object of which the server makes a part of an upload.
#[derive(Debug)]
pub(crate) struct CopiedRange<'a> {
    /// The URL of the object, of which [`Object::other`] makes one.
    pub(crate) url: &'a str,
    /// The version that it has to have.
    pub(crate) etag: &'a str,
    pub(crate) span: Span,
}

/// The header by which a write replaces a version, by its ETag, or no object.
pub(crate) fn by_etag(version: Option<&str>) -> Option<(&'static str, String)> {
    match version {
        None => Some(("if-none-match", "*".to_owned())),
        Some(version) => Some(("if-match", FileVersion::etag_of(version)?.to_owned())),
    }
}

/// Whether an answer is that of a store that wrote an object: it has the ETag of the new version, and one of a proxy or of a
/// web server has none.
pub(crate) fn is_written(answer: &ServerResponse) -> Result<(), RangeFailure> {
    let text = "the server does not say that it wrote the file";
    let is_written = answer.header("etag").is_some();
    is_written.then_some(()).ok_or_else(|| RangeFailure::later(io::Error::other(text)))
}

impl CopiedRange<'_> {
    /// The value of the header of the range.
    pub(crate) fn range(&self) -> String {
        range(Wanted::From { offset: self.span.start(), len: self.span.len() })
    }
}

/// An object of a store, and what is below it as a prefix.
pub(crate) trait Object: RangeSource {
    /// The header with the number of an upload.
    fn number_header(&self) -> &'static str;

    /// The number of the upload that wrote the object.
    fn number(&self) -> Result<Option<String>, RangeFailure>;

    /// Whether the store refuses to replace another version than the one of the condition of a write.
    fn is_conditional(&self) -> bool {
        true
    }

    /// The header by which a write replaces a version, or no object; `None` where the version does not have what is
    /// compared.
    fn condition(&self, version: Option<&str>) -> Option<(&'static str, String)> {
        by_etag(version)
    }

    /// Writes the object.
    fn put(&self, body: Body<'_>, headers: &Headers<'_>) -> Result<(), RangeFailure>;

    /// Begins an upload in parts, which may end with a condition; its name.
    fn begin(&self, headers: &Headers<'_>, is_conditional: bool) -> Result<String, RangeFailure>;

    /// Sends a part, which takes the place of one with the same number; what [`Object::end`] needs of it.
    fn part(&self, upload: &str, nth: usize, body: Body<'_>) -> Result<String, RangeFailure>;

    /// The object of another URL, if the server may copy bytes of it.
    fn other(&self, url: &str) -> Option<Box<dyn RangeSource>> {
        let _ = url;
        None
    }

    /// Makes a part of bytes of another object, which are not sent; what [`Object::end`] needs of it.
    fn copy(
        &self,
        upload: &str,
        nth: usize,
        from: &CopiedRange<'_>,
    ) -> Result<String, RangeFailure> {
        let _ = (upload, nth, from);
        Err(RangeFailure::refused("this server copies nothing"))
    }

    /// Makes the object of its parts, in their order.
    fn end(
        &self,
        upload: &str,
        parts: &[String],
        headers: &Headers<'_>,
    ) -> Result<(), RangeFailure>;

    /// Gives an upload up.
    fn abort(&self, upload: &str) -> Result<(), RangeFailure>;

    /// A page of what is directly below the object's name and a slash, and the token of the next page.
    fn list(&self, token: Option<&str>) -> Result<(UrlList, Option<String>), RangeFailure>;

    /// A page of the uploads directly below the object's name and a slash, and the markers of the next page.
    fn uploads(&self, after: Option<&Markers>) -> Result<UploadPage, RangeFailure> {
        let _ = after;
        Ok((Vec::new(), None))
    }

    /// Removes the object.
    fn remove(&self) -> Result<(), RangeFailure>;
}
