//! Writes descriptors as canonical CBOR: shortest heads, keys in canonical order.

use tet_format::DType;

use super::{ByteOrder, Descriptor, DescriptorStage, Field, NONE, NTENSOR, row_major};
use crate::Value;
use crate::error::{Error, Result};

impl Descriptor {
    /// The descriptor of raw little-endian elements.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] when the format has no such dtype, or the shape has too many
    /// elements.
    pub fn new(dtype: DType, shape: &[u64]) -> Result<Descriptor> {
        if dtype == DType::Bool {
            return Err(Error::Unwritable { why: "the format has no bool" });
        }
        // Other programs multiply all extents from the first one on, even if one is zero.
        if shape.iter().try_fold(1, |count: u64, extent| count.checked_mul(*extent)).is_none() {
            return Err(Error::Unwritable { why: "extents multiply to more than 64 bits hold" });
        }
        let numbers = |numbers: &[u64]| {
            Value::Array(numbers.iter().map(|number| Value::Int((*number).into())).collect())
        };
        let text = |text: &str| Value::Text(text.to_owned());
        let field = |(key, value): (&str, Value)| Field { key: key.to_owned(), value, at: 0 };
        let fields = [
            ("type", text(NTENSOR)),
            ("ndim", Value::Int(shape.len() as i128)),
            ("shape", numbers(shape)),
            ("strides", numbers(&row_major(shape))),
            ("dtype", text(dtype.name())),
            ("byte_order", text(ByteOrder::Little.word())),
            ("encoding", text(NONE)),
            ("filter", text(NONE)),
            ("compression", text(NONE)),
        ];
        let descriptor = Descriptor::from_fields(fields.map(field).into(), 0, 0);
        match descriptor.fault() {
            None => Ok(descriptor),
            Some(_) => Err(Error::Unwritable { why: "elements must count up to less than 2^63" }),
        }
    }

    /// Sets `key` to `value`.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Descriptor {
        let at = self.at;
        match self.fields.iter_mut().find(|field| field.key == key) {
            Some(field) => field.value = value,
            None => self.fields.push(Field { key: key.to_owned(), value, at }),
        }
        Descriptor::from_fields(self.fields, self.at, self.stored_len)
    }

    /// Removes `key`.
    #[must_use]
    pub fn without(mut self, key: &str) -> Descriptor {
        self.fields.retain(|field| field.key != key);
        Descriptor::from_fields(self.fields, self.at, self.stored_len)
    }

    /// Replaces the codec of a stage.
    #[must_use]
    pub fn with_stage(self, stage: DescriptorStage, word: &str) -> Descriptor {
        self.with(stage.key(), Value::Text(word.to_owned()))
    }

    /// Replaces the byte order.
    #[must_use]
    pub fn with_byte_order(self, order: ByteOrder) -> Descriptor {
        self.with("byte_order", Value::Text(order.word().to_owned()))
    }

    /// Its canonical CBOR, with every key.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] when readers would reject it.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let pair = |field: &Field| (Value::Text(field.key.clone()), field.value.clone());
        let map = Value::Map(self.fields.iter().map(pair).collect());
        tet_cbor::check_value(&map).map_err(|why| Error::Unwritable { why })?;
        let mut out = Vec::new();
        tet_cbor::encode(&map, &mut out);
        Ok(out)
    }
}
