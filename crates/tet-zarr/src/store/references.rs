//! References of kerchunk as a store: a JSON document whose members are parts of other files, or
//! values (`fsspec` reference file system, versions 0 and 1).

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use tet_format::Span;
use tet_io::{Folder, FolderList, Source};

use super::{KeyPlace, ObjectName};
use crate::base64;
use crate::error::{Broken, Result, broken, fault_in, len};
use crate::json::DOCUMENT_LEN_MAX;
use crate::rule;

/// The longest URL after its templates are replaced.
const URL_LEN_MAX: usize = 1 << 16;

/// References to parts of files below one folder. Clones share the document.
///
/// # Examples
///
/// ```
/// use tet_io::{Folder, Source};
/// use tet_zarr::References;
///
/// let document = Source::from_bytes(*br#"{"a/0": ["data.bin", 8, 16]}"#);
/// let references = References::open(&document, Folder::open(std::env::temp_dir())?)?;
/// let place = references.locate("a/0")?.expect("it is in the document");
/// assert_eq!(place.part.map(|part| part.start()), Some(8));
/// # Ok::<(), tet_zarr::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct References(Arc<Opened>);

#[derive(Debug)]
struct Opened {
    references: BTreeMap<String, Box<RawValue>>,
    templates: BTreeMap<String, String>,
    folder: Folder,
    document: Source,
}

/// Target of a key.
enum Reference {
    Value(Vec<u8>),
    Part { file: String, part: Option<Span> },
}

impl References {
    /// Reads a document of references.
    ///
    /// # Errors
    ///
    /// Returns a fault of a rule `ZR-R`, `ZR-L1` for a document that is too long, and errors of
    /// reading.
    pub fn open(document: &Source, folder: Folder) -> Result<References> {
        let failed = |fault| fault_in("", fault);
        let wrong = || failed(broken(&rule::REFERENCES, 0, 0));
        if DOCUMENT_LEN_MAX < document.len() {
            let fault = broken(&rule::LIMIT_DOCUMENT, document.len(), DOCUMENT_LEN_MAX);
            return Err(failed(fault));
        }
        let bytes = document.read_vec(0, document.len())?;
        let mut members: BTreeMap<String, Box<RawValue>> =
            serde_json::from_slice(&bytes).map_err(|_| wrong())?;
        let mut templates = BTreeMap::new();
        if let Some(refs) = members.get("refs") {
            // Version 1.
            if members.get("version").is_some_and(|version| version.get() != "1") {
                return Err(wrong());
            }
            if members.get("gen").is_some_and(|list| !matches!(list.get(), "[]" | "null" | "{}")) {
                return Err(failed(broken(&rule::REFERENCE_GENERATED, 0, 0)));
            }
            if let Some(list) = members.get("templates") {
                templates = serde_json::from_str(list.get())
                    .map_err(|_| failed(broken(&rule::REFERENCE_TEMPLATE, 0, 0)))?;
            }
            members = serde_json::from_str(refs.get()).map_err(|_| wrong())?;
        }
        let document = document.clone();
        Ok(References(Arc::new(Opened { references: members, templates, folder, document })))
    }

    /// The document.
    pub(super) fn document(&self) -> &Source {
        &self.0.document
    }

    /// Where the object of a key is.
    ///
    /// # Errors
    ///
    /// Returns a fault of a rule `ZR-R` for a reference that cannot be followed.
    pub fn locate(&self, key: &str) -> Result<Option<KeyPlace>> {
        Ok(self.read(key).map_err(|fault| fault_in(key, fault))?.map(|reference| match reference {
            Reference::Value(bytes) => KeyPlace {
                name: ObjectName::Inline(key.to_owned()),
                part: Span::new(0, len(bytes.len())),
                inflated_len: None,
                crc32: None,
            },
            Reference::Part { file, part } => {
                KeyPlace { name: ObjectName::File(file), part, inflated_len: None, crc32: None }
            }
        }))
    }

