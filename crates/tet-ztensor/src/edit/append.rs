//! Appends tensors to an existing file.
//!
//! ```text
//!   | ... blobs | old index, its length | zeros | new blobs | index of all, its length |
//! ```

use tet_io::{Appender, Source};

use super::draft::Draft;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::write::{WriteOptions, Writer, Written};

/// Appends the tensors that `append` writes to an existing file, without copying it.
///
/// This is not atomic. The new tensors and the new index are written after the old index, which
/// stays in the file. The last 8 bytes make the new index the current one; they are written when
/// everything before them is durable. If `append` fails, the file gets its old length. If the
/// machine stops meanwhile, no reader can read the file: [`repair`](crate::repair) then finds the
/// old index or the new one. Old indexes use space in the file until [`Draft::compact`]. Without a
/// tensor to append, nothing is written.
///
/// # Errors
///
/// Returns what `append` returns; an error when the file breaks a rule, has changed since `source`
/// was opened, or cannot be written; [`Error::Tensor`] when the blob of a tensor is truncated:
/// appended bytes would be taken for it.
pub fn append_in_place<T, E: From<Error>>(
    source: &Source,
    limits: &Limits,
    options: &WriteOptions,
    append: impl FnOnce(&mut Writer<Appender>) -> Result<T, E>,
) -> Result<(T, Written), E> {
    let draft = Draft::open(source, limits)?;
    draft.check_bounds()?;
    let appender = Appender::begin(draft.source()).map_err(Error::from)?;
    let target = appender.path().to_path_buf();
    let resumed = draft.resumed(None)?;
    let tensor_count = resumed.tensor_count;
    let mut writer = Writer::resume(appender, options, &target, source.len(), resumed);
    let answer = append(&mut writer)?;
    if writer.tensor_count() == tensor_count {
        return Ok((answer, writer.unwritten(source.len())));
    }
    let (appender, written) = writer.finish_after(|appender| Ok(appender.sync()?))?;
    appender.commit().map_err(Error::from)?;
    Ok((answer, written))
}
