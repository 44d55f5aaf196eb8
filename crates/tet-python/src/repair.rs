//! Repairs of damaged files.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tet_convert::{Error, RepairOptions as RepairOptionsOfAny};
use tet_format::Losses;
use tet_io::{Output, Overwrite, Progress, Publish, Source};
use tet_report::{Edit, Finding, Plan};
use tet_verify::repair::{Chosen, RepairOptions, Salvage, Trust};

use crate::bounds::Memory;
use crate::check::finding;
use crate::options::extract;
use crate::run::{ProgressCallback, detached};

/// Arguments of a repair, as Python passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct RepairArguments {
    /// Where the repaired file goes; in place of the damaged one where there is none.
    output: Option<PathBuf>,
    overwrite: bool,
    /// Whether nothing is written.
    dry_run: bool,
    /// A copy of the file, with chunks that are lost in it.
    copy: Option<PathBuf>,
    trust_copy: bool,
    salvage: bool,
    fill: Option<i128>,
    /// An argument of its own, whose errors name it.
    #[pyo3(default)]
    memory: Option<u64>,
}

/// Edits of a repair, done or planned.
#[derive(Default)]
struct Repaired {
    edits: Vec<Seen>,
    lost: Vec<String>,
    remaining: Vec<Finding>,
    is_whole: bool,
    is_written: bool,
}

/// An edit as it is shown.
struct Seen {
    rule: &'static str,
    message: &'static str,
    action: String,
    byte: u64,
    len: u64,
    proof: &'static str,
    losses: Vec<String>,
    is_withheld: bool,
}

/// Plans the repair of the file at a path, and makes it.
#[pyfunction]
#[pyo3(signature = (path, asked, memory=None, progress=None))]
pub(crate) fn repair<'py>(
    py: Python<'py>,
    path: PathBuf,
    asked: &Bound<'py, PyDict>,
    memory: Option<Memory>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let asked = RepairArguments { memory: memory.map(|it| it.0), ..extract(asked)? };
    let done = detached(py, &ProgressCallback::long(progress), |progress| {
        let document = tet_convert::document_of(&path);
        let source = Source::open(&document)?;
        let format = tet_convert::sniff(&source)?;
        let container = tet_convert::container(format);
        if container.is_some_and(|container| container.repairer().is_some()) {
            if asked.copy.is_some() || asked.salvage {
                return Ok(Err(
                    "copy and salvage are for .tet files: convert(..., salvage=True) writes what can be read",
                ));
            }
            return checked(&source, &document, &asked, progress).map(Ok);
        }
        if format.may_be_tet() {
            return tet(&source, &path, &asked, progress).map(Ok);
        }
        Ok(Err("files of this format have no checksums to repair by"))
    })?;
    let done = done.map_err(|message| crate::error::unsupported_file(py, &path, message))?;
    shown(py, &done)
}

fn tet(
    source: &Source,
    path: &Path,
    asked: &RepairArguments,
    progress: Progress,
) -> Result<Repaired, Error> {
    let usual = RepairOptions::default();
    let options = RepairOptions {
        from: asked.copy.as_ref().map(Source::open).transpose()?,
        trust: if asked.trust_copy { Trust::Other } else { Trust::Digest },
        salvage: asked.salvage.then_some(Salvage { fill: asked.fill }),
        losses: losses(asked),
        memory_budget: asked.memory.unwrap_or(usual.memory_budget),
        progress,
        ..usual
    };
    let plan = tet_verify::repair::plan(source, &options).map_err(Error::from)?;
    done(&plan, path, asked, |output, publish| {
        let applied = tet_verify::repair::apply(&plan, &Chosen::All, output, publish);
        applied.map(|it| it.remaining).map_err(Error::from)
    })
}

/// Puts back flipped bits of stored bytes that have checksums.
fn checked(
    source: &Source,
    path: &Path,
    asked: &RepairArguments,
    progress: Progress,
) -> Result<Repaired, Error> {
    let usual = RepairOptionsOfAny::default();
    let memory_budget = asked.memory.unwrap_or(usual.memory_budget);
    let options = RepairOptionsOfAny { memory_budget, progress, ..usual };
    let plan = tet_convert::plan_repair(source, &options)?;
    done(&plan.plan, path, asked, |output, publish| {
        plan.apply(output, publish).map(|it| it.remaining)
    })
}

fn losses(asked: &RepairArguments) -> Losses {
    if asked.salvage { Losses::Allowed } else { Losses::default() }
}

/// Makes the edits of a plan where they are asked for.
fn done<A: Display, L: Display, C, T: Display, O>(
    plan: &Plan<Edit<A, L, C>, T, O>,
    path: &Path,
    asked: &RepairArguments,
    apply: impl FnOnce(Output<'_>, &Publish) -> Result<Vec<Finding>, Error>,
) -> Result<Repaired, Error> {
    let edits = plan.edits.iter().map(|edit| seen(edit, false));
    let withheld = plan.withheld.iter().map(|edit| seen(edit, true));
    let mut done = Repaired {
        edits: edits.chain(withheld).collect(),
        lost: plan.lost.iter().map(ToString::to_string).collect(),
        remaining: plan.remaining.clone(),
        is_whole: plan.is_whole() && plan.error_count == 0,
        is_written: false,
    };
    if asked.dry_run || plan.edits.is_empty() {
        return Ok(done);
    }
    let force = if asked.overwrite { Overwrite::Replace } else { Overwrite::Refuse };
    let publish = Publish { force, ..Publish::default() };
    let output = asked.output.as_deref().map_or(Output::InPlace(path), Output::NewFile);
    done.remaining = apply(output, &publish)?;
    done.is_written = true;
    Ok(done)
}

fn seen<A: Display, L: Display, C>(edit: &Edit<A, L, C>, is_withheld: bool) -> Seen {
    Seen {
        rule: edit.code.id(),
        message: edit.code.text(),
        action: edit.action.to_string(),
        byte: edit.offset,
        len: edit.len,
        proof: edit.proof.name(),
        losses: edit.losses.iter().map(ToString::to_string).collect(),
        is_withheld,
    }
}

fn shown<'py>(py: Python<'py>, done: &Repaired) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let edits = PyList::empty(py);
    for edit in &done.edits {
        let shown = PyDict::new(py);
        shown.set_item("rule", edit.rule)?;
        shown.set_item("message", edit.message)?;
        shown.set_item("action", &edit.action)?;
        shown.set_item("byte", edit.byte)?;
        shown.set_item("length", edit.len)?;
        shown.set_item("proof", edit.proof)?;
        shown.set_item("losses", &edit.losses)?;
        shown.set_item("made", done.is_written && !edit.is_withheld)?;
        edits.append(shown)?;
    }
    dict.set_item("edits", edits)?;
    dict.set_item("lost", &done.lost)?;
    let remaining: PyResult<Vec<_>> = done.remaining.iter().map(|it| finding(py, it)).collect();
    dict.set_item("remaining", remaining?)?;
    dict.set_item("whole", done.is_whole)?;
    dict.set_item("written", done.is_written)?;
    Ok(dict)
}
