//! The checked regions of a Tensogram file: the bodies of all frames with a hash, those of metadata too.

use crate::{Error as Theirs, Limits, TensogramFile, rule};
use tet_io::Source;

use super::Tensogram;
use tet_container::Result;
use tet_container::{
    CheckedRegion, ChecksumField, ChecksumOrder, Repairer, StoredChecksum, TakeRegion,
};

impl Repairer for Tensogram {
    fn regions(&self, source: &Source, take: &mut TakeRegion<'_>) -> Result<()> {
        let file = match TensogramFile::open(source.clone(), &Limits::default()) {
            Ok(file) => file,
            // Messages that are not found have no frames.
            Err(Theirs::Format(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for number in 0..file.len() {
            let message = match file.message(number) {
                Ok(message) => message,
                Err(Theirs::Format(_)) => continue,
                Err(error) => return Err(error.into()),
            };
            for (at, frame) in message.frames().iter().enumerate() {
                let Some(wanted) = message.hash(frame) else { continue };
                let (checksum, kind) = (StoredChecksum::Xxh3(wanted), frame.kind().name());
                let name = format!("message {number}, frame {at}: {kind}");
                let region = CheckedRegion::new(source, frame.body(), checksum, &rule::HASH, name);
                let field = ChecksumField { at: frame.hash_at(), order: ChecksumOrder::Big };
                take(CheckedRegion { field: Some(field), ..region })?;
            }
        }
        Ok(())
    }
}
