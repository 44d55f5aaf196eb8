//! Every bit of small `.tet` files, flipped: it comes back. `crates/tet-convert/tests/it/repair.rs` does so with the
//! payloads of all other containers.

use tet_file::write::{CodecChoice, WriteOptions};
use tet_format::DType;
use tet_format::write::DatasetSpec;
use tet_io::Source;
use tet_tests::written::{self, Written};

/// A `.tet` file of floats and integers.
fn written(codec: CodecChoice) -> Vec<u8> {
    let datasets = [
        Written {
            spec: DatasetSpec::new("a", DType::Float32, [4, 6], [4, 6]),
            elements: (0..24_u8).flat_map(|it| (f32::from(it) / 2.0).to_le_bytes()).collect(),
        },
        Written {
            spec: DatasetSpec::new("b", DType::Int16, [5], [5]),
            elements: [3_i16, 1, 4, 1, 5].iter().flat_map(|it| it.to_le_bytes()).collect(),
        },
    ];
    let options = WriteOptions { encoder: codec, ..WriteOptions::default() };
    let folder = tempfile::tempdir().unwrap();
    std::fs::read(written::write_with(options, folder.path(), "good.tet", &datasets)).unwrap()
}

#[test]
fn every_bit_of_a_tet_file_is_flipped_back() {
    for codec in [CodecChoice::Raw, CodecChoice::Zstd { level: 3 }] {
        let good = written(codec);
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let source = Source::from_bytes(bad);
            let plan = tet_verify::repair::plan(&source, &Default::default()).unwrap();
            assert!(!plan.edits.iter().any(tet_verify::repair::Edit::is_lossy), "bit {bit}");
            let repaired = plan.repaired();
            let repaired = repaired.read_vec(0, repaired.len()).unwrap();
            assert!(repaired == good && plan.is_whole(), "bit {bit}: {:?}", plan.edits);
        }
    }
}
