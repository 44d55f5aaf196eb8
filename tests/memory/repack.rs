//! Files in other chunks: the same elements, each chunk read at most twice, within the memory budget.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tet_convert::{
    AxisChunk, ChunkChoice, ChunkRule, CodecRule, ConvertOptions, EditOptions, Opened, Origin,
    PayloadCodec, Repack, convert_source, repack,
};
use tet_file::metadata::{DatasetMetadata, Metadata};
use tet_file::write::{ChunkAt, CodecChoice, WriteOptions, Writer};
use tet_format::write::DatasetSpec;
use tet_format::{Codec, DType, Span};
use tet_io::{ReadAt, Source};
use tet_query::{AxisSlice, Dataset, Execution, Hyperslab};
use tet_tests::meter::Meter;
use tet_tests::values::Seeded;

use crate::ALLOCATOR;

/// 512 MiB of uint32.
const LARGE: [u64; 3] = [512, 512, 512];
const BUDGET: u64 = 64 << 20;

/// The element at a position: differs from its neighbors along every axis.
fn element(at: &[u64]) -> u32 {
    let number = at.iter().zip([1_000_003, 1_009, 1]).map(|(at, step)| at * step).sum::<u64>();
    (number % 0xffff_fffb) as u32
}

/// The elements of a region, by loops over positions.
fn elements(first: &[u64], extents: &[u64], out: &mut Vec<u8>) {
    for t in first[0]..first[0] + extents[0] {
        for y in first[1]..first[1] + extents[1] {
            for x in first[2]..first[2] + extents[2] {
                out.extend_from_slice(&element(&[t, y, x]).to_le_bytes());
            }
        }
    }
}

/// A file with the dataset `temp` of this shape, in these chunks.
fn sample(folder: &Path, shape: [u64; 3], chunk: [u64; 3], encoder: CodecChoice) -> PathBuf {
    let path = folder.join("sample.tet");
    let sync = tet_io::publish::Sync::None;
    let overwrite = tet_io::Overwrite::Replace;
    let options = WriteOptions { encoder, sync, overwrite, ..WriteOptions::default() };
    let spec = DatasetSpec::new("temp", DType::UInt32, shape, chunk);
    let mut writer = Writer::create(&path, vec![spec], &options).unwrap();
    let fill = &mut |at: ChunkAt<'_>, out: &mut Vec<u8>| {
        let first: Vec<u64> = at.coord.iter().zip(chunk).map(|(at, chunk)| at * chunk).collect();
        elements(&first, at.extents, out);
        Ok(())
    };
    writer.write_dataset(0, fill, &Default::default()).unwrap();
    let mut metadata = Metadata::new();
    let mut about = DatasetMetadata::default();
    about.dim_names = ["time", "lat", "lon"].map(str::to_owned).to_vec();
    metadata.datasets.insert("temp".to_owned(), about);
    writer.finish(&metadata, &[]).unwrap();
    path
}

/// A file that is read by position.
#[derive(Debug)]
struct OnDisk(File);

impl ReadAt for OnDisk {
    fn len(&self) -> u64 {
        self.0.metadata().unwrap().len()
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        FileExt::read_exact_at(&self.0, out, offset)
    }
}

/// The stored spans of all chunks of a dataset.
fn spans(dataset: &Dataset) -> Vec<Span> {
    let whole = Hyperslab::whole(dataset.shape());
    let plan = tet_query::plan(dataset, &whole, tet_query::Coalesce::NONE).unwrap();
    plan.chunks().iter().map(|chunk| chunk.place.stored).collect()
}

/// Bytes that were read of each of the spans, which ascend, for each byte of it; the most of them.
fn reads_of(spans: &[Span], reads: &[Span]) -> f64 {
    let mut bytes = vec![0_u64; spans.len()];
    for read in reads {
        let first = spans.partition_point(|span| span.end() <= read.start());
        for (span, bytes) in spans.iter().zip(&mut bytes).skip(first) {
            if read.end() <= span.start() {
                break;
            }
            *bytes += span.end().min(read.end()) - span.start().max(read.start());
        }
    }
    let ratios = bytes.iter().zip(spans).map(|(bytes, span)| *bytes as f64 / span.len() as f64);
    ratios.fold(0.0, f64::max)
}

