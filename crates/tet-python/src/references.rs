//! References of kerchunk to the stored chunks of a file.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use tet_convert::{
    EdgeChoice, OpenedFile, RefsAddress, RefsOptions, ZarrFormat, publish_references,
};
use tet_io::{Operation, Overwrite};

use crate::error::unsupported_file;
use crate::file::OpenFile;
use crate::options::{extract, unknown};
use crate::run::{ProgressCallback, detached};

/// Arguments of references, as Python passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct ReferenceArguments {
    include: Vec<String>,
    exclude: Vec<String>,
    inline: u64,
    url: Option<String>,
    zarr_format: u8,
    edges: Option<String>,
    overwrite: bool,
    /// The axis along which `others` follow the file.
    concat: Option<String>,
    others: Vec<PathBuf>,
}

impl ReferenceArguments {
    fn options(&self) -> PyResult<RefsOptions> {
        let format = match self.zarr_format {
            2 => ZarrFormat::V2,
            3 => ZarrFormat::V3,
            other => return Err(unknown("zarr_format", &other.to_string(), "2, 3")),
        };
        let edges = match self.edges.as_deref() {
            None => EdgeChoice::Refused,
            Some("inline") => EdgeChoice::Inline,
            Some("sidecar") => EdgeChoice::Sidecar,
            Some(other) => return Err(unknown("edges", other, "None, inline, sidecar")),
        };
        let address = match self.url.clone() {
            None => RefsAddress::Path,
            Some(url) if self.others.is_empty() => RefsAddress::Url(url),
            Some(folder) => RefsAddress::Prefix(folder),
        };
        Ok(RefsOptions {
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            inline_len: self.inline,
            concat: self.concat.clone(),
            address,
            overwrite: if self.overwrite { Overwrite::Replace } else { Overwrite::Refuse },
            format,
            edges,
            ..RefsOptions::default()
        })
    }
}

/// References as a document of version 1, which is also written to `output`, if that is given.
#[pyfunction]
#[pyo3(signature = (file, path, output, asked))]
pub(crate) fn references<'py>(
    py: Python<'py>,
    file: &OpenFile,
    path: PathBuf,
    output: Option<PathBuf>,
    asked: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyBytes>> {
    let open = file.state().get()?;
    if open.is_decoded {
        let why = "elements are decoded when they are read: open the file without decoded=True";
        return Err(unsupported_file(py, &path, why));
    }
    let asked: ReferenceArguments = extract(asked)?;
    let mut options = asked.options()?;
    options.execution = open.how.clone();
    let document = detached(py, &ProgressCallback::long(None), |progress| {
        options.execution = options.execution.with_progress(progress);
        let others = asked.others.iter().map(|path| tet_convert::open(path, &options.open));
        let others = others.collect::<Result<Vec<_>, tet_convert::Error>>()?;
        let mut files = vec![OpenedFile { path: &path, opened: &open.opened }];
        let behind = asked.others.iter().zip(&others);
        files.extend(behind.map(|(path, opened)| OpenedFile { path, opened }));
        let set = match &output {
            Some(output) => publish_references(&files, output, &options)?.0,
            None => tet_convert::references(&files, &options)?,
        };
        let mut document = Vec::new();
        let written = set.write(&mut document);
        written.map_err(|error| tet_io::Error::io(Operation::Write, &path, error))?;
        Ok::<_, tet_convert::Error>(document)
    })?;
    Ok(PyBytes::new(py, &document))
}
