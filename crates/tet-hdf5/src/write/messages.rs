//! The messages of new objects, and the superblock.

use super::addresses::Addresses;
use super::groups::{Child, Group};
use super::header::NewHeader;
use super::{DraftDataset, DraftLayout, DraftType, UNDEFINED, attribute, datatype, len_of};
use crate::checksum::lookup3;
use crate::header::kind;
use crate::message::filters::StoredFilter;

/// Bytes of an element; `None` for a type that files are not written with.
pub(super) fn element_size(of: DraftType) -> Option<u32> {
    let message = datatype::message(of)?;
    message.get(4..)?.first_chunk().map(|it| u32::from_le_bytes(*it))
}

/// The type of a new dataset.
#[derive(Clone, Copy, Debug)]
pub(super) enum NewType<'m> {
    /// Its message.
    Own(&'m [u8]),
    /// The address of the object that has the message.
    Named(u64),
}

/// Adds extents, type, fill, filters and layout.
pub(super) fn add_shape(
    dataset: &DraftDataset,
    tree: u64,
    datatype: NewType<'_>,
    header: &mut NewHeader,
) {
    let size = element_size(dataset.datatype).unwrap_or(1);
    header.add(kind::DATASPACE, &attribute::extents(&dataset.shape, &dataset.unlimited));
    match datatype {
        NewType::Own(message) => header.add(kind::DATATYPE, message),
        NewType::Named(address) => header.add_shared(kind::DATATYPE, address),
    }
    let is_chunked = matches!(dataset.layout, DraftLayout::Chunked { .. });
    // Space is allocated late, or chunk by chunk; the fill is written if there is one.
    let mut fill = vec![2, if is_chunked { 3 } else { 2 }, 2, 1];
    let value = dataset.fill.as_deref().unwrap_or_default();
    fill.extend(u32::try_from(value.len()).unwrap_or(0).to_le_bytes());
    fill.extend(value);
    header.add(kind::FILL, &fill);
    let mut layout = vec![3];
    match &dataset.layout {
        DraftLayout::Contiguous(span) => {
            let count = dataset.shape.iter().copied().fold(1, u64::saturating_mul);
            layout.push(1);
            let address = span.map_or(UNDEFINED, |span| span.start());
            layout.extend(address.to_le_bytes());
            layout.extend(count.saturating_mul(size.into()).to_le_bytes());
        }
        DraftLayout::Chunked { chunk_shape, filters, .. } => {
            layout.extend([2, u8::try_from(chunk_shape.len() + 1).unwrap_or(u8::MAX)]);
            layout.extend(tree.to_le_bytes());
            for &extent in chunk_shape.iter().chain([&u64::from(size)]) {
                layout.extend(u32::try_from(extent).unwrap_or(u32::MAX).to_le_bytes());
            }
            if !filters.is_empty() {
                header.add(kind::FILTERS, &pipeline(filters));
            }
        }
    }
    header.add(kind::LAYOUT, &layout);
}

/// A filter pipeline of version 2 (section IV.A.2.l).
fn pipeline(filters: &[StoredFilter]) -> Vec<u8> {
    let mut bytes = vec![2, u8::try_from(filters.len()).unwrap_or(u8::MAX)];
    for filter in filters {
        bytes.extend(filter.id.to_le_bytes());
        let name = filter.name.as_bytes();
        if 256 <= filter.id {
            bytes.extend(u16::try_from(name.len()).unwrap_or(0).to_le_bytes());
        }
        bytes.extend(u16::from(filter.is_optional).to_le_bytes());
        bytes.extend(u16::try_from(filter.values.len()).unwrap_or(0).to_le_bytes());
        if 256 <= filter.id {
            bytes.extend(name);
        }
        bytes.extend(filter.values.iter().flat_map(|value| value.to_le_bytes()));
    }
    bytes
}

/// Adds links in the order of their creation (sections IV.A.2.c, e and g).
pub(super) fn add_links(group: &Group, addresses: &Addresses, header: &mut NewHeader) {
    let count = group.links.len();
    let mut info = vec![0, 3];
    info.extend(len_of(count).to_le_bytes());
    info.extend([UNDEFINED; 3].iter().flat_map(|address| address.to_le_bytes()));
    header.add(kind::LINK_INFO, &info);
    let mut about = vec![0, 0];
    if 8 < count {
        // Links are in the header, however many they are.
        let most = u16::try_from(count).unwrap_or(u16::MAX);
        about = vec![0, 1];
        about.extend(most.to_le_bytes());
        about.extend(6_u16.to_le_bytes());
    }
    header.add(kind::GROUP_INFO, &about);
    for ((name, child), order) in group.links.iter().zip(0_u64..) {
        let address = match *child {
            Child::Group(number) => addresses.groups.get(number),
            Child::Dataset(number) => addresses.datasets.get(number),
            Child::Type(number) => addresses.types.get(number),
        };
        // The order is there, the name is UTF-8, and its length has two bytes.
        let mut link = vec![1, 0x04 | 0x10 | 0x01];
        link.extend(order.to_le_bytes());
        link.push(u8::from(!name.is_ascii()));
        link.extend(u16::try_from(name.len()).unwrap_or(u16::MAX).to_le_bytes());
        link.extend(name.as_bytes());
        link.extend(address.copied().unwrap_or(UNDEFINED).to_le_bytes());
        header.add(kind::LINK, &link);
    }
}

/// A superblock of version 2 (section II.A).
pub(super) fn superblock(root: u64, end: u64) -> Vec<u8> {
    let mut bytes = b"\x89HDF\r\n\x1a\n\x02\x08\x08\0".to_vec();
    for number in [0, UNDEFINED, end, root] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(lookup3(&bytes).to_le_bytes());
    bytes
}
