//! Opening a file: superblock, directory, index, footer, in this order (format section 6).

use tet_format::directory::Directory;
use tet_format::footer::{TAIL_LEN, WireTail};
use tet_format::superblock::WireSuperblock;
use tet_format::{Limits, Note, Superblock};
use tet_io::Source;

use crate::dataset::{self, DatasetEntry};
use crate::error::{Error, Result};
use crate::footer::{self, Footer};
use crate::metadata::{self, HistoryRow, Metadata};
use crate::rows::Index;
use crate::warning::Warning;

/// What to do about the footer that a file declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FooterMode {
    /// A footer that cannot be read is an error.
    #[default]
    Required,
    /// A footer that cannot be read is kept as a fault, and the file opens without it.
    Lenient,
    /// The footer is not looked at.
    Ignore,
}

/// How to open a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    /// How much of the file's claims to believe.
    pub limits: Limits,
    /// What to do about the footer.
    pub footer: FooterMode,
}

/// An opened `.tet` file: its structure and metadata in memory, its payloads where they are.
#[derive(Clone, Debug)]
pub struct TetFile {
    source: Source,
    superblock: Superblock,
    datasets: Vec<DatasetEntry>,
    index: Index,
    footer: Footer,
    footer_fault: Option<tet_format::Error>,
    payload_end: u64,
    warnings: Vec<Warning>,
}

impl TetFile {
    /// Opens a file.
    ///
    /// Directory, index header and footer are copied into memory and never read again, so that
    /// what was checked is what is used. A dataset that cannot be read keeps its fault and leaves
    /// the others alone.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Format`] for the first rule broken by superblock, directory, index header
    /// or (when it is required) footer, and [`Error::Io`] when bytes cannot be read.
    pub fn open(source: Source, options: &OpenOptions) -> Result<Self> {
        let mut warnings = Vec::new();
        let (superblock, wire) = read_superblock(&source)?;
        if let Some(wire) = wire {
            note(&mut warnings, |notes| tet_format::superblock::notes(&wire, notes));
        }
        let mut datasets = read_directory(&source, &superblock, &options.limits)?;
        let index = Index::read(&source, &superblock)?;
        dataset::place_rows(&mut datasets, &index)?;
        let mut file = Self {
            payload_end: source.len(),
            source,
            superblock,
            datasets,
            index,
            footer: Footer::default(),
            footer_fault: None,
            warnings,
        };
        file.open_footer(options)?;
        Ok(file)
    }

    fn open_footer(&mut self, options: &OpenOptions) -> Result<()> {
        let file_len = self.file_len();
        if !self.superblock.has_footer() {
            return self.note_undeclared_tail();
        }
        if options.footer == FooterMode::Ignore {
            return Ok(());
        }
        match footer::read(&self.source, &self.superblock, &options.limits) {
            Ok((tail, footer)) => {
                self.payload_end = tail.payload_end(file_len, &footer.json.spills);
                self.note_metadata(&footer);
                self.footer = footer;
                Ok(())
            }
            Err(Error::Format(fault)) if options.footer == FooterMode::Lenient => {
                // Where the tail holds, payloads still end where the JSON begins.
                if let Ok(tail) = footer::read_tail(&self.source, &self.superblock) {
                    self.payload_end = tail.json_span(file_len).start();
                }
                self.footer_fault = Some(fault);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn note_undeclared_tail(&mut self) -> Result<()> {
        let (file_len, index_end) = (self.file_len(), self.index_end());
        if file_len.saturating_sub(index_end) < TAIL_LEN {
            return Ok(());
        }
        let mut tail = [0; WireTail::LEN];
        self.source.read_exact_at(file_len - TAIL_LEN, &mut tail)?;
        let flags = self.superblock.flags;
        note(&mut self.warnings, |notes| {
            tet_format::footer::notes(&tail, flags, index_end, file_len, notes);
        });
        Ok(())
    }

    /// Metadata that does not fit its dataset stops nobody; it is not used, and said.
    fn note_metadata(&mut self, footer: &Footer) {
        let mut faults: Vec<tet_format::Error> = Vec::new();
        // A list takes every fault, so that these checks cannot stop.
        let _ = footer.check_metadata_twice(&mut faults);
        let _ = metadata::check(footer.metadata(), &self.datasets, footer.metadata_at, &mut faults);
        self.warnings.extend(faults.into_iter().map(Warning::Fault));
    }

    /// Where the bytes come from.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The superblock.
    #[must_use]
    pub fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// The `layout_version`, 1.
    #[must_use]
    pub fn version(&self) -> u32 {
        tet_format::superblock::LAYOUT_VERSION
    }

    /// The length of the file in bytes.
    #[must_use]
    pub fn file_len(&self) -> u64 {
        self.source.len()
    }

    /// The datasets, in the order of their ids.
    #[must_use]
    pub fn datasets(&self) -> &[DatasetEntry] {
        &self.datasets
    }

    /// The index.
    #[must_use]
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// What the footer says about file and datasets; empty without a readable footer.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        self.footer.metadata()
    }

    /// Where the file comes from; empty without a readable footer.
    #[must_use]
    pub fn history(&self) -> &[HistoryRow] {
        &self.footer.json.history
    }

    /// The footer as it was read; empty without a readable one.
    #[must_use]
    pub fn footer(&self) -> &Footer {
        &self.footer
    }

    /// Why the footer was not read, when it was allowed to fail.
    #[must_use]
    pub fn footer_fault(&self) -> Option<&tet_format::Error> {
        self.footer_fault.as_ref()
    }

    /// One past the last byte a payload may take.
    #[must_use]
    pub fn payload_end(&self) -> u64 {
        self.payload_end
    }

    /// One past the last byte of the index, and the first a payload may take.
    #[must_use]
    pub fn index_end(&self) -> u64 {
        self.superblock.index_end()
    }

    /// What is odd about the file.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

/// Reads the superblock; the wire form too, for what is odd about it.
fn read_superblock(source: &Source) -> Result<(Superblock, Option<WireSuperblock>)> {
    let mut bytes = [0; WireSuperblock::LEN];
    let len = source.len().min(bytes.len() as u64);
    let bytes = bytes.get_mut(..usize::try_from(len).unwrap_or(0)).unwrap_or_default();
    source.read_exact_at(0, bytes)?;
    let superblock = Superblock::read(bytes, source.len())?;
    Ok((superblock, bytes.first_chunk().map(WireSuperblock::decode)))
}

fn read_directory(
    source: &Source,
    superblock: &Superblock,
    limits: &Limits,
) -> Result<Vec<DatasetEntry>> {
    if superblock.dataset_count == 0 {
        return Ok(Vec::new());
    }
    let span = superblock.directory_span();
    // The superblock's rules have bounded the length by that of the file, this by the limit.
    limits.check_directory_len(span.len())?;
    let mut region = vec![0; usize::try_from(span.len()).unwrap_or(0)];
    source.read_exact_at(span.start(), &mut region)?;
    let directory = Directory::read(&region, span.start(), superblock.dataset_count, limits)?;
    Ok(dataset::entries(&directory))
}

fn note(warnings: &mut Vec<Warning>, collect: impl FnOnce(&mut Vec<Note>)) {
    let mut notes = Vec::new();
    collect(&mut notes);
    warnings.extend(notes.into_iter().map(Warning::Note));
}

#[cfg(test)]
mod tests;
