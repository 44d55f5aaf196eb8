//! One blob: against its checksum, and decoded.

use std::ops::Range;

use tet_codec::{Scanned, WINDOW_LOG_MAX, ZstdScan};
use tet_format::{DType, ForeignRule, Span};
use tet_io::{Progress, Source};
use tet_report::Level;

use super::collect::Found;
use super::elements::{Elements, Numbers, Search};
use super::parts::Role;
use super::sparse::{Memory, places_by_pieces};
use crate::checksum::{Checksum, Comparison};
use crate::error::{Error, Fault, Result, zstd_rule};
use crate::frames::{self, SeekTable};
use crate::limits::Limits;
use crate::rule;
use crate::sparse;
use crate::stored::{Check, Sound};
use crate::tensor::Tensor;
use crate::words::Encoding;

/// What a thread uses for one blob after the other.
#[derive(Default)]
pub(super) struct Scratch {
    window: Vec<u8>,
    scan: Option<ZstdScan>,
}

/// What two tensors have in common whose blobs need one look.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Shared {
    stored: Range<u64>,
    checksum: Option<Checksum>,
    /// How the blob is encoded, to how many bytes it decodes, and whether they are bools.
    decoded: Option<(Encoding, u64, bool)>,
}

/// What is to be done with a blob.
pub(super) struct Task<'a> {
    tensor: Tensor<'a>,
    stored: Span,
    checksum: Option<Checksum>,
    /// The tensor, where its blob is to be looked into.
    sound: Option<Sound<'a>>,
    /// What its numbers must be, where it is a part of a sparse tensor.
    role: Option<&'a Role>,
}

impl<'a> Task<'a> {
    /// What there is to do; a blob is compared even where nobody knows what its elements are.
    pub(super) fn of(tensor: Tensor<'a>, depth: Level, role: Option<&'a Role>) -> Option<Self> {
        let stored = tensor.stored()?;
        let checksum = tensor.checksum().filter(|checksum| checksum.is_known());
        let sound = Sound::of(tensor).ok().filter(|sound| {
            let is_bool = tensor.dtype() == Some(DType::Bool);
            let has_more = sound.encoding == Encoding::Zstd || sound.layout.is_sparse();
            depth == Level::Deep && (has_more || is_bool || role.is_some())
        });
        let is_nothing = checksum.is_none() && sound.is_none();
        (!is_nothing).then_some(Task { tensor, stored, checksum, sound, role })
    }

    /// What tells a task from others; `None` where its entry says more, as that of a sparse tensor or
    /// of a part of one.
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

    /// How many bytes are looked at.
    pub(super) fn len(&self) -> u64 {
        self.stored.len()
    }

    /// What they decode to, where they are decoded; sparse tensors have a limit of their own.
    pub(super) fn decoded_len(&self) -> u64 {
        let dense = self.sound.as_ref().filter(|sound| !sound.layout.is_sparse());
        dense.map_or(0, |sound| sound.decoded_len)
    }

    /// Does it.
    pub(super) fn run(
        &self,
        scratch: &mut Scratch,
        (source, limits, memory): (&Source, &Limits, &Memory),
        progress: &Progress,
    ) -> Result<Vec<Found>> {
        let mut found = Vec::new();
        let Scratch { window, scan } = scratch;
        let mut looks = Looks::new(self, scan)?;
        progress.pieces::<Error>(source, self.stored, window, |_, bytes| {
            looks.update(bytes);
            true
        })?;
        looks.finish(self, &mut found);
        if let Some(sound) = &self.sound {
            if sound.encoding == Encoding::Zstd {
                self.look_at_frames(source, &mut found)?;
            }
            if sound.layout.is_sparse() {
                self.look_at_places((source, limits, memory), sound, progress, &mut found)?;
            }
        }
        Ok(found)
    }

    fn push(&self, found: &mut Vec<Found>, fault: Fault) {
        found.push(Found { fault, position: Some(self.tensor.position()), field: "" });
    }

    fn at_start(&self, rule: &'static ForeignRule, found: u64, wanted: u64) -> Fault {
        Fault { rule, at: self.stored.start(), found, wanted }
    }

    fn look_at_frames(&self, source: &Source, found: &mut Vec<Found>) -> Result<()> {
        let frames = frames::frames(source, self.stored, None)?;
        let Some(frames) = frames else { return Ok(()) };
        if frames.seek_table() == SeekTable::Differs {
            self.push(found, self.at_start(&rule::SEEK_TABLE, 0, frames.list().len() as u64));
        } else if frames.seek_table() == SeekTable::Absent && frames.skipped_len() > 0 {
            self.push(found, self.at_start(&rule::ZSTD_SKIPPABLE, frames.skipped_len(), 0));
        }
        Ok(())
    }

    /// Checks the places of a sparse tensor: in memory, or else piece by piece.
    fn look_at_places(
        &self,
        (source, limits, memory): (&Source, &Limits, &Memory),
        sound: &Sound<'_>,
        progress: &Progress,
        found: &mut Vec<Found>,
    ) -> Result<()> {
        let len = match sound.encoding {
            Encoding::Raw => Some(self.stored.len()),
            Encoding::Zstd => {
                frames::frames(source, self.stored, None)?.map(|frames| frames.decoded_len())
            }
        };
        let faults = match memory.hold(len, self.stored.len()) {
            Some(_hold) => self.places_at_once(source, limits, sound),
            None => places_by_pieces(source, sound, (limits, len), progress)
                .map(|fault| fault.into_iter().collect()),
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

    fn places_at_once(
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

/// All that is done with the stored bytes while they come by once.
struct Looks<'s> {
    comparison: Option<Comparison>,
    scan: Option<Scan<'s>>,
    search: Search,
}

/// A zstd blob of a dense tensor, decoded as it comes by.
struct Scan<'s> {
    scan: &'s mut ZstdScan,
    fault: Option<tet_codec::Error>,
}

impl<'s> Looks<'s> {
    fn new(task: &Task<'_>, decoder: &'s mut Option<ZstdScan>) -> Result<Self> {
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
        Ok(Looks { comparison, scan, search: Search::new(elements) })
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

    fn finish(mut self, task: &Task<'_>, found: &mut Vec<Found>) {
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
                    // Decoding ends where one byte more than all of them comes out.
                    let more = if rule == &rule::ZSTD_LEN { wanted.saturating_add(1) } else { 0 };
                    task.push(found, Fault { rule, at, found: more, wanted });
                }
            }
        }
        // Of a blob that does not decode nobody knows which numbers are its own.
        let is_meant = is_whole || task.role.is_none();
        if let Some(odd) = self.search.finish().filter(|_| is_meant) {
            // A decoded byte has no place in the file.
            let at = if is_zstd { 0 } else { odd.at };
            let at = task.stored.start().saturating_add(at);
            task.push(found, Fault { rule: odd.rule, at, found: odd.found, wanted: odd.wanted });
        }
    }
}

impl Scan<'_> {
    /// Decodes the next bytes, if all before them decoded.
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