    /// Opens a file below the folder, or a value.
    pub(super) fn open_object(&self, name: &ObjectName) -> Result<Option<Source>> {
        match name {
            ObjectName::File(file) => match self.0.folder.get(file)? {
                Some(source) => Ok(Some(source)),
                None => Err(fault_in(file, broken(&rule::REFERENCE_TARGET, 0, 0))),
            },
            ObjectName::Inline(key) => {
                match self.read(key).map_err(|fault| fault_in(key, fault))? {
                    Some(Reference::Value(bytes)) => Ok(Some(Source::from_bytes(bytes))),
                    _ => Ok(None),
                }
            }
            ObjectName::Zip => Ok(None),
        }
    }

    /// The names directly below a key.
    pub(super) fn list(&self, key: &str, count_max: usize) -> FolderList {
        let prefix = if key.is_empty() { String::new() } else { format!("{key}/") };
        let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
        let keys = self.0.references.range::<str, _>(from).map(|(key, _)| key.as_str());
        super::children(keys.take_while(|key| key.starts_with(&prefix)), &prefix, count_max)
    }

    fn read(&self, key: &str) -> std::result::Result<Option<Reference>, Broken> {
        let wrong = broken(&rule::REFERENCE, 0, 0);
        let Some(raw) = self.0.references.get(key) else { return Ok(None) };
        match serde_json::from_str(raw.get()).map_err(|_| wrong)? {
            Value::String(text) => match text.strip_prefix("base64:") {
                Some(text) => {
                    let bytes = base64::decode(text.as_bytes()).ok_or(wrong)?;
                    Ok(Some(Reference::Value(bytes)))
                }
                None => Ok(Some(Reference::Value(text.into_bytes()))),
            },
            // A document may be written as JSON in JSON.
            value @ Value::Object(_) => Ok(Some(Reference::Value(value.to_string().into_bytes()))),
            Value::Array(list) => {
                let (url, part) = match list.as_slice() {
                    [Value::String(url)] => (url, None),
                    [Value::String(url), offset, length] => {
                        let numbers = offset.as_u64().zip(length.as_u64());
                        let part = numbers.and_then(|(offset, len)| Span::new(offset, len));
                        (url, Some(part.ok_or(wrong)?))
                    }
                    _ => return Err(wrong),
                };
                let file = self.file_of(url)?;
                Ok(Some(Reference::Part { file, part }))
            }
            _ => Err(wrong),
        }
    }

    /// The key in the folder of a URL.
    fn file_of(&self, url: &str) -> std::result::Result<String, Broken> {
        let url = self.expand(url)?;
        let outside = broken(&rule::REFERENCE_URL, 0, 0);
        let absolute = match url.strip_prefix("file://") {
            Some(path) => Some(path.strip_prefix("localhost").unwrap_or(path)),
            None if url.contains("://") || url.contains("::") => return Err(outside),
            None => url.starts_with('/').then_some(url.as_str()),
        };
        let Some(absolute) = absolute else {
            let mut path = url.as_str();
            while let Some(rest) = path.strip_prefix("./") {
                path = rest;
            }
            return match self.0.folder.path_of(path) {
                Some(_) => Ok(path.to_owned()),
                None => Err(outside),
            };
        };
        let root = std::path::absolute(self.0.folder.path()).map_err(|_| outside)?;
        let below = Path::new(absolute).strip_prefix(&root).map_err(|_| outside)?;
        let below = below.to_str().ok_or(outside)?;
        self.0.folder.path_of(below).map(|_| below.to_owned()).ok_or(outside)
    }

    /// The URL with its templates replaced.
    fn expand(&self, url: &str) -> std::result::Result<String, Broken> {
        let wrong = broken(&rule::REFERENCE_TEMPLATE, 0, 0);
        let mut expanded = String::new();
        let mut rest = url;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").ok_or(wrong)?;
            let text = self.0.templates.get(name.trim()).ok_or(wrong)?;
            if URL_LEN_MAX < expanded.len() + before.len() + text.len() {
                return Err(wrong);
            }
            expanded.push_str(before);
            expanded.push_str(text);
            rest = after;
        }
        if URL_LEN_MAX < expanded.len() + rest.len() {
            return Err(wrong);
        }
        expanded.push_str(rest);
        Ok(expanded)
    }
}
