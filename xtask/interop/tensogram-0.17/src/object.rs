//! Objects to write: descriptor, what is given to the library, and the elements to be found again.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use ciborium::Value;
use tensogram::{ByteOrder, DataObjectDescriptor, Dtype};
use tensogram_encodings::simple_packing;

use crate::lot::Lot;

/// An object before it is encoded.
pub(crate) struct Object {
    pub(crate) descriptor: DataObjectDescriptor,
    /// Elements in the byte order of the descriptor.
    pub(crate) given: Vec<u8>,
    /// The same in little endian; none where packing changes them.
    pub(crate) kept: Option<Vec<u8>>,
}

const DTYPES: [Dtype; 15] = [
    Dtype::Float16,
    Dtype::Bfloat16,
    Dtype::Float32,
    Dtype::Float64,
    Dtype::Complex64,
    Dtype::Complex128,
    Dtype::Int8,
    Dtype::Int16,
    Dtype::Int32,
    Dtype::Int64,
    Dtype::Uint8,
    Dtype::Uint16,
    Dtype::Uint32,
    Dtype::Uint64,
    Dtype::Bitmask,
];
const ORDERS: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];
const PACKED_BITS: [u32; 12] = [0, 1, 7, 8, 12, 16, 24, 31, 32, 53, 63, 64];

/// Every type in both orders, shuffled or not, under every compression; doubles in every width.
pub(crate) fn every(lot: &mut Lot) -> Result<Vec<Object>> {
    let (mut objects, shape) = (Vec::new(), [31, 37]);
    for dtype in DTYPES {
        for order in ORDERS {
            let mut sizes = vec![None, Some(dtype.byte_width() as u64)];
            // Bits are not shuffled.
            sizes.retain(|size| *size != Some(0));
            for size in sizes {
                for word in compressions(dtype, size.is_some()) {
                    objects.push(whole(lot, dtype, &shape, order, size, word, 0));
                }
            }
        }
    }
    for order in ORDERS {
        for bits in PACKED_BITS {
            let values = doubles(lot, 1000);
            for word in compressions_packed(bits) {
                objects.push(packed(lot, &values, order, bits, word)?);
            }
        }
    }
    Ok(objects)
}

/// An object of any kind, with elements that are not finite in half of those that can have some.
pub(crate) fn drawn(lot: &mut Lot) -> Result<Object> {
    let order = lot.pick(&ORDERS);
    if lot.percent(20) {
        let count = lot.pick(&[1, 2, 37, 1000, 30_000]);
        let values = doubles(lot, count);
        let bits = lot.pick(&PACKED_BITS);
        let word = lot.pick(&compressions_packed(bits));
        return packed(lot, &values, order, bits, word);
    }
    let dtype = lot.pick(&DTYPES);
    let mut shape: Vec<u64> = (0..lot.below(5)).map(|_| lot.below(7)).collect();
    if lot.percent(30) {
        shape = vec![500 + lot.below(60_000)];
    }
    let mut sizes = [1, 2, 3, 4, 8, 16].to_vec();
    // Nobody reads what is shuffled by another size than that of the elements any worse.
    sizes.retain(|size| len_of(dtype, &shape).is_multiple_of(*size));
    let is_shuffled = dtype != Dtype::Bitmask && lot.percent(40);
    let size = is_shuffled.then(|| lot.pick(&sizes));
    let mut words = compressions(dtype, is_shuffled);
    // There is no stream of no samples.
    words.retain(|word| *word != "szip" || !shape.contains(&0));
    let word = lot.pick(&words);
    let often = lot.pick(&[0, 0, 1, 30]);
    Ok(whole(lot, dtype, &shape, order, size, word, often))
}

/// How whole elements of a type can be compressed.
fn compressions(dtype: Dtype, is_shuffled: bool) -> Vec<&'static str> {
    match dtype {
        Dtype::Bitmask => vec!["none", "zstd", "lz4", "rle", "roaring"],
        _ if is_shuffled || dtype.byte_width() <= 4 => vec!["none", "zstd", "lz4", "szip"],
        _ => vec!["none", "zstd", "lz4"],
    }
}

/// How packed numbers can be compressed: szip spoils those that are not whole bytes.
fn compressions_packed(bits: u32) -> Vec<&'static str> {
    let mut words = vec!["none", "zstd", "lz4"];
    words.extend(Some("szip").filter(|_| matches!(bits, 8 | 16 | 24 | 32)));
    words
}

fn len_of(dtype: Dtype, shape: &[u64]) -> u64 {
    let count: u64 = shape.iter().product();
    match dtype {
        Dtype::Bitmask => count.div_ceil(8),
        _ => count * dtype.byte_width() as u64,
    }
}

fn plain(dtype: Dtype, shape: &[u64], byte_order: ByteOrder) -> DataObjectDescriptor {
    let stride = |axis: usize| shape[axis + 1..].iter().product();
    DataObjectDescriptor {
        obj_type: "ntensor".to_owned(),
        ndim: shape.len() as u64,
        shape: shape.to_vec(),
        strides: (0..shape.len()).map(stride).collect(),
        dtype,
        byte_order,
        encoding: "none".to_owned(),
        filter: "none".to_owned(),
        compression: "none".to_owned(),
        masks: None,
        params: BTreeMap::new(),
    }
}

