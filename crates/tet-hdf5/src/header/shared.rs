//! Messages that several objects share: in another object's header, or in a heap of the file (section
//! IV.A.2.p and IV.A.1.c).

use super::{kind, raw};
use crate::error::{Result, fault};
use crate::heap::fractal::FractalHeap;
use crate::reader::{Piece, Reader};
use crate::rule;

/// The heaps of shared messages of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedMessages {
    /// The types of messages of each heap, as bits, and its address.
    heaps: Vec<(u16, u64)>,
}

impl SharedMessages {
    /// The heaps that the extension of the superblock names.
    pub(crate) fn read(reader: &Reader, extension: u64) -> Result<SharedMessages> {
        let header = raw(reader, extension)?;
        let Some(message) =
            header.messages.iter().find(|message| message.kind == kind::SHARED_TABLE)
        else {
            return Ok(SharedMessages::default());
        };
        let mut fields = message.body.fields();
        fields.take(1)?;
        let Some(table) = fields.address()? else { return Ok(SharedMessages::default()) };
        let count = usize::from(fields.byte()?);
        let sizes = reader.sizes;
        let entry_len = 1 + 1 + 2 + 4 + 2 + 2 + 2 + 2 * sizes.offset;
        let len = 4 + count * entry_len + 4;
        let table = reader.sealed(table, len as u64, &rule::HEAP_CUT, &rule::HEAP_CHECKSUM)?;
        let mut fields = table.fields();
        fields.signature(b"SMTB", &rule::HEAP_HEAD)?;
        let mut heaps = Vec::new();
        for _ in 0..count {
            fields.take(2)?;
            let kinds = fields.u16()?;
            fields.take(4 + 2 + 2 + 2)?;
            let _index = fields.address()?;
            heaps.extend(fields.address()?.map(|heap| (kinds, heap)));
        }
        Ok(SharedMessages { heaps })
    }

    /// The message that a shared one of this type stands for.
    pub(crate) fn resolve(&self, reader: &Reader, kind: u16, body: &Piece) -> Result<Piece> {
        let mut fields = body.fields().with_rule(&rule::MESSAGE_CUT);
        let at = fields.at();
        let version = fields.byte()?;
        let place = fields.byte()?;
        let lost = || fault(&rule::SHARED, at, version.into(), 3);
        match (version, place) {
            (1, _) => {
                // A whole entry of a symbol table: the offset of a name, then the address.
                fields.take(6)?;
                fields.length()?;
            }
            (2, _) | (3, 2) => {}
            (3, 1) => {
                let id = fields.take(8)?;
                let of_kind = |(kinds, _): &&(u16, u64)| kind < 16 && kinds & (1 << kind) != 0;
                let (_, heap) = self.heaps.iter().find(of_kind).ok_or_else(lost)?;
                return FractalHeap::read(reader, *heap)?.object(reader, id);
            }
            _ => return Err(lost()),
        }
        let address = fields.address()?.ok_or_else(lost)?;
        let header = raw(reader, address)?;
        let found = header.messages.into_iter().find(|it| it.kind == kind && !it.is_shared);
        Ok(found.ok_or_else(lost)?.body)
    }
}
