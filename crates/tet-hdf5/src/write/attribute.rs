//! Attribute messages of version 3 (section IV.A.2.m), and dataspaces of version 2 (section IV.A.2.b).

use super::heap::NewHeaps;
use super::{DraftAttribute, DraftValue, UNDEFINED, datatype, len_of};

/// A message is shorter than this.
const MESSAGE_LEN_MAX: usize = 65_535;

impl DraftAttribute {
    /// Whether the attribute can be stored in an object header: all of it but long texts takes less than
    /// 64 KiB.
    #[must_use]
    pub fn fits(&self) -> bool {
        let is_name = !self.name.is_empty() && !self.name.contains('\0');
        let message = message(self, &mut NewHeaps::default());
        is_name && message.is_some_and(|message| message.len() < MESSAGE_LEN_MAX)
    }
}

/// The message of an attribute; `None` for numbers of a type that files are not written with.
pub(crate) fn message(attribute: &DraftAttribute, heaps: &mut NewHeaps) -> Option<Vec<u8>> {
    let name = &attribute.name;
    Some(match &attribute.value {
        DraftValue::Text(text) if text.is_empty() => {
            attribute_message(name, &datatype::text(1, true), &[2, 0, 0, 2], &[])
        }
        DraftValue::Text(text) => {
            let len = u32::try_from(text.len()).ok()?;
            attribute_message(
                name,
                &datatype::text(len, text.is_ascii()),
                &extents(&[], &[]),
                text.as_bytes(),
            )
        }
        DraftValue::LongText(text) => {
            let value = heaps.add(text.len(), text.as_bytes());
            attribute_message(name, &datatype::long_text(), &extents(&[], &[]), &value)
        }
        DraftValue::Texts(texts) => {
            let values = texts.iter().flat_map(|it| heaps.add(it.len(), it.as_bytes()));
            let values: Vec<u8> = values.collect();
            attribute_message(
                name,
                &datatype::long_text(),
                &extents(&[len_of(texts.len())], &[]),
                &values,
            )
        }
        DraftValue::Numbers { dtype, bytes, is_list } => {
            let size = usize::try_from(dtype.size()?).ok()?.max(1);
            let count = [len_of(bytes.len() / size)];
            let shape = if *is_list { &count[..] } else { &[] };
            attribute_message(name, &datatype::number(*dtype)?, &extents(shape, &[]), bytes)
        }
    })
}

/// A message of these parts.
pub(super) fn attribute_message(
    name: &str,
    datatype: &[u8],
    space: &[u8],
    value: &[u8],
) -> Vec<u8> {
    let len = |len: usize| u16::try_from(len).unwrap_or(u16::MAX).to_le_bytes();
    let mut bytes = vec![3, 0];
    bytes.extend(len(name.len() + 1));
    bytes.extend(len(datatype.len()));
    bytes.extend(len(space.len()));
    bytes.push(u8::from(!name.is_ascii()));
    bytes.extend(name.as_bytes());
    bytes.push(0);
    bytes.extend(datatype);
    bytes.extend(space);
    bytes.extend(value);
    bytes
}

/// The dataspace of these extents; axes that are `unlimited` have no greatest one.
pub(super) fn extents(shape: &[u64], unlimited: &[bool]) -> Vec<u8> {
    let rank = u8::try_from(shape.len()).unwrap_or(u8::MAX);
    let can_grow = unlimited.contains(&true);
    let mut bytes = vec![2, rank, u8::from(can_grow), u8::from(rank != 0)];
    bytes.extend(shape.iter().flat_map(|extent| extent.to_le_bytes()));
    if can_grow {
        for (axis, &extent) in shape.iter().enumerate() {
            let is_unlimited = unlimited.get(axis) == Some(&true);
            bytes.extend(if is_unlimited { UNDEFINED } else { extent }.to_le_bytes());
        }
    }
    bytes
}
