//! Pixels whose sign bit is turned: the unsigned integers of FITS, which are stored as signed ones.

use std::ops::Range;

use tet_codec::{ChunkLayout, Decode, Raw, StoredSpans, Swapped};
use tet_query::{ChunkPlace, ChunkTable, Decoder, Sealed};

use tet_container::read::slabs::Slabs;

/// Integers in big-endian order with their sign bit turned: 2^15 is added to 16 bits, and so on.
#[derive(Debug)]
struct Turned {
    size: u64,
    swapped: Option<Swapped>,
}

impl Turned {
    fn inner(&self) -> &dyn Decode {
        match &self.swapped {
            Some(swapped) => swapped,
            None => &Raw,
        }
    }

    /// Turns the highest bit of every element, the last byte of which is the highest.
    fn turn(&self, out: &mut [u8]) {
        match self.size {
            1 => out.iter_mut().for_each(|byte| *byte ^= 0x80),
            2 => out.as_chunks_mut::<2>().0.iter_mut().for_each(|it| it[1] ^= 0x80),
            4 => out.as_chunks_mut::<4>().0.iter_mut().for_each(|it| it[3] ^= 0x80),
            _ => out.as_chunks_mut::<8>().0.iter_mut().for_each(|it| it[7] ^= 0x80),
        }
    }
}

impl Decode for Turned {
    fn name(&self) -> &'static str {
        "big-endian"
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
        self.inner().decode(stored, out)?;
        self.turn(out);
        Ok(())
    }

    fn stored_spans(&self, layout: ChunkLayout, elements: Range<u64>) -> StoredSpans {
        self.inner().stored_spans(layout, elements)
    }

    fn decode_range(
        &self,
        layout: ChunkLayout,
        stored: &[u8],
        elements: Range<u64>,
        out: &mut [u8],
    ) -> tet_codec::Result<()> {
        self.inner().decode_range(layout, stored, elements, out)?;
        self.turn(out);
        Ok(())
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> tet_codec::Result<()> {
        self.inner().check_len(stored_len, decoded_len)
    }
}

/// The chunks of an image whose pixels are decoded so.
pub(super) struct TurnedSlabs {
    slabs: Slabs,
    codec: Turned,
}

impl TurnedSlabs {
    /// The chunks of `slabs`, whose elements have `size` bytes.
    pub(super) fn new(slabs: Slabs, size: u64) -> TurnedSlabs {
        TurnedSlabs { slabs, codec: Turned { size, swapped: Swapped::new(size) } }
    }
}

impl ChunkTable for TurnedSlabs {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        self.slabs.locate(linear, out)
    }

    fn seals(&self) -> Vec<&Sealed> {
        self.slabs.seals()
    }

    fn decoder(&self, _linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
        Decoder::Shared(&self.codec)
    }
}
