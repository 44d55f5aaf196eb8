//! A conversion: its datasets and its options.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tet_file::metadata::HistoryRow;
use tet_format::DType;
use tet_query::{Catalog, Dataset, Execution};

use crate::model::cf::Decoding;
use crate::model::logical::{self, Physical};
use crate::read::opened::OpenOptions;
use crate::write::file::ExportOptions;
use crate::write::joined::Joined;
use crate::write::options::{ImportOptions, TextLayout};
use crate::write::storage::{CodecRule, DTypeRule, Storage};
use crate::{Note, Result};

/// How to convert.
#[derive(Clone, Debug, Default)]
pub struct ConvertOptions {
    /// Which datasets, and how a `.tet` file is written.
    pub tet: ImportOptions,
    /// How elements are stored.
    pub storage: Storage,
    /// The selection of each dataset along the axes that it has, such as `time=2001-06, lat=40:60`; `None` is all.
    pub select: Option<String>,
    /// Whether packed and masked values are decoded: by default they are, unless those who read the output do so.
    pub decoding: Decoding,
    /// Whether a selection without elements is written; it is an error otherwise.
    pub allow_empty: bool,
    /// The types that numbers become: each number stays what it is, but for floats, which become the nearest of a
    /// shorter type; an element whose number the type does not have is an error.
    pub dtypes: Vec<DTypeRule>,
    /// The name of the new first axis along which datasets that share a name become one: those of a Tensogram file, or of
    /// several files.
    pub stack: Option<String>,
    /// How the input is opened.
    pub open: OpenOptions,
    /// How elements are read.
    pub execution: Execution,
    /// How sparse tensors are written.
    pub sparse: SparseOutput,
    /// How dense arrays are written.
    pub dense: DenseOutput,
    /// Old and new names of datasets, as `tet_convert::renames` takes them; other options name datasets as the input
    /// does.
    pub renames: Vec<(String, String)>,
    /// Codecs of single datasets.
    pub codecs: Vec<CodecRule>,
    /// The treatment of datasets and attributes of one name, where several files are merged.
    pub conflict: Conflict,
    /// Bytes of the tensors of one shard of a model, at most, where it is to have shards.
    pub shard_len: Option<u64>,
    /// The treatment of datasets that cannot be written.
    pub unsupported: UnsupportedChoice,
    /// The fate of elements that cannot be read, because the input is damaged.
    pub damage: DamageChoice,
    /// How one array is written as text; `None` is bare elements, or columns, in a table, and all there is in JSON.
    pub layout: Option<TextLayout>,
    /// A name whose suffix chooses the kind of the output, whatever that of the output is.
    pub to: Option<PathBuf>,
    /// The axis along which a new folder of parts grows, where that is known.
    pub grows: Option<GrowingAxis>,
}

/// An axis along which datasets grow.
#[derive(Clone, Debug, Default)]
pub struct GrowingAxis {
    /// The name of the axis.
    pub name: String,
    /// The number of the axis in each dataset that has it.
    pub numbers: BTreeMap<String, usize>,
    /// How long it is there.
    pub extents: BTreeMap<String, u64>,
}

impl ConvertOptions {
    /// The options for a catalog that has no other datasets than those that are asked for.
    pub fn of_all(mut self) -> ConvertOptions {
        self.tet.include.clear();
        self.tet.exclude.clear();
        self
    }

    /// Makes a conversion write all that can be read of a damaged file: elements that cannot be read become missing
    /// values, datasets that cannot be read or stored are left out, and each has a note.
    ///
    /// # Examples
    ///
    /// ```
    /// use tet_container::{ConvertOptions, DamageChoice, UnsupportedChoice};
    ///
    /// let mut options = ConvertOptions::default();
    /// options.salvage();
    /// assert_eq!(options.damage, DamageChoice::Missing);
    /// assert_eq!(options.unsupported, UnsupportedChoice::Skipped);
    /// ```
    pub fn salvage(&mut self) {
        (self.damage, self.unsupported) = (DamageChoice::Missing, UnsupportedChoice::Skipped);
    }

