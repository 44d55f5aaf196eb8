//! Opening and reading in a line, and the rule behind an error.

use tet_file::{FooterMode, OpenOptions, TetFile};
use tet_format::{Limits, Rule};
use tet_io::Source;
use tet_query::{Catalog, Coalesce, Dataset, Error, Execution, Hyperslab, Op, Reduction};

/// Opens a source under the limits.
///
/// # Errors
///
/// Rule that the file breaks.
pub fn open(source: Source, limits: Limits) -> Result<Catalog, Error> {
    let options = OpenOptions { limits, footer: FooterMode::Required };
    Catalog::from_tet(TetFile::open(source, &options)?)
}

/// Opens bytes in memory with the limits everybody has.
///
/// # Errors
///
/// Rule that the file breaks.
pub fn open_bytes(bytes: &[u8]) -> Result<Catalog, Error> {
    open(Source::from_bytes(bytes), Limits::default())
}

/// A sound file, below the catalog.
#[must_use]
pub fn tet(bytes: &[u8]) -> TetFile {
    TetFile::open(Source::from_bytes(bytes), &OpenOptions::default()).unwrap()
}

/// One thread and little memory.
#[must_use]
pub fn small() -> Execution {
    Execution {
        threads: 1,
        memory_budget: 16 << 20,
        coalesce: Coalesce::DEFAULT,
        ..Execution::default()
    }
}

/// Reads a whole dataset.
///
/// # Errors
///
/// Rule that the dataset or one of its chunks breaks.
pub fn read_all(dataset: &Dataset) -> Result<Vec<u8>, Error> {
    let slab = Hyperslab::whole(dataset.shape());
    Ok(dataset.read(&slab, &small())?.bytes().to_vec())
}

/// Does all that can be done with a file: lists it, reads all of it and reduces all of it.
///
/// Returns what each dataset holds, or that it cannot be read.
///
/// # Errors
///
/// Rule that the file breaks.
pub fn everything(catalog: &Catalog) -> Vec<Result<Vec<u8>, Error>> {
    let listing = |dataset: &Dataset| format!("{dataset:?} {:?}", dataset.why());
    assert!(catalog.datasets().iter().all(|dataset| !listing(dataset).is_empty()));
    catalog
        .datasets()
        .iter()
        .map(|dataset| {
            let slab = Hyperslab::whole(dataset.shape());
            for &op in Op::ALL {
                // Whether it can be answered is for the read below to say.
                drop(dataset.reduce(&slab, &Reduction::all(op), &small()));
            }
            read_all(dataset)
        })
        .collect()
}

/// The rule behind an error, and the byte where it is broken if the error says so.
///
/// A chunk without a row is told as the rule that rows are unique: with the right number of rows,
/// another chunk has two, or one of them is outside the grid.
#[must_use]
pub fn broken(error: &Error) -> Option<(Rule, Option<u64>)> {
    use tet_codec::Error as Codec;
    match error {
        Error::Chunk { fault, .. } | Error::Dataset { fault, .. } => {
            Some((fault.rule, Some(fault.at)))
        }
        Error::Unreadable { cause, .. } => broken(cause),
        Error::File(tet_file::Error::Format(fault)) => Some((fault.rule, Some(fault.at))),
        Error::UnknownDType { .. } => Some((Rule::DTypeTag, None)),
        Error::UnknownCodec { .. } => Some((Rule::RowCodec, None)),
        Error::MissingChunk { .. } => Some((Rule::RowUnique, None)),
        Error::DuplicateChunk { at, .. } => Some((Rule::RowUnique, Some(*at))),
        Error::Codec { at, fault, .. } => {
            let is_payload = !matches!(fault, Codec::Lengths { .. });
            Some((fault.rule(), is_payload.then_some(*at)))
        }
        _ => None,
    }
}
