//! Datasets of a file that are written anew, while the others are copied as they are stored.

use tet_format::Integrity;
use tet_io::Writers;
use tet_query::Dataset;

use crate::read::opened::Opened;
use crate::write::storage::Storage;
use crate::{Note, Result};

/// A dataset that is written anew, under the same name.
///
/// # Examples
///
/// ```
/// use tet_container::{Rewrite, Storage};
///
/// let same = Rewrite { dataset: 0, view: None, storage: Storage::default() };
/// assert!(same.view.is_none());
/// ```
#[derive(Clone, Debug)]
pub struct Rewrite<'a> {
    /// Its position in the catalog of the old file.
    pub dataset: usize,
    /// Its new elements and labels, of the type of the old ones; `None` where they stay.
    pub view: Option<&'a Dataset>,
    /// The changes of its storage; options that are `None` stay as they are.
    pub storage: Storage,
}

/// A file with datasets that were written anew.
///
/// # Examples
///
/// ```
/// assert!(tet_container::Rewritten::new(120).notes.is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Rewritten {
    /// Its length in bytes.
    pub file_len: u64,
    /// Notes on elements that are stored differently.
    pub notes: Vec<Note>,
}

impl Rewritten {
    /// A file of this length whose elements are those that were asked for.
    #[must_use]
    pub fn new(file_len: u64) -> Rewritten {
        Rewritten { file_len, notes: Vec::new() }
    }
}

/// Checks that neither the file nor what is written anew changed since it was opened.
///
/// # Errors
/// One of them changed, or cannot be looked at.
pub fn check_unchanged(opened: &Opened, rewrites: &[Rewrite<'_>]) -> Result<()> {
    opened.catalog.check_unchanged()?;
    let mut views = rewrites.iter().filter_map(|rewrite| rewrite.view);
    Ok(views.try_for_each(Dataset::check_unchanged)?)
}

impl Rewritten {
    /// Adds the note that some of the elements were not compared with the checksum that the file has of them, or by another
    /// read than the one that they were written from while somebody may have written to the file.
    pub fn with_unchecked(mut self, opened: &Opened, rewrites: &[Rewrite<'_>]) -> Rewritten {
        let is_unchecked = |rewrite: &Rewrite<'_>| {
            let own = || opened.catalog.datasets().get(rewrite.dataset);
            rewrite.view.or_else(own).is_some_and(|dataset| match dataset.chunks.integrity() {
                Integrity::Unchecked => true,
                Integrity::Verified => dataset.writers() != Writers::Absent,
                _ => false,
            })
        };
        if rewrites.iter().any(is_unchecked) && !self.notes.contains(&Note::Unchecked) {
            self.notes.push(Note::Unchecked);
        }
        self
    }
}
