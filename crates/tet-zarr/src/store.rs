//! Stores: where the objects of a hierarchy are, each with a key.

mod document;
mod references;
mod zip;

use std::path::Path;

use tet_format::Span;
use tet_io::{Folder, FolderList, Source};

pub(crate) use document::{DocumentState, StoredDocument};
pub use references::References;
pub use zip::ZipStore;

use crate::error::Result;

/// Where the objects of a hierarchy are.
///
/// # Examples
///
/// ```
/// use tet_zarr::Store;
///
/// let store = Store::folder(std::env::temp_dir())?;
/// assert!(store.locate("../outside")?.is_none());
/// # Ok::<(), tet_zarr::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Store {
    /// A folder: each object is a file.
    Folder(Folder),
    /// A zip file: each object is a member.
    Zip(ZipStore),
    /// References: each object is a part of a file, or a value in the document.
    References(References),
}

/// A source that has the bytes of one or more objects.
///
/// ```
/// assert_ne!(tet_zarr::ObjectName::Zip, tet_zarr::ObjectName::File("0.0".to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ObjectName {
    /// A file below the folder of the store.
    File(String),
    /// The zip file itself.
    Zip,
    /// A value in the document of references, with its key.
    Inline(String),
}

/// Where an object is stored.
///
/// # Examples
///
/// ```
/// use tet_zarr::{ObjectName, KeyPlace};
///
/// let place = KeyPlace { name: ObjectName::Zip, part: None, inflated_len: None, crc32: None };
/// assert!(place.inflated_len.is_none(), "the bytes are stored as they are");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPlace {
    /// The source.
    pub name: ObjectName,
    /// The part of the source; `None` for all of it.
    pub part: Option<Span>,
    /// The length after inflating, for a deflated member of a zip file.
    pub inflated_len: Option<u64>,
    /// The CRC-32 of the bytes, of those that are inflated, for a member of a zip file.
    pub crc32: Option<u32>,
}

impl Store {
    /// The store of a folder.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`](crate::Error::Io) when it is no folder or cannot be opened.
    pub fn folder(path: impl AsRef<Path>) -> Result<Store> {
        Ok(Store::Folder(Folder::open(path)?))
    }

    /// The store of a zip file.
    ///
    /// # Errors
    ///
    /// Returns a fault of a rule `ZR-Z` when its directory cannot be read.
    pub fn zip(source: Source) -> Result<Store> {
        Ok(Store::Zip(ZipStore::open(source)?))
    }

    /// The store of a document of references (kerchunk), whose files are below a folder.
    ///
    /// # Errors
    ///
    /// Returns a fault of a rule `ZR-R` when the document cannot be read.
    pub fn references(document: &Source, folder: Folder) -> Result<Store> {
        Ok(Store::References(References::open(document, folder)?))
    }

    /// Whether it is a folder on a server: what cannot be read there now may be read later, and is not taken as missing.
    #[must_use]
    pub fn is_far(&self) -> bool {
        matches!(self, Store::Folder(folder) if folder.is_url())
    }

    /// Where the object of a key is; `None` if there is none. In a folder the file is not looked up: [`Store::open`] says
    /// that there is none.
    ///
    /// # Errors
    ///
    /// Returns a fault of a damaged zip member or reference, and errors of the environment.
    pub fn locate(&self, key: &str) -> Result<Option<KeyPlace>> {
        match self {
            Store::Folder(_) if !Folder::has_key(key) => Ok(None),
            Store::Folder(_) => {
                let name = ObjectName::File(key.to_owned());
                Ok(Some(KeyPlace { name, part: None, inflated_len: None, crc32: None }))
            }
            Store::Zip(zip) => zip.locate(key),
            Store::References(references) => references.locate(key),
        }
    }

    /// Opens a source of objects; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Returns errors of the environment.
    pub fn open(&self, name: &ObjectName) -> Result<Option<Source>> {
        match (self, name) {
            (Store::Folder(folder), ObjectName::File(key)) => Ok(folder.get(key)?),
            (Store::Zip(zip), ObjectName::Zip) => Ok(Some(zip.source().clone())),
            (Store::References(references), _) => references.open_object(name),
            _ => Ok(None),
        }
    }

    /// The bytes of the document of a key; `None` if there is none.
    ///
    /// ```
    /// use tet_zarr::Store;
    ///
    /// let store = Store::folder(std::env::temp_dir())?;
    /// assert!(store.document("no/such/zarr.json")?.is_none());
    /// # Ok::<(), tet_zarr::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns a fault when it is too long or damaged, and errors of the environment.
    pub fn document(&self, key: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.read(key)?.map(|document| document.bytes))
    }

    /// The names directly below a key (`""` is the root), `count_max` of them at most.
    ///
    /// # Errors
    ///
    /// Returns errors of the environment.
    pub fn list(&self, key: &str, count_max: usize) -> Result<FolderList> {
        match self {
            Store::Folder(folder) => Ok(folder.list(key, count_max)?),
            Store::Zip(zip) => Ok(zip.list(key, count_max)),
            Store::References(references) => Ok(references.list(key, count_max)),
        }
    }
}

/// The names directly below a folder in a sorted run of keys, all of which begin with its prefix.
fn children<'a>(keys: impl Iterator<Item = &'a str>, prefix: &str, count_max: usize) -> FolderList {
    let mut list = FolderList::default();
    for key in keys {
        let rest = key.get(prefix.len()..).unwrap_or_default();
        let (names, name) = match rest.split_once('/') {
            Some((name, _)) => (&mut list.folders, name),
            None => (&mut list.files, rest),
        };
        if name.is_empty() || names.last().is_some_and(|last| last == name) {
            continue;
        }
        if count_max <= list.files.len() + list.folders.len() {
            list.is_cut = true;
            break;
        }
        let names = if rest.contains('/') { &mut list.folders } else { &mut list.files };
        names.push(name.to_owned());
    }
    list.folders.dedup();
    list
}
