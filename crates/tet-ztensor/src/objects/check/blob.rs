//! Checks one blob: compares it with its digest, decodes it, and looks at its elements.

use tet_codec::{WINDOW_LOG_MAX, ZstdScan, ZstdStart};
use tet_format::{ForeignRule, Span};
use tet_io::{Progress, Source};
use tet_report::Level;

use super::super::container::Version;
use super::super::file::ObjectFile;
use super::super::object::ManifestObject;
use super::super::part::{ObjectPart, PartEncoding};
use super::super::rule;
use super::super::sparse::zstd_rule;
use super::super::values::{Search, Values};
use crate::checksum::{Checksum, Comparison};
use crate::error::{Error, Fault, Result};
use crate::frames::{Frames, SeekTable};

/// The longest content of a frame.
const CONTENT_LEN_MAX: u64 = 16 << 20;

/// Buffers that a thread reuses from blob to blob.
#[derive(Default)]
pub(super) struct Scratch {
    window: Vec<u8>,
    scan: Option<ZstdScan>,
}

/// The properties that parts must share for one check of their blob.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Shared {
    shard: Option<usize>,
    stored: (u64, u64),
    encoding: PartEncoding,
    decoded_len: Option<u64>,
    digest: Option<Checksum>,
    values: Values,
}

/// The check of one blob.
pub(super) struct BlobCheck<'a> {
    file: &'a ObjectFile,
    source: &'a Source,
    part: &'a ObjectPart,
    digest: Option<Checksum>,
    values: Values,
}

