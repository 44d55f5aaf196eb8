//! How far bytes were compared with the digests that a file has of them.

use core::fmt;

/// Whether bytes are those that were written, as far as was looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Integrity {
    /// Every byte was compared with its digest, and matched.
    Verified,
    /// Some bytes were not compared: payloads, or what a fault hides.
    #[default]
    Unchecked,
    /// Bytes do not match their digest.
    Mismatch,
    /// There are no digests: nothing tells when bytes change.
    Unprotected,
    /// There are digests that the footer no longer names.
    Stale,
}

impl Integrity {
    /// The integrity of two things taken together: what differs or is stale makes the whole so, and
    /// two that are not alike are unchecked.
    ///
    /// ```
    /// use tet_format::Integrity;
    ///
    /// assert_eq!(Integrity::Verified.and(Integrity::Verified), Integrity::Verified);
    /// assert_eq!(Integrity::Verified.and(Integrity::Unprotected), Integrity::Unchecked);
    /// assert_eq!(Integrity::Verified.and(Integrity::Stale), Integrity::Stale);
    /// ```
    #[must_use]
    pub fn and(self, other: Integrity) -> Integrity {
        let worst = [Integrity::Mismatch, Integrity::Stale];
        let worse = worst.into_iter().find(|&it| it == self || it == other);
        worse.unwrap_or(if self == other { self } else { Integrity::Unchecked })
    }

    /// The state's name, as printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Integrity::Verified => "verified",
            Integrity::Unchecked => "unchecked",
            Integrity::Mismatch => "mismatch",
            Integrity::Unprotected => "unprotected",
            Integrity::Stale => "stale",
        }
    }
}

impl fmt::Display for Integrity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
