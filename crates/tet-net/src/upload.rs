//! A file written to an object store.
//!
//! ```text
//!   short   one request
//!   long    an upload of several parts, at the same time: begun, parts, ended; given up if one fails
//! ```
//!
//! Parts are reported, and no further request is made when the caller asks to stop: the upload is then given up.
//!
//! The object is there when the last request succeeds, and before it as it was. One that may not be replaced is
//! refused by the server (`If-None-Match`, `If-Match`), in the same request. The object carries the number of its
//! upload: after an answer that was lost it says whether the upload took place.

use std::hash::{BuildHasher, RandomState};
use std::io;

use rusty_s3::S3Action;
use rusty_s3::actions::{CompleteMultipartUploadResponse, CreateMultipartUpload};
use tet_io::{Error, Result, Source, Step, UrlReplace, at_once};
use url::Url;

use crate::http::Send;
use crate::ranges::{FileVersion, RangeFailure, RangeSource, Wanted};
use crate::retry;
use crate::s3::{S3, SIGNED_FOR};
use crate::settings::Settings;

/// The length of a part, and of what is written with one request.
const PART_LEN: u64 = 8 << 20;
/// An upload has at most 10,000 parts.
const PARTS_MAX: u64 = 9_000;
/// Parts that are written at the same time.
const PARTS_AT_ONCE: usize = 4;
/// The header with the number of an upload.
const NUMBER: &str = "x-amz-meta-tet-upload";

