use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tet_codec::decoder;
use tet_format::{Codec, DType, Grid};
use tet_io::{Overwrite, Progress, Source};

use super::footer::{FooterText, footer_text};
use super::*;
use crate::error::{Error, Result};
use crate::metadata::{AttrValue, HistoryRow, Metadata};
use crate::open::{OpenOptions, TetFile};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap();
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

/// Bytes that tell dataset, chunk and place, and that zstd makes smaller.
fn elements(dataset: usize, linear: u64, len: u64) -> Vec<u8> {
    (0..len).map(|at| (dataset as u64 * 31 + linear * 7 + at / 16) as u8).collect()
}

fn write_all(path: &Path, specs: &[DatasetSpec], options: &WriteOptions) -> Result<Written> {
    let mut writer = Writer::create(path, specs.to_vec(), options)?;
    for (id, spec) in specs.iter().enumerate() {
        let last = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&last);
        let progress = Progress::new(move |done, _| {
            assert!(seen.swap(done, Ordering::Relaxed) < done, "progress goes on");
        });
        let fill = &mut |chunk: ChunkAt<'_>, out: &mut Vec<u8>| {
            assert!(out.is_empty());
            out.extend(elements(id, chunk.linear, chunk.decoded_len));
            Ok(())
        };
        writer.write_dataset(id, fill, &progress)?;
        let size = spec.dtype.size().unwrap();
        assert_eq!(last.load(Ordering::Relaxed), spec.shape.element_count().unwrap() * size);
    }
    writer.finish(&Metadata::new(), &[HistoryRow::new("test", "none", "1")])
}

fn specs() -> Vec<DatasetSpec> {
    let mut specs = vec![
        DatasetSpec::new("small chunks", DType::Int16, [100_u64, 70], [3_u64, 4]),
        DatasetSpec::new("one chunk", DType::Float64, [5_u64], [100_u64]),
        DatasetSpec::new("large chunks", DType::Float32, [3_u64, 400_000], [1_u64, 300_000]),
    ];
    for dtype in DType::ALL {
        if dtype.tet_tag().is_some() {
            specs.push(DatasetSpec::new(dtype.name(), *dtype, [3_u64, 2, 5], [2_u64, 2, 2]));
        }
    }
    specs
}

fn assert_reads_back(path: &Path, specs: &[DatasetSpec], written: Written) {
    let file = TetFile::open(Source::open(path).unwrap(), &OpenOptions::default()).unwrap();
    assert_eq!(file.file_len(), written.file_len);
    assert_eq!(file.index().row_count(), written.chunk_count);
    assert_eq!(file.warnings(), []);
    let (mut stored_len, mut decoded_len) = (0, 0);
    for (id, (entry, spec)) in file.datasets().iter().zip(specs).enumerate() {
        assert_eq!((&entry.name, entry.dtype), (&spec.name, Some(spec.dtype)));
        let mut rows = Vec::new();
        file.index().rows(entry.rows.clone(), &mut rows).unwrap();
        assert_eq!(rows[0].payload_offset % 64, 0, "a dataset starts aligned");
        let mut end = rows[0].payload_offset;
        for (linear, row) in (0..).zip(&rows) {
            assert_eq!(row.coord[..entry.grid.rank()], entry.grid.coord_of(linear));
            assert_eq!(row.payload_offset, end, "chunks are packed");
            end += row.stored_len;
            let mut stored = vec![0; row.stored_len as usize];
            file.source().read_exact_at(row.payload_offset, &mut stored).unwrap();
            let mut decoded = vec![0; row.raw_len as usize];
            let codec = decoder(Codec::from_tag(row.codec)).unwrap();
            codec.decode(&stored, &mut decoded).unwrap();
            assert_eq!(decoded, elements(id, linear, row.raw_len));
            stored_len += row.stored_len;
            decoded_len += row.raw_len;
        }
    }
    assert_eq!((stored_len, decoded_len), (written.stored_len, written.decoded_len));
}

fn encoders() -> Vec<CodecChoice> {
    let mut encoders = vec![CodecChoice::Raw];
    if cfg!(feature = "zstd") {
        encoders.extend([CodecChoice::Zstd { level: 3 }, CodecChoice::Zstd { level: 1 }]);
    }
    encoders
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let folder = Folder::new();
    for encoder in encoders() {
        let mut first = None;
        for threads in [1, 2, 3, 8, 0] {
            let path = folder.path("t.tet");
            let overwrite = Overwrite::Replace;
            let options = WriteOptions { encoder, threads, overwrite, ..WriteOptions::default() };
            let written = write_all(&path, &specs(), &options).unwrap();
            let bytes = fs::read(&path).unwrap();
            assert!(first.get_or_insert_with(|| bytes.clone()) == &bytes, "{threads} threads");
            assert_reads_back(&path, &specs(), written);
        }
    }
    assert_eq!(folder.names(), ["t.tet"]);
}

