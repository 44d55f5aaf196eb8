//! All objects of a file: each once, with the names under which it is found.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result, StoredFault, fault};
use crate::file::Hdf5File;
use crate::group;
use crate::header::{self, Message, kind};
use crate::message::link::{Link, Target};
use crate::rule;

/// Groups are read to this depth.
const DEPTH_MAX: usize = 512;
/// The longest path in bytes.
const PATH_LEN_MAX: usize = 65_536;
/// The longest paths of all objects together: this, and the length of the file.
const PATHS_LEN: u64 = 64 << 20;
/// Soft links lead on this often.
const LINKS_MAX: usize = 32;

/// What an object is.
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
    /// The address of its header.
    pub address: u64,
    /// What it is.
    pub kind: ObjectKind,
}

/// What an object with these messages is.
pub(crate) fn kind_of(messages: &[Message]) -> ObjectKind {
    let has = |wanted: u16| messages.iter().any(|message| message.kind == wanted);
    if has(kind::LAYOUT) || has(kind::DATASPACE) {
        ObjectKind::Dataset
    } else if has(kind::DATATYPE) {
        ObjectKind::Datatype
    } else {
        ObjectKind::Group
    }
}

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
    /// All objects, each once, a group before its members, and what is wrong with the groups.
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
        walk.follow_soft();
        Ok((walk.objects, walk.found))
    }
}

impl Walk<'_> {
    fn all(&mut self) -> Result<()> {
        let root = self.file.root();
        let mut stack = vec![(String::new(), self.enter("", root, root)?.into_iter())];
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
                self.note(fault(&rule::LIMIT_DEPTH, link.at, path.len() as u64, 0), &path)?;
                continue;
            }
            if let Err(error) = self.room(&path, link.at) {
                return self.note(error, &path);
            }
            match link.target {
                Target::Object(address) => {
                    let members = self.enter(&path, address, link.at)?;
                    if !members.is_empty() {
                        stack.push((path, members.into_iter()));
                    }
                }
                Target::Path(target) => {
                    self.soft.insert(path, (target, link.at));
                }
                Target::Elsewhere => {
                    self.note(fault(&rule::EXTERNAL_LINK, link.at, 0, 0), &path)?;
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
    fn enter(&mut self, path: &str, address: u64, at: u64) -> Result<Vec<Link>> {
        if let Some(&number) = self.numbers.get(&address) {
            if let Some(object) = self.objects.get_mut(number) {
                object.others.push(path.to_owned());
            }
            return Ok(Vec::new());
        }
        let _ = at;
        let messages = match header::read(self.file.reader(), self.file.shared(), address) {
            Ok(messages) => messages,
            Err(error) => {
                self.note(error, path)?;
                return Ok(Vec::new());
            }
        };
        let kind = kind_of(&messages);
        self.numbers.insert(address, self.objects.len());
        let (path, others) = (path.to_owned(), Vec::new());
        self.objects.push(StoredObject { path: path.clone(), others, address, kind });
        if kind != ObjectKind::Group {
            return Ok(Vec::new());
        }
        let found = &mut self.found;
        group::links(self.file.reader(), &messages, &mut |it| {
            found.push(StoredFault { path: Some(path.clone()), ..it });
        })
    }

    /// Adds a finding; an error of the environment ends the walk.
    fn note(&mut self, error: Error, path: &str) -> Result<()> {
        match error {
            Error::Fault(fault) => {
                self.found.push(StoredFault { fault, path: Some(path.to_owned()) });
                Ok(())
            }
            error => Err(error),
        }
    }

    /// Gives objects the names of the soft links that lead to them.
    fn follow_soft(&mut self) {
        let mut by_path: BTreeMap<String, usize> = BTreeMap::new();
        for (number, object) in self.objects.iter().enumerate() {
            let paths = std::iter::once(&object.path).chain(&object.others);
            by_path.extend(paths.map(|path| (path.clone(), number)));
        }
        for (path, (_, at)) in &self.soft {
            match resolve(path, &self.soft, &by_path) {
                Some(number) => self.objects[number].others.push(path.clone()),
                None => {
                    let Error::Fault(fault) = fault(&rule::SOFT_LINK, *at, 0, 0) else { continue };
                    self.found.push(StoredFault { fault, path: Some(path.clone()) });
                }
            }
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