fn opened(path: &Path) -> Opened {
    tet_convert::open(path, &Default::default()).unwrap()
}

/// The dataset has all elements, read in slabs of the first axis.
fn check(dataset: &Dataset, shape: [u64; 3]) {
    assert_eq!(dataset.shape(), shape);
    let mut wanted = Vec::new();
    let step = 64;
    for start in (0..shape[0]).step_by(step) {
        let stop = (start + step as u64).min(shape[0]);
        let mut slices: Vec<AxisSlice> = shape.map(AxisSlice::whole).to_vec();
        slices[0] = AxisSlice { start, stop, ..AxisSlice::whole(shape[0]) };
        let slab = Hyperslab::new(slices, &shape).unwrap();
        let found = dataset.read(&slab, &Execution::default()).unwrap().value;
        wanted.clear();
        elements(&[start, 0, 0], &[stop - start, shape[1], shape[2]], &mut wanted);
        assert!(found.bytes() == wanted, "elements from {start} on");
    }
}

fn along(axes: &[(&str, u64)]) -> ChunkChoice {
    let axis = |&(name, extent): &(&str, u64)| (name.to_owned(), AxisChunk::Extent(extent));
    ChunkChoice::Axes(axes.iter().map(axis).collect())
}

#[test]
fn time_steps_become_time_series_within_the_budget() {
    let _alone = ALLOCATOR.alone();
    let folder = tempfile::tempdir().unwrap();
    let steps = sample(folder.path(), LARGE, [1, 512, 512], CodecChoice::Zstd { level: 1 });
    let meter = Arc::new(Meter::new(OnDisk(File::open(&steps).unwrap())));
    let source = Source::from_reader(meter.clone());
    let input = tet_convert::open_source(source, &Default::default()).unwrap();
    let chunks = spans(&input.catalog.datasets()[0]);
    assert_eq!(chunks.len(), 512);
    let series = folder.path().join("series.tet");
    let execution = Execution { memory_budget: BUDGET, ..Execution::default() };
    let asked = along(&[("time", 512), ("lat", 16), ("lon", 16)]);
    let how = Repack { chunks: asked.into(), execution, ..Repack::default() };
    meter.reset();
    let options = EditOptions::default();
    let (written, peak) = ALLOCATOR.peak_of(|| repack(&input, Some(&series), &how, &options));
    written.unwrap();
    let most = reads_of(&chunks, &meter.reads());
    assert!((1.0..=2.0).contains(&most), "a chunk is read {most} times");
    assert!(peak as u64 <= BUDGET, "{peak} bytes were held");
    let output = opened(&series);
    let temp = &output.catalog.datasets()[0];
    assert_eq!(temp.grid.chunk_shape()[..], [512, 16, 16]);
    assert_eq!(temp.dims, ["time", "lat", "lon"]);
    check(temp, LARGE);
    // And back, from the file of the disk.
    let how = Repack { chunks: along(&[("time", 1), ("lat", 512), ("lon", 512)]).into(), ..how };
    let back = folder.path().join("back.tet");
    let (written, peak) = ALLOCATOR.peak_of(|| repack(&output, Some(&back), &how, &options));
    written.unwrap();
    assert!(peak as u64 <= BUDGET, "{peak} bytes were held");
    check(&opened(&back).catalog.datasets()[0], LARGE);
}

