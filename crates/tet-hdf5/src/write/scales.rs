//! The attributes of dimension scales, and of datasets that have some (HDF5 Dimension Scale Specification).

use super::addresses::Addresses;
use super::header::NewHeader;
use super::heap::NewHeaps;
use super::{DraftDataset, attribute, datatype, len_of};

/// More references to an axis are not listed by its scale.
const REFERENCE_COUNT_MAX: usize = 4000;

/// Adds the attributes of dimension scales, and of datasets that have some.
pub(super) fn add_scales(
    dataset: &DraftDataset,
    about: &[(u64, u32)],
    addresses: &Addresses,
    heaps: &mut NewHeaps,
    header: &mut NewHeader,
) {
    let one = attribute::extents(&[], &[]);
    if let Some(name) = &dataset.scale {
        let text = |text: &str| {
            let len = u32::try_from(text.len() + 1).unwrap_or(u32::MAX);
            (datatype::ended_text(len), [text.as_bytes(), b"\0"].concat())
        };
        for (key, value) in [("CLASS", "DIMENSION_SCALE"), ("NAME", name)] {
            let (datatype, value) = text(value);
            header.attribute(&attribute::attribute_message(key, &datatype, &one, &value));
        }
    }
    if dataset.scales.iter().any(Option::is_some) {
        let reference = |scale: &Option<usize>| {
            let address = scale.and_then(|scale| addresses.datasets.get(scale));
            address.map_or([0; 16], |address| heaps.add(1, &address.to_le_bytes()))
        };
        let lists: Vec<u8> = dataset.scales.iter().flat_map(reference).collect();
        let space = attribute::extents(&[len_of(dataset.scales.len())], &[]);
        let datatype = datatype::list(&datatype::reference());
        header.attribute(&attribute::attribute_message(
            "DIMENSION_LIST",
            &datatype,
            &space,
            &lists,
        ));
    }
    if !about.is_empty() && about.len() <= REFERENCE_COUNT_MAX {
        let axis = datatype::number(tet_format::DType::Int32).unwrap_or_default();
        let members = [("dataset", 0, datatype::reference()), ("dimension", 8, axis)];
        let datatype = datatype::compound(16, &members);
        let entry = |&(address, axis): &(u64, u32)| {
            [&address.to_le_bytes()[..], &axis.to_le_bytes(), &[0; 4]].concat()
        };
        let entries: Vec<u8> = about.iter().flat_map(entry).collect();
        let space = attribute::extents(&[len_of(about.len())], &[]);
        header.attribute(&attribute::attribute_message(
            "REFERENCE_LIST",
            &datatype,
            &space,
            &entries,
        ));
    }
}
