//! szip: samples of up to 32 bits as a CCSDS 121.0-B stream, in intervals that start independently.
//!
//! ```text
//!   | interval: rsi blocks of block_size samples | interval | ...      szip_block_offsets, in bits
//!   block: option, [reference sample], samples
//! ```
//!
//! `tet_codec::Aec` decodes the streams. The szip crate panics and
//! allocates without bound on malformed streams, and cannot decode single intervals: only the tests
//! use it, for comparison.

use std::ops::Range;

use tet_codec::{Aec, AecDecoder, AecEncoder, AecFault};

use super::index;
use crate::Value;
use crate::descriptor::{Descriptor, DescriptorStage};
use crate::error::{Error, Fault, Result};
use crate::rule;

/// The offsets of the intervals, in bits.
pub(crate) const OFFSETS_KEY: &str = "szip_block_offsets";

/// Whether the offsets are exact: true in what this crate writes.
pub(crate) const EXACT_KEY: &str = "szip_block_offsets_exact";

/// Whether offsets are trusted. The library under the reference implementation states an offset one
/// block too early if the last block of an interval follows a block of zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    Exact,
    Stated,
}

/// The parameters of szip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SzipParameters {
    /// Blocks per interval, 1 to 4096.
    pub rsi: u32,
    /// Samples per block: 8, 16, 32 or 64.
    pub block_size: u32,
    /// Flags of the coder; 8 codes differences of samples, which suits nearly all data.
    pub flags: u32,
}

impl Default for SzipParameters {
    fn default() -> Self {
        SzipParameters { rsi: 128, block_size: 16, flags: Aec::PREPROCESS }
    }
}

/// A stream of samples.
#[derive(Clone, Debug)]
pub(crate) struct Szip {
    aec: Aec,
    offsets: Option<(Vec<u64>, Trust)>,
    /// The decoded length of the stream in bytes, if known.
    decoded_len: u64,
}

impl Szip {
    pub(super) fn from_descriptor(
        descriptor: &Descriptor,
        bits: u32,
        is_packed: bool,
    ) -> Result<Szip, Fault> {
        let number = |key, min, max| {
            let number = descriptor.integer(key, min, max)?;
            u32::try_from(number).map_err(|_| descriptor.parameter_fault(key))
        };
        let rsi = number("szip_rsi", 1, 4096)?;
        let flags = number("szip_flags", 0, u32::MAX.into())?;
        let block_size = number("szip_block_size", 2, 64)?;
        let is_usual = matches!(block_size, 8 | 16 | 32 | 64);
        if !is_usual && (flags & Aec::NOT_ENFORCE == 0 || !block_size.is_multiple_of(2)) {
            return Err(descriptor.parameter_fault("szip_block_size"));
        }
        // Packed numbers are big-endian, whatever the flags are.
        let flags = if is_packed { flags | Aec::MSB } else { flags };
        let aec = Aec::new(bits, rsi, block_size, flags);
        let aec = aec.ok_or_else(|| descriptor.parameter_fault("szip_flags"))?;
        Ok(Szip { aec, offsets: None, decoded_len: 0 })
    }

    /// Whether the offsets of all intervals are known.
    pub(super) fn is_exact(&self) -> bool {
        matches!(self.offsets, Some((_, Trust::Exact)))
    }

    /// The decoded length of a whole interval.
    pub(super) fn interval_len(&self) -> u64 {
        self.aec.interval_len()
    }

    /// Checks that bytes are whole samples.
    pub(super) fn check_parts(&self, descriptor: &Descriptor, len: u64) -> Result<(), Fault> {
        if len.is_multiple_of(self.aec.width()) {
            return Ok(());
        }
        let at = descriptor.place(DescriptorStage::Compression.key());
        Err(Fault { rule: &rule::WHOLE_PARTS, at, found: len, wanted: self.aec.width() })
    }

    /// The most bytes that a stream of this length can decode to.
    pub(super) fn decoded_max(&self, payload_len: u64) -> u64 {
        self.aec.decoded_max(payload_len)
    }

