//! blosc, version 1 of its format: HDF5 filter 32001, numcodecs `blosc`, Zarr v3 `blosc`.
//!
//! ```text
//!   | 2 | version | flags | typesize | decoded length, u32 | block length | stored length |
//!   | where each block starts, u32 ... | block | block | ...
//!   block: | stored length, u32 | bytes | for each byte of an element where blocks are split
//! ```
//!
//! Numbers are little-endian. Only whole blocks of small elements are split.

use crate::blosc2::FrameFault;
use crate::blosc2::chunk::{self, Codec};
use crate::blosc2::order::Order;
use crate::error::{Error, Result};
use crate::filter::Compressor;
use crate::numcodecs_pipeline::NumcodecsCodec;
use crate::scratch::{Scratch, index, resize};

const NAME: &str = "blosc";
const HEADER_LEN: usize = 16;
const VERSION: u8 = 2;
/// Bits of the flags.
const SHUFFLE: u8 = 0x01;
const COPIED: u8 = 0x02;
const BITSHUFFLE: u8 = 0x04;
const WHOLE: u8 = 0x10;
const CODEC_SHIFT: u32 = 5;
/// Elements of at most so many bytes, in blocks with at least so many elements, are split.
const SPLIT_SIZE_MAX: usize = 16;
const SPLIT_COUNT_MIN: usize = 128;
/// The most bytes that one byte decodes to, with zstd.
const RATIO_MAX: u64 = 1 << 15;

/// Undoes blosc with blosclz, lz4, zlib or zstd inside.
///
/// ```
/// use tet_codec::{Blosc, Stage};
///
/// // Three bytes, copied.
/// let stored = [2, 1, 2, 1, 3, 0, 0, 0, 3, 0, 0, 0, 19, 0, 0, 0, b'a', b'b', b'c'];
/// let mut out = [0; 3];
/// Blosc.undo_into(&stored, &mut out)?;
/// assert_eq!(&out, b"abc");
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Blosc;

struct Header {
    flags: u8,
    typesize: u8,
    decoded_len: usize,
    block_len: usize,
    len: usize,
}

impl Header {
    fn read(stored: &[u8]) -> Result<Header> {
        let header: &[u8; HEADER_LEN] = stored.first_chunk().ok_or(CUT)?;
        let [version, _, flags, typesize, numbers @ ..] = *header;
        let numbers: &[[u8; 4]; 3] = numbers.as_chunks().0.first_chunk().ok_or(CUT)?;
        let numbers = numbers.map(|number| index(u32::from_le_bytes(number).into()));
        let [decoded_len, block_len, len] = numbers;
        if version != VERSION {
            return Err(corrupt("it is no chunk of version 2 of the format"));
        }
        Ok(Header { flags, typesize, decoded_len, block_len, len })
    }

    fn codec(&self) -> Result<Codec> {
        match self.flags >> CODEC_SHIFT {
            0 => Ok(Codec::BloscLz),
            1 => Ok(Codec::Lz4),
            2 => Err(corrupt("its compressor snappy is not supported")),
            3 => Ok(Codec::Zlib),
            4 => Ok(Codec::Zstd),
            _ => Err(corrupt("its compressor is not known")),
        }
    }

    /// The order of the bytes of a block, if it is not their own.
    fn order(&self, block_len: usize) -> Option<Order> {
        let size = usize::from(self.typesize);
        if self.flags & SHUFFLE != 0 && 1 < self.typesize {
            return Some(Order::Bytes(self.typesize));
        }
        // Bits are shuffled only where elements fill whole bytes of them.
        let count = block_len.checked_div(size)?;
        let is_shuffled = self.flags & BITSHUFFLE != 0 && count != 0 && count.is_multiple_of(8);
        is_shuffled.then_some(Order::Bits(self.typesize))
    }

    fn stream_count(&self, block_len: usize) -> usize {
        let size = usize::from(self.typesize);
        let is_split = self.flags & WHOLE == 0
            && (1..=SPLIT_SIZE_MAX).contains(&size)
            && SPLIT_COUNT_MIN <= self.block_len / size
            && block_len == self.block_len;
        if is_split { size } else { 1 }
    }
}

impl Compressor for Blosc {
    fn codec(&self) -> &'static str {
        NAME
    }

    fn numcodecs_codec(&self) -> Option<NumcodecsCodec> {
        Some(NumcodecsCodec::named("blosc"))
    }

    fn max(&self, stored_len: u64) -> u64 {
        stored_len.saturating_mul(RATIO_MAX)
    }

    fn read(&self, stored: &[u8], out: &mut [u8]) -> Result<usize> {
        let header = Header::read(stored)?;
        let decoded_len = out.len() as u64;
        let out = out.get_mut(..header.decoded_len);
        let out = out.ok_or(Error::TooLong { codec: NAME, decoded_len })?;
        let stored = stored.get(..header.len).ok_or(CUT)?;
        if out.is_empty() {
            return Ok(0);
        }
        if header.flags & COPIED != 0 {
            let body = stored.get(HEADER_LEN..).ok_or(CUT)?;
            out.copy_from_slice(body.get(..out.len()).ok_or(CUT)?);
            return Ok(out.len());
        }
        blocks(&header, stored, out)?;
        Ok(out.len())
    }
}

fn blocks(header: &Header, stored: &[u8], out: &mut [u8]) -> Result<()> {
    let codec = header.codec()?;
    let block_len = header.block_len;
    if block_len == 0 {
        return Err(corrupt("blocks have no length"));
    }
    let count = out.len().div_ceil(block_len);
    let starts = count.checked_mul(4).and_then(|len| stored.get(HEADER_LEN..)?.get(..len));
    let starts = starts.ok_or(CUT)?;
    let mut scratch = Scratch::new();
    // Blocks that overlap are refused, so that the work is bounded.
    let mut left = stored.len();
    for (start, out) in starts.as_chunks().0.iter().zip(out.chunks_mut(block_len)) {
        let start = index(u32::from_le_bytes(*start).into());
        let block = stored.get(start..).filter(|_| HEADER_LEN <= start).ok_or(CUT)?;
        let streams = header.stream_count(out.len());
        let used = match header.order(out.len()) {
            None => chunk::streams(block, codec, streams, out).map_err(broken)?,
            Some(order) => {
                resize(NAME, &mut scratch, out.len())?;
                let used = chunk::streams(block, codec, streams, &mut scratch).map_err(broken)?;
                order.undo(&scratch, out);
                used
            }
        };
        left = left.checked_sub(used).ok_or(corrupt("blocks overlap"))?;
    }
    Ok(())
}

const CUT: Error = corrupt("cut short");

const fn corrupt(reason: &'static str) -> Error {
    Error::Corrupt { codec: NAME, reason }
}

fn broken(broken: FrameFault) -> Error {
    match broken {
        FrameFault::Memory => Error::Memory { codec: NAME },
        FrameFault::NotBuilt => corrupt("its compressor is not built in"),
        FrameFault::Frame | FrameFault::Chunk => corrupt("a block is invalid"),
    }
}
