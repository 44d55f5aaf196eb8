//! Numbers that are stored in blocks: floats of eight and of four bits, and the quantized blocks of ggml.
//!
//! ```text
//!   float8_e4m3fn   1 element  in 1 byte
//!   float4_e2m1fn   2 elements in 1 byte, the first in the low four bits
//!   Q4_K          256 elements in 144 bytes: scales, then four bits each
//! ```
//!
//! All values are float32. Those of floats are exact. Those of blocks are what `gguf.dequantize` of the Python
//! package of ggml computes: the same operations in the same order, so the same bits.

mod float;
mod old;
mod super_block;

use std::marker::PhantomData;

use crate::error::{Error, Result};

/// How the numbers of a block are decoded.
///
/// ```
/// use tet_codec::NumberBlock;
///
/// let block = NumberBlock::from_name("float4_e2m1fn").expect("a type that is decoded");
/// assert_eq!((block.count(), block.len()), (2, 1));
/// let mut out = [0; 8];
/// block.decode(&[0x9f], 0, &mut out)?;
/// assert_eq!(out[..4], (-6_f32).to_le_bytes());
/// assert_eq!(out[4..], (-0.5_f32).to_le_bytes());
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NumberBlock {
    name: &'static str,
    count: u64,
    len: u64,
    decode: [DecodeBlock; 2],
    is_swapped: bool,
}

/// Decodes elements of a block from a position on, as many as the output has room for.
type DecodeBlock = fn(&[u8], usize, &mut [u8]);

/// The types, by their names in NumPy's extensions and in ggml.
static ALL: [NumberBlock; 16] = [
    number::<float::E4m3Fn, 1, 1>("float8_e4m3fn"),
    number::<float::E5m2, 1, 1>("float8_e5m2"),
    number::<float::E4m3FnUz, 1, 1>("float8_e4m3fnuz"),
    number::<float::E5m2FnUz, 1, 1>("float8_e5m2fnuz"),
    number::<float::E8m0FnU, 1, 1>("float8_e8m0fnu"),
    number::<float::E2m1Fn, 2, 1>("float4_e2m1fn"),
    block::<old::Q4_0<Little>, old::Q4_0<Big>, 32, 18>("Q4_0"),
    block::<old::Q4_1<Little>, old::Q4_1<Big>, 32, 20>("Q4_1"),
    block::<old::Q5_0<Little>, old::Q5_0<Big>, 32, 22>("Q5_0"),
    block::<old::Q5_1<Little>, old::Q5_1<Big>, 32, 24>("Q5_1"),
    block::<old::Q8_0<Little>, old::Q8_0<Big>, 32, 34>("Q8_0"),
    block::<super_block::Q2K<Little>, super_block::Q2K<Big>, 256, 84>("Q2_K"),
    block::<super_block::Q3K<Little>, super_block::Q3K<Big>, 256, 110>("Q3_K"),
    block::<super_block::Q4K<Little>, super_block::Q4K<Big>, 256, 144>("Q4_K"),
    block::<super_block::Q5K<Little>, super_block::Q5K<Big>, 256, 176>("Q5_K"),
    block::<super_block::Q6K<Little>, super_block::Q6K<Big>, 256, 210>("Q6_K"),
];

impl NumberBlock {
    /// The type of this name; `None` for one that is not decoded.
    #[must_use]
    pub fn from_name(name: &str) -> Option<NumberBlock> {
        ALL.iter().find(|it| it.name == name).copied()
    }

    /// Stores the numbers in a block, such as its scales, in big-endian order.
    #[must_use]
    pub const fn swapped(self) -> NumberBlock {
        NumberBlock { is_swapped: true, ..self }
    }

