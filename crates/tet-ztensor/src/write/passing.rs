//! The checksum of bytes while they are written.

use super::options::ChecksumChoice;
use crate::checksum::{Checksum, Comparison};

/// Computes a checksum of bytes, if requested.
#[derive(Debug)]
pub(super) struct Passing(Option<Box<Comparison>>);

impl Passing {
    pub(super) fn new(choice: ChecksumChoice) -> Self {
        // The expected value does not matter: only the found checksum is used.
        let algorithm = match choice {
            ChecksumChoice::Crc32c => Checksum::Crc32c(0),
            ChecksumChoice::Sha256 => Checksum::Sha256([0; 32]),
            ChecksumChoice::Left => return Self::unseen(),
        };
        Passing(Some(Box::new(Comparison::new(algorithm))))
    }

    /// No checksum.
    pub(super) const fn unseen() -> Self {
        Passing(None)
    }

    pub(super) const fn is_unseen(&self) -> bool {
        self.0.is_none()
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        if let Some(comparison) = &mut self.0 {
            comparison.update(bytes);
        }
    }

    /// The field of the entry.
    pub(super) fn finish(self) -> Option<String> {
        self.0.map(|comparison| comparison.found().to_string())
    }
}
