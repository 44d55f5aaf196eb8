//! Edits of Zarr hierarchies: documents are written anew, chunks are taken over as they are. A folder is exchanged for a new
//! one whose chunks are further names of the same files; a zip file is written anew.

mod documents;

use std::io::Write;
use std::path::Path;

use crate::{Hierarchy, Store};
use tet_io::{FolderPublisher, Output, Overwrite, Publish, Sharing, Source};

use self::documents::{Documents, NewDocuments};
use super::{DOCUMENTS, Zarr, catalog, hierarchy, of_file};
use crate::container::write::attributes::{is_fill, json};
use crate::container::write::names::legal;
use tet_container::EditKind;
use tet_container::edited::{self, unfit};
use tet_container::read::opened::{Opened, path_of};
use tet_container::read::zip::{Archive, ZipFault};
use tet_container::write::archive;
use tet_container::write::file::of_file as of_new_file;
use tet_container::{EditOptions, Editor, FileEdit};
use tet_container::{Error, Result};

impl Editor for Zarr {
    fn can(&self) -> &'static [EditKind] {
        use EditKind::{Attr, Dims, Drop, FileAttr, Rename};
        &[Rename, Drop, Attr, FileAttr, Dims]
    }

    fn edit(
        &self,
        opened: &Opened,
        edits: &[FileEdit],
        output: Output<'_>,
        options: &EditOptions,
    ) -> Result<u64> {
        let source = opened.catalog.source();
        let path = path_of(source);
        let hierarchy = hierarchy(source).map_err(|error| of_file(&path, error))?;
        let mut documents = Documents::new(hierarchy.objects().store().clone(), path.clone());
        for edit in edits {
            apply(&mut documents, edit, opened, &hierarchy)?;
        }
        let documents = documents.settle()?;
        match hierarchy.objects().store() {
            Store::Folder(folder) if !folder.is_url() => {
                let publisher = taken_over(folder.path(), &documents, output, options)?;
                in_folder(opened, edits, &documents, publisher)
            }
            Store::Zip(_) => in_zip(opened, edits, &documents, output, options),
            Store::Folder(_) => Err(unfit("it is a folder on a server: edit a copy of it")),
            _ => Err(unfit("its chunks are parts of other files")),
        }
    }
}

/// The path of a dataset in the hierarchy.
fn node_of(opened: &Opened, hierarchy: &Hierarchy, dataset: usize) -> Result<String> {
    let name = opened.catalog.datasets().get(dataset).map_or("", |it| it.name.as_str());
    let (path, arrays) = (path_of(opened.catalog.source()), hierarchy.arrays());
    let root = arrays.first().filter(|it| it.path.is_empty());
    let found = match root.filter(|_| catalog::name_of(&path, "") == name) {
        None => arrays.binary_search_by(|it| it.path.as_str().cmp(name)).ok(),
        Some(_) => Some(0),
    };
    let found = found.and_then(|at| arrays.get(at)).map(|it| it.path.clone());
    found.ok_or_else(|| unfit(format!("{name:?} is no array of it")))
}

fn apply(
    documents: &mut Documents,
    edit: &FileEdit,
    opened: &Opened,
    hierarchy: &Hierarchy,
) -> Result<()> {
    let node = |dataset: usize| node_of(opened, hierarchy, dataset);
    match edit {
        FileEdit::Rename { dataset, to } => {
            let from = node(*dataset)?;
            check_name(&from, to)?;
            documents.move_node(&from, Some(to));
            Ok(())
        }
        FileEdit::Drop { dataset } => {
            let from = node(*dataset)?;
            if from.is_empty() {
                return Err(unfit("its array is the whole hierarchy"));
            }
            documents.move_node(&from, None);
            Ok(())
        }
        FileEdit::Attr { dataset, key, value } => {
            let (path, key) = match dataset {
                Some(dataset) => (node(*dataset)?, key.as_str()),
                None => of_group(hierarchy, key),
            };
            if dataset.is_some() && is_fill(key) {
                return Err(unfit(
                    "the fill value of an array is a part of how its chunks are stored",
                ));
            }
            if key == crate::DIMENSIONS {
                return Err(unfit("--dims names the axes"));
            }
            let value = match value {
                None => None,
                Some(attr) => Some(json(attr).ok_or_else(|| {
                    unfit(format!("JSON would not have {key:?} with the value {}", attr.text()))
                })?),
            };
            documents.set_attribute(&path, key, value.as_ref())
        }
        FileEdit::Dims { dataset, names } => documents.set_dims(&node(*dataset)?, names),
        _ => Ok(()),
    }
}