    /// The name of the type.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The elements of a block.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The bytes of a block.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "no block is empty")]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Decodes elements of whole blocks to little-endian float32: those behind the first `skipped` ones, as many as
    /// `out` has room for.
    ///
    /// # Errors
    ///
    /// The blocks do not have so many elements.
    pub fn decode(&self, blocks: &[u8], skipped: u64, out: &mut [u8]) -> Result<()> {
        let wanted = skipped.saturating_add(out.len() as u64 / 4);
        let found = blocks.len() as u64 / self.len * self.count;
        let skipped = usize::try_from(skipped).ok().filter(|_| wanted <= found);
        let codec = self.name;
        let skipped = skipped.ok_or(Error::Corrupt { codec, reason: "a block is cut short" })?;
        let [little, big] = self.decode;
        (if self.is_swapped { big } else { little })(blocks, skipped, out);
        Ok(())
    }
}

/// The values of a block of `COUNT` elements in `LEN` bytes.
trait Block<const COUNT: usize, const LEN: usize> {
    fn values(block: &[u8; LEN], values: &mut [f32; COUNT]);
}

/// The order of the bytes of the numbers in a block.
trait Order {
    fn half(bytes: [u8; 2]) -> f32;
    fn word(bytes: [u8; 4]) -> u32;
}

/// Numbers with their lowest byte first.
struct Little;

/// Numbers with their highest byte first.
struct Big;

impl Order for Little {
    fn half(bytes: [u8; 2]) -> f32 {
        widened(u16::from_le_bytes(bytes))
    }

    fn word(bytes: [u8; 4]) -> u32 {
        u32::from_le_bytes(bytes)
    }
}

#[allow(clippy::big_endian_bytes, reason = "GGUF files of big-endian machines exist")]
impl Order for Big {
    fn half(bytes: [u8; 2]) -> f32 {
        widened(u16::from_be_bytes(bytes))
    }

    fn word(bytes: [u8; 4]) -> u32 {
        u32::from_be_bytes(bytes)
    }
}

/// A type whose blocks have no numbers of several bytes.
const fn number<B, const COUNT: usize, const LEN: usize>(name: &'static str) -> NumberBlock
where
    B: Block<COUNT, LEN>,
{
    block::<B, B, COUNT, LEN>(name)
}

const fn block<L, B, const COUNT: usize, const LEN: usize>(name: &'static str) -> NumberBlock
where
    L: Block<COUNT, LEN>,
    B: Block<COUNT, LEN>,
{
    let decode = [each::<L, COUNT, LEN> as fn(&[u8], usize, &mut [u8]), each::<B, COUNT, LEN>];
    NumberBlock { name, count: COUNT as u64, len: LEN as u64, decode, is_swapped: false }
}

/// Decodes the elements behind the first `skipped` ones until `out` is full.
fn each<B: Block<COUNT, LEN>, const COUNT: usize, const LEN: usize>(
    blocks: &[u8],
    skipped: usize,
    out: &mut [u8],
) {
    let (first, mut skipped) = (skipped / COUNT, skipped % COUNT);
    let blocks = blocks.as_chunks::<LEN>().0.iter().skip(first);
    let mut out = out.as_chunks_mut::<4>().0;
    let mut values = [0.0; COUNT];
    for block in blocks {
        if out.is_empty() {
            return;
        }
        B::values(block, &mut values);
        let part = values.get(skipped..).unwrap_or_default();
        let (now, rest) = out.split_at_mut(part.len().min(out.len()));
        for (place, value) in now.iter_mut().zip(part) {
            *place = value.to_le_bytes();
        }
        (out, skipped) = (rest, 0);
    }
}

/// The value of a float16.
fn widened(half: u16) -> f32 {
    /// 2^112 moves the exponent of a float16 to that of a float32, subnormals included.
    const REBIAS: f32 = f32::from_bits((112 + 127) << 23);
    let half = u32::from(half);
    let magnitude = (half & 0x7fff) << 13;
    let finite = (f32::from_bits(magnitude) * REBIAS).to_bits();
    let special = if magnitude >= 0x0f80_0000 { 0x7f80_0000 } else { 0 };
    f32::from_bits(finite | special | ((half & 0x8000) << 16))
}

/// A type of blocks whose numbers have an order of bytes.
struct Ordered<O>(PhantomData<O>);

#[cfg(test)]
mod tests;
