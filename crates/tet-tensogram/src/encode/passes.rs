//! Encodes elements that do not fit in memory; the region is written as it is produced.
//!
//! ```text
//!   pass: which elements are not finite    pass: the ends    passes: the error    pass: the payload
//! ```
//!
//! The output is, byte for byte, what [`encode`](super::encode) produces from the same elements in
//! memory. It takes as many passes as needed: one for each byte of an element under shuffle.

use tet_codec::Swapped;
use tet_format::DType;

use super::recipe::{Compressing, PackingFit, Recipe};
use super::settle::{NonFiniteSeen, is_surveyed, settle};
use super::{for_samples, masks, samples, zeroed};
use crate::Value;
use crate::descriptor::{ByteOrder, Descriptor, DescriptorStage};
use crate::error::{Error, Result};
use crate::mask::{self, NonFiniteMasks};
use crate::pipeline::packing::{Ends, Packing};
use crate::pipeline::{buffer, index, packing_spoils, szip, whole_units, zstd};

/// Visits all elements, little-endian and in row-major order, in pieces of whole elements. Every
/// pass visits the same pieces.
pub type Passes<'a, E> = dyn FnMut(&mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> + 'a;

/// The output of bytes.
type Put<'a, E> = dyn FnMut(&[u8]) -> Result<(), E> + 'a;

/// Encodes elements piece by piece, and calls `put` with the bytes of the region, in order.
///
/// Memory: a few megabytes, or a zstd frame of up to 64 MiB for [`Readers`](super::Readers) of all
/// releases, plus one bit for each element under a mask, and for szip the interval offsets.
///
/// # Errors
///
/// Returns what [`encode`](super::encode) returns, what `elements` and `put` return, and
/// [`Error::Unwritable`] for lz4, rle and roaring, which take all elements at once.
pub fn encode_in_passes<E: From<Error>>(
    dtype: DType,
    shape: &[u64],
    elements: &mut Passes<'_, E>,
    recipe: &Recipe,
    put: &mut Put<'_, E>,
) -> Result<(Descriptor, NonFiniteSeen), E> {
    let descriptor = Descriptor::new(dtype, shape)?.with_byte_order(recipe.byte_order);
    recipe.check(dtype)?;
    let at_once =
        matches!(recipe.compression, Compressing::Lz4 | Compressing::Rle | Compressing::Roaring);
    if at_once {
        let why = "lz4, rle and roaring take all elements at once";
        return Err(Error::Unwritable { why }.into());
    }
    let (found, seen) = survey(&descriptor, dtype, elements, recipe)?;
    let mut source = Finite {
        elements,
        dtype,
        masked: found.first.map(|first| first.is_some()),
        swap: swap(dtype, recipe),
        packing: None,
        decoded_len: descriptor.decoded_len().unwrap_or_default(),
    };
    let descriptor = pack(descriptor, &mut source, recipe)?;
    let packed_bits = source.packing.map(|packing| packing.bits());
    let (descriptor, payload_len) = payload(descriptor, &mut source, packed_bits, recipe, put)?;
    if found.first == [None; 3] {
        return Ok((descriptor, seen));
    }
    let count = descriptor.element_count().unwrap_or_default();
    let (blobs, entries) = masks(found, count, payload_len, recipe)?;
    put(&blobs)?;
    Ok((descriptor.with("masks", entries), seen))
}

