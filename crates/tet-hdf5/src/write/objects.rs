//! The objects of a new file: where each comes to be, and its header.

use std::collections::BTreeMap;

use super::addresses::Addresses;
use super::fault::DraftFault;
use super::groups::Groups;
use super::header::NewHeader;
use super::heap::NewHeaps;
use super::messages::{NewType, add_links, add_shape, element_size, superblock};
use super::scales::add_scales;
use super::{
    DraftAttribute, DraftDataset, DraftEnum, DraftLayout, EncodedHdf5, Hdf5Draft, SUPERBLOCK_LEN,
    UNDEFINED, attribute, datatype, len_of, tree,
};
use crate::header::kind;

/// The most axes of a dataset.
const RANK_MAX: usize = 32;

/// Objects at addresses that are known before.
#[derive(Debug, Default)]
struct Headers {
    heaps: Vec<u8>,
    groups: Vec<Vec<u8>>,
    types: Vec<Vec<u8>>,
    datasets: Vec<Vec<u8>>,
}

impl Hdf5Draft {
    /// Checks all but where the data is, so that it can be done before data is written.
    ///
    /// # Errors
    ///
    /// Returns what cannot be stored.
    pub fn check(&self) -> Result<(), DraftFault> {
        Groups::from_draft(self)?;
        self.types.iter().try_for_each(check_type)?;
        let is_known = |number: &usize| *number < self.types.len();
        let lost = |it: &&DraftDataset| !it.enumeration.iter().all(is_known);
        if let Some(lost) = self.datasets.iter().find(lost) {
            return Err(DraftFault::Type { path: lost.path.clone() });
        }
        self.datasets.iter().try_for_each(check_dataset)?;
        let groups = self.groups.iter().map(|group| (group.path.as_str(), &group.attributes));
        let root = ("", &self.attributes);
        groups.chain([root]).try_for_each(|(path, attributes)| check_attributes(path, attributes))
    }

    /// All but the data, for a file whose data ends at `end`.
    ///
    /// # Errors
    ///
    /// As [`Hdf5Draft::check`].
    pub fn encode(&self, end: u64) -> Result<EncodedHdf5, DraftFault> {
        self.check()?;
        let groups = Groups::from_draft(self)?;
        let start = end.max(SUPERBLOCK_LEN).next_multiple_of(8);
        let mut metadata = vec![0; usize::try_from(start - end.min(start)).unwrap_or(0)];
        let mut at = start;
        let mut trees = Vec::new();
        for dataset in &self.datasets {
            let (bytes, root) = index_of(dataset, at);
            at = at.saturating_add(len_of(bytes.len()));
            metadata.extend(bytes);
            trees.push(root.unwrap_or(UNDEFINED));
        }
        let count = |count: usize| vec![0; count];
        let unknown = Addresses {
            heaps: 0,
            groups: count(groups.list.len()),
            types: count(self.types.len()),
            datasets: count(self.datasets.len()),
        };
        // The lengths do not depend on the addresses.
        let lengths = self.headers(&groups, &trees, &unknown);
        let mut addresses = Addresses { heaps: at, ..Addresses::default() };
        at = at.saturating_add(len_of(lengths.heaps.len()));
        let mut place = |header: &Vec<u8>| {
            let address = at;
            at = at.saturating_add(len_of(header.len()));
            address
        };
        addresses.groups = lengths.groups.iter().map(&mut place).collect();
        addresses.types = lengths.types.iter().map(&mut place).collect();
        addresses.datasets = lengths.datasets.iter().map(&mut place).collect();
        let headers = self.headers(&groups, &trees, &addresses);
        metadata.extend(headers.heaps);
        let objects = headers.groups.iter().chain(&headers.types).chain(&headers.datasets);
        objects.for_each(|header| metadata.extend(header));
        let root = addresses.groups.first().copied().unwrap_or(UNDEFINED);
        Ok(EncodedHdf5 { superblock: superblock(root, at), metadata })
    }

