//! Datasets as a new folder of one part, which grows when files are appended.

use std::io::Write;
use std::path::Path;

use tet_file::{DigestChoice, TetFile};
use tet_io::publish::Sync;
use tet_io::{Folder, FolderPublisher, Overwrite, Publisher, Source, is_url};

use super::manifest::{Manifest, Part};
use super::{Begun, DOCUMENT, Tets, new_part_name, part_named};
use crate::container::tet::Tet;
use crate::{Error, Format, Result};
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::write::file::check_folder;
use tet_container::write::storage::PayloadCodec;
use tet_container::write::write_option::WriteOption;
use tet_container::{Capabilities, Output, Writer};

impl Writer for Tets {
    fn can(&self) -> Capabilities {
        Capabilities {
            options: &[
                WriteOption::Name,
                WriteOption::Chunks,
                WriteOption::Dims,
                WriteOption::Labels,
                WriteOption::Attrs,
                WriteOption::History,
                WriteOption::Codec(PayloadCodec::Raw),
                WriteOption::Codec(PayloadCodec::Zstd),
                WriteOption::Level,
                WriteOption::Align(8),
                WriteOption::Align(64),
                WriteOption::Align(4096),
            ],
            ..Tet.can()
        }
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Output> {
        if is_url(output) {
            return write_at_url(conversion, output, options);
        }
        let publish = options.export();
        let (catalog, overwrite) = (conversion.catalog, publish.overwrite);
        check_folder(catalog, output, overwrite, Format::TETS, &[DOCUMENT])?;
        let mut folder = FolderPublisher::begin(output, &publish.publish(conversion.catalog))?;
        // The name of the first part is always the same, so that the same input gives the same folder.
        let file = part_named(0);
        let path = folder.path_of(&file)?;
        let mut of_part = part_options(options);
        // The folder is synced as a whole.
        of_part.tet.sync = if cfg!(target_os = "linux") { Sync::None } else { options.tet.sync };
        let written = Tet.write(conversion, &path, &of_part)?;
        let part = part(&path, file)?;
        let len = part.len;
        folder.write(DOCUMENT, first_manifest(part, options).text().as_bytes())?;
        let len = len.saturating_add(folder.byte_len());
        folder.commit()?;
        Ok(Output { len, ..written })
    }
}

/// The manifest of the first part.
fn first_manifest(part: Part, options: &ConvertOptions) -> Manifest {
    let mut manifest = Manifest::of_part(part);
    if let (Some(grows), [part]) = (&options.grows, &mut manifest.parts[..]) {
        manifest.axis = Some(grows.name.clone());
        manifest.datasets.clone_from(&grows.numbers);
        let rows = grows.extents.iter().filter(|(_, end)| **end != 0);
        part.rows = rows.map(|(name, &end)| (name.clone(), [0, end])).collect();
    }
    manifest
}

/// How a part is written: as a new file, with digests.
fn part_options(options: &ConvertOptions) -> ConvertOptions {
    let mut of_part = options.clone();
    of_part.tet.overwrite = Overwrite::Refuse;
    of_part.tet.digests = DigestChoice::Written;
    of_part
}

/// Writes a folder on a server: a part of a new name, and then the manifest, which makes it visible.
fn write_at_url(
    conversion: &mut Conversion<'_>,
    output: &Path,
    options: &ConvertOptions,
) -> Result<Output> {
    let folder = Folder::open(output)?;
    folder.check_conditional()?;
    let publish = options.export().publish(conversion.catalog);
    let mut manifest = Publisher::begin(output.join(DOCUMENT), &publish)?;
    let file = new_part_name();
    let path = output.join(&file);
    let begun = Begun::now();
    let written = Tet.write(conversion, &path, &part_options(options))?;
    let named = part(&path, file.clone()).and_then(|part| {
        let (len, text) = (part.len, first_manifest(part, options).text());
        let written = manifest.write_all(text.as_bytes());
        written.map_err(|error| manifest.write_fault(error))?;
        begun.check(output)?;
        manifest.commit()?;
        Ok(len.saturating_add(text.len() as u64))
    });
    let len = named.inspect_err(|error| {
        // Where the answer of the server was lost, the manifest may name it.
        if matches!(error, Error::Io(tet_io::Error::Exists { .. })) {
            // Where this fails, it is listed with the unused parts.
            let _ = folder.remove(&file);
        }
    })?;
    Ok(Output { len, ..written })
}

/// Manifest entry of a part that was written, without rows.
pub(crate) fn part(path: &Path, file: String) -> Result<Part> {
    let opened = TetFile::open(Source::open(path)?, &tet_file::OpenOptions::default())?;
    let digest = opened.own_digest()?.unwrap_or_default();
    Ok(Part { file, len: opened.file_len(), digest, rows: Default::default(), at: 0 })
}