impl<'a> BlobCheck<'a> {
    /// The check of a part, if there is one: only what has a digest, unless all bytes are checked.
    pub(super) fn for_part(
        file: &'a ObjectFile,
        object: &ManifestObject,
        part: &'a ObjectPart,
        level: Level,
    ) -> Option<BlobCheck<'a>> {
        let source = file.source_of(part)?;
        let digest = part.digest.filter(|digest| digest.is_known());
        let is_wanted = level == Level::Deep || digest.is_some();
        let values = Values::for_part(object, part);
        is_wanted.then_some(BlobCheck { file, source, part, digest, values })
    }

    pub(super) fn shared(&self) -> Shared {
        let ObjectPart { shard, stored, encoding, decoded_len, .. } = *self.part;
        let stored = (stored.start(), stored.len());
        let (digest, values) = (self.digest, self.values);
        Shared { shard, stored, encoding, decoded_len, digest, values }
    }

    /// The number of stored bytes.
    pub(super) fn len(&self) -> u64 {
        self.part.stored.len()
    }

    /// The number of decoded bytes.
    pub(super) fn decoded_len(&self) -> u64 {
        match self.part.encoding {
            PartEncoding::Zstd => self.part.decoded_len.unwrap_or(0),
            _ => self.part.stored.len(),
        }
    }

    /// The name of the shard that holds the blob.
    pub(super) fn shard_name(&self) -> Option<&str> {
        Some(self.file.shards().get(self.part.shard?)?.name.as_str())
    }

    fn at_start(&self, rule: &'static ForeignRule, found: u64, wanted: u64) -> Fault {
        Fault { rule, at: self.part.stored.start(), found, wanted }
    }

    /// Runs the check.
    pub(super) fn run(&self, scratch: &mut Scratch, progress: &Progress) -> Result<Vec<Fault>> {
        match self.part.encoding {
            PartEncoding::Zstd => self.zstd(scratch, progress),
            PartEncoding::Raw | PartEncoding::Unknown => self.raw(scratch, progress),
        }
    }

    fn raw(&self, scratch: &mut Scratch, progress: &Progress) -> Result<Vec<Fault>> {
        let is_decoded = self.part.encoding == PartEncoding::Raw;
        let is_compared = is_decoded || self.file.version() == Version::One;
        let digest = self.digest.filter(|_| is_compared);
        let mut comparison = digest.map(Comparison::new);
        let mut search = Search::new(if is_decoded { self.values } else { Values::Any });
        let window = &mut scratch.window;
        progress.pieces::<Error>(self.source, self.part.stored, window, |_, bytes| {
            search.update(bytes);
            if let Some(comparison) = &mut comparison {
                comparison.update(bytes);
            }
            true
        })?;
        Ok(self.results(comparison, &search, self.part.stored.start()))
    }

    fn zstd(&self, scratch: &mut Scratch, progress: &Progress) -> Result<Vec<Fault>> {
        let stored_len = self.part.stored.len();
        let decoded_max = self.part.decoded_len.unwrap_or(self.file.limits().sparse_len_max);
        let Scratch { window, scan } = scratch;
        let memory = || Error::Limit { what: "memory of a decoder", wanted: 0, limit: 0 };
        let scan = match scan {
            Some(scan) => scan,
            None => scan.insert(ZstdScan::new().map_err(|_| memory())?),
        };
        scan.begin(decoded_max, WINDOW_LOG_MAX).map_err(|_| memory())?;
        let is_of_stored = self.file.version() == Version::One;
        let mut comparison = self.digest.map(Comparison::new);
        let (mut search, mut fault) = (Search::new(self.values), None);
        progress.pieces::<Error>(self.source, self.part.stored, window, |_, bytes| {
            if let Some(comparison) = comparison.as_mut().filter(|_| is_of_stored) {
                comparison.update(bytes);
            }
            if fault.is_none() {
                fault = scan
                    .update_with(bytes, |decoded| {
                        search.update(decoded);
                        if let Some(comparison) = comparison.as_mut().filter(|_| !is_of_stored) {
                            comparison.update(decoded);
                        }
                    })
                    .err();
            }
            true
        })?;
        let ended = fault.map_or(Ok(()), Err).and_then(|()| {
            scan.finish_with(|decoded| {
                search.update(decoded);
                if let Some(comparison) = comparison.as_mut().filter(|_| !is_of_stored) {
                    comparison.update(decoded);
                }
            })
        });
        let wanted = self.part.decoded_len;
        let (rule, found) = match ended {
            Ok(scanned) if wanted.is_none_or(|wanted| wanted == scanned.decoded_len) => {
                let mut found = self.results(comparison, &search, self.part.stored.start());
                found.extend(self.frames()?);
                return Ok(found);
            }
            Ok(scanned) => (&rule::ZSTD_LEN, scanned.decoded_len),
            Err(fault) => (zstd_rule(&fault), 0),
        };
        let at = self.part.stored.start().saturating_add(scan.position().min(stored_len));
        Ok(vec![Fault { rule, at, found, wanted: wanted.unwrap_or(0) }])
    }

    /// Faults found by a comparison and a search.
    fn results(&self, comparison: Option<Comparison>, search: &Search, at: u64) -> Vec<Fault> {
        let differs = comparison.and_then(Comparison::differs);
        let differs =
            differs.map(|(found, wanted)| self.at_start(&rule::BLOB_DIGEST, found, wanted));
        let wrong = search.finish().map(|it| {
            // A decoded byte has no offset in the file.
            let is_raw = self.part.encoding == PartEncoding::Raw;
            let at = at.saturating_add(if is_raw { it.at } else { 0 });
            Fault { rule: it.rule, at, found: it.found, wanted: it.wanted }
        });
        differs.into_iter().chain(wrong).collect()
    }

    /// Checks the frames against the profile of version 2.
    fn frames(&self) -> Result<Option<Fault>> {
        if self.file.version() == Version::One || self.part.decoded_len == Some(0) {
            return Ok(None);
        }
        let fault = self.at_start(&rule::FRAMES_FORM, 0, 0);
        let Some(frames) = self.file.frames(self.part)? else { return Ok(Some(fault)) };
        let is_form = frames.seek_table() == SeekTable::Agrees && is_even(&frames);
        if !is_form {
            return Ok(Some(fault));
        }
        for frame in frames.list() {
            let head = Span::new(frame.stored.start(), frame.stored.len().min(ZstdStart::LEN_MAX));
            let Some(head) = head else { return Ok(Some(fault)) };
            let head = self.source.read_vec(head.start(), head.len())?;
            let has_checksum =
                matches!(ZstdStart::read(&head, 0), Ok(ZstdStart::Frame { checksum_len: 4, .. }));
            if !has_checksum {
                return Ok(Some(fault));
            }
        }
        Ok(None)
    }
}

/// Whether all frames but the last have one length, and none is longer than it may be.
fn is_even(frames: &Frames) -> bool {
    let len = |at: &crate::Frame| at.decoded.end.saturating_sub(at.decoded.start);
    let lens: Vec<u64> = frames.list().iter().map(len).collect();
    let Some((last, others)) = lens.split_last() else { return true };
    let first = others.first().unwrap_or(last);
    others.iter().all(|len| len == first) && last <= first && *first <= CONTENT_LEN_MAX
}
