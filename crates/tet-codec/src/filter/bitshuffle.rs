//! bitshuffle: HDF5 filter 32008, alone or with lz4 or zstd.
//!
//! ```text
//!   alone:      | block | block | ... | up to 7 elements as they are |
//!   compressed: | decoded length, u64 big-endian | block length in bytes, u32 |
//!               | stored length, u32 | block | ... | up to 7 elements as they are |
//! ```
//!
//! A block holds all first bits of its elements, then all second bits. The last block is shorter, a
//! multiple of 8 elements.

use crate::blosc2::order::Order;
use crate::error::{Error, Result};
use crate::filter::Compressor;
use crate::filter::lz4;
use crate::scratch::{Scratch, index, resize};

const NAME: &str = "bitshuffle";
/// Elements in a group whose bits fill whole bytes.
const GROUP: u64 = 8;
/// The length of a block in bytes, and in elements at least, where the file has none.
const BLOCK_LEN: u64 = 8192;
const BLOCK_COUNT_MIN: u64 = 128;
/// The most bytes that one byte decodes to with zstd; lz4 has less.
const RATIO_MAX: u64 = 1 << 15;

/// How blocks are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Packed {
    None,
    Lz4,
    Zstd,
}

/// Undoes bitshuffle.
///
/// ```
/// use tet_codec::{Bitshuffle, Stage};
///
/// // Eight bytes, whose lowest bits are set: a byte of all lowest bits, then zeros.
/// let stage = Bitshuffle::new(1, 0, 0).expect("known options");
/// let mut out = [0; 8];
/// stage.undo_into(&[0xFF, 0, 0, 0, 0, 0, 0, 0], &mut out)?;
/// assert_eq!(out, [1; 8]);
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bitshuffle {
    element_size: u8,
    block_count: u64,
    packed: Packed,
}

impl Bitshuffle {
    /// Elements of `element_size` bytes in blocks of `block_count` elements, 0 for the usual
    /// number, with the compressor 0 (none), 2 (lz4) or 3 (zstd). `None` for other options.
    #[must_use]
    pub fn new(element_size: u64, block_count: u64, compressor: u32) -> Option<Bitshuffle> {
        let packed = match compressor {
            0 => Packed::None,
            2 => Packed::Lz4,
            3 if cfg!(feature = "zstd") => Packed::Zstd,
            _ => return None,
        };
        let element_size = u8::try_from(element_size).ok().filter(|size| *size != 0)?;
        let usual = BLOCK_LEN / u64::from(element_size) / GROUP * GROUP;
        let block_count = if block_count == 0 { usual.max(BLOCK_COUNT_MIN) } else { block_count };
        let is_whole = block_count.is_multiple_of(GROUP);
        is_whole.then_some(Bitshuffle { element_size, block_count, packed })
    }

    /// Calls `block` for each block with its length in bytes, in order.
    fn each<'o>(
        self,
        out: &'o mut [u8],
        block_len: usize,
        mut block: impl FnMut(&'o mut [u8]) -> Result<()>,
    ) -> Result<&'o mut [u8]> {
        let group = usize::from(self.element_size) * 8;
        let whole = out.len() - out.len() % group;
        let (blocks, rest) = out.split_at_mut(whole);
        blocks.chunks_mut(block_len).try_for_each(&mut block)?;
        Ok(rest)
    }

    fn alone(self, stored: &[u8], out: &mut [u8]) -> Result<usize> {
        let decoded_len = out.len() as u64;
        let len = stored.len();
        let out = out.get_mut(..len).ok_or(Error::TooLong { codec: NAME, decoded_len })?;
        let block_len = self.block_count.saturating_mul(self.element_size.into());
        let (order, mut left) = (Order::Bits(self.element_size), stored);
        let rest = self.each(out, index(block_len), |block| {
            let (bytes, after) = left.split_at(block.len());
            order.undo(bytes, block);
            left = after;
            Ok(())
        })?;
        rest.copy_from_slice(left);
        Ok(len)
    }

    fn packed(self, stored: &[u8], out: &mut [u8]) -> Result<usize> {
        let decoded_len = out.len() as u64;
        let (len, left) = stored.split_first_chunk().ok_or(CUT)?;
        let (block_len, mut left) = left.split_first_chunk().ok_or(CUT)?;
        let len = index(u64::from_le_bytes(*len).swap_bytes());
        let out = out.get_mut(..len).ok_or(Error::TooLong { codec: NAME, decoded_len })?;
        let block_len = index(u32::from_le_bytes(*block_len).swap_bytes().into());
        let group = usize::from(self.element_size) * 8;
        if block_len == 0 || !block_len.is_multiple_of(group) {
            return Err(corrupt("a block is no multiple of 8 elements"));
        }
        let (order, mut scratch) = (Order::Bits(self.element_size), Scratch::new());
        resize(NAME, &mut scratch, block_len.min(len))?;
        let rest = self.each(out, block_len, |block| {
            let (len, after) = left.split_first_chunk().ok_or(CUT)?;
            let len = index(u32::from_le_bytes(*len).swap_bytes().into());
            let (bytes, after) = after.split_at_checked(len).ok_or(CUT)?;
            let bits = scratch.get_mut(..block.len()).unwrap_or_default();
            self.unpack(bytes, bits)?;
            order.undo(bits, block);
            left = after;
            Ok(())
        })?;
        rest.copy_from_slice(left.get(..rest.len()).ok_or(CUT)?);
        Ok(len)
    }

    fn unpack(self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        #[cfg(feature = "zstd")]
        if self.packed == Packed::Zstd {
            let len = crate::zstd::decode_some(stored, out)?;
            return if len == out.len() { Ok(()) } else { Err(corrupt("a block is too short")) };
        }
        lz4::block(stored, out)
    }
}

const CUT: Error = corrupt("cut short");

const fn corrupt(reason: &'static str) -> Error {
    Error::Corrupt { codec: NAME, reason }
}

impl Compressor for Bitshuffle {
    fn codec(&self) -> &'static str {
        match self.packed {
            Packed::None => NAME,
            Packed::Lz4 => "bitshuffle-lz4",
            Packed::Zstd => "bitshuffle-zstd",
        }
    }

    fn max(&self, stored_len: u64) -> u64 {
        match self.packed {
            Packed::None => stored_len,
            Packed::Lz4 | Packed::Zstd => stored_len.saturating_mul(RATIO_MAX),
        }
    }

    fn read(&self, stored: &[u8], out: &mut [u8]) -> Result<usize> {
        match self.packed {
            Packed::None => self.alone(stored, out),
            Packed::Lz4 | Packed::Zstd => self.packed(stored, out),
        }
    }
}
