//! Edits of HDF5 and NetCDF-4 files: names and attributes in headers of objects that stay where they are; all else is copied.

use std::collections::{BTreeMap, BTreeSet};

use crate::write::{DraftAttribute, DraftValue};
use crate::{Error as ReadError, Hdf5Edit, Hdf5File, ObjectKind};
use tet_io::{Image, Output};
use tet_query::AttrText;

use super::catalog::{Contents, contents};
use super::dims::SCALE_NAME;
use super::write::Flavor;
use super::write::attributes::written;
use super::write::names;
use super::write::scope::{join, leaf, parent};
use super::{Hdf5, catalog, dims, environment};
use tet_container::EditKind;
use tet_container::edited::{self, unfit};
use tet_container::model::attribute_types::AttrTypes;
use tet_container::read::opened::{Opened, path_of};
use tet_container::{EditOptions, Editor, FileEdit};
use tet_container::{Error, Format, Result};

impl Editor for Hdf5 {
    fn can(&self) -> &'static [EditKind] {
        &[EditKind::Rename, EditKind::Drop, EditKind::Attr, EditKind::FileAttr]
    }

    fn leaves_dropped(&self) -> bool {
        true
    }

    fn edit(
        &self,
        opened: &Opened,
        edits: &[FileEdit],
        output: Output<'_>,
        options: &EditOptions,
    ) -> Result<u64> {
        let source = opened.catalog.source();
        let (image, edits) = image(opened, edits).map_err(|error| error.at(opened))?;
        let new = catalog::open(&path_of(source), image.to_source())?.catalog;
        edited::check(opened, &edits, new, AttrTypes::Hdf5)?;
        let publisher = output.begin(source, &options.publish)?;
        publisher.commit_image(&image, source, &options.progress)
    }
}

/// Why there is no new file.
enum Failed {
    Read(ReadError),
    Other(Error),
}

impl From<ReadError> for Failed {
    fn from(error: ReadError) -> Self {
        Failed::Read(error)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Failed::Other(error)
    }
}

impl Failed {
    fn at(self, opened: &Opened) -> Error {
        match self {
            Failed::Other(error) => error,
            Failed::Read(ReadError::Edit { what }) => unfit(what),
            Failed::Read(ReadError::Fault(fault)) => {
                let path = path_of(opened.catalog.source());
                Error::Foreign { path, format: Format::HDF5, fault }
            }
            Failed::Read(error) => environment(error),
        }
    }
}

/// The new file, and the edits with what they change of datasets that are other names of the same objects.
fn image(opened: &Opened, edits: &[FileEdit]) -> Result<(Image, Vec<FileEdit>), Failed> {
    let source = opened.catalog.source();
    let file = Hdf5File::open(source.clone())?;
    let contents = contents(&file, &mut |_| {})?;
    let path = path_of(source);
    let flavor = if contents.is_netcdf() { Flavor::NetCdf } else { Flavor::for_path(&path) };
    let objects = Objects::new(&file, &contents, flavor);
    let mut edit = Hdf5Edit::new(&file)?;
    let mut links: BTreeMap<u64, BTreeMap<String, Option<String>>> = BTreeMap::new();
    let mut dropped = BTreeSet::new();
    for change in edits {
        match change {
            FileEdit::Rename { dataset, to } => {
                let name = &opened.catalog.datasets()[*dataset].name;
                let of = objects.dataset(name)?;
                let (group, old) = (parent(&of.path), leaf(&of.path));
                let new = objects.new_leaf(&of, to)?;
                let names = links.entry(objects.group(group)?).or_default();
                names.insert(old.to_owned(), Some(new.to_owned()));
                if of.is_named_scale {
                    let value = DraftValue::Text(new.to_owned());
                    edit.set_attribute(
                        of.address,
                        &DraftAttribute { name: SCALE_NAME.to_owned(), value },
                    )?;
                }
            }
            FileEdit::Drop { dataset } => {
                let Some(dataset) = opened.catalog.datasets().get(*dataset) else { continue };
                let of = objects.dataset(&dataset.name)?;
                // Other variables have the dimension, which stays without a variable.
                if of.is_scale && contents.is_netcdf() {
                    let extent = dataset.shape().first().copied().unwrap_or(0);
                    let value = DraftValue::Text(format!("{}.{extent:>10}", dims::BARE_DIMENSION));
                    let name = SCALE_NAME.to_owned();
                    edit.set_attribute(of.address, &DraftAttribute { name, value })?;
                    continue;
                }
                let names = links.entry(objects.group(parent(&of.path))?).or_default();
                names.insert(leaf(&of.path).to_owned(), None);
                dropped.insert(dataset.name.as_str());
            }
            FileEdit::Attr { dataset, key, value } => {
                let of = dataset.and_then(|at| opened.catalog.datasets().get(at));
                let (address, key) = match of {
                    Some(of) => (objects.dataset(&of.name)?.address, key.as_str()),
                    None => objects.of_file(key),
                };
                match value {
                    None => edit.remove_attribute(address, key)?,
                    Some(value) => {
                        let dtype = of.and_then(|it| it.dtype);
                        edit.set_attribute(address, &attribute(key, value, dtype, flavor)?)?;
                    }
                }
            }
            _ => {}
        }
    }
    detach(&mut edit, &objects, opened, &contents, &dropped)?;
    for (group, names) in links {
        edit.rename_links(group, &names)?;
    }
    Ok((edit.finish()?, objects.with_aliases(opened, edits)))
}

