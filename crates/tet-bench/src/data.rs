//! The files that are measured: seeded, made once, the same on every machine.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use tet_file::write::Writer;
use tet_file::{CodecChoice, Metadata, OpenOptions, TetFile, WriteOptions};
use tet_format::write::{DatasetSpec, Declaration, FileWriter};
use tet_format::{Codec, DType, Shape};
use tet_io::{Progress, Source};
use tet_query::Catalog;

/// The shape of all arrays but the largest.
pub const SHAPE: [u64; 3] = [128, 512, 1024];
/// One slab a chunk.
pub const SLAB: [u64; 3] = [1, 512, 1024];
/// Tiles that divide the shape.
pub const TILED: [u64; 3] = [8, 256, 256];
/// Tiles that do not.
pub const CLIPPED: [u64; 3] = [7, 200, 300];
/// Chunks of the file with the long index.
pub const ROW_COUNT: u64 = 1_000_000;
/// Elements of one of its chunks.
pub const ROW_ELEMENTS: u64 = 16;
/// Chunks of the file that is nothing but tiny ones.
pub const TINY_COUNT: u64 = 500_000;
/// Elements of one of them.
pub const TINY_ELEMENTS: u64 = 8;
/// The level of compressed files.
pub const LEVEL: i32 = 3;
/// Datasets of the file with the long directory.
pub const DATASET_COUNT: u64 = 10_000;

/// Where the files are.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder, made when it is not there.
    ///
    /// # Errors
    ///
    /// Returns an error when it cannot be made.
    pub fn new(target: &Path) -> Result<Self> {
        let path = target.join("bench-data").join("tet-bench-1");
        std::fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        Ok(Self { path })
    }

    /// A path for something that is written and removed.
    #[must_use]
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A raw array of `SHAPE`.
    ///
    /// # Errors
    ///
    /// Returns an error when it cannot be made.
    pub fn array(&self, dtype: DType, layout: &str, chunk_shape: [u64; 3]) -> Result<PathBuf> {
        let name = format!("{}-{layout}.tet", dtype.name());
        self.made(&name, vec![spec("x", dtype, &SHAPE, &chunk_shape)])
    }

    /// An array of `SHAPE` in zstd chunks, between a half and a quarter of its length.
    ///
    /// # Errors
    ///
    /// Returns an error when it cannot be made, or is not that long.
    pub fn zstd(&self, dtype: DType, layout: &str, chunk_shape: [u64; 3]) -> Result<PathBuf> {
        let path = self.path.join(format!("{}-{layout}-zstd.tet", dtype.name()));
        if !path.exists() {
            let spec = spec("x", dtype, &SHAPE, &chunk_shape);
            let options = replacing(CodecChoice::Zstd { level: LEVEL });
            write_with(&path, vec![spec], &options, fill_waves)?;
        }
        let decoded_len = SHAPE.iter().product::<u64>() * dtype.size().unwrap_or(1);
        let ratio = decoded_len as f64 / std::fs::metadata(&path)?.len() as f64;
        ensure!((2.0..=4.0).contains(&ratio), "{} is {ratio:.2} to 1", path.display());
        Ok(path)
    }

    /// A file of 500,000 chunks of 8 elements.
    ///
    /// # Errors
    ///
    /// Returns an error when it cannot be made.
    pub fn tiny(&self) -> Result<PathBuf> {
        let shape = [TINY_COUNT * TINY_ELEMENTS];
        self.made("tiny.tet", vec![spec("x", DType::Float32, &shape, &[TINY_ELEMENTS])])
    }

    /// A raw array of 2 GiB.
    ///
    /// # Errors
    ///
    /// Returns an error when it cannot be made.
    pub fn large(&self) -> Result<PathBuf> {
        let shape = [1024, SHAPE[1], SHAPE[2]];
        self.made("float32-large.tet", vec![spec("x", DType::Float32, &shape, &SLAB)])
    }

    /// A file of 1,000,000 chunk rows.
    ///
    /// # Errors
    ///
    /// Returns an error when it cannot be made.
    pub fn rows(&self) -> Result<PathBuf> {
        let shape = [ROW_COUNT * ROW_ELEMENTS];
        self.made("rows.tet", vec![spec("x", DType::Float32, &shape, &[ROW_ELEMENTS])])
    }

    /// A file of 10,000 datasets.
    ///
    /// # Errors
    ///
    /// Returns an error when it cannot be made.
    pub fn datasets(&self) -> Result<PathBuf> {
        let name = |i: u64| format!("group-{:02}/variable-{i:05}", i % 50);
        let specs = (0..DATASET_COUNT).map(|i| spec(&name(i), DType::Float32, &[4], &[4]));
        self.made("datasets.tet", specs.collect())
    }

    /// The file, made when it is not there.
    fn made(&self, name: &str, specs: Vec<DatasetSpec>) -> Result<PathBuf> {
        let path = self.path.join(name);
        if !path.exists() {
            write(&path, specs, &WriteOptions::default())?;
        }
        Ok(path)
    }
}

/// One dataset to write.
#[must_use]
pub fn spec(name: &str, dtype: DType, shape: &[u64], chunk_shape: &[u64]) -> DatasetSpec {
    let (shape, chunk_shape) = (Shape::from(shape), Shape::from(chunk_shape));
    DatasetSpec { name: name.to_owned(), dtype, shape, chunk_shape }
}

