//! Changes of an edit, and the number of copied bytes.

use std::collections::BTreeSet;

use crate::container::{Editor, Rewritten};
use crate::{Note, Result};
use tet_container::model::attributes::is_metadata;
use tet_container::read::opened::Opened;

/// Outcome of a dataset that was rewritten.
///
/// # Examples
///
/// ```
/// use tet_convert::DatasetChange;
///
/// let change = DatasetChange::Grown { dataset: "temp".to_owned(), axis: 0, from: 365, to: 396 };
/// assert_eq!(change.to_string(), "temp grows along axis 0 from 365 to 396");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatasetChange {
    /// It has more positions along an axis.
    Grown {
        /// Its name.
        dataset: String,
        /// The axis.
        axis: usize,
        /// The extent before.
        from: u64,
        /// The extent now.
        to: u64,
    },
    /// It is stored in another way.
    Repacked {
        /// Its name.
        dataset: String,
    },
}

impl DatasetChange {
    /// The name of the dataset.
    #[must_use]
    pub fn dataset(&self) -> &str {
        match self {
            DatasetChange::Grown { dataset, .. } | DatasetChange::Repacked { dataset } => dataset,
        }
    }
}

impl std::fmt::Display for DatasetChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DatasetChange::Grown { dataset, axis, from, to } => {
                write!(f, "{dataset} grows along axis {axis} from {from} to {to}")
            }
            DatasetChange::Repacked { dataset } => write!(f, "{dataset} is stored anew"),
        }
    }
}

/// Changes of an edit.
///
/// # Examples
///
/// ```
/// use tet_convert::EditReport;
///
/// assert_eq!(EditReport::default().file_len, None);
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct EditReport {
    /// The datasets that were written anew, in the order of the file.
    pub changes: Vec<DatasetChange>,
    /// The names of the others, which were copied as they are stored.
    pub kept: Vec<String>,
    /// The stored bytes of these.
    pub kept_len: u64,
    /// The length of the new file; `None` where nothing was written: the edit was planned only, or changes nothing.
    pub file_len: Option<u64>,
    /// Elements that are stored differently.
    pub notes: Vec<Note>,
}

impl EditReport {
    /// The report of changes of datasets, by their positions, of a file that is not yet written.
    ///
    /// # Errors
    /// The places of chunks cannot be read.
    pub(crate) fn new(
        opened: &Opened,
        editor: &dyn Editor,
        changes: Vec<(usize, DatasetChange)>,
    ) -> Result<EditReport> {
        let changed = changes.iter().map(|(at, _)| *at).collect();
        let report = EditReport::but_for(opened, editor, &changed)?;
        Ok(EditReport {
            changes: changes.into_iter().map(|(_, change)| change).collect(),
            ..report
        })
    }

    /// The report of a file of which all datasets are copied but for these.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn but_for(
        opened: &Opened,
        editor: &dyn Editor,
        changed: &BTreeSet<usize>,
    ) -> Result<EditReport> {
        let lens = editor.stored_lens(opened)?;
        let mut report = EditReport::default();
        for (dataset, len) in opened.catalog.datasets().iter().zip(lens) {
            if !changed.contains(&dataset.index) && !is_metadata(dataset) {
                report.kept.push(dataset.name.clone());
                report.kept_len = report.kept_len.saturating_add(len);
            }
        }
        Ok(report)
    }

    /// Adds what is known when the file is written.
    pub(crate) fn finish(&mut self, written: Option<Rewritten>) {
        if let Some(Rewritten { file_len, notes }) = written {
            self.file_len = Some(file_len);
            self.notes.extend(notes);
        }
    }

    /// Bytes of the new file that are not stored bytes of datasets that were copied.
    #[must_use]
    pub fn written_len(&self) -> Option<u64> {
        self.file_len.map(|len| len.saturating_sub(self.kept_len))
    }
}
