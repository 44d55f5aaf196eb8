//! A folder of `.tet` files that grows along an axis: `NAME.tets/` (`docs/spec/series.md`).
//!
//! ```text
//!   NAME.tets/series.json      the manifest: which part has which rows; replaced as a whole
//!             part-....tet     parts, which never change
//!             series.lock      locked by those who append, and alone by who removes unused parts
//! ```

mod check;
mod chunks;
mod files;
mod manifest;
pub(crate) mod parts;
mod rule;
mod series;
mod write;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use tet_format::ForeignRule;
use tet_io::{Operation, Output, Source, is_url};
use tet_query::Catalog;
use tet_verify::{Report, VerifyOptions};

pub(crate) use self::manifest::{Manifest, Part};
pub(crate) use self::series::Series;
pub(crate) use self::write::part;
use crate::{Format, Result};
use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::{Bound, Container, Head, Input, Writer};
use tet_container::{EditKind, EditOptions, Editor, FileEdit};

/// The manifest, by which the folder is known.
pub(crate) const DOCUMENT: &str = "series.json";
/// Name of the file that appending programs lock.
pub(crate) const LOCK: &str = "series.lock";
/// Format of such folders.
pub(crate) const FORMAT: Format = Format::TETS;
/// How names of folders end.
pub(crate) const SUFFIX: &str = "tets";
/// The key of the version, which only a manifest has.
const KEY: &[u8] = b"\"tet_series\"";
/// Bytes of a file in which the key is looked for.
const HEAD_LEN: u64 = 1 << 12;

/// The container of folders of parts.
pub(crate) struct Tets;

impl Container for Tets {
    fn format(&self) -> Format {
        Format::TETS
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &[SUFFIX]
    }

    fn folder_documents(&self) -> &'static [&'static str] {
        &[DOCUMENT]
    }

    fn matches(&self, head: &Head<'_>) -> Result<bool> {
        let path = head.source.path();
        if path.and_then(Path::file_name) != Some(DOCUMENT.as_ref()) {
            return Ok(false);
        }
        let folder = path.and_then(Path::parent).and_then(Path::extension);
        let bytes = head.source.read_vec(0, head.source.len().min(HEAD_LEN))?;
        let has_key = bytes.windows(KEY.len()).any(|part| part == KEY);
        Ok(has_key || folder.is_some_and(|suffix| suffix.eq_ignore_ascii_case(SUFFIX)))
    }

    fn open(&self, input: Input<'_>, options: &OpenOptions) -> Result<Opened> {
        let series = Series::open(input.path, &input.source, options)?;
        Ok(opened_of(series.catalog))
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        check::verify(source, options)
    }

    fn codecs(&self) -> Vec<&'static str> {
        vec!["raw", "zstd"]
    }

    fn bounds(&self) -> &'static [Bound] {
        const {
            &[
                Bound::bytes("manifest", manifest::LEN_MAX),
                Bound::count("parts that are open at a time", files::OPEN_MAX as u64),
            ]
        }
    }

    fn has_checksums(&self) -> bool {
        true
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        rule::ALL
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }

    fn editor(&self) -> Option<&dyn Editor> {
        Some(self)
    }
}

/// Folders grow by parts, which `append` writes itself; nothing else of them is edited.
impl Editor for Tets {
    fn can(&self) -> &'static [EditKind] {
        &[EditKind::Append]
    }

    fn edit(
        &self,
        opened: &Opened,
        _edits: &[FileEdit],
        _output: Output<'_>,
        _options: &EditOptions,
    ) -> Result<u64> {
        let what = format!("{} grows by append alone", opened.format);
        Err(tet_file::Error::Edit { what }.into())
    }
}

/// A folder that is open, by its catalog.
pub(crate) fn opened_of(catalog: Catalog) -> Opened {
    Opened::new(Format::TETS, catalog)
}

/// Whether a format is that of folders of parts.
pub(crate) fn is_series(format: Format) -> bool {
    format == Format::TETS
}

/// On a server, where nothing can be locked: how long a new part may take until a manifest names it, and how old a file
/// is that is removed because none does. Both are durations, so that no two clocks are compared.
const NAMED_WITHIN: Duration = Duration::from_secs(12 * 3600);
const REMOVED_AFTER: Duration = Duration::from_secs(24 * 3600);

/// When a part was begun, by two clocks: one stands still while a machine sleeps, the other may be set.
#[derive(Clone, Copy)]
pub(crate) struct Begun(Instant, SystemTime);

impl Begun {
    pub(crate) fn now() -> Begun {
        Begun(Instant::now(), SystemTime::now())
    }

    /// Checks that the part may be named in a manifest on a server: it is too young to be removed.
    pub(crate) fn check(self, folder: &Path) -> Result<()> {
        let elapsed = self.0.elapsed().max(self.1.elapsed().unwrap_or_default());
        if !is_url(folder) || elapsed < NAMED_WITHIN {
            return Ok(());
        }
        let text = "its new part took longer than 12 hours";
        let late = io::Error::new(io::ErrorKind::TimedOut, text);
        Err(tet_io::Error::io(Operation::Write, folder, late).into())
    }
}

/// How names of parts begin and end, around 16 hexadecimal digits.
const PART_NAME: [&str; 2] = ["part-", ".tet"];

/// A name of a part.
fn part_named(number: u64) -> String {
    let [begin, end] = PART_NAME;
    format!("{begin}{number:016x}{end}")
}

/// A name that no other process gives to a part.
pub(crate) fn new_part_name() -> String {
    part_named(RandomState::new().build_hasher().finish())
}