#[test]
fn elements_are_the_same_in_any_chunks() {
    let _alone = ALLOCATOR.alone();
    let folder = tempfile::tempdir().unwrap();
    let mut seeded = Seeded(7);
    let mut below = |most: u64| 1 + (seeded.bits() >> 32) % most;
    let shape = [26, 18, 22];
    let (mut scratch_count, mut most) = (0, 0.0_f64);
    for nth in 0..120 {
        let old: [u64; 3] = shape.map(&mut below);
        let new: Vec<u64> = shape.iter().map(|&extent| below(extent)).collect();
        let codec = if nth % 2 == 0 { CodecChoice::Raw } else { CodecChoice::Zstd { level: 1 } };
        let path = sample(folder.path(), shape, old, codec);
        let meter = Arc::new(Meter::new(OnDisk(File::open(&path).unwrap())));
        let source = Source::from_reader(meter.clone());
        let suffix = ["o.tet", "o.h5", "o.zarr"][nth % 3];
        let output = folder.path().join(format!("{nth}-{suffix}"));
        let mut options = ConvertOptions::default();
        options.tet.chunks = ChunkChoice::Shape(new.clone()).into();
        options.storage.filter = (suffix == "o.h5").then_some(tet_convert::Filter::Shuffle);
        // A quarter of it holds a third of the array.
        options.execution.memory_budget = 64 << 10;
        // Gaps between short chunks are other chunks.
        options.execution.coalesce = tet_query::Coalesce::NONE;
        let chunks = spans(&opened(&path).catalog.datasets()[0]);
        meter.reset();
        let what = format!("{old:?} as {new:?} in {suffix}");
        match convert_source(&source, &output, &options) {
            Ok(_) => {}
            // A chunk is longer than a part of the budget.
            Err(tet_convert::Error::Budget { .. }) => continue,
            Err(error) => panic!("{what}: {error}"),
        }
        let ratio = reads_of(&chunks, &meter.reads());
        assert!(ratio <= 2.0, "{what}: a chunk is read {ratio} times");
        most = most.max(ratio);
        scratch_count += 1;
        check(opened(&output).catalog.only_named("temp").unwrap(), shape);
    }
    assert!(60 < scratch_count && 1.0 <= most, "{scratch_count} {most}");
}

/// Datasets that stay, and those that change: `temp`, `wind`, coordinates, one without elements.
fn several(folder: &Path) -> PathBuf {
    let path = folder.join("several.tet");
    let spec = |name: &str, shape: &[u64], chunk: &[u64]| {
        DatasetSpec::new(name, DType::Int32, shape, chunk)
    };
    let specs = vec![
        spec("temp", &[30, 8, 9], &[1, 8, 9]),
        spec("none", &[0, 4], &[1, 4]),
        spec("wind", &[30, 8, 9], &[1, 8, 9]),
        spec("time", &[30], &[30]),
    ];
    let zero_extents = tet_file::write::ZeroExtents::Allow;
    let options = WriteOptions { zero_extents, ..WriteOptions::default() };
    let mut writer = Writer::create(&path, specs, &options).unwrap();
    for id in 0..4 {
        writer.set_codec([CodecChoice::Zstd { level: 1 }, CodecChoice::Raw][id / 2]).unwrap();
        let fill = &mut |chunk: ChunkAt<'_>, out: &mut Vec<u8>| {
            out.extend((0..chunk.decoded_len).map(|at| (at / 8 + chunk.linear) as u8));
            Ok(())
        };
        writer.write_dataset(id, fill, &Default::default()).unwrap();
    }
    let mut metadata = Metadata::new();
    metadata.file.insert("title".to_owned(), "A year".into());
    for name in ["temp", "wind", "time"] {
        let mut about = DatasetMetadata::default();
        let dims: &[&str] = if name == "time" { &["time"] } else { &["time", "lat", "lon"] };
        about.dim_names = dims.iter().map(|it| (*it).to_owned()).collect();
        about.coords.insert("time".to_owned(), (0..30).map(|it| format!("day {it}")).collect());
        about.attrs.insert("units".to_owned(), "K".into());
        metadata.datasets.insert(name.to_owned(), about);
    }
    writer.finish(&metadata, &[tet_file::HistoryRow::new("made", "nothing", "1")]).unwrap();
    path
}

/// The stored bytes of the chunks of a dataset, with the codec of the first.
fn stored(opened: &Opened, name: &str) -> (Option<Codec>, Vec<Vec<u8>>) {
    let tet = opened.tet.as_ref().unwrap();
    let dataset = opened.catalog.only_named(name).unwrap();
    let mut rows = Vec::new();
    tet.index().rows(tet.datasets()[dataset.index].rows.clone(), &mut rows).unwrap();
    let read = |span: &Span| tet.source().read_vec(span.start(), span.len()).unwrap();
    let codec = rows.first().map(|row| Codec::from_tag(row.codec));
    (codec, spans(dataset).iter().map(read).collect())
}

