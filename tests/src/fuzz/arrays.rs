//! HDF5 and Zarr: what is checked, opened and read of any bytes agrees.
//!
//! Checksums would end most changes at the structure that was changed. So each input is also tried with those
//! checksums set right that the reader reports, which reaches what is behind them.

use tet_hdf5::Hdf5File;
use tet_io::Source;
use tet_zarr::{Hierarchy, Store};

use super::agree::{DatasetLen, agree};

/// How often checksums are set right; each time, the next structures behind them are reached.
const ROUNDS: usize = 8;

/// HDF5 files; a file without a signature gets one.
pub fn hdf5(bytes: &[u8]) {
    let file = match bytes {
        [0x89, b'H', b'D', b'F', ..] => bytes.to_vec(),
        bytes => [b"\x89HDF\r\n\x1a\n", bytes].concat(),
    };
    agree(&file, DatasetLen::Unbounded);
    let corrected = corrected(&file, hdf5_sums);
    if corrected != file {
        agree(&corrected, DatasetLen::Unbounded);
    }
}

/// Zip files and documents of references with Zarr hierarchies.
pub fn zarr(bytes: &[u8]) {
    agree(bytes, DatasetLen::Unbounded);
    let corrected = corrected(bytes, shard_sums);
    if corrected != bytes {
        agree(&corrected, DatasetLen::Unbounded);
    }
}

/// A place of a checksum, and the bytes that belong there.
type Sum = (u64, [u8; 4]);

/// The file with its checksums set right.
fn corrected(file: &[u8], sums: fn(&[u8]) -> Vec<Sum>) -> Vec<u8> {
    let mut corrected = file.to_vec();
    for _ in 0..ROUNDS {
        let found = sums(&corrected);
        if found.is_empty() {
            break;
        }
        for (at, sum) in found {
            let at = usize::try_from(at).expect("a place in the file");
            if let Some(place) = corrected.get_mut(at..at + 4) {
                place.copy_from_slice(&sum);
            }
        }
    }
    corrected
}

/// The checksums of structures that differ.
fn hdf5_sums(file: &[u8]) -> Vec<Sum> {
    use tet_hdf5::rule;
    let rules = [
        &rule::SUPERBLOCK_CHECKSUM,
        &rule::HEADER_CHECKSUM,
        &rule::TREE_CHECKSUM,
        &rule::HEAP_CHECKSUM,
        &rule::INDEX_CHECKSUM,
    ];
    let mut sums = Vec::new();
    let mut add = |fault: tet_format::ForeignFault| {
        let computed = u32::try_from(fault.found).unwrap_or(0);
        if rules.iter().any(|rule| std::ptr::eq(*rule, fault.rule)) {
            sums.push((fault.at, computed.to_le_bytes()));
        }
    };
    match Hdf5File::open(Source::from_bytes(file)) {
        Err(tet_hdf5::Error::Fault(fault)) => add(fault),
        Err(error) => panic!("bytes in memory are read: {error}"),
        Ok(opened) => {
            opened.check(&mut |found| add(found.fault)).expect("bytes in memory are read")
        }
    }
    sums
}

/// The checksums of indexes of shards that differ.
fn shard_sums(file: &[u8]) -> Vec<Sum> {
    let mut sums = Vec::new();
    let Ok(store) = Store::zip(Source::from_bytes(file)) else { return sums };
    let Ok(hierarchy) = Hierarchy::open(store) else { return sums };
    for array in hierarchy.arrays() {
        let checked = tet_zarr::check(&hierarchy.finder(array), &mut |found| {
            let fault = found.fault;
            if std::ptr::eq(fault.rule, &tet_zarr::rule::SHARD_CHECKSUM) {
                let computed = u32::try_from(fault.wanted).unwrap_or(0);
                sums.push((fault.at, computed.to_le_bytes()));
            }
        });
        drop(checked);
    }
    sums
}
