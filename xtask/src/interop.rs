//! Lets the programs of others read what we write, and reads what they write.
//!
//! ```text
//! tet       the reference program, `tetration`, from the registry of Rust
//! ztensor   the packages `ztensor` 0.1.4 and `safetensors`, from that of Python
//! ```
//!
//! It needs a registry once and takes minutes, so it is no part of `ci`. What it cannot do fails:
//! nothing is skipped.

mod sheet;
mod tet;
mod ztensor;

use std::path::PathBuf;

use anyhow::{Result, ensure};

/// What to check.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The container whose programs are asked
    #[arg(value_enum, default_value_t = Container::Tet)]
    container: Container,
    /// `.tet` files to check beside the fixtures
    files: Vec<PathBuf>,
    /// A reference program of `.tet` that is already built
    #[arg(long, value_name = "PATH")]
    reference: Option<PathBuf>,
    /// Where chance starts; every seed makes other files of zTensor and safetensors
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many of those
    #[arg(long, default_value_t = 24)]
    count: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Container {
    Tet,
    #[value(name = "ztensor")]
    ZTensor,
}

/// Asks the programs of a container.
pub(crate) fn run(options: &Options) -> Result<()> {
    match options.container {
        Container::Tet => tet::run(options),
        Container::ZTensor => {
            let is_tet = !options.files.is_empty() || options.reference.is_some();
            ensure!(!is_tet, "files and the reference are for tet");
            ztensor::run(options.seed, options.count)
        }
    }
}
