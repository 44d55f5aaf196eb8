//! Everything that can go wrong on the way in or out.

mod fault;
mod from;
mod kind;
mod words;

use std::io;
use std::path::PathBuf;

use tet_format::{DType, ForeignFault, ForeignRule};
use tet_query::SelectionNote;

pub use self::fault::{ContainerFault, FaultCause};
pub use self::kind::is_of_system;
use self::words::{advice, axes_of, broken, folders, listed, members_of, of_level, of_member};
use crate::Format;
use crate::edit_kind::EditKind;
use crate::npy_fault::NpyFault;
use crate::read::zip::ZipFault;
use crate::write::write_option::WriteOption;

/// An open, import or export that failed. Names from files are shown escaped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, read or published.
    #[error(transparent)]
    Io(#[from] tet_io::Error),
    /// A `.tet` file could not be opened or written.
    #[error(transparent)]
    File(tet_file::Error),
    /// A dataset could not be read.
    #[error(transparent)]
    Query(tet_query::Error),
    /// The file is of a format that is not read in place.
    #[error("{} is {format}{}", tet_io::shown(path), advice(*format))]
    NotReadable {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
    },
    /// One of several files cannot be opened or read.
    #[error("{}: {error}", tet_io::shown(path))]
    InFile {
        /// The file.
        path: PathBuf,
        /// Why.
        error: Box<Error>,
    },
    /// The file breaks a rule of its container, which is not `.tet`.
    #[error("{} is {format}, {}", tet_io::shown(path), broken(fault))]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
        /// The rule, the place and the numbers.
        fault: ForeignFault,
    },
    /// A part of a folder of parts is missing, changed, or another one than the manifest states.
    #[error("{}, part {part:?}: {fault}", tet_io::shown(path))]
    Part {
        /// The folder.
        path: PathBuf,
        /// The name of the part.
        part: String,
        /// The rule, the place and the numbers.
        fault: ForeignFault,
    },
    /// Unused parts are not removed while a process is appending.
    #[error("{} is being appended to: nothing is removed; try again later", tet_io::shown(path))]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// A part of the file cannot be read, and which datasets it has is not known.
    #[error(
        "a part of {} cannot be read, and which datasets it has is not known: {what}",
        tet_io::shown(path)
    )]
    Incomplete {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
        /// The rule, the place and the numbers.
        fault: ForeignFault,
        /// The finding, in one line.
        what: String,
    },
    /// The file breaks a rule of its format, in a line of a text.
    #[error("{} is {format}, {}, in line {line}", tet_io::shown(path), broken(fault))]
    Line {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
        /// The rule, the place and the numbers.
        fault: ForeignFault,
        /// The line, counted from 1.
        line: u64,
    },
    /// The file is of a format that is not checked.
    #[error("{} is {format}, and not one this build checks", tet_io::shown(path))]
    NotVerifiable {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
    },
    /// A file that is not repaired, or not where it was asked for, and why.
    #[error("{0}")]
    Repair(String),
    /// The file could not be checked.
    #[error(transparent)]
    Verify(#[from] tet_verify::Error),
    /// An array of the input cannot become a dataset.
    #[error("array {array:?}: {fault}")]
    Array {
        /// Its name.
        array: String,
        /// Its fault.
        #[source]
        fault: NpyFault,
    },
    /// The archive, or one of its members, cannot be read.
    #[error("{}{}: {fault}", tet_io::shown(path), of_member(member.as_deref()))]
    Archive {
        /// The archive.
        path: PathBuf,
        /// The member, if one is to blame.
        member: Option<String>,
        /// Its fault.
        #[source]
        fault: ZipFault,
    },
    /// The caller's choice leaves no array of a file.
    #[error("{} holds no array to import: all are excluded", tet_io::shown(path))]
    NoArrays {
        /// The file.
        path: PathBuf,
    },
    /// A zip archive is none of arrays.
    #[error(
        "{} is a zip archive in which no member is an array of NumPy{}",
        tet_io::shown(path),
        members_of(members, readable)
    )]
    NotArrays {
        /// The archive.
        path: PathBuf,
        /// The names of its members.
        members: Vec<String>,
        /// Those that can be opened once they are unpacked.
        readable: Vec<String>,
    },
    /// The chunk shape's rank is not the dataset's.
    #[error("chunk shape {chunk_shape:?} has {} axes, dataset {dataset:?} of shape {shape:?} has {}", chunk_shape.len(), shape.len())]
    ChunkRank {
        /// The dataset.
        dataset: String,
        /// Its shape.
        shape: Vec<u64>,
        /// The chunk shape that was asked for.
        chunk_shape: Vec<u64>,
    },
    /// Rules for chunks name an axis that no dataset has.
    #[error("no dataset has an axis {axis:?} to cut into chunks{}", axes_of(known))]
    NoChunkAxis {
        /// The axis.
        axis: String,
        /// The names of axes that there are.
        known: Vec<String>,
    },
    /// A codec, or one with a level, that a container does not have.
    #[error("dataset {dataset:?} cannot be written as {encoding} with the codec {codec}{}", of_level(*level))]
    NoCodec {
        /// The dataset.
        dataset: String,
        /// The container.
        encoding: &'static str,
        /// The codec.
        codec: &'static str,
        /// Its level, if one is asked for.
        level: Option<i32>,
    },
    /// A level is asked for, and no codec that has levels.
    #[error(
        "a level needs a codec that has levels: {encoding} files have none unless one is asked for"
    )]
    LevelAlone {
        /// The container.
        encoding: &'static str,
    },
    /// The output has no use for an option.
    #[error("{} does not support {option}", tet_io::shown(output))]
    NoOption {
        /// The output.
        output: PathBuf,
        /// The option.
        option: WriteOption,
    },
    /// The chunk shape has an extent of 0.
    #[error("chunk shape {chunk_shape:?} has an extent of 0: each is at least 1")]
    ChunkZero {
        /// The chunk shape that was asked for.
        chunk_shape: Vec<u64>,
    },
    /// As many dimension names are needed as there are axes.
    #[error("dataset {dataset:?} has {rank} axes, {names:?} are {} dimension names", names.len())]
    DimsRank {
        /// The dataset.
        dataset: String,
        /// Its rank.
        rank: usize,
        /// The names that were given.
        names: Vec<String>,
    },
    /// More axes than `.tet` has.
    #[error(
        "dataset {dataset:?}: {rank} axes are more than the 8 of .tet; .zt, .tgm and .safetensors have more"
    )]
    Rank {
        /// The dataset.
        dataset: String,
        /// Its axes.
        rank: usize,
    },
    /// As many labels are needed as there are positions.
    #[error("dataset {dataset:?}: axis {axis:?} has {extent} positions, {count} labels are given")]
    LabelCount {
        /// The dataset.
        dataset: String,
        /// The axis, as it was asked for.
        axis: String,
        /// How many labels there are.
        count: usize,
        /// Positions of the axis.
        extent: u64,
    },
    /// No dataset has the axis that is to be labeled.
    #[error("no dataset has an axis {axis:?} to label")]
    NoLabeledAxis {
        /// The axis, as it was asked for.
        axis: String,
    },
    /// An array cannot be the labels of an axis.
    #[error("array {array:?} cannot be labels: these are up to 2^20 numbers or texts of one axis")]
    NoLabels {
        /// The array.
        array: String,
    },
    /// A chunk does not fit in memory.
    #[error("memory cannot hold a chunk of dataset {dataset:?}: choose a smaller chunk shape")]
    Memory {
        /// The dataset.
        dataset: String,
    },
    /// An archive holds several datasets, this output one.
    #[error("a {encoding} output holds one dataset: name one")]
    OneDataset {
        /// The output's name.
        encoding: &'static str,
    },
    /// There is no dataset for an output that holds one.
    #[error("there are no datasets to write: a {encoding} output holds at least one")]
    NoDatasets {
        /// The output's name.
        encoding: &'static str,
    },
    /// Datasets are no columns of one table.
    #[error(
        "a {encoding} output holds one dataset, or several of one axis and the same length: {dataset:?} has the \
         shape {shape:?}, {other:?} {other_shape:?}"
    )]
    Columns {
        /// The output's name.
        encoding: &'static str,
        /// A dataset.
        dataset: String,
        /// Its shape.
        shape: Vec<u64>,
        /// Another one.
        other: String,
        /// The shape of that.
        other_shape: Vec<u64>,
    },
    /// The name of a column would be read as a value.
    #[error(
        "dataset {dataset:?}: a {encoding} output has no column of this name, which would be read as a value"
    )]
    ColumnName {
        /// The output's name.
        encoding: &'static str,
        /// The dataset.
        dataset: String,
    },
    /// Columns of one table have other labels.
    #[error("{dataset:?} and {other:?} have different labels: a {encoding} output has one axis")]
    ColumnLabels {
        /// The output's name.
        encoding: &'static str,
        /// A dataset.
        dataset: String,
        /// Another one.
        other: String,
    },
    /// The output's format has no such dtype.
    #[error("dataset {dataset:?}: {} cannot be written as {encoding}", dtype.name())]
    NoDType {
        /// The dataset.
        dataset: String,
        /// Its dtype.
        dtype: DType,
        /// The output's name.
        encoding: &'static str,
    },
    /// The output's format has no such dtype, which is none of ours either.
    #[error("dataset {dataset:?}: {dtype} cannot be written as {encoding}")]
    NoSuchDType {
        /// The dataset.
        dataset: String,
        /// The name of the type of its elements.
        dtype: String,
        /// The output's name.
        encoding: &'static str,
    },
    /// The output's format keeps the name for itself.
    #[error("dataset {dataset:?}: the name means something else in {encoding}")]
    Reserved {
        /// The dataset.
        dataset: String,
        /// The output's name.
        encoding: &'static str,
    },
    /// Shards do not fit the dataset or its chunks.
    #[error(
        "dataset {dataset:?} cannot have shards of {shard_shape:?}: each extent must be a multiple of that \
         of its chunks, {chunk_shape:?}"
    )]
    ShardShape {
        /// The dataset.
        dataset: String,
        /// The shard shape that was asked for.
        shard_shape: Vec<u64>,
        /// The chunk shape.
        chunk_shape: Vec<u64>,
    },
    /// The output is a folder of another kind than the one that is written.
    #[error("{} is a folder that is not {format}: it is not replaced", tet_io::shown(path))]
    OtherFolder {
        /// The folder.
        path: PathBuf,
        /// The format that it would have to be of.
        format: Format,
    },
    /// The output's format cannot hold the dataset.
    #[error("dataset {dataset:?} cannot be written as {encoding}: {why}")]
    Unfit {
        /// The dataset.
        dataset: String,
        /// The output's name.
        encoding: &'static str,
        /// Why not.
        why: &'static str,
    },
    /// The result is outside the folders that may be written to.
    #[error("{} is outside of what may be written to: {}", tet_io::shown(path), folders(roots))]
    Outside {
        /// The output.
        path: PathBuf,
        /// The folders.
        roots: Vec<PathBuf>,
    },
    /// The result would be written through a symbolic link.
    #[error("{} is a symbolic link: results are not written through links", tet_io::shown(path))]
    Link {
        /// The output.
        path: PathBuf,
    },
    /// Integers of the result fit no integer type of the output.
    #[error("dataset {dataset:?}: {op} gives integers past 64 bits, which no output holds")]
    TooWide {
        /// The dataset.
        dataset: String,
        /// The operation.
        op: &'static str,
    },
    /// Readers of Zarr cannot read a dataset in place.
    #[error("dataset {dataset:?} has no references: {why}")]
    NoReferences {
        /// The dataset.
        dataset: String,
        /// Why not.
        why: String,
    },
    /// Chunks at the edges of a dataset have fewer elements than the others.
    #[error(
        "dataset {dataset:?} has no references: the chunks at its edges have fewer elements than the others, and Zarr \
         has whole chunks alone"
    )]
    Clipped {
        /// The dataset.
        dataset: String,
    },
    /// Files cannot be joined, or have no references, as was asked.
    #[error("{what}")]
    Refs {
        /// Why not.
        what: String,
    },
    /// More bytes of edge chunks than a document of references has.
    #[error("filled edge chunks are more than the {limit} bytes that a document of references has")]
    LongEdges {
        /// Bytes allowed.
        limit: u64,
    },
    /// Several datasets cannot be written.
    #[error("{} datasets cannot be written to {encoding}: {}", faults.len(), listed(faults))]
    Several {
        /// The output's name.
        encoding: &'static str,
        /// Why, for each.
        faults: Vec<Error>,
    },
    /// A selection of elements that are smaller than a byte starts or ends within one.
    #[error("dataset {dataset:?}: these elements of {dtype} do not start and end at a byte")]
    PartOfBytes {
        /// The dataset.
        dataset: String,
        /// The name of its dtype.
        dtype: String,
    },
    /// Datasets cannot be paired by the names that were given.
    #[error("{0}")]
    Names(String),
    /// Two datasets would become one member.
    #[error("datasets {first:?} and {second:?} would both become the member {member:?}")]
    Collision {
        /// The first.
        first: String,
        /// The second.
        second: String,
        /// The member's name.
        member: String,
    },
    /// One row of the selection is past the memory budget.
    #[error(
        "dataset {dataset:?}: a block of {wanted} bytes is needed, the memory budget is {limit}"
    )]
    Budget {
        /// The dataset.
        dataset: String,
        /// Bytes of the smallest block.
        wanted: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// The parts of a sparse tensor do not fit together.
    #[error("sparse tensor {dataset:?} cannot be put together: {} [{}]", rule.text, rule.id)]
    Parts {
        /// The sparse tensor.
        dataset: String,
        /// The rule that they break.
        rule: &'static ForeignRule,
    },
    /// Sparse tensors would be written with all their elements, and that was not asked for.
    #[error(
        "sparse tensors such as {dataset:?} are {wanted} bytes with all their elements, more than {limit}"
    )]
    Dense {
        /// The longest.
        dataset: String,
        /// Bytes of all of them.
        wanted: u64,
        /// Bytes that are written unasked.
        limit: u64,
    },
    /// The caller asked to stop.
    #[error("canceled")]
    Canceled,
    /// A file cannot be read or written as was asked, by an error that only its family of containers has.
    #[error(transparent)]
    Container(Box<ContainerFault>),
    /// Only messages are stacked.
    #[error(
        "{} is {format}; only Tensogram messages and several files can be stacked",
        tet_io::shown(path)
    )]
    NoStack {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
    },
    /// Nothing is selected of a dataset, and so nothing is written.
    #[error("{dataset:?}: {note}")]
    EmptySelection {
        /// The dataset.
        dataset: String,
        /// Along which axis.
        note: SelectionNote,
    },
    /// A selection by position is for one dataset.
    #[error("a selection without names of axes is for one dataset, and there are {count}")]
    SelectsInOne {
        /// How many datasets there are.
        count: usize,
    },
    /// A rule for the types of all datasets holds for none.
    #[error("no dataset has numbers of the kind of {}", dtype.name())]
    NoSuchKind {
        /// The type.
        dtype: DType,
    },
    /// The places of the values of a sparse tensor are to become another type.
    #[error(
        "dataset {dataset:?} has the places of the values of a sparse tensor, and keeps its type"
    )]
    SparsePlaces {
        /// The dataset.
        dataset: String,
    },
    /// A name is given to the array of a file whose arrays have names.
    #[error("{} is {format}, whose arrays have names: a name is for a .npy", tet_io::shown(path))]
    HasNames {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
    },
    /// Datasets that share a name cannot be one.
    #[error("those named {dataset:?} cannot be stacked: {why}")]
    Stack {
        /// Their name.
        dataset: String,
        /// Why not.
        why: String,
    },
    /// The suffix of an output is of no known format.
    #[error("the suffix of {} is of no known format: use {suffixes}", tet_io::shown(path))]
    UnknownTarget {
        /// The path.
        path: PathBuf,
        /// The suffixes that are written.
        suffixes: String,
    },
    /// The suffix of an output is of a format that is not written.
    #[error("the suffix of {} is that of {format}, {}", tet_io::shown(path), if *is_read { "which this build reads and does not write" } else { "which this build does not write" })]
    NotWritable {
        /// The path.
        path: PathBuf,
        /// The format of the suffix.
        format: Format,
        /// Whether such files are read.
        is_read: bool,
    },
    /// A file cannot be edited so.
    #[error("{} is {format}: {} is supported in {suffixes} files", tet_io::shown(path), kind.text())]
    NotEditable {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
        /// The kind of the edit.
        kind: EditKind,
        /// The suffixes of files in which it can be done.
        suffixes: String,
    },
    /// Files that are merged have different things of one name.
    #[error("{what} {name:?} is in {} and in {}: {detail}", tet_io::shown(&paths[0]), tet_io::shown(&paths[1]))]
    Merge {
        /// The kind of thing: a dataset, an axis or an attribute.
        what: &'static str,
        /// Its name.
        name: String,
        /// How it differs.
        detail: String,
        /// The files.
        paths: Box<[PathBuf; 2]>,
    },
    /// The output stream refused bytes; a broken pipe is one of these.
    #[error("cannot write: {0}")]
    Write(#[source] io::Error),
}

#[cfg(test)]
mod tests;
