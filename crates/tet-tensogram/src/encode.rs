//! Encodes elements into a region and its descriptor (section 5).
//!
//! Only encodings that every reader since 0.19 supports are written. Combinations that corrupt
//! elements are refused, and so are elements that are not finite, unless a mask is allowed.

mod passes;
mod readers;
mod recipe;
mod settle;

use std::borrow::Cow;
use std::mem::take;

use tet_codec::{Swapped, shuffle};
use tet_format::DType;

use crate::Value;
use crate::descriptor::{ByteOrder, Descriptor, DescriptorStage, MaskKind};
use crate::error::{Error, Result};
use crate::mask::{self, MaskMethod, NonFiniteMasks};
use crate::pipeline::packing::{Ends, Packing};
use crate::pipeline::{bits, expect_len, lz4_encode, packing_spoils, sized, szip, zstd};
pub use passes::{Passes, encode_in_passes};
pub use readers::Readers;
pub use recipe::{Compressing, NonFinite, PackingFit, Recipe};
pub use settle::NonFiniteSeen;
use settle::{is_surveyed, settle};

/// An encoded object, ready to be written as a frame.
#[derive(Clone, Debug)]
pub struct Encoded<'a> {
    /// Its descriptor; [`Descriptor::encode`] gives its bytes.
    pub descriptor: Descriptor,
    /// Its payload, then the blobs of its masks; borrows the elements if they are stored unchanged.
    pub region: Cow<'a, [u8]>,
}

/// Encodes little-endian elements in row-major order. A bitmask is packed bits, the highest first.
///
/// # Errors
///
/// Returns [`Error::Unwritable`] when the format or its readers do not support the recipe,
/// [`Error::NotFinite`] when an element needs a mask that is not allowed, [`Error::Usage`] when the
/// length of the elements does not match the shape.
pub fn encode<'a>(
    dtype: DType,
    shape: &[u64],
    elements: &'a [u8],
    recipe: &Recipe,
) -> Result<Encoded<'a>> {
    Ok(encode_seen(dtype, shape, elements, recipe)?.0)
}

/// Encodes elements; also returns counts of those that are not finite.
///
/// # Errors
///
/// Returns what [`encode`] returns.
pub fn encode_seen<'a>(
    dtype: DType,
    shape: &[u64],
    elements: &'a [u8],
    recipe: &Recipe,
) -> Result<(Encoded<'a>, NonFiniteSeen)> {
    encode_into(dtype, shape, elements, recipe, Vec::new())
}

/// Encodes into a reused buffer, such as the region of another object: allocating fresh memory
/// takes longer than most codecs.
///
/// # Errors
///
/// Returns what [`encode`] returns.
pub fn encode_into<'a>(
    dtype: DType,
    shape: &[u64],
    elements: &'a [u8],
    recipe: &Recipe,
    mut room: Vec<u8>,
) -> Result<(Encoded<'a>, NonFiniteSeen)> {
    let descriptor = Descriptor::new(dtype, shape)?.with_byte_order(recipe.byte_order);
    let decoded_len = descriptor.decoded_len().unwrap_or_default();
    expect_len("bytes of elements", elements.len(), decoded_len)?;
    recipe.check(dtype)?;
    let (found, seen) = if is_surveyed(dtype, recipe) {
        let found = mask::find(dtype, elements)?;
        let inexact = mask::inexact(dtype, elements, &found);
        settle(found, inexact, recipe)?
    } else {
        (NonFiniteMasks::default(), NonFiniteSeen::default())
    };
    let finite = zeroed(dtype, elements, &found)?;
    let (descriptor, encoded, packed_bits) = pack(descriptor, finite, recipe, &mut room)?;
    let (descriptor, filtered) = filter(descriptor, encoded, recipe, &mut room)?;
    let (sample_bits, is_packed) = samples(dtype, packed_bits, recipe);
    let recipe = &for_samples(sample_bits, recipe);
    let (descriptor, payload) =
        compress(descriptor, filtered, sample_bits, is_packed, recipe, room)?;
    if found.first == [None; 3] {
        return Ok((Encoded { descriptor, region: payload }, seen));
    }
    let mut region = owned(payload)?;
    let count = descriptor.element_count().unwrap_or_default();
    let (blobs, entries) = masks(found, count, region.len() as u64, recipe)?;
    region.extend_from_slice(&blobs);
    let descriptor = descriptor.with("masks", entries);
    Ok((Encoded { descriptor, region: Cow::Owned(region) }, seen))
}

