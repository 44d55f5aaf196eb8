//! Datasets as a NetCDF classic file.
//!
//! ```text
//!   datasets -> names, dimensions, types -> header | elements of each variable, big-endian
//! ```
//!
//! The header has the places of all variables before the first element is read, so elements are written as
//! they come. The file is CDF-2; CDF-5 where a variable is of a type or a length that CDF-2 does not have.

pub(super) mod attributes;
mod dims;
mod draft;
mod header;
mod labels;
mod names;

use std::io::{BufWriter, Write};
use std::path::Path;

use tet_codec::Swapped;
use tet_query::{Dataset, Execution, LazyArray};

use self::draft::{Elements, NcVariable};
use super::NetCdf3;
use tet_container::model::attribute_types::AttrTypes;
use tet_container::model::notes;
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::write::file;
use tet_container::write::netcdf::to_physical;
use tet_container::write::stream;
use tet_container::write::write_option::WriteOption;
use tet_container::{Capabilities, Output};
use tet_container::{Error, Result};

/// Name of the format in messages.
const ENCODING: &str = "NetCDF classic";

impl tet_container::Writer for NetCdf3 {
    fn can(&self) -> Capabilities {
        Capabilities {
            metadata: true,
            decodes: true,
            attr_types: AttrTypes::Classic,
            options: &[WriteOption::Dims, WriteOption::Labels, WriteOption::Attrs],
            chars: true,
            ..Capabilities::ARRAYS
        }
    }

    fn check(&self, dataset: &Dataset, encoding: &'static str) -> Result<()> {
        let (view, _) = to_physical(dataset, encoding)?;
        if view.shape().iter().skip(1).any(|&extent| extent == 0) {
            return Err(draft::empty_axis(&dataset.name));
        }
        Ok(())
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Output> {
        let physical = conversion
            .datasets
            .iter()
            .map(|it| to_physical(it, ENCODING))
            .collect::<Result<Vec<_>>>()?;
        conversion.notes.extend(physical.iter().filter_map(|(_, note)| note.clone()));
        let arrays = physical.iter().map(|(view, _)| stream::whole(view));
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let draft = draft::prepare(conversion, &arrays, options)?;
        let header = header::bytes(&draft)?;
        let execution = options.execution.begin(stream::total_len(&arrays));
        let ((), len) = file::publish(conversion.catalog, output, &options.export(), |out| {
            let mut out = BufWriter::new(out);
            out.write_all(&header).map_err(Error::Write)?;
            for variable in &draft.variables {
                put(variable, &arrays, &execution, &mut out)?;
            }
            options.execution.progress.check()?;
            out.flush().map_err(Error::Write)
        })?;
        conversion.notes.extend(notes::unchecked(&arrays));
        Ok(Output { len, ..Output::default() })
    }
}

/// Writes the elements of a variable, and the fill that ends it.
fn put(
    variable: &NcVariable,
    arrays: &[LazyArray],
    execution: &Execution,
    out: &mut dyn Write,
) -> Result<()> {
    match &variable.elements {
        Elements::Bytes(bytes) => out.write_all(bytes).map_err(Error::Write)?,
        Elements::Array(number) => {
            let swapped = Swapped::new(variable.stored.size());
            let mut turned = Vec::new();
            let lazy = arrays.get(*number).expect("variables are made of arrays");
            stream::for_each(lazy, execution, &mut |elements| {
                let Some(swapped) = swapped else {
                    return out.write_all(elements).map_err(Error::Write);
                };
                turned.clear();
                turned.extend_from_slice(elements);
                swapped.in_place(&mut turned);
                out.write_all(&turned).map_err(Error::Write)
            })?;
        }
    }
    let fill = variable.stored.fill();
    let rest = usize::try_from(variable.len % 4).unwrap_or(0);
    let padding = if rest == 0 { 0 } else { 4 - rest };
    let fill: Vec<u8> = fill.iter().copied().cycle().take(padding).collect();
    out.write_all(&fill).map_err(Error::Write)
}
