//! Datasets as an HDF5 file, or as a NetCDF-4 file, which is an HDF5 file of certain conventions.
//!
//! ```text
//!   superblock | elements of each dataset, as they come | chunk indexes | heaps | object headers
//! ```
//!
//! The name of the file says which of the two it is: `.nc` and `.nc4` are NetCDF-4, where every axis has a
//! dimension and types and names are those of NetCDF.

pub(super) mod attributes;
mod axes;
mod draft;
mod layout;
pub(super) mod names;
mod put;
pub(super) mod scope;
mod types;

use std::path::Path;

use crate::write::{DraftFault, DraftType};
use tet_format::DType;
use tet_query::Dataset;

use super::Hdf5;
use tet_container::model::attribute_types::AttrTypes;
use tet_container::model::{logical, notes};
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::write::storage::PayloadCodec;
use tet_container::write::texts::outline;
use tet_container::write::write_option::WriteOption;
use tet_container::write::{file, netcdf, stream};
use tet_container::{Capabilities, Output};
use tet_container::{Error, Note, Result};

/// The names of the formats in messages.
const HDF5: &str = "HDF5";
const NETCDF4: &str = "NetCDF-4";
/// The type of text in NetCDF classic files.
const CHAR: &str = "char";

/// The conventions of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavor {
    /// HDF5, as h5py writes it.
    Hdf5,
    /// NetCDF-4, as the NetCDF library writes it.
    NetCdf,
}

impl Flavor {
    pub(super) fn for_path(path: &Path) -> Flavor {
        let suffix = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        if ["nc", "nc4"].contains(&suffix.as_str()) { Flavor::NetCdf } else { Flavor::Hdf5 }
    }

    pub(super) const fn encoding(self) -> &'static str {
        match self {
            Flavor::Hdf5 => HDF5,
            Flavor::NetCdf => NETCDF4,
        }
    }
}

/// A dataset as the file stores it.
#[derive(Debug)]
struct View {
    dataset: Dataset,
    /// The type of its elements; of texts, any.
    dtype: DType,
    datatype: DraftType,
    /// Axes behind those of the dataset, which its elements are made of.
    inner: usize,
}

impl tet_container::Writer for Hdf5 {
    fn can(&self) -> Capabilities {
        Capabilities {
            metadata: true,
            decodes: true,
            attr_types: AttrTypes::Hdf5,
            options: &[
                WriteOption::Name,
                WriteOption::Chunks,
                WriteOption::Dims,
                WriteOption::Labels,
                WriteOption::Attrs,
                WriteOption::Codec(PayloadCodec::Raw),
                WriteOption::Codec(PayloadCodec::Zstd),
                WriteOption::Codec(PayloadCodec::Gzip),
                WriteOption::Level,
                WriteOption::Filter,
            ],
            text: true,
            chars: true,
            ..Capabilities::ARRAYS
        }
    }

    /// HDF5 has texts, and NetCDF-4 rows of characters too.
    fn can_as(&self, output: &Path) -> Capabilities {
        Capabilities {
            chars: Flavor::for_path(output) == Flavor::NetCdf,
            ..tet_container::Writer::can(self)
        }
    }

    fn attr_types(&self, name: &Path) -> AttrTypes {
        match Flavor::for_path(name) {
            Flavor::Hdf5 => AttrTypes::Hdf5,
            Flavor::NetCdf => AttrTypes::NetCdf,
        }
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Output> {
        let flavor = Flavor::for_path(options.output_name(output));
        // A level that there is not is found before anything is written.
        for dataset in &conversion.datasets {
            layout::encoder(&layout::how(dataset, options)?, 1)?;
        }
        let mut views = Vec::new();
        for dataset in conversion.datasets.clone() {
            let (view, note) = match dataset.is_text() {
                true => (of_text(dataset), None),
                false => view(dataset, flavor)?,
            };
            conversion.notes.extend(note);
            views.push(view);
        }
        let arrays = views.iter().map(|view| stream::whole(&view.dataset));
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let mut plan = draft::prepare(conversion, &views, &arrays, options, flavor)?;
        plan.draft.check().map_err(|fault| unfit(fault, flavor))?;
        let execution = options.execution.begin(stream::total_len(&arrays));
        let input = put::Input { datasets: &conversion.datasets, arrays: &arrays, options };
        let mut of_texts = Vec::new();
        let export = options.export();
        let ((), len) = file::publish_seekable(conversion.catalog, output, &export, |out| {
            let written = put::write(&mut plan, &input, &execution, out, &mut of_texts)?;
            options.execution.progress.check()?;
            let rest = plan.draft.encode(written.len()).map_err(|fault| unfit(fault, flavor))?;
            written.finish(&rest)
        })?;
        conversion.notes.extend(notes::unchecked(&arrays).into_iter().chain(of_texts));
        let first_array = plan.draft.datasets.len().saturating_sub(arrays.len());
        let chunk_shapes = plan.draft.datasets.iter().skip(first_array).map(put::chunk_shape);
        Ok(Output { chunk_shapes: chunk_shapes.collect(), len, ..Output::default() })
    }
}

/// A dataset of text as the file stores it.
fn of_text(dataset: &Dataset) -> View {
    let (dataset, datatype) = (outline(dataset), DraftType::Text);
    View { dataset, dtype: DType::UInt8, datatype, inner: 0 }
}

/// A dataset as the file stores it, and the note of a type that it lacks.
fn view(dataset: &Dataset, flavor: Flavor) -> Result<(View, Option<Note>)> {
    let encoding = flavor.encoding();
    let (stored, note) = match flavor {
        Flavor::NetCdf => netcdf::to_physical(dataset, encoding)?,
        Flavor::Hdf5 => {
            let has = |dtype| dtype != DType::Bitmask;
            let physical = logical::to_physical(dataset, encoding, has)?;
            let note = physical.note();
            (physical.view, note)
        }
    };
    let dtype = stored.dtype.unwrap_or(DType::UInt8);
    let is_pair = dataset.dtype.is_some_and(DType::is_complex) && !dtype.is_complex();
    let is_text = stored.dtype_name == CHAR && dtype == DType::UInt8;
    let datatype = if is_text { DraftType::Char } else { DraftType::Number(dtype) };
    Ok((View { dataset: stored, dtype, datatype, inner: usize::from(is_pair) }, note))
}

/// The error for a dataset that the format cannot store.
fn unfit(fault: DraftFault, flavor: Flavor) -> Error {
    let encoding = flavor.encoding();
    match fault {
        DraftFault::TwoObjects { path } => {
            Error::Collision { first: path.clone(), second: path.clone(), member: path }
        }
        DraftFault::Path { path } => {
            let why = "a part of its name is longer than 32 KiB";
            Error::Unfit { dataset: path, encoding, why }
        }
        DraftFault::Attribute { path, .. } => {
            let why = "one of its attributes is longer than 64 KiB";
            Error::Unfit { dataset: path, encoding, why }
        }
        DraftFault::Type { path } => {
            Error::Unfit { dataset: path, encoding, why: "it has no such type" }
        }
        fault => {
            let why = "there are 32 axes at most, and a chunk is shorter than 4 GiB";
            let dataset = match fault {
                DraftFault::Chunks { path } => path,
                _ => String::new(),
            };
            Error::Unfit { dataset, encoding, why }
        }
    }
}
