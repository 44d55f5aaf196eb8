//! Seeded `.tet` files: a family of small ones for tests, large ones for benchmarks.
//!
//! A seed gives the same bytes on every machine.

use std::path::{Path, PathBuf};
use tet_io::Progress;

use anyhow::{Context, Result};
use tet_file::write::{CodecChoice, WriteOptions, Writer};
use tet_file::{AttrValue, DatasetMetadata, HistoryRow, Metadata};
use tet_format::write::DatasetSpec;
use tet_format::{DType, Shape};
use tet_io::publish::{Overwrite, Sync};

use crate::run;

/// The files to make.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Make the large files for benchmarks instead (about 4 GiB)
    #[arg(long)]
    large: bool,
    /// Other values in the same files
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where to put them [default: target/fixtures or target/bench-data]
    #[arg(long, value_name = "FOLDER")]
    into: Option<PathBuf>,
}

/// One file to make.
struct Fixture {
    name: String,
    datasets: Vec<DatasetSpec>,
    zstd: bool,
    footer: Footer,
}

/// Contents of the end of a file.
#[derive(Clone, Copy, PartialEq)]
enum Footer {
    /// No history and no metadata.
    None,
    /// A little of each, in the JSON itself.
    Inline,
    /// More metadata than the JSON may hold.
    Spill,
}

/// Makes the files and prints their paths.
pub(crate) fn run(options: &Options) -> Result<()> {
    let paths = if options.large {
        let folder = options.into.clone().unwrap_or_else(|| run::target().join("bench-data"));
        write_all(&large(), &folder, options.seed)?
    } else {
        let folder = options.into.clone().unwrap_or_else(|| run::target().join("fixtures"));
        write_all(&small(), &folder, options.seed)?
    };
    for path in paths {
        println!("{}", path.display());
    }
    Ok(())
}

/// Makes the small family with the first seed.
pub(crate) fn write_small(folder: &Path) -> Result<Vec<PathBuf>> {
    write_all(&small(), folder, 1)
}

fn spec(name: &str, dtype: DType, shape: &[u64], chunk_shape: &[u64]) -> DatasetSpec {
    let (shape, chunk_shape) = (Shape::from(shape), Shape::from(chunk_shape));
    DatasetSpec { name: name.to_owned(), dtype, shape, chunk_shape }
}

fn dtypes() -> impl Iterator<Item = DType> {
    DType::ALL.iter().copied().filter(|dtype| dtype.tet_tag().is_some())
}

/// Every element type, rank, codec and kind of footer in a few kilobytes each.
fn small() -> Vec<Fixture> {
    let mut out = Vec::new();
    for (codec, zstd) in [("raw", false), ("zstd", true)] {
        for (kind, footer) in
            [("plain", Footer::None), ("inline", Footer::Inline), ("spill", Footer::Spill)]
        {
            let datasets =
                dtypes().map(|dtype| spec(dtype.name(), dtype, &[12, 7], &[5, 4])).collect();
            out.push(Fixture { name: format!("dtypes-{codec}-{kind}"), datasets, zstd, footer });
        }
        let ranks = (1..=8).map(|rank| {
            let chunk_shape: Vec<u64> = (0..rank).map(|axis| 1 + axis as u64 % 3).collect();
            spec(&format!("rank{rank}"), DType::Int16, &vec![3; rank], &chunk_shape)
        });
        let name = format!("ranks-{codec}");
        out.push(Fixture { name, datasets: ranks.collect(), zstd, footer: Footer::Inline });
    }
    let names =
        ["a/b", "..", "\u{1b}[31mred", "\u{202e}back", "caf\u{e9}", " ", "#1", "a=b", "x[0]"];
    let odd = names.map(|name| spec(name, DType::UInt8, &[3], &[2])).to_vec();
    let plain = |name: &str, datasets| Fixture {
        name: name.to_owned(),
        datasets,
        zstd: false,
        footer: Footer::None,
    };
    out.push(plain("odd-names", odd));
    out.push(plain("empty", Vec::new()));
    out.push(plain("one", vec![spec("one", DType::Float64, &[1], &[1])]));
    out.push(plain("oversized", vec![spec("big-chunk", DType::Float32, &[3, 5], &[100, 100])]));
    out
}

