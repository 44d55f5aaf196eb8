//! The checked regions of a file of version 1 or 2: the blobs of parts whose checksum is of the stored bytes.

use tet_io::Source;
use tet_ztensor::objects::{ObjectFile, PartEncoding, Version, rule};
use tet_ztensor::{Error as Theirs, Limits};

use super::{Objects, open_shard};
use crate::Result;
use crate::container::ztensor::stored_checksum;
use crate::container::{CheckedRegion, Repairer, TakeRegion};
use tet_container::read::opened::OpenOptions;

impl Repairer for Objects {
    fn regions(&self, source: &Source, take: &mut TakeRegion<'_>) -> Result<()> {
        let open = |shard: &str| open_shard(source, shard, &OpenOptions::default());
        let file = match ObjectFile::open(source.clone(), &Limits::default(), &open) {
            Ok(file) => file,
            Err(Theirs::Format(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for object in file.objects().iter().filter(|object| object.fault.is_none()) {
            for part in &object.parts {
                let is_raw = part.encoding == PartEncoding::Raw;
                let digest = part.digest.filter(|_| is_raw || self.version == Version::One);
                let checksum = digest.and_then(stored_checksum);
                let Some((file, checksum)) = file.source_of(part).zip(checksum) else { continue };
                let (rule, name) = (&rule::BLOB_DIGEST, format!("{}.{}", object.name, part.name));
                take(CheckedRegion::new(file, part.stored, checksum, rule, name))?;
            }
        }
        Ok(())
    }
}
