//! Where the objects of a new hierarchy go: files below a folder, or stored members of a zip file.

use std::io::{Seek, Write};
use std::path::Path;

use tet_io::FolderPublisher;
use tet_query::Catalog;
use tet_zarr::ZarrFormat;
use zip::CompressionMethod;

use crate::container::traits::Output;
use crate::container::zarr::DOCUMENTS;
use crate::write::archive::{self, NewArchive};
use crate::write::file::{self, ExportOptions};
use crate::{Error, Format, Result};

/// Takes objects by key, each once.
pub(super) trait ObjectSink: Send {
    /// The version of the hierarchy.
    fn format(&self) -> ZarrFormat;

    /// Stores an object.
    fn put(&mut self, key: &str, bytes: &[u8]) -> Result<()>;
}

/// Runs `write` on a new hierarchy at `output`, and publishes it as a whole. Gives its bytes.
///
/// # Errors
/// The output exists and may not be replaced, is a folder of other things, or cannot be written.
pub(super) fn publish(
    catalog: &Catalog,
    (place, format): (Place<'_>, ZarrFormat),
    options: &ExportOptions,
    write: impl FnOnce(&mut dyn ObjectSink) -> Result<()>,
) -> Result<u64> {
    let output = match place {
        Place::Folder(output) => output,
        Place::Zip(output) => return zipped(catalog, (output, format), options, write),
    };
    let known = (Format::ZARR, &DOCUMENTS[..]);
    file::check_folder(catalog, output, options.overwrite, known)?;
    let publisher = FolderPublisher::begin(output, &options.publish(catalog))?;
    let mut files = Files { format, publisher };
    write(&mut files)?;
    catalog.check_unchanged()?;
    let len = files.publisher.byte_len();
    files.publisher.commit()?;
    Ok(len)
}

/// Where a hierarchy goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'p> {
    /// The files of this folder.
    Folder(&'p Path),
    /// The members of this zip file.
    Zip(&'p Path),
}

impl<'p> Place<'p> {
    /// `output`, as the suffix of `name` says.
    pub(super) fn of(output: &'p Path, name: &Path) -> Place<'p> {
        let is_zip = name.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("zip"));
        if is_zip { Place::Zip(output) } else { Place::Folder(output) }
    }
}

/// The same for a zip file.
fn zipped(
    catalog: &Catalog,
    (output, format): (&Path, ZarrFormat),
    options: &ExportOptions,
    write: impl FnOnce(&mut dyn ObjectSink) -> Result<()>,
) -> Result<u64> {
    file::publish(catalog, output, options, |out| {
        archive::write(out, |zip| write(&mut Members { format, zip }))
    })?;
    Ok(Output::file(output)?.len)
}

/// The files of a folder.
struct Files {
    format: ZarrFormat,
    publisher: FolderPublisher,
}

impl ObjectSink for Files {
    fn format(&self) -> ZarrFormat {
        self.format
    }

    fn put(&mut self, key: &str, bytes: &[u8]) -> Result<()> {
        Ok(self.publisher.write(key, bytes)?)
    }
}

/// The members of a zip file.
struct Members<'a, 'o, W: Write + Seek> {
    format: ZarrFormat,
    zip: &'a mut NewArchive<'o, W>,
}

impl<W: Write + Seek + Send> ObjectSink for Members<'_, '_, W> {
    fn format(&self) -> ZarrFormat {
        self.format
    }

    fn put(&mut self, key: &str, bytes: &[u8]) -> Result<()> {
        let how = archive::member(CompressionMethod::Stored, bytes.len() as u64);
        self.zip.start_file(key, how).map_err(archive::fault)?;
        self.zip.write_all(bytes).map_err(Error::Write)
    }
}
