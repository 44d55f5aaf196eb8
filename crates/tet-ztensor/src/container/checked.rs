//! The checked regions of a zTensor file: the blobs of its tensors.

use crate::{Checksum, Error as Theirs, Limits, ZTensorFile, rule};
use tet_codec::ChecksumKind;
use tet_io::Source;

use super::ZTensor;
use tet_container::Result;
use tet_container::{CheckedRegion, Repairer, StoredChecksum, TakeRegion};

impl Repairer for ZTensor {
    fn regions(&self, source: &Source, take: &mut TakeRegion<'_>) -> Result<()> {
        let file = match ZTensorFile::open(source.clone(), &Limits::default()) {
            Ok(file) => file,
            // Only the index leads to blobs.
            Err(Theirs::Format(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for tensor in file.tensors().filter(|tensor| tensor.fault().is_none()) {
            let checksum = tensor.checksum().and_then(stored_checksum);
            let Some((payload, checksum)) = tensor.stored().zip(checksum) else { continue };
            let rule = &rule::BLOB_CHECKSUM;
            take(CheckedRegion::new(source, payload, checksum, rule, tensor.name()))?;
        }
        Ok(())
    }
}

/// The checksum of stored bytes; `None` for an algorithm that is not known.
pub(crate) const fn stored_checksum(checksum: Checksum) -> Option<StoredChecksum> {
    match checksum {
        Checksum::Crc32c(wanted) => Some(StoredChecksum::Sum(ChecksumKind::Crc32c, wanted)),
        Checksum::Sha256(wanted) => Some(StoredChecksum::Sha256(wanted)),
        Checksum::Xxh3(wanted) => Some(StoredChecksum::Xxh3(wanted)),
        Checksum::Unknown => None,
    }
}
