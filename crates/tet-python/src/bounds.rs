//! Memory and threads as Python passes them, and as the engine has them.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use tet_convert::{Io, OpenOptions};
use tet_query::{DigestPolicy, Execution, THREADS_MAX};

/// Bytes: a number of them, or a text that the command takes for `--memory`, as `512MiB`.
#[derive(Clone, Copy)]
pub(crate) struct Memory(pub(crate) u64);

impl<'py> FromPyObject<'_, 'py> for Memory {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Memory> {
        let wrong = |why: &str| PyValueError::new_err(format!("memory={value:?}: {why}"));
        if let Ok(text) = value.cast::<PyString>() {
            return tet_io::parse_size(text.to_str()?, KILO).map(Memory).map_err(|why| wrong(&why));
        }
        let wanted = "a number of bytes, or a text as \"512MiB\"";
        let number = integer(&value, wanted)?;
        number.map(Memory).ok_or_else(|| wrong(&format!("give {wanted}")))
    }
}

/// How many threads; 0 is one for each processor.
#[derive(Clone, Copy)]
pub(crate) struct Threads(pub(crate) usize);

impl<'py> FromPyObject<'_, 'py> for Threads {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Threads> {
        let number = integer(&value, "a number of threads")?;
        let number = number.and_then(|number| usize::try_from(number).ok());
        let count = number.filter(|count| *count <= THREADS_MAX).map(Threads);
        count.ok_or_else(|| {
            let wanted = format!("give 0 to {THREADS_MAX}; 0 is one for each processor");
            PyValueError::new_err(format!("threads={value:?}: {wanted}"))
        })
    }
}

/// `K` is 1024, as for the command.
const KILO: u64 = 1024;

/// An integer of Python or NumPy; `None` where it is negative or too large.
fn integer(value: &Borrowed<'_, '_, PyAny>, wanted: &str) -> PyResult<Option<u64>> {
    let is_index = value.hasattr("__index__")? && !value.is_instance_of::<PyBool>();
    if is_index {
        return Ok(value.extract().ok());
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("{wanted} is expected, not {kind}")))
}

/// Memory in bytes and threads, where the caller sets them.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    /// The most bytes in flight.
    pub(crate) memory: Option<u64>,
    /// Threads that read.
    pub(crate) threads: Option<usize>,
}

impl Bounds {
    /// The bounds that Python passes.
    pub(crate) fn new(memory: Option<Memory>, threads: Option<Threads>) -> Bounds {
        let (memory, threads) = (memory.map(|it| it.0), threads.map(|it| it.0));
        Bounds { memory, threads }
    }

    /// How a file is opened.
    pub(crate) fn open(self, io: Io) -> OpenOptions {
        let mut options = OpenOptions::default();
        options.io = io;
        options.memory_budget = self.memory.unwrap_or(options.memory_budget);
        options
    }

    /// How a file is read.
    pub(crate) fn execution(self, digests: DigestPolicy) -> Execution {
        let usual = Execution::default();
        Execution {
            threads: self.threads.unwrap_or(usual.threads),
            memory_budget: self.memory.unwrap_or(usual.memory_budget),
            digests,
            ..usual
        }
    }
}
