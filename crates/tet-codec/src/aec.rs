//! Adaptive entropy coding: samples of up to 32 bits as a CCSDS 121.0-B stream, as libaec and szip
//! write it, in intervals that start independently.
//!
//! ```text
//!   | interval: rsi blocks of block_size samples | interval | ...
//!   block: option, [reference sample], samples
//! ```
//!
//! A stream is decoded interval by interval, never past the last sample.

mod encode;
mod interval;
mod stream;

pub use encode::AecEncoder;
pub use interval::{AecDecoder, AecFault};
pub(crate) use stream::Stream;

/// The fewest bits of a run of blocks, and the most blocks in such a run.
const RUN_BITS_MIN: u64 = 6;
const RUN_BLOCKS_MAX: u64 = 64;

/// The parameters of a stream.
///
/// ```
/// use tet_codec::{Aec, AecDecoder, AecEncoder};
///
/// let aec = Aec::new(8, 128, 16, Aec::PREPROCESS).expect("valid parameters");
/// let samples: Vec<u8> = (0..=255).collect();
/// let mut encoder = AecEncoder::new(aec);
/// encoder.push(&samples);
/// let (stream, offsets) = encoder.finish();
/// assert_eq!(offsets, [0]);
///
/// let mut out = [0; 256];
/// AecDecoder::new(aec, &stream, 0).next(&mut out)?;
/// assert_eq!(out[..], samples);
/// # Ok::<(), tet_codec::AecFault>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Aec {
    bits: u32,
    width: u32,
    rsi: u32,
    block_size: u32,
    flags: u32,
}

impl Aec {
    /// Samples are signed.
    pub const SIGNED: u32 = 1;
    /// Bytes of samples are in big-endian order.
    pub const MSB: u32 = 4;
    /// Differences of samples are coded.
    pub const PREPROCESS: u32 = 8;
    /// Intervals end at whole bytes.
    pub const PAD_RSI: u32 = 32;
    /// Blocks may have any even number of samples.
    pub const NOT_ENFORCE: u32 = 64;
    /// Samples of up to 4 bits have shorter codes.
    pub const RESTRICTED: u32 = 128;

    /// Samples of `bits` bits in as few bytes as hold them, in intervals of `rsi` blocks of
    /// `block_size` samples. `None` when no such stream can be.
    #[must_use]
    pub fn new(bits: u32, rsi: u32, block_size: u32, flags: u32) -> Option<Aec> {
        let is_usual = matches!(block_size, 8 | 16 | 32 | 64);
        let is_even = flags & Aec::NOT_ENFORCE != 0 && block_size.is_multiple_of(2);
        let is_sound = (1..=32).contains(&bits)
            && (1..=4096).contains(&rsi)
            && (2..=64).contains(&block_size)
            && (is_usual || is_even)
            && (flags & Aec::RESTRICTED == 0 || bits <= 4);
        is_sound.then_some(Aec { bits, width: bits.div_ceil(8), rsi, block_size, flags })
    }

    /// Stores samples of more than 16 bits in 4 bytes, as HDF5 has them.
    #[must_use]
    pub const fn with_words(self) -> Aec {
        if self.width == 3 { Aec { width: 4, ..self } } else { self }
    }

    /// The bytes of a sample.
    #[must_use]
    pub const fn width(self) -> u64 {
        self.width as u64
    }

    /// The decoded length of a whole interval in bytes.
    #[must_use]
    pub const fn interval_len(self) -> u64 {
        self.rsi as u64 * self.block_size as u64 * self.width as u64
    }

    /// The most bytes that a stream of this length can decode to.
    #[must_use]
    pub const fn decoded_max(self, stream_len: u64) -> u64 {
        let runs = (stream_len.saturating_mul(8) / RUN_BITS_MIN).saturating_add(1);
        let run_len = RUN_BLOCKS_MAX * self.block_size as u64 * self.width as u64;
        if stream_len == 0 { 0 } else { runs.saturating_mul(run_len) }
    }

    const fn has(self, flag: u32) -> bool {
        self.flags & flag != 0
    }
}
