//! Everything that can go wrong between a question and its answer.

use std::path::Path;
use std::sync::Arc;

use tet_format::{DType, ForeignFault, Shape};
use tet_io::{Kind, Source};

use crate::selection::SelectionError;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A query that has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The source could not be read, or changed while it was.
    #[error(transparent)]
    Io(#[from] tet_io::Error),
    /// The file could not be opened or its index not be read.
    #[error(transparent)]
    File(#[from] tet_file::Error),
    /// The selection does not fit the dataset.
    #[error(transparent)]
    Selection(Box<SelectionError>),
    /// No dataset has this name.
    #[error("no dataset {}{name:?}{}", matching(name), did_you_mean(suggestion.as_deref()))]
    NoSuchDataset {
        /// The requested name.
        name: String,
        /// The names the file has.
        known: Vec<String>,
        /// A name similar to the requested one.
        suggestion: Option<String>,
    },
    /// Several datasets have this name.
    #[error("{} datasets are named {name:?}; ask for one as {}", positions.len(), numbers(positions))]
    Ambiguous {
        /// The name.
        name: String,
        /// Their positions in the catalog, which `#N` asks for.
        positions: Vec<usize>,
    },
    /// A dataset is damaged or of a kind that is not known, and cannot be read.
    #[error("{}", unreadable(dataset, cause))]
    Unreadable {
        /// The dataset.
        dataset: String,
        /// Why.
        cause: Arc<Error>,
    },
    /// A dataset of one of several files cannot be read.
    #[error("{}: {fault}", tet_io::shown(file))]
    InFile {
        /// The file, as the caller names it.
        file: Arc<Path>,
        /// Why.
        fault: Box<Error>,
    },
    /// A dataset breaks a rule of the format.
    #[error("dataset {dataset:?}: {fault}")]
    Dataset {
        /// The dataset.
        dataset: String,
        /// The rule, the place and the numbers.
        fault: tet_format::Error,
    },
    /// A dataset breaks a rule of its container, which is not `.tet`.
    #[error("dataset {dataset:?}: {fault}")]
    Foreign {
        /// The dataset.
        dataset: String,
        /// The rule, the place and the numbers.
        fault: ForeignFault,
    },
    /// The file of a dataset, one of several, breaks a rule of its container.
    #[error("dataset {dataset:?}, in {shard:?}: {fault}")]
    Shard {
        /// The dataset.
        dataset: String,
        /// The file, by the name it has among the others.
        shard: String,
        /// The rule, the place and the numbers.
        fault: ForeignFault,
    },
    /// The dataset's elements are known, and nothing here computes with them.
    #[error(
        "dataset {dataset:?}: elements of {dtype} are compared, counted and copied, and not computed with"
    )]
    Opaque {
        /// The dataset.
        dataset: String,
        /// The name of its dtype.
        dtype: String,
    },
    /// The elements of two datasets cannot be compared.
    #[error("dataset {dataset:?}: {why}")]
    Incomparable {
        /// The first of them.
        dataset: String,
        /// Why.
        why: String,
    },
    /// The dataset's elements are structures, of which the members can be read.
    #[error(
        "dataset {dataset:?} contains structures: read its members instead{}",
        of_members(members)
    )]
    Compound {
        /// The dataset.
        dataset: String,
        /// The names of its members, as parts of the file.
        members: Vec<String>,
    },
    /// The dataset's elements are text, and numbers are requested.
    #[error("dataset {dataset:?} contains text, and no numbers to compute with")]
    Text {
        /// The dataset.
        dataset: String,
    },
    /// The dataset's elements are not text, and texts are requested.
    #[error("dataset {dataset:?} is of {dtype}, and not of text")]
    NoTexts {
        /// The dataset.
        dataset: String,
        /// The name of its dtype.
        dtype: String,
    },
    /// The dataset is of a kind that the reader of its container does not support.
    #[error("{why}")]
    Unsupported {
        /// The unsupported feature, and advice.
        why: String,
    },
    /// The dataset is damaged, or a file that it needs is missing, and no rule of its container says so.
    #[error("{why}")]
    Malformed {
        /// The reason.
        why: String,
    },
    /// The dataset's element type is not one this program knows.
    #[error("dataset {dataset:?} has the unknown dtype {dtype}")]
    UnknownDType {
        /// The dataset.
        dataset: String,
        /// The file's name of the type.
        dtype: String,
    },
    /// A chunk breaks a rule of the format.
    #[error("dataset {dataset:?}, chunk {chunk}{}", of_chunk(fault))]
    Chunk {
        /// The dataset.
        dataset: String,
        /// The chunk's coordinate in the grid.
        chunk: Shape,
        /// The rule, the place and the numbers.
        fault: tet_format::Error,
    },
    /// The index has no row for a chunk of the grid.
    #[error("dataset {dataset:?}, chunk {chunk}: the index has no row for it")]
    MissingChunk {
        /// The dataset.
        dataset: String,
        /// The chunk's coordinate in the grid.
        chunk: Shape,
    },
    /// The index has several rows for one chunk.
    #[error("dataset {dataset:?}, chunk {chunk}: a second row for it at byte {at:#x}")]
    DuplicateChunk {
        /// The dataset.
        dataset: String,
        /// The chunk's coordinate in the grid.
        chunk: Shape,
        /// The offset of the second row in the file.
        at: u64,
    },
    /// A chunk is stored with a codec that is not known or not built in.
    #[error("dataset {dataset:?}, chunk {chunk}: codec {codec} is not known or not built in")]
    UnknownCodec {
        /// The dataset.
        dataset: String,
        /// The chunk's coordinate in the grid.
        chunk: Shape,
        /// The codec's name or tag.
        codec: String,
    },
    /// A chunk's payload does not decode.
    #[error("dataset {dataset:?}, chunk {chunk}, payload at byte {at:#x}: {fault}")]
    Codec {
        /// The dataset.
        dataset: String,
        /// The chunk's coordinate in the grid.
        chunk: Shape,
        /// Where the payload starts in the file.
        at: u64,
        /// The error of the codec.
        fault: tet_codec::Error,
    },
    /// The selection is not of this dataset's rank or extents.
    #[error("the selection does not fit dataset {dataset:?} of shape {shape}")]
    Misfit {
        /// The dataset.
        dataset: String,
        /// Its shape.
        shape: Shape,
    },
    /// The elements are requested as a type other than theirs.
    #[error("dataset {dataset:?} is of {dtype}, and not of {wanted}")]
    OtherType {
        /// The dataset.
        dataset: String,
        /// The type of its elements.
        dtype: String,
        /// The requested type.
        wanted: DType,
    },
    /// A reduction names an axis the dataset does not have, or one twice.
    #[error("axis {axis} is not one of the {rank} axes of the dataset, or is named twice")]
    Axis {
        /// The axis.
        axis: usize,
        /// Axes of the dataset.
        rank: usize,
    },
    /// An axis has two roles at once, or its groups or picks are not its own.
    #[error("axis {axis} cannot be grouped, picked or windowed like this")]
    Combined {
        /// The axis.
        axis: usize,
    },
    /// The operation is not defined for the dataset's element type.
    #[error("{op} is not defined for {}", dtype.name())]
    Undefined {
        /// The operation.
        op: &'static str,
        /// The element type.
        dtype: DType,
    },
    /// A matrix of variables needs observations along one axis and variables along the other.
    #[error(
        "{op} needs two axes, observations and variables, and nothing else: \
         no filter, groups or windows, and NaN that propagate"
    )]
    NotATable {
        /// The operation.
        op: &'static str,
    },
    /// A place is sought in windows that reach past the array.
    #[error("{op} seeks a place in the array, and a pad has none: leave the padding out")]
    NoPlace {
        /// The operation.
        op: &'static str,
    },
    /// An operation that needs all elements of a cell at once has no windows.
    #[error(
        "{op} needs all elements at once and has no windows: use a streaming reduction, as mean"
    )]
    Windowed {
        /// The operation.
        op: &'static str,
    },
    /// A histogram has no edges.
    #[error("histogram: {why}")]
    Histogram {
        /// The fault of its range or its bins.
        why: &'static str,
    },
    /// Elements that fail a filter have nothing to become.
    #[error(
        "dataset {dataset:?} of {} has no fill value for elements that fail the filter: \
         set the attribute _FillValue to one of its values, or reduce instead", dtype.name()
    )]
    NoFill {
        /// The dataset.
        dataset: String,
        /// Its element type, which has no NaN.
        dtype: DType,
    },
    /// An element is requested as a type that cannot represent its value.
    #[error("element {at:?} of dataset {dataset:?} is {value}, which {} does not have", dtype.name())]
    Inexact {
        /// The dataset.
        dataset: String,
        /// The positions of the element.
        at: Vec<u64>,
        /// Its value.
        value: String,
        /// The type that it was to become.
        dtype: DType,
    },
    /// A buffer is not of the length the answer needs.
    #[error("the buffer holds {found} bytes, the answer takes {wanted}")]
    Buffer {
        /// Its length.
        found: u64,
        /// The length it must have.
        wanted: u64,
    },
    /// A bound of the caller would be passed.
    #[error("{what}: {wanted} are needed, the limit is {limit}")]
    Limit {
        /// The bounded quantity.
        what: &'static str,
        /// How much is needed.
        wanted: u64,
        /// How much is allowed.
        limit: u64,
    },
    /// Few stored bytes decode to more than the caller allows.
    #[error("the data decode to {wanted} bytes, the limit for a file of this length is {limit}")]
    Expansion {
        /// The length in bytes that they decode to.
        wanted: u64,
        /// How much is allowed.
        limit: u64,
    },
    /// The memory budget does not hold one chunk and what is folded out of it.
    #[error("{wanted} bytes are needed at once, the memory budget is {budget}")]
    Budget {
        /// How much is needed.
        wanted: u64,
        /// How much is allowed.
        budget: u64,
    },
    /// The system has no memory left for the result or for what it is made of.
    #[error("the system gives no {wanted} bytes of memory")]
    NoMemory {
        /// How much is needed.
        wanted: u64,
    },
    /// An exact integer result is too large.
    #[error("{op}: the exact integer result does not fit 128 bits")]
    Overflow {
        /// The operation.
        op: &'static str,
    },
    /// The caller canceled.
    #[error("canceled")]
    Canceled,
}

