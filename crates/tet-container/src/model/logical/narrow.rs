//! `int8` that is stored as `int16`: every value fits, and one that does not is an error.

use std::sync::Arc;

use tet_codec::{Decode, Error as Refused};
use tet_format::{Digest, ForeignRule, Integrity};
use tet_io::{Compared, Source, Writers};
use tet_query::{ChunkPlace, ChunkTable, Decoder, Sealed, StoredCompression};

/// The chunks of another table, half as long.
pub(super) struct Narrowed {
    pub(super) wide: Arc<dyn ChunkTable>,
}

impl ChunkTable for Narrowed {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        let first = out.len();
        self.wide.locate(linear, out)?;
        for place in out.iter_mut().skip(first) {
            place.decoded_len /= 2;
        }
        Ok(())
    }

    fn is_chunked(&self) -> bool {
        self.wide.is_chunked()
    }

    fn compression(&self) -> Option<StoredCompression> {
        self.wide.compression()
    }

    fn has_digests(&self) -> bool {
        self.wide.has_digests()
    }

    fn integrity(&self) -> Integrity {
        self.wide.integrity()
    }

    fn digest(&self, place: &ChunkPlace) -> tet_query::Result<Option<Digest>> {
        self.wide.digest(place)
    }

    fn seals(&self) -> Vec<&Sealed> {
        self.wide.seals()
    }

    fn each_stored(
        &self,
        take: &mut dyn FnMut(u64) -> tet_query::Result<bool>,
    ) -> tet_query::Result<bool> {
        self.wide.each_stored(take)
    }

    fn codecs_of_objects(&self) -> Option<Vec<String>> {
        self.wide.codecs_of_objects()
    }

    fn rule_of(&self, fault: &Refused) -> Option<&'static ForeignRule> {
        self.wide.rule_of(fault)
    }

    fn take_fault(&self) -> Option<tet_query::Error> {
        self.wide.take_fault()
    }

    fn object(&self, number: u32) -> tet_query::Result<Option<Source>> {
        self.wide.object(number)
    }

    fn writers(&self) -> Writers {
        self.wide.writers()
    }

    fn check_unchanged(&self) -> tet_query::Result<()> {
        self.wide.check_unchanged()
    }

    fn check_all_unchanged(&self, compared: &mut Compared) -> tet_query::Result<()> {
        self.wide.check_all_unchanged(compared)
    }

    fn decoder(&self, linear: u64, place: &ChunkPlace) -> Decoder<'_> {
        let decoded_len = place.decoded_len.saturating_mul(2);
        let wide = self.wide.decoder(linear, &ChunkPlace { decoded_len, ..*place });
        Decoder::Own(Box::new(Narrow(wide)))
    }
}

#[derive(Debug)]
struct Narrow<'a>(Decoder<'a>);

impl Decode for Narrow<'_> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn full_name(&self) -> &str {
        self.0.full_name()
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        let codec = self.name();
        let mut wide = Vec::new();
        let len = out.len().saturating_mul(2);
        wide.try_reserve_exact(len).map_err(|_| Refused::Memory { codec })?;
        wide.resize(len, 0);
        self.0.decode(stored, &mut wide)?;
        let wide = wide.as_chunks::<2>().0.iter().map(|pair| i16::from_le_bytes(*pair));
        for (narrow, wide) in out.iter_mut().zip(wide) {
            let value = i8::try_from(wide);
            let reason = "a value does not fit the original type";
            *narrow = value.map_err(|_| Refused::Corrupt { codec, reason })?.cast_unsigned();
        }
        Ok(())
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> tet_codec::Result<()> {
        self.0.check_len(stored_len, decoded_len.saturating_mul(2))
    }
}
