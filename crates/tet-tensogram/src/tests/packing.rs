//! simple_packing against its definition, bit by bit.

use proptest::prelude::*;
use tet_format::DType;

use crate::testing::objects::{decode, doubles, owned, plan, reread};
use crate::{
    Compressing, Encoded, Error, PackingFit, PackingParameters, Readers, Recipe, SzipParameters,
    Value, encode, rule,
};

fn packed(values: &[f64], fit: PackingFit) -> Result<Encoded<'static>, Error> {
    let recipe = Recipe { packing: Some(fit), ..Recipe::default() };
    let elements = doubles(values.iter().copied());
    let encoded = encode(DType::Float64, &[values.len() as u64], &elements, &recipe)?;
    Ok(owned(Ok(encoded)))
}

fn values(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks(8).map(|it| f64::from_le_bytes(it.try_into().unwrap())).collect()
}

/// The number at a place, taken bit by bit.
fn number(packed: &[u8], bits: u64, element: u64) -> u64 {
    (element * bits..(element + 1) * bits)
        .fold(0, |sum, bit| sum << 1 | u64::from(packed[(bit / 8) as usize] >> (7 - bit % 8) & 1))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Every width, from every bit, whole and in part.
    #[test]
    fn values_are_their_numbers_in_steps(
        payload in prop::collection::vec(any::<u8>(), 0..200),
        bits in 1..65_u64,
        reference in -1e6..1e6_f64,
        binary in -40..40_i32,
        decimal in -5..5_i32,
        part in 0..100_u64,
    ) {
        let count = payload.len() as u64 * 8 / bits;
        let payload = &payload[..(count * bits).div_ceil(8) as usize];
        let fit = PackingParameters {
            reference, binary_scale: binary, decimal_scale: decimal, bits: bits as u32,
        };
        let object = packed(&[], PackingFit::Given(fit)).unwrap().descriptor;
        let object = object.with("shape", Value::Array(vec![Value::Int(count.into())]));
        let found = values(&decode(&object, payload).unwrap());
        let step = 2_f64.powi(binary) * if decimal < 0 {
            10_f64.powi(-decimal)
        } else {
            1.0 / 10_f64.powi(decimal)
        };
        let wanted: Vec<f64> =
            (0..count).map(|it| reference + number(payload, bits, it) as f64 * step).collect();
        prop_assert_eq!(&found, &wanted);

        let plan = plan(&object, payload).unwrap();
        let elements = count * part / 250..count - count * part / 250;
        let range = plan.payload_range(&elements).unwrap().unwrap();
        prop_assert!(range.end - range.start <= (elements.end - elements.start) * bits / 8 + 2);
        let mut out = vec![0; (elements.end - elements.start) as usize * 8];
        plan.decode_range(&payload[range.start as usize..range.end as usize], &elements, &mut out).unwrap();
        prop_assert_eq!(&values(&out)[..], &wanted[elements.start as usize..elements.end as usize]);
    }

    #[test]
    fn packed_values_are_off_by_half_a_step(
        input in prop::collection::vec(-1e5..1e5_f64, 1..100),
        bits in 1..49_u32,
        decimal_scale in -2..3_i32,
    ) {
        let Encoded { descriptor, region } =
            packed(&input, PackingFit::Bits { bits, decimal_scale }).unwrap();
        let found = values(&decode(&reread(&descriptor), &region).unwrap());
        let least = input.iter().copied().fold(f64::INFINITY, f64::min);
        let most = input.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // The step is at most twice what would do.
        let step = 2.0 * (most - least) / (2_f64.powi(bits as i32) - 1.0);
        for (found, wanted) in found.iter().zip(&input) {
            prop_assert!((found - wanted).abs() <= step / 2.0 * 1.000_001 + 1e-9);
        }
    }

    #[test]
    fn no_value_is_off_by_more_than_the_error(
        input in prop::collection::vec(-1e5..1e5_f64, 0..60),
        exponent in -6..5_i32,
    ) {
        let error_max = 10_f64.powi(exponent);
        let Encoded { descriptor, region } = packed(&input, PackingFit::Within { error_max }).unwrap();
        let found = values(&decode(&descriptor, &region).unwrap());
        prop_assert!(found.iter().zip(&input).all(|(one, other)| (one - other).abs() <= error_max));
    }
}

#[test]
fn halves_are_rounded_away_from_zero_and_ends_are_kept() {
    let fit = PackingParameters { reference: 0.0, binary_scale: 0, decimal_scale: 0, bits: 3 };
    let input = [0.0, 0.5, 0.49999999999999994, 1.5, 2.5, 6.5, 7.4, 7.5, 100.0, -0.5, -3.0];
    let Encoded { descriptor, region } = packed(&input, PackingFit::Given(fit)).unwrap();
    let found = values(&decode(&descriptor, &region).unwrap());
    assert_eq!(found, [0.0, 1.0, 0.0, 2.0, 3.0, 7.0, 7.0, 7.0, 7.0, 0.0, 0.0]);
}

