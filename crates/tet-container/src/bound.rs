//! The bounds that readers and writers of a container set.

use std::fmt;

/// The most of something that files of a container have, as far as they are read or written: a file with more is refused by
/// a rule of the container.
///
/// # Examples
///
/// ```
/// use tet_container::{Bound, BoundUnit};
///
/// let bound = Bound { noun: "axes of a dataset", max: 32, unit: BoundUnit::Count };
/// assert_eq!(bound.to_string(), "32");
/// let bound = Bound { noun: "header", max: 64 << 20, unit: BoundUnit::Bytes };
/// assert_eq!(bound.to_string(), "64 MiB");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Bounded part of the file, as a noun phrase.
    pub noun: &'static str,
    /// The most of it.
    pub max: u64,
    /// Unit of `max`.
    pub unit: BoundUnit,
}

/// Unit of a [`Bound`].
///
/// ```
/// assert_ne!(tet_container::BoundUnit::Bytes, tet_container::BoundUnit::Count);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundUnit {
    /// Bytes.
    Bytes,
    /// Items.
    Count,
}

impl Bound {
    /// A number of items.
    #[must_use]
    pub const fn count(noun: &'static str, max: u64) -> Bound {
        Bound { noun, max, unit: BoundUnit::Count }
    }

    /// A number of bytes.
    #[must_use]
    pub const fn bytes(noun: &'static str, max: u64) -> Bound {
        Bound { noun, max, unit: BoundUnit::Bytes }
    }
}

/// Units of bytes: those of a power of two first, since these are exact.
const UNITS: [(u64, &str); 5] =
    [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1_000_000, "MB"), (1, "bytes")];

impl fmt::Display for Bound {
    /// The number in the largest unit of which it is a multiple, or with commas: `64 MiB`, `1,048,576`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unit == BoundUnit::Bytes
            && let Some((unit, name)) =
                UNITS.iter().find(|(unit, _)| self.max.is_multiple_of(*unit))
        {
            return write!(f, "{} {name}", self.max / unit);
        }
        let digits = self.max.to_string();
        for (at, digit) in digits.char_indices() {
            let is_group = at != 0 && (digits.len() - at).is_multiple_of(3);
            write!(f, "{}{digit}", if is_group { "," } else { "" })?;
        }
        Ok(())
    }
}
