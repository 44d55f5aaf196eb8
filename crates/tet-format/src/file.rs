//! A whole file in memory.

use crate::directory::Directory;
use crate::error::Result;
use crate::footer::Tail;
use crate::index::ChunkIndex;
use crate::limits::Limits;
use crate::span::Span;
use crate::superblock::Superblock;
use crate::wire;

/// The structure of a file whose bytes are all in memory.
///
/// For convenience; a reader that reads regions one by one calls [`Superblock::read`],
/// [`Directory::read`], [`ChunkIndex::read`] and [`Tail::read`] itself.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// The superblock.
    pub superblock: Superblock,
    /// The directory; empty without datasets.
    pub directory: Directory<'a>,
    /// The index; empty without datasets.
    pub index: ChunkIndex<'a>,
    /// The tail, if the superblock announces a footer.
    pub tail: Option<Tail>,
}

impl<'a> File<'a> {
    /// Reads the structure of a file with the default limits.
    ///
    /// # Errors
    ///
    /// The first rule the file breaks, in the order superblock, directory, index, tail.
    pub fn read(bytes: &'a [u8]) -> Result<File<'a>> {
        File::read_with(bytes, &Limits::default())
    }

    /// Reads the structure of a file.
    ///
    /// # Errors
    ///
    /// The first rule or limit the file breaks, in the order superblock, directory, index, tail.
    pub fn read_with(bytes: &'a [u8], limits: &Limits) -> Result<File<'a>> {
        let file_len = wire::len_of(bytes);
        let superblock = Superblock::read(bytes, file_len)?;
        let (directory, index) = if superblock.dataset_count == 0 {
            (Directory::empty(), ChunkIndex::empty())
        } else {
            let span = superblock.directory_span();
            let count = superblock.dataset_count;
            let directory = Directory::read(slice(bytes, span), span.start(), count, limits)?;
            let span = superblock.index_span();
            (directory, ChunkIndex::read(slice(bytes, span), span.start())?)
        };
        let tail = if superblock.has_footer() {
            Some(Tail::read(bytes, superblock.index_end(), file_len)?)
        } else {
            None
        };
        Ok(File { superblock, directory, index, tail })
    }
}

/// The bytes of a span; empty if it is not in the file, which the superblock's rules exclude.
fn slice(bytes: &[u8], span: Span) -> &[u8] {
    let start = usize::try_from(span.start()).unwrap_or(usize::MAX);
    let end = usize::try_from(span.end()).unwrap_or(usize::MAX);
    bytes.get(start..end).unwrap_or(&[])
}

#[cfg(feature = "std")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Codec;
    use crate::dtype::DType;
    use crate::index::{RowContext, check_payloads, check_rows};
    use crate::rule::Rule;
    use crate::write::{DatasetSpec, Declaration, FileWriter, FooterParts};
    use crate::{directory, grid::Grid};
    use std::io::Cursor;
    use std::vec;
    use std::vec::Vec;

    fn file() -> Vec<u8> {
        let spec = DatasetSpec::new("ab", DType::UInt8, [3, 2], [2, 2]);
        let layout = Declaration::new([spec]).layout().unwrap();
        let mut writer = FileWriter::new(Cursor::new(vec![]), layout).unwrap();
        writer.push(Codec::Raw, 4, &[1; 4]).unwrap();
        writer.push(Codec::Raw, 2, &[2; 2]).unwrap();
        let parts = FooterParts { block: &[], spill: &[], json: b"{}", version: 1 };
        writer.finish(Some(parts)).unwrap().into_inner()
    }

    #[test]
    fn every_prefix_is_refused() {
        let file = file();
        for len in 0..file.len() {
            assert!(File::read(&file[..len]).is_err(), "{len}");
        }
        let read = File::read(&file).unwrap();
        assert_eq!((read.directory.len(), read.index.len()), (1, 2));
    }

    #[test]
    fn a_footer_is_looked_for_only_where_announced() {
        let mut file = file();
        let last = file.len() - 1;
        file[last] = b'U';
        assert_eq!(File::read(&file).unwrap_err().rule, Rule::TailMagic);
        file[12] = 0;
        assert_eq!(File::read(&file).unwrap().tail, None);
    }

    /// Any bytes give a value or an error. Every byte of a file is set to several values, and every
    /// word to a huge one.
    #[test]
    fn damage_gives_values_or_errors() {
        let file = file();
        for at in 0..file.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff, !file[at]] {
                let mut damaged = file.clone();
                damaged[at] = value;
                go_through(&damaged);
            }
            let mut damaged = file.clone();
            for byte in damaged.iter_mut().skip(at).take(8) {
                *byte = 0xff;
            }
            go_through(&damaged);
        }
    }

    fn go_through(bytes: &[u8]) {
        let Ok(file) = File::read(bytes) else { return };
        let span = file.superblock.directory_span();
        let count = file.superblock.dataset_count;
        let (mut faults, mut notes) = (vec![], vec![]);
        let limits = Limits::default();
        let region = slice(bytes, span);
        directory::check_all(region, span.start(), count, &limits, &mut faults).unwrap();
        directory::notes(region, span.start(), count, &mut notes);
        let grids: Vec<Grid> = file.directory.iter().map(|record| record.grid().unwrap()).collect();
        assert_eq!(grids.len(), usize::try_from(count).unwrap());
        let contexts: Vec<_> = grids
            .iter()
            .map(|grid| RowContext { record_at: 40, grid, element_size: Some(1) })
            .collect();
        check_rows(file.index.placed_rows(), &contexts, &mut faults).unwrap();
        let [start, end] = [file.superblock.index_end(), bytes.len() as u64];
        let rows = file.index.placed_rows();
        check_payloads(rows, start, end, &mut faults, &mut notes).unwrap();
    }
}
