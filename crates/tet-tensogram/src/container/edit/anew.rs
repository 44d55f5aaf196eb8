//! An object that is written anew, as the only one of a message in a scratch file without a name.

use std::fs::File;
use std::io::{self, BufWriter};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use crate::{
    Descriptor, HashChoice, HeadedWriter, Metadata, PackingFit, PackingParameters, Recipe,
};
use tet_format::DType;
use tet_io::{Operation, ReadAt, Source};
use tet_query::{Dataset, Execution, LazyArray};

use super::super::write::{self, Object, metadata};
use super::recipe::recipe_of;
use tet_container::model::logical::to_physical;
use tet_container::write::storage::Storage;
use tet_container::write::stream;
use tet_container::{EditMode, RewriteOptions};
use tet_container::{Error, Note, Result};

/// Numbers of more bits are not those that they were after they are packed again.
const BITS_MAX: u32 = 48;

/// The object before.
pub(super) struct Old<'a> {
    pub(super) descriptor: &'a Descriptor,
    /// Whether it has a hash.
    pub(super) is_hashed: bool,
}

/// Writes a dataset to a scratch file in the folder, stored as the object before but for what changes; `None` if it is
/// only planned.
pub(super) fn scratch(
    view: &Dataset,
    old: &Old<'_>,
    change: &Storage,
    folder: &Path,
    how: RewriteOptions<'_>,
) -> Result<Option<(Source, Vec<Note>)>> {
    let unfit = |why| Error::Unfit { dataset: view.name.clone(), encoding: "Tensogram", why };
    let physical = to_physical(view, "tensogram", |dtype| dtype != DType::Bool)?;
    if old.descriptor.dtype() != Some(physical.stored) {
        return Err(unfit("its elements are stored as another type"));
    }
    let lazy = stream::whole(&physical.view)?;
    let threads = how.execution.threads;
    let recipe = recipe_of(&view.name, old.descriptor, change)?;
    let recipe = Recipe { threads, ..recipe };
    let shape = if old.descriptor.shape().is_empty() { Vec::new() } else { lazy.shape().to_vec() };
    let object = Object::new(lazy, physical.stored, shape, recipe);
    if let (Some(PackingFit::Given(parameters)), None) = (object.recipe().packing, change.packing) {
        check_packing(object.lazy(), &parameters, &how.execution.silent())?;
    }
    if how.edit.mode == EditMode::Plan {
        return Ok(None);
    }
    let fault = |step, error| tet_io::Error::io(step, &tet_io::scratch_in(folder), error);
    let file = tempfile::tempfile_in(folder).map_err(|error| fault(Operation::Create, error))?;
    let mut options = crate::WriteOptions::default();
    options.hash = if old.is_hashed { HashChoice::Xxh3 } else { HashChoice::None };
    let metadata = Metadata { base: vec![metadata::described(&object)?], ..Metadata::default() };
    let out = BufWriter::with_capacity(1 << 20, file);
    let put = || {
        let mut writer = HeadedWriter::new(out, metadata, None, 1, &options)?;
        let notes = write::put(&object, &mut writer, how.execution)?;
        let (out, len) = writer.finish()?;
        Ok((out, len, notes))
    };
    let (out, len, notes) = put().map_err(|error| match error {
        Error::Io(tet_io::Error::Io { path, source, .. }) if path == Path::new("(output)") => {
            fault(Operation::Write, source).into()
        }
        other => other,
    })?;
    let file = out.into_inner().map_err(|error| fault(Operation::Write, error.into_error()))?;
    Ok(Some((Source::from_reader(Arc::new(Scratch { file, len })), notes)))
}

/// Checks that a packing has a number for each value.
fn check_packing(lazy: &LazyArray, packing: &PackingParameters, how: &Execution) -> Result<()> {
    let unfit =
        |why| Error::Unfit { dataset: lazy.dataset().name.clone(), encoding: "Tensogram", why };
    let PackingParameters { reference, binary_scale, decimal_scale, bits } = *packing;
    if BITS_MAX < bits {
        let why = "its packed numbers have more than 48 bits: `tet edit repack --encoding none` stores doubles";
        return Err(unfit(why));
    }
    let step = f64::from(binary_scale).exp2() * 10_f64.powi(decimal_scale.saturating_neg());
    // Without bits all values are the reference.
    let step = if bits == 0 { 0.0 } else { step };
    let last = reference + (f64::from(bits).exp2() - 1.0) * step;
    stream::for_each(lazy, how, &mut |elements| {
        let values = elements.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
        // Half a step is what packing takes anyway; values that are not finite have a mask.
        let fits = |value: f64| {
            !value.is_finite() || reference - step / 2.0 <= value && value <= last + step / 2.0
        };
        if values.into_iter().all(fits) {
            return Ok(());
        }
        let why = "its packing has no numbers for all new values: \
                   `tet edit repack --encoding none` stores doubles, --bits N packs them again";
        Err(unfit(why))
    })
}

/// A file that was written, and has no name.
#[derive(Debug)]
struct Scratch {
    file: File,
    len: u64,
}

impl ReadAt for Scratch {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(out, offset)
    }

    /// Nobody else has a name for it.
    fn writers(&self) -> tet_io::Writers {
        tet_io::Writers::Absent
    }
}
