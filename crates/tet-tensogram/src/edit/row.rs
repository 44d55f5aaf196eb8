//! The objects of a message with their metadata, to list, query and select them.

use std::borrow::Cow;

use tet_cbor::Value;

use super::key::Key;
use crate::descriptor::Descriptor;
use crate::error::{Error, Result};
use crate::metadata::{Metadata, Pairs};
use crate::open::{ObjectAt, TensogramFile};
use crate::preamble::VERSION;

/// The metadata of a message and its objects.
#[derive(Debug)]
pub struct Rows {
    message: usize,
    metadata: Metadata,
    objects: Vec<(ObjectAt, Option<Descriptor>)>,
}

/// One object, or a message that has none.
#[derive(Clone, Copy, Debug)]
pub struct Row<'r> {
    rows: &'r Rows,
    number: Option<usize>,
}

impl Rows {
    /// Reads the metadata of a message. An unreadable descriptor is left out.
    ///
    /// # Errors
    ///
    /// The fault of the metadata or of a frame, or [`Error::Io`].
    pub fn of(file: &TensogramFile, message: usize) -> Result<Self> {
        let metadata = file.metadata(message)?;
        let mut objects = Vec::new();
        for object in file.objects(message)? {
            let descriptor = file.read_descriptor(&object).and_then(|bytes| {
                Descriptor::read(&bytes, object.descriptor.start(), file.limits())
            });
            let descriptor = match descriptor {
                Ok(descriptor) => Some(descriptor),
                Err(Error::Io(error)) => return Err(error.into()),
                Err(_) => None,
            };
            objects.push((object, descriptor));
        }
        Ok(Rows { message, metadata, objects })
    }

    /// One row for each object; one for a message without objects.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        let alone = self.objects.is_empty().then_some(None);
        let numbers = (0..self.objects.len()).map(Some).chain(alone);
        numbers.map(|number| Row { rows: self, number })
    }

    /// The metadata of the message and its objects.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}

impl<'r> Row<'r> {
    /// The number of the message in the file.
    #[must_use]
    pub fn message(&self) -> usize {
        self.rows.message
    }

    /// The number of the object in the message.
    #[must_use]
    pub fn object(&self) -> Option<usize> {
        self.number
    }

    /// Where the object is stored.
    #[must_use]
    pub fn place(&self) -> Option<&'r ObjectAt> {
        self.rows.objects.get(self.number?).map(|(object, _)| object)
    }

    /// The descriptor of the object, if it can be read.
    #[must_use]
    pub fn descriptor(&self) -> Option<&'r Descriptor> {
        self.rows.objects.get(self.number?)?.1.as_ref()
    }

    /// The metadata of the object.
    #[must_use]
    pub fn entry(&self) -> Option<&'r Pairs> {
        self.rows.metadata.base.get(self.number?)
    }

    /// The metadata of the message.
    #[must_use]
    pub fn extra(&self) -> &'r Pairs {
        &self.rows.metadata.extra
    }

    /// The name of the object (section 9).
    #[must_use]
    pub fn name(&self) -> Option<Cow<'r, str>> {
        let object = self.number?;
        let text = |key: &str| {
            let value = Key::parse(key).ok()?.find(self.entry()?)?;
            value.as_text().map(Cow::Borrowed)
        };
        let numbered = || Cow::Owned(format!("m{}_o{object}", self.message()));
        Some(text("name").or_else(|| text("mars.param")).unwrap_or_else(numbered))
    }

    /// The value of a key, looked up in the metadata of the object, then of the message, then in
    /// the descriptor, then among `name`, `message`, `object` and `version`.
    #[must_use]
    pub fn value(&self, key: &Key) -> Option<Cow<'r, Value>> {
        if let Some(key) = key.of_message() {
            return key.find(self.extra()).map(Cow::Borrowed);
        }
        let value = self.entry().and_then(|entry| key.find(entry));
        if let Some(value) = value.or_else(|| key.find(self.extra())) {
            return Some(Cow::Borrowed(value));
        }
        if key.is_reserved() {
            // Only the part of the key after `_reserved_` is looked up there.
            let reserved = &self.rows.metadata.reserved;
            let (_, rest) = key.text().split_once('.')?;
            return Key::parse(rest).ok()?.find(reserved).map(Cow::Borrowed);
        }
        let described =
            self.descriptor().and_then(|descriptor| key.find_by(|name| descriptor.value(name)));
        if let Some(value) = described {
            return Some(Cow::Borrowed(value));
        }
        let number = |number: usize| Value::Int(number as i128);
        let own = match key.text() {
            "name" => Value::Text(self.name()?.into_owned()),
            "message" => number(self.message()),
            "object" => number(self.number?),
            "version" => Value::Int(VERSION.into()),
            _ => return None,
        };
        Some(Cow::Owned(own))
    }
}
