//! Writes a whole file atomically: in the target's folder, synced, then renamed.

use std::path::Path;

use tet_io::{Publish, Publisher};

use super::options::WriteOptions;
use super::writer::{Writer, Written};
use crate::error::Error;

/// Writes a file to `path` with the writer that `write` receives. Returns what `write` returns.
///
/// The file is renamed to `path` when it is complete; on any error, the old file stays unchanged.
///
/// # Errors
///
/// Returns what `write` returns, and what [`Publisher`] and [`Writer::finish`] return.
pub fn publish<T, E: From<Error>>(
    path: impl AsRef<Path>,
    options: &WriteOptions,
    publish: &Publish,
    write: impl FnOnce(&mut Writer<Publisher>) -> Result<T, E>,
) -> Result<(T, Written), E> {
    let mut publisher = Publisher::begin(path, publish).map_err(Error::from)?;
    publisher.file().mark_final(0..u64::MAX);
    let target = publisher.target().to_path_buf();
    let mut writer = Writer::named(publisher, options, &target)?;
    let answer = write(&mut writer)?;
    let (publisher, written) = writer.finish()?;
    publisher.commit().map_err(Error::from)?;
    Ok((answer, written))
}
