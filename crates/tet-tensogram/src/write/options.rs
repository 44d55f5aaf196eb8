//! How messages are written.

use crate::error::{Error, Result};
use crate::message::HashRule;
use crate::preamble::Flags;

/// Whether hash slots are filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HashChoice {
    /// Every slot holds a hash.
    #[default]
    Xxh3,
    /// No slot holds one.
    None,
}

/// Where the hash list of all tensors is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListPlace {
    /// In the header if all hashes are known in advance, else in the footer.
    #[default]
    Usual,
    /// In the header.
    Header,
    /// In the footer.
    Footer,
    /// In both.
    Both,
    /// Nowhere.
    Nowhere,
}

impl ListPlace {
    pub(super) const fn is_header(self) -> bool {
        matches!(self, ListPlace::Header | ListPlace::Both)
    }

    pub(super) const fn is_footer(self) -> bool {
        matches!(self, ListPlace::Footer | ListPlace::Both)
    }
}

/// Whether metadata has the key `version`, which programs of 0.17 look for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VersionKey {
    /// It does not, as from 0.18 on.
    #[default]
    Absent,
    /// It does; later programs find it in `_extra_`.
    Written,
}

/// How messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Whether hash slots are filled.
    pub hash: HashChoice,
    /// Where the hash list is stored, if slots are filled.
    pub list: ListPlace,
    /// Payloads of tensors start at multiples of this: a power of two, at least 8.
    pub align: u64,
    /// The offset of the message in its file, to align payloads in the file.
    pub start: u64,
    /// Whether metadata has the key `version`.
    pub version_key: VersionKey,
}

impl Default for WriteOptions {
    fn default() -> Self {
        let (hash, list, version_key) = Default::default();
        WriteOptions { hash, list, align: 64, start: 0, version_key }
    }
}

/// The largest alignment of payloads.
const ALIGN_MAX: u64 = 1 << 21;

impl WriteOptions {
    pub(super) fn check(&self) -> Result<()> {
        let is_align = self.align.is_power_of_two() && (8..=ALIGN_MAX).contains(&self.align);
        if !is_align {
            let what = "alignment of payloads, a power of two up to 2 MiB";
            return Err(Error::Usage { what, found: self.align, wanted: 64 });
        }
        if !self.start.is_multiple_of(8) {
            let what = "start of a message in its file, a multiple of 8";
            return Err(Error::Usage { what, found: self.start, wanted: self.start & !7 });
        }
        Ok(())
    }

    /// Which slots hold hashes.
    pub(super) const fn hash_rule(&self) -> HashRule {
        if self.is_hashed() { HashRule::Frames } else { HashRule::Unhashed }
    }

    /// The flag of messages in which every frame has a hash.
    pub(super) fn hashed_flag(&self) -> Flags {
        if self.is_hashed() { Flags::HASHED } else { Flags::default() }
    }

    pub(super) const fn is_hashed(&self) -> bool {
        matches!(self.hash, HashChoice::Xxh3)
    }
}
