//! T1, Tensogram messages without codecs, T2, objects in place, T3, codecs compared with the bare codecs, T4,
//! packed numbers, and T5, opening and finding.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tet_convert::{OpenOptions, Opened};
use tet_format::DType;
use tet_query::{Hyperslab, Op, Reduction};
use tet_tensogram::{
    Compressing, Encoded, Limits, Metadata, PackingFit, PlainElements, Recipe, Region,
    RegionSource, SzipParameters, TensogramFile, Tensor, Value, WriteOptions, encode, encode_into,
    write_message,
};

use super::{Measured, all_threads, without_digests};
use crate::data::{self, Folder, Io};
use crate::limit::{self, Scan};
use crate::measure::{Rounds, paired, times};
use crate::report::{Figure, ReportRow};

/// Bytes of the elements of an object.
const LEN: usize = 256 << 20;
/// Objects of the message in which one is found.
pub(crate) const OBJECT_COUNT: usize = 5000;
/// The level of zstd that is usual.
const LEVEL: i32 = 3;

/// A field that changes little from one element to the next.
fn field(count: usize) -> impl Iterator<Item = f64> {
    let (mut next, mut value) = (data::random(0x7e45_0672), 280.0_f64);
    (0..count).map(move |_| {
        value += ((next() >> 11) as f64 / (1_u64 << 53) as f64 - 0.5) * 0.1;
        value
    })
}

fn singles(len: usize) -> Vec<u8> {
    field(len / 4).flat_map(|value| (value as f32).to_le_bytes()).collect()
}

fn doubles(len: usize) -> Vec<u8> {
    field(len / 8).flat_map(f64::to_le_bytes).collect()
}

/// Elements as an object.
pub(crate) fn encoded<'a>(
    dtype: DType,
    elements: &'a [u8],
    recipe: &Recipe,
) -> Result<Encoded<'a>> {
    let size = dtype.size().context("elements of whole bytes")?;
    Ok(encode(dtype, &[elements.len() as u64 / size], elements, recipe)?)
}

/// Encodes into a reused buffer.
fn again(dtype: DType, elements: &[u8], recipe: &Recipe, room: &mut Vec<u8>) -> Result<()> {
    let size = dtype.size().context("elements of whole bytes")?;
    let shape = [elements.len() as u64 / size];
    let (object, _) = encode_into(dtype, &shape, elements, recipe, std::mem::take(room))?;
    *room = object.region.into_owned();
    Ok(())
}

fn region(encoded: &Encoded<'_>) -> Result<Region> {
    let len = encoded.region.len() as u64;
    Ok(Region::new(&encoded.descriptor, 0, len, &Limits::default())?)
}

/// Appends a message of one object, with all its hashes.
pub(crate) fn write(out: Vec<u8>, encoded: &Encoded<'_>, metadata: &Metadata) -> Result<Vec<u8>> {
    let descriptor = encoded.descriptor.encode()?;
    let tensor = Tensor { descriptor: &descriptor, region: (&*encoded.region).into() };
    Ok(write_message(out, metadata, vec![tensor], &WriteOptions::default())?.0)
}

/// Elements as they are, in a message in a buffer that is kept.
pub(crate) fn write_plain(out: Vec<u8>, dtype: DType, elements: &[u8]) -> Result<Vec<u8>> {
    let shape = [elements.len() as u64 / dtype.size().context("elements of whole bytes")?];
    let (descriptor, elements) = PlainElements::new(dtype, &shape, elements)?;
    let descriptor = descriptor.encode()?;
    let region = RegionSource::Plain(elements);
    let tensors = vec![Tensor { descriptor: &descriptor, region }];
    Ok(write_message(out, &Metadata::default(), tensors, &WriteOptions::default())?.0)
}

/// A file of one object, made when it is not there.
fn file(folder: &Folder, name: &str, make: impl FnOnce() -> Result<Vec<u8>>) -> Result<PathBuf> {
    let path = folder.scratch(name);
    if !path.exists() {
        std::fs::write(&path, make()?)?;
    }
    Ok(path)
}

/// The file of one object that is stored as it is.
pub(crate) fn whole(folder: &Folder) -> Result<PathBuf> {
    file(folder, "plain.tgm", || {
        let elements = singles(LEN);
        let object = encoded(DType::Float32, &elements, &Recipe::default())?;
        write(Vec::new(), &object, &Metadata::default())
    })
}

