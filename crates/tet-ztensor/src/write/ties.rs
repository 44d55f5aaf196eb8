//! Equal tensors are recognized, so that their bytes are written once.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

/// What elements are recognized by: their length and their SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    len: u64,
    sha256: [u8; 32],
}

impl Fingerprint {
    /// The fingerprint of elements that come in pieces.
    pub fn of<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let (mut len, mut sha256) = (0_u64, Sha256::new());
        for piece in pieces {
            len = len.saturating_add(piece.len() as u64);
            sha256.update(piece);
        }
        Self { len, sha256: sha256.finalize().into() }
    }
}

/// The tensors that were seen, by their elements.
#[derive(Clone, Debug, Default)]
pub struct Ties {
    seen: HashMap<Fingerprint, String>,
}

impl Ties {
    /// The first tensor that had these elements; `None` when this is the first.
    pub fn first(&mut self, name: &str, elements: &[u8]) -> Option<String> {
        self.first_of(name, Fingerprint::of([elements]))
    }

    /// The first tensor that had this fingerprint; `None` when this is the first. One without
    /// elements is like no other: there is nothing to share.
    pub fn first_of(&mut self, name: &str, fingerprint: Fingerprint) -> Option<String> {
        if fingerprint.len == 0 {
            return None;
        }
        if let Some(first) = self.seen.get(&fingerprint) {
            return Some(first.clone());
        }
        self.seen.insert(fingerprint, name.to_owned());
        None
    }
}