/// Takes datasets that are removed off the axes of which they are the scales; these keep their names as labels.
fn detach(
    edit: &mut Hdf5Edit,
    objects: &Objects<'_>,
    opened: &Opened,
    contents: &Contents,
    dropped: &BTreeSet<&str>,
) -> Result<(), Failed> {
    let is_dropped = |name: &String| dropped.contains(name.as_str());
    let (gone, stay): (Vec<_>, Vec<_>) =
        objects.datasets.iter().partition(|(name, _)| is_dropped(name));
    let mut gone: BTreeSet<u64> = gone.into_iter().map(|(_, of)| of.address).collect();
    // An object may have other names.
    for (_, of) in &stay {
        gone.remove(&of.address);
    }
    let names: BTreeMap<u64, &String> = stay.iter().map(|(name, of)| (of.address, *name)).collect();
    for labeled in contents.of_objects().filter_map(|(_, labeled)| labeled) {
        let Some(name) = names.get(&labeled.address) else { continue };
        let scales = labeled.scales.iter().enumerate();
        let axes = scales.filter(|(_, it)| it.first().is_some_and(|scale| gone.contains(scale)));
        let axes: BTreeSet<usize> = axes.map(|(axis, _)| axis).collect();
        if axes.is_empty() {
            continue;
        }
        edit.detach_scales(labeled.address, &axes)?;
        let dims = opened.catalog.find(name).map(|it| it.dims.clone()).unwrap_or_default();
        if !dims.is_empty() && !labeled.attrs.contains_key(dims::LABELS) {
            let (name, value) = (dims::LABELS.to_owned(), DraftValue::Texts(dims));
            edit.set_attribute(labeled.address, &DraftAttribute { name, value })?;
        }
    }
    Ok(())
}

/// An attribute as the file has it.
fn attribute(
    key: &str,
    value: &AttrText,
    dtype: Option<tet_format::DType>,
    flavor: Flavor,
) -> Result<DraftAttribute> {
    let (key, mut notes) = (key.to_owned(), Vec::new());
    let pair = std::iter::once((&key, value));
    let mut attributes = written("", pair, dtype, flavor, &mut notes);
    attributes.pop().filter(|_| notes.is_empty()).ok_or_else(|| {
        let encoding = flavor.encoding();
        unfit(format!(
            "{encoding} cannot store the attribute {key:?} with the value {}",
            value.text()
        ))
    })
}

