//! Opens a file: superblock, directory, index, footer, in this order (format section 6).

use tet_format::directory::Directory;
use tet_format::footer::{TAIL_LEN, WireTail};
use tet_format::superblock::WireSuperblock;
use tet_format::{Digest, Limits, Note, NoteCode, Superblock};
use tet_io::Source;

use crate::dataset::{self, DatasetEntry};
use crate::error::{Error, Result};
use crate::footer::{self, Footer};
use crate::integrity::{Digests, KeyState, Protection, SelfDigest, stale_block};
use crate::metadata::{self, HistoryRow, Metadata};
use crate::rows::Index;
use crate::statistics::{Statistics, StatisticsKey};
use crate::warning::Warning;

/// How to handle the footer that a file declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FooterMode {
    /// An unreadable footer is an error.
    #[default]
    Required,
    /// An unreadable footer is stored as a fault, and the file opens without it.
    Lenient,
    /// The footer is not read.
    Ignore,
}

/// How to open a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    /// The limits of the reader.
    pub limits: Limits,
    /// How to handle the footer.
    pub footer: FooterMode,
}

/// An opened `.tet` file, with its structure and metadata in memory.
#[derive(Clone, Debug)]
pub struct TetFile {
    source: Source,
    superblock: Superblock,
    datasets: Vec<DatasetEntry>,
    index: Index,
    footer: Footer,
    footer_fault: Option<tet_format::Error>,
    payload_end: u64,
    protection: Protection,
    statistics: Option<Statistics>,
    warnings: Vec<Warning>,
}

