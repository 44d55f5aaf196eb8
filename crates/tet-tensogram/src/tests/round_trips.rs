//! Written messages are read: every type, order of bytes, pipeline and mask.

use proptest::prelude::*;
use tet_format::DType;

use crate::testing::objects::{decode, noise, reread};
use crate::{
    ByteOrder, Compressing, Encoded, Error, Limits, ListPlace, MaskMethod, Metadata, NonFinite,
    PackingFit, PlainElements, Recipe, Region, RegionSource, Result, SzipParameters, Tensor,
    WriteOptions, encode, encode_into, encode_message,
};

fn dtypes() -> impl Strategy<Value = DType> {
    let known = DType::ALL.iter().copied().filter(|dtype| *dtype != DType::Bool);
    prop::sample::select(known.collect::<Vec<_>>())
}

fn compressions() -> impl Strategy<Value = Compressing> {
    prop::sample::select(vec![
        Compressing::None,
        Compressing::Zstd { level: 1 },
        Compressing::Lz4,
        Compressing::Szip(SzipParameters::default()),
        Compressing::Rle,
        Compressing::Roaring,
    ])
}

fn methods() -> impl Strategy<Value = MaskMethod> {
    use MaskMethod::{Lz4, None, Rle, Roaring, Zstd};
    prop::sample::select(vec![None, Rle, Roaring, Lz4, Zstd])
}

/// The numbers 0 to 3, or noise; of noise floats are often not finite.
fn elements(dtype: DType, count: u64, is_noise: bool) -> Vec<u8> {
    let len = dtype.size().map_or(count.div_ceil(8), |size| count * size) as usize;
    let mut bytes = if is_noise { noise(len) } else { (0..len).map(|at| (at % 4) as u8).collect() };
    if let (DType::Bitmask, Some(last)) = (dtype, bytes.last_mut()) {
        *last &= 0xFF << (count.next_multiple_of(8) - count);
    }
    bytes
}

/// Whether an element of little-endian bytes is finite, by its exponent.
fn is_finite(dtype: DType, bytes: &[u8]) -> bool {
    let width = if dtype.is_complex() { bytes.len() / 2 } else { bytes.len() };
    let mask: u16 = match dtype {
        DType::Float16 => 0x7C00,
        DType::BFloat16 | DType::Float32 | DType::Complex64 => 0x7F80,
        DType::Float64 | DType::Complex128 => 0x7FF0,
        _ => return true,
    };
    bytes.chunks(width).all(|it| u16::from_le_bytes([it[width - 2], it[width - 1]]) & mask != mask)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(768))]

    #[test]
    fn elements_come_back(
        dtype in dtypes(),
        shape in prop::collection::vec(0..12_u64, 0..4),
        is_noise in any::<bool>(),
        byte_order in prop::sample::select(vec![ByteOrder::Little, ByteOrder::Big]),
        shuffle in prop::option::of(1..9_u64),
        compression in compressions(),
        mask_method in methods(),
        small_mask_len in prop::sample::select(vec![0_u64, 4, 128]),
    ) {
        let count = shape.iter().product::<u64>();
        let elements = elements(dtype, count, is_noise);
        let (nan, infinity) = (NonFinite::Masked, NonFinite::Masked);
        let recipe = Recipe {
            byte_order, shuffle, compression, nan, infinity, mask_method, small_mask_len,
            ..Recipe::default()
        };
        let Encoded { descriptor, region } = match encode(dtype, &shape, &elements, &recipe) {
            Err(Error::Unwritable { .. }) => return Ok(()),
            encoded => encoded.unwrap(),
        };
        let descriptor = reread(&descriptor);
        prop_assert_eq!(descriptor.faults(), []);
        let found = decode(&descriptor, &region).unwrap();
        let size = dtype.size().unwrap_or(1) as usize;
        for (one, other) in found.chunks(size).zip(elements.chunks(size)) {
            let is_finite = is_finite(dtype, other);
            let is_kept = one == other || !is_finite && !self::is_finite(dtype, one);
            prop_assert!(is_kept);
        }
        prop_assert_eq!(found.len(), elements.len());
        let again = encode(dtype, &shape, &found, &recipe).unwrap();
        prop_assert!(again.region == region, "what came back is stored alike");
    }
}

