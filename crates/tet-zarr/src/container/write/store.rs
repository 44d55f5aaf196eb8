//! Where the objects of a new hierarchy go: files below a folder, objects below a URL, or stored members of a zip file.

use std::io::Write;
use std::path::Path;

use crate::ZarrFormat;
use tet_io::{FolderPublisher, UrlFolderPublisher, is_url};
use tet_query::Catalog;
use zip::CompressionMethod;

use super::names::DOCUMENTS as ALL_DOCUMENTS;
use crate::container::DOCUMENTS;
use tet_container::write::archive::{self, NewArchive};
use tet_container::write::file::{self, ExportOptions};
use tet_container::{Error, Format, Result};

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
    output: HierarchyOutput<'_>,
    format: ZarrFormat,
    options: &ExportOptions,
    write: impl FnOnce(&mut dyn ObjectSink) -> Result<()>,
) -> Result<u64> {
    let output = match output {
        HierarchyOutput::Folder(output) => output,
        HierarchyOutput::Zip(output) => return zipped(catalog, output, format, options, write),
    };
    file::check_folder(catalog, output, options.overwrite, Format::ZARR, &DOCUMENTS)?;
    if is_url(output) {
        let publisher = UrlFolderPublisher::begin(output, &options.publish(catalog))?;
        let mut objects = Objects { format, publisher, documents: Vec::new() };
        write(&mut objects)?;
        catalog.check_unchanged()?;
        return objects.commit();
    }
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
pub(super) enum HierarchyOutput<'p> {
    /// The files of this folder.
    Folder(&'p Path),
    /// The members of this zip file.
    Zip(&'p Path),
}

impl<'p> HierarchyOutput<'p> {
    /// `output`, as the suffix of `name` says.
    pub(super) fn for_output(output: &'p Path, name: &Path) -> HierarchyOutput<'p> {
        let is_zip = name.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("zip"));
        if is_zip { HierarchyOutput::Zip(output) } else { HierarchyOutput::Folder(output) }
    }
}

/// Runs `write` on a new hierarchy in a zip file.
fn zipped(
    catalog: &Catalog,
    output: &Path,
    format: ZarrFormat,
    options: &ExportOptions,
    write: impl FnOnce(&mut dyn ObjectSink) -> Result<()>,
) -> Result<u64> {
    let ((), len) = file::publish_seekable(catalog, output, options, |out| {
        archive::write(out, |zip| write(&mut Members { format, zip }))
    })?;
    Ok(len)
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

/// The objects below a URL.
struct Objects {
    format: ZarrFormat,
    publisher: UrlFolderPublisher,
    /// Those that make arrays and groups visible, which come last.
    documents: Vec<(String, Vec<u8>)>,
}

impl Objects {
    fn commit(self) -> Result<u64> {
        let mut documents = self.documents;
        // Where readers look for several, the one that they look for first comes last.
        documents.sort_by_key(|(key, _)| ALL_DOCUMENTS.iter().position(|it| *it == name_of(key)));
        Ok(self.publisher.commit(documents)?)
    }
}

impl ObjectSink for Objects {
    fn format(&self) -> ZarrFormat {
        self.format
    }

    fn put(&mut self, key: &str, bytes: &[u8]) -> Result<()> {
        if ALL_DOCUMENTS.contains(&name_of(key)) {
            self.documents.push((key.to_owned(), bytes.to_vec()));
            return Ok(());
        }
        Ok(self.publisher.write(key, bytes)?)
    }
}

fn name_of(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

/// The members of a zip file.
struct Members<'a, 'o, 'f> {
    format: ZarrFormat,
    zip: &'a mut NewArchive<'o, 'f>,
}

impl ObjectSink for Members<'_, '_, '_> {
    fn format(&self) -> ZarrFormat {
        self.format
    }

    fn put(&mut self, key: &str, bytes: &[u8]) -> Result<()> {
        let how = archive::member(CompressionMethod::Stored, bytes.len() as u64);
        self.zip.start_file(key, how).map_err(archive::fault)?;
        self.zip.write_all(bytes).map_err(Error::Write)
    }
}
