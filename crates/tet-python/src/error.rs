//! Errors of the engine as exceptions: which one, and where in the file.

use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

use pyo3::exceptions::{
    PyConnectionError, PyException, PyFileNotFoundError, PyIsADirectoryError, PyNotADirectoryError,
    PyOSError, PyPermissionError, PyTimeoutError,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tet_document::Error as DocumentError;
use tet_format::ForeignFault;
use tet_io::Kind;
use tet_query::{Error as QueryError, SelectionFault};

/// The module of the exceptions.
const MODULE: &str = "tetfile._errors";

/// Where something is wrong.
#[derive(Default)]
struct ErrorLocation {
    path: Option<String>,
    rule: Option<&'static str>,
    byte: Option<u64>,
    dataset: Option<String>,
    chunk: Option<Vec<u64>>,
}

impl ErrorLocation {
    fn of_dataset(dataset: &str) -> ErrorLocation {
        ErrorLocation { dataset: Some(dataset.to_owned()), ..ErrorLocation::default() }
    }

    fn fault(self, fault: &tet_format::Error) -> ErrorLocation {
        ErrorLocation { rule: Some(fault.rule.id()), byte: Some(fault.at), ..self }
    }

    fn foreign(self, fault: &ForeignFault) -> ErrorLocation {
        ErrorLocation { rule: Some(fault.rule.id), byte: Some(fault.at), ..self }
    }

    fn path(self, path: &Path) -> ErrorLocation {
        ErrorLocation { path: Some(path.to_string_lossy().into_owned()), ..self }
    }
}

/// The exception of an error.
pub(crate) fn raise(py: Python<'_>, error: &tet::Error) -> PyErr {
    if let Some(cause) = cause(error) {
        return of_python(py, error, cause).unwrap_or_else(|failed| failed);
    }
    if let Some(refused) = of_system(error) {
        return refused;
    }
    made(py, class(error), &error.to_string(), place(error)).unwrap_or_else(|failed| failed)
}

/// The exception of a mistake of the engine.
pub(crate) fn internal(py: Python<'_>, what: &str) -> PyErr {
    let message = format!("internal error of tetfile: {what}; please report it");
    made(py, "TetError", &message, ErrorLocation::default()).unwrap_or_else(|failed| failed)
}

/// The exception of something that this build does not do.
pub(crate) fn unsupported(py: Python<'_>, dataset: &str, message: &str) -> PyErr {
    let place = ErrorLocation::of_dataset(dataset);
    made(py, "UnsupportedError", message, place).unwrap_or_else(|failed| failed)
}

/// The exception of a file that something is not done with.
pub(crate) fn unsupported_file(py: Python<'_>, path: &Path, message: &str) -> PyErr {
    let message = format!("{}: {message}", tet_io::shown(path));
    let place = ErrorLocation::default().path(path);
    made(py, "UnsupportedError", &message, place).unwrap_or_else(|failed| failed)
}

/// The exception of an argument that does not fit a file.
pub(crate) fn usage(py: Python<'_>, path: &Path, message: &str) -> PyErr {
    let place = ErrorLocation::default().path(path);
    made(py, "UsageError", message, place).unwrap_or_else(|failed| failed)
}

/// An exception of a class of this package.
fn made(py: Python<'_>, class: &str, message: &str, place: ErrorLocation) -> PyResult<PyErr> {
    let known = PyDict::new(py);
    known.set_item("path", place.path)?;
    known.set_item("rule", place.rule)?;
    known.set_item("byte", place.byte)?;
    known.set_item("dataset", place.dataset)?;
    let chunk = place.chunk.map(|chunk| pyo3::types::PyTuple::new(py, chunk)).transpose()?;
    known.set_item("chunk", chunk)?;
    let class = py.import(MODULE)?.getattr(class)?;
    Ok(PyErr::from_value(class.call((message,), Some(&known))?))
}

/// An exception that an object of Python raised while it read a file, as an error of the system.
#[derive(Debug)]
struct Raised(PyErr);

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.to_string().lines().next().unwrap_or_default())
    }
}

impl std::error::Error for Raised {}