/// The recipe for samples of `sample_bits` bits: without bits there is nothing to compress.
fn for_samples(sample_bits: u32, recipe: &Recipe) -> Recipe {
    match recipe.compression {
        Compressing::Szip(_) if sample_bits == 0 => {
            Recipe { compression: Compressing::None, ..*recipe }
        }
        _ => *recipe,
    }
}

/// The number of bits of a szip sample, and whether it is a packed number.
fn samples(dtype: DType, packed_bits: Option<u32>, recipe: &Recipe) -> (u32, bool) {
    let bits = match (packed_bits, recipe.shuffle) {
        (Some(bits), _) => bits,
        (None, Some(_)) => 8,
        (None, None) => dtype.bit_width(),
    };
    (bits, packed_bits.is_some())
}

/// Refuses elements of which one needs a mask. `first` is the number of the first element. Returns
/// their count.
pub(crate) fn refuse_odd(dtype: DType, elements: &[u8], first: u64) -> Result<u64> {
    settle(mask::find(dtype, elements)?, [0; 3], &Recipe::default()).map_err(
        |error| match error {
            Error::NotFinite { element, value } => {
                Error::NotFinite { element: first.saturating_add(element), value }
            }
            error => error,
        },
    )?;
    Ok((elements.len() as u64).checked_div(dtype.size().unwrap_or(0)).unwrap_or_default())
}

/// Bytes that may be changed; copied if they are borrowed.
fn owned(bytes: Cow<'_, [u8]>) -> Result<Vec<u8>> {
    match bytes {
        Cow::Owned(bytes) => Ok(bytes),
        Cow::Borrowed(bytes) => {
            let mut out = Vec::new();
            let memory = |_| Error::Memory { len: bytes.len() as u64 };
            out.try_reserve_exact(bytes.len()).map_err(memory)?;
            out.extend_from_slice(bytes);
            Ok(out)
        }
    }
}

/// The elements, with zeros under the masks.
fn zeroed<'a>(dtype: DType, elements: &'a [u8], found: &NonFiniteMasks) -> Result<Cow<'a, [u8]>> {
    let size = dtype.size().and_then(|size| usize::try_from(size).ok()).unwrap_or(1);
    if found.first == [None; 3] {
        return Ok(Cow::Borrowed(elements));
    }
    let mut out = owned(Cow::Borrowed(elements))?;
    for bits in found.bits.iter().flatten() {
        for (places, byte) in out.chunks_mut(size * 8).zip(bits).filter(|(_, byte)| **byte != 0) {
            for (at, place) in places.chunks_exact_mut(size).enumerate() {
                if byte << at & 0x80 != 0 {
                    place.fill(0);
                }
            }
        }
    }
    Ok(Cow::Owned(out))
}

/// Elements packed or byte-swapped if the recipe requests it, and the bits of a packed number.
fn pack<'a>(
    descriptor: Descriptor,
    elements: Cow<'a, [u8]>,
    recipe: &Recipe,
    room: &mut Vec<u8>,
) -> Result<(Descriptor, Cow<'a, [u8]>, Option<u32>)> {
    let Some(fit) = recipe.packing else {
        let size = descriptor.dtype().and_then(DType::size).unwrap_or(1);
        let is_complex = descriptor.dtype().is_some_and(DType::is_complex);
        let swap = Swapped::new(if is_complex { size / 2 } else { size });
        let Some(swap) = swap.filter(|_| recipe.byte_order == ByteOrder::Big) else {
            return Ok((descriptor, elements, None));
        };
        let mut out = owned(elements)?;
        swap.in_place(&mut out);
        return Ok((descriptor, Cow::Owned(out), None));
    };
    let packing = match fit {
        PackingFit::Given(parameters) => Packing::new(parameters),
        PackingFit::Bits { bits, decimal_scale } => {
            Packing::fit(&Ends::from_elements(&elements), bits, decimal_scale)?
        }
        PackingFit::Within { error_max } => {
            let (ends, widths) = (Ends::from_elements(&elements), recipe.widths());
            let mut measure =
                |packing: &Packing| Ok::<_, Error>(packing.error(&elements, error_max));
            Packing::within(&ends, error_max, widths, &mut measure)?
        }
    };
    packing.check_writable()?;
    let is_last = recipe.shuffle.is_none() && recipe.compression == Compressing::None;
    let packed = packing.pack(&elements, if is_last { take(room) } else { Vec::new() })?;
    let descriptor = descriptor.with_stage(DescriptorStage::Encoding, "simple_packing");
    let descriptor = packing.describe(descriptor, recipe.readers);
    Ok((descriptor, Cow::Owned(packed), Some(packing.bits())))
}

