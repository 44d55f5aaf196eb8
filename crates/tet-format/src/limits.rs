//! Limits on what a reader accepts from a file.

use crate::error::{Error, Result};
use crate::rule::Rule;

/// Limits of a reader. The caller may change them; nothing in a file can.
///
/// ```
/// use tet_format::Limits;
///
/// let limits = Limits { name_len_max: 255, ..Limits::default() };
/// assert!(limits.check_directory_len(1 << 30).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest name of a dataset, in bytes.
    pub name_len_max: u64,
    /// The longest directory, in bytes.
    pub directory_len_max: u64,
    /// The longest footer JSON, in bytes.
    pub json_len_max: u64,
    /// The longest spill, in bytes.
    pub spill_len_max: u64,
    /// The deepest nesting of footer JSON, in levels.
    pub json_depth_max: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            name_len_max: 4096,
            directory_len_max: 256 << 20,
            json_len_max: 16 << 20,
            spill_len_max: 16 << 20,
            json_depth_max: 64,
        }
    }
}

impl Limits {
    /// Checks the length of a directory before it is read into memory (rule TET-L2).
    ///
    /// # Errors
    ///
    /// `directory_len` exceeds the limit.
    pub const fn check_directory_len(&self, directory_len: u64) -> Result<()> {
        bound(Rule::LimitDirectory, 32, directory_len, self.directory_len_max)
    }

    /// Checks the length of a footer JSON at offset `at` before it is read into memory (rule
    /// TET-L3).
    ///
    /// # Errors
    ///
    /// `json_len` exceeds the limit.
    pub const fn check_json_len(&self, json_len: u64, at: u64) -> Result<()> {
        bound(Rule::LimitJson, at, json_len, self.json_len_max)
    }

    /// Checks the length of a spill at offset `at` before it is read into memory (rule TET-L4).
    ///
    /// # Errors
    ///
    /// `spill_len` exceeds the limit.
    pub const fn check_spill_len(&self, spill_len: u64, at: u64) -> Result<()> {
        bound(Rule::LimitSpill, at, spill_len, self.spill_len_max)
    }
}

const fn bound(rule: Rule, at: u64, found: u64, wanted: u64) -> Result<()> {
    if found <= wanted { Ok(()) } else { Err(Error { rule, at, found, wanted }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_length_is_bounded_by_its_own_limit() {
        let limits = Limits {
            directory_len_max: 10,
            json_len_max: 20,
            spill_len_max: 30,
            ..Limits::default()
        };
        assert_eq!(limits.check_directory_len(10), Ok(()));
        assert_eq!(limits.check_json_len(20, 5), Ok(()));
        assert_eq!(limits.check_spill_len(30, 5), Ok(()));
        let over = [
            limits.check_directory_len(11),
            limits.check_json_len(21, 5),
            limits.check_spill_len(31, 6),
        ];
        let wanted = [
            Error { rule: Rule::LimitDirectory, at: 32, found: 11, wanted: 10 },
            Error { rule: Rule::LimitJson, at: 5, found: 21, wanted: 20 },
            Error { rule: Rule::LimitSpill, at: 6, found: 31, wanted: 30 },
        ];
        assert_eq!(over.map(Result::unwrap_err), wanted);
    }
}
