//! The descriptor of an object (section 4): one CBOR map that describes its region.
//!
//! ```text
//!   ndim type dtype masks shape filter strides encoding byte_order compression, parameters
//! ```
//!
//! A descriptor is stored as read, key for key, with its faults; a fault affects only its own
//! object. Codecs are names here: the pipeline interprets them.

mod judge;
mod masks;
mod parameter;
mod read;
mod write;

use tet_format::{DType, Severity};

use crate::Value;
use crate::error::{Error, Fault, Result};
pub use masks::{MaskEntry, MaskKind};

/// The object type that is written.
pub(crate) const NTENSOR: &str = "ntensor";
/// The name of a stage that does nothing.
pub(crate) const NONE: &str = "none";

/// The order of the bytes of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The lowest byte first.
    #[default]
    Little,
    /// The highest byte first.
    Big,
}

impl ByteOrder {
    /// The name of the byte order in a descriptor.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            ByteOrder::Little => "little",
            ByteOrder::Big => "big",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [ByteOrder::Little, ByteOrder::Big].into_iter().find(|order| order.word() == word)
    }
}

/// The three stages that encode elements, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DescriptorStage {
    /// Packs elements into numbers of another width.
    Encoding,
    /// Reorders bytes.
    Filter,
    /// Compresses bytes.
    Compression,
}

impl DescriptorStage {
    /// Every stage, in the order of storing.
    pub const ALL: [DescriptorStage; 3] =
        [DescriptorStage::Encoding, DescriptorStage::Filter, DescriptorStage::Compression];

    /// The key of the stage.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            DescriptorStage::Encoding => "encoding",
            DescriptorStage::Filter => "filter",
            DescriptorStage::Compression => "compression",
        }
    }
}

/// A key of a descriptor with its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) key: String,
    pub(crate) value: Value,
    /// The offset of the value in the file.
    pub(crate) at: u64,
}

/// The dtype, shape and encoding of an object, as far as its descriptor can be read.
#[derive(Clone, Debug)]
pub struct Descriptor {
    fields: Vec<Field>,
    at: u64,
    stored_len: u64,
    shape: Vec<u64>,
    strides: Vec<u64>,
    dtype: Option<DType>,
    byte_order: Option<ByteOrder>,
    masks: Vec<MaskEntry>,
    faults: Vec<Fault>,
}

impl Descriptor {
    /// The object type; empty if missing.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.text("type").unwrap_or_default()
    }

    /// The dtype of its elements, if known.
    #[must_use]
    pub const fn dtype(&self) -> Option<DType> {
        self.dtype
    }

    /// The name of the dtype, known or not.
    #[must_use]
    pub fn dtype_word(&self) -> &str {
        self.text("dtype").unwrap_or_default()
    }

    /// The extents of its axes, slowest first.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Its stated strides, in elements. Readers do not use them: elements are in row-major order.
    #[must_use]
    pub fn strides(&self) -> &[u64] {
        &self.strides
    }

    /// The stated number of axes.
    #[must_use]
    pub fn ndim(&self) -> Option<u64> {
        self.value("ndim").and_then(Value::as_u64)
    }

    /// The byte order in effect.
    #[must_use]
    pub fn byte_order(&self) -> ByteOrder {
        self.byte_order.unwrap_or_default()
    }

    /// The stated byte order.
    #[must_use]
    pub const fn stated_byte_order(&self) -> Option<ByteOrder> {
        self.byte_order
    }

    /// The codec name of a stage, known or not.
    #[must_use]
    pub fn stage(&self, stage: DescriptorStage) -> &str {
        self.text(stage.key()).unwrap_or_default()
    }

    /// Its masks: known kinds in the order of the wire, then unknown kinds.
    #[must_use]
    pub fn masks(&self) -> &[MaskEntry] {
        &self.masks
    }

    /// The number of elements; `None` if it overflows.
    #[must_use]
    pub fn element_count(&self) -> Option<u64> {
        element_count(&self.shape)
    }

    /// The length of its elements in bytes; a bitmask is packed.
    #[must_use]
    pub fn decoded_len(&self) -> Option<u64> {
        decoded_len(self.dtype?, self.element_count()?)
    }

    /// Every key that the format does not define, in the order of the file.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &Value)> {
        let others = self.fields.iter().filter(|field| !judge::is_own(&field.key));
        others.map(|field| (field.key.as_str(), &field.value))
    }

    /// Every key with its value, in the order of the file.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.fields.iter().map(|field| (field.key.as_str(), &field.value))
    }

    /// The value of a key; the first one if the key is repeated.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.field(key).map(|field| &field.value)
    }

    /// The file offset of the value of a key, or of the descriptor if the key is missing.
    #[must_use]
    pub fn place(&self, key: &str) -> u64 {
        self.field(key).map_or(self.at, |field| field.at)
    }

    /// Where it starts in the file.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.at
    }

    /// Its length in bytes in the file. In the usual order the payload follows it.
    #[must_use]
    pub const fn stored_len(&self) -> u64 {
        self.stored_len
    }

    /// Everything that is wrong with it or worth knowing, in the order of the checks.
    #[must_use]
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The first rule that it breaks. Such an object cannot be read.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        self.faults.iter().find(|fault| fault.rule.severity == Severity::Error)
    }

    /// Refuses a descriptor that breaks a rule.
    ///
    /// # Errors
    ///
    /// Returns the first fault.
    pub fn check(&self) -> Result<()> {
        self.fault().map_or(Ok(()), |fault| Err(Error::Format(*fault)))
    }

    fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key == key)
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.value(key).and_then(Value::as_text)
    }
}

/// The number of elements of a shape, if it does not overflow; 0 if an extent is 0.
pub(crate) fn element_count(shape: &[u64]) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    let count = shape.iter().try_fold(1_u64, |count, extent| count.checked_mul(*extent))?;
    (count < 1 << 63).then_some(count)
}

/// The length in bytes of `element_count` elements.
pub(crate) fn decoded_len(dtype: DType, element_count: u64) -> Option<u64> {
    let len = match dtype.size() {
        Some(size) => element_count.checked_mul(size)?,
        None => element_count.div_ceil(8),
    };
    (len < 1 << 63).then_some(len)
}

/// The strides of row-major order, in elements.
pub(crate) fn row_major(shape: &[u64]) -> Vec<u64> {
    let mut strides = vec![1_u64; shape.len()];
    let mut stride = 1_u64;
    for (at, extent) in strides.iter_mut().zip(shape).rev() {
        *at = stride;
        stride = stride.saturating_mul(*extent);
    }
    strides
}
