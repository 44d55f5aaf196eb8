//! Decodes objects to check them: whether each payload gives its elements and each mask its bits,
//! and what is unusual about them. The decoded elements are discarded.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use tet_format::{DType, Span, usual_decoded_max};
use tet_io::{Progress, Source};
use tet_report::Pool;

use super::{Collector, VerifyOptions, finding};
use crate::descriptor::{Descriptor, MaskKind};
use crate::error::{Error, Fault, Result};
use crate::item::read_cbor;
use crate::limits::Limits;
use crate::mask::{Masks, find};
use crate::message::Message;
use crate::pipeline::index;
use crate::region::Region;
use crate::rule;

/// Decoding counts as this many times the work of comparing bytes.
const EAGERNESS: u64 = 4;

#[derive(Clone, Copy, Debug)]
struct ObjectCheck {
    message: usize,
    object: usize,
    region: Span,
    descriptor: Span,
}

#[derive(Debug, Default)]
pub(super) struct Objects {
    tasks: Vec<ObjectCheck>,
}

impl Objects {
    /// Adds the objects of a message.
    pub(super) fn take(&mut self, number: usize, message: &Message) {
        let sound = message.objects().iter().enumerate().filter(|(_, it)| it.fault.is_none());
        self.tasks.extend(sound.map(|(object, it)| {
            let (region, descriptor) = (it.region, it.descriptor);
            ObjectCheck { message: number, object, region, descriptor }
        }));
    }

    /// Decodes all added objects except those already found damaged.
    pub(super) fn run(
        &mut self,
        source: &Source,
        total: &Total,
        options: &VerifyOptions,
        spoiled: &BTreeSet<(usize, usize)>,
        progress: &Progress,
        out: &mut Collector,
    ) -> Result<()> {
        let mut tasks = std::mem::take(&mut self.tasks);
        tasks.retain(|task| !spoiled.contains(&(task.message, task.object)));
        let all = tasks.iter().fold(0_u64, |sum, task| sum.saturating_add(task.region.len()));
        let pool = Pool::new(options.threads, tasks.len(), all.saturating_mul(EAGERNESS));
        let limits = &options.limits;
        let light = |(): &mut (), task: &ObjectCheck| {
            check_object(source, limits, total, task, Weight::Light, progress)
        };
        let found = pool.map(&tasks, || (), light)?;
        for (task, found) in tasks.iter().zip(found) {
            let found = match found {
                Some(found) => Some(found),
                // Large objects are decoded one at a time, so that only one is in memory.
                None => check_object(source, limits, total, task, Weight::Any, progress)?,
            };
            for fault in found.unwrap_or_default() {
                out.push(finding(fault, Some(task.message), Some(task.object), 0));
            }
        }
        Ok(())
    }
}

/// How much memory an object may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Light,
    Any,
}

/// The decoded size of all objects, and its limit: some codecs expand a few bytes to any length.
#[derive(Debug)]
pub(crate) struct Total {
    sum: AtomicU64,
    max: u64,
}

impl Total {
    /// A total of zero with a limit that depends on the length of the file.
    pub(crate) fn new(max: Option<u64>, source: &Source) -> Self {
        let max = max.unwrap_or_else(|| usual_decoded_max(source.len()));
        Total { sum: AtomicU64::new(0), max }
    }

    fn add(&self, len: u64) -> Result<()> {
        // Sums of lengths that limits bound, each below 2^63: the first that passes the maximum ends it.
        let sum = self.sum.fetch_add(len, Ordering::Relaxed).saturating_add(len);
        if sum <= self.max {
            return Ok(());
        }
        Err(Error::Limit { what: "decoded bytes of all objects", wanted: sum, limit: self.max })
    }
}

/// The rules that the elements of an object break, and what is unusual about them. `None` if
/// decoding takes too much memory.
fn check_object(
    source: &Source,
    limits: &Limits,
    total: &Total,
    task: &ObjectCheck,
    weight: Weight,
    progress: &Progress,
) -> Result<Option<Vec<Fault>>> {
    decoded(source, limits, total, task.region, task.descriptor, weight, progress)
}

