//! What is converted, and how.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tet_file::metadata::HistoryRow;
use tet_format::DType;
use tet_query::{Catalog, Dataset, Execution};
use tet_tensogram::{NonFinite, Readers, Recipe, VersionKey};

use crate::model::cf::Decoding;
use crate::model::logical::{self, Physical};
use crate::read::opened::OpenOptions;
use crate::write::file::ExportOptions;
use crate::write::joined::Joined;
use crate::write::options::{ImportOptions, TextLayout};
use crate::write::storage::{CodecRule, DTypeRule};
use crate::write::zarr::ZarrOptions;
use crate::{Note, Result};

/// How to convert.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// Which datasets, and how a `.tet` file is written.
    pub tet: ImportOptions,
    /// How a zTensor file is written.
    pub ztensor: tet_ztensor::WriteOptions,
    /// How a Tensogram file is written.
    pub tensogram: TensogramOptions,
    /// How an HDF5 or NetCDF-4 file is written.
    pub hdf5: Hdf5Options,
    /// How a Zarr hierarchy is written.
    pub zarr: ZarrOptions,
    /// What is selected of each dataset along the axes that it has, such as `time=2001-06, lat=40:60`; `None` is all.
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
    /// Old and new names of datasets, as [`renames`](crate::renames) takes them; other options name datasets as the input
    /// does.
    pub renames: Vec<(String, String)>,
    /// Codecs of single datasets.
    pub codecs: Vec<CodecRule>,
    /// What is done about datasets and attributes of one name, where several files are merged.
    pub conflict: Conflict,
    /// Bytes of the tensors of one shard of a model, at most, where it is to have shards.
    pub shard_len: Option<u64>,
    /// What happens with datasets that cannot be written.
    pub unsupported: UnsupportedChoice,
    /// The fate of elements that cannot be read, because the input is damaged.
    pub damage: DamageChoice,
    /// How one array is written as text; `None` is bare elements, or columns, in a table, and all there is in JSON.
    pub layout: Option<TextLayout>,
    /// A name whose suffix chooses the kind of the output, whatever that of the output is.
    pub to: Option<PathBuf>,
    /// The axis along which a new folder of parts grows, where that is known.
    pub(crate) grows: Option<GrowingAxis>,
}

/// An axis along which datasets grow.
#[derive(Clone, Debug, Default)]
pub(crate) struct GrowingAxis {
    pub(crate) name: String,
    /// The number of the axis in each dataset that has it.
    pub(crate) numbers: BTreeMap<String, usize>,
    /// How long it is there.
    pub(crate) extents: BTreeMap<String, u64>,
}

impl ConvertOptions {
    /// The options for a catalog that has no other datasets than those that are asked for.
    pub(crate) fn of_all(mut self) -> ConvertOptions {
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
    /// use tet_convert::{ConvertOptions, DamageChoice, UnsupportedChoice};
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
    pub(crate) fn output_name<'p>(&'p self, output: &'p Path) -> &'p Path {
        self.to.as_deref().unwrap_or(output)
    }

    /// How files are written that hold arrays and nothing of `.tet`.
    pub(crate) fn export(&self) -> ExportOptions {
        let (overwrite, sync, execution) =
            (self.tet.overwrite, self.tet.sync, self.execution.clone());
        ExportOptions { overwrite, sync, execution, ..ExportOptions::default() }
    }
}

/// What is done about datasets and attributes of one name that differ between files that are merged.
///
/// ```
/// assert_eq!(tet_convert::Conflict::default(), tet_convert::Conflict::Refused);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflict {
    /// They are an error.
    #[default]
    Refused,
    /// Those of the first file that has them are taken.
    First,
}

/// How a Tensogram file is written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TensogramOptions {
    /// How the message is written.
    pub message: tet_tensogram::WriteOptions,
    /// How elements are stored; bytes are shuffled as [`TensogramOptions::filter`] says.
    pub recipe: Recipe,
    /// Whether bytes of elements are shuffled.
    pub filter: Filter,
}

