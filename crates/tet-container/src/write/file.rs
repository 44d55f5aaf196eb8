//! A new file for arrays: how it is written, and how it takes its name.

use std::fs;
use std::io::{self, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tet_io::publish::Sync;
use tet_io::vfs::VfsFile;
use tet_io::{Overwrite, Publish, Publisher};
use tet_query::{Catalog, Execution};

use crate::{Error, Format, Result};

/// Whether the members of an archive are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// As they are, like `numpy.savez`: they can be read by position.
    #[default]
    Stored,
    /// By deflate, like `numpy.savez_compressed`.
    Deflated,
}

/// How to write a file.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// Whether an existing output is replaced.
    pub overwrite: Overwrite,
    /// How durable the output is on return.
    pub sync: Sync,
    /// How the elements are read.
    pub execution: Execution,
    /// For `.npz`.
    pub compression: Compression,
}

impl ExportOptions {
    /// How a file is published that no file of `catalog` is replaced by.
    pub fn publish(&self, catalog: &Catalog) -> Publish {
        Publish {
            force: self.overwrite,
            sync: self.sync,
            inputs: catalog.stamps(),
            ..Publish::default()
        }
    }
}

/// Runs `write` on a new file for `path`, and publishes it; gives its length too.
///
/// # Errors
/// As `write`; the file exists, is the input, or cannot be published.
pub fn publish<T>(
    catalog: &Catalog,
    path: &Path,
    options: &ExportOptions,
    write: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<(T, u64)> {
    publish_seekable(catalog, path, options, |file| {
        file.mark_final(0..u64::MAX);
        write(file)
    })
}

/// Publishes a file whose writer seeks, and marks itself which bytes are final.
///
/// # Errors
/// As [`publish`].
pub fn publish_seekable<T>(
    catalog: &Catalog,
    path: &Path,
    options: &ExportOptions,
    write: impl FnOnce(&mut dyn VfsFile) -> Result<T>,
) -> Result<(T, u64)> {
    let mut publisher = Publisher::begin(path, &options.publish(catalog))?;
    let written = write(publisher.file()).map_err(|error| of_file(&publisher, error))?;
    // Nothing is asked of the file once it has its name: what fails then would be no failure of writing it.
    let len = publisher.file().seek(SeekFrom::End(0));
    let len = len.map_err(|error| publisher.write_fault(error))?;
    catalog.check_unchanged()?;
    publisher.commit()?;
    Ok((written, len))
}

/// A folder is replaced only if it is empty or has a document of the kind that is written, and does not contain the
/// input.
///
/// # Errors
/// The folder is another one, or cannot be listed.
pub fn check_folder(
    catalog: &Catalog,
    output: &Path,
    overwrite: Overwrite,
    format: Format,
    documents: &[&str],
) -> Result<()> {
    let path = output.to_path_buf();
    if overwrite == Overwrite::Refuse || !output.is_dir() {
        return Ok(());
    }
    let is_empty = fs::read_dir(output).is_ok_and(|mut entries| entries.next().is_none());
    if !is_empty && !documents.iter().any(|name| output.join(name).is_file()) {
        return Err(Error::OtherFolder { path, format });
    }
    let real = |path: &Path| fs::canonicalize(path).ok();
    let input = catalog.source().path().and_then(real);
    match input.zip(real(output)) {
        Some((input, output)) if input.starts_with(&output) => {
            Err(tet_io::Error::SameFile { path }.into())
        }
        _ => Ok(()),
    }
}

/// A refused write as an error of the file.
pub fn of_file(publisher: &Publisher, error: Error) -> Error {
    match error {
        Error::Write(source) => Error::Io(publisher.write_fault(source)),
        other => other,
    }
}

/// A stream that counts its bytes.
#[derive(Debug)]
pub struct Counted<W> {
    /// The writer.
    pub out: W,
    /// Bytes that were written.
    pub len: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.out.write(bytes)?;
        self.len += u64::try_from(len).unwrap_or(0);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The folder of an output, where its scratch files are.
pub fn folder_of(output: &Path) -> PathBuf {
    if tet_io::is_url(output) {
        return std::env::temp_dir();
    }
    let folder = output.parent().filter(|folder| *folder != Path::new(""));
    folder.unwrap_or(Path::new(".")).to_path_buf()
}