/// A dataset of a file.
#[derive(Clone)]
struct Stored {
    /// Where it is linked.
    path: String,
    address: u64,
    /// Whether it is a dimension scale, and one that has its name as an attribute.
    is_scale: bool,
    is_named_scale: bool,
}

/// The objects of a file by name.
struct Objects<'f> {
    file: &'f Hdf5File,
    flavor: Flavor,
    datasets: BTreeMap<String, Stored>,
    groups: BTreeMap<&'f str, u64>,
}

impl<'f> Objects<'f> {
    fn new(file: &'f Hdf5File, contents: &'f Contents, flavor: Flavor) -> Objects<'f> {
        let (mut datasets, mut groups) = (BTreeMap::new(), BTreeMap::new());
        for (object, labeled) in contents.of_objects() {
            let paths = std::iter::once(&object.path).chain(&object.others);
            if object.kind == ObjectKind::Group {
                groups.extend(paths.map(|path| (path.as_str(), object.address)));
                continue;
            }
            let Some(labeled) = labeled else { continue };
            let is_netcdf = contents.is_netcdf();
            if is_netcdf && dims::is_bare(labeled) {
                continue;
            }
            for path in paths {
                let name = if is_netcdf { dims::netcdf_path(path) } else { path.clone() };
                let is_named_scale = dims::is_named_scale(labeled, leaf(path));
                let (path, address) = (path.clone(), object.address);
                let is_scale = dims::is_scale(labeled);
                datasets.insert(name, Stored { path, address, is_scale, is_named_scale });
            }
        }
        Objects { file, flavor, datasets, groups }
    }

    fn dataset(&self, name: &str) -> Result<Stored> {
        let found = self.datasets.get(name).cloned();
        found.ok_or_else(|| unfit(format!("{name:?} is not linked in it")))
    }

    /// These edits, and those of attributes under the other names of their objects.
    fn with_aliases(&self, opened: &Opened, edits: &[FileEdit]) -> Vec<FileEdit> {
        let datasets = opened.catalog.datasets();
        let address = |at: usize| Some(self.datasets.get(&datasets.get(at)?.name)?.address);
        let mut names: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for dataset in datasets {
            names
                .entry(address(dataset.index).unwrap_or(u64::MAX))
                .or_default()
                .push(dataset.index);
        }
        let mut all = edits.to_vec();
        for edit in edits {
            let FileEdit::Attr { dataset: Some(at), key, value } = edit else { continue };
            let others = address(*at).and_then(|address| names.get(&address));
            for other in others.into_iter().flatten().filter(|other| *other != at) {
                let (key, value) = (key.clone(), value.clone());
                all.push(FileEdit::Attr { dataset: Some(*other), key, value });
            }
        }
        all
    }

    fn group(&self, path: &str) -> Result<u64> {
        let found = self.groups.get(path).copied();
        found
            .ok_or_else(|| unfit(format!("the group {path:?} is in another file or behind a link")))
    }

    /// The object that has an attribute of the file, and its key there: those of groups have the path of the group in front.
    fn of_file<'k>(&self, key: &'k str) -> (u64, &'k str) {
        let of_group = key
            .rsplit_once('/')
            .and_then(|(group, key)| Some((self.groups.get(group).copied()?, key)));
        of_group.unwrap_or((self.file.root(), key))
    }

    /// The last part of the new name of a dataset.
    fn new_leaf<'n>(&self, of: &Stored, to: &'n str) -> Result<&'n str> {
        let (group, new) = (parent(&of.path), leaf(to));
        if parent(to) != group {
            let from = join(group, leaf(&of.path));
            let hint = join(group, new);
            return Err(unfit(format!(
                "{from} cannot become {to}: a dataset of an HDF5 file stays in its group, as {hint:?} would"
            )));
        }
        let legal = names::name(new, self.flavor);
        if legal != new {
            let encoding = self.flavor.encoding();
            return Err(unfit(format!("{new:?} is no name of {encoding}: {legal:?} is one")));
        }
        Ok(new)
    }
}
