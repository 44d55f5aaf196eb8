//! szip against the library that encodes it, and against what that library cannot read.

use proptest::prelude::*;
use tensogram_szip::{AecParams, aec_compress, aec_decompress};
use tet_format::DType;

use crate::testing::objects::{decode, plan, reread, text};
use crate::{Compressing, Descriptor, Encoded, Recipe, SzipParameters, Value, encode, rule};

const DTYPES: [DType; 3] = [DType::UInt8, DType::UInt16, DType::UInt32];

/// An object of samples of 1, 2 or 4 bytes.
fn object(width: usize, len: usize, parameters: &AecParams) -> Descriptor {
    let dtype = DTYPES[width / 2];
    let number = |number: u32| Value::Int(number.into());
    Descriptor::new(dtype, &[(len / width) as u64])
        .unwrap()
        .with("compression", text("szip"))
        .with("szip_rsi", number(parameters.rsi))
        .with("szip_block_size", number(parameters.block_size))
        .with("szip_flags", number(parameters.flags))
}

fn offsets(numbers: &[u64]) -> Value {
    Value::Array(numbers.iter().map(|number| Value::Int((*number).into())).collect())
}

fn bytes(samples: &[u32], width: usize) -> Vec<u8> {
    samples.iter().flat_map(|sample| sample.to_le_bytes()[..width].to_vec()).collect()
}

/// Samples of several kinds: scattered, slow, nearly all alike.
fn samples() -> impl Strategy<Value = Vec<u32>> {
    let noise = prop::collection::vec(any::<u32>(), 0..400);
    let slow = (0..3000_u32, 1..50_u32)
        .prop_map(|(len, step)| (0..len).map(|at| at / step * 3 + at % 2).collect());
    let same = (0..6000_u32, 1..400_u32).prop_map(|(len, one_in)| {
        (0..len).map(|at| u32::from(at.wrapping_mul(2_654_435_761) % one_in == 0) * 9).collect()
    });
    prop_oneof![noise, slow, same]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Of the library up to 16 bits only: of 32 it spoils some, where a byte of the stream is full.
    #[test]
    fn streams_of_the_library_decode(
        samples in samples(),
        width in 1..3_usize,
        rsi in prop::sample::select(&[1_u32, 2, 5, 64, 128, 4096][..]),
        block_size in prop::sample::select(&[8_u32, 16, 32, 64][..]),
        flags in prop::sample::select(&[0_u32, 8, 9, 4, 12, 13][..]),
    ) {
        let bytes = bytes(&samples, width);
        let bits_per_sample = width as u32 * 8;
        let parameters = AecParams { bits_per_sample, block_size, rsi, flags };
        let (stream, places) = aec_compress(&bytes, &parameters).unwrap();
        let object = object(width, bytes.len(), &parameters);
        let object = object.with("szip_block_offsets", offsets(&places));
        prop_assert!(decode(&object, &stream).unwrap() == bytes);
        let plain = plan(&object, &stream).unwrap();
        prop_assert_eq!(plain.check_offsets(&stream).unwrap(), None);
        let count = samples.len() as u64;
        prop_assert!(count < 2 || plain.payload_range(&(1..count)).unwrap().is_none());
    }

    #[test]
    fn samples_come_back_whole_and_in_part(
        samples in samples(),
        width in prop::sample::select(&[1_usize, 2, 4][..]),
        rsi in prop::sample::select(&[1_u32, 2, 5, 64, 128, 4096][..]),
        block_size in prop::sample::select(&[8_u32, 16, 32, 64][..]),
        flags in prop::sample::select(&[0_u32, 8, 9, 4, 12, 13][..]),
        part in 0..100_u64,
    ) {
        let bytes = bytes(&samples, width);
        let parameters = SzipParameters { rsi, block_size, flags };
        let recipe = Recipe { compression: Compressing::Szip(parameters), ..Recipe::default() };
        let Encoded { descriptor, region } =
            encode(DTYPES[width / 2], &[samples.len() as u64], &bytes, &recipe).unwrap();
        let object = reread(&descriptor);
        prop_assert!(decode(&object, &region).unwrap() == bytes);
        if width < 4 {
            // The library's own arithmetic overflows at 32 bits.
            let bits_per_sample = width as u32 * 8;
            let parameters = AecParams { bits_per_sample, block_size, rsi, flags };
            prop_assert!(aec_decompress(&region, bytes.len(), &parameters).unwrap() == bytes);
        }

        let exact = plan(&object, &region).unwrap();
        prop_assert_eq!(exact.check_offsets(&region).unwrap(), None);
        let count = samples.len() as u64;
        let elements = count * part / 200..count - count * part / 300;
        let range = exact.payload_range(&elements).unwrap().unwrap();
        let stored = &region[range.start as usize..range.end as usize];
        let wanted = &bytes[elements.start as usize * width..elements.end as usize * width];
        let mut out = vec![0xEE; wanted.len()];
        exact.decode_range(stored, &elements, &mut out).unwrap();
        prop_assert!(out == wanted);

        let cut = region.len() * part as usize / 100;
        if !bytes.is_empty() {
            let found = decode(&object.without("szip_block_offsets"), &region[..cut]);
            prop_assert!(found.is_err() || found.unwrap().len() == bytes.len());
        }
    }

    /// Whatever the bytes and the parameters.
    #[test]
    fn any_bytes_get_an_answer(
        stream in prop::collection::vec(prop_oneof![Just(0_u8), any::<u8>()], 0..300),
        rsi in 1..4097_i64,
        block_size in 0..70_i64,
        flags in 0..300_i64,
        width in prop::sample::select(&[1_usize, 2, 4][..]),
        count in 0..5000_usize,
    ) {
        let parameters = AecParams { bits_per_sample: 8, block_size: 8, rsi: 1, flags: 0 };
        let object = object(width, count * width, &parameters)
            .with("szip_rsi", Value::Int(rsi.into()))
            .with("szip_block_size", Value::Int(block_size.into()))
            .with("szip_flags", Value::Int(flags.into()));
        if let Ok(out) = decode(&object, &stream) {
            prop_assert_eq!(out.len(), count * width);
        }
    }
}

