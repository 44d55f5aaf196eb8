//! The datasets of several files one behind the other, along an axis.

use std::path::{Path, PathBuf};

use tet_io::publish::Sync;
use tet_io::{Publish, Step};

use crate::append::{AxisAppend, append};
use crate::container::{EditOptions, writable};
use crate::convert::{convert, folder_of};
use crate::model::logical::byte_len;
use crate::open::open;
use crate::read::opened::OpenOptions;
use crate::write::conversion::ConvertOptions;
use crate::write::options::{ImportOptions, ImportReport, Imported};
use crate::{Error, Result};

/// Writes the datasets of the first file, grown along an axis by those of the others, to the new file `output`. What
/// [`append`](crate::append) asks of files that are appended holds for the others.
///
/// Another output than `.tet` is made of a scratch file of `.tet` in its folder.
///
/// # Errors
/// As [`convert`](crate::convert) for the first file and the output, and as [`append`](crate::append) for the others.
///
/// # Examples
///
/// ```no_run
/// use tet_convert::{ConvertOptions, concat};
///
/// let months = ["may.nc".into(), "june.nc".into()];
/// concat(&months, "time", "spring.tet".as_ref(), &ConvertOptions::default())?;
/// # Ok::<(), tet_convert::Error>(())
/// ```
pub fn concat(
    inputs: &[PathBuf],
    axis: &str,
    output: &Path,
    options: &ConvertOptions,
) -> Result<ImportReport> {
    let (format, _) = writable(options.output_name(output))?;
    let Some((first, others)) = inputs.split_first() else {
        return Err(Error::NoDatasets { encoding: format.name() });
    };
    let folder = folder_of(output);
    let scratch = tempfile::Builder::new().prefix(".tet-concat-").tempdir_in(&folder);
    let scratch = scratch.map_err(|error| tet_io::Error::io(Step::Create, &folder, error))?;
    let path = scratch.path().join("first.tet");
    let is_tet = writable(&path)?.0 == format;
    // What is asked of the output alone comes with its own conversion.
    let mut of_first = options.clone();
    of_first.tet.sync = Sync::None;
    of_first.to = None;
    if !is_tet {
        of_first.tet = ImportOptions {
            include: options.tet.include.clone(),
            exclude: options.tet.exclude.clone(),
            dims: options.tet.dims.clone(),
            sync: Sync::None,
            ..ImportOptions::default()
        };
        of_first.codecs.clear();
    }
    let mut report = convert(first, &path, &of_first)?;
    let publish =
        Publish { force: options.tet.overwrite, sync: options.tet.sync, ..Publish::default() };
    let edit = EditOptions {
        publish,
        progress: options.execution.progress.clone(),
        history: options.tet.history.filter(|_| is_tet),
        reserved_rows: if is_tet { options.tet.reserved_rows } else { 0 },
        ..EditOptions::default()
    };
    let target = if is_tet { output.to_path_buf() } else { scratch.path().join("all.tet") };
    let asked = AxisAppend { axis, inputs: others, output: Some(&target), ..AxisAppend::default() };
    let grown = append(&path, &asked, &edit, &options.execution)?;
    report.output_len = grown.file_len.unwrap_or_default();
    let lens = others.iter().filter_map(|it| std::fs::metadata(it).ok()).map(|it| it.len());
    report.input_len = lens.fold(report.input_len, u64::saturating_add);
    if is_tet {
        let written = open(output, &OpenOptions::default())?;
        report.datasets = written.catalog.datasets().iter().map(Imported::from).collect();
        let lens = written.catalog.datasets().iter().map(byte_len);
        report.decoded_len = lens.fold(0, u64::saturating_add);
        return Ok(report);
    }
    std::fs::remove_file(&path).map_err(|error| tet_io::Error::io(Step::Remove, &path, error))?;
    let mut of_all = options.clone();
    of_all.tet.include.clear();
    of_all.tet.exclude.clear();
    of_all.tet.dims.clear();
    let mut all = convert(&target, output, &of_all)?;
    all.notes.splice(0..0, report.notes);
    all.input_len = report.input_len;
    Ok(all)
}
