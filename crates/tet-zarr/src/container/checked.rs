//! The checked regions of a hierarchy: chunks whose last codec is a checksum and the indexes of shards; of a zip file
//! its members.

use std::path::Path;

use crate::{Error as ReadError, Hierarchy, Store, rule};
use tet_codec::ChecksumKind;
use tet_io::Source;

use super::{Zarr, catalog, hierarchy, of_file};
use tet_container::Result;
use tet_container::read::checked::checked_chunks;
use tet_container::read::opened::path_of;
use tet_container::read::zip::checked_members;
use tet_container::{
    CheckedRegion, ChecksumField, ChecksumOrder, Repairer, StoredChecksum, TakeRegion,
};

impl Repairer for Zarr {
    fn regions(&self, source: &Source, take: &mut TakeRegion<'_>) -> Result<()> {
        let path = path_of(source);
        let opened = match hierarchy(source) {
            Ok(opened) => opened,
            Err(ReadError::Fault { .. }) => return Ok(()),
            Err(error) => return Err(of_file(&path, error)),
        };
        match opened.objects().store() {
            Store::Zip(_) => return checked_members(source, &rule::ZIP_CHECKSUM, take),
            Store::Folder(_) => {}
            // The chunks are those of other files, which are repaired as such.
            _ => return Ok(()),
        }
        shard_indexes(&opened, &path, take)?;
        let catalog = catalog::catalog(&path, source, &opened);
        checked_chunks(&catalog, &rule::PAYLOAD_CHECKSUM, take)
    }
}

/// The indexes of shards, whose chunks are lost with them.
fn shard_indexes(opened: &Hierarchy, path: &Path, take: &mut TakeRegion<'_>) -> Result<()> {
    for array in opened.arrays() {
        let mut outcome = Ok(());
        let finder = opened.finder(array);
        let walked = crate::each_checked_index(&finder, &mut |index| {
            let (checksum, at) = (index.wanted, index.entries.end());
            let checksum = StoredChecksum::Sum(ChecksumKind::Crc32c, checksum);
            let (name, rule) = (catalog::name_of(path, &array.path), &rule::SHARD_CHECKSUM);
            let region = CheckedRegion::new(&index.source, index.entries, checksum, rule, name);
            let field = Some(ChecksumField { at, order: ChecksumOrder::Little });
            outcome = take(CheckedRegion { field, ..region });
            outcome.is_ok()
        });
        outcome?;
        walked.map_err(|error| of_file(path, error))?;
    }
    Ok(())
}
