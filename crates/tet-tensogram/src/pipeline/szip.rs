//! szip: samples of up to 32 bits as a stream of CCSDS 121.0-B, in intervals that start anew.
//!
//! ```text
//!   | interval: rsi blocks of block_size samples | interval | ...      szip_block_offsets, in bits
//!   block: option, [reference sample], samples
//! ```
//!
//! Streams are decoded interval by interval, never past the samples that there are. The crate for szip
//! panics and grows without bound on malformed streams, and decodes no interval by itself: the tests
//! compare with it.

mod encode;
mod interval;
mod stream;

use std::ops::Range;

use super::index;
use crate::Value;
use crate::descriptor::{Descriptor, Stage};
use crate::error::{Error, Fault, Result};
use crate::rule;
use interval::Intervals;
use stream::Stream;

/// Where intervals start, in bits.
pub(crate) const OFFSETS_KEY: &str = "szip_block_offsets";

/// That they are where intervals start: true in what this crate writes.
pub(crate) const EXACT_KEY: &str = "szip_block_offsets_exact";

/// Whether offsets are believed. The library that the reference is built on states one block too
/// early where the last block of an interval follows one of zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    Exact,
    Stated,
}

/// Bits of the flags.
const SIGNED: u32 = 1;
const MSB: u32 = 4;
const PREPROCESS: u32 = 8;
const PAD_RSI: u32 = 32;
const NOT_ENFORCE: u32 = 64;
const RESTRICTED: u32 = 128;

/// The fewest bits that blocks can take, and the most blocks that these can be.
const RUN_BITS_MIN: u64 = 6;
const RUN_BLOCKS_MAX: u64 = 64;

/// The parameters of szip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SzipParameters {
    /// Blocks of an interval, 1 to 4096.
    pub rsi: u32,
    /// Samples of a block: 8, 16, 32 or 64.
    pub block_size: u32,
    /// Flags of the coder; 8 codes differences of samples, which is what suits nearly everything.
    pub flags: u32,
}

impl Default for SzipParameters {
    fn default() -> Self {
        SzipParameters { rsi: 128, block_size: 16, flags: PREPROCESS }
    }
}

/// A stream of samples.
#[derive(Clone, Debug)]
pub(crate) struct Szip {
    /// Bits of a sample, and bytes that it takes.
    bits: u32,
    width: u64,
    rsi: u32,
    block_size: u32,
    flags: u32,
    offsets: Option<(Vec<u64>, Trust)>,
    /// Bytes that the stream decodes to, where that is known.
    decoded_len: u64,
}

impl Szip {
    pub(super) fn of(descriptor: &Descriptor, bits: u32, is_packed: bool) -> Result<Szip, Fault> {
        let number = |key, min, max| {
            let number = descriptor.integer(key, min, max)?;
            u32::try_from(number).map_err(|_| descriptor.parameter_fault(key))
        };
        let rsi = number("szip_rsi", 1, 4096)?;
        let flags = number("szip_flags", 0, u32::MAX.into())?;
        let block_size = number("szip_block_size", 2, 64)?;
        let is_usual = matches!(block_size, 8 | 16 | 32 | 64);
        if !is_usual && (flags & NOT_ENFORCE == 0 || !block_size.is_multiple_of(2)) {
            return Err(descriptor.parameter_fault("szip_block_size"));
        }
        if flags & RESTRICTED != 0 && 4 < bits {
            return Err(descriptor.parameter_fault("szip_flags"));
        }
        Ok(Szip::new(SzipParameters { rsi, block_size, flags }, bits, is_packed))
    }

    /// Packed numbers have their highest byte first, whatever the flags.
    fn new(parameters: SzipParameters, bits: u32, is_packed: bool) -> Szip {
        let SzipParameters { rsi, block_size, flags } = parameters;
        let flags = if is_packed { flags | MSB } else { flags };
        let width = u64::from(bits.div_ceil(8));
        Szip { bits, width, rsi, block_size, flags, offsets: None, decoded_len: 0 }
    }

    /// Whether it is known where all intervals start.
    pub(super) fn is_exact(&self) -> bool {
        matches!(self.offsets, Some((_, Trust::Exact)))
    }

    /// Bytes that a whole interval decodes to.
    pub(super) fn interval_len(&self) -> u64 {
        u64::from(self.rsi) * u64::from(self.block_size) * self.width
    }

