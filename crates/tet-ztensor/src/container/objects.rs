//! zTensor files of versions 1 and 2, read in place.
//!
//! The formats are `crate::objects`'; here objects become datasets. A dense object is one dataset, raw
//! or in zstd frames; a sparse one is bands of rows, and its parts are found by name. Objects of other
//! layouts are listed, and their parts are found by name too.

mod catalog;
mod checked;
mod object;
mod parts;

use crate::Limits;
use crate::objects::{self, Version};
use tet_format::ForeignRule;
use tet_io::Source;
use tet_verify::{Report, VerifyOptions};

use tet_container::Repairer;
use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::{Bound, Container, Input};
use tet_container::{Format, Result};

/// The container of files of version 1.
pub static ONE: Objects = Objects { version: Version::One };
/// The container of files of version 2.
pub static TWO: Objects = Objects { version: Version::Two };

/// The container of files of one version.
#[derive(Debug)]
pub struct Objects {
    version: Version,
}

impl Container for Objects {
    fn format(&self) -> Format {
        format_of(self.version)
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &[]
    }

    fn magics(&self) -> &'static [&'static [u8]] {
        match self.version {
            Version::One => &[b"ZTEN1000"],
            Version::Two => &[b"\x89ZT2"],
        }
    }

    fn open(&self, input: Input<'_>, options: &OpenOptions) -> Result<Opened> {
        catalog::open(input, self.version, options)
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        let open = |shard: &str| open_shard(source, shard, &OpenOptions::default());
        Ok(objects::verify(source, &options.with_limits(Limits::default()), &open)?)
    }

    fn codecs(&self) -> Vec<&'static str> {
        vec!["zstd"]
    }

    fn bounds(&self) -> &'static [Bound] {
        const SHARDS: u64 = crate::objects::manifest::SHARDS_MAX as u64;
        match self.version {
            Version::One => &[],
            Version::Two => const { &[Bound::count("shards", SHARDS)] },
        }
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        // Both versions have these rules, which are listed once.
        match self.version {
            Version::One => &[],
            Version::Two => objects::rule::ALL,
        }
    }

    fn repairer(&self) -> Option<&dyn Repairer> {
        Some(self)
    }
}

const fn format_of(version: Version) -> Format {
    match version {
        Version::One => Format::ZTENSOR1,
        Version::Two => Format::ZTENSOR2,
    }
}

/// A shard of a file, if it is there: `model.zt` has the shard `a` in `model-a.zt`. The name of a shard is never a path, by
/// the rules of the format.
fn open_shard(source: &Source, shard: &str, options: &OpenOptions) -> Option<Source> {
    let stem = source.path()?.file_stem().unwrap_or_default().to_string_lossy();
    options.beside(source, &format!("{stem}-{shard}.zt")).ok()
}