#[test]
fn what_no_rule_holds_for_stays_as_it_is_stored() {
    let _alone = ALLOCATOR.alone();
    let folder = tempfile::tempdir().unwrap();
    let path = several(folder.path());
    let old = opened(&path);
    let (old_temp, old_wind, old_time) =
        (stored(&old, "temp"), stored(&old, "wind"), stored(&old, "time"));
    let rule =
        |dataset: Option<&str>, chunks| ChunkRule { dataset: dataset.map(str::to_owned), chunks };
    let codec = |dataset: &str, codec| CodecRule {
        dataset: dataset.to_owned(),
        codec: Some(codec),
        level: None,
    };
    let how = Repack {
        chunks: vec![rule(Some("wind"), along(&[("time", 10)]))],
        codecs: vec![codec("t*", PayloadCodec::Raw), codec("temp", PayloadCodec::Zstd)],
        ..Repack::default()
    };
    let options = EditOptions { history: Some(Origin { at: 2 }), ..EditOptions::default() };
    repack(&old, None, &how, &options).unwrap();
    let new = opened(&path);
    let names = |opened: &Opened| -> Vec<String> {
        opened.catalog.datasets().iter().map(|it| it.name.clone()).collect()
    };
    assert_eq!(names(&new), ["temp", "none", "wind", "time"]);
    assert_eq!(stored(&new, "temp"), old_temp, "zstd already, and no level is asked for");
    assert_eq!(stored(&new, "time"), old_time);
    let wind = stored(&new, "wind");
    assert_eq!((wind.0, wind.1.len()), (Some(Codec::Raw), 3));
    // Along the first axis chunks follow one another.
    assert_eq!(wind.1.concat(), old_wind.1.concat());
    let tet = new.tet.as_ref().unwrap();
    assert_eq!(tet.metadata(), old.tet.as_ref().unwrap().metadata());
    let ops: Vec<&str> = tet.history().iter().map(|row| row.op.as_str()).collect();
    assert_eq!(ops, ["made", "repack"]);
    let report = tet_convert::verify(&Source::open(&path).unwrap(), &Default::default()).unwrap();
    let is_note = |it: &tet_verify::Finding| it.severity == tet_verify::Severity::Note;
    assert!(report.findings.iter().all(is_note), "{:?}", report.findings);
    // All datasets, with another codec.
    let all = Repack { codecs: vec![codec("*", PayloadCodec::Zstd)], ..Repack::default() };
    let copy = folder.path().join("copy.tet");
    repack(&new, Some(&copy), &all, &options).unwrap();
    let zstd = opened(&copy);
    for name in ["temp", "wind", "time"] {
        assert_eq!(stored(&zstd, name).0, Some(Codec::Zstd), "{name}");
    }
}

#[test]
fn damaged_chunks_are_not_sealed_anew() {
    let _alone = ALLOCATOR.alone();
    let folder = tempfile::tempdir().unwrap();
    let path = several(folder.path());
    let intact = std::fs::read(&path).unwrap();
    for (name, chunks) in [("temp", None), ("wind", Some(along(&[("time", 10)])))] {
        let span = spans(opened(&path).catalog.only_named(name).unwrap())[20];
        let mut bytes = intact.clone();
        bytes[usize::try_from(span.start() + span.len() / 2).unwrap()] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let how = Repack { chunks: chunks.map(Vec::from).unwrap_or_default(), ..Repack::default() };
        let done = repack(&opened(&path), None, &how, &EditOptions::default());
        if name == "temp" {
            // It stays as it is stored, and so does its digest.
            done.unwrap();
            let again = opened(&path);
            let dataset = again.catalog.find(name).unwrap();
            let all = tet_query::Hyperslab::whole(dataset.shape());
            let error = dataset.read(&all, &Default::default()).unwrap_err();
            assert!(error.to_string().contains("TET-G"), "{name}: {error}");
        } else {
            let error = done.unwrap_err();
            assert!(error.to_string().contains("TET-G"), "{name}: {error}");
            assert_eq!(std::fs::read(&path).unwrap(), bytes, "the old file stays");
        }
        std::fs::write(&path, &intact).unwrap();
    }
}