    /// Bytes must be whole samples.
    pub(super) fn check_parts(&self, descriptor: &Descriptor, len: u64) -> Result<(), Fault> {
        if len.is_multiple_of(self.width) {
            return Ok(());
        }
        let at = descriptor.place(Stage::Compression.key());
        Err(Fault { rule: &rule::WHOLE_PARTS, at, found: len, wanted: self.width })
    }

    /// The most bytes that a stream of this length can decode to.
    pub(super) fn decoded_max(&self, payload_len: u64) -> u64 {
        let runs = (payload_len.saturating_mul(8) / RUN_BITS_MIN).saturating_add(1);
        let run_len = RUN_BLOCKS_MAX * u64::from(self.block_size) * self.width;
        if payload_len == 0 { 0 } else { runs.saturating_mul(run_len) }
    }

    /// Takes the offsets of all intervals, if they can be that.
    pub(super) fn adopt(
        &mut self,
        offsets: Vec<u64>,
        trust: Trust,
        payload_len: u64,
        decoded_len: u64,
    ) -> bool {
        let bits = payload_len.saturating_mul(8);
        let is_sound = offsets.len() as u64 == decoded_len.div_ceil(self.interval_len())
            && offsets.first().is_none_or(|first| *first == 0)
            && offsets.is_sorted_by(|one, next| one < next)
            && offsets.last().is_none_or(|last| *last < bits);
        if is_sound {
            (self.offsets, self.decoded_len) = (Some((offsets, trust)), decoded_len);
        }
        is_sound
    }

    /// Decodes a whole stream into exactly `out`.
    pub(super) fn decode(&self, payload: &[u8], out: &mut [u8], at: u64) -> Result<(), Fault> {
        let mut intervals = Intervals::new(self, Stream::new(payload, 0), at);
        let exact = self.exact();
        for (number, part) in out.chunks_mut(index(self.interval_len())).enumerate() {
            check_offset(exact, number, intervals.position(), at)?;
            intervals.next(part)?;
        }
        Ok(())
    }

    /// The first of the stated offsets that is not where its interval starts, if there is one.
    pub(super) fn differs(&self, payload: &[u8], at: u64) -> Result<Option<Fault>, Fault> {
        let Some((offsets, _)) = &self.offsets else { return Ok(None) };
        let mut intervals = Intervals::new(self, Stream::new(payload, 0), at);
        let (mut left, mut scratch) = (self.decoded_len, Vec::new());
        for number in 0..offsets.len() {
            if let Err(fault) = check_offset(offsets, number, intervals.position(), at) {
                return Ok(Some(Fault { rule: &rule::NOTE_SZIP_OFFSETS, ..fault }));
            }
            let len = left.min(self.interval_len());
            scratch.resize(index(len), 0);
            intervals.next(&mut scratch)?;
            left -= len;
        }
        Ok(None)
    }

    /// Looks whether the stream of `len` bytes ends where its payload does; what follows is told.
    pub(super) fn check_end(
        &self,
        payload: &[u8],
        len: u64,
        at: u64,
    ) -> Result<Option<Fault>, Fault> {
        let mut intervals = Intervals::new(self, Stream::new(payload, 0), at);
        let (mut left, mut scratch) = (len, Vec::new());
        while left != 0 {
            let part = left.min(self.interval_len());
            scratch.resize(index(part), 0);
            intervals.next(&mut scratch)?;
            left -= part;
        }
        let (end, found) = (intervals.position().div_ceil(8), payload.len() as u64);
        let at = at.saturating_add(end);
        Ok((end < found).then_some(Fault { rule: &rule::NOTE_SZIP_END, at, found, wanted: end }))
    }

    /// The offsets that are believed.
    fn exact(&self) -> &[u64] {
        match &self.offsets {
            Some((offsets, Trust::Exact)) => offsets,
            _ => &[],
        }
    }

    fn covering(&self, decoded: &Range<u64>) -> Range<u64> {
        decoded.start / self.interval_len()..decoded.end.div_ceil(self.interval_len())
    }

    /// The bytes of the payload that hold these decoded bytes, where offsets tell.
    pub(super) fn stored(&self, decoded: &Range<u64>, payload_len: u64) -> Option<Range<u64>> {
        let offsets = self.exact();
        let intervals = self.covering(decoded);
        let start = offsets.get(index(intervals.start))? / 8;
        let end = offsets.get(index(intervals.end)).map_or(payload_len, |bits| bits.div_ceil(8));
        Some(start..end.min(payload_len))
    }

