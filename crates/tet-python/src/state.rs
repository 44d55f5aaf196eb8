//! An open file that can be closed while datasets of it exist.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use tet_convert::Opened;
use tet_query::Execution;

/// A file that is open, with the bounds of its readers.
pub(crate) struct Open {
    /// Its catalog.
    pub(crate) opened: Opened,
    /// How it is read.
    pub(crate) how: Execution,
    /// Whether packed and masked values are decoded.
    pub(crate) is_decoded: bool,
    /// The names of its datasets, once they were asked for.
    pub(crate) names: PyOnceLock<Py<PyTuple>>,
}

/// Shared by a file and its datasets; empty once the file is closed. Reads that go on hold the file until they end.
#[derive(Clone)]
pub(crate) struct OpenState(Arc<Mutex<Option<Arc<Open>>>>);

impl OpenState {
    pub(crate) fn new(open: Open) -> OpenState {
        OpenState(Arc::new(Mutex::new(Some(Arc::new(open)))))
    }

    /// The open file.
    ///
    /// # Errors
    ///
    /// It is closed.
    pub(crate) fn get(&self) -> PyResult<Arc<Open>> {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.clone().ok_or_else(|| PyValueError::new_err("the file is closed"))
    }

    /// Whether it is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Closes it.
    pub(crate) fn close(&self) {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(open);
    }
}
