//! A named object: its shape, its layout and its parts, as the manifest describes them.

use tet_cbor::Value;
use tet_format::ForeignRule;

use super::container::Version;
use super::part::{ObjectPart, PartEncoding, field, is_name};
use super::rule;
use crate::error::Fault;

/// The most axes.
const RANK_MAX: usize = 64;

/// How the parts of an object make a tensor.
///
/// ```
/// use tet_ztensor::objects::ObjectLayout;
///
/// assert!(ObjectLayout::Coo.is_sparse() && !ObjectLayout::Dense.is_sparse());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectLayout {
    /// One part with all elements, in row-major order.
    Dense,
    /// Values, their columns, and the start of each row.
    Csr,
    /// Values and their coordinates.
    Coo,
    /// A layout that is not known: its parts can be read by themselves.
    Unknown,
}

impl ObjectLayout {
    /// Whether only some elements are stored.
    #[must_use]
    pub const fn is_sparse(self) -> bool {
        matches!(self, ObjectLayout::Csr | ObjectLayout::Coo)
    }

    fn of_word(version: Version, word: &str) -> ObjectLayout {
        match (version, word) {
            (_, "dense") => ObjectLayout::Dense,
            (Version::One, "sparse_csr") | (Version::Two, "zt.sparse_csr/1") => ObjectLayout::Csr,
            (Version::One, "sparse_coo") | (Version::Two, "zt.sparse_coo/1") => ObjectLayout::Coo,
            _ => ObjectLayout::Unknown,
        }
    }
}

/// A named object, valid or not.
#[derive(Clone, Debug, PartialEq)]
pub struct ManifestObject {
    /// Its name.
    pub name: String,
    /// The extents of its axes, slowest first.
    pub shape: Vec<u64>,
    /// How its parts make a tensor.
    pub layout: ObjectLayout,
    /// The layout, as the file names it.
    pub layout_word: String,
    /// Its attributes.
    pub attributes: Vec<(String, Value)>,
    /// Its parts.
    pub parts: Vec<ObjectPart>,
    /// The first rule that it breaks. Such an object cannot be read.
    pub fault: Option<Fault>,
    /// The file offset of its entry in the manifest.
    pub at: u64,
}

impl ManifestObject {
    /// An object of which only the name is known.
    pub(super) fn named(name: String, at: u64) -> ManifestObject {
        let (shape, attributes, parts) = Default::default();
        let (layout, layout_word) = (ObjectLayout::Unknown, String::new());
        ManifestObject { name, shape, layout, layout_word, attributes, parts, fault: None, at }
    }

    /// A broken rule of the object.
    pub(super) fn broken(&self, rule: &'static ForeignRule, found: u64, wanted: u64) -> Fault {
        Fault { rule, at: self.at, found, wanted }
    }

    /// Reads what `value` describes.
    pub(super) fn fill(
        &mut self,
        version: Version,
        value: Value,
        shard_at: &dyn Fn(&str) -> Option<usize>,
    ) -> Result<(), &'static ForeignRule> {
        let Value::Map(pairs) = value else { return Err(&rule::OBJECT_FORM) };
        let (layout_key, parts_key) = match version {
            Version::One => ("format", "components"),
            Version::Two => ("layout", "parts"),
        };
        let (Some(Value::Array(extents)), Some(Value::Text(layout)), Some(Value::Map(parts))) =
            (field(&pairs, "shape"), field(&pairs, layout_key), field(&pairs, parts_key))
        else {
            return Err(&rule::OBJECT_FORM);
        };
        if version == Version::Two && !is_name(&self.name) {
            return Err(&rule::NAME);
        }
        if RANK_MAX < extents.len() {
            return Err(&rule::SHAPE);
        }
        let shape: Option<Vec<u64>> = extents.iter().map(Value::as_u64).collect();
        self.shape = shape.ok_or(&rule::OBJECT_FORM)?;
        if self.element_count().is_none() {
            return Err(&rule::SHAPE);
        }
        (self.layout, self.layout_word) = (ObjectLayout::of_word(version, layout), layout.clone());
        for (name, part) in parts {
            let name = name.as_text().ok_or(&rule::NAME)?;
            if self.part(name).is_some() {
                return Err(&rule::KEY_TWICE);
            }
            self.parts.push(ObjectPart::read(version, name, part, shard_at)?);
        }
        if self.parts.is_empty() {
            return Err(&rule::OBJECT_FORM);
        }
        let attributes = pairs.into_iter().find(|(key, _)| key.as_text() == Some("attributes"));
        self.attributes = read_attributes(version, attributes.map(|(_, value)| value))?;
        Ok(())
    }

    /// The number of its elements, stored or not; `None` for 2^63 and more.
    #[must_use]
    pub fn element_count(&self) -> Option<u64> {
        let product = self.shape.iter().try_fold(1_u64, |count, extent| count.checked_mul(*extent));
        product.filter(|count| *count < 1 << 63)
    }

    /// The part with a name.
    #[must_use]
    pub fn part(&self, name: &str) -> Option<&ObjectPart> {
        self.parts.iter().find(|part| part.name == name)
    }

    /// The part that holds its elements, stored ones if it is sparse.
    #[must_use]
    pub fn values(&self) -> Option<&ObjectPart> {
        match self.layout {
            ObjectLayout::Dense => self.part("data"),
            ObjectLayout::Csr | ObjectLayout::Coo => self.part("values"),
            ObjectLayout::Unknown => None,
        }
    }

    /// Why a sound object cannot be read, in words; `None` if it can.
    #[must_use]
    pub fn unsupported(&self) -> Option<String> {
        let Some(values) = self.values() else {
            return Some(format!("the layout {:?} is not supported", self.layout_word));
        };
        if let Some(part) = self.parts.iter().find(|it| it.encoding == PartEncoding::Unknown) {
            return Some(format!("the encoding of the part {:?} is not supported", part.name));
        }
        let is_known = values.element.is_some();
        (!is_known).then(|| format!("the type {:?} is not supported", values.dtype_name))
    }
}

/// The attributes that `value` holds.
pub(super) fn read_attributes(
    version: Version,
    value: Option<Value>,
) -> Result<Vec<(String, Value)>, &'static ForeignRule> {
    let pairs = match value {
        None => return Ok(Vec::new()),
        Some(Value::Null) if version == Version::One => return Ok(Vec::new()),
        Some(Value::Map(pairs)) => pairs,
        Some(_) => return Err(&rule::ATTRIBUTES),
    };
    let mut attributes = Vec::with_capacity(pairs.len());
    for (key, value) in pairs {
        match key {
            Value::Text(key) if version == Version::One || is_name(&key) => {
                attributes.push((key, value));
            }
            _ => return Err(&rule::ATTRIBUTES),
        }
    }
    Ok(attributes)
}
