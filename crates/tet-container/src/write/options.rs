//! The options of an import, and its report.

use std::path::PathBuf;

use tet_file::metadata::AttrValue;
use tet_file::write::{DigestChoice, StatisticsChoice};
use tet_io::publish::{Overwrite, Sync};
use tet_query::{Catalog, Dataset};

use crate::Note;
use crate::write::label_range::LabelRange;
use crate::write::storage::ChunkRule;

/// Dimension names for one dataset, or for all that have as many axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimNames {
    /// The dataset; `None` for all.
    pub dataset: Option<String>,
    /// One name per axis.
    pub names: Vec<String>,
}

/// An attribute for one dataset, or for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The dataset; `None` for all.
    pub dataset: Option<String>,
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: AttrValue,
}

/// Labels for an axis of one dataset, or of all that have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisLabels {
    /// The dataset; `None` for all.
    pub dataset: Option<String>,
    /// The axis, by name or by number.
    pub axis: String,
    /// The labels.
    pub from: LabelSource,
}

/// How an array is written as text.
///
/// # Examples
///
/// ```
/// use tet_container::TextLayout;
///
/// assert_eq!(TextLayout::default(), TextLayout::Tidy);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextLayout {
    /// A table has a line of names and a line for each element, behind the labels of its axes; JSON is an object
    /// with names, labels and attributes.
    #[default]
    Tidy,
    /// A table has a line for each row of the last axis, whose labels are the names; JSON is as [`TextLayout::Tidy`].
    Wide,
    /// Elements alone: lines of the last axis, or lists.
    Bare,
}

/// Where labels come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelSource {
    /// These texts.
    Texts(Vec<String>),
    /// The elements of an array of the input that has one axis.
    Array(String),
    /// Numbers or dates at equal distances.
    Range(LabelRange),
}

/// When an import says it happened; libraries read no clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Seconds since 1970.
    pub at: u64,
}

/// How to import.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The chunk shapes; without a rule for a dataset as [`ChunkChoice::Kept`](crate::ChunkChoice::Kept).
    pub chunks: Vec<ChunkRule>,
    /// Whether chunks that are stored in `.tet` files are copied as they are, if that is so of all chunks of the new file.
    pub keep_stored: bool,
    /// Threads that encode; 0 is one per processor.
    pub threads: usize,
    /// For how many more chunks there is room in the index of a `.tet` file, so that it can grow and its payloads stay.
    pub reserved_rows: u64,
    /// Dimension names.
    pub dims: Vec<DimNames>,
    /// Attributes.
    pub attrs: Vec<Attribute>,
    /// Labels of axes.
    pub labels: Vec<AxisLabels>,
    /// Only these datasets; empty is all.
    pub include: Vec<String>,
    /// All but these datasets.
    pub exclude: Vec<String>,
    /// The name of the dataset a `.npy` becomes; `None` is the file's name without its suffix.
    pub name: Option<String>,
    /// The history row; `None` leaves it out.
    pub history: Option<Origin>,
    /// Whether digests are written.
    pub digests: DigestChoice,
    /// Whether statistics of chunks are written to a `.tet` file.
    pub statistics: StatisticsChoice,
    /// Whether an existing output is replaced.
    pub overwrite: Overwrite,
    /// How durable the output is when `import` returns.
    pub sync: Sync,
}

impl ImportOptions {
    /// These options, with the names of datasets instead of `#N` in those of axes and attributes.
    pub fn named(&self, catalog: &Catalog) -> Self {
        let mut options = self.clone();
        let name = |asked: &mut String| {
            if let Ok(found) = catalog.find(asked) {
                asked.clone_from(&found.name);
            }
        };
        options.dims.iter_mut().filter_map(|it| it.dataset.as_mut()).for_each(name);
        options.attrs.iter_mut().filter_map(|it| it.dataset.as_mut()).for_each(name);
        options.labels.iter_mut().filter_map(|it| it.dataset.as_mut()).for_each(name);
        for labels in &mut options.labels {
            if let LabelSource::Array(array) = &mut labels.from {
                name(array);
            }
        }
        options
    }
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            chunks: Vec::new(),
            keep_stored: false,
            threads: 0,
            reserved_rows: 0,
            dims: Vec::new(),
            attrs: Vec::new(),
            labels: Vec::new(),
            include: Vec::new(),
            exclude: Vec::new(),
            name: None,
            history: None,
            overwrite: Overwrite::Refuse,
            digests: DigestChoice::Written,
            statistics: StatisticsChoice::default(),
            sync: Sync::Full,
        }
    }
}

/// The report of an import: its output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// The datasets, in the output's order.
    pub datasets: Vec<Imported>,
    /// Differences between the output and the input.
    pub notes: Vec<Note>,
    /// Bytes of the input file, or of all its files.
    pub input_len: u64,
    /// Bytes of all elements, decoded.
    pub decoded_len: u64,
    /// Bytes of the output file, or of all files that it became.
    pub output_len: u64,
    /// Shards, if the output that was written is an index; 0 where the output is one file.
    pub shard_count: usize,
    /// The file of the index, if the output that was written is one.
    pub index: Option<PathBuf>,
}

/// One dataset of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Its name.
    pub name: String,
    /// The name of its dtype.
    pub dtype: String,
    /// Its shape.
    pub shape: Vec<u64>,
    /// Its chunk shape.
    pub chunk_shape: Vec<u64>,
}

impl From<&Dataset> for Imported {
    fn from(dataset: &Dataset) -> Self {
        Imported {
            name: dataset.name.clone(),
            dtype: dataset.dtype_name.clone(),
            shape: dataset.shape().to_vec(),
            chunk_shape: dataset.grid.chunk_shape().to_vec(),
        }
    }
}
