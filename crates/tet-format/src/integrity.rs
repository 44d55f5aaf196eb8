//! The integrity state: how far bytes were compared with their digests.

use core::fmt;

/// The integrity state of bytes, as far as they were checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Integrity {
    /// Every byte was compared with its digest, and matched.
    Verified,
    /// Some bytes were not compared: payloads, or parts that a fault hides.
    #[default]
    Unchecked,
    /// Bytes do not match their digest.
    Mismatch,
    /// There are no digests: changes cannot be detected.
    Unprotected,
    /// There are digests that the footer no longer refers to.
    Stale,
}

impl Integrity {
    /// The combined state of two things: a mismatch or stale digests of one apply to both; other
    /// different states give unchecked.
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