#[test]
fn elements_that_are_not_finite_need_a_mask() {
    let cases = [
        (DType::Float32, 0x7F80_0000_u64, "infinity"),
        (DType::Float32, 0xFF80_0000, "-infinity"),
        (DType::Float32, 0xFFC0_0001, "NaN"),
        (DType::Float16, 0xFC00, "-infinity"),
        (DType::BFloat16, 0x7F81, "NaN"),
        (DType::Complex64, 0x7F80_0000_0000_0000, "infinity"),
        (DType::Complex64, 0x7FC0_0000_FF80_0000, "NaN"),
    ];
    for (dtype, bits, wanted) in cases {
        let size = dtype.size().unwrap() as usize;
        let mut elements = vec![0; size * 3];
        elements[size..2 * size].copy_from_slice(&bits.to_le_bytes()[..size]);
        let error = encode(dtype, &[3], &elements, &Recipe::default()).unwrap_err();
        let Error::NotFinite { element: 1, value } = error else { panic!("{error}") };
        assert_eq!(value, wanted);
    }
    let nan = f64::NAN.to_le_bytes();
    let infinity = Recipe { infinity: NonFinite::Masked, ..Recipe::default() };
    assert!(encode(DType::Float64, &[1], &nan, &infinity).is_err());
    let packed = Recipe {
        packing: Some(PackingFit::Bits { bits: 16, decimal_scale: 0 }),
        nan: NonFinite::Masked,
        ..Recipe::default()
    };
    let values: Vec<u8> =
        [1.0, f64::NAN, 3.0].iter().flat_map(|it: &f64| it.to_le_bytes()).collect();
    let Encoded { descriptor, region } = encode(DType::Float64, &[3], &values, &packed).unwrap();
    let found = decode(&descriptor, &region).unwrap();
    assert_eq!(found[8..16], [0, 0, 0, 0, 0, 0, 0xF8, 0x7F]);
    assert!((f64::from_le_bytes(found[16..].try_into().unwrap()) - 3.0).abs() < 1e-4);
}

#[test]
fn what_readers_do_not_take_is_not_written() {
    let szip = Compressing::Szip(SzipParameters::default());
    let odd = Compressing::Szip(SzipParameters { block_size: 12, ..SzipParameters::default() });
    let refused: [(DType, Recipe); 9] = [
        (DType::Bool, Recipe::default()),
        (DType::Float64, Recipe { compression: szip, ..Recipe::default() }),
        (DType::Bitmask, Recipe { compression: szip, ..Recipe::default() }),
        (DType::UInt8, Recipe { compression: odd, ..Recipe::default() }),
        (DType::UInt8, Recipe { compression: Compressing::Rle, ..Recipe::default() }),
        (DType::UInt8, Recipe { compression: Compressing::Roaring, ..Recipe::default() }),
        (
            DType::UInt8,
            Recipe { compression: Compressing::Zstd { level: 99 }, ..Recipe::default() },
        ),
        (DType::UInt8, Recipe { shuffle: Some(3), ..Recipe::default() }),
        (DType::UInt8, Recipe { shuffle: Some(0), ..Recipe::default() }),
    ];
    for (dtype, recipe) in refused {
        let len = dtype.size().map_or(1, |size| size * 8) as usize;
        let error = encode(dtype, &[8], &vec![0; len], &recipe).unwrap_err();
        assert!(matches!(error, Error::Unwritable { .. }), "{dtype} {recipe:?}: {error}");
    }
    assert!(encode(DType::UInt8, &[1 << 40, 1 << 40], &[], &Recipe::default()).is_err());
    let error = encode(DType::UInt8, &[8], &[0; 7], &Recipe::default()).unwrap_err();
    assert!(matches!(error, Error::Usage { found: 7, wanted: 8, .. }));
}

