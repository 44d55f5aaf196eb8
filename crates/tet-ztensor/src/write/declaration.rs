//! What is said of a tensor before its elements come.

use tet_cbor::Value;
use tet_format::{DType, Shape};

use crate::entry::dense_len;
use crate::error::{Error, Result};
use crate::words::DTYPES;

/// The tensor without elements whose custom fields speak of the whole file.
pub const METADATA_NAME: &str = "__metadata__";

/// A tensor that is to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub dtype: DType,
    /// Its extents.
    pub shape: Shape,
    /// More that is said of it, in any order.
    pub custom: Vec<(String, Value)>,
}

impl Declaration {
    /// A tensor of which nothing more is said.
    pub fn new(name: impl Into<String>, dtype: DType, shape: impl Into<Shape>) -> Self {
        Declaration { name: name.into(), dtype, shape: shape.into(), custom: Vec::new() }
    }

    /// The same with one more custom field.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: Value) -> Self {
        self.custom.push((key.into(), value));
        self
    }

    /// The tensor that holds what is said of the whole file.
    #[must_use]
    pub fn metadata(custom: Vec<(String, Value)>) -> Self {
        let mut metadata = Declaration::new(METADATA_NAME, DType::UInt8, [0]);
        metadata.custom = custom;
        metadata
    }

    /// How many bytes the elements take.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] when the format has no word for the type, or the bytes do not
    /// count up to less than 2^63.
    pub fn decoded_len(&self) -> Result<u64> {
        if !DTYPES.contains(&self.dtype) {
            return Err(self.unwritable("the format has no such dtype"));
        }
        let len = dense_len(&self.shape, self.dtype);
        len.ok_or_else(|| self.unwritable("its bytes count up to 2^63 or more"))
    }

    /// Checks the name.
    pub(crate) fn check_name(&self) -> Result<()> {
        check_name(&self.name)
    }

    pub(super) fn unwritable(&self, why: &'static str) -> Error {
        Error::Unwritable { name: self.name.clone(), why }
    }

    /// Whether the byte order of raw elements is stated: that of one byte has no meaning.
    pub(super) fn has_byte_order(&self) -> bool {
        self.dtype.size() != Some(1)
    }

    /// The word of the type.
    pub(super) fn dtype_word(&self) -> &'static str {
        self.dtype.name()
    }
}

/// Checks that a name can be written: with NUL in it, it ends programs of 0.1.x that list names.
pub(crate) fn check_name(name: &str) -> Result<()> {
    if name.contains('\0') {
        let why = "a name with NUL breaks programs of 0.1.x";
        return Err(Error::Unwritable { name: name.to_owned(), why });
    }
    Ok(())
}