    /// The name whose suffix chooses the kind of the output.
    pub fn output_name<'p>(&'p self, output: &'p Path) -> &'p Path {
        self.to.as_deref().unwrap_or(output)
    }

    /// How files are written that hold arrays and nothing of `.tet`.
    pub fn export(&self) -> ExportOptions {
        let (overwrite, sync, execution) =
            (self.tet.overwrite, self.tet.sync, self.execution.clone());
        ExportOptions { overwrite, sync, execution, ..ExportOptions::default() }
    }
}

/// The treatment of datasets and attributes of one name that differ between files that are merged.
///
/// ```
/// assert_eq!(tet_container::Conflict::default(), tet_container::Conflict::Refused);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflict {
    /// They are an error.
    #[default]
    Refused,
    /// Those of the first file that has them are taken.
    First,
}

/// The treatment of datasets that an output cannot hold, or that cannot be read.
///
/// # Examples
///
/// ```
/// use tet_container::{ConvertOptions, UnsupportedChoice};
///
/// let mut options = ConvertOptions::default();
/// options.unsupported = UnsupportedChoice::Skipped;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnsupportedChoice {
    /// They are an error that lists all of them.
    #[default]
    Refused,
    /// They are left out, with a note of each.
    Skipped,
}

/// The fate of elements that cannot be read, because the input is damaged.
///
/// # Examples
///
/// ```
/// use tet_container::{ConvertOptions, DamageChoice};
///
/// let mut options = ConvertOptions::default();
/// options.damage = DamageChoice::Missing;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DamageChoice {
    /// They are an error.
    #[default]
    Refused,
    /// They become missing values, with a note for each dataset: `_FillValue` or `missing_value` where the dataset has one,
    /// else NaN. Datasets of which nothing can be read, or that have no missing value, are left out with a note.
    Missing,
}

/// How sparse tensors are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SparseOutput {
    /// With all their elements, however many bytes these are; those that the input stores as parts are
    /// put together.
    Dense,
    /// In a zTensor file with those that are stored, as [`SparseLayout`](crate::SparseLayout) says; elsewhere
    /// with all their elements, up to 16 GiB.
    #[default]
    Sparse,
}

/// How dense arrays are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DenseOutput {
    /// With all their elements.
    #[default]
    Dense,
    /// In a zTensor file, of an input without sparse tensors, with the elements whose bytes are not all
    /// zero: two axes as `csr`, one or more than two as `coo`.
    Sparse,
}

/// The input of a [`Writer`](crate::Writer).
#[derive(Debug)]
pub struct Conversion<'c> {
    /// The catalog of the input.
    pub catalog: &'c Catalog,
    /// The datasets to write, in their order.
    pub datasets: Vec<&'c Dataset>,
    /// Differences between the output and the input; writers add to them.
    pub notes: Vec<Note>,
    /// How the datasets were made, where they are a result and not those of a file.
    pub history: Option<HistoryRow>,
    /// The header of the input, for an output that keeps it so that the input can be made again.
    pub header: Option<String>,
    /// Those among the datasets that are put together of parts of the file.
    pub joined: &'c [Joined],
}

impl Conversion<'_> {
    /// The datasets as a container with these types stores them; `encoding` is the container's name.
    ///
    /// # Errors
    /// A dataset cannot be read, or its type cannot be stored.
    pub fn to_physical(
        &self,
        encoding: &'static str,
        has: impl Fn(DType) -> bool,
    ) -> Result<Vec<Physical>> {
        self.datasets.iter().map(|it| logical::to_physical(it, encoding, &has)).collect()
    }

    /// The datasets as NumPy's files store them, but for bfloat16, which is left to the writer.
    ///
    /// # Errors
    /// A dataset cannot be read, or its type cannot be stored.
    pub fn in_numpy(&mut self) -> Result<Vec<Dataset>> {
        let physical = self.to_physical("npz", |dtype| dtype != DType::Bitmask)?;
        self.notes.extend(physical.iter().filter_map(Physical::note));
        Ok(physical.into_iter().map(|it| it.view).collect())
    }
}
