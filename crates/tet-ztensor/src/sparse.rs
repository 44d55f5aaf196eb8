//! Reads sparse tensors (section 6): stored elements and their positions.
//!
//! ```text
//!   csr   | indptr: rows + 1 | indices: count | values: count |     position numbers are u64
//!   coo   | coordinates, value | coordinates, value | ... |
//! ```
//!
//! In the layout `sparse` the positions may be in the entry instead; the blob then has only values.

mod blob;
mod inline;
pub(crate) mod judge;

use tet_io::Source;
use tet_sparse::{Places, Sparse};

use crate::error::{Fault, Result};
use crate::limits::Limits;
use crate::rule;
use crate::stored::{Check, Sound};
use crate::tensor::Tensor;

/// Reads the stored elements of a sparse tensor.
pub(crate) fn read(
    source: &Source,
    sound: &Sound<'_>,
    limits: &Limits,
    check: Check,
) -> Result<Sparse> {
    let shape = sound.tensor.shape();
    let fault = |fault: Fault| sound.tensor.broken(fault);
    let inline = inline::read(&sound.tensor).map_err(fault)?;
    let bytes = blob::read(source, sound, limits, check, |len| {
        check_blob_len(sound, inline.as_ref(), len).map_err(fault)
    })?;
    let (places, values) = match inline {
        Some(places) => (places, bytes),
        None if sound.layout.is_csr() => judge::csr(sound, &bytes).map_err(fault)?,
        None => judge::coo(sound, &bytes).map_err(fault)?,
    };
    judge::places(sound, &places).map_err(fault)?;
    let (shape, element_size) = (shape.to_vec(), sound.element_size);
    Ok(Sparse { shape, element_size, places, values })
}

/// Whether the blob may decode to `len` bytes; `inline` has the positions of the entry.
fn check_blob_len(sound: &Sound<'_>, inline: Option<&Places>, len: u64) -> Result<(), Fault> {
    match inline {
        Some(places) => judge::inline_lens(sound, places, len),
        None => judge::blob_len(sound, len),
    }
}

/// Checks positions in the entry, if any, for a blob that decodes to `len` bytes. Returns whether
/// the blob holds positions too.
pub(crate) fn check_outside(sound: &Sound<'_>, len: u64) -> Result<bool, Fault> {
    let inline = inline::read(&sound.tensor)?;
    check_blob_len(sound, inline.as_ref(), len)?;
    match &inline {
        Some(places) => judge::places(sound, places).map(|()| false),
        None => Ok(true),
    }
}

/// Checks the length of a sparse tensor (ZT-L3).
pub(crate) fn check_len(tensor: &Tensor<'_>, wanted: u64, found: u64) -> Result<()> {
    if found <= wanted {
        return Ok(());
    }
    let (rule, at) = (&rule::LIMIT_SPARSE, tensor.offset().unwrap_or_default());
    Err(tensor.broken(Fault { rule, at, found, wanted }))
}
