//! An open file as Python holds it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use tet_convert::ValidRange;
use tet_query::{Catalog, Dataset};

use crate::attrs;
use crate::bounds::{Bounds, Memory, Threads};
use crate::input::Input;
use crate::options;
use crate::run::attended;
use crate::selected::Selected;
use crate::state::{Open, OpenState};

/// From now on URLs are opened, with the variables of this environment.
#[pyfunction]
pub(crate) fn open_urls(variables: HashMap<String, String>) -> PyResult<()> {
    let lookup = tet::Lookup::new(move |name| variables.get(name).cloned());
    let settings = tet::Settings::from_variables(lookup).map_err(PyValueError::new_err)?;
    tet::open_urls(settings);
    Ok(())
}

/// A URL without what may be secret.
#[pyfunction]
pub(crate) fn without_secrets(url: PathBuf) -> String {
    tet_io::without_secrets(&url).into_owned()
}

/// An open file of any container.
#[pyclass(frozen, module = "tetfile._tetfile")]
pub(crate) struct OpenFile {
    state: OpenState,
}

impl OpenFile {
    pub(crate) fn state(&self) -> &OpenState {
        &self.state
    }
}

/// Which digests are compared, and when statistics are used.
#[derive(FromPyObject)]
struct Checks {
    #[pyo3(item(0))]
    digests: String,
    #[pyo3(item(1))]
    statistics: String,
}

#[pymethods]
impl OpenFile {
    /// Opens a file by its content.
    #[new]
    #[pyo3(signature = (path, io, checks, decoded, memory=None, threads=None))]
    fn new(
        py: Python<'_>,
        path: Input,
        io: &str,
        checks: Checks,
        decoded: bool,
        memory: Option<Memory>,
        threads: Option<Threads>,
    ) -> PyResult<OpenFile> {
        let bounds = Bounds::new(memory, threads);
        let mut how = bounds.execution(options::digests(&checks.digests)?);
        how.statistics = options::statistics(&checks.statistics)?;
        let mut options = bounds.open(options::io(io)?);
        let opened = attended(py, |progress| {
            options.progress = progress;
            let mut opened = path.open(&options)?;
            if decoded {
                opened.catalog = tet_convert::decoded(opened.catalog, ValidRange::Ignored);
            }
            Ok::<_, tet_convert::Error>(opened)
        })?;
        if memory.is_none() {
            how = how.within(hint(&opened));
        }
        Ok(OpenFile {
            state: OpenState::new(Open {
                opened,
                how,
                is_decoded: decoded,
                names: PyOnceLock::new(),
            }),
        })
    }

    /// Closes the file; reads that go on end first.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.state.close());
    }

    /// Whether the file is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.state.is_closed()
    }

    /// The name of its format.
    #[getter]
    fn format(&self) -> PyResult<&'static str> {
        Ok(self.state.get()?.opened.format.name())
    }

    /// The names of its datasets, in the order of the file; those that several have are `#N`, their positions.
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let open = self.state.get()?;
        let catalog = &open.opened.catalog;
        let names = catalog.datasets().iter().map(|dataset| key(catalog, dataset));
        let names = || PyTuple::new(py, names).map(Bound::unbind);
        Ok(open.names.get_or_try_init(py, names)?.bind(py).clone())
    }

    /// The dataset of this name, or the one at position N for `#N`.
    fn dataset(&self, py: Python<'_>, name: &str) -> PyResult<Selected> {
        let open = self.state.get()?;
        let found = open.opened.catalog.find(name);
        let found = found.map_err(|error| crate::error::raise(py, &error.into()))?;
        Selected::whole(py, &self.state, found)
    }

    /// The attributes of the file.
    fn attrs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        attrs::dict(py, self.state.get()?.opened.catalog.attrs())
    }

    /// Length and time of the last change of the file, in nanoseconds since 1970; of a file on a server a number of its
    /// version, which is the same in all processes.
    fn stamp(&self) -> PyResult<(u64, i128)> {
        let open = self.state.get()?;
        let source = open.opened.catalog.source();
        let stamp = source.stamp().map(|stamp| (stamp.size, stamp.mtime));
        let number = |version: &str| {
            let mut hasher = DefaultHasher::new();
            version.hash(&mut hasher);
            i128::from(hasher.finish())
        };
        Ok(stamp.unwrap_or((source.len(), source.version().map_or(0, number))))
    }

    /// The findings that are warnings on opening: not notes, nor those of datasets with a fault, which reading raises.
    fn warnings(&self) -> PyResult<Vec<String>> {
        let open = self.state.get()?;
        let warnings = open.opened.warnings().map(ToString::to_string);
        Ok(warnings.chain(open.opened.left_out().map(ToString::to_string)).collect())
    }

    /// The findings of opening the file, and the notes on what is not listed.
    fn findings(&self) -> PyResult<Vec<String>> {
        let open = self.state.get()?;
        let findings = open.opened.findings.iter().map(ToString::to_string);
        Ok(findings.chain(open.opened.left_out().map(ToString::to_string)).collect())
    }
}

/// The name by which a dataset is found: its own, or `#N` where others have the same.
pub(crate) fn key(catalog: &Catalog, dataset: &Dataset) -> String {
    let is_found = catalog.find(&dataset.name).is_ok_and(|found| found.index == dataset.index);
    if is_found { dataset.name.clone() } else { format!("#{}", dataset.index) }
}

/// The memory hint of a `.tet` file.
fn hint(opened: &tet_convert::Opened) -> Option<u64> {
    opened.tet.as_ref()?.index().header().memory_hint(u64::MAX)
}
