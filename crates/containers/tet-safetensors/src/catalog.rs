//! The catalog of a safetensors file: its tensors, read in place.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tet_format::{ForeignFault, Span};
use tet_io::Source;
use tet_query::{AttrText, Catalog, Dataset};
use tet_verify::{ForeignFindings, ForeignSeen, VerifyOptions};

use super::header::{self, PREFIX_LEN, Tensor};
use tet_container::read::opened::{FileRegion, Opened};
use tet_container::read::slabs::{Slabs, grid, grid_of_one};
use tet_container::{Error, Format, Result};

/// Opens the file at `path`.
pub(crate) fn open(path: &Path, source: Source) -> Result<Opened> {
    let options = VerifyOptions::default();
    let mut findings = ForeignFindings::new(&options);
    let header = header::read(&source, &mut |found| findings.take(found))?;
    let header = header.map_err(|fault| Error::Foreign {
        path: path.to_path_buf(),
        format: Format::SAFETENSORS,
        fault,
    })?;
    let region = |name, span: Option<Span>, holds| Some(FileRegion { name, span: span?, holds });
    let start = header.buffer.start();
    let regions = [
        region("length", Span::new(0, PREFIX_LEN), String::new()),
        region("header", Span::from_range(PREFIX_LEN..start), "JSON".to_owned()),
        region("buffer", Some(header.buffer), "elements".to_owned()),
    ];
    let mut attrs: BTreeMap<String, AttrText> =
        header.metadata.into_iter().map(|(key, value)| (key, AttrText::Text(value))).collect();
    let datasets = header.tensors.into_iter().map(|tensor| dataset(tensor, &source, None));
    let mut datasets: Vec<Dataset> = datasets.collect();
    super::attrs::give(&mut attrs, &mut datasets);
    let catalog = Catalog::new(source, Format::SAFETENSORS.name(), datasets).with_attrs(attrs);
    let findings = findings.report(&ForeignSeen::default()).findings;
    let regions = regions.into_iter().flatten().collect();
    Ok(Opened { findings, regions, ..Opened::new(Format::SAFETENSORS, catalog) })
}

/// A tensor of a file, which may be the shard of this name.
pub(super) fn dataset(tensor: Tensor, source: &Source, shard: Option<&str>) -> Dataset {
    let stored_type = tensor.stored_type();
    let Tensor { name, dtype: theirs, shape, stored, fault, .. } = tensor;
    let dtype_name = stored_type.map_or(theirs, |it| it.ours.to_owned());
    let dtype = stored_type.and_then(|it| it.dtype());
    let fault = match (fault, dtype) {
        (Some(fault), _) => Some(broken(&name, shard, fault)),
        (None, None) => {
            let (dataset, dtype) = (name.clone(), dtype_name.clone());
            Some(tet_query::Error::Opaque { dataset, dtype })
        }
        (None, Some(_)) => None,
    };
    let bits = stored_type.map_or(8, |it| it.bits);
    let is_whole = matches!(&fault, None | Some(tet_query::Error::Opaque { .. }));
    let grid = if is_whole { grid(&shape, bits) } else { None };
    let grid = grid.unwrap_or_else(|| grid_of_one(&shape));
    let chunks = Arc::new(Slabs::new(grid.clone(), bits, stored));
    Dataset {
        dtype,
        fault: fault.map(Arc::new),
        ..Dataset::unknown(source.clone(), name, dtype_name, grid, chunks)
    }
}

fn broken(dataset: &str, shard: Option<&str>, fault: ForeignFault) -> tet_query::Error {
    let dataset = dataset.to_owned();
    match shard.map(str::to_owned) {
        Some(shard) => tet_query::Error::Shard { dataset, shard, fault },
        None => tet_query::Error::Foreign { dataset, fault },
    }
}

/// A tensor of which nothing but its name and its shard is known, by the index of a model, and why.
pub(super) fn lost(index: &Source, name: String, shard: &str, fault: ForeignFault) -> Dataset {
    let cause = broken(&name, Some(shard), fault);
    Dataset::unreadable(index.clone(), name, cause)
}
