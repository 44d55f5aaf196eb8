//! Results of queries, written to files.
//!
//! ```text
//!   policy       where a result may go
//!   cells        the cells of a reduction as an array
//!   tet          a new `.tet`, chunk by chunk
//!   coordinates  the datasets that label its axes
//!   history      how it was made
//! ```
//!
//! A file appears complete or not at all, is never an input, and replaces nothing unasked.

mod cells;
mod coordinates;
mod history;
mod policy;
mod tet;

use std::path::Path;

use tet_file::write::CodecChoice;
use tet_io::Overwrite;
use tet_io::publish::Sync;
use tet_query::{Answer, Catalog, Dataset, Execution, LazyArray, Reduced};

pub use self::cells::reduced_array;
pub use self::policy::WritePolicy;
use crate::model::notes;
use crate::write::array::{self, Encoding, Written};
use crate::write::file::ExportOptions;
use crate::write::options::Origin;
use crate::{Note, Result};

/// What an array result is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResultTarget {
    /// NumPy's file of one array.
    Npy,
    /// The elements alone: little endian, row-major.
    Raw,
    /// A `.tet` file of one dataset, which says where it comes from.
    Tet,
}

/// How a result is written.
#[derive(Clone, Debug, Default)]
pub struct ResultOptions {
    /// Whether an existing file is replaced.
    pub overwrite: Overwrite,
    /// How durable the file is on return.
    pub sync: Sync,
    /// How the elements are read.
    pub execution: Execution,
    /// How the chunks of a `.tet` are stored; `None` is as the dataset's first chunk is.
    pub codec: Option<CodecChoice>,
    /// When the result was made, for the history of a `.tet`; `None` leaves the history out.
    pub history: Option<Origin>,
}

impl ResultOptions {
    /// How a file is written that is no `.tet`.
    fn export(&self) -> ExportOptions {
        let (overwrite, sync, execution) = (self.overwrite, self.sync, self.execution.clone());
        ExportOptions { overwrite, sync, execution, ..ExportOptions::default() }
    }
}

/// Writes an array result of a file to the file `path`, if the policy allows it.
///
/// The progress of the execution counts the bytes of elements that are written.
///
/// # Errors
/// The policy does not allow the path; the file exists, is the input, or cannot be written; the
/// dataset cannot be read; the target has no such dtype; the caller canceled.
pub fn write_result(
    catalog: &Catalog,
    lazy: &LazyArray,
    target: ResultTarget,
    path: &Path,
    policy: &WritePolicy,
    options: &ResultOptions,
) -> Result<Written> {
    let path = policy.resolve(path, catalog.source())?;
    let zeros_before = lazy.zero_denominators();
    let encoding = match target {
        ResultTarget::Npy => Some(Encoding::Npy),
        ResultTarget::Raw => Some(Encoding::Raw),
        ResultTarget::Tet => None,
    };
    let mut written = match encoding {
        None => tet::write(catalog, lazy, &path, options)?,
        Some(encoding) => {
            let options = options.export();
            let mut written = array::write_lazy_file(catalog, lazy, encoding, &path, &options)?;
            written.notes.extend(notes::unchecked([lazy]));
            written
        }
    };
    let count = lazy.zero_denominators() - zeros_before;
    if let Some(transform) = lazy.transform().filter(|_| count > 0) {
        let (dataset, method) = (lazy.dataset().name.clone(), transform.method.name());
        written.notes.push(Note::ZeroDenominators { dataset, method, count });
    }
    Ok(written)
}

/// Writes the cells of a reduction of `dataset` to the file `path`, if the policy allows it.
///
/// # Errors
/// As [`reduced_array`] and [`write_result`].
pub fn write_reduced(
    catalog: &Catalog,
    dataset: &Dataset,
    reduced: &Answer<Reduced>,
    encoding: Encoding,
    path: &Path,
    policy: &WritePolicy,
    options: &ResultOptions,
) -> Result<Written> {
    let path = policy.resolve(path, catalog.source())?;
    let (array, mut notes) = reduced_array(&dataset.name, reduced, encoding)?;
    let how = options.export().publish(catalog);
    let written = array::write_array_file(&dataset.name, &array, encoding, &path, &how)?;
    notes.extend(written.notes);
    notes.extend(notes::of_integrity(reduced.integrity));
    Ok(Written { bytes: written.bytes, notes })
}