/// The file of one message of many small objects.
pub(crate) fn objects(folder: &Folder) -> Result<PathBuf> {
    file(folder, "objects-5000.tgm", many)
}

/// A file of a quarter of the elements, with nothing around them.
pub(crate) fn elements(folder: &Folder, dtype: DType) -> Result<PathBuf> {
    let name = format!("elements-{}.bin", dtype.name());
    file(folder, &name, || {
        Ok(if dtype == DType::Float64 { doubles(LEN / 4) } else { singles(LEN / 4) })
    })
}

fn opened(path: &Path) -> Result<Opened> {
    let mut options = OpenOptions::default();
    options.io = tet_convert::Io::Mmap;
    Ok(tet_convert::open(path, &options)?)
}

/// Copies on one thread.
fn copied<'a>(from: &'a [u8], to: &'a mut [u8]) -> impl FnMut() -> Result<()> + 'a {
    move || {
        to.copy_from_slice(from);
        black_box(&*to);
        Ok(())
    }
}

fn ratio(
    id: &'static str,
    work: String,
    limit: &'static str,
    it: Rounds,
    target: f64,
) -> ReportRow {
    ReportRow::new(id, work, limit, Figure::Ratio, it, target)
}

/// T1: elements as they are, into a message and out of it, on one thread.
pub(super) fn plain(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let elements = singles(LEN);
    let (mut warm, mut out) = (vec![1; LEN], vec![1; LEN]);
    let mut message = Vec::with_capacity(LEN + (1 << 16));
    let written = paired(run.rounds, copied(&elements, &mut warm), || {
        message.clear();
        message = write_plain(std::mem::take(&mut message), DType::Float32, &elements)?;
        Ok(())
    })?;
    let object = encoded(DType::Float32, &elements, &Recipe::default())?;
    let region = region(&object)?;
    let decoded = paired(run.rounds, copied(&elements, &mut warm), || {
        Ok(region.decode(&object.region, &mut out)?)
    })?;
    let row = |work: &str, it, target| ratio("T1", work.to_owned(), "copy", it, target);
    Ok(vec![
        row("256 MiB into a message in a warm buffer, hashed", written, 0.4),
        row("256 MiB out of a message into a warm buffer", decoded, 0.6),
    ])
}

/// T2: reductions of objects where they lie, and of packed ones in parts.
pub(super) fn reducing(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let of = |dtype, elements: &[u8], recipe: &Recipe| {
        write(Vec::new(), &encoded(dtype, elements, recipe)?, &Metadata::default())
    };
    let path = whole(run.folder)?;
    let opened = opened(&path)?;
    let view = opened.catalog.source().view().context("the lease was broken")?;
    let scan = Scan::fastest(view.whole());
    let dataset = opened.catalog.datasets().first().context("an object")?;
    let mean = |how| {
        let (slab, mean) = (Hyperslab::whole(dataset.shape()), Reduction::all(Op::Mean));
        black_box(dataset.reduce(&slab, &mean, &how)?);
        Ok(())
    };
    let limit = || {
        scan.run(view.whole());
        Ok(())
    };
    let unchecked = paired(run.rounds, limit, || mean(without_digests()))?;
    let mut rows =
        vec![ratio("T2", "mean of float32, in place".to_owned(), "scan", unchecked, 0.85)];
    let recipes = [
        ("16 bits", packing(16)),
        ("12 bits", packing(12)),
        ("16 bits, zstd", Recipe { compression: Compressing::Zstd { level: 1 }, ..packing(16) }),
    ];
    let elements = doubles(LEN);
    for (label, recipe) in recipes {
        let name = format!("packed-{}.tgm", label.replace([' ', ','], ""));
        let path = file(run.folder, &name, || of(DType::Float64, &elements, &recipe))?;
        let opened = self::opened(&path)?;
        let dataset = opened.catalog.datasets().first().context("an object")?;
        let (slab, mean) = (Hyperslab::whole(dataset.shape()), Reduction::all(Op::Mean));
        let object = encoded(DType::Float64, &elements, &recipe)?;
        let region = region(&object)?;
        let mut out = vec![1; LEN];
        let limit = || Ok(region.decode(&object.region, &mut out)?);
        let rounds = paired(run.rounds, limit, || {
            black_box(dataset.reduce(&slab, &mean, &without_digests())?);
            Ok(())
        })?;
        // On two threads it may well take less than to decode all of it on one.
        let work = format!("mean of 256 MiB of float64 in {label}, in parts");
        rows.push(ReportRow::new("T2", work, "decode", Figure::Times, rounds.inverted(), 0.0));
    }
    Ok(rows)
}