/// How an HDF5 or NetCDF-4 file is written. What the input has in several chunks, or compressed, has chunks; without
/// codec, filter and chunk shape all else is stored in one piece, unless it can grow.
///
/// # Examples
///
/// ```
/// use tet_convert::{ConvertOptions, Filter, Hdf5Codec};
///
/// let mut options = ConvertOptions::default();
/// options.hdf5.codec = Hdf5Codec::Deflate { level: 4 };
/// options.hdf5.filter = Filter::Shuffle;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hdf5Options {
    /// How chunks are compressed.
    pub codec: Hdf5Codec,
    /// Whether bytes of elements are shuffled.
    pub filter: Filter,
}

/// How the chunks of an HDF5 file are compressed.
///
/// # Examples
///
/// ```
/// use tet_convert::Hdf5Codec;
///
/// assert_eq!(Hdf5Codec::default(), Hdf5Codec::Kept);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hdf5Codec {
    /// As in the input, by deflate: at its level and with its shuffle, or at level 4 and shuffled where the input has
    /// another codec. Chunks keep their shape. What is not compressed there is not.
    #[default]
    Kept,
    /// They are not.
    Raw,
    /// By deflate, which every build of HDF5 reads.
    Deflate {
        /// From 0 to 9.
        level: u32,
    },
    /// By zstd, for which HDF5 needs the plugin of filter 32015.
    Zstd {
        /// From 1 to 22.
        level: i32,
    },
}

/// Whether bytes of elements are shuffled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// They are not.
    #[default]
    None,
    /// All first bytes of a dataset's elements come first, then all second ones, and so on.
    Shuffle,
}

impl Default for TensogramOptions {
    /// Elements as they are, those that are not finite under masks where they come back exactly.
    fn default() -> Self {
        let recipe =
            Recipe { nan: NonFinite::Exact, infinity: NonFinite::Exact, ..Recipe::default() };
        TensogramOptions { message: Default::default(), recipe, filter: Filter::default() }
    }
}

impl TensogramOptions {
    /// The same for all releases of version 3 as readers, those before 0.19 too.
    #[must_use]
    pub fn universal(mut self) -> Self {
        self.message.version_key = VersionKey::Written;
        self.recipe.readers = Readers::All;
        self
    }
}

/// What happens with datasets that an output cannot hold, or that cannot be read.
///
/// # Examples
///
/// ```
/// use tet_convert::{ConvertOptions, UnsupportedChoice};
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
/// use tet_convert::{ConvertOptions, DamageChoice};
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
    /// In a zTensor file with those that are stored, as [`tet_ztensor::SparseChoice`] says; elsewhere
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

/// What is to be written, for a [`Writer`](crate::Writer).
#[derive(Debug)]
pub struct Conversion<'c> {
    /// The catalog of the input.
    pub catalog: &'c Catalog,
    /// The datasets to write, in their order.
    pub datasets: Vec<&'c Dataset>,
    /// What differs in the output from the input; writers add to it.
    pub notes: Vec<Note>,
    /// How the datasets were made, where they are a result and not those of a file.
    pub history: Option<HistoryRow>,
    /// The header of the input, for an output that keeps it so that the input can be made again.
    pub header: Option<String>,
    /// Those among the datasets that are put together of parts of the file.
    pub(crate) joined: &'c [Joined],
}

impl Conversion<'_> {
    /// The datasets as a container with these types stores them; `encoding` is the container's name.
    pub(crate) fn to_physical(
        &self,
        encoding: &'static str,
        has: impl Fn(DType) -> bool,
    ) -> Result<Vec<Physical>> {
        self.datasets.iter().map(|it| logical::to_physical(it, encoding, &has)).collect()
    }

    /// The datasets as NumPy's files store them, but for bfloat16, which is left to the writer.
    pub(crate) fn in_numpy(&mut self) -> Result<Vec<Dataset>> {
        let physical = self.to_physical("npz", |dtype| dtype != DType::Bitmask)?;
        self.notes.extend(physical.iter().filter_map(Physical::note));
        Ok(physical.into_iter().map(|it| it.view).collect())
    }
}
