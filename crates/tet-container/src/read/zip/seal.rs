//! The CRC-32 of a stored member of a zip archive.

use crc_fast::{CrcAlgorithm, Digest};
use tet_format::{ForeignFault, ForeignRule, Span};
use tet_query::{Seal, SealDigester};

/// The CRC-32 of all bytes of a member, and the rule that other bytes break.
#[derive(Debug)]
pub struct MemberSeal {
    /// The bytes of the member as they are stored.
    pub span: Span,
    /// The CRC-32 of the directory.
    pub crc: u32,
    /// The rule that another CRC-32 breaks.
    pub rule: &'static ForeignRule,
}

impl Seal for MemberSeal {
    fn span(&self) -> Span {
        self.span
    }

    fn digester(&self) -> Box<dyn SealDigester + '_> {
        Box::new(MemberDigester { crc: Digest::new(CrcAlgorithm::Crc32IsoHdlc), seal: self })
    }
}

struct MemberDigester<'a> {
    crc: Digest,
    seal: &'a MemberSeal,
}

impl SealDigester for MemberDigester<'_> {
    fn update(&mut self, bytes: &[u8]) {
        self.crc.update(bytes);
    }

    fn fault(self: Box<Self>) -> Option<ForeignFault> {
        let (found, wanted) = (self.crc.finalize(), u64::from(self.seal.crc));
        let (rule, at) = (self.seal.rule, self.seal.span.start());
        (found != wanted).then_some(ForeignFault { rule, at, found, wanted })
    }
}
