//! Documents: objects that are read as a whole, and whether they are still what was read.

use std::hash::{DefaultHasher, Hash, Hasher};

use tet_format::Span;
use tet_io::{Folder, FolderFile, Stamp};

use super::{Store, zip};
use crate::error::{Result, broken, fault_in};
use crate::json::DOCUMENT_LEN_MAX;
use crate::rule;

/// A document as it was read.
pub(crate) struct StoredDocument {
    pub(crate) bytes: Vec<u8>,
    pub(crate) state: DocumentState,
}

/// The state of a document when it was read.
#[derive(Clone, Debug)]
pub(crate) struct DocumentState {
    key: String,
    stamp: Option<Stamp>,
    version: Option<String>,
    hash: u64,
}

impl DocumentState {
    fn new(key: &str, bytes: &[u8], stamp: Option<Stamp>, version: Option<String>) -> Self {
        DocumentState { key: key.to_owned(), stamp, version, hash: hash_of(bytes) }
    }
}

fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

impl Store {
    /// The document of a key, if there is one.
    ///
    /// # Errors
    ///
    /// Returns a fault when it is too long, errors of [`Store::locate`], and errors of reading.
    pub(crate) fn read(&self, key: &str) -> Result<Option<StoredDocument>> {
        let too_long =
            |len| Err(fault_in(key, broken(&rule::LIMIT_DOCUMENT, len, DOCUMENT_LEN_MAX)));
        if let Store::Folder(folder) = self {
            let Some(file) = folder.read(key, DOCUMENT_LEN_MAX)? else { return Ok(None) };
            let FolderFile { bytes, len, stamp, version } = file;
            if DOCUMENT_LEN_MAX < len {
                return too_long(len);
            }
            let state = DocumentState::new(key, &bytes, stamp, version);
            return Ok(Some(StoredDocument { bytes, state }));
        }
        let Some(place) = self.locate(key)? else { return Ok(None) };
        let Some(source) = self.open(&place.name)? else { return Ok(None) };
        let span = place.part.or(Span::new(0, source.len())).unwrap_or(Span::EMPTY);
        let len = place.inflated_len.unwrap_or(span.len()).max(span.len());
        if DOCUMENT_LEN_MAX < len {
            return too_long(len);
        }
        let stored = source.read_vec(span.start(), span.len())?;
        let bytes = match place.inflated_len {
            None => stored,
            Some(len) => zip::inflate(&stored, len).map_err(|fault| fault_in(key, fault))?,
        };
        if let Some(fault) = place.crc32.and_then(|wanted| zip::crc_fault(wanted, &bytes)) {
            return Err(fault_in(key, fault));
        }
        let state = DocumentState::new(key, &bytes, source.stamp(), None);
        Ok(Some(StoredDocument { bytes, state }))
    }

    /// Checks that the store is still the one that was opened: an object that is not there is absent from this alone.
    ///
    /// # Errors
    ///
    /// Returns an error when it changed, and errors of the environment.
    pub(crate) fn check_in_place(&self) -> Result<()> {
        match self {
            Store::Folder(folder) => Ok(folder.check_unchanged()?),
            Store::Zip(zip) => Ok(zip.source().check_unchanged()?),
            Store::References(references) => Ok(references.document().check_in_place()?),
        }
    }

    /// Checks that documents are those that were read; those of a store of one file are in it.
    ///
    /// # Errors
    ///
    /// Returns `ZR-P5` for a document that changed, and errors of the environment.
    pub(crate) fn check_documents(&self, documents: &[DocumentState]) -> Result<()> {
        let Store::Folder(folder) = self else { return Ok(()) };
        documents.iter().try_for_each(|state| check(folder, state))
    }
}

/// Checks a document in a folder: one with another time may have the same bytes.
fn check(folder: &Folder, state: &DocumentState) -> Result<()> {
    let changed = || Err(fault_in(&state.key, broken(&rule::CHANGED, 0, 0)));
    if folder.is_url() {
        let Some(now) = folder.get(&state.key)? else { return changed() };
        if state.version.is_some() || now.version().is_some() {
            return if state.version.as_deref() == now.version() { Ok(()) } else { changed() };
        }
    } else if let (Some(then), Some(now)) = (state.stamp, folder.stamp_of(&state.key)?)
        && then.is_unchanged(&now)
    {
        return Ok(());
    }
    match folder.read(&state.key, DOCUMENT_LEN_MAX)? {
        Some(file) if hash_of(&file.bytes) == state.hash => Ok(()),
        _ => changed(),
    }
}
