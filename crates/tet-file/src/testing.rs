//! A small file for tests.

use tet_format::DType;
use tet_io::Progress;

use crate::metadata::{AttrValue, HistoryRow, Metadata};
use crate::write::{ChunkAt, CodecChoice, DatasetSpec, DigestChoice, WriteOptions, Writer};

/// A file of two datasets of three and one chunks.
pub(crate) fn written(attr_len: usize, digests: DigestChoice) -> Vec<u8> {
    let encoder = CodecChoice::Raw;
    written_as(attr_len, &WriteOptions { encoder, digests, ..WriteOptions::default() })
}

/// A sample file, written with other options.
pub(crate) fn written_as(attr_len: usize, options: &WriteOptions) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.tet");
    let specs = vec![
        DatasetSpec::new("a", DType::Int16, [5_u64], [2_u64]),
        DatasetSpec::new("b", DType::Float32, [3_u64, 1], [3_u64, 1]),
    ];
    let mut writer = Writer::create(&path, specs, options).unwrap();
    for id in 0..2 {
        let fill = &mut |chunk: ChunkAt<'_>, out: &mut Vec<u8>| {
            out.extend((0..chunk.decoded_len).map(|at| (at + chunk.linear) as u8 | 1));
            Ok(())
        };
        writer.write_dataset(id, fill, &Progress::default()).unwrap();
    }
    let mut metadata = Metadata::new();
    let about = metadata.datasets.entry("a".to_owned()).or_default();
    for part in 0..attr_len.div_ceil(1000) {
        about.attrs.insert(format!("n{part}"), AttrValue::from("x".repeat(attr_len.min(1000))));
    }
    writer.finish(&metadata, &[HistoryRow::new("test", "none", "1")]).unwrap();
    std::fs::read(path).unwrap()
}
