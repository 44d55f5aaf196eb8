//! The editor of a container: edits of a file that leave its payloads as they are stored.

use tet_io::{Output, Progress, Publish};
use tet_query::{AttrText, Catalog, Execution};

use crate::Result;
use crate::edit_kind::EditKind;
use crate::read::opened::Opened;
use crate::read::stored::stored_len;
use crate::rewrite::{Rewrite, Rewritten};
use crate::write::options::Origin;
use crate::write::write_option::WriteOption;

/// A change of a file. Datasets are named by their positions in the catalog of the old file.
///
/// # Examples
///
/// ```
/// use tet_container::{FileEdit, EditKind};
///
/// let edit = FileEdit::Rename { dataset: 0, to: "temperature".to_owned() };
/// assert_eq!(edit.kind(), EditKind::Rename);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileEdit {
    /// Another name for a dataset.
    Rename {
        /// The dataset.
        dataset: usize,
        /// Its new name.
        to: String,
    },
    /// Removes a dataset.
    Drop {
        /// The dataset.
        dataset: usize,
    },
    /// Sets an attribute, or removes it.
    Attr {
        /// The dataset; `None` for the file.
        dataset: Option<usize>,
        /// The key.
        key: String,
        /// The new value; `None` removes the attribute.
        value: Option<AttrText>,
    },
    /// Names the axes of a dataset.
    Dims {
        /// The dataset.
        dataset: usize,
        /// One name for each axis; none removes the old names.
        names: Vec<String>,
    },
    /// Labels an axis of a dataset, or removes its labels.
    Labels {
        /// The dataset.
        dataset: usize,
        /// The axis.
        axis: usize,
        /// One label for each position; `None` removes the labels.
        labels: Option<Vec<String>>,
    },
    /// Leaves out unused space.
    Compact,
}

impl FileEdit {
    /// The kind of the edit.
    #[must_use]
    pub const fn kind(&self) -> EditKind {
        match self {
            FileEdit::Rename { .. } => EditKind::Rename,
            FileEdit::Drop { .. } => EditKind::Drop,
            FileEdit::Attr { dataset: Some(_), .. } => EditKind::Attr,
            FileEdit::Attr { dataset: None, .. } => EditKind::FileAttr,
            FileEdit::Dims { .. } => EditKind::Dims,
            FileEdit::Labels { .. } => EditKind::Labels,
            FileEdit::Compact => EditKind::Compact,
        }
    }

    /// The edit in a line: `rename temp to temperature`.
    #[must_use]
    pub fn describe(&self, catalog: &Catalog) -> String {
        let name = |at: &usize| catalog.datasets().get(*at).map_or("", |it| it.name.as_str());
        match self {
            FileEdit::Rename { dataset, to } => format!("rename {} to {to}", name(dataset)),
            FileEdit::Drop { dataset } => format!("drop {}", name(dataset)),
            FileEdit::Attr { dataset, key, value } => {
                let of = dataset.as_ref().map(|at| format!(" of {}", name(at))).unwrap_or_default();
                match value {
                    Some(value) => format!("set {key}{of} to {}", value.text()),
                    None => format!("unset {key}{of}"),
                }
            }
            FileEdit::Dims { dataset, names } if names.is_empty() => {
                format!("remove the names of the axes of {}", name(dataset))
            }
            FileEdit::Dims { dataset, names } => {
                format!("name the axes of {} {}", name(dataset), names.join(", "))
            }
            FileEdit::Labels { dataset, axis, labels } => {
                let what = if labels.is_some() { "label" } else { "remove the labels of" };
                format!("{what} axis {axis} of {}", name(dataset))
            }
            FileEdit::Compact => "leave out unused space".to_owned(),
        }
    }
}

/// Whether an edit writes a file.
///
/// # Examples
///
/// ```
/// assert_eq!(tet_container::EditMode::default(), tet_container::EditMode::Write);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EditMode {
    /// It does.
    #[default]
    Write,
    /// All is checked that is known before the file is written, and nothing is written.
    Plan,
}

/// How an edited file is written.
///
/// # Examples
///
/// ```
/// use tet_container::EditOptions;
///
/// assert_eq!(EditOptions::default().history, None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct EditOptions {
    /// Whether an existing output is replaced, and whether the file is synced.
    pub publish: Publish,
    /// Counts bytes, and cancels.
    pub progress: Progress,
    /// When the edit happens, for the history of files that have one; `None` leaves it out.
    pub history: Option<Origin>,
    /// For how many more chunks an append or a repack leaves room in the index of a
    /// `.tet` file; other files have none, and refuse any.
    pub reserved_rows: u64,
    /// Whether the file is written, by an append or a repack.
    pub mode: EditMode,
}

/// How datasets are written anew.
///
/// # Examples
///
/// ```
/// use tet_container::{EditMode, EditOptions, RewriteOptions};
/// use tet_query::Execution;
///
/// let (edit, execution) = (&EditOptions::default(), &Execution::default());
/// assert_eq!(RewriteOptions { edit, execution }.edit.mode, EditMode::Write);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RewriteOptions<'a> {
    /// How the file is written.
    pub edit: &'a EditOptions,
    /// How elements are read, and with how much memory and how many threads.
    pub execution: &'a Execution,
}

/// Edits files of one container: what stays is copied as it is stored.
pub trait Editor: Sync {
    /// The kinds of edits that it supports.
    fn can(&self) -> &'static [EditKind];

    /// Whether a key with dots leads into an attribute that is an object: `a.b` is the member `b` of `a`.
    fn has_nested_keys(&self) -> bool {
        false
    }

    /// Whether the bytes of datasets that are removed stay in the file, where nothing leads to them.
    fn leaves_dropped(&self) -> bool {
        false
    }

    /// Writes the edited file, complete or not at all, and returns its length. All edits are of a kind that
    /// it can make, and their datasets are there.
    ///
    /// # Errors
    /// The file is damaged, a name or a value cannot be stored in such a file, or the new file cannot be
    /// written.
    fn edit(
        &self,
        opened: &Opened,
        edits: &[FileEdit],
        output: Output<'_>,
        options: &EditOptions,
    ) -> Result<u64>;

    /// Bytes of each dataset of the catalog as it is stored.
    ///
    /// # Errors
    /// The file cannot be read.
    fn stored_lens(&self, opened: &Opened) -> Result<Vec<u64>> {
        Ok(opened.catalog.datasets().iter().map(stored_len).collect())
    }

    /// The options of storage that a repack of such files has a use for.
    fn repack_options(&self) -> &'static [WriteOption] {
        &[]
    }

    /// Those of the datasets that are not stored so already.
    ///
    /// # Errors
    /// Such a file does not store datasets so, or cannot be read.
    fn changed<'a>(&self, opened: &Opened, rewrites: Vec<Rewrite<'a>>) -> Result<Vec<Rewrite<'a>>> {
        let _ = opened;
        Ok(rewrites)
    }

    /// Writes the file with some of its datasets written anew, complete or not at all; `None` with
    /// [`EditMode::Plan`]. The other datasets are copied as they are stored. No dataset is given twice.
    ///
    /// # Errors
    /// As [`Editor::edit`]; a dataset cannot be stored so, or read.
    fn rewrite(
        &self,
        opened: &Opened,
        rewrites: &[Rewrite<'_>],
        output: Output<'_>,
        options: RewriteOptions<'_>,
    ) -> Result<Option<Rewritten>> {
        let _ = (opened, rewrites, output, options);
        let what = "its datasets are not written anew".to_owned();
        Err(tet_file::Error::Edit { what }.into())
    }
}
