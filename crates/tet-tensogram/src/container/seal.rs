//! The hash of a frame, compared by the same policy as digests are.
//!
//! It is of the whole body: payload, masks and descriptor.

use crate::{ObjectAt, rule};
use tet_codec::{Digester, Strength};
use tet_format::{ForeignFault, Span};
use tet_query::{Seal, SealDigester, Sealed};

/// The seal of an object whose frame has a hash.
pub(super) fn sealed(object: &ObjectAt) -> Option<Sealed> {
    let (span, at) = (object.frame.body(), object.frame.hash_at());
    object.hash.map(|wanted| Sealed::new(BodySeal { span, at, wanted }))
}

struct BodySeal {
    span: Span,
    /// Where the hash is.
    at: u64,
    wanted: u64,
}

impl Seal for BodySeal {
    fn span(&self) -> Span {
        self.span
    }

    fn digester(&self) -> Box<dyn SealDigester + '_> {
        Box::new(Compared { seal: self, digester: Digester::new(Strength::Fast) })
    }
}

struct Compared<'a> {
    seal: &'a BodySeal,
    digester: Digester,
}

impl SealDigester for Compared<'_> {
    fn update(&mut self, bytes: &[u8]) {
        self.digester.update(bytes);
    }

    fn fault(self: Box<Self>) -> Option<ForeignFault> {
        let (found, wanted) = (self.digester.finish().xxh3, self.seal.wanted);
        let (rule, at) = (&rule::HASH, self.seal.at);
        (found != wanted).then_some(ForeignFault { rule, at, found, wanted })
    }
}
