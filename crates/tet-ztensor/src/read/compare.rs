//! Stored bytes against their checksum.

use super::{Check, Sound};
use crate::checksum::Comparison;
use crate::error::{Fault, Result};
use crate::rule;

/// A comparison to feed with all stored bytes, if that is asked for.
pub(super) fn begin(sound: &Sound<'_>, check: Check) -> Option<Comparison> {
    let checksum = sound.checksum.filter(|checksum| checksum.is_known() && check != Check::Never);
    checksum.map(Comparison::new)
}

/// Ends a comparison that was fed with all stored bytes.
pub(super) fn end(sound: &Sound<'_>, comparison: Option<Comparison>) -> Result<()> {
    match comparison.and_then(Comparison::differs) {
        Some((found, wanted)) => {
            let (rule, at) = (&rule::BLOB_CHECKSUM, sound.stored.start());
            Err(sound.tensor.broken(Fault { rule, at, found, wanted }))
        }
        None => Ok(()),
    }
}

/// Compares the stored bytes at once.
pub(crate) fn bytes(sound: &Sound<'_>, stored: &[u8], check: Check) -> Result<()> {
    let mut comparison = begin(sound, check);
    if let Some(comparison) = &mut comparison {
        comparison.update(stored);
    }
    end(sound, comparison)
}