/// Wraps the exception of an object of Python that read a file: [`raise`] gives it as the cause of an exception.
pub(crate) fn raised(error: PyErr) -> std::io::Error {
    let kind = Python::attach(|py| match () {
        () if error.is_instance_of::<PyFileNotFoundError>(py) => ErrorKind::NotFound,
        () if error.is_instance_of::<PyIsADirectoryError>(py) => ErrorKind::IsADirectory,
        () if error.is_instance_of::<PyNotADirectoryError>(py) => ErrorKind::NotADirectory,
        () => ErrorKind::Other,
    });
    std::io::Error::new(kind, Raised(error))
}

/// Whether an exception is that of a file that changed.
pub(crate) fn is_changed(py: Python<'_>, error: &PyErr) -> bool {
    let class = py.import(MODULE).and_then(|module| module.getattr("ChangedError"));
    class.is_ok_and(|class| error.is_instance(py, &class))
}

/// The exception that an object of Python raised while it read a file, however deep it is.
fn cause<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e PyErr> {
    if let Some(Raised(found)) = error.downcast_ref() {
        return Some(found);
    }
    // The source of an error of the system is that of the error in it.
    match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
        Some(inner) => cause(inner),
        None => cause(error.source()?),
    }
}

/// The `OSError` of an exception that an object of Python raised, which is its cause; `KeyboardInterrupt` and such, and
/// exceptions of this package, are raised as they are.
fn of_python(py: Python<'_>, error: &tet::Error, cause: &PyErr) -> PyResult<PyErr> {
    let cause = cause.clone_ref(py);
    let own = py.import(MODULE)?.getattr("TetError")?;
    if !cause.is_instance_of::<PyException>(py) || cause.is_instance(py, &own) {
        return Ok(cause);
    }
    let known = [
        py.get_type::<PyFileNotFoundError>(),
        py.get_type::<PyIsADirectoryError>(),
        py.get_type::<PyPermissionError>(),
        py.get_type::<PyTimeoutError>(),
        py.get_type::<PyConnectionError>(),
    ];
    let class = known.into_iter().find(|class| cause.is_instance(py, class));
    let class = class.unwrap_or_else(|| py.get_type::<PyOSError>());
    let raised = PyErr::from_value(class.call1((error.to_string(),))?);
    raised.set_cause(py, Some(cause));
    Ok(raised)
}

/// The `OSError` of what the system refused; Python finds its subclass by the number.
fn of_system(error: &tet::Error) -> Option<PyErr> {
    if let Some((path, system)) = error.system().filter(|_| error.kind() == Kind::Io) {
        let missing = tet_io::missing_folder(path).filter(|_| system.kind() == ErrorKind::NotFound);
        let path = tet_io::without_secrets(path).into_owned();
        let text = system.to_string();
        let mut text = text.split(" (os error").next().unwrap_or_default().to_owned();
        if let Some(folder) = missing {
            text.push_str(&format!(": the folder {} does not exist", tet_io::shown(folder)));
        }
        // A server's answer has no number.
        let number = system.raw_os_error().or(match system.kind() {
            ErrorKind::WouldBlock => Some(EAGAIN),
            ErrorKind::NotFound => Some(ENOENT),
            ErrorKind::PermissionDenied => Some(EACCES),
            _ => None,
        });
        return Some(match number {
            Some(number) => PyOSError::new_err((number, text, path)),
            None => PyOSError::new_err(error.to_string()),
        });
    }
    let refused = io(error)?;
    let (number, path) = match refused {
        tet_io::Error::NotRegular { path, what } if what.contains("directory") => (EISDIR, path),
        tet_io::Error::NotFolder { path } => (ENOTDIR, path),
        tet_io::Error::Exists { path }
        | tet_io::Error::FolderExists { path }
        | tet_io::Error::Unfinished { path } => (EEXIST, path),
        tet_io::Error::NoLease { path, .. } => (EAGAIN, path),
        tet_io::Error::NotRegular { path, .. } => (EINVAL, path),
        tet_io::Error::NotWritten { path, .. } => (EIO, path),
        _ => return None,
    };
    // Python adds the path.
    let text = refused.to_string();
    let text = text.strip_prefix(&tet_io::shown(path)).unwrap_or(&text).trim_start().to_owned();
    Some(PyOSError::new_err((number, text, tet_io::without_secrets(path).into_owned())))
}

/// Numbers of errors, the same on every system that Python runs on.
const ENOENT: i32 = 2;
const EIO: i32 = 5;
const EAGAIN: i32 = 11;
const EACCES: i32 = 13;
const EEXIST: i32 = 17;
const ENOTDIR: i32 = 20;
const EISDIR: i32 = 21;
const EINVAL: i32 = 22;

