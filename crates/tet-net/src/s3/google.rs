//! Objects of Google that are written with a condition.
//!
//! Its XML API compares the generation of an object for writes with one request. An upload of several parts has no condition:
//! its parts become an object beside the one that is written, which is then copied there, with the condition, and removed.
//!
//! <https://cloud.google.com/storage/docs/request-preconditions>

use percent_encoding::utf8_percent_encode;
use rusty_s3::S3Action;

use super::{Bucket, ENCODED, S3, SIGNED_FOR};
use crate::body::Body;
use crate::http::Send;
use crate::object::{Headers, Object};
use crate::objects::gone;
use crate::ranges::{FileVersion, RangeFailure};

/// The header with the number of an upload.
pub(super) const NUMBER: &str = "x-goog-meta-tet-upload";
/// The header of a condition.
const GENERATION: &str = "x-goog-if-generation-match";
/// Prefix of the name of an upload whose parts become an object beside.
const BESIDE: &str = "beside ";

/// How often it is tried to remove the object beside.
const REMOVALS_MAX: i32 = 3;

/// The condition that a write replaces a version, or no object.
pub(super) fn condition(version: Option<&str>) -> Option<(&'static str, String)> {
    let generation = version.map_or(Some("0"), FileVersion::generation_of)?;
    Some((GENERATION, generation.to_owned()))
}

impl S3 {
    /// Begins an upload of an object beside this one.
    pub(super) fn begin_beside(&self, headers: &Headers<'_>) -> Result<String, RangeFailure> {
        let number = headers.iter().find(|(name, _)| *name == NUMBER).map_or("", |it| it.1);
        let upload = self.named_beside(number).begin(headers, false)?;
        Ok(format!("{BESIDE}{number} {upload}"))
    }

    /// The object beside this one, and the name of its upload; `None` for another upload.
    pub(super) fn beside<'a>(&self, upload: &'a str) -> Option<(S3, &'a str)> {
        let (number, upload) = upload.strip_prefix(BESIDE)?.split_once(' ')?;
        Some((self.named_beside(number), upload))
    }

    fn named_beside(&self, number: &str) -> S3 {
        let key = format!("{}.{number}.tet-upload", self.key());
        self.with(Bucket { key, ..self.bucket.clone() })
    }

    /// Ends the upload of the object beside this one, and makes this one of it. What an earlier try did is not done again.
    pub(super) fn end_beside(
        &self,
        beside: &S3,
        upload: &str,
        parts: &[String],
        headers: &Headers<'_>,
    ) -> Result<(), RangeFailure> {
        match beside.end(upload, parts, &[]) {
            Err(RangeFailure::Final(error)) if error.kind() == std::io::ErrorKind::NotFound => {
                beside.number()?.ok_or(RangeFailure::Final(error))?;
            }
            outcome => outcome?,
        }
        let key = utf8_percent_encode(beside.key(), ENCODED);
        let from = format!("/{}/{key}", self.bucket.bucket);
        let headers = [&[("x-goog-copy-source", &*from)], headers].concat();
        let copied = self.send(Send::Put(Body::Bytes(&[])), &headers, |bucket, keys, key| {
            bucket.put_object(keys, key).sign(SIGNED_FOR)
        });
        match copied {
            Err(RangeFailure::Changed) if self.number()? == beside.number()? => {}
            outcome => drop(outcome?),
        }
        // The write took place: that nothing is left beside it is no reason to fail.
        let _ = (0..REMOVALS_MAX).find(|_| gone(beside.remove()).is_ok());
        Ok(())
    }
}