/// The data sets of `docs/performance.md`.
fn large() -> Vec<Fixture> {
    let mut out = Vec::new();
    for (codec, zstd) in [("raw", false), ("zstd", true)] {
        for dtype in [DType::Float32, DType::Int16, DType::Float64] {
            for (kind, chunk_shape) in
                [("slab", [1, 512, 1024]), ("tiled", [8, 256, 256]), ("clipped", [7, 200, 300])]
            {
                let name = format!("{}-{kind}-{codec}", dtype.name());
                let datasets = vec![spec("x", dtype, &[128, 512, 1024], &chunk_shape)];
                out.push(Fixture { name, datasets, zstd, footer: Footer::None });
            }
        }
    }
    out
}

fn write_all(fixtures: &[Fixture], folder: &Path, seed: u64) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder)?;
    fixtures
        .iter()
        .map(|fixture| {
            let path = folder.join(format!("{}.tet", fixture.name));
            fixture.write(&path, seed).with_context(|| path.display().to_string())?;
            Ok(path)
        })
        .collect()
}

impl Fixture {
    fn write(&self, path: &Path, seed: u64) -> Result<()> {
        let encoder = if self.zstd { CodecChoice::Zstd { level: 3 } } else { CodecChoice::Raw };
        let (overwrite, sync) = (Overwrite::Replace, Sync::None);
        let options = WriteOptions { encoder, overwrite, sync, ..WriteOptions::default() };
        let mut writer = Writer::create(path, self.datasets.clone(), &options)?;
        for (id, dataset) in self.datasets.iter().enumerate() {
            let dtype = dataset.dtype;
            let mut fill = |chunk: tet_file::write::ChunkAt<'_>, out: &mut Vec<u8>| {
                let mut state = seed ^ (id as u64) << 32 ^ chunk.linear.wrapping_mul(0x9e37);
                while (out.len() as u64) < chunk.decoded_len {
                    push_element(dtype, &mut state, out);
                }
                Ok(())
            };
            writer.write_dataset(id, &mut fill, &Progress::default())?;
        }
        let history = HistoryRow::new("fixture", &self.name, "1700000000");
        let history = if self.footer == Footer::None { Vec::new() } else { vec![history] };
        writer.finish(&self.metadata(), &history)?;
        Ok(())
    }

    fn metadata(&self) -> Metadata {
        let mut metadata = Metadata::default();
        if self.footer == Footer::None {
            return metadata;
        }
        let text = |text: &str| AttrValue::Text(text.to_owned());
        metadata.file.insert("title".to_owned(), text("a fixture"));
        for dataset in &self.datasets {
            let mut about = DatasetMetadata::default();
            about.dim_names = (0..dataset.shape.rank()).map(|axis| format!("d{axis}")).collect();
            about.attrs.insert("units".to_owned(), text("K"));
            if self.footer == Footer::Spill {
                for number in 0..60 {
                    about.attrs.insert(format!("note{number}"), text(&"n".repeat(1000)));
                }
            }
            metadata.datasets.insert(dataset.name.clone(), about);
        }
        metadata
    }
}

/// A smooth value with a little noise: it compresses, and no two chunks are alike.
fn push_element(dtype: DType, state: &mut u64, out: &mut Vec<u8>) {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let noise = (*state >> 56) as u8;
    let whole = 200 + (out.len() / 64 % 100) as i32;
    match dtype {
        DType::Float32 => out.extend((whole as f32 + f32::from(noise) / 256.0).to_le_bytes()),
        DType::Float64 => out.extend((f64::from(whole) + f64::from(noise) / 256.0).to_le_bytes()),
        DType::Float16 => out.extend((0x5800 | u16::from(noise)).to_le_bytes()),
        DType::UInt8 => out.push(noise),
        DType::Int16 | DType::UInt16 => {
            out.extend((whole as i16 + i16::from(noise) / 8).to_le_bytes());
        }
        DType::Int32 | DType::UInt32 => out.extend((whole + i32::from(noise)).to_le_bytes()),
        _ => out.extend(i64::from(whole + i32::from(noise)).to_le_bytes()),
    }
}