fn message<'a>(descriptor: &'a [u8], region: RegionSource<'a>, list: ListPlace) -> Result<Vec<u8>> {
    let tensors = vec![Tensor { descriptor, region }];
    let options = WriteOptions { list, ..WriteOptions::default() };
    encode_message(&Metadata::default(), tensors, &options)
}

/// Looked at before or while they are written, elements make the same message.
#[test]
fn plain_elements_are_written_alike() {
    for (dtype, count) in [(DType::Float32, 70_000), (DType::UInt8, 3), (DType::Complex128, 0)] {
        let elements = elements(dtype, count, false);
        let shape = [count];
        let wanted = encode(dtype, &shape, &elements, &Recipe::default()).unwrap();
        let (descriptor, plain) = PlainElements::new(dtype, &shape, &elements).unwrap();
        let descriptor = descriptor.encode().unwrap();
        assert_eq!(descriptor, wanted.descriptor.encode().unwrap());
        let all = [ListPlace::Usual, ListPlace::Footer, ListPlace::Header, ListPlace::Both];
        for list in all {
            let found = message(&descriptor, RegionSource::Plain(plain), list).unwrap();
            let list = if list == ListPlace::Usual { ListPlace::Footer } else { list };
            let wanted = message(&descriptor, (&*wanted.region).into(), list).unwrap();
            assert!(found == wanted, "{dtype} {list:?}");
        }
        assert!(PlainElements::new(dtype, &[count + 1], &elements).is_err());
    }
}

#[test]
fn plain_elements_that_need_a_mask_are_refused() {
    let mut elements = elements(DType::Float32, 70_000, false);
    elements[4 * 60_001..][..4].copy_from_slice(&f32::NEG_INFINITY.to_le_bytes());
    let (descriptor, plain) = PlainElements::new(DType::Float32, &[70_000], &elements).unwrap();
    let descriptor = descriptor.encode().unwrap();
    let refused = message(&descriptor, RegionSource::Plain(plain), ListPlace::Usual).unwrap_err();
    let Error::NotFinite { element: 60_001, value: "-infinity" } = refused else {
        panic!("{refused}");
    };
}

/// Regions go into buffers that were used before, whatever these hold.
#[test]
fn used_buffers_change_nothing() {
    let elements: Vec<u8> =
        (0..90_000).flat_map(|at| (f64::from(at) * 0.5).to_le_bytes()).collect();
    let szip = Compressing::Szip(SzipParameters::default());
    let recipes = [
        (Compressing::None, None),
        (Compressing::None, Some(8)),
        (Compressing::Zstd { level: 1 }, Some(8)),
        (Compressing::Zstd { level: 1 }, Some(3)),
        (Compressing::Lz4, None),
        (szip, Some(8)),
    ];
    for (compression, shuffle) in recipes {
        for packing in [None, Some(PackingFit::Bits { bits: 16, decimal_scale: 0 })] {
            let recipe = Recipe { compression, shuffle, packing, ..Recipe::default() };
            let wanted = encode(DType::Float64, &[90_000], &elements, &recipe).unwrap();
            for used in [0, 10, 3_000_000] {
                let room = vec![0xA5; used];
                let found = encode_into(DType::Float64, &[90_000], &elements, &recipe, room);
                assert!(found.unwrap().0.region == wanted.region, "{recipe:?} {used}");
            }
            let len = wanted.region.len() as u64;
            let region = Region::new(&wanted.descriptor, 0, len, &Limits::default()).unwrap();
            let mut out = vec![0; elements.len()];
            region.decode(&wanted.region, &mut out).unwrap();
            assert!(packing.is_some() || out == elements, "{recipe:?}");
        }
    }
}
