//! The layout of a new file, computed from its declaration.

use super::cursor::Planned;
use super::declaration::check_spec;
use super::{Chunks, DatasetSpec, Declaration, WriteError, ZeroExtents};
use crate::directory::{WireDirectory, WireRecord};
use crate::dtype::DType;
use crate::grid::Grid;
use crate::index::IndexHeader;
use crate::layout::{self, Align};
use crate::superblock::{self, Superblock};
use crate::wire;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// The layout of a new file.
#[derive(Clone, Debug)]
pub struct Layout {
    datasets: Vec<Planned>,
    /// The directory region, `[32, index_offset)`.
    directory: Vec<u8>,
    dataset_count: u32,
    row_count: u64,
    index_offset: u64,
    index_len: u64,
    /// Where payloads may begin.
    payloads_start: u64,
    align: Align,
}

impl Declaration {
    /// Computes the head of the file and the order of its chunks.
    ///
    /// # Errors
    ///
    /// v1 does not support a dataset, or other readers would refuse it.
    pub fn layout(&self) -> Result<Layout, WriteError> {
        self.layout_with(ZeroExtents::Refuse)
    }

    /// As [`layout`](Declaration::layout), with a choice for extents of 0.
    ///
    /// # Errors
    ///
    /// v1 does not support a dataset.
    pub fn layout_with(&self, zero_extents: ZeroExtents) -> Result<Layout, WriteError> {
        let mut names = BTreeMap::new();
        for (dataset, spec) in self.datasets.iter().enumerate() {
            check_spec(dataset, spec, zero_extents)?;
            if let Some(first) = names.insert(spec.name.as_str(), dataset) {
                return Err(WriteError::NameTwice { dataset, first });
            }
        }
        Layout::plan(self)
    }
}

impl Layout {
    fn plan(declaration: &Declaration) -> Result<Layout, WriteError> {
        let specs = &declaration.datasets;
        let dataset_count = u32::try_from(specs.len()).map_err(|_| WriteError::TooManyDatasets)?;
        let mut records = Vec::new();
        let mut datasets = Vec::new();
        let (mut row_count, mut raw_len) = (0_u64, 0_u64);
        for (dataset, spec) in specs.iter().enumerate() {
            let planned = encode_record(dataset, spec, &mut records)?;
            row_count = add(row_count, planned.grid.chunk_count())?;
            let elements = spec.shape.element_count().ok_or(WriteError::TooLarge)?;
            let len = elements.checked_mul(planned.element_size).ok_or(WriteError::TooLarge)?;
            raw_len = add(raw_len, len)?;
            datasets.push(planned);
        }
        let mut layout = Layout {
            datasets,
            directory: Vec::new(),
            dataset_count,
            row_count,
            index_offset: superblock::LEN,
            index_len: 0,
            payloads_start: superblock::LEN,
            align: declaration.align,
        };
        if dataset_count != 0 {
            layout.place(&records, declaration.reserved_rows)?;
        }
        Ok(layout)
    }

    fn place(&mut self, records: &[u8], reserved_rows: u64) -> Result<(), WriteError> {
        let records_len = wire::len_of(records);
        self.index_offset = layout::index_offset(records_len).ok_or(WriteError::TooLarge)?;
        self.index_len = layout::index_len(self.row_count).ok_or(WriteError::TooLarge)?;
        let all_rows = add(self.row_count, reserved_rows)?;
        let room_len = layout::index_len(all_rows).ok_or(WriteError::TooLarge)?;
        self.payloads_start = add(self.index_offset, room_len)?;
        self.directory = WireDirectory { records_len }.encode().to_vec();
        self.directory.extend(records);
        let region_len = self.index_offset.saturating_sub(superblock::LEN);
        self.directory.resize(usize::try_from(region_len).map_err(|_| WriteError::TooLarge)?, 0);
        Ok(())
    }

    /// The number of datasets.
    #[must_use]
    pub fn dataset_count(&self) -> usize {
        self.datasets.len()
    }

    /// The grid of a dataset.
    #[must_use]
    pub fn grid(&self, dataset: usize) -> Option<&Grid> {
        self.datasets.get(dataset).map(|planned| &planned.grid)
    }

    /// The type of the elements of a dataset.
    #[must_use]
    pub fn dtype(&self, dataset: usize) -> Option<DType> {
        self.datasets.get(dataset).map(|planned| planned.dtype)
    }

    /// The number of chunks of all datasets.
    #[must_use]
    pub fn row_count(&self) -> u64 {
        self.row_count
    }

    /// The offset of the index.
    #[must_use]
    pub fn index_offset(&self) -> u64 {
        self.index_offset
    }

    /// The length of the index.
    #[must_use]
    pub fn index_len(&self) -> u64 {
        self.index_len
    }

    /// One past the last byte of the index.
    #[must_use]
    pub fn index_end(&self) -> u64 {
        self.index_offset.saturating_add(self.index_len)
    }