    /// Decodes these bytes out of what [`Szip::stored`] named. Every interval must end where the
    /// next one is said to start.
    pub(super) fn read(
        &self,
        stored: &[u8],
        decoded: &Range<u64>,
        out: &mut [u8],
        payload_at: u64,
    ) -> Result<(), Fault> {
        let (offsets, numbers) = (self.exact(), self.covering(decoded));
        let first_bit = offsets.get(index(numbers.start)).copied().unwrap_or_default();
        let base = first_bit / 8;
        let at = payload_at.saturating_add(base);
        let mut intervals = Intervals::new(self, Stream::new(stored, first_bit % 8), at);
        let (mut rest, mut scratch) = (out, Vec::new());
        for number in numbers {
            let start = number * self.interval_len();
            let end = start.saturating_add(self.interval_len()).min(self.decoded_len);
            let part = start.max(decoded.start)..end.min(decoded.end);
            let len = index(part.end - part.start).min(rest.len());
            let (mine, after) = rest.split_at_mut(len);
            rest = after;
            if part == (start..end) {
                intervals.next(mine)?;
            } else {
                // An interval is bounded by its parameters.
                scratch.resize(index(end - start), 0);
                intervals.next(&mut scratch)?;
                let held = index(part.start - start)..index(part.end - start);
                mine.copy_from_slice(scratch.get(held).unwrap_or_default());
            }
            let found = intervals.position().saturating_add(base * 8);
            check_offset(offsets, index(number.saturating_add(1)), found, payload_at)?;
        }
        Ok(())
    }
}

/// An interval must start where that is stated, if it is.
fn check_offset(offsets: &[u64], number: usize, found: u64, at: u64) -> Result<(), Fault> {
    match offsets.get(number).copied().filter(|wanted| *wanted != found) {
        Some(wanted) => Err(Fault { rule: &rule::SZIP_OFFSETS, at, found, wanted }),
        None => Ok(()),
    }
}

/// A descriptor with the parameters, and the coder for them, for `len` bytes.
fn planned(
    parameters: SzipParameters,
    bits: u32,
    is_packed: bool,
    descriptor: Descriptor,
    len: u64,
) -> Result<(Descriptor, Szip)> {
    let number = |number: u32| Value::Int(number.into());
    let descriptor = descriptor
        .with("szip_rsi", number(parameters.rsi))
        .with("szip_block_size", number(parameters.block_size))
        .with("szip_flags", number(parameters.flags));
    let refused = |_| Error::Unwritable { why: "szip takes no such parameters" };
    let szip = Szip::of(&descriptor, bits, is_packed).map_err(refused)?;
    if !len.is_multiple_of(szip.width) {
        return Err(Error::Unwritable { why: "szip takes whole samples" });
    }
    if szip.flags & (PAD_RSI | RESTRICTED | NOT_ENFORCE) != 0 {
        return Err(Error::Unwritable {
            why: "szip is written without padding, restriction and odd blocks",
        });
    }
    Ok((descriptor, szip))
}

fn with_offsets(descriptor: Descriptor, offsets: Vec<u64>) -> Descriptor {
    let offsets = offsets.into_iter().map(|offset| Value::Int(offset.into())).collect();
    descriptor.with(OFFSETS_KEY, Value::Array(offsets)).with(EXACT_KEY, Value::Bool(true))
}

/// The stream of bytes that are whole samples, and where its intervals start.
pub(crate) fn encode(
    bytes: &[u8],
    parameters: SzipParameters,
    bits: u32,
    is_packed: bool,
    descriptor: Descriptor,
    out: &mut Vec<u8>,
) -> Result<Descriptor> {
    let (descriptor, szip) = planned(parameters, bits, is_packed, descriptor, bytes.len() as u64)?;
    let mut encoder = encode::Encoder::new(&szip);
    encoder.push(bytes);
    let (stream, offsets) = encoder.finish();
    out.extend_from_slice(&stream);
    Ok(with_offsets(descriptor, offsets))
}

/// A stream of bytes that come piece by piece, `len` in all.
pub(crate) fn encode_pieces<E: From<Error>>(
    (parameters, bits, is_packed): (SzipParameters, u32, bool),
    descriptor: Descriptor,
    len: u64,
    pieces: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E>,
    put: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<Descriptor, E> {
    let (descriptor, szip) = planned(parameters, bits, is_packed, descriptor, len)?;
    let mut encoder = encode::Encoder::new(&szip);
    super::whole_units(index(szip.interval_len()), pieces, &mut |intervals| {
        encoder.push(intervals);
        put(&encoder.take())
    })?;
    let (stream, offsets) = encoder.finish();
    put(&stream)?;
    Ok(with_offsets(descriptor, offsets))
}