#[test]
fn a_writer_that_does_not_finish_leaves_the_old_file() {
    let folder = Folder::new();
    let path = folder.path("t.tet");
    fs::write(&path, "old").unwrap();
    let options = WriteOptions { overwrite: Overwrite::Replace, ..WriteOptions::default() };
    let spec = || vec![DatasetSpec::new("d", DType::UInt8, [4_u64], [2_u64])];
    type Fill = fn(ChunkAt<'_>, &mut Vec<u8>) -> Result<(), FillError>;
    type IsWanted = fn(&Error) -> bool;
    let cases: [(Fill, IsWanted); 3] = [
        (|_, _| Err("no more".into()), |error| matches!(error, Error::Fill { .. })),
        (
            |chunk, out| {
                out.resize(2 + usize::from(chunk.linear == 1), 0);
                Ok(())
            },
            |error| matches!(error, Error::ChunkLen { found: 3, wanted: 2, .. }),
        ),
        (|_, _| Ok(()), |error| matches!(error, Error::ChunkLen { found: 0, wanted: 2, .. })),
    ];
    for (mut fill, is_wanted) in cases {
        let mut writer = Writer::create(&path, spec(), &options).unwrap();
        let error = writer.write_dataset(0, &mut fill, &Progress::default()).unwrap_err();
        assert!(is_wanted(&error), "{error:?}");
        drop(writer);
    }
    let writer = Writer::create(&path, spec(), &options).unwrap();
    let error = writer.finish(&Metadata::new(), &[]).unwrap_err();
    assert!(matches!(error, Error::DatasetOrder { found: 1, wanted: 0 }), "{error:?}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(folder.names(), ["t.tet"]);
}

#[test]
fn datasets_are_written_in_order_and_once() {
    let folder = Folder::new();
    let spec = |name| DatasetSpec::new(name, DType::UInt8, [1_u64], [1_u64]);
    let options = WriteOptions::default();
    let path = folder.path("t.tet");
    let mut writer = Writer::create(path, vec![spec("a"), spec("b")], &options).unwrap();
    let fill = &mut |_: ChunkAt<'_>, out: &mut Vec<u8>| {
        out.push(1);
        Ok(())
    };
    let mut write = |id| writer.write_dataset(id, fill, &Progress::default());
    assert!(matches!(write(1), Err(Error::DatasetOrder { found: 1, wanted: 0 })));
    write(0).unwrap();
    assert!(matches!(write(0), Err(Error::DatasetOrder { found: 0, wanted: 1 })));
    write(1).unwrap();
    assert!(matches!(write(2), Err(Error::DatasetOrder { found: 2, wanted: 2 })));
    writer.finish(&Metadata::new(), &[]).unwrap();
}

#[test]
fn extents_of_zero_are_refused_unless_asked_for() {
    let folder = Folder::new();
    let spec = DatasetSpec::new("none", DType::Int32, [0_u64, 3], [1_u64, 3]);
    let refused =
        Writer::create(folder.path("t.tet"), vec![spec.clone()], &WriteOptions::default());
    assert!(matches!(refused, Err(Error::Layout(_))));
    let zero_extents = ZeroExtents::Allow;
    let options = WriteOptions { zero_extents, ..WriteOptions::default() };
    let mut writer = Writer::create(folder.path("t.tet"), vec![spec], &options).unwrap();
    writer.write_dataset(0, &mut |_, _| Err("never asked".into()), &Progress::default()).unwrap();
    let written = writer.finish(&Metadata::new(), &[]).unwrap();
    assert_eq!((written.chunk_count, written.decoded_len), (0, 0));
    let source = Source::open(folder.path("t.tet")).unwrap();
    let file = TetFile::open(source, &OpenOptions::default()).unwrap();
    assert_eq!(file.datasets()[0].rows, 0..0);
}

#[test]
fn nothing_to_say_is_no_footer() {
    assert_eq!(footer_text(&Metadata::new(), &[], 32, None, None).unwrap(), None);
    let folder = Folder::new();
    let path = folder.path("t.tet");
    let options = WriteOptions { digests: DigestChoice::Left, ..WriteOptions::default() };
    let writer = Writer::create(&path, vec![], &options).unwrap();
    assert_eq!(writer.finish(&Metadata::new(), &[]).unwrap().file_len, 32);
    assert_eq!(fs::read(&path).unwrap().len(), 32);
}

/// Metadata whose JSON is about `len` bytes long.
fn metadata_of(len: usize) -> Metadata {
    let mut metadata = Metadata::new();
    let mut left = len;
    for number in 0.. {
        let text = "x".repeat(left.min(1000));
        left -= text.len();
        let name = format!("d{:04}", number / 60);
        let dataset = metadata.datasets.entry(name).or_default();
        dataset.attrs.insert(format!("a{number}"), AttrValue::from(text));
        if left == 0 {
            return metadata;
        }
    }
    metadata
}

#[test]
#[cfg(feature = "zstd")]
fn each_dataset_has_a_codec_of_its_own() {
    let folder = Folder::new();
    let path = folder.path("t.tet");
    let specs =
        ["a", "b", "c"].map(|name| DatasetSpec::new(name, DType::UInt8, [90_u64], [30_u64]));
    let mut writer = Writer::create(&path, specs.to_vec(), &WriteOptions::default()).unwrap();
    let codecs = [CodecChoice::Raw, CodecChoice::Zstd { level: 19 }, CodecChoice::Raw];
    for (id, codec) in codecs.into_iter().enumerate() {
        writer.set_codec(codec).unwrap();
        let fill = &mut |chunk: ChunkAt<'_>, out: &mut Vec<u8>| {
            out.extend(elements(id, chunk.linear, chunk.decoded_len));
            Ok(())
        };
        writer.write_dataset(id, fill, &Progress::default()).unwrap();
    }
    assert!(writer.set_codec(CodecChoice::Zstd { level: 1000 }).is_err());
    let written = writer.finish(&Metadata::new(), &[]).unwrap();
    assert_reads_back(&path, &specs, written);
    let file = TetFile::open(Source::open(&path).unwrap(), &OpenOptions::default()).unwrap();
    let mut rows = Vec::new();
    file.index().rows(0..9, &mut rows).unwrap();
    let tags: Vec<Codec> = rows.iter().map(|row| Codec::from_tag(row.codec)).collect();
    assert_eq!(tags[..3], [Codec::Raw; 3]);
    assert_eq!(tags[3..6], [Codec::Zstd; 3]);
    assert_eq!(tags[6..], [Codec::Raw; 3]);
}