/// Finds the elements that are not finite, if the recipe depends on them.
fn survey<E: From<Error>>(
    descriptor: &Descriptor,
    dtype: DType,
    elements: &mut Passes<'_, E>,
    recipe: &Recipe,
) -> Result<(NonFiniteMasks, NonFiniteSeen), E> {
    if !is_surveyed(dtype, recipe) {
        return Ok((NonFiniteMasks::default(), NonFiniteSeen::default()));
    }
    let bits_len = descriptor.element_count().unwrap_or_default().div_ceil(8);
    let (mut all, mut inexact) = (NonFiniteMasks::default(), [0_u64; 3]);
    let size = dtype.size().unwrap_or(1);
    let mut first = 0_u64;
    whole_units(index(size * 8), &mut *elements, &mut |piece| {
        let found = mask::find(dtype, piece)?;
        let counts = mask::inexact(dtype, piece, &found);
        let kinds = all.first.iter_mut().zip(&mut all.bits).zip(found.first.iter().zip(found.bits));
        for ((all_first, all_bits), (found_first, bits)) in kinds {
            let (Some(found_first), Some(bits)) = (found_first, bits) else { continue };
            all_first.get_or_insert(first.saturating_add(*found_first));
            if all_bits.is_none() {
                *all_bits = Some(buffer(bits_len)?);
            }
            let start = index(first / 8);
            let place = all_bits.as_mut().and_then(|all| all.get_mut(start..start + bits.len()));
            if let Some(place) = place {
                place.copy_from_slice(&bits);
            }
        }
        for (sum, count) in inexact.iter_mut().zip(counts) {
            *sum = sum.saturating_add(count);
        }
        first = first.saturating_add(piece.len() as u64 / size);
        Ok(())
    })?;
    Ok(settle(all, inexact, recipe)?)
}

fn swap(dtype: DType, recipe: &Recipe) -> Option<Swapped> {
    let size = dtype.size().filter(|_| recipe.byte_order == ByteOrder::Big)?;
    Swapped::new(if dtype.is_complex() { size / 2 } else { size })
}

/// The elements as they are encoded.
struct Finite<'e, 'p, E> {
    elements: &'e mut Passes<'p, E>,
    dtype: DType,
    masked: [bool; 3],
    swap: Option<Swapped>,
    packing: Option<Packing>,
    decoded_len: u64,
}

impl<E: From<Error>> Finite<'_, '_, E> {
    /// Visits the elements, with zeros under masks.
    fn zeroed(&mut self, visit: &mut Put<'_, E>) -> Result<(), E> {
        let Finite { elements, dtype, masked, .. } = self;
        let unit = index(dtype.size().unwrap_or(1) * 8);
        whole_units(unit, &mut **elements, &mut |piece| {
            if *masked == [false; 3] {
                return visit(piece);
            }
            let mut found = mask::find(*dtype, piece)?;
            for ((first, bits), is_masked) in
                found.first.iter_mut().zip(&mut found.bits).zip(&*masked)
            {
                if !is_masked {
                    (*first, *bits) = (None, None);
                }
            }
            visit(&zeroed(*dtype, piece, &found)?)
        })
    }

    /// Visits the encoded bytes.
    fn encoded(&mut self, visit: &mut Put<'_, E>) -> Result<(), E> {
        let (swap, packing) = (self.swap, self.packing);
        let mut scratch = Vec::new();
        self.zeroed(&mut |piece| match (packing, swap) {
            (Some(packing), _) => visit(&packing.pack(piece, Vec::new())?),
            (None, Some(swap)) => {
                scratch.clear();
                scratch.extend_from_slice(piece);
                swap.in_place(&mut scratch);
                visit(&scratch)
            }
            (None, None) => visit(piece),
        })
    }

    /// The length of the encoded bytes.
    fn encoded_len(&self) -> u64 {
        self.packing.map_or(self.decoded_len, |packing| packing.packed_len(self.decoded_len / 8))
    }
}