/// Checks one object, given the spans of its region and its descriptor.
pub(crate) fn decoded(
    source: &Source,
    limits: &Limits,
    total: &Total,
    stored: Span,
    described: Span,
    weight: Weight,
    progress: &Progress,
) -> Result<Option<Vec<Fault>>> {
    // Faults of the descriptor are reported where descriptors are checked.
    let plan = || -> Result<Region> {
        let bytes = read_cbor(source, described, limits)?;
        let descriptor = Descriptor::read(&bytes, described.start(), limits)?;
        Region::new(&descriptor, stored.start(), stored.len(), limits)
    };
    let region = match plan() {
        Ok(region) => region,
        Err(Error::Format(_) | Error::NotBuilt { .. }) => return Ok(Some(Vec::new())),
        Err(error) => return Err(error),
    };
    if weight == Weight::Light && !region.pipeline().is_light() {
        return Ok(None);
    }
    total.add(region.decoded_len())?;
    let mut faults = Vec::new();
    let masks = note_fault(masks(source, &region, stored), stored, &mut faults)?.flatten();
    if let Some(masks) = &masks {
        note_masks(masks, stored.start().saturating_add(region.masks().start), &mut faults);
    }
    let mut seen = Unmasked { masks: masks.as_ref(), dtype: region.dtype(), first: [None; 3] };
    let mut is_padded = false;
    let (dtype, count) = (region.dtype(), region.element_count());
    let visited = region.pipeline().visit(source, progress, &mut |first, elements| match dtype {
        DType::Bitmask => is_padded |= has_more(elements, count),
        _ => seen.find(first, elements),
    });
    if let Some(odd) = note_fault(visited, stored, &mut faults)? {
        faults.extend(odd);
        seen.note(stored.start(), &mut faults);
        if is_padded {
            let (rule, at) = (&rule::NOTE_BITS, stored.start());
            faults.push(Fault { rule, at, found: count, wanted: count });
        }
    }
    Ok(Some(faults))
}

/// Returns what was read, or adds the rule that it breaks to `faults`.
fn note_fault<T>(read: Result<T>, stored: Span, faults: &mut Vec<Fault>) -> Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(Error::Format(fault)) => {
            faults.push(fault);
            Ok(None)
        }
        Err(Error::Memory { len }) => {
            let (rule, at) = (&rule::LIMIT_MEMORY, stored.start());
            faults.push(Fault { rule, at, found: len, wanted: 0 });
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn masks(source: &Source, region: &Region, stored: Span) -> Result<Option<Masks>> {
    if !region.has_masks() {
        return Ok(None);
    }
    let place = region.masks();
    let at = stored.start().saturating_add(place.start);
    let blobs = source.read_vec(at, place.end.saturating_sub(place.start))?;
    Ok(Some(region.read_masks(&blobs)?))
}

/// Notes mask bits past the last element, and elements that several masks cover.
fn note_masks(masks: &Masks, at: u64, faults: &mut Vec<Fault>) {
    let count = masks.element_count();
    let all: Vec<&[u8]> = MaskKind::ALL.into_iter().filter_map(|kind| masks.bits(kind)).collect();
    if all.iter().any(|bits| has_more(bits, count)) {
        faults.push(Fault { rule: &rule::NOTE_BITS, at, found: count, wanted: count });
    }
    let mut twice = None;
    for (number, bits) in all.iter().enumerate() {
        for other in all.iter().skip(number.saturating_add(1)) {
            let both = bits.iter().zip(*other).map(|(one, other)| one & other);
            let first = first_one(both).filter(|bit| *bit < count);
            twice = twice.into_iter().chain(first).min();
        }
    }
    if let Some(found) = twice {
        faults.push(Fault { rule: &rule::NOTE_MASK_TWICE, at, found, wanted: 0 });
    }
}

/// Whether bits after the first `count` are set.
fn has_more(packed: &[u8], count: u64) -> bool {
    let rest = count % 8;
    let last = packed.get(index(count / 8)).copied().unwrap_or_default();
    rest != 0 && last & (0xFF >> rest) != 0
}

/// The number of the first bit that is one.
fn first_one(bytes: impl Iterator<Item = u8>) -> Option<u64> {
    let (at, byte) = bytes.enumerate().find(|(_, byte)| *byte != 0)?;
    Some((at as u64).saturating_mul(8).saturating_add(byte.leading_zeros().into()))
}

/// The first element of each kind that is not finite and not under a mask.
struct Unmasked<'m> {
    masks: Option<&'m Masks>,
    dtype: DType,
    first: [Option<u64>; 3],
}

impl Unmasked<'_> {
    fn find(&mut self, first: u64, elements: &[u8]) {
        // Without memory for the bits, unmasked elements are not reported; nothing else is lost.
        let Ok(found) = find(self.dtype, elements) else { return };
        for ((slot, bits), seen) in self.first.iter_mut().zip(&found.bits).zip(&found.first) {
            if slot.is_some() || seen.is_none() {
                continue;
            }
            let start = index(first / 8);
            let bits = bits.as_deref().unwrap_or_default().iter().enumerate();
            let bare = bits.map(|(at, byte)| {
                let masked = MaskKind::ALL.into_iter().filter_map(|kind| self.masks?.bits(kind));
                let masked = masked.filter_map(|bits| bits.get(start.saturating_add(at)));
                byte & !masked.fold(0, |all, byte| all | byte)
            });
            *slot = first_one(bare).map(|bit| first.saturating_add(bit));
        }
    }

    fn note(&self, at: u64, faults: &mut Vec<Fault>) {
        let [nan, positive, negative] = self.first;
        if let Some(found) = nan {
            faults.push(Fault { rule: &rule::NOTE_NAN, at, found, wanted: 0 });
        }
        if let Some(found) = positive.into_iter().chain(negative).min() {
            faults.push(Fault { rule: &rule::NOTE_INFINITE, at, found, wanted: 0 });
        }
    }
}
