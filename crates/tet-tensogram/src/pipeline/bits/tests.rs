//! Runs and sets against their definitions, and against another reader of sets.

use ::roaring::RoaringBitmap;
use proptest::prelude::*;

use super::*;

/// Bits of several kinds: scattered, in runs, full, empty.
fn bits() -> impl Strategy<Value = Vec<bool>> {
    let run = (any::<bool>(), prop_oneof![1..20_usize, 100..3000_usize, 60_000..80_000_usize]);
    let runs = prop::collection::vec(run, 0..6);
    let runs = runs.prop_map(|runs| {
        runs.into_iter().flat_map(|(bit, len)| std::iter::repeat_n(bit, len)).collect()
    });
    let scattered = (1..100_u32, 0..150_000_usize).prop_map(|(one_in, len)| {
        (0..len as u32).map(|at| at.wrapping_mul(2_654_435_761) % one_in == 0).collect()
    });
    prop_oneof![runs, scattered, prop::collection::vec(any::<bool>(), 0..200)]
}

pub(crate) fn packed(bits: &[bool]) -> Vec<u8> {
    let byte = |part: &[bool]| {
        part.iter().enumerate().fold(0, |byte, (at, bit)| byte | u8::from(*bit) << (7 - at))
    };
    bits.chunks(8).map(byte).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn bits_come_back(bits in bits()) {
        let (packed, count) = (packed(&bits), bits.len() as u64);
        let mut out = vec![0xAA; packed.len()];
        let mut stored = Vec::new();
        rle_encode(&packed, count, &mut stored);
        rle_decode(&stored, count, &mut out, 0).unwrap();
        prop_assert_eq!(&out, &packed);
        prop_assert!(rle_decode(&stored, count + 1, &mut out, 0).is_err());

        let mut stored = Vec::new();
        roaring_encode(&packed, count, &mut stored).unwrap();
        out.fill(0xAA);
        roaring_decode(&stored, count, &mut out, 0).unwrap();
        prop_assert_eq!(&out, &packed);
        let other = RoaringBitmap::deserialize_from(&stored[..]).unwrap();
        let ones = (0..count as u32).filter(|at| bits[*at as usize]);
        prop_assert!(other.iter().eq(ones));
        if let Some(max) = other.max() {
            prop_assert!(roaring_decode(&stored, max.into(), &mut out, 0).is_err());
        }
    }

    /// Sets that the other reader refuses are refused, and those that both read are equal.
    #[test]
    fn damaged_sets_are_refused_or_are_sets(
        bits in bits(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u32), 1..4),
    ) {
        let (packed, count) = (packed(&bits), bits.len() as u64);
        let mut stored = Vec::new();
        roaring_encode(&packed, count, &mut stored).unwrap();
        for (at, bit) in flips {
            *at.get_mut(&mut stored) ^= 1 << bit;
        }
        let mut out = vec![0; packed.len()];
        if roaring_decode(&stored, count, &mut out, 0).is_ok() {
            let other = RoaringBitmap::deserialize_from(&stored[..]);
            if let Ok(other) = other {
                let places = (0..count as u32).filter(|at| out[(at / 8) as usize] << (at % 8) & 0x80 != 0);
                prop_assert!(places.eq(other.iter()));
            }
        }
        let mut runs = Vec::new();
        rle_encode(&packed, count, &mut runs);
        runs.truncate(runs.len() / 2);
        let _ = rle_decode(&runs, count, &mut out, 0);
    }
}

#[test]
fn runs_are_what_the_format_says() {
    let mut out = [0xFF; 2];
    rle_decode(&[1, 3, 5, 2], 10, &mut out, 0).unwrap();
    assert_eq!(out, [0b1110_0000, 0b1100_0000]);
    let bad: [&[u8]; 8] = [
        &[],
        &[2, 10],
        &[1, 0, 10],
        &[1, 9],
        &[1, 11],
        &[1, 0x8A],
        &[1, 0x8A, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0],
        &[0, 10, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
    ];
    for runs in bad {
        assert!(rle_decode(runs, 10, &mut out, 0).is_err(), "{runs:?}");
    }
    rle_decode(&[], 0, &mut [], 0).unwrap();
}
