//! The checksum of a blob, compared by the same policy as digests are.

use tet_format::{ForeignFault, Span};
use tet_query::{Seal, SealDigester, Sealed};
use tet_ztensor::{Checksum, Comparison, Tensor, rule};

/// The seal of a tensor whose checksum is of an algorithm that is known.
pub(super) fn of(tensor: &Tensor<'_>) -> Option<Sealed> {
    let checksum = tensor.checksum().filter(|checksum| checksum.is_known())?;
    Some(Sealed::new(BlobSeal { span: tensor.stored()?, checksum }))
}

struct BlobSeal {
    span: Span,
    checksum: Checksum,
}

impl Seal for BlobSeal {
    fn span(&self) -> Span {
        self.span
    }

    fn digester(&self) -> Box<dyn SealDigester + '_> {
        Box::new(Compared { at: self.span.start(), comparison: Comparison::new(self.checksum) })
    }
}

struct Compared {
    at: u64,
    comparison: Comparison,
}

impl SealDigester for Compared {
    fn update(&mut self, bytes: &[u8]) {
        self.comparison.update(bytes);
    }

    fn fault(self: Box<Self>) -> Option<ForeignFault> {
        let (found, wanted) = self.comparison.differs()?;
        Some(ForeignFault { rule: &rule::BLOB_CHECKSUM, at: self.at, found, wanted })
    }
}
