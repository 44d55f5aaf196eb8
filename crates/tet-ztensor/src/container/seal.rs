//! The checksum of a blob, compared by the same policy as digests are.

use crate::{Checksum, Comparison, Tensor, rule};
use tet_format::{ForeignFault, ForeignRule, Span};
use tet_query::{Seal, SealDigester, Sealed};

/// The seal of a tensor whose checksum is of an algorithm that is known.
pub(super) fn sealed(tensor: &Tensor<'_>) -> Option<Sealed> {
    let checksum = tensor.checksum().filter(|checksum| checksum.is_known())?;
    Some(of_blob(tensor.stored()?, checksum, &rule::BLOB_CHECKSUM))
}

/// The seal of stored bytes, and the rule that others break.
pub(crate) fn of_blob(span: Span, checksum: Checksum, rule: &'static ForeignRule) -> Sealed {
    Sealed::new(BlobSeal { span, checksum, rule })
}

struct BlobSeal {
    span: Span,
    checksum: Checksum,
    rule: &'static ForeignRule,
}

impl Seal for BlobSeal {
    fn span(&self) -> Span {
        self.span
    }

    fn digester(&self) -> Box<dyn SealDigester + '_> {
        let (at, rule) = (self.span.start(), self.rule);
        Box::new(Compared { at, rule, comparison: Comparison::new(self.checksum) })
    }
}

struct Compared {
    at: u64,
    rule: &'static ForeignRule,
    comparison: Comparison,
}

impl SealDigester for Compared {
    fn update(&mut self, bytes: &[u8]) {
        self.comparison.update(bytes);
    }

    fn fault(self: Box<Self>) -> Option<ForeignFault> {
        let (found, wanted) = self.comparison.differs()?;
        Some(ForeignFault { rule: self.rule, at: self.at, found, wanted })
    }
}