/// Writes bits, the highest first.
fn bits(text: &str) -> Vec<u8> {
    let bits: Vec<u8> = text.bytes().filter(|bit| *bit != b' ').map(|bit| bit - b'0').collect();
    bits.chunks(8)
        .map(|byte| byte.iter().enumerate().fold(0, |it, (at, bit)| it | bit << (7 - at)))
        .collect()
}

/// The first pair of an interval has one sample that is stored: the reference sample stands for the
/// other. The library reads it as if there were two.
#[test]
fn the_first_pair_of_an_interval_is_one_sample() {
    let parameters = AecParams { bits_per_sample: 8, block_size: 8, rsi: 1, flags: 8 };
    // Option 0, pairs, the sample 100; then (-, 1), (0, 1), (1, 0), (0, 0) in codes 2, 2, 1, 0.
    let stream = bits("000 1 01100100 001 001 01 1");
    let wanted = [100, 99, 99, 98, 97, 97, 97, 97];
    assert_eq!(decode(&object(1, 8, &parameters), &stream).unwrap(), wanted);
}

/// Without an end a run of zeros is no block.
#[test]
fn zeros_are_not_a_stream() {
    let parameters = AecParams { bits_per_sample: 8, block_size: 64, rsi: 4096, flags: 8 };
    let object = object(1, 1 << 18, &parameters);
    let error = decode(&object, &vec![0; 1 << 20]).unwrap_err();
    assert_eq!(error.fault().unwrap().rule, &rule::SZIP_STREAM);
    let error = decode(&object, &[0; 4]).unwrap_err();
    assert_eq!(error.fault().unwrap().rule, &rule::PAYLOAD_SHORT);
}

#[test]
fn offsets_are_believed_only_where_they_are_right() {
    let samples: Vec<u8> = (0..4096_u32).map(|at| (at * at / 512 % 251) as u8).collect();
    let parameters = AecParams { bits_per_sample: 8, block_size: 8, rsi: 16, flags: 8 };
    let (stream, mut places) = aec_compress(&samples, &parameters).unwrap();
    assert_eq!(places.len(), 32);
    places[7] -= 5;
    let stated = object(1, 4096, &parameters).with("szip_block_offsets", offsets(&places));
    assert_eq!(decode(&stated, &stream).unwrap(), samples);
    let fault = plan(&stated, &stream).unwrap().check_offsets(&stream).unwrap().unwrap();
    assert_eq!(fault.rule, &rule::NOTE_SZIP_OFFSETS);
    let exact = stated.clone().with("szip_block_offsets_exact", Value::Bool(true));
    assert_eq!(decode(&exact, &stream).unwrap_err().fault().unwrap().rule, &rule::SZIP_OFFSETS);
    let exact = plan(&exact, &stream).unwrap();
    let elements = 6 * 128..6 * 128 + 1;
    let range = exact.payload_range(&elements).unwrap().unwrap();
    let stored = &stream[range.start as usize..range.end as usize];
    assert!(exact.decode_range(stored, &elements, &mut [0]).is_err());

    for bad in [&[][..], &[1], &places[1..], &[places[0], places[0]]] {
        let plan = plan(&stated.clone().with("szip_block_offsets", offsets(bad)), &stream).unwrap();
        assert_eq!(plan.notes()[0].rule, &rule::NOTE_OFFSETS);
    }
}
