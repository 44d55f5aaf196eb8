//! Checks one blob: compares it with its checksum, and decodes it.

use std::ops::Range;

use tet_codec::{Scanned, WINDOW_LOG_MAX, ZstdScan};
use tet_format::{DType, ForeignRule, Span};
use tet_io::{Progress, Source};
use tet_report::Level;

use super::collect::FieldFault;
use super::elements::{Elements, Numbers, Search};
use super::parts::Role;
use super::sparse::{Memory, check_in_pieces};
use crate::checksum::{Checksum, Comparison};
use crate::error::{Error, Fault, Result, zstd_rule};
use crate::frames::{self, SeekTable};
use crate::limits::Limits;
use crate::rule;
use crate::sparse;
use crate::stored::{Check, Sound};
use crate::tensor::Tensor;
use crate::words::Encoding;

/// Buffers that a thread reuses from blob to blob.
#[derive(Default)]
pub(super) struct Scratch {
    window: Vec<u8>,
    scan: Option<ZstdScan>,
}

/// The properties that tensors must share for one check of their blob.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Shared {
    stored: Range<u64>,
    checksum: Option<Checksum>,
    /// The encoding, the decoded length, and whether the elements are bools.
    decoded: Option<(Encoding, u64, bool)>,
}

/// The check of one blob.
pub(super) struct BlobCheck<'a> {
    tensor: Tensor<'a>,
    stored: Span,
    checksum: Option<Checksum>,
    /// The tensor, if its blob is to be decoded.
    sound: Option<Sound<'a>>,
    /// Required numbers, if it is a part of a sparse tensor.
    role: Option<&'a Role>,
}

impl<'a> BlobCheck<'a> {
    /// The check of a tensor, if any: a blob is compared even if its dtype is unknown.
    pub(super) fn for_tensor(
        tensor: Tensor<'a>,
        depth: Level,
        role: Option<&'a Role>,
    ) -> Option<Self> {
        let stored = tensor.stored()?;
        let checksum = tensor.checksum().filter(|checksum| checksum.is_known());
        let sound = Sound::from_tensor(tensor).ok().filter(|sound| {
            let is_bool = tensor.dtype() == Some(DType::Bool);
            let has_more = sound.encoding == Encoding::Zstd || sound.layout.is_sparse();
            depth == Level::Deep && (has_more || is_bool || role.is_some())
        });
        let is_nothing = checksum.is_none() && sound.is_none();
        (!is_nothing).then_some(BlobCheck { tensor, stored, checksum, sound, role })
    }

    /// Key of equal checks; `None` if the result depends on the entry too, as for a sparse tensor
    /// or a part of one.
    pub(super) fn shared(&self) -> Option<Shared> {
        let decoded = match &self.sound {
            Some(sound) if sound.layout.is_sparse() || self.role.is_some() => return None,
            Some(sound) => Some((sound.encoding, sound.decoded_len, self.is_bool())),
            None => None,
        };
        Some(Shared { stored: self.stored.range(), checksum: self.checksum, decoded })
    }

    fn is_bool(&self) -> bool {
        self.tensor.dtype() == Some(DType::Bool)
    }

    /// The number of stored bytes to check.
    pub(super) fn len(&self) -> u64 {
        self.stored.len()
    }

    /// The decoded length, if the blob is decoded; sparse tensors have their own limit.
    pub(super) fn decoded_len(&self) -> u64 {
        let dense = self.sound.as_ref().filter(|sound| !sound.layout.is_sparse());
        dense.map_or(0, |sound| sound.decoded_len)
    }

    /// Runs the check.
    pub(super) fn run(
        &self,
        scratch: &mut Scratch,
        source: &Source,
        limits: &Limits,
        memory: &Memory,
        progress: &Progress,
    ) -> Result<Vec<FieldFault>> {
        let mut found = Vec::new();
        let Scratch { window, scan } = scratch;
        let mut looks = Checks::new(self, scan)?;
        progress.pieces::<Error>(source, self.stored, window, |_, bytes| {
            looks.update(bytes);
            true
        })?;
        looks.finish(self, &mut found);
        if let Some(sound) = &self.sound {
            if sound.encoding == Encoding::Zstd {
                self.check_frames(source, &mut found)?;
            }
            if sound.layout.is_sparse() {
                self.check_positions(source, limits, memory, sound, progress, &mut found)?;
            }
        }
        Ok(found)
    }

    fn push(&self, found: &mut Vec<FieldFault>, fault: Fault) {
        found.push(FieldFault { fault, position: Some(self.tensor.position()), field: "" });
    }

    fn at_start(&self, rule: &'static ForeignRule, found: u64, wanted: u64) -> Fault {
        Fault { rule, at: self.stored.start(), found, wanted }
    }

    fn check_frames(&self, source: &Source, found: &mut Vec<FieldFault>) -> Result<()> {
        let frames = frames::frames(source, self.stored, None)?;
        let Some(frames) = frames else { return Ok(()) };
        if frames.seek_table() == SeekTable::Differs {
            self.push(found, self.at_start(&rule::SEEK_TABLE, 0, frames.list().len() as u64));
        } else if frames.seek_table() == SeekTable::Absent && frames.skipped_len() > 0 {
            self.push(found, self.at_start(&rule::ZSTD_SKIPPABLE, frames.skipped_len(), 0));
        }
        Ok(())
    }

