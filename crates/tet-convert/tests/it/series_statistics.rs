//! Statistics of the parts of a folder serve the whole.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};

use tet_convert::{
    AxisAppend, ConvertOptions, EditOptions, OpenOptions, PayloadCodec, append, convert, open,
    series_parts,
};
use tet_file::metadata::{DatasetMetadata, Metadata};
use tet_file::write::{ChunkAt, DatasetSpec, WriteOptions, Writer};
use tet_format::{DType, Rule};
use tet_query::{
    Error, Execution, Hyperslab, Op, Reduced, Reduction, StatisticsPolicy, WithIntegrity,
};

/// Chunks that are long enough to have statistics.
const CHUNK: u64 = 16_384;
/// Rows of a part, in four chunks.
const ROWS: u64 = 4 * CHUNK;

/// A file of rows that count on from `first`.
fn rows(first: u64, path: PathBuf) -> PathBuf {
    let spec = DatasetSpec::new("t", DType::Int32, &[ROWS][..], &[CHUNK][..]);
    let mut writer = Writer::create(&path, vec![spec], &WriteOptions::default()).unwrap();
    let fill = &mut |chunk: ChunkAt<'_>, out: &mut Vec<u8>| {
        let from = first + chunk.linear * CHUNK;
        out.extend((from..from + CHUNK).flat_map(|row| i32::try_from(row).unwrap().to_le_bytes()));
        Ok(())
    };
    writer.write_dataset(0, fill, &Default::default()).unwrap();
    let mut about = DatasetMetadata::default();
    about.dim_names = vec!["time".to_owned()];
    let mut metadata = Metadata::new();
    metadata.datasets.insert("t".to_owned(), about);
    writer.finish(&metadata, &[]).unwrap();
    path
}

fn ask(
    path: &Path,
    op: Op,
    statistics: StatisticsPolicy,
) -> tet_query::Result<WithIntegrity<Reduced>> {
    let opened = open(path, &OpenOptions::default()).unwrap();
    let dataset = &opened.catalog.datasets()[0];
    let how = Execution { statistics, ..Execution::default() };
    dataset.reduce(&Hyperslab::whole(dataset.shape()), &Reduction::all(op), &how)
}

#[test]
fn chunks_of_parts_are_answered_and_skipped() {
    let root = tempfile::tempdir().unwrap();
    let series = root.path().join("s.tets");
    let mut options = ConvertOptions::default();
    options.storage.codec = Some(PayloadCodec::Raw);
    convert(&rows(7, root.path().join("a.tet")), &series, &options).unwrap();
    let inputs = [rows(7 + ROWS, root.path().join("b.tet"))];
    let asked = AxisAppend { axis: "time", inputs: &inputs, ..AxisAppend::default() };
    append(&series, &asked, &EditOptions::default(), &Execution::default()).unwrap();
    for (op, answered, skipped) in
        [(Op::Max, 8, 0), (Op::Sum, 8, 0), (Op::ArgMin, 0, 7), (Op::Median, 0, 0)]
    {
        let with = ask(&series, op, StatisticsPolicy::Verified).unwrap();
        let without = ask(&series, op, StatisticsPolicy::Never).unwrap();
        let text =
            |it: &WithIntegrity<Reduced>| format!("{:?} {}", it.value.values, it.value.count);
        assert_eq!(text(&with), text(&without), "{op:?}");
        let used = with.value.statistics;
        assert_eq!((used.answered, used.skipped), (answered, skipped), "{op:?}");
        assert!(without.value.statistics.is_none());
    }
    // A damaged record of the second part is found, and is not needed.
    let part = series.join(&series_parts(&series).unwrap()[1].file);
    let mut bytes = fs::read(&part).unwrap();
    let magic = bytes.windows(4).rposition(|four| four == b"TSTA").unwrap();
    bytes[magic + 16] ^= 1;
    fs::write(&part, bytes).unwrap();
    match ask(&series, Op::Max, StatisticsPolicy::Verified) {
        Err(Error::File(tet_file::Error::Format(fault))) => {
            assert_eq!(fault.rule, Rule::SpillDigest);
        }
        other => panic!("{other:?}"),
    }
    ask(&series, Op::Max, StatisticsPolicy::Never).unwrap();
}