/// The largest number of 54 bits and more is no double.
#[test]
fn the_largest_number_takes_no_more_than_its_bits() {
    for bits in 1..=64 {
        let fit = PackingParameters { reference: 0.0, binary_scale: 0, decimal_scale: 0, bits };
        let Encoded { region, .. } = packed(&[0.0, 1e30, 0.0], PackingFit::Given(fit)).unwrap();
        let max = u64::MAX >> (64 - bits);
        let found = [0, 1, 2].map(|it| number(&region, bits.into(), it));
        assert_eq!(found, [0, max, 0], "{bits} bits");
    }
}

#[test]
fn of_no_bits_all_values_are_the_reference() {
    let Encoded { descriptor, region } =
        packed(&[1.25, 3.0, -7.0], PackingFit::Bits { bits: 0, decimal_scale: 0 }).unwrap();
    assert!(region.is_empty());
    assert_eq!(values(&decode(&descriptor, &region).unwrap()), [1.25; 3]);
}

#[test]
fn what_cannot_be_packed_is_refused() {
    let of =
        |bits, reference| PackingParameters { reference, binary_scale: 0, decimal_scale: 0, bits };
    let fits = [
        PackingFit::Given(of(65, 0.0)),
        PackingFit::Given(of(8, f64::NAN)),
        PackingFit::Given(PackingParameters { binary_scale: 257, ..of(8, 0.0) }),
        PackingFit::Given(PackingParameters { decimal_scale: i32::MIN, ..of(8, 0.0) }),
        PackingFit::Within { error_max: -1.0 },
        PackingFit::Within { error_max: f64::NAN },
        PackingFit::Within { error_max: 1e-300 },
    ];
    for fit in fits {
        let error = packed(&[0.1, 1e10, 3.0], fit).unwrap_err();
        assert!(matches!(error, Error::Unwritable { .. }), "{fit:?}: {error}");
    }
    let fit = PackingFit::Bits { bits: 12, decimal_scale: 0 };
    let recipe = Recipe {
        packing: Some(fit),
        compression: Compressing::Szip(crate::SzipParameters::default()),
        ..Recipe::default()
    };
    assert!(encode(DType::Float64, &[2], &[0; 16], &recipe).is_err());
    let recipe = Recipe { packing: Some(fit), ..Recipe::default() };
    assert!(encode(DType::Float32, &[2], &[0; 8], &recipe).is_err());
}

#[test]
fn both_spellings_are_read_and_the_newer_counts() {
    let packing = Some(PackingFit::Bits { bits: 12, decimal_scale: 0 });
    let recipe = Recipe { packing, readers: Readers::All, ..Recipe::default() };
    let elements = doubles((0..50).map(f64::from));
    let both = owned(encode(DType::Float64, &[50], &elements, &recipe));
    let wanted = decode(&both.descriptor, &both.region).unwrap();
    assert_eq!(both.descriptor.parameters().count(), 8);
    assert_eq!(plan(&both.descriptor, &both.region).unwrap().notes(), []);
    let keys = ["reference_value", "binary_scale_factor", "decimal_scale_factor", "bits_per_value"];
    let mut old = both.descriptor.clone();
    for key in keys {
        old = old.without(&format!("sp_{key}"));
    }
    assert_eq!(decode(&old, &both.region).unwrap(), wanted);
    assert_eq!(plan(&old, &both.region).unwrap().notes()[0].rule, &rule::NOTE_SPELLING);
    let newer = both.descriptor.with("reference_value", Value::Float(1e9));
    assert_eq!(decode(&newer, &both.region).unwrap(), wanted);
}

#[test]
fn what_szip_spoils_is_read_with_a_warning() {
    let szip = SzipParameters { rsi: 1, block_size: 8, flags: 8 };
    let of = |bits| {
        let packing = Some(PackingFit::Bits { bits, decimal_scale: 0 });
        let compression = Compressing::Szip(szip);
        let recipe = Recipe { packing, compression, ..Recipe::default() };
        owned(encode(DType::Float64, &[16], &doubles((0..16).map(f64::from)), &recipe))
    };
    let Encoded { descriptor, region } = of(16);
    assert_eq!(plan(&descriptor, &region).unwrap().notes(), []);
    let odd = descriptor.with("sp_bits_per_value", Value::Int(12)).without("szip_block_offsets");
    assert_eq!(plan(&odd, &region).unwrap().notes()[0].rule, &rule::NOTE_CORRUPTS);
    let broken = odd
        .with("sp_bits_per_value", Value::Int(13))
        .with("shape", Value::Array(vec![Value::Int(5)]));
    let error = plan(&broken, &region).unwrap_err();
    assert_eq!(error.fault().unwrap().rule, &rule::WHOLE_PARTS);
}
