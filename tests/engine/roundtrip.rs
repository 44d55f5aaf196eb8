//! Written files can be read: every element type, rank and codec, clipped chunks, odd bits.

use proptest::prelude::*;
use tet_file::write::{CodecChoice, WriteOptions};
use tet_format::write::DatasetSpec;
use tet_format::{DType, Shape};
use tet_io::Source;
use tet_tests::ask;
use tet_tests::values::noise;
use tet_tests::written::{self, Written};

fn dtypes() -> Vec<DType> {
    DType::ALL.iter().copied().filter(|dtype| dtype.tet_tag().is_some()).collect()
}

/// A dataset of any element type and rank, with chunks that fit, clip or exceed it, full of noise:
/// every NaN, every subnormal, negative zeros.
fn dataset() -> impl Strategy<Value = Written> {
    let axes = (1_usize..=8).prop_flat_map(|rank| {
        let extent_max = [40, 12, 7, 5, 3, 3, 2, 2][rank - 1];
        prop::collection::vec((1_u64..=extent_max, 1_u64..=extent_max + 1), rank)
    });
    (prop::sample::select(dtypes()), axes, any::<u64>(), "[a-z/ ]{0,9}").prop_map(
        |(dtype, axes, seed, name)| {
            let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
            let chunk_shape: Vec<u64> = axes.iter().map(|axis| axis.1).collect();
            let len = shape.iter().product::<u64>() * dtype.size().unwrap();
            let elements = noise(seed, usize::try_from(len).unwrap());
            let (shape, chunk_shape) = (Shape::from(shape), Shape::from(chunk_shape));
            Written { spec: DatasetSpec { name, dtype, shape, chunk_shape }, elements }
        },
    )
}

fn check(datasets: &[Written], encoder: CodecChoice) {
    let mut datasets = datasets.to_vec();
    for (number, dataset) in datasets.iter_mut().enumerate() {
        // A writer refuses one name twice.
        dataset.spec.name = format!("{number}{}", dataset.spec.name);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = written::write(folder.path(), "a.tet", &datasets, encoder);
    let source = Source::open(&path).unwrap();
    let catalog = ask::open(source, tet_format::Limits::default()).unwrap();
    assert_eq!(catalog.datasets().len(), datasets.len());
    for (dataset, written) in catalog.datasets().iter().zip(&datasets) {
        assert_eq!(dataset.name, written.spec.name);
        assert_eq!(dataset.dtype, Some(written.spec.dtype));
        assert_eq!(dataset.grid.chunk_shape(), &written.spec.chunk_shape);
        assert!(dataset.shape() == &written.spec.shape[..]);
        let read = ask::read_all(dataset).unwrap();
        assert!(read == written.elements, "{:?}", written.spec);
    }
    let litter = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(litter, 1, "nothing stays beside the file");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn raw_files_hold_what_was_written(datasets in prop::collection::vec(dataset(), 0..4)) {
        check(&datasets, CodecChoice::Raw);
    }

    #[test]
    fn zstd_files_hold_what_was_written(datasets in prop::collection::vec(dataset(), 0..4)) {
        check(&datasets, CodecChoice::Zstd { level: 1 });
    }
}

/// Every element type by every codec, with the bits that a conversion would change.
#[test]
fn odd_bits_are_kept() {
    let words = [
        0x7fc0_0001_7fa0_0001,
        0xfff8_0000_0000_0001,
        0x7ff0_0000_0000_0001,
        0x8000_0000_8000_8080,
        0x0000_0001_0001_0101,
        u64::MAX,
        1,
    ];
    let bytes: Vec<u8> = words.iter().flat_map(|word: &u64| word.to_le_bytes()).collect();
    let datasets: Vec<Written> = dtypes()
        .into_iter()
        .map(|dtype| {
            let count = bytes.len() as u64 / dtype.size().unwrap();
            let (shape, chunk_shape) = (Shape::from(vec![count]), Shape::from(vec![3]));
            let name = dtype.name().to_owned();
            let spec = DatasetSpec { name, dtype, shape, chunk_shape };
            Written { spec, elements: bytes.clone() }
        })
        .collect();
    assert_eq!(datasets.len(), 10);
    for encoder in [CodecChoice::Raw, CodecChoice::Zstd { level: 3 }] {
        check(&datasets, encoder);
    }
}

/// An input gives one file, whatever the threads.
#[test]
fn the_same_input_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (shape, chunk_shape) = (Shape::from(vec![300, 70]), Shape::from(vec![17, 70]));
    let spec = DatasetSpec { name: "a".into(), dtype: DType::Float32, shape, chunk_shape };
    let dataset = Written { spec, elements: noise(9, 300 * 70 * 4) };
    let encoder = CodecChoice::Zstd { level: 3 };
    let mut files = [1, 2, 5].map(|threads| {
        let name = format!("{threads}.tet");
        let datasets = std::slice::from_ref(&dataset);
        let options = WriteOptions { encoder, threads, ..WriteOptions::default() };
        let path = written::write_with(options, folder.path(), &name, datasets);
        std::fs::read(path).unwrap()
    });
    files.sort();
    assert!(files[0] == files[2]);
}