fn packing(bits: u32) -> Recipe {
    let fit = PackingFit::Bits { bits, decimal_scale: 0 };
    Recipe { packing: Some(fit), ..Recipe::default() }
}

/// T3: the cost of the pipeline compared with its codec.
pub(super) fn codecs(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let elements = singles(LEN / 4);
    let mut out = vec![1; elements.len()];
    let compression = Compressing::Zstd { level: LEVEL };
    let recipe = Recipe { shuffle: Some(4), compression, threads: 1, ..Recipe::default() };
    let object = encoded(DType::Float32, &elements, &recipe)?;
    let region_of = region(&object)?;
    let mut planes = vec![0; elements.len()];
    let count = elements.len() / 4;
    for (at, byte) in elements.iter().enumerate() {
        planes[at % 4 * count + at / 4] = *byte;
    }
    let frames = region_of.frames().context("frames")?;
    let places: Vec<_> = (0..frames.len()).filter_map(|at| frames.frame(at)).collect();
    let stored = |(place, held): &(std::ops::Range<u64>, std::ops::Range<u64>)| {
        let frame = &object.region[place.start as usize..place.end as usize];
        (frame, (held.end - held.start) as usize)
    };
    let stored: Vec<(&[u8], usize)> = places.iter().map(stored).collect();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let unpacked = paired(
        run.rounds,
        || one.install(|| limit::decompress(&stored)),
        || Ok(region_of.decode(&object.region, &mut out)?),
    )?;
    let mut room = Vec::new();
    let chunks: Vec<&[u8]> = planes.chunks(256 << 10).collect();
    let packed = paired(
        run.rounds,
        || {
            one.install(|| limit::compress(&chunks, LEVEL));
            Ok(())
        },
        || again(DType::Float32, &elements, &recipe, &mut room),
    )?;
    let row = |work: &str, limit, it| ratio("T3", work.to_owned(), limit, it, 0.9);
    let (block, unblocked) = lz4(run, &elements)?;
    Ok(vec![
        row("64 MiB of float32, shuffled, as zstd level 3", "zstd", packed),
        row("64 MiB of float32, shuffled, out of zstd", "unzstd", unpacked),
        row("64 MiB of float32 as lz4", "lz4", block),
        row("64 MiB of float32 out of lz4", "unlz4", unblocked),
    ])
}

/// lz4 both ways, compared with one block of the same bytes in a warm buffer.
fn lz4(run: Measured<'_>, elements: &[u8]) -> Result<(Rounds, Rounds)> {
    use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};
    let recipe = Recipe { compression: Compressing::Lz4, ..Recipe::default() };
    let object = encoded(DType::Float32, elements, &recipe)?;
    let region = region(&object)?;
    let mut block = vec![1; get_maximum_output_size(elements.len())];
    let (mut room, mut out, mut warm) = (Vec::new(), vec![1; LEN / 4], vec![1; LEN / 4]);
    let packed = paired(
        run.rounds,
        || {
            black_box(compress_into(elements, &mut block)?);
            Ok(())
        },
        || again(DType::Float32, elements, &recipe, &mut room),
    )?;
    let len = compress_into(elements, &mut block)?;
    let block = block.get(..len).context("a block")?;
    let unpacked = paired(
        run.rounds,
        || {
            black_box(decompress_into(block, &mut warm)?);
            Ok(())
        },
        || Ok(region.decode(&object.region, &mut out)?),
    )?;
    Ok((packed, unpacked))
}

