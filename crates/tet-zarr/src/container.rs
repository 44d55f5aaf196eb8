//! Zarr 2 and 3: a folder, a zip file, or a document of references to parts of other files, read in place;
//! folders and zip files are written.
//!
//! `tet-zarr` reads and makes the metadata and finds chunks; here are the types of elements and the codecs.

mod catalog;
mod check;
mod checked;
mod chunks;
mod edit;
mod elements;
mod shards;
mod texts;
mod write;
mod zipped;

pub use self::write::options::{ENCODING, ZARR_2, ZARR_3, format};
pub use self::write::{Cut, Elements, capabilities, draft};

use std::path::Path;

use crate::{Hierarchy, Store, ZipStore};
use tet_format::ForeignRule;
use tet_io::Source;
use tet_verify::{Report, VerifyOptions};

use tet_container::Editor;
use tet_container::Repairer;
use tet_container::read::opened::{OpenOptions, Opened};
use tet_container::{Bound, Container, Head, Input, Writer};
use tet_container::{Error, Format, Result};

/// The documents that the root of a hierarchy has, in the order in which they are looked for.
const DOCUMENTS: [&str; 4] = ["zarr.json", ".zmetadata", ".zgroup", ".zarray"];

/// The longest beginning of a document of references that is looked at.
const HEAD_LEN: u64 = 1 << 16;

/// The container of Zarr hierarchies.
#[derive(Debug)]
pub struct Zarr;

impl Container for Zarr {
    fn format(&self) -> Format {
        Format::ZARR
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["zarr", "zarr.zip"]
    }

    fn usual_suffixes(&self) -> &'static [&'static str] {
        self.suffixes()
    }

    /// Zip files; those without the documents of a hierarchy are other archives.
    fn magics(&self) -> &'static [&'static [u8]] {
        &[b"PK\x03\x04", b"PK\x05\x06"]
    }

    fn folder_documents(&self) -> &'static [&'static str] {
        &DOCUMENTS
    }

    fn matches(&self, head: &Head<'_>) -> Result<bool> {
        if head.bytes.starts_with(b"PK") {
            let Ok(zip) = ZipStore::open(head.source.clone()) else { return Ok(false) };
            return Ok(DOCUMENTS.iter().any(|name| zip.has(name)));
        }
        if is_document(head.source) {
            return Ok(true);
        }
        if !head.bytes.trim_ascii_start().starts_with(b"{") {
            return Ok(false);
        }
        let bytes = head.source.read_vec(0, head.source.len().min(HEAD_LEN))?;
        let has = |word: &[u8]| bytes.windows(word.len()).any(|part| part == word);
        Ok([&b".zgroup\""[..], b".zarray\"", b"zarr.json\""].into_iter().any(has))
    }

    fn open(&self, input: Input<'_>, _options: &OpenOptions) -> Result<Opened> {
        catalog::open(input.path, input.source)
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        check::verify(source, options)
    }

    fn is_opened_to_verify(&self) -> bool {
        true
    }

    fn codecs(&self) -> Vec<&'static str> {
        tet_codec::NUMCODECS.to_vec()
    }

    fn bounds(&self) -> &'static [Bound] {
        const {
            &[
                Bound::count("axes of an array", crate::array::AXES_MAX as u64),
                Bound::count("groups and arrays", crate::hierarchy::NODES_MAX as u64),
                Bound::count(
                    "groups within each other",
                    crate::hierarchy::discovery::DEPTH_MAX as u64,
                ),
                Bound::bytes("a document of metadata or references", crate::json::DOCUMENT_LEN_MAX),
            ]
        }
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        crate::rule::ALL
    }

    fn form_rules(&self) -> &'static [&'static str] {
        const FORM: &[&str] = &[crate::rule::NO_FILL.id];
        FORM
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }

    fn editor(&self) -> Option<&dyn Editor> {
        Some(self)
    }

    fn repairer(&self) -> Option<&dyn Repairer> {
        Some(self)
    }
}

/// Whether a file is a document of a hierarchy in a folder.
fn is_document(source: &Source) -> bool {
    let name = source.path().and_then(Path::file_name).and_then(|name| name.to_str());
    name.is_some_and(|name| DOCUMENTS.contains(&name))
}

/// The hierarchy that a source belongs to: its folder, the members of a zip file, or references.
fn hierarchy(source: &Source) -> crate::Result<Hierarchy> {
    let store = if is_document(source) {
        Store::Folder(source.folder()?)
    } else if source.read_vec(0, source.len().min(2))? == b"PK" {
        Store::zip(source.clone())?
    } else {
        Store::references(source, source.folder()?)?
    };
    Hierarchy::open(store)
}

/// An error of the reader.
fn of_file(path: &Path, error: crate::Error) -> Error {
    match error {
        crate::Error::Io(error) => error.into(),
        crate::Error::Fault { fault, .. } => {
            Error::Foreign { path: path.to_path_buf(), format: Format::ZARR, fault }
        }
    }
}