/// The error of a file, however deep it is.
fn io(error: &tet::Error) -> Option<&tet_io::Error> {
    match error {
        tet::Error::File(error) => match within(error) {
            tet_convert::Error::Io(error) => Some(error),
            tet_convert::Error::File(tet_file::Error::Io(error)) => Some(error),
            tet_convert::Error::Query(error) => io_of_query(error),
            tet_convert::Error::Verify(tet_verify::Error::Io(error)) => Some(error),
            _ => None,
        },
        tet::Error::Query(error) | tet::Error::Document(DocumentError::Query(error)) => {
            io_of_query(error)
        }
        _ => None,
    }
}

fn io_of_query(error: &QueryError) -> Option<&tet_io::Error> {
    match error {
        QueryError::Io(error) | QueryError::File(tet_file::Error::Io(error)) => Some(error),
        QueryError::Unreadable { cause, .. } => io_of_query(cause),
        _ => None,
    }
}

/// The error of one of several files without the file.
fn within(error: &tet_convert::Error) -> &tet_convert::Error {
    match error {
        tet_convert::Error::InFile { error, .. } => within(error),
        error => error,
    }
}

/// The error of a question, however deep it is.
fn query(error: &tet::Error) -> Option<&QueryError> {
    match error {
        tet::Error::File(error) => match within(error) {
            tet_convert::Error::Query(error) => Some(error),
            _ => None,
        },
        tet::Error::Query(error) | tet::Error::Document(DocumentError::Query(error)) => Some(error),
        _ => None,
    }
}

/// The class of an error.
fn class(error: &tet::Error) -> &'static str {
    if matches!(io(error), Some(tet_io::Error::Changed { .. })) {
        return "ChangedError";
    }
    if let tet::Error::File(error) = error
        && let Some(found) = class_of_several(error)
    {
        return found;
    }
    if let tet::Error::File(error) = error
        && let tet_convert::Error::NotReadable { .. }
        | tet_convert::Error::NotVerifiable { .. }
        | tet_convert::Error::NoSuchDType { .. }
        | tet_convert::Error::NoReferences { .. }
        | tet_convert::Error::Clipped { .. } = within(error)
    {
        return "UnsupportedError";
    }
    let Some(question) = query(error) else { return of_kind(error.kind()) };
    class_of_query(question)
}

/// The class that several datasets share: damage if one is damaged, else that of the first.
fn class_of_several(error: &tet_convert::Error) -> Option<&'static str> {
    let tet_convert::Error::Several { faults, .. } = within(error) else { return None };
    let classes = faults.iter().map(|fault| match within(fault) {
        tet_convert::Error::NoReferences { .. } | tet_convert::Error::Clipped { .. } => {
            "UnsupportedError"
        }
        tet_convert::Error::Query(question) => class_of_query(question),
        other => of_kind(other.kind()),
    });
    let classes: Vec<_> = classes.collect();
    let damage = classes.iter().find(|class| **class == "DamagedError");
    damage.or(classes.first()).copied()
}

fn class_of_query(question: &QueryError) -> &'static str {
    match question {
        question if question.is_unsupported() => "UnsupportedError",
        QueryError::InFile { fault, .. } => class_of_query(fault),
        QueryError::NoSuchDataset { .. } | QueryError::Ambiguous { .. } => "NotFoundError",
        QueryError::Selection(wrong) => match *wrong.fault {
            SelectionFault::NoSuchAxis { .. }
            | SelectionFault::NoSuchLabel { .. }
            | SelectionFault::NoLabels { .. } => "NotFoundError",
            SelectionFault::OutOfExtent { .. } => "OutOfRangeError",
            _ => "UsageError",
        },
        QueryError::Text { .. }
        | QueryError::NoTexts { .. }
        | QueryError::OtherType { .. }
        | QueryError::Undefined { .. } => "ElementTypeError",
        question => of_kind(question.kind()),
    }
}

fn of_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Format => "DamagedError",
        Kind::Usage => "UsageError",
        Kind::Limit => "LimitError",
        Kind::Io => "TetError",
    }
}

fn place(error: &tet::Error) -> ErrorLocation {
    if let Some(error) = io(error) {
        let byte = match error {
            tet_io::Error::PastEnd { end, .. } => Some(*end),
            _ => None,
        };
        return ErrorLocation { byte, ..ErrorLocation::default().path(error.path()) };
    }
    if let Some(question) = query(error) {
        return of_query(question);
    }
    let tet::Error::File(error) = error else { return ErrorLocation::default() };
    of_convert(error)
}

