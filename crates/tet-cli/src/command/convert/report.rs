//! Reports what a conversion wrote, or why it failed.

use std::path::{Path, PathBuf};

use tet_convert::{ContainerFault, FaultCause, ImportReport, Note, NpyFault};

use super::outputs::no_option;
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::render::json::{Converted, ConvertedDataset};
use crate::size::{Size, counted};

/// Reports what was written; behind a file on standard output only warnings.
///
/// # Errors
///
/// Writing to standard output fails.
pub(crate) fn print_report(
    inputs: &[PathBuf],
    output: &Path,
    report: &ImportReport,
    is_json: bool,
    context: &mut Context<'_>,
) -> Result<Exit> {
    context.warn_all(&report.notes);
    if output.as_os_str() == "-" {
        return Ok(exit(report));
    }
    if let Some(text) = lost_text(report) {
        context.warn(text);
    }
    let output = report.index.as_deref().unwrap_or(output);
    if is_json {
        context.json(&shape(inputs, output, report))?;
    } else {
        let ratio = ratio(report.output_len, report.decoded_len);
        let shards = match report.shard_count {
            0 => String::new(),
            count => format!(" and {}", counted(u64::try_from(count).unwrap_or(0), "shard")),
        };
        context.note(format!(
            "wrote {}{shards}: {}, {} in {}{ratio}",
            tet_io::shown(output),
            counted(u64::try_from(report.datasets.len()).unwrap_or(0), "dataset"),
            Size(report.decoded_len),
            Size(report.output_len),
        ));
    }
    Ok(exit(report))
}

/// How many datasets of a damaged file are lost, or parts of them; `None` where none is.
fn lost_text(report: &ImportReport) -> Option<String> {
    let (mut partial, mut left, mut unknown) = (0, 0, "");
    for note in &report.notes {
        match note {
            Note::Damaged { dataset, .. } if dataset.is_empty() => {
                unknown = ", and others whose number is not known";
            }
            Note::Damaged { value: Some(_), .. } => partial += 1,
            Note::Damaged { value: None, .. } => left += 1,
            _ => {}
        }
    }
    let is_lost = partial + left != 0 || !unknown.is_empty();
    let written = u64::try_from(report.datasets.len()).unwrap_or(u64::MAX);
    is_lost.then(|| {
        format!(
            "salvaged {}: {partial} with missing values; {left} damaged left out{unknown}",
            counted(written, "dataset")
        )
    })
}

/// The exit code: whether elements of a damaged file were lost.
fn exit(report: &ImportReport) -> Exit {
    let is_lost = report.notes.iter().any(|note| matches!(note, Note::Damaged { .. }));
    if is_lost { Exit::No } else { Exit::Done }
}

/// ` (43 %)` of the bytes of the elements.
fn ratio(output_len: u64, decoded_len: u64) -> String {
    match (u128::from(output_len) * 100).checked_div(u128::from(decoded_len)) {
        Some(percent) => format!(" ({percent} %)"),
        None => String::new(),
    }
}

/// The report as JSON.
pub(crate) fn shape(inputs: &[PathBuf], output: &Path, report: &ImportReport) -> Converted {
    let inputs: Vec<_> = inputs.iter().map(|input| tet_io::without_secrets(input)).collect();
    Converted {
        schema: "tet.convert/1",
        input: inputs.join(", "),
        output: tet_io::without_secrets(output).into_owned(),
        input_len: report.input_len,
        decoded_len: report.decoded_len,
        output_len: report.output_len,
        datasets: report
            .datasets
            .iter()
            .map(|dataset| ConvertedDataset {
                name: dataset.name.clone(),
                dtype: dataset.dtype.clone(),
                shape: dataset.shape.clone(),
                chunk_shape: dataset.chunk_shape.clone(),
            })
            .collect(),
        notes: report.notes.iter().map(ToString::to_string).collect(),
    }
}

/// The failure of a conversion; for a dataset that cannot be converted, with the option that excludes it.
pub(crate) fn failure(error: tet_convert::Error) -> Failure {
    use tet_query::Error as E;
    let error = match error {
        tet_convert::Error::InFile { path, error } => return failure(*error).about(&path),
        tet_convert::Error::Query(E::InFile { file, fault }) => {
            return failure((*fault).into()).about(&file);
        }
        error => error,
    };
    let hint = match &error {
        tet_convert::Error::Query(E::Unreadable { dataset, .. }) => Some(omit(dataset)),
        tet_convert::Error::NoReferences { dataset, .. } => Some(omit(dataset)),
        tet_convert::Error::Container(fault) => container_hint(fault),
        tet_convert::Error::Stack { dataset, .. } => {
            Some(format!("--exclude {dataset:?} omits them"))
        }
        tet_convert::Error::Array { array, fault: NpyFault::Dtype { .. } } => Some(omit(array)),
        _ => None,
    };
    let is_damaged = matches!(
        &error,
        tet_convert::Error::Query(fault @ (E::Codec { .. } | E::Chunk { .. } | E::Foreign { .. } | E::Shard { .. }))
            if fault.kind() == tet_io::Kind::Format && !fault.is_unsupported()
    );
    let mut failure = Failure::from(error);
    failure.hint = hint.or(failure.hint.take());
    if is_damaged {
        const WAY: &str = "--salvage writes all that can be read";
        let hint = failure.hint.take();
        failure.hint = Some(hint.map_or_else(|| WAY.to_owned(), |hint| format!("{hint}; {WAY}")));
    }
    failure
}

/// The hint for a dataset that an output cannot store.
fn container_hint(fault: &ContainerFault) -> Option<String> {
    let hint = match (fault.cause(), fault.dataset()) {
        (FaultCause::NotFinite, _) => {
            "--masks all stores NaN and infinities as masks, and packs the rest".to_owned()
        }
        (FaultCause::PartNameTaken, _) => {
            "--sparse native or dense writes sparse tensors without components".to_owned()
        }
        (FaultCause::Unwritable, Some(dataset)) => {
            format!("--exclude {dataset:?} omits it; --dataset converts only the named datasets")
        }
        _ => return None,
    };
    Some(hint)
}

/// The options that omit a dataset.
fn omit(dataset: &str) -> String {
    format!("--exclude {dataset:?} omits it, --skip-unsupported all such datasets")
}

/// The failure, with the path of the input, or of an output that exists. Of several inputs the error itself names the
/// one that was read; all else is about the output.
pub(crate) fn failed(error: tet_convert::Error, inputs: &[PathBuf], output: &Path) -> Failure {
    if let tet_convert::Error::NoOption { option, .. } = &error {
        return no_option(output, option);
    }
    if matches!(error, tet_convert::Error::LevelAlone { .. }) {
        return failure(error).about(output);
    }
    let mut failure = failure(error);
    if failure.code == "exists" {
        failure.file = None;
        // That of a URL also has the reason why --force does not help.
        if !tet_io::is_url(output) {
            failure = failure.saying(format!("{} exists", tet_io::shown(output)));
        }
        return failure.about(output);
    }
    match inputs {
        [input] => failure.about(input),
        _ if failure.exit == Exit::Usage => failure.about(output),
        _ => failure,
    }
}