/// Bytes in the order of the filter, if there is one.
fn filter<'a>(
    descriptor: Descriptor,
    bytes: Cow<'a, [u8]>,
    recipe: &Recipe,
    room: &mut Vec<u8>,
) -> Result<(Descriptor, Cow<'a, [u8]>)> {
    let Some(size) = recipe.shuffle else { return Ok((descriptor, bytes)) };
    if size == 0 || !(bytes.len() as u64).is_multiple_of(size) {
        return Err(Error::Unwritable { why: "shuffle needs whole elements of its size" });
    }
    let descriptor = descriptor.with_stage(DescriptorStage::Filter, "shuffle");
    let descriptor = descriptor.with("shuffle_element_size", Value::Int(size.into()));
    let room = match recipe.compression {
        // The compressor shuffles each piece separately.
        Compressing::Zstd { .. } => return Ok((descriptor, bytes)),
        Compressing::None => take(room),
        _ => Vec::new(),
    };
    let mut planes = sized(room, bytes.len() as u64)?;
    shuffle::forward(&bytes, size, &mut planes);
    Ok((descriptor, Cow::Owned(planes)))
}

fn compress<'a>(
    descriptor: Descriptor,
    bytes: Cow<'a, [u8]>,
    sample_bits: u32,
    is_packed: bool,
    recipe: &Recipe,
    mut out: Vec<u8>,
) -> Result<(Descriptor, Cow<'a, [u8]>)> {
    // lz4 overwrites the buffer, the other codecs append to it.
    if recipe.compression != Compressing::Lz4 {
        out.clear();
    }
    let named = |word: &str| descriptor.clone().with_stage(DescriptorStage::Compression, word);
    let descriptor = match recipe.compression {
        Compressing::None => return Ok((descriptor, bytes)),
        Compressing::Zstd { level } => {
            let descriptor = named("zstd").with("zstd_level", Value::Int(level.into()));
            let shuffle = recipe.shuffle.and_then(|size| usize::try_from(size).ok());
            let input = zstd::Input { bytes: &bytes, shuffle };
            zstd::encode(input, recipe.zstd(level), descriptor, &mut out)?
        }
        Compressing::Lz4 => {
            out = lz4_encode(&bytes, out)?;
            named("lz4")
        }
        Compressing::Szip(_) if is_packed && packing_spoils(sample_bits) => {
            let why = "szip corrupts packed numbers that are not whole bytes";
            return Err(Error::Unwritable { why });
        }
        Compressing::Szip(parameters) if sample_bits <= 32 => {
            szip::encode(&bytes, parameters, sample_bits, is_packed, named("szip"), &mut out)?
        }
        Compressing::Szip(_) => {
            let why = "szip takes samples of up to 32 bits: shuffle them";
            return Err(Error::Unwritable { why });
        }
        Compressing::Rle => {
            bits::push_count(bytes.len(), &mut out)?;
            bits::rle_encode(&bytes, bytes.len() as u64 * 8, &mut out);
            named("rle")
        }
        Compressing::Roaring => {
            bits::push_count(bytes.len(), &mut out)?;
            bits::roaring_encode(&bytes, bytes.len() as u64 * 8, &mut out)?;
            named("roaring")
        }
    };
    Ok((descriptor, Cow::Owned(out)))
}

/// The blobs of the masks, in the order of the wire, and their descriptor entries. They follow a
/// payload of `payload_len` bytes.
fn masks(
    found: NonFiniteMasks,
    count: u64,
    payload_len: u64,
    recipe: &Recipe,
) -> Result<(Vec<u8>, Value)> {
    let (mut blobs, mut entries) = (Vec::new(), Vec::new());
    for (kind, bits) in MaskKind::ALL.into_iter().zip(found.bits) {
        let Some(bits) = bits else { continue };
        let is_small = bits.len() as u64 <= recipe.small_mask_len;
        let method = if is_small { MaskMethod::None } else { recipe.mask_method };
        let start = blobs.len() as u64;
        method.encode(&bits, count, &mut blobs)?;
        let text = |text: &str| Value::Text(text.to_owned());
        let number = |number: u64| Value::Int(number.into());
        let entry = Value::Map(vec![
            (text("method"), text(method.word())),
            (text("offset"), number(payload_len.saturating_add(start))),
            (text("length"), number(blobs.len() as u64 - start)),
        ]);
        entries.push((text(kind.key()), entry));
    }
    Ok((blobs, Value::Map(entries)))
}
