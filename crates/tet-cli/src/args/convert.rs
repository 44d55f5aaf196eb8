//! `tet convert`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::WriteArgs;

/// Arguments of `tet convert`.
#[derive(Debug, Args)]
#[command(
    after_long_help = EXAMPLES
)]
pub struct ConvertArgs {
    /// The file to read
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The .tet file to write
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Take this dataset only (repeatable)
    #[arg(long, value_name = "NAME")]
    pub dataset: Vec<String>,
    /// Leave this dataset out (repeatable)
    #[arg(long, value_name = "NAME")]
    pub exclude: Vec<String>,
    /// The name of the dataset a .npy becomes [default: the file's name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Extents of a chunk, as 1,30,60; auto makes chunks of about 4 MiB
    #[arg(long, value_name = "SHAPE", default_value = "auto", allow_hyphen_values = true)]
    pub chunks: String,
    /// How chunks are stored
    #[arg(long, value_name = "CODEC", default_value = "zstd")]
    pub codec: CodecName,
    /// How hard zstd works, 1 to 22
    #[arg(long, value_name = "N", default_value = "3", allow_hyphen_values = true)]
    pub level: i32,
    /// Threads that compress, 0 for all
    #[arg(long, value_name = "N", default_value = "0", hide_default_value = true)]
    pub threads: usize,
    /// Names of the axes: time,lat,lon or temp=time,lat,lon (repeatable)
    #[arg(long, value_name = "[NAME=]AXES")]
    pub dims: Vec<String>,
    /// An attribute of all datasets, or of one: source=station 7, temp:units=degC (repeatable)
    #[arg(long, value_name = "[NAME:]KEY=VALUE")]
    pub attr: Vec<String>,
    /// Where a dataset's bytes may start: a multiple of 8, 64 or 4096
    #[arg(long, value_name = "BYTES", default_value = "64", value_parser = ["8", "64", "4096"])]
    pub align: String,
    /// Write no digests: nothing tells then when bytes of the file change
    #[arg(long)]
    pub no_digests: bool,
    /// Do not write down how the file came to be
    #[arg(long)]
    pub no_history: bool,
    /// How the file is written.
    #[command(flatten)]
    pub write: WriteArgs,
    /// One `tet.convert/1` object for programs
    #[arg(long)]
    pub json: bool,
}

/// How chunks are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum CodecName {
    /// The elements themselves: largest, and mapped without a copy.
    Raw,
    /// Compressed by zstd.
    #[default]
    Zstd,
}

const EXAMPLES: &str = "\
EXAMPLES
  tet convert arrays.npz arrays.tet                  every array of the archive
  tet convert temp.npy temp.tet --dims time,lat,lon  one array, its axes named
  tet convert in.npz out.tet --dataset temp --chunks 1,512,512 --codec raw
  tet convert in.npz out.tet --dims temp=time,lat,lon --attr temp:units=degC

A one-dimensional array named after an axis gives its labels: with an array `lat` in the archive,
`--select 'lat=\"51\"'` finds the row by its value.";

/// What it does, at length.
pub(super) const LONG_ABOUT: &str = "\
Make a .tet file of NumPy arrays: .npy (versions 1.0 to 3.0) and .npz (stored or \
deflated).\n\nThe input is told by its content. Arrays stream through: a file larger \
than memory converts. The output appears whole or not at all: it is written beside its \
place, synced, and renamed. bool becomes uint8 and int8 becomes int16, with a note; \
objects, strings and records are refused.";