/// T4: packed numbers both ways, on one thread.
pub(super) fn packed(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let elements = doubles(LEN);
    let (mut warm, mut out) = (vec![1; LEN], vec![1; LEN]);
    let szip = Compressing::Szip(SzipParameters::default());
    let mut rows = Vec::new();
    for (label, recipe, decode_min, encode_min) in [
        ("8 bits", packing(8), 0.0, 0.0),
        ("12 bits", packing(12), 0.0, 0.0),
        ("16 bits", packing(16), 0.25, 0.15),
        ("24 bits", packing(24), 0.0, 0.0),
        ("16 bits, szip", Recipe { compression: szip, ..packing(16) }, 0.0, 0.0),
    ] {
        let object = encoded(DType::Float64, &elements, &recipe)?;
        let region = region(&object)?;
        let decoded = paired(run.rounds, copied(&elements, &mut warm), || {
            Ok(region.decode(&object.region, &mut out)?)
        })?;
        let mut room = Vec::new();
        let packed = paired(run.rounds, copied(&elements, &mut warm), || {
            again(DType::Float64, &elements, &recipe, &mut room)
        })?;
        let row = |work: String, it, target| ratio("T4", work, "copy", it, target);
        // A copy reads more than there is to unpack.
        let unpacked = row(format!("256 MiB of float64 out of {label}"), decoded, decode_min);
        rows.push(unpacked.passable());
        rows.push(row(format!("256 MiB of float64 into {label}"), packed, encode_min));
    }
    Ok(rows)
}

/// A message of many small objects.
fn many() -> Result<Vec<u8>> {
    let elements = [1; 64];
    let object = encoded(DType::Float32, &elements, &Recipe::default())?;
    let descriptor = object.descriptor.encode()?;
    let tensor = || Tensor { descriptor: &descriptor, region: elements[..].into() };
    let entry = |at| vec![("name".to_owned(), Value::Text(format!("x{at}")))];
    let metadata = Metadata { base: (0..OBJECT_COUNT).map(entry).collect(), ..Metadata::default() };
    let tensors = (0..OBJECT_COUNT).map(|_| tensor()).collect();
    Ok(write_message(Vec::new(), &metadata, tensors, &WriteOptions::default())?.0)
}

/// T5: an object by its number, and the metadata of a large message.
pub(super) fn finding(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let path = objects(run.folder)?;
    let large = whole(run.folder)?;
    let open = |path: &Path, io| -> Result<TensogramFile> {
        Ok(TensogramFile::open(data::source(path, io)?, &Limits::default())?)
    };
    let mut rows = Vec::new();
    for (io, label) in [(Io::Mapped, "mapped"), (Io::Pread, "pread")] {
        let mut row = |work: &str, rounds, target| {
            let work = format!("{work}, {label}");
            rows.push(ReportRow::new("T5", work, "", Figure::Microseconds, rounds, target));
        };
        let kept = open(&path, io)?;
        let found = times(run.rounds, || {
            for at in 0..1000 {
                black_box(kept.object(0, at * 777 % OBJECT_COUNT)?);
            }
            Ok(())
        })?;
        row("object N of 5,000, of an open file", found.each(1000.0), 20.0);
        let fresh = times(run.rounds, || {
            black_box(open(&path, io)?.object(0, OBJECT_COUNT - 1)?);
            Ok(())
        })?;
        row("the last of 5,000 objects, the file opened for it", fresh, 0.0);
        let metadata = times(run.rounds, || {
            black_box(open(&large, io)?.metadata(0)?);
            Ok(())
        })?;
        row("metadata of a message of 256 MiB, the file opened for it", metadata, 200.0);
    }
    let listed = times(run.rounds, || self::opened(&path).map(drop))?;
    let work = "open 5,000 objects as a catalog";
    rows.push(ReportRow::new("T5", work, "", Figure::Microseconds, listed, 0.0));
    Ok(rows)
}

/// Sums up a packed object with its hash left alone, for those who watch its memory.
pub(super) fn reduce(path: &Path) -> Result<()> {
    let opened = opened(path)?;
    let dataset = opened.catalog.datasets().first().context("an object")?;
    let (slab, sum) = (Hyperslab::whole(dataset.shape()), Reduction::all(Op::Sum));
    black_box(dataset.reduce(&slab, &sum, &all_threads())?);
    Ok(())
}

/// A file of 1 GiB of packed doubles in zstd, for the same.
pub(super) fn large(folder: &Folder) -> Result<PathBuf> {
    file(folder, "packed-large.tgm", || {
        let recipe = Recipe { compression: Compressing::Zstd { level: 1 }, ..packing(16) };
        let elements = doubles(4 * LEN);
        write(Vec::new(), &encoded(DType::Float64, &elements, &recipe)?, &Metadata::default())
    })
}