/// The group that has an attribute of the file, and its key there.
fn of_group<'k>(hierarchy: &Hierarchy, key: &'k str) -> (String, &'k str) {
    let of_group = key
        .rsplit_once('/')
        .filter(|(group, _)| hierarchy.groups().iter().any(|it| it.path == *group));
    of_group.map_or((String::new(), key), |(group, key)| (group.to_owned(), key))
}

fn check_name(from: &str, to: &str) -> Result<()> {
    let group = |path: &str| path.rsplit_once('/').map_or("", |(group, _)| group).to_owned();
    if from.is_empty() {
        return Err(unfit("its array has the name of the folder or file: rename that"));
    }
    let legal = legal(to);
    if legal != to {
        return Err(unfit(format!("{to:?} is no name of Zarr: {legal:?} is one")));
    }
    if group(from) != group(to) {
        return Err(unfit(format!("{from} cannot become {to}: an array stays in its group")));
    }
    Ok(())
}

/// A new folder in the place of the old one, or elsewhere, with the chunks of the old one.
fn taken_over(
    folder: &Path,
    documents: &NewDocuments,
    output: Output<'_>,
    options: &EditOptions,
) -> Result<FolderPublisher> {
    let publish = |force| Publish { force, inputs: Vec::new(), ..options.publish.clone() };
    let (mut publisher, sharing) = match output {
        Output::NewFile(path) => {
            let publisher = FolderPublisher::begin(path, &publish(options.publish.force))?;
            (publisher, Sharing::Copied)
        }
        Output::InPlace(_) => {
            let publisher = FolderPublisher::begin(folder, &publish(Overwrite::Replace))?;
            (publisher, Sharing::Linked)
        }
    };
    let progress = options.progress.begin(0);
    let mut key_of = |key: &str| documents.kept_key(key);
    publisher.take::<Error>(folder, sharing, &progress, &mut key_of)?;
    Ok(publisher)
}

/// Writes the documents into the new folder, checks and publishes it.
fn in_folder(
    opened: &Opened,
    edits: &[FileEdit],
    documents: &NewDocuments,
    mut publisher: FolderPublisher,
) -> Result<u64> {
    for (key, bytes) in &documents.texts {
        publisher.write(key, bytes)?;
    }
    for name in DOCUMENTS {
        let path = publisher.path_of(name)?;
        if path.is_file() {
            check(opened, edits, Source::open(path)?)?;
            break;
        }
    }
    opened.catalog.check_unchanged()?;
    let len = publisher.byte_len();
    publisher.commit()?;
    Ok(len)
}

/// Checks a new hierarchy.
fn check(opened: &Opened, edits: &[FileEdit], new: Source) -> Result<()> {
    let path = path_of(opened.catalog.source());
    let types = tet_container::Writer::can(&Zarr).attr_types;
    edited::check(opened, edits, catalog::open(&path, new)?.catalog, types)
}

/// The new zip file.
fn in_zip(
    opened: &Opened,
    edits: &[FileEdit],
    documents: &NewDocuments,
    output: Output<'_>,
    options: &EditOptions,
) -> Result<u64> {
    let source = opened.catalog.source();
    let failed = |fault: ZipFault| Error::Archive { path: path_of(source), member: None, fault };
    let mut old = Archive::open(source).map_err(failed)?;
    // Of members with one name the last one counts, and is the one that is listed: programs append new versions.
    let names = old.names().map_err(failed)?;
    let mut publisher = output.begin(source, &options.publish)?;
    let progress = options.progress.begin(source.len());
    let written = archive::write(publisher.file(), |zip| {
        for (position, name) in names.into_iter().enumerate() {
            let Some(key) = documents.kept_key(&name) else { continue };
            let member = old.raw(position).map_err(failed)?;
            let len = member.compressed_size();
            zip.raw_copy_file_rename(member, key).map_err(archive::fault)?;
            progress.advance(len)?;
        }
        for (key, bytes) in &documents.texts {
            let how = archive::member(zip::CompressionMethod::Stored, bytes.len() as u64);
            zip.start_file(key.as_str(), how).map_err(archive::fault)?;
            zip.write_all(bytes).map_err(Error::Write)?;
        }
        Ok(())
    });
    written.map_err(|error| of_new_file(&publisher, error))?;
    let len = std::io::Seek::stream_position(&mut publisher.file());
    let len = len.map_err(|error| publisher.write_fault(error))?;
    if let Some(new) = publisher.read_back()? {
        check(opened, edits, new)?;
    }
    source.check_unchanged()?;
    publisher.commit()?;
    Ok(len)
}
