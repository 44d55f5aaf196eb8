//! Elements in passes come to the bytes that they come to in memory.

use std::io::Cursor;

use proptest::prelude::*;
use tet_format::DType;

use crate::testing::checksums;
use crate::testing::objects::noise;
use crate::{
    ByteOrder, Compressing, Descriptor, Error, HashChoice, HeadedWriter, Limits, Maker, Metadata,
    NonFinite, PackingFit, Recipe, SzipParameters, TensogramFile, Value, WriteOptions,
    encode_in_passes, encode_seen, verify,
};
use tet_io::Source;

fn compressions() -> impl Strategy<Value = Compressing> {
    prop::sample::select(vec![
        Compressing::None,
        Compressing::Zstd { level: 1 },
        Compressing::Szip(SzipParameters { rsi: 2, ..SzipParameters::default() }),
    ])
}

/// Both ways of encoding, which must say the same.
fn both(
    dtype: DType,
    elements: &[u8],
    piece_len: usize,
    recipe: &Recipe,
) -> Result<(Vec<u8>, Vec<u8>), TestCaseError> {
    let shape = [elements.len() as u64 / dtype.size().unwrap()];
    let mut region = Vec::new();
    let in_passes = encode_in_passes::<Error>(
        dtype,
        &shape,
        &mut |visit| elements.chunks(piece_len).try_for_each(&mut *visit),
        recipe,
        &mut |bytes| {
            region.extend_from_slice(bytes);
            Ok(())
        },
    );
    match (encode_seen(dtype, &shape, elements, recipe), in_passes) {
        (Ok((encoded, seen)), Ok((descriptor, also_seen))) => {
            prop_assert_eq!(seen, also_seen);
            prop_assert_eq!(encoded.descriptor.encode().unwrap(), descriptor.encode().unwrap());
            prop_assert!(encoded.region == region);
            Ok((descriptor.encode().unwrap(), region))
        }
        (Err(one), Err(other)) => {
            prop_assert_eq!(one.to_string(), other.to_string());
            Ok(Default::default())
        }
        (one, other) => Err(TestCaseError::fail(format!("{one:?} {other:?}"))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn passes_come_to_the_same_bytes(
        dtype in prop::sample::select(vec![
            DType::UInt8, DType::Int16, DType::Float16, DType::BFloat16, DType::Float32,
            DType::Float64, DType::Complex64, DType::Complex128,
        ]),
        count in 0..3000_usize,
        piece in 1..900_usize,
        compression in compressions(),
        is_shuffled in any::<bool>(),
        is_big in any::<bool>(),
        is_noise in any::<bool>(),
        choice in prop::sample::select(vec![
            NonFinite::Refused, NonFinite::Masked, NonFinite::Exact, NonFinite::Kept,
        ]),
        packing in prop::sample::select(vec![
            None,
            Some(PackingFit::Bits { bits: 16, decimal_scale: 0 }),
            Some(PackingFit::Bits { bits: 11, decimal_scale: 1 }),
            Some(PackingFit::Within { error_max: 0.5 }),
        ]),
        threads in 0..3_usize,
    ) {
        let size = dtype.size().unwrap() as usize;
        let elements = if is_noise {
            noise(count * size)
        } else if dtype == DType::Float64 {
            (0..count).flat_map(|at| ((at * at % 977) as f64 / 3.0).to_le_bytes()).collect()
        } else {
            (0..count * size).map(|at| (at % 5) as u8).collect()
        };
        let recipe = Recipe {
            packing: packing.filter(|_| dtype == DType::Float64 && !is_noise),
            shuffle: is_shuffled.then_some(size as u64),
            byte_order: if is_big { ByteOrder::Big } else { ByteOrder::Little },
            compression, nan: choice, infinity: choice, threads,
            ..Recipe::default()
        };
        let recipe = if recipe.packing.is_some() {
            Recipe { shuffle: is_shuffled.then_some(1), ..recipe }
        } else {
            recipe
        };
        both(dtype, &elements, piece * size, &recipe)?;
    }
}

#[test]
fn many_frames_are_the_same_too() {
    let elements: Vec<u8> = (0..700_000_u32).flat_map(|at| (at / 3).to_le_bytes()).collect();
    for (compression, shuffle) in [
        (Compressing::Zstd { level: 1 }, None),
        (Compressing::Zstd { level: 1 }, Some(4)),
        (Compressing::Szip(SzipParameters::default()), None),
        (Compressing::Szip(SzipParameters::default()), Some(4)),
    ] {
        for threads in [1, 3] {
            let recipe = Recipe { compression, shuffle, threads, ..Recipe::default() };
            both(DType::UInt32, &elements, 1 << 20, &recipe).unwrap();
        }
    }
}

#[test]
fn lz4_takes_all_at_once() {
    let recipe = Recipe { compression: Compressing::Lz4, ..Recipe::default() };
    let mut none = |_: &mut dyn FnMut(&[u8]) -> Result<(), Error>| Ok(());
    let error = encode_in_passes(DType::UInt8, &[1], &mut none, &recipe, &mut |_| Ok(()));
    assert!(error.unwrap_err().to_string().contains("at once"));
}

#[test]
fn masks_that_are_exact_and_others() {
    let canonical = [1.0, f32::NAN, f32::INFINITY].map(f32::to_le_bytes).concat();
    let signed =
        [1.0, f32::from_bits(0xFFC0_0001), f32::NEG_INFINITY].map(f32::to_le_bytes).concat();
    let of = |elements: &[u8], choice| {
        let recipe = Recipe { nan: choice, infinity: choice, ..Recipe::default() };
        let (encoded, seen) = encode_seen(DType::Float32, &[3], elements, &recipe).unwrap();
        (encoded.descriptor.masks().len(), [seen.masked, seen.changed, seen.kept])
    };
    assert_eq!(of(&canonical, NonFinite::Exact), (2, [2, 0, 0]));
    assert_eq!(of(&signed, NonFinite::Exact), (0, [0, 0, 2]));
    assert_eq!(of(&signed, NonFinite::Masked), (2, [2, 1, 0]));
    assert_eq!(of(&canonical, NonFinite::Kept), (0, [0; 3]));
    let half = [f32::NAN, 1.0].map(f32::to_le_bytes).concat();
    let recipe = Recipe { nan: NonFinite::Exact, infinity: NonFinite::Exact, ..Recipe::default() };
    let (encoded, seen) = encode_seen(DType::Complex64, &[1], &half, &recipe).unwrap();
    assert_eq!((encoded.descriptor.masks().len(), seen.kept), (0, 1));
    assert!(encoded.region == half);
}

#[test]
fn headers_that_are_written_last_are_whole() {
    for count in [0_usize, 1, 3, 300] {
        for align in [8, 64, 4096] {
            let base =
                (0..count).map(|at| vec![("n".to_owned(), Value::Int(at as i128))]).collect();
            let metadata = Metadata { base, ..Metadata::default() };
            let options = WriteOptions { align, ..WriteOptions::default() };
            let mut writer =
                HeadedWriter::new(Cursor::new(Vec::new()), metadata.clone(), None, count, &options)
                    .unwrap();
            let mut wanted = Vec::new();
            for at in 0..count {
                let payload = noise(at * 37);
                let shape = [payload.len() as u64];
                let (encoded, _) =
                    encode_seen(DType::UInt8, &shape, &payload, &Recipe::default()).unwrap();
                let descriptor = encoded.descriptor.encode().unwrap();
                let expected = payload.len() + descriptor.len();
                // Some have the announced length, and others not.
                let mut tensor =
                    writer.tensor(if at % 2 == 0 { expected as u64 } else { 0 }).unwrap();
                payload.chunks(100).for_each(|piece| tensor.write(piece).unwrap());
                tensor.finish(&descriptor).unwrap();
                wanted.push(payload);
            }
            let (bytes, len) = writer.finish().unwrap();
            assert_eq!((bytes.position(), bytes.get_ref().len() as u64), (len, len));
            let source = Source::from_bytes(bytes.into_inner());
            let report = verify(&source, &checksums()).unwrap();
            assert!(report.findings.is_empty(), "{count} {align} {:?}", report.findings);
            let file = TensogramFile::open(source.clone(), &Limits::default()).unwrap();
            assert_eq!(file.metadata(0).unwrap().base, metadata.base);
            for (at, wanted) in wanted.iter().enumerate() {
                let object = file.object(0, at).unwrap();
                assert!(object.region.start().is_multiple_of(align) || wanted.is_empty());
                let mut found = vec![0; wanted.len()];
                source.read_exact_at(object.region.start(), &mut found).unwrap();
                assert!(&found == wanted);
            }
        }
    }
}

/// The uuid is that of what a message says and holds, hashed or not.
#[test]
fn makers_are_said_in_headers_that_are_written_last() {
    let message_of = |name: &str, byte: u8, hash: HashChoice| {
        let base = vec![vec![("name".to_owned(), Value::Text(name.to_owned()))]];
        let metadata = Metadata { base, ..Metadata::default() };
        let maker = Some(Maker { name: "tet", version: "1", time: 1_700_000_000 });
        let options = WriteOptions { hash, ..WriteOptions::default() };
        let sink = Cursor::new(Vec::new());
        let mut writer = HeadedWriter::new(sink, metadata, maker, 1, &options).unwrap();
        let mut tensor = writer.tensor(0).unwrap();
        tensor.write(&[byte]).unwrap();
        let descriptor = Descriptor::new(DType::UInt8, &[1]).unwrap().encode().unwrap();
        tensor.finish(&descriptor).unwrap();
        let source = Source::from_bytes(writer.finish().unwrap().0.into_inner());
        assert!(verify(&source, &checksums()).unwrap().findings.is_empty());
        let file = TensogramFile::open(source, &Limits::default()).unwrap();
        let reserved = file.metadata(0).unwrap().reserved;
        let keys: Vec<&str> = reserved.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["time", "uuid", "encoder"]);
        reserved[1].1.clone()
    };
    let one = message_of("a", 1, HashChoice::Xxh3);
    assert_eq!(one, message_of("a", 1, HashChoice::Xxh3));
    assert_eq!(one, message_of("a", 1, HashChoice::None));
    assert_ne!(one, message_of("b", 1, HashChoice::Xxh3));
    assert_ne!(one, message_of("a", 2, HashChoice::None));
}

#[test]
fn a_header_comes_with_all_its_tensors() {
    let start = |count| {
        let sink = Cursor::new(Vec::new());
        HeadedWriter::new(sink, Metadata::default(), None, count, &WriteOptions::default()).unwrap()
    };
    assert!(start(1).finish().is_err());
    let mut writer = start(1);
    writer.tensor(0).unwrap().finish(b"\xa0").unwrap();
    assert!(writer.tensor(0).is_err());
    let mut writer = start(2);
    drop(writer.tensor(0).unwrap());
    assert!(writer.tensor(0).is_err());
    let mut writer = start(1);
    assert!(writer.tensor(0).unwrap().finish(b"no map").is_err());
    assert!(writer.finish().is_err());
}