    /// Uses the offsets of all intervals, if they are valid.
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
        let mut intervals = AecDecoder::new(self.aec, payload, 0);
        let exact = self.exact();
        for (number, part) in out.chunks_mut(index(self.interval_len())).enumerate() {
            check_offset(exact, number, intervals.position(), at)?;
            intervals.next(part).map_err(|fault| broken(fault, at))?;
        }
        Ok(())
    }

    /// The first stated offset that is not the start of its interval, if any.
    pub(super) fn differs(&self, payload: &[u8], at: u64) -> Result<Option<Fault>, Fault> {
        let Some((offsets, _)) = &self.offsets else { return Ok(None) };
        let mut intervals = AecDecoder::new(self.aec, payload, 0);
        let (mut left, mut scratch) = (self.decoded_len, Vec::new());
        for number in 0..offsets.len() {
            if let Err(fault) = check_offset(offsets, number, intervals.position(), at) {
                return Ok(Some(Fault { rule: &rule::NOTE_SZIP_OFFSETS, ..fault }));
            }
            let len = left.min(self.interval_len());
            scratch.resize(index(len), 0);
            intervals.next(&mut scratch).map_err(|fault| broken(fault, at))?;
            left -= len;
        }
        Ok(None)
    }

    /// Checks that the stream of `len` bytes ends with its payload; reports trailing bytes.
    pub(super) fn check_end(
        &self,
        payload: &[u8],
        len: u64,
        at: u64,
    ) -> Result<Option<Fault>, Fault> {
        let mut intervals = AecDecoder::new(self.aec, payload, 0);
        let (mut left, mut scratch) = (len, Vec::new());
        while left != 0 {
            let part = left.min(self.interval_len());
            scratch.resize(index(part), 0);
            intervals.next(&mut scratch).map_err(|fault| broken(fault, at))?;
            left -= part;
        }
        let (end, found) = (intervals.position().div_ceil(8), payload.len() as u64);
        let at = at.saturating_add(end);
        Ok((end < found).then_some(Fault { rule: &rule::NOTE_SZIP_END, at, found, wanted: end }))
    }

    /// The offsets, if they are trusted.
    fn exact(&self) -> &[u64] {
        match &self.offsets {
            Some((offsets, Trust::Exact)) => offsets,
            _ => &[],
        }
    }

    fn covering(&self, decoded: &Range<u64>) -> Range<u64> {
        decoded.start / self.interval_len()..decoded.end.div_ceil(self.interval_len())
    }

    /// The bytes of the payload that hold these decoded bytes, if offsets are known.
    pub(super) fn stored(&self, decoded: &Range<u64>, payload_len: u64) -> Option<Range<u64>> {
        let offsets = self.exact();
        let intervals = self.covering(decoded);
        let start = offsets.get(index(intervals.start))? / 8;
        let end = offsets.get(index(intervals.end)).map_or(payload_len, |bits| bits.div_ceil(8));
        Some(start..end.min(payload_len))
    }

    /// Decodes these bytes from the bytes that [`Szip::stored`] returned. Every interval must end
    /// at the stated start of the next one.
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
        let mut intervals = AecDecoder::new(self.aec, stored, first_bit % 8);
        let (mut rest, mut scratch) = (out, Vec::new());
        for number in numbers {
            let start = number * self.interval_len();
            let end = start.saturating_add(self.interval_len()).min(self.decoded_len);
            let part = start.max(decoded.start)..end.min(decoded.end);
            let len = index(part.end - part.start).min(rest.len());
            let (mine, after) = rest.split_at_mut(len);
            rest = after;
            if part == (start..end) {
                intervals.next(mine).map_err(|fault| broken(fault, at))?;
            } else {
                // The length of an interval is bounded by its parameters.
                scratch.resize(index(end - start), 0);
                intervals.next(&mut scratch).map_err(|fault| broken(fault, at))?;
                let held = index(part.start - start)..index(part.end - start);
                mine.copy_from_slice(scratch.get(held).unwrap_or_default());
            }
            let found = intervals.position().saturating_add(base * 8);
            check_offset(offsets, index(number.saturating_add(1)), found, payload_at)?;
        }
        Ok(())
    }
}

/// The fault of a stream whose bytes start at `at`.
fn broken(fault: AecFault, at: u64) -> Fault {
    let (at, rule) = (at.saturating_add(fault.at), &rule::SZIP_STREAM);
    Fault { rule, at, found: fault.found, wanted: fault.wanted }
}

/// Checks that an interval starts at its stated offset, if there is one.
fn check_offset(offsets: &[u64], number: usize, found: u64, at: u64) -> Result<(), Fault> {
    match offsets.get(number).copied().filter(|wanted| *wanted != found) {
        Some(wanted) => Err(Fault { rule: &rule::SZIP_OFFSETS, at, found, wanted }),
        None => Ok(()),
    }
}

/// The descriptor with the parameters, and the coder for them, for `len` bytes.
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
    let refused = |_| Error::Unwritable { why: "szip does not support these parameters" };
    let szip = Szip::from_descriptor(&descriptor, bits, is_packed).map_err(refused)?;
    if !len.is_multiple_of(szip.aec.width()) {
        return Err(Error::Unwritable { why: "szip needs whole samples" });
    }
    if parameters.flags & (Aec::PAD_RSI | Aec::RESTRICTED | Aec::NOT_ENFORCE) != 0 {
        return Err(Error::Unwritable {
            why: "szip is not written with padding, restriction or odd blocks",
        });
    }
    Ok((descriptor, szip))
}

fn with_offsets(descriptor: Descriptor, offsets: Vec<u64>) -> Descriptor {
    let offsets = offsets.into_iter().map(|offset| Value::Int(offset.into())).collect();
    descriptor.with(OFFSETS_KEY, Value::Array(offsets)).with(EXACT_KEY, Value::Bool(true))
}

/// The stream of bytes that are whole samples, and the offsets of its intervals.
pub(crate) fn encode(
    bytes: &[u8],
    parameters: SzipParameters,
    bits: u32,
    is_packed: bool,
    descriptor: Descriptor,
    out: &mut Vec<u8>,
) -> Result<Descriptor> {
    let (descriptor, szip) = planned(parameters, bits, is_packed, descriptor, bytes.len() as u64)?;
    let mut encoder = AecEncoder::new(szip.aec);
    encoder.push(bytes);
    let (stream, offsets) = encoder.finish();
    out.extend_from_slice(&stream);
    Ok(with_offsets(descriptor, offsets))
}

/// The stream of bytes that arrive piece by piece, `len` in all.
pub(crate) fn encode_pieces<E: From<Error>>(
    parameters: SzipParameters,
    bits: u32,
    is_packed: bool,
    descriptor: Descriptor,
    len: u64,
    pieces: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E>,
    put: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<Descriptor, E> {
    let (descriptor, szip) = planned(parameters, bits, is_packed, descriptor, len)?;
    let mut encoder = AecEncoder::new(szip.aec);
    super::whole_units(index(szip.interval_len()), pieces, &mut |intervals| {
        encoder.push(intervals);
        put(&encoder.take())
    })?;
    let (stream, offsets) = encoder.finish();
    put(&stream)?;
    Ok(with_offsets(descriptor, offsets))
}