impl From<tet_io::Canceled> for Error {
    fn from(_: tet_io::Canceled) -> Self {
        Error::Canceled
    }
}

impl From<SelectionError> for Error {
    fn from(error: SelectionError) -> Self {
        Error::Selection(Box::new(error))
    }
}

/// Why a dataset cannot be read; a cause that names the dataset is enough.
fn unreadable(dataset: &str, cause: &Error) -> String {
    let cause = cause.to_string();
    if cause.contains(&format!("{dataset:?}")) {
        return cause;
    }
    format!("dataset {dataset:?} cannot be read: {cause}")
}

impl Error {
    /// The file and the error of the system, where the system refused something.
    #[must_use]
    pub fn system(&self) -> Option<(&std::path::Path, &std::io::Error)> {
        match self {
            Error::Io(error) => error.system(),
            Error::File(error) => error.system(),
            Error::Unreadable { cause, .. } => cause.system(),
            Error::InFile { fault, .. } => fault.system(),
            _ => None,
        }
    }

    /// Who can act on the error.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Error::Io(error) => error.kind(),
            Error::File(error) => error.kind(),
            Error::Unreadable { cause, .. } => cause.kind(),
            Error::InFile { fault, .. } => fault.kind(),
            Error::Codec { fault, .. } => match fault.kind() {
                tet_codec::Kind::Usage => Kind::Usage,
                tet_codec::Kind::Limit => Kind::Limit,
                tet_codec::Kind::Format => Kind::Format,
            },
            Error::Foreign { fault, .. } | Error::Shard { fault, .. } if fault.rule.is_limit() => {
                Kind::Limit
            }
            Error::Dataset { .. }
            | Error::Foreign { .. }
            | Error::Shard { .. }
            | Error::Opaque { .. }
            | Error::Compound { .. }
            | Error::Unsupported { .. }
            | Error::Malformed { .. }
            | Error::UnknownDType { .. }
            | Error::Chunk { .. }
            | Error::MissingChunk { .. }
            | Error::DuplicateChunk { .. }
            | Error::UnknownCodec { .. } => Kind::Format,
            Error::Limit { .. }
            | Error::Expansion { .. }
            | Error::Budget { .. }
            | Error::NoMemory { .. }
            | Error::Overflow { .. } => Kind::Limit,
            Error::Selection(_)
            | Error::NoSuchDataset { .. }
            | Error::Ambiguous { .. }
            | Error::Misfit { .. }
            | Error::OtherType { .. }
            | Error::Incomparable { .. }
            | Error::Text { .. }
            | Error::NoTexts { .. }
            | Error::Axis { .. }
            | Error::Combined { .. }
            | Error::Undefined { .. }
            | Error::NoPlace { .. }
            | Error::Windowed { .. }
            | Error::Histogram { .. }
            | Error::NotATable { .. }
            | Error::NoFill { .. }
            | Error::Inexact { .. }
            | Error::Buffer { .. }
            | Error::Canceled => Kind::Usage,
        }
    }

    /// Whether the file may be sound: its elements are of a type, or behind a codec, that is not read.
    ///
    /// ```
    /// let dtype = "float80".to_owned();
    /// let opaque = tet_query::Error::Opaque { dataset: "x".to_owned(), dtype };
    /// assert!(opaque.is_unsupported());
    /// assert!(!tet_query::Error::Malformed { why: "it is cut off".to_owned() }.is_unsupported());
    /// ```
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        match self {
            Error::Unreadable { cause, .. } => cause.is_unsupported(),
            Error::InFile { fault, .. } => fault.is_unsupported(),
            Error::Codec { fault, .. } => matches!(fault, tet_codec::Error::Unsupported { .. }),
            Error::Opaque { .. }
            | Error::Compound { .. }
            | Error::Unsupported { .. }
            | Error::UnknownDType { .. }
            | Error::UnknownCodec { .. } => true,
            _ => false,
        }
    }

    /// A source that has fewer bytes than when it was opened.
    pub(crate) fn changed(source: &Source) -> Self {
        let path = source.path().unwrap_or(Path::new("(memory)")).to_path_buf();
        Error::Io(tet_io::Error::Changed { path })
    }

    /// A chunk whose codec is not there.
    pub(crate) fn unknown_codec(dataset: &str, chunk: Shape, codec: String) -> Self {
        Error::UnknownCodec { dataset: dataset.to_owned(), chunk, codec }
    }

    /// A dtype that does not take whole bytes.
    pub(crate) const fn no_bytes(dtype: DType) -> Self {
        Error::Undefined { op: "read", dtype }
    }
}

/// A word before a pattern of names.
fn matching(name: &str) -> &'static str {
    if crate::Pattern::parse(name).is_some() { "matches " } else { "" }
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}

/// The message for a fault of a chunk.
fn of_chunk(fault: &tet_format::Error) -> String {
    let tet_format::Error { rule, at, found, wanted } = fault;
    if *rule != tet_format::Rule::ChunkDigest {
        return format!(": {fault}");
    }
    let numbers = format!("found {found:#018x}, wanted {wanted:#018x}");
    format!(" is corrupt: its checksum does not match (byte {at}, {numbers}, {})", rule.id())
}

/// The first members of a structure, for a message.
fn of_members(members: &[String]) -> String {
    let names: Vec<String> = members.iter().take(3).map(|name| format!("{name:?}")).collect();
    let more = if 3 < members.len() { ", ..." } else { "" };
    if names.is_empty() { String::new() } else { format!(", as {}{more}", names.join(", ")) }
}

fn numbers(positions: &[usize]) -> String {
    positions.iter().map(|at| format!("#{at}")).collect::<Vec<_>>().join(", ")
}