/// Writes seeded elements.
///
/// # Errors
///
/// Returns an error when the file cannot be written.
pub fn write(path: &Path, specs: Vec<DatasetSpec>, options: &WriteOptions) -> Result<()> {
    write_with(path, specs, options, fill_elements)
}

fn write_with(
    path: &Path,
    specs: Vec<DatasetSpec>,
    options: &WriteOptions,
    elements: fn(DType, u64, u64, &mut Vec<u8>),
) -> Result<()> {
    let dtypes: Vec<DType> = specs.iter().map(|spec| spec.dtype).collect();
    let mut writer = Writer::create(path, specs, options)?;
    for (id, dtype) in dtypes.into_iter().enumerate() {
        let mut fill = |chunk: tet_file::write::ChunkAt<'_>, out: &mut Vec<u8>| {
            let seed = chunk.linear.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ id as u64;
            elements(dtype, seed, chunk.decoded_len, out);
            Ok(())
        };
        writer.write_dataset(id, &mut fill, &Progress::default())?;
    }
    writer.finish(&Metadata::default(), &[])?;
    Ok(())
}

/// Options that write over what is there.
#[must_use]
pub fn replacing(encoder: CodecChoice) -> WriteOptions {
    WriteOptions { encoder, overwrite: tet_io::Overwrite::Replace, ..WriteOptions::default() }
}

/// Elements as measurements have them: temperatures around 280 for floats, small and signed for
/// integers, with noise in the low bits.
pub fn fill_elements(dtype: DType, seed: u64, len: u64, out: &mut Vec<u8>) {
    let mut next = random(seed);
    let count = len / dtype.size().unwrap_or(1);
    out.reserve(usize::try_from(len).unwrap_or(0));
    for _ in 0..count {
        let bits = next();
        let part = (bits >> 11) as f64 / (1_u64 << 53) as f64;
        match dtype {
            DType::Float32 => out.extend((250.0 + 60.0 * part as f32).to_le_bytes()),
            DType::Float64 => out.extend((250.0 + 60.0 * part).to_le_bytes()),
            DType::Int16 => out.extend(((bits >> 50) as i16 - 8192).to_le_bytes()),
            DType::Int64 => out.extend(((bits >> 20) as i64 - (1 << 43)).to_le_bytes()),
            _ => out.extend(&bits.to_le_bytes()[..dtype.size().unwrap_or(1) as usize]),
        }
    }
}

/// Elements that zstd can compress: a wave with noise, rounded as by an instrument.
fn fill_waves(dtype: DType, seed: u64, len: u64, out: &mut Vec<u8>) {
    let mut next = random(seed);
    let count = len / dtype.size().unwrap_or(1);
    out.reserve(usize::try_from(len).unwrap_or(0));
    for i in 0..count {
        let wave = (i as f64 / 300.0).sin();
        let noise = (next() >> 11) as f64 / (1_u64 << 53) as f64;
        let degrees = 280.0 + 20.0 * wave + noise;
        let rounded = |unit: f64| (degrees * unit).round() / unit;
        match dtype {
            DType::Float32 => out.extend((rounded(64.0) as f32).to_le_bytes()),
            DType::Float64 => out.extend(rounded(4096.0).to_le_bytes()),
            DType::Int16 => out.extend(((wave * 100.0 + noise * 8.0) as i16).to_le_bytes()),
            DType::Int64 => out.extend(((wave * 1e6 + noise * 4096.0) as i64).to_le_bytes()),
            _ => out.extend(&next().to_le_bytes()[..dtype.size().unwrap_or(1) as usize]),
        }
    }
}

/// A source of random words.
pub(crate) fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// How bytes are fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Io {
    /// A map that is leased.
    Mapped,
    /// Positioned reads.
    Pread,
}

/// Opens a source.
///
/// # Errors
///
/// Returns an error when the file cannot be opened that way.
pub fn source(path: &Path, io: Io) -> Result<Source> {
    Ok(match io {
        Io::Mapped => Source::open_leased(path)?,
        Io::Pread => Source::open(path)?,
    })
}

/// Opens a catalog.
///
/// # Errors
///
/// Returns an error when the file is not a sound one.
pub fn catalog(path: &Path, io: Io) -> Result<Catalog> {
    catalog_of(source(path, io)?).with_context(|| path.display().to_string())
}

/// The catalog of a source.
///
/// # Errors
///
/// Returns an error when it is not a sound file.
pub fn catalog_of(source: Source) -> Result<Catalog> {
    Ok(Catalog::from_tet(TetFile::open(source, &OpenOptions::default())?)?)
}

/// The first dataset of a catalog.
///
/// # Errors
///
/// Returns an error when there is none.
pub fn first(catalog: &Catalog) -> Result<&tet_query::Dataset> {
    catalog.datasets().first().ok_or_else(|| anyhow!("the file has no dataset"))
}

/// The bytes of a raw file with seeded elements.
///
/// # Errors
///
/// Returns an error when v1 cannot hold the datasets.
pub fn bytes(specs: Vec<DatasetSpec>) -> Result<Vec<u8>> {
    let dtypes: Vec<DType> = specs.iter().map(|spec| spec.dtype).collect();
    let layout = Declaration::new(specs).layout()?;
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), layout)?;
    let mut elements = Vec::new();
    let mut seed = 1;
    while let Some(chunk) = writer.next_chunk() {
        elements.clear();
        fill_elements(dtypes[chunk.dataset], seed, chunk.raw_len, &mut elements);
        seed += 2;
        writer.push(Codec::Raw, elements.len() as u64, &elements)?;
    }
    Ok(writer.finish(None)?.into_inner())
}
