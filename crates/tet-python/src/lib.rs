//! The module `tetfile._tetfile`: the engine as Python calls it.
//!
//! ```text
//!   tetfile (Python): names, docs, types, what NumPy's keys mean
//!       |
//!   _tetfile: OpenFile -> Selected -> read, reduce, stats        verify, diff, convert, query
//!       |                    |
//!     run.rs               memory of NumPy, filled without a copy (buffer.rs)
//! ```
//!
//! Everything that takes time runs without the lock of the interpreter, and stops when Python gets a signal.

#![deny(unsafe_code)]

mod buffer;
mod error;
mod run;

mod bounds;
mod input;
mod options;
mod ranges;
mod state;
mod store;

mod attrs;
mod numpy;

mod selected;

mod key;
mod picks;
mod read;

mod labels;

#[cfg(feature = "zarr")]
mod references;
mod storage;

mod cells;
mod reduce;

mod query;

mod check;
mod diff;
mod picture;
mod repair;
mod write;

mod file;

mod objects;
mod regions;

use pyo3::prelude::*;

/// The engine of `tetfile`.
#[pymodule(gil_used = false)]
fn _tetfile(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<file::OpenFile>()?;
    module.add_class::<selected::Selected>()?;
    module.add_function(wrap_pyfunction!(read::get, module)?)?;
    module.add_function(wrap_pyfunction!(read::read_into, module)?)?;
    module.add_function(wrap_pyfunction!(file::open_urls, module)?)?;
    module.add_function(wrap_pyfunction!(file::without_secrets, module)?)?;
    module.add_function(wrap_pyfunction!(picks::select, module)?)?;
    module.add_function(wrap_pyfunction!(labels::select_text, module)?)?;
    module.add_function(wrap_pyfunction!(picks::read, module)?)?;
    module.add_function(wrap_pyfunction!(labels::labels, module)?)?;
    module.add_function(wrap_pyfunction!(labels::coordinate, module)?)?;
    module.add_function(wrap_pyfunction!(storage::storage, module)?)?;
    module.add_function(wrap_pyfunction!(storage::is_raw, module)?)?;
    module.add_function(wrap_pyfunction!(storage::codecs, module)?)?;
    #[cfg(feature = "zarr")]
    module.add_function(wrap_pyfunction!(references::references, module)?)?;
    module.add_function(wrap_pyfunction!(reduce::reduce, module)?)?;
    module.add_function(wrap_pyfunction!(reduce::summary, module)?)?;
    module.add_function(wrap_pyfunction!(query::query, module)?)?;
    module.add_function(wrap_pyfunction!(query::explain, module)?)?;
    module.add_function(wrap_pyfunction!(query::touched, module)?)?;
    module.add_function(wrap_pyfunction!(picture::picture, module)?)?;
    module.add_function(wrap_pyfunction!(check::verify, module)?)?;
    module.add_function(wrap_pyfunction!(diff::diff, module)?)?;
    module.add_function(wrap_pyfunction!(repair::repair, module)?)?;
    module.add_function(wrap_pyfunction!(write::convert, module)?)?;
    module.add_function(wrap_pyfunction!(write::check_output, module)?)?;
    module.add_class::<regions::Regions>()?;
    module.add_function(wrap_pyfunction!(regions::publish_parts, module)?)?;
    module.add_function(wrap_pyfunction!(regions::auto_chunks, module)?)?;
    module.add_function(wrap_pyfunction!(objects::write_object, module)?)?;
    module.add_function(wrap_pyfunction!(objects::has_object, module)?)?;
    module.add_function(wrap_pyfunction!(objects::missing_folder, module)?)?;
    module.add_function(wrap_pyfunction!(objects::read_object, module)?)?;
    module.add_function(wrap_pyfunction!(objects::list_objects, module)?)?;
    module.add_function(wrap_pyfunction!(objects::remove_objects, module)?)?;
    module.add_function(wrap_pyfunction!(write::convert_pieces, module)?)?;
    module.add_function(wrap_pyfunction!(write::append, module)?)?;
    Ok(())
}
