//! The checked regions of a file of version 1 or 2: the blobs of parts whose checksum is of the stored bytes.

use crate::objects::{ObjectFile, PartEncoding, Version, rule};
use crate::{Error as Theirs, Limits};
use tet_io::Source;

use super::{Objects, open_shard};
use crate::container::stored_checksum;
use tet_container::Result;
use tet_container::read::opened::OpenOptions;
use tet_container::{CheckedRegion, Repairer, TakeRegion};

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