/// Finds the packing parameters of doubles, if the recipe packs.
fn pack<E: From<Error>>(
    descriptor: Descriptor,
    source: &mut Finite<'_, '_, E>,
    recipe: &Recipe,
) -> Result<Descriptor, E> {
    let Some(fit) = recipe.packing else { return Ok(descriptor) };
    let mut ends = Ends::default();
    if !matches!(fit, PackingFit::Given(_)) {
        source.zeroed(&mut |piece| {
            ends.widen(piece);
            Ok(())
        })?;
    }
    let packing = match fit {
        PackingFit::Given(parameters) => Packing::new(parameters),
        PackingFit::Bits { bits, decimal_scale } => Packing::fit(&ends, bits, decimal_scale)?,
        PackingFit::Within { error_max } => {
            Packing::within(&ends, error_max, recipe.widths(), &mut |packing| {
                let mut worst = 0.0_f64;
                source.zeroed(&mut |piece| {
                    if worst <= error_max {
                        worst = worst.max(packing.error(piece, error_max));
                    }
                    Ok(())
                })?;
                Ok::<_, E>(worst)
            })?
        }
    };
    packing.check_writable()?;
    source.packing = Some(packing);
    let descriptor = descriptor.with_stage(DescriptorStage::Encoding, "simple_packing");
    Ok(packing.describe(descriptor, recipe.readers))
}

/// Writes the payload and returns its length.
fn payload<E: From<Error>>(
    descriptor: Descriptor,
    source: &mut Finite<'_, '_, E>,
    packed_bits: Option<u32>,
    recipe: &Recipe,
    put: &mut Put<'_, E>,
) -> Result<(Descriptor, u64), E> {
    let encoded_len = source.encoded_len();
    let mut descriptor = descriptor;
    if let Some(size) = recipe.shuffle {
        if size == 0 || !encoded_len.is_multiple_of(size) {
            let why = "shuffle needs whole elements of its size";
            return Err(Error::Unwritable { why }.into());
        }
        descriptor = descriptor.with_stage(DescriptorStage::Filter, "shuffle");
        descriptor = descriptor.with("shuffle_element_size", Value::Int(size.into()));
    }
    let (sample_bits, is_packed) = samples(source.dtype, packed_bits, recipe);
    let recipe = &for_samples(sample_bits, recipe);
    let mut len = 0_u64;
    let put = &mut |bytes: &[u8]| {
        len = len.saturating_add(bytes.len() as u64);
        put(bytes)
    };
    let mut filtered = |visit: &mut Put<'_, E>| match recipe.shuffle {
        Some(size) => planes(source, size, visit),
        None => source.encoded(visit),
    };
    let named = |word| descriptor.clone().with_stage(DescriptorStage::Compression, word);
    let descriptor = match recipe.compression {
        Compressing::Zstd { level } => {
            let descriptor = named("zstd").with("zstd_level", Value::Int(level.into()));
            zstd::encode_pieces(recipe.zstd(level), descriptor, encoded_len, filtered, put)?
        }
        Compressing::Szip(_) if is_packed && packing_spoils(sample_bits) => {
            let why = "szip corrupts packed numbers that are not whole bytes";
            return Err(Error::Unwritable { why }.into());
        }
        Compressing::Szip(_) if 32 < sample_bits => {
            let why = "szip takes samples of up to 32 bits: shuffle them";
            return Err(Error::Unwritable { why }.into());
        }
        Compressing::Szip(parameters) => szip::encode_pieces(
            parameters,
            sample_bits,
            is_packed,
            named("szip"),
            encoded_len,
            filtered,
            put,
        )?,
        _ => {
            filtered(put)?;
            descriptor
        }
    };
    Ok((descriptor, len))
}

/// Visits the first byte of every shuffled element, then every second byte, and so on.
fn planes<E: From<Error>>(
    source: &mut Finite<'_, '_, E>,
    size: u64,
    visit: &mut Put<'_, E>,
) -> Result<(), E> {
    let size = index(size);
    let mut plane = Vec::new();
    for which in 0..size {
        let mut next = which;
        source.encoded(&mut |bytes| {
            plane.clear();
            plane.extend(bytes.iter().skip(next).step_by(size));
            // The offset of the next byte of the plane in the following pieces.
            next =
                next.saturating_add(plane.len().saturating_mul(size)).saturating_sub(bytes.len());
            visit(&plane)
        })?;
    }
    Ok(())
}