fn whole(
    lot: &mut Lot,
    dtype: Dtype,
    shape: &[u64],
    order: ByteOrder,
    shuffle: Option<u64>,
    compression: &str,
    special_percent: u64,
) -> Object {
    let mut descriptor = plain(dtype, shape, order);
    if let Some(size) = shuffle {
        descriptor.filter = "shuffle".to_owned();
        descriptor.params.insert("shuffle_element_size".to_owned(), size.into());
    }
    compress(lot, &mut descriptor, compression);
    let kept = elements(lot, dtype, shape, special_percent);
    let given = in_order(&kept, dtype.swap_unit_size(), order);
    Object { descriptor, given, kept: Some(kept) }
}

fn packed(
    lot: &mut Lot,
    values: &[f64],
    order: ByteOrder,
    bits: u32,
    compression: &str,
) -> Result<Object> {
    let mut descriptor = plain(Dtype::Float64, &[values.len() as u64], order);
    descriptor.encoding = "simple_packing".to_owned();
    let decimal = i32::from(bits == 12);
    let found = simple_packing::compute_params(values, bits, decimal).context("packing")?;
    let parameters = [
        ("reference_value", Value::from(found.reference_value)),
        ("binary_scale_factor", found.binary_scale_factor.into()),
        ("decimal_scale_factor", found.decimal_scale_factor.into()),
        ("bits_per_value", found.bits_per_value.into()),
    ];
    descriptor.params.extend(parameters.map(|(key, value)| (key.to_owned(), value)));
    compress(lot, &mut descriptor, compression);
    let given: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
    Ok(Object { descriptor, given: in_order(&given, 8, order), kept: None })
}

fn compress(lot: &mut Lot, descriptor: &mut DataObjectDescriptor, word: &str) {
    descriptor.compression = word.to_owned();
    let mut put = |key: &str, value: i64| descriptor.params.insert(key.to_owned(), value.into());
    match word {
        "zstd" => {
            put("zstd_level", lot.pick(&[-5, 1, 3, 19]));
        }
        "szip" => {
            put("szip_rsi", lot.pick(&[1, 2, 16, 128, 4096]));
            put("szip_block_size", lot.pick(&[8, 16, 32, 64]));
            put("szip_flags", lot.pick(&[0, 8]));
        }
        _ => {}
    }
}

/// Little endian in another order.
fn in_order(elements: &[u8], unit: usize, order: ByteOrder) -> Vec<u8> {
    match order {
        ByteOrder::Big if 1 < unit => {
            elements.chunks(unit).flat_map(|it| it.iter().rev().copied()).collect()
        }
        _ => elements.to_vec(),
    }
}

fn doubles(lot: &mut Lot, count: u64) -> Vec<f64> {
    let scale = lot.pick(&[1.0, 1e-40, 1e12]);
    let (is_one, first) = (lot.percent(20), lot.unit());
    let mut value = || 280.0 + 40.0 * (if is_one { first } else { lot.unit() } - 0.5);
    (0..count).map(|_| value() * scale).collect()
}

/// Finite elements of some kind or other, and so many in a hundred that are not.
fn elements(lot: &mut Lot, dtype: Dtype, shape: &[u64], special_percent: u64) -> Vec<u8> {
    let (len, spread) = (len_of(dtype, shape), lot.pick(&[2, 5, 200]));
    let mut bytes: Vec<u8> = (0..len).map(|_| lot.below(spread) as u8).collect();
    if lot.percent(30) {
        bytes.sort_unstable();
    }
    if dtype == Dtype::Bitmask {
        let left = shape.iter().product::<u64>() % 8;
        if let (Some(last), 1..) = (bytes.last_mut(), left) {
            // Bits behind the last element mean nothing.
            *last &= 0xFF_u8 << (8 - left);
        }
        return bytes;
    }
    let Some((unit, special)) = specials(dtype) else { return bytes };
    // No exponent is all ones.
    let lowest = special[1] & special[1].wrapping_neg();
    for part in bytes.chunks_exact_mut(unit) {
        for (byte, of) in part.iter_mut().zip(lowest.to_le_bytes()) {
            *byte &= !of;
        }
    }
    for element in bytes.chunks_exact_mut(dtype.byte_width()) {
        if lot.percent(special_percent) {
            let value = lot.pick(&special);
            for part in element.chunks_exact_mut(unit) {
                part.copy_from_slice(&value.to_le_bytes()[..unit]);
            }
        }
    }
    bytes
}

/// Bytes of a number, and NaN, infinity and -infinity as masks restore them.
fn specials(dtype: Dtype) -> Option<(usize, [u64; 3])> {
    Some(match dtype {
        Dtype::Float16 => (2, [0x7E00, 0x7C00, 0xFC00]),
        Dtype::Bfloat16 => (2, [0x7FC0, 0x7F80, 0xFF80]),
        Dtype::Float32 | Dtype::Complex64 => (4, [0x7FC0_0000, 0x7F80_0000, 0xFF80_0000]),
        Dtype::Float64 | Dtype::Complex128 => (8, [0x7FF8 << 48, 0x7FF0 << 48, 0xFFF0 << 48]),
        _ => return None,
    })
}
