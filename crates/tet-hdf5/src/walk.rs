//! All objects of a file: each once, with the names under which it is found.

use std::collections::{BTreeMap, BTreeSet};

use tet_format::ForeignFault;

use crate::error::{Error, Result, StoredFault, fault};
use crate::file::Hdf5File;
use crate::group;
use crate::header::{self, Message, kind};
use crate::message::link::{Link, Target};
use crate::rule;

/// Groups are read to this depth.
pub(crate) const DEPTH_MAX: usize = 512;
/// The longest path in bytes.
const PATH_LEN_MAX: usize = 65_536;
/// The longest paths of all objects together: this, and the length of the file.
const PATHS_LEN: u64 = 64 << 20;
/// Soft links lead on this often.
const LINKS_MAX: usize = 32;

/// Kind of an object.
///
/// # Examples
///
/// ```
/// assert_ne!(tet_hdf5::ObjectKind::Group, tet_hdf5::ObjectKind::Dataset);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A group of links.
    Group,
    /// An array.
    Dataset,
    /// A datatype with a name.
    Datatype,
    /// A link that leads to no object that can be read, or a group whose links cannot all be read: there may be
    /// anything below it. A group of which only some links are read has its path twice.
    Unreadable(ForeignFault),
}

/// An object of a file.
///
/// # Examples
///
/// ```
/// use tet_hdf5::{StoredObject, ObjectKind};
///
/// let object = StoredObject {
///     path: "model/t2m".to_owned(),
///     others: vec!["latest".to_owned()],
///     address: 800,
///     kind: ObjectKind::Dataset,
/// };
/// assert!(object.path.ends_with("t2m"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredObject {
    /// The path by which it was found first, without a slash at the front; empty for the root.
    pub path: String,
    /// Further paths: other hard links, and soft links.
    pub others: Vec<String>,
    /// The address of its header; that of the link where the header is not known.
    pub address: u64,
    /// The kind.
    pub kind: ObjectKind,
}

/// Classifies the object with these messages, whose header is at this byte.
fn kind_of(messages: &[Message], at: u64) -> Result<ObjectKind> {
    let has = |wanted: &[u16]| messages.iter().any(|message| wanted.contains(&message.kind));
    if has(&[kind::LAYOUT, kind::DATASPACE]) {
        Ok(ObjectKind::Dataset)
    } else if has(&[kind::DATATYPE]) {
        Ok(ObjectKind::Datatype)
    } else if has(&[kind::SYMBOL_TABLE, kind::LINK_INFO, kind::LINK, kind::GROUP_INFO]) {
        Ok(ObjectKind::Group)
    } else {
        Err(fault(&rule::OBJECT, at, messages.len() as u64, 1))
    }
}

/// Name of the root group, where a dataset has its name.
const ROOT: &str = "/";

/// The walk through the groups of a file.
struct Walk<'a> {
    file: &'a Hdf5File,
    objects: Vec<StoredObject>,
    /// The number of each object, by its address.
    numbers: BTreeMap<u64, usize>,
    /// Paths and targets of soft links.
    soft: BTreeMap<String, (String, u64)>,
    found: Vec<StoredFault>,
    /// The bytes that paths may still take.
    paths_left: u64,
    /// The bytes that were read when the walk began.
    begin: u64,
}

impl Hdf5File {
    /// All objects, each once, a group before its members, and what is wrong with the groups. What cannot be read is an
    /// object of the kind [`ObjectKind::Unreadable`], and a fault of the same path.
    ///
    /// # Errors
    ///
    /// Returns an error when the file cannot be read, or the root group is damaged.
    pub fn objects(&self) -> Result<(Vec<StoredObject>, Vec<StoredFault>)> {
        let mut walk = Walk {
            file: self,
            objects: Vec::new(),
            numbers: BTreeMap::new(),
            soft: BTreeMap::new(),
            found: Vec::new(),
            paths_left: self.source().len().saturating_add(PATHS_LEN),
            begin: self.work(),
        };
        walk.all()?;
        walk.follow_soft()?;
        walk.note_groups();
        Ok((walk.objects, walk.found))
    }
}

