//! Checks of files.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tet_verify::{Finding, Level, Report, Strictness, VerifyOptions};

use crate::bounds::{Bounds, Memory, Threads};
use crate::input::Input;
use crate::options::unknown;
use crate::run::{ProgressCallback, detached};

/// Checks a file; the report as a dict.
#[pyfunction]
#[pyo3(signature = (path, level, strict, memory=None, threads=None, progress=None))]
pub(crate) fn verify<'py>(
    py: Python<'py>,
    path: Input,
    level: &str,
    strict: bool,
    memory: Option<Memory>,
    threads: Option<Threads>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let levels = [Level::Structure, Level::Checksums, Level::Deep];
    let found = levels.into_iter().find(|it| it.name() == level);
    let level = found.ok_or_else(|| unknown("level", level, "structure, checksums, deep"))?;
    let bounds = Bounds::new(memory, threads);
    let report = detached(py, &ProgressCallback::long(progress), |progress| {
        let usual = VerifyOptions::default();
        let options = VerifyOptions {
            level,
            strictness: if strict { Strictness::Strict } else { Strictness::Usual },
            memory_budget: bounds.memory.unwrap_or(usual.memory_budget),
            threads: bounds.threads.unwrap_or(usual.threads),
            progress: progress.begin(0),
            ..usual
        };
        let source = path.document()?;
        tet_convert::verify(&source, &options)
    })?;
    shown(py, &report)
}

fn shown<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("ok", report.is_ok())?;
    dict.set_item("integrity", report.integrity.name())?;
    dict.set_item("level", report.level.name())?;
    let findings: PyResult<Vec<_>> = report.findings.iter().map(|it| finding(py, it)).collect();
    dict.set_item("findings", findings?)?;
    let omitted = report.omitted.iter().map(|it| it.count);
    dict.set_item("omitted_count", omitted.fold(0_u64, u64::saturating_add))?;
    dict.set_item("dataset_count", report.dataset_count)?;
    dict.set_item("chunk_count", report.row_count)?;
    dict.set_item("file_len", report.file_len)?;
    dict.set_item("checked_len", report.checked_len)?;
    Ok(dict)
}

pub(crate) fn finding<'py>(py: Python<'py>, finding: &Finding) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("severity", finding.severity.name())?;
    dict.set_item("rule", finding.code.id())?;
    dict.set_item("message", finding.to_string())?;
    dict.set_item("advice", finding.advice())?;
    dict.set_item("byte", finding.place.offset)?;
    dict.set_item("dataset", finding.place.dataset_name.clone())?;
    dict.set_item("attribute", finding.place.attribute.clone())?;
    let chunk = finding.place.chunk.clone();
    let chunk = chunk.map(|chunk| pyo3::types::PyTuple::new(py, chunk)).transpose();
    dict.set_item("chunk", chunk.map_err(|_| PyValueError::new_err("no memory"))?)?;
    Ok(dict)
}