impl TetFile {
    /// Opens a file.
    ///
    /// Directory, index header and footer are copied into memory and never read again, so that
    /// later changes of the file do not matter. A dataset that cannot be read stores its fault and
    /// does not affect the others.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Format`] for the first rule broken by superblock, directory, index header
    /// or (when it is required) footer, and [`Error::Io`] when bytes cannot be read.
    pub fn open(source: Source, options: &OpenOptions) -> Result<Self> {
        let mut warnings = Vec::new();
        let mut head = Vec::new();
        let superblock = read_superblock(&source, &mut head)?;
        if let Some(wire) = head.first_chunk().map(WireSuperblock::decode) {
            note(&mut warnings, |notes| tet_format::superblock::notes(&wire, notes));
        }
        let mut datasets = read_directory(&source, &superblock, &options.limits, &mut head)?;
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
            protection: Protection::None,
            statistics: None,
            warnings,
        };
        file.open_footer(options)?;
        file.open_digests(&head, options)?;
        file.open_statistics();
        Ok(file)
    }

    /// Finds the statistics that the digests name; others are noted as a warning.
    fn open_statistics(&mut self) {
        match (self.footer.statistics, self.protection.digests()) {
            (StatisticsKey::Bound(spill), Some(digests)) => {
                let rows = self.index.row_count();
                self.statistics = Statistics::new(&self.source, spill, digests.key(), rows);
            }
            (StatisticsKey::Stale, _) => {
                let at = self.footer.json_at;
                let note = Note { code: NoteCode::StatisticsStale, at, found: 0 };
                self.warnings.push(Warning::Note(note));
            }
            _ => {}
        }
    }

    /// Compares the structure with its digests in the footer.
    fn open_digests(&mut self, head: &[u8], options: &OpenOptions) -> Result<()> {
        let is_ignored = options.footer == FooterMode::Ignore;
        self.protection = match &self.footer.integrity {
            KeyState::Unknown => {
                let at = self.footer.json_at;
                let note = Note { code: NoteCode::DigestsUnknown, at, found: 0 };
                self.warnings.push(Warning::Note(note));
                Protection::Unknown
            }
            KeyState::Absent if is_ignored || self.footer_fault.is_some() => Protection::Unknown,
            KeyState::Absent => match self.stale_block()? {
                Some(note) => {
                    self.warnings.push(Warning::Note(note));
                    Protection::Stale
                }
                None => Protection::None,
            },
            KeyState::Key(key) => {
                let head = [head, &self.index.header().encode()].concat();
                let rows = self.index.row_count();
                let digests = Digests::open(
                    &self.source,
                    &self.superblock,
                    key,
                    self.footer.json_at,
                    rows,
                    &head,
                );
                let checked = digests.and_then(|digests| {
                    self.index.protect(&digests)?;
                    Ok(digests)
                });
                match checked {
                    Ok(digests) => Protection::Digests(digests),
                    Err(Error::Format(fault)) if options.footer == FooterMode::Lenient => {
                        self.warnings.push(Warning::Fault(fault));
                        Protection::Broken(fault)
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        Ok(())
    }

    /// A block of digests before the spills that no footer refers to.
    fn stale_block(&self) -> Result<Option<Note>> {
        let (source, index_end) = (&self.source, self.index_end());
        let spills = self.footer.json.spills.present(self.footer.version);
        let first = spills.map(|(_, spill)| spill.offset).filter(|&at| index_end <= at).min();
        let end = first.map_or(self.payload_end, |first| first.min(self.payload_end));
        stale_block(source, self.index.row_count(), index_end, end)
    }

    fn open_footer(&mut self, options: &OpenOptions) -> Result<()> {
        let file_len = self.file_len();
        if !self.superblock.has_footer() {
            return self.note_undeclared_tail(options);
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
                // If the tail is valid, payloads still end at the JSON.
                if let Ok(tail) = footer::read_tail(&self.source, &self.superblock) {
                    self.payload_end = tail.json_span(file_len).start();
                }
                self.footer_fault = Some(fault);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn note_undeclared_tail(&mut self, options: &OpenOptions) -> Result<()> {
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
        match footer::cleared_flag(&self.source, &tail, index_end, file_len, &options.limits)? {
            Some(_) if options.footer == FooterMode::Ignore => {}
            Some(fault) if options.footer == FooterMode::Lenient => self.footer_fault = Some(fault),
            Some(fault) => return Err(fault.into()),
            None => {}
        }
        Ok(())
    }

    /// Metadata that does not match its dataset is not used, and noted as a warning.
    fn note_metadata(&mut self, footer: &Footer) {
        let mut faults: Vec<tet_format::Error> = Vec::new();
        // A list accepts every fault, so these checks never stop early.
        let _ = footer.check_metadata_twice(&mut faults);
        let _ = metadata::check(footer.metadata(), &self.datasets, footer.metadata_at, &mut faults);
        self.warnings.extend(faults.into_iter().map(Warning::Fault));
    }

    /// The source of the bytes.
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

    /// The metadata of file and datasets; empty without a readable footer.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        self.footer.metadata()
    }

    /// The history of the file; empty without a readable footer.
    #[must_use]
    pub fn history(&self) -> &[HistoryRow] {
        &self.footer.json.history
    }

    /// The footer; empty if it is not readable.
    #[must_use]
    pub fn footer(&self) -> &Footer {
        &self.footer
    }

    /// Why the footer could not be read, if errors were allowed.
    #[must_use]
    pub fn footer_fault(&self) -> Option<&tet_format::Error> {
        self.footer_fault.as_ref()
    }

    /// The largest end of a payload.
    #[must_use]
    pub fn payload_end(&self) -> u64 {
        self.payload_end
    }

    /// The end of the index, and the smallest offset of a payload.
    #[must_use]
    pub fn index_end(&self) -> u64 {
        self.superblock.index_end()
    }

    /// The integrity protection of the file.
    #[must_use]
    pub fn protection(&self) -> &Protection {
        &self.protection
    }

    /// The digest `self`, which all digests of the file follow from; `None` if the file has none that hold.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when it cannot be read.
    pub fn own_digest(&self) -> Result<Option<Digest>> {
        let len = SelfDigest::END_LEN as u64;
        let at = self.file_len().checked_sub(TAIL_LEN.saturating_add(len));
        let Some(at) = at.filter(|_| self.protection.digests().is_some()) else { return Ok(None) };
        let end = self.source.read_vec(at, len)?;
        let digits = end.get(..2 * Digest::LEN).and_then(|digits| str::from_utf8(digits).ok());
        Ok(digits.and_then(Digest::from_hex))
    }

    /// The statistics of the chunks, if they are of the payloads that the file has.
    #[must_use]
    pub fn statistics(&self) -> Option<&Statistics> {
        self.statistics.as_ref()
    }

    /// Unusual things about the file.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

/// Reads the superblock; its bytes are appended to `head`.
fn read_superblock(source: &Source, head: &mut Vec<u8>) -> Result<Superblock> {
    let len = source.len().min(WireSuperblock::LEN as u64);
    head.resize(usize::try_from(len).unwrap_or(0), 0);
    source.read_exact_at(0, head)?;
    Ok(Superblock::read(head, source.len())?)
}

/// Reads the directory; its bytes are appended to `head`.
fn read_directory(
    source: &Source,
    superblock: &Superblock,
    limits: &Limits,
    head: &mut Vec<u8>,
) -> Result<Vec<DatasetEntry>> {
    if superblock.dataset_count == 0 {
        return Ok(Vec::new());
    }
    let span = superblock.directory_span();
    // The superblock's rules bound the length by that of the file; the limit may be lower.
    limits.check_directory_len(span.len())?;
    let start = head.len();
    head.resize(start + usize::try_from(span.len()).unwrap_or(0), 0);
    let region = head.get_mut(start..).unwrap_or_default();
    source.read_exact_at(span.start(), region)?;
    let directory = Directory::read(region, span.start(), superblock.dataset_count, limits)?;
    Ok(dataset::entries(&directory))
}

fn note(warnings: &mut Vec<Warning>, collect: impl FnOnce(&mut Vec<Note>)) {
    let mut notes = Vec::new();
    collect(&mut notes);
    warnings.extend(notes.into_iter().map(Warning::Note));
}

#[cfg(test)]
mod tests;