impl Walk<'_> {
    fn all(&mut self) -> Result<()> {
        let root = self.file.root();
        // Nothing of the file can be read without its root group.
        header::read(self.file.reader(), self.file.shared(), root)?;
        let mut stack = vec![(String::new(), self.enter("", root)?.into_iter())];
        while let Some((parent, links)) = stack.last_mut() {
            let Some(link) = links.next() else {
                stack.pop();
                continue;
            };
            let path = match parent.as_str() {
                "" => link.name.clone(),
                parent => format!("{parent}/{}", link.name),
            };
            if DEPTH_MAX <= stack.len() || PATH_LEN_MAX < path.len() {
                self.lose(fault(&rule::LIMIT_DEPTH, link.at, path.len() as u64, 0), &path)?;
                continue;
            }
            if let Err(error) = self.room(&path, link.at) {
                // The links that remain are of any group.
                return self.lose(error, ROOT);
            }
            match link.target {
                Target::Object(address) => {
                    let members = self.enter(&path, address)?;
                    if !members.is_empty() {
                        stack.push((path, members.into_iter()));
                    }
                }
                Target::Path(target) => {
                    self.soft.insert(path, (target, link.at));
                }
                Target::Elsewhere => {
                    self.lose(fault(&rule::EXTERNAL_LINK, link.at, 0, 0), &path)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a walk may go on with this path: paths and headers that share bytes could be many more than those
    /// of the file.
    fn room(&mut self, path: &str, at: u64) -> Result<()> {
        self.file.check_work(self.begin)?;
        let left = self.paths_left.checked_sub(path.len() as u64);
        let full = || fault(&rule::LIMIT_PATHS, at, path.len() as u64, self.paths_left);
        self.paths_left = left.ok_or_else(full)?;
        Ok(())
    }

    /// Adds an object; gives its links where it is a group that was not seen before.
    fn enter(&mut self, path: &str, address: u64) -> Result<Vec<Link>> {
        if let Some(&number) = self.numbers.get(&address) {
            if let Some(object) = self.objects.get_mut(number) {
                object.others.push(path.to_owned());
            }
            return Ok(Vec::new());
        }
        let at = self.file.base().saturating_add(address);
        let header = header::read(self.file.reader(), self.file.shared(), address);
        let kind = header.and_then(|it| Ok((kind_of(&it.messages, at)?, it.messages)));
        let (kind, messages) = match kind {
            Ok(read) => read,
            Err(error) => {
                self.lose(error, path)?;
                return Ok(Vec::new());
            }
        };
        self.numbers.insert(address, self.objects.len());
        let (path, others) = (path.to_owned(), Vec::new());
        self.objects.push(StoredObject { path: path.clone(), others, address, kind });
        if kind != ObjectKind::Group {
            return Ok(Vec::new());
        }
        let mut faults = Vec::new();
        let links = group::links(self.file.reader(), &messages, &mut |it| faults.push(it.fault))?;
        faults.into_iter().try_for_each(|fault| self.lose(fault.into(), &path))?;
        Ok(links)
    }

    /// Lists what cannot be read under a path, once, and adds the finding; an error of the environment ends the walk.
    fn lose(&mut self, error: Error, path: &str) -> Result<()> {
        let Error::Fault(fault) = error else { return Err(error) };
        let path = if path.is_empty() { ROOT } else { path };
        let kind = ObjectKind::Unreadable(fault);
        let is_new = self.found.last().is_none_or(|it| it.path.as_deref() != Some(path));
        if is_new {
            let (path, address) = (path.to_owned(), fault.at);
            self.objects.push(StoredObject { path, others: Vec::new(), address, kind });
        }
        self.found.push(StoredFault { fault, path: Some(path.to_owned()), attribute: None });
        Ok(())
    }

    /// Gives objects the names of the soft links that lead to them.
    fn follow_soft(&mut self) -> Result<()> {
        let mut by_path: BTreeMap<String, usize> = BTreeMap::new();
        for (number, object) in self.objects.iter().enumerate() {
            if matches!(object.kind, ObjectKind::Unreadable(_)) {
                continue;
            }
            let paths = std::iter::once(&object.path).chain(&object.others);
            by_path.extend(paths.map(|path| (path.clone(), number)));
        }
        let soft = std::mem::take(&mut self.soft);
        for (path, (_, at)) in &soft {
            match resolve(path, &soft, &by_path) {
                Some(number) => self.objects[number].others.push(path.clone()),
                None => self.lose(fault(&rule::SOFT_LINK, *at, 0, 0), path)?,
            }
        }
        Ok(())
    }
}

impl Walk<'_> {
    /// Adds a finding for each further name of a group, whose members are listed under the first.
    fn note_groups(&mut self) {
        let groups = self.objects.iter().filter(|it| it.kind == ObjectKind::Group);
        let names = groups.flat_map(|it| it.others.iter().map(|name| (name, it.address)));
        for (name, address) in names {
            let (at, rule) = (self.file.base().saturating_add(address), &rule::GROUP_ALIAS);
            let fault = ForeignFault { rule, at, found: 0, wanted: 0 };
            self.found.push(StoredFault { fault, path: Some(name.clone()), attribute: None });
        }
    }
}

/// The number of the object that a soft link leads to.
fn resolve(
    path: &str,
    soft: &BTreeMap<String, (String, u64)>,
    by_path: &BTreeMap<String, usize>,
) -> Option<usize> {
    let mut path = path.to_owned();
    let mut seen = BTreeSet::new();
    for _ in 0..LINKS_MAX {
        if let Some(&number) = by_path.get(&path) {
            return Some(number);
        }
        // The longest part in front that is a soft link is replaced by what it leads to.
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let ends: Vec<usize> = ends.collect();
        let (end, target) = ends.iter().rev().find_map(|&end| {
            let (target, _) = soft.get(path.get(..end)?)?;
            Some((end, target))
        })?;
        let parent = path.get(..end)?.rsplit_once('/').map_or("", |(parent, _)| parent);
        let rest = path.get(end..)?;
        let whole = match target.strip_prefix('/') {
            Some(target) => format!("{target}{rest}"),
            None => format!("{parent}/{target}{rest}"),
        };
        path = plain(&whole);
        if !seen.insert(path.clone()) {
            return None;
        }
    }
    None
}

/// A path without empty parts and dots.
fn plain(path: &str) -> String {
    let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
    parts.collect::<Vec<&str>>().join("/")
}