fn of_convert(error: &tet_convert::Error) -> ErrorLocation {
    match error {
        tet_convert::Error::InFile { path, error } => of_convert(error).path(path),
        tet_convert::Error::File(error) => of_file(error),
        tet_convert::Error::Verify(tet_verify::Error::File(error)) => of_file(error),
        tet_convert::Error::Foreign { path, fault, .. } => {
            ErrorLocation::default().path(path).foreign(fault)
        }
        tet_convert::Error::NotReadable { path, .. }
        | tet_convert::Error::NotVerifiable { path, .. }
        | tet_convert::Error::Archive { path, .. }
        | tet_convert::Error::NoArrays { path }
        | tet_convert::Error::NotArrays { path, .. }
        | tet_convert::Error::UnknownTarget { path, .. }
        | tet_convert::Error::NotWritable { path, .. } => ErrorLocation::default().path(path),
        tet_convert::Error::NoReferences { dataset, .. }
        | tet_convert::Error::Clipped { dataset } => ErrorLocation::of_dataset(dataset),
        tet_convert::Error::Container(fault) => ErrorLocation {
            rule: fault.rule().map(|rule| rule.id),
            byte: fault.at(),
            dataset: fault.dataset().map(str::to_owned),
            ..ErrorLocation::default()
        },
        _ => ErrorLocation::default(),
    }
}

fn of_file(error: &tet_file::Error) -> ErrorLocation {
    match error {
        tet_file::Error::Format(fault) => ErrorLocation::default().fault(fault),
        tet_file::Error::Part { path, at, .. } => {
            ErrorLocation { byte: Some(*at), ..ErrorLocation::default().path(path) }
        }
        tet_file::Error::Region { dataset, .. }
        | tet_file::Error::ChunkMemory { dataset, .. }
        | tet_file::Error::PartialMemory { dataset, .. } => ErrorLocation::of_dataset(dataset),
        tet_file::Error::Incomplete { dataset, coord, .. }
        | tet_file::Error::Conflict { dataset, coord, .. } => {
            ErrorLocation { chunk: Some(coord.clone()), ..ErrorLocation::of_dataset(dataset) }
        }
        _ => ErrorLocation::default(),
    }
}

fn of_query(error: &QueryError) -> ErrorLocation {
    let chunked = |dataset: &str, chunk: &tet_format::Shape, byte| {
        let chunk = Some(chunk.to_vec());
        ErrorLocation { chunk, byte, ..ErrorLocation::of_dataset(dataset) }
    };
    match error {
        QueryError::File(error) => of_file(error),
        QueryError::Unreadable { dataset, cause } => {
            ErrorLocation { dataset: Some(dataset.clone()), ..of_query(cause) }
        }
        QueryError::InFile { file, fault } => of_query(fault).path(file),
        QueryError::Dataset { dataset, fault } => ErrorLocation::of_dataset(dataset).fault(fault),
        QueryError::Foreign { dataset, fault } | QueryError::Shard { dataset, fault, .. } => {
            ErrorLocation::of_dataset(dataset).foreign(fault)
        }
        QueryError::Chunk { dataset, chunk, fault } => chunked(dataset, chunk, None).fault(fault),
        QueryError::MissingChunk { dataset, chunk }
        | QueryError::UnknownCodec { dataset, chunk, .. } => chunked(dataset, chunk, None),
        QueryError::DuplicateChunk { dataset, chunk, at }
        | QueryError::Codec { dataset, chunk, at, .. } => chunked(dataset, chunk, Some(*at)),
        QueryError::Opaque { dataset, .. }
        | QueryError::Compound { dataset, .. }
        | QueryError::Text { dataset }
        | QueryError::NoTexts { dataset, .. }
        | QueryError::UnknownDType { dataset, .. }
        | QueryError::Misfit { dataset, .. }
        | QueryError::OtherType { dataset, .. }
        | QueryError::Incomparable { dataset, .. }
        | QueryError::NoFill { dataset, .. }
        | QueryError::Inexact { dataset, .. } => ErrorLocation::of_dataset(dataset),
        QueryError::NoSuchDataset { name, .. } | QueryError::Ambiguous { name, .. } => {
            ErrorLocation::of_dataset(name)
        }
        _ => ErrorLocation::default(),
    }
}