#[test]
fn metadata_is_spilled_when_the_json_would_be_too_long() {
    let history = [HistoryRow::new("a", "b", "1")];
    let cases = [(1, false), (60_000, false), (66_000, true), (1_000_000, true)];
    for (len, is_spilled) in cases {
        let metadata = metadata_of(len);
        let FooterText { spill, json } =
            footer_text(&metadata, &history, 640, None, None).unwrap().unwrap();
        assert_eq!(!spill.is_empty(), is_spilled, "{len}");
        assert!(json.len() <= 65_536);
        let folder = Folder::new();
        let path = folder.path("t.tet");
        let options = WriteOptions { digests: DigestChoice::Left, ..WriteOptions::default() };
        let writer = Writer::create(&path, vec![], &options).unwrap();
        let written = writer.finish(&metadata, &history).unwrap();
        let source = Source::open(&path).unwrap();
        let file = TetFile::open(source, &OpenOptions::default()).unwrap();
        assert_eq!(file.metadata(), &metadata);
        assert_eq!(file.history(), &history);
        assert_eq!(file.footer().spilled.is_some(), is_spilled);
        assert_eq!((file.payload_end(), file.file_len()), (32, written.file_len));
    }
}

#[test]
fn footers_that_readers_refuse_are_refused() {
    let row = HistoryRow::new("a", "b", "1");
    let many = vec![row.clone(); 4097];
    let long = HistoryRow::new("a", &"b".repeat(65_536), "1");
    for history in [many, vec![long]] {
        let error = footer_text(&Metadata::new(), &history, 32, None, None).unwrap_err();
        assert!(matches!(error, Error::FooterLimit { .. }), "{error:?}");
        assert_eq!(error.kind(), crate::Kind::Limit);
    }
    let error = footer_text(&metadata_of(17 << 20), &[row], 32, None, None).unwrap_err();
    assert!(matches!(error, Error::FooterLimit { wanted: 16_777_216, .. }), "{error:?}");
}

#[test]
fn w3_chunks_in_flight_stay_within_the_budget() {
    for chunk_len in [1_u64, 1 << 16, 1 << 22, 1 << 25, 1 << 28, 1 << 40] {
        for threads in [1_u64, 2, 16, 200] {
            for (is_raw, copy_count) in [(true, 1), (false, 2)] {
                let grid = Grid::new([chunk_len * 1000].into(), [chunk_len].into()).unwrap();
                for memory in [None, Some(8 << 20)] {
                    let workers = writer::pool(&grid, 1, threads as usize, memory, is_raw);
                    let batch_len = chunk_len.max(1 << 20);
                    let most = copy_count * batch_len * workers.in_flight_max as u64;
                    let budget = memory.unwrap_or(BUDGET_LEN + threads * batch_len);
                    let what = format!("{chunk_len} {memory:?} {workers:?}");
                    assert!(most <= budget || workers.in_flight_max == 1, "{what}");
                    assert!(workers.worker_count as u64 <= threads);
                }
            }
        }
    }
}