/// Checks that there is no object, if it may not be replaced.
pub(crate) fn check_target(s3: &S3, replace: bool, settings: &Settings) -> Result<()> {
    if replace {
        return Ok(());
    }
    let first = Wanted::From { offset: 0, len: 1 };
    match retry::get(s3, (first, None), &mut Vec::new(), settings) {
        Ok(_) => Err(Error::Exists { path: s3.name().into() }),
        Err(error) if kind(&error) == Some(io::ErrorKind::NotFound) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Writes the object.
pub(crate) fn write(
    s3: &S3,
    content: &Source,
    replace: UrlReplace<'_>,
    settings: &Settings,
) -> Result<()> {
    let condition = match replace {
        UrlReplace::Nothing => Some(("if-none-match", "*")),
        UrlReplace::Any => None,
        UrlReplace::Version(version) => {
            let etag = FileVersion::etag_of(version).ok_or_else(|| {
                let text = "the server gives the file no ETag, by which it could be replaced";
                Error::io(Step::Write, s3.name().as_ref(), io::Error::other(text))
            })?;
            Some(("if-match", etag))
        }
    };
    let number = format!("{:016x}", RandomState::new().hash_one(content.len()));
    let upload = Upload { s3, content, condition, number, settings };
    let written = if content.len() <= PART_LEN { upload.short() } else { upload.long() };
    written.map_err(|error| match kind(&error) {
        Some(io::ErrorKind::AlreadyExists) => Error::Exists { path: s3.name().into() },
        Some(io::ErrorKind::StaleNetworkFileHandle) => Error::Unsure { path: s3.name().into() },
        _ => error,
    })
}

fn kind(error: &Error) -> Option<io::ErrorKind> {
    error.system().map(|(_, error)| error.kind())
}

struct Upload<'a> {
    s3: &'a S3,
    content: &'a Source,
    /// The header of a request that makes the object visible: which one that is there may be replaced.
    condition: Option<(&'static str, &'a str)>,
    number: String,
    settings: &'a Settings,
}

impl Upload<'_> {
    fn repeated<T>(&self, attempt: impl FnMut() -> Result<T, RangeFailure>) -> Result<T> {
        retry::repeated(self.s3.name(), Step::Write, self.settings, attempt)
    }

    /// Repeats the request that makes the object visible.
    fn made(&self, mut attempt: impl FnMut() -> Result<(), RangeFailure>) -> Result<()> {
        let has_no_upload = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        // Whether an earlier try may have made it visible.
        let mut is_lost = false;
        self.repeated(|| match attempt() {
            Err(RangeFailure::Changed) if self.is_made() => Ok(()),
            Err(RangeFailure::Changed) => match self.condition {
                Some(("if-none-match", _)) => {
                    Err(RangeFailure::Final(io::ErrorKind::AlreadyExists.into()))
                }
                _ if is_lost => {
                    Err(RangeFailure::Final(io::ErrorKind::StaleNetworkFileHandle.into()))
                }
                _ => Err(RangeFailure::Changed),
            },
            Err(RangeFailure::Final(error)) if has_no_upload(&error) && self.is_made() => Ok(()),
            outcome => {
                is_lost |= matches!(outcome, Err(RangeFailure::Later { .. }));
                outcome
            }
        })
    }

    /// Whether the object is that of this upload.
    fn is_made(&self) -> bool {
        let head = self.s3.send(Send::Head, &[], |bucket, keys, key| {
            bucket.head_object(keys, key).sign(SIGNED_FOR)
        });
        head.is_ok_and(|answer| answer.header(NUMBER) == Some(&self.number))
    }

    fn short(&self) -> Result<()> {
        let mut body = vec![0; usize::try_from(self.content.len()).unwrap_or(usize::MAX)];
        self.content.read_exact_at(0, &mut body)?;
        let number = (NUMBER, self.number.as_str());
        let headers: Vec<_> = self.condition.into_iter().chain([number]).collect();
        self.made(|| {
            let sent = self.s3.send(Send::Put(&body), &headers, |bucket, keys, key| {
                signed(bucket.put_object(keys, key), &headers)
            });
            sent.map(drop)
        })
    }

    fn long(&self) -> Result<()> {
        let id = self.begun()?;
        let written = self.parts(&id).and_then(|etags| self.ended(&id, &etags));
        if written.is_err() {
            // What is left of it is not visible; the error that is given is the first.
            let _ = self.s3.send(Send::Delete, &[], |bucket, keys, key| {
                bucket.abort_multipart_upload(keys, key, &id).sign(SIGNED_FOR)
            });
        }
        written
    }

    /// Begins an upload of several parts; its name.
    fn begun(&self) -> Result<String> {
        let headers = [(NUMBER, self.number.as_str())];
        self.repeated(|| {
            let answer = self.s3.send(Send::Post(&[]), &headers, |bucket, keys, key| {
                signed(bucket.create_multipart_upload(keys, key), &headers)
            })?;
            let parsed = CreateMultipartUpload::parse_response(&answer.body);
            parsed.map(|it| it.upload_id().to_owned()).map_err(|_| not_understood())
        })
    }

    /// Writes the parts, several at the same time; their ETags.
    fn parts(&self, id: &str) -> Result<Vec<String>> {
        let len = self.content.len();
        let part_len = PART_LEN.max(len.div_ceil(PARTS_MAX).next_multiple_of(1 << 20));
        let count = usize::try_from(len.div_ceil(part_len)).unwrap_or(usize::MAX);
        let depth = PARTS_AT_ONCE.min(self.settings.depth);
        let progress = self.settings.progress.begin(len);
        at_once((count, depth), |nth| {
            let etag = self.part(id, nth, part_len)?;
            // Whether the caller asks to stop is seen before the next request.
            let _ = progress.advance(part_len);
            Ok(etag)
        })
    }

    /// Writes one part; its ETag.
    fn part(&self, id: &str, nth: usize, part_len: u64) -> Result<String> {
        let start = part_len.saturating_mul(nth as u64);
        let len = part_len.min(self.content.len().saturating_sub(start));
        let mut body = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
        self.content.read_exact_at(start, &mut body)?;
        let number = u16::try_from(nth + 1).unwrap_or(u16::MAX);
        self.repeated(|| {
            let answer = self.s3.send(Send::Put(&body), &[], |bucket, keys, key| {
                bucket.upload_part(keys, key, number, id).sign(SIGNED_FOR)
            })?;
            answer.header("etag").map(str::to_owned).ok_or_else(not_understood)
        })
    }

    /// Ends the upload: the object is there.
    fn ended(&self, id: &str, etags: &[String]) -> Result<()> {
        let headers: Vec<_> = self.condition.into_iter().collect();
        let etags = || etags.iter().map(String::as_str);
        self.made(|| {
            let bucket = self.s3.bucket()?;
            let body = bucket.complete_multipart_upload(None, "", id, etags()).body();
            let send = Send::Post(body.as_bytes());
            let answer = self.s3.send(send, &headers, |bucket, keys, key| {
                signed(bucket.complete_multipart_upload(keys, key, id, etags()), &headers)
            })?;
            // The status is sent before the server knows.
            let parsed = CompleteMultipartUploadResponse::parse(&answer.body);
            let text = "the server does not end the upload";
            parsed.map(drop).map_err(|_| RangeFailure::later(io::Error::other(text)))
        })
    }
}

/// The URL of a request with headers, which are signed too.
fn signed<'a>(mut action: impl S3Action<'a>, headers: &[(&'a str, &'a str)]) -> Url {
    for (name, value) in headers {
        action.headers_mut().insert(*name, *value);
    }
    action.sign(SIGNED_FOR)
}

fn not_understood() -> RangeFailure {
    RangeFailure::refused("the server's answer to an upload is not understood")
}
