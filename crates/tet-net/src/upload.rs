//! A file written to an object store.
//!
//! ```text
//!   short   one request
//!   long    an upload of several parts, at the same time: begun, parts, ended; given up if it is not ended
//! ```
//!
//! A part whose bytes another object of the server has is copied there, of the version that was opened, and is neither read
//! nor sent. Where a server does not copy it, for any reason, it is sent.
//!
//! Parts are reported that are sent when the file is complete, and no further request is made when the caller asks to
//! stop: the upload is then given up.
//!
//! The object is there when the last request succeeds, and before it as it was. One that may not be replaced is
//! refused by the server (`If-None-Match`, `If-Match`), in the same request. The object carries the number of its
//! upload: after an answer that was lost it says whether the upload took place.
//!
//! A store that ignores conditions gets a HEAD request right before an object is made, and replaces no version.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tet_format::Span;
use tet_io::{Error, Operation, PutMode, Result, Source, UrlPart, UrlUpload, at_once};

use crate::body::Body;
use crate::object::{CopiedRange, Object};
use crate::ranges::{FileVersion, RangeFailure, Wanted};
use crate::retry;
use crate::settings::Settings;

/// Parts that are sent at the same time.
const PARTS_AT_ONCE: usize = 4;

/// Checks that there is no object, if it may not be replaced.
pub(crate) fn check_target(object: &dyn Object, replace: bool, settings: &Settings) -> Result<()> {
    if replace {
        return Ok(());
    }
    let first = Wanted::From { offset: 0, len: 1 };
    match retry::get(object, first, None, &mut Vec::new(), settings) {
        Ok(_) => Err(Error::Exists { path: object.name().into() }),
        Err(error) if kind(&error) == Some(io::ErrorKind::NotFound) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Writes the object: one part with one request, more with an upload.
pub(crate) fn write(
    object: Box<dyn Object>,
    content: &Source,
    replace: PutMode<'_>,
    settings: &Settings,
) -> Result<()> {
    let parts = UrlPart::all_of(content.len());
    match &*parts {
        [] | [_] => NewObject::new(object, replace, settings)?.short(content),
        parts => Upload::begin(object, replace, settings)?.finish(content, parts),
    }
}

fn kind(error: &Error) -> Option<io::ErrorKind> {
    error.system().map(|(_, error)| error.kind())
}

/// An object that is written.
#[derive(Debug)]
struct NewObject {
    object: Box<dyn Object>,
    /// The header of a request that makes the object visible: which one that is there may be replaced.
    condition: Option<(&'static str, String)>,
    /// Whether no object may be replaced.
    is_new: bool,
    /// Whether the store ignores `If-None-Match`: a HEAD request comes before the write.
    checks_first: bool,
    number: String,
    settings: Settings,
}

impl NewObject {
    fn new(object: Box<dyn Object>, replace: PutMode<'_>, settings: &Settings) -> Result<Self> {
        let is_conditional = object.is_conditional();
        let is_new = replace == PutMode::Create;
        let condition = match replace {
            PutMode::Update(_) if !is_conditional => {
                return Err(Error::UrlUnconditional { path: object.name().into() });
            }
            PutMode::Create => object.condition(None).filter(|_| is_conditional),
            PutMode::Overwrite => None,
            PutMode::Update(version) => Some(object.condition(Some(version)).ok_or_else(|| {
                let text = "the server gives the file no ETag, by which it could be replaced";
                Error::io(Operation::Write, object.name().as_ref(), io::Error::other(text))
            })?),
        };
        let is_looked_for = is_new && !is_conditional;
        let number = format!("{:016x}", RandomState::new().hash_one(object.name()));
        let settings = settings.clone();
        Ok(NewObject { object, condition, is_new, checks_first: is_looked_for, number, settings })
    }

    fn repeated<T>(&self, attempt: impl FnMut() -> Result<T, RangeFailure>) -> Result<T> {
        retry::repeated(self.object.name(), Operation::Write, &self.settings, attempt)
    }

    fn condition(&self) -> Option<(&str, &str)> {
        self.condition.as_ref().map(|(name, value)| (*name, value.as_str()))
    }

    fn numbered(&self) -> (&str, &str) {
        (self.object.number_header(), &self.number)
    }

    /// Repeats the request that makes the object visible.
    fn made(&self, mut attempt: impl FnMut() -> Result<(), RangeFailure>) -> Result<()> {
        check_target(&*self.object, !self.checks_first, &self.settings)?;
        let has_no_upload = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        // Whether an earlier try may have made it visible.
        let mut is_lost = false;
        let made = self.repeated(|| {
            let Err(failure) = attempt() else { return Ok(()) };
            // A server may refuse the second try of what it has done.
            let is_refused = match &failure {
                RangeFailure::Changed => true,
                RangeFailure::Final(error) => is_lost || has_no_upload(error),
                _ => false,
            };
            if is_refused && self.is_made(is_lost)? {
                return Ok(());
            }
            is_lost |= matches!(failure, RangeFailure::Later { .. });
            Err(match failure {
                RangeFailure::Changed if self.is_new => {
                    RangeFailure::Final(io::ErrorKind::AlreadyExists.into())
                }
                RangeFailure::Changed if is_lost => unsure(),
                failure => failure,
            })
        });
        let path = || self.object.name().into();
        made.map_err(|error| match kind(&error) {
            Some(io::ErrorKind::AlreadyExists) => Error::Exists { path: path() },
            Some(io::ErrorKind::StaleNetworkFileHandle) => Error::Unsure { path: path() },
            _ => error,
        })
    }

    /// Whether the object is that of this upload; where that cannot be found out, it is not, unless an answer was lost.
    fn is_made(&self, is_lost: bool) -> Result<bool, RangeFailure> {
        let number = self.repeated(|| match self.object.number() {
            Err(RangeFailure::Final(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            outcome => outcome,
        });
        match number {
            Ok(number) => Ok(number.as_ref() == Some(&self.number)),
            Err(_) if is_lost => Err(unsure()),
            Err(_) => Ok(false),
        }
    }

    /// Writes the object with one request.
    fn short(&self, content: &Source) -> Result<()> {
        let headers: Vec<_> = self.condition().into_iter().chain([self.numbered()]).collect();
        let span = Span::new(0, content.len()).unwrap_or(Span::EMPTY);
        self.made(|| self.object.put(Body::Part(content, span), &headers))
    }
}

/// The object may have been written: [`Error::Unsure`].
fn unsure() -> RangeFailure {
    RangeFailure::Final(io::ErrorKind::StaleNetworkFileHandle.into())
}

/// An upload of several parts.
#[derive(Debug)]
pub(crate) struct Upload {
    new: NewObject,
    /// Its name.
    id: String,
    /// Entity tags of the parts that have arrived, which complete the upload.
    sent: Mutex<BTreeMap<usize, String>>,
    /// The URLs of the objects that parts were copied of, and their versions.
    copied: Mutex<BTreeSet<(String, String)>>,
    is_ended: AtomicBool,
}

impl Upload {
    pub(crate) fn begin(
        object: Box<dyn Object>,
        replace: PutMode<'_>,
        settings: &Settings,
    ) -> Result<Self> {
        let new = NewObject::new(object, replace, settings)?;
        let is_conditional = new.condition.is_some();
        let id = new.repeated(|| new.object.begin(&[new.numbered()], is_conditional))?;
        let (sent, copied) = Default::default();
        Ok(Upload { new, id, sent, copied, is_ended: AtomicBool::new(false) })
    }

    /// Has a part copied; `None` where the server does not.
    fn copied(&self, part: UrlPart, from: &Source, start: u64) -> Option<String> {
        let url = from.path()?.to_str()?;
        let version = from.version()?;
        let etag = FileVersion::etag_of(version)?;
        self.new.object.other(url)?;
        let range = CopiedRange { url, etag, span: Span::new(start, part.span.len())? };
        let of = (url.to_owned(), version.to_owned());
        self.copied.lock().unwrap_or_else(PoisonError::into_inner).insert(of);
        let copy = || self.new.object.copy(&self.id, part.nth, &range);
        self.new.repeated(copy).ok()
    }

    /// Checks that the objects that parts were copied of are still those: there are servers that ignore the version of a
    /// copy.
    fn check_copied(&self) -> Result<()> {
        let settings = &self.new.settings;
        let copied =
            std::mem::take(&mut *self.copied.lock().unwrap_or_else(PoisonError::into_inner));
        let copied: Vec<_> = copied.into_iter().collect();
        at_once(copied.len(), settings.depth, |nth| {
            let Some((url, version)) = copied.get(nth) else { return Ok(()) };
            let Some(other) = self.new.object.other(url) else { return Ok(()) };
            let answer = retry::get(
                &*other,
                Wanted::From { offset: 0, len: 1 },
                None,
                &mut Vec::new(),
                settings,
            )?;
            if answer.version.text().as_ref() == Some(version) {
                Ok(())
            } else {
                Err(Error::Changed { path: url.into() })
            }
        })?;
        Ok(())
    }
}

impl UrlUpload for Upload {
    fn send(&self, content: &Source, part: UrlPart) -> Result<()> {
        let UrlPart { nth, span } = part;
        let body = Body::Part(content, span);
        let sent = self.new.repeated(|| self.new.object.part(&self.id, nth, body))?;
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).insert(nth, sent);
        Ok(())
    }

    fn copy(&self, part: UrlPart, from: &Source, start: u64) -> bool {
        let copied = self.copied(part, from, start);
        let is_copied = copied.is_some();
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.extend(copied.map(|copied| (part.nth, copied)));
        is_copied
    }

    fn finish(&self, content: &Source, rest: &[UrlPart]) -> Result<()> {
        let settings = &self.new.settings;
        let progress = settings.progress.begin(rest.iter().map(|part| part.span.len()).sum());
        let depth = PARTS_AT_ONCE.min(settings.depth);
        at_once(rest.len(), depth, |nth| {
            let Some(part) = rest.get(nth) else { return Ok(()) };
            self.send(content, *part)?;
            // Whether the caller asks to stop is seen before the next request.
            let _ = progress.advance(part.span.len());
            Ok(())
        })?;
        self.check_copied()?;
        let sent = std::mem::take(&mut *self.sent.lock().unwrap_or_else(PoisonError::into_inner));
        let sent: Vec<String> = sent.into_values().collect();
        let headers: Vec<_> = self.new.condition().into_iter().collect();
        self.new.made(|| self.new.object.end(&self.id, &sent, &headers))?;
        self.is_ended.store(true, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if !self.is_ended.load(Ordering::Relaxed) {
            // Its parts are not visible; the error that was given is the first.
            let _ = self.new.object.abort(&self.id);
        }
    }
}
