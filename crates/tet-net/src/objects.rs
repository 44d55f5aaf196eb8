//! What a bucket has below a prefix, and objects removed.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use rusty_s3::S3Action;
use rusty_s3::actions::ListObjectsV2;
use tet_io::{FolderEntry, Result, Step, UrlList};

use crate::http::Send;
use crate::ranges::{RangeFailure, RangeSource};
use crate::retry;
use crate::s3::{S3, SIGNED_FOR};
use crate::settings::Settings;

/// What is directly below a prefix, by one request for every 1,000 entries.
pub(crate) fn list(s3: &S3, count_max: usize, settings: &Settings) -> Result<UrlList> {
    let prefix = format!("{}/", s3.key().trim_end_matches('/'));
    let (mut found, mut next) = (UrlList::default(), None::<String>);
    loop {
        let answer = retry::repeated(s3.name(), Step::Read, settings, || {
            let answer = s3.send(Send::Get, &[], |bucket, keys, _| {
                let mut list = bucket.list_objects_v2(keys);
                list.with_prefix(&*prefix);
                list.with_delimiter("/");
                if let Some(next) = &next {
                    list.with_continuation_token(next);
                }
                list.sign(SIGNED_FOR)
            })?;
            let parsed = ListObjectsV2::parse_response(&answer.body).map_err(|_| {
                RangeFailure::refused("the server's list of objects is not understood")
            })?;
            let date = answer.header("date");
            Ok((parsed, date.and_then(|date| rfc2822::parse(date).ok()).map(|it| it.timestamp())))
        })?;
        let (answer, now) = answer;
        for object in answer.contents {
            let Some(name) = object.key.strip_prefix(&prefix) else { continue };
            if name.is_empty() || name.contains('/') {
                continue;
            }
            let changed = object.last_modified.and_then(|it| it.parse::<Timestamp>().ok());
            let age = now
                .zip(changed)
                .and_then(|(now, changed)| Duration::try_from(now.duration_since(changed)).ok());
            let (name, len) = (name.to_owned(), object.size.unwrap_or(0));
            found.files.push(FolderEntry { name, len, age });
        }
        let folders = answer.common_prefixes.iter();
        let folders = folders.filter_map(|it| it.prefix.strip_prefix(&prefix)?.strip_suffix('/'));
        found.folders.extend(folders.map(str::to_owned));
        let count = found.files.len().saturating_add(found.folders.len());
        match answer.next_continuation_token {
            Some(token) if count <= count_max && next.as_ref() != Some(&token) => {
                next = Some(token);
            }
            rest => {
                found.is_cut = rest.is_some() || count_max < count;
                found.files.truncate(count_max);
                found.folders.truncate(count_max - found.files.len());
                return Ok(found);
            }
        }
    }
}

/// Removes an object; one that is not there is removed.
pub(crate) fn remove(s3: &S3, settings: &Settings) -> Result<()> {
    retry::repeated(s3.name(), Step::Remove, settings, || {
        let sent = s3.send(Send::Delete, &[], |bucket, keys, key| {
            bucket.delete_object(keys, key).sign(SIGNED_FOR)
        });
        match sent {
            Err(RangeFailure::Final(error)) if error.kind() == std::io::ErrorKind::NotFound => {
                Ok(())
            }
            outcome => outcome.map(drop),
        }
    })
}