    /// Checks the positions of a sparse tensor: in memory, or else piece by piece.
    fn check_positions(
        &self,
        source: &Source,
        limits: &Limits,
        memory: &Memory,
        sound: &Sound<'_>,
        progress: &Progress,
        found: &mut Vec<FieldFault>,
    ) -> Result<()> {
        let len = match sound.encoding {
            Encoding::Raw => Some(self.stored.len()),
            Encoding::Zstd => {
                frames::frames(source, self.stored, None)?.map(|frames| frames.decoded_len())
            }
        };
        let faults = match memory.hold(len, self.stored.len()) {
            Some(_hold) => self.check_in_memory(source, limits, sound),
            None => check_in_pieces(source, sound, limits, len, progress),
        };
        match faults {
            Ok(faults) => faults.into_iter().for_each(|fault| self.push(found, fault)),
            Err(Error::Tensor { fault, .. } | Error::Format(fault)) => self.push(found, fault),
            Err(Error::Codec { at, fault, .. }) => {
                let rule = zstd_rule(&fault);
                self.push(found, Fault { rule, at, found: 0, wanted: 0 });
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn check_in_memory(
        &self,
        source: &Source,
        limits: &Limits,
        sound: &Sound<'_>,
    ) -> Result<Vec<Fault>> {
        let sparse = sparse::read(source, sound, limits, Check::Never)?;
        let twin = sparse.first_twin().map(|twin| self.at_start(&rule::COORD_TWICE, twin, 0));
        let odd = sparse.values.iter().find(|byte| self.is_bool() && **byte > 1);
        let odd = odd.map(|byte| self.at_start(&rule::BOOL_BYTE, (*byte).into(), 1));
        Ok(twin.into_iter().chain(odd).collect())
    }
}

/// All checks of the stored bytes, done in one pass.
struct Checks<'s> {
    comparison: Option<Comparison>,
    scan: Option<Scan<'s>>,
    search: Search,
}

/// Decodes the zstd blob of a dense tensor piece by piece.
struct Scan<'s> {
    scan: &'s mut ZstdScan,
    fault: Option<tet_codec::Error>,
}

impl<'s> Checks<'s> {
    fn new(task: &BlobCheck<'_>, decoder: &'s mut Option<ZstdScan>) -> Result<Self> {
        let dense = task.sound.as_ref().filter(|sound| !sound.layout.is_sparse());
        let mut scan = None;
        if let Some(sound) = dense.filter(|sound| sound.encoding == Encoding::Zstd) {
            let codec = |fault| sound.codec(task.stored.start(), fault);
            let decoder = match decoder {
                Some(decoder) => decoder,
                None => decoder.insert(ZstdScan::new().map_err(codec)?),
            };
            decoder.begin(sound.decoded_len, WINDOW_LOG_MAX).map_err(codec)?;
            scan = Some(Scan { scan: decoder, fault: None });
        }
        let elements = match (dense, task.role) {
            (Some(sound), Some(role)) => {
                Elements::Places(Numbers::new(role.clone(), sound.byte_order))
            }
            (Some(_), None) if task.is_bool() => Elements::Bools,
            _ => Elements::Any,
        };
        let comparison = task.checksum.map(Comparison::new);
        Ok(Checks { comparison, scan, search: Search::new(elements) })
    }

    fn update(&mut self, bytes: &[u8]) {
        if let Some(comparison) = &mut self.comparison {
            comparison.update(bytes);
        }
        let search = &mut self.search;
        match &mut self.scan {
            Some(scan) => scan.update(bytes, |decoded| search.update(decoded)),
            None => search.update(bytes),
        }
    }

    fn finish(mut self, task: &BlobCheck<'_>, found: &mut Vec<FieldFault>) {
        if let Some((differs, wanted)) = self.comparison.and_then(Comparison::differs) {
            task.push(found, task.at_start(&rule::BLOB_CHECKSUM, differs, wanted));
        }
        let wanted = task.sound.map_or(0, |sound| sound.decoded_len);
        let (is_zstd, search) = (self.scan.is_some(), &mut self.search);
        let mut is_whole = true;
        if let Some(scan) = &mut self.scan {
            match scan.finish(|decoded| search.update(decoded)) {
                Ok(scanned) if scanned.decoded_len == wanted => {}
                Ok(scanned) => {
                    is_whole = false;
                    task.push(found, task.at_start(&rule::ZSTD_LEN, scanned.decoded_len, wanted));
                }
                Err(fault) => {
                    is_whole = false;
                    let (rule, at) = (zstd_rule(&fault), scan.scan.position());
                    let at = task.stored.start().saturating_add(at);
                    // Decoding stops at the first byte past the expected length.
                    let more = if rule == &rule::ZSTD_LEN { wanted.saturating_add(1) } else { 0 };
                    task.push(found, Fault { rule, at, found: more, wanted });
                }
            }
        }
        // If a blob does not decode, it is unknown which numbers are its own.
        let is_meant = is_whole || task.role.is_none();
        if let Some(odd) = self.search.finish().filter(|_| is_meant) {
            // A decoded byte has no offset in the file.
            let at = if is_zstd { 0 } else { odd.at };
            let at = task.stored.start().saturating_add(at);
            task.push(found, Fault { rule: odd.rule, at, found: odd.found, wanted: odd.wanted });
        }
    }
}

impl Scan<'_> {
    /// Decodes the next bytes, if all earlier bytes decoded.
    fn update(&mut self, bytes: &[u8], visit: impl FnMut(&[u8])) {
        if self.fault.is_none() {
            self.fault = self.scan.update_with(bytes, visit).err();
        }
    }

    fn finish(&mut self, visit: impl FnMut(&[u8])) -> tet_codec::Result<Scanned> {
        match self.fault.take() {
            Some(fault) => Err(fault),
            None => self.scan.finish_with(visit),
        }
    }
}