    /// One past the last byte of the index and of the rows that are reserved: payloads come behind it.
    #[must_use]
    pub fn payloads_start(&self) -> u64 {
        self.payloads_start
    }

    /// The alignment of the payloads of each dataset.
    #[must_use]
    pub fn align(&self) -> Align {
        self.align
    }

    /// The chunks in the order they are written: dataset by dataset, each in row-major order.
    #[must_use]
    pub fn chunks(&self) -> Chunks<'_> {
        Chunks::new(&self.datasets)
    }

    #[cfg(feature = "std")]
    pub(super) fn planned(&self) -> &[Planned] {
        &self.datasets
    }

    /// The superblock, with these flags.
    #[must_use]
    pub fn superblock(&self, flags: u32) -> Superblock {
        let &Layout { dataset_count, index_offset, index_len, .. } = self;
        Superblock { dataset_count, flags, index_offset, index_len }
    }

    /// The bytes up to the first row: superblock, directory and index header.
    #[must_use]
    pub fn head_bytes(&self, flags: u32) -> Vec<u8> {
        let mut bytes = self.superblock(flags).encode().to_vec();
        bytes.extend(&self.directory);
        if self.dataset_count != 0 {
            bytes.extend(IndexHeader::new(self.row_count).encode());
        }
        bytes
    }
}

fn add(a: u64, b: u64) -> Result<u64, WriteError> {
    a.checked_add(b).ok_or(WriteError::TooLarge)
}

/// Appends the record of a dataset whose name and ranks were checked.
fn encode_record(
    dataset: usize,
    spec: &DatasetSpec,
    records: &mut Vec<u8>,
) -> Result<Planned, WriteError> {
    let DatasetSpec { name, dtype, shape, chunk_shape } = spec;
    let dtype = *dtype;
    let (Some(tag), Some(element_size)) = (dtype.tet_tag(), dtype.size()) else {
        return Err(WriteError::NoTag { dataset, dtype });
    };
    let grid = Grid::new(shape.clone(), chunk_shape.clone()).ok_or(WriteError::TooLarge)?;
    let name_len = u32::try_from(name.len()).map_err(|_| WriteError::TooLarge)?;
    let rank = u32::try_from(shape.rank()).map_err(|_| WriteError::TooLarge)?;
    records.extend(WireRecord { name_len, dtype: tag, rank, reserved: 0 }.encode());
    records.extend(name.as_bytes());
    let padding_len = layout::name_padding(name_len.into());
    records.extend((0..padding_len).map(|_| 0));
    records.extend(shape.iter().chain(chunk_shape.iter()).flat_map(|extent| extent.to_le_bytes()));
    Ok(Planned { dtype, grid, element_size })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::Directory;
    use crate::limits::Limits;
    use crate::testing;
    use std::vec;

    #[test]
    fn the_head_is_the_one_put_together_by_hand() {
        let specs = [
            DatasetSpec::new("abc", DType::Float32, [4, 6], [2, 4]),
            DatasetSpec::new("12345678", DType::UInt64, [3], [5]),
        ];
        let layout = Declaration::new(specs).layout().unwrap();
        let directory = testing::directory(&[
            testing::record("abc", 1, &[4, 6], &[2, 4]),
            testing::record("12345678", 10, &[3], &[5]),
        ]);
        let head = layout.head_bytes(1);
        assert_eq!(layout.index_offset(), 32 + directory.len() as u64);
        assert_eq!(head[32..head.len() - 32], directory);
        assert_eq!(layout.row_count(), 5);
        assert_eq!(layout.index_len(), 32 + 5 * 104);
        let superblock = Superblock::read(&head, layout.index_end()).unwrap();
        assert_eq!(superblock, layout.superblock(1));
        assert!(Directory::read(&directory, 32, 2, &Limits::default()).is_ok());
    }

    #[test]
    fn a_file_without_datasets_is_a_superblock() {
        let layout = Declaration::default().layout().unwrap();
        assert_eq!(layout.head_bytes(0).len(), 32);
        assert_eq!((layout.index_end(), layout.chunks().count()), (32, 0));
    }

    #[test]
    fn chunks_come_dataset_by_dataset_in_row_major_order() {
        let specs = [
            DatasetSpec::new("a", DType::Float32, [4, 6], [2, 4]),
            DatasetSpec::new("b", DType::UInt8, [3], [2]),
        ];
        let layout = Declaration::new(specs).layout().unwrap();
        let chunks: Vec<_> = layout
            .chunks()
            .map(|chunk| (chunk.dataset, chunk.coord().to_vec(), chunk.linear, chunk.raw_len))
            .collect();
        let wanted = [
            (0, vec![0, 0], 0, 32),
            (0, vec![0, 1], 1, 16),
            (0, vec![1, 0], 2, 32),
            (0, vec![1, 1], 3, 16),
            (1, vec![0], 0, 2),
            (1, vec![1], 1, 1),
        ];
        assert_eq!(chunks, wanted);
    }
}