    fn headers(&self, groups: &Groups, trees: &[u64], addresses: &Addresses) -> Headers {
        let mut heaps = NewHeaps::new(addresses.heaps);
        let mut datasets = Vec::new();
        let scaled = self.references(addresses);
        for (number, (dataset, &tree)) in self.datasets.iter().zip(trees).enumerate() {
            let mut header = NewHeader::default();
            let own = self.message_of(dataset);
            let named = dataset.enumeration.and_then(|at| {
                let is_named = self.types.get(at)?.path.is_some();
                addresses.types.get(at).copied().filter(|_| is_named)
            });
            let datatype = named.map_or(NewType::Own(&own), NewType::Named);
            add_shape(dataset, tree, datatype, &mut header);
            let about = scaled.get(&number).map(Vec::as_slice).unwrap_or_default();
            add_scales(dataset, about, addresses, &mut heaps, &mut header);
            for one in &dataset.attributes {
                attribute::message(one, &mut heaps).iter().for_each(|it| header.attribute(it));
            }
            datasets.push(header.finish());
        }
        let mut done = Vec::new();
        for (number, group) in groups.list.iter().enumerate() {
            let mut header = NewHeader::default();
            add_links(group, addresses, &mut header);
            let given = self.groups.iter().zip(&groups.numbers).filter(|(_, it)| **it == number);
            let given = given.flat_map(|(group, _)| &group.attributes);
            for one in self.attributes.iter().filter(|_| number == 0).chain(given) {
                attribute::message(one, &mut heaps).iter().for_each(|it| header.attribute(it));
            }
            done.push(header.finish());
        }
        heaps.close();
        let types = self.types.iter().map(header_of).collect();
        Headers { heaps: heaps.bytes, groups: done, types, datasets }
    }

    /// The message of the type of a dataset.
    fn message_of(&self, dataset: &DraftDataset) -> Vec<u8> {
        let of = dataset.enumeration.and_then(|at| self.types.get(at));
        let message = of.map_or_else(|| datatype::message(dataset.datatype), datatype::enumeration);
        message.unwrap_or_default()
    }

    /// For each scale the axes that it is of: addresses of datasets and numbers of axes.
    fn references(&self, addresses: &Addresses) -> BTreeMap<usize, Vec<(u64, u32)>> {
        let mut references: BTreeMap<usize, Vec<(u64, u32)>> = BTreeMap::new();
        for (dataset, &address) in self.datasets.iter().zip(&addresses.datasets) {
            for (scale, axis) in dataset.scales.iter().zip(0..) {
                if let Some(scale) = scale {
                    references.entry(*scale).or_default().push((address, axis));
                }
            }
        }
        references
    }
}

/// The header of a named type; no bytes for one without a name.
fn header_of(of: &DraftEnum) -> Vec<u8> {
    if of.path.is_none() {
        return Vec::new();
    }
    let mut header = NewHeader::default();
    header.add(kind::DATATYPE, &datatype::enumeration(of).unwrap_or_default());
    header.finish()
}

/// Checks that a type fits a message.
fn check_type(of: &DraftEnum) -> Result<(), DraftFault> {
    let message = datatype::enumeration(of);
    let is_width = |value: &[u8]| u64::try_from(value.len()).ok() == of.dtype.size();
    let is_whole = of.members.iter().all(|(name, value)| !name.contains('\0') && is_width(value));
    let fits = message.is_some_and(|it| it.len() < usize::from(u16::MAX));
    let path = || of.path.clone().unwrap_or_default();
    if fits && is_whole { Ok(()) } else { Err(DraftFault::Type { path: path() }) }
}

fn check_dataset(dataset: &DraftDataset) -> Result<(), DraftFault> {
    let path = || dataset.path.clone();
    let size = element_size(dataset.datatype).ok_or_else(|| DraftFault::Type { path: path() })?;
    let size = u64::from(size);
    let rank = dataset.shape.len();
    let fits = match &dataset.layout {
        DraftLayout::Contiguous(_) => !dataset.unlimited.contains(&true),
        DraftLayout::Chunked { chunk_shape, .. } => {
            let len = chunk_shape.iter().try_fold(size, |len, &extent| {
                len.checked_mul(extent).filter(|&len| len != 0 && len < 1 << 32)
            });
            chunk_shape.len() == rank && rank != 0 && len.is_some()
        }
    };
    let len = dataset.shape.iter().try_fold(size, |len, &extent| len.checked_mul(extent.max(1)));
    if RANK_MAX < rank || !fits || len.is_none_or(|len| 1 << 63 <= len) {
        return Err(DraftFault::Chunks { path: path() });
    }
    check_attributes(&dataset.path, &dataset.attributes)
}

fn check_attributes(path: &str, attributes: &[DraftAttribute]) -> Result<(), DraftFault> {
    let bad = attributes.iter().find(|it| !it.fits());
    bad.map_or(Ok(()), |bad| {
        Err(DraftFault::Attribute { path: path.to_owned(), name: bad.name.clone() })
    })
}

/// The chunk index of a dataset, and the address of its root.
fn index_of(dataset: &DraftDataset, at: u64) -> (Vec<u8>, Option<u64>) {
    let DraftLayout::Chunked { chunk_shape, chunks, .. } = &dataset.layout else {
        return (Vec::new(), None);
    };
    let size = element_size(dataset.datatype).unwrap_or(1);
    tree::encode(&dataset.shape, chunk_shape, size, chunks, at)
}
