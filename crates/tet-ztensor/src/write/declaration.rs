//! The description of a tensor before its elements are written.

use tet_cbor::Value;
use tet_format::{DType, Shape};

use crate::entry::dense_len;
use crate::error::{Error, Result};
use crate::words::DTYPES;

/// The tensor without elements whose custom fields are metadata of the whole file.
pub const METADATA_NAME: &str = "__metadata__";

/// A tensor to write.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Its name.
    pub name: String,
    /// The dtype of its elements.
    pub dtype: DType,
    /// Its extents.
    pub shape: Shape,
    /// Its custom fields, in any order.
    pub custom: Vec<(String, Value)>,
}

impl Declaration {
    /// A tensor without custom fields.
    pub fn new(name: impl Into<String>, dtype: DType, shape: impl Into<Shape>) -> Self {
        Declaration { name: name.into(), dtype, shape: shape.into(), custom: Vec::new() }
    }

    /// Adds a custom field.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: Value) -> Self {
        self.custom.push((key.into(), value));
        self
    }

    /// The tensor that holds the metadata of the whole file.
    #[must_use]
    pub fn metadata(custom: Vec<(String, Value)>) -> Self {
        let mut metadata = Declaration::new(METADATA_NAME, DType::UInt8, [0]);
        metadata.custom = custom;
        metadata
    }

    /// The length of the elements in bytes.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] when the format does not support the dtype, or the length is
    /// 2^63 bytes or more.
    pub fn decoded_len(&self) -> Result<u64> {
        if !DTYPES.contains(&self.dtype) {
            return Err(self.unwritable("the format has no such dtype"));
        }
        let len = dense_len(&self.shape, self.dtype);
        len.ok_or_else(|| self.unwritable("it has 2^63 bytes or more"))
    }

    pub(crate) fn check_name(&self) -> Result<()> {
        check_name(&self.name)
    }

    pub(super) fn unwritable(&self, why: &'static str) -> Error {
        Error::Unwritable { name: self.name.clone(), why }
    }

    /// Whether the byte order is written: single bytes have none.
    pub(super) fn has_byte_order(&self) -> bool {
        self.dtype.size() != Some(1)
    }

    /// The word of the dtype.
    pub(super) fn dtype_word(&self) -> &'static str {
        self.dtype.name()
    }
}

/// Checks that a name can be written: a NUL in it terminates programs of 0.1.x that list names.
pub(crate) fn check_name(name: &str) -> Result<()> {
    if name.contains('\0') {
        let why = "a name with NUL breaks programs of 0.1.x";
        return Err(Error::Unwritable { name: name.to_owned(), why });
    }
    Ok(())
}
