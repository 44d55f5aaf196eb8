//! The preamble of a message (section 1.1): 24 bytes.
//!
//! ```text
//!   0          8         10      12         16              24
//!   | TENSOGRM | version | flags | reserved | total length |
//! ```

use crate::error::Fault;
use crate::fields::{Fields, Put, word};
use crate::postamble::POSTAMBLE_LEN;
use crate::rule;

/// The first bytes of a message.
pub(crate) const MAGIC: [u8; 8] = *b"TENSOGRM";
/// The wire version.
pub const VERSION: u16 = 3;
/// The length of a preamble.
pub(crate) const PREAMBLE_LEN: u64 = 24;

/// Which frames a message has, according to its preamble. No reader relies on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(u16);

impl Flags {
    /// A header metadata frame.
    pub const HEADER_METADATA: Flags = Flags(1);
    /// A footer metadata frame.
    pub const FOOTER_METADATA: Flags = Flags(1 << 1);
    /// A header index frame.
    pub const HEADER_INDEX: Flags = Flags(1 << 2);
    /// A footer index frame.
    pub const FOOTER_INDEX: Flags = Flags(1 << 3);
    /// A header hash frame.
    pub const HEADER_HASHES: Flags = Flags(1 << 4);
    /// A footer hash frame.
    pub const FOOTER_HASHES: Flags = Flags(1 << 5);
    /// A preceder frame.
    pub const PRECEDER: Flags = Flags(1 << 6);
    /// The hash slots of frames hold hashes.
    pub const HASHED: Flags = Flags(1 << 7);

    /// Flags of these bits.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        Flags(bits)
    }

    /// The bits.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Whether all flags of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags and those of `other`.
    #[must_use]
    pub const fn with(self, other: Flags) -> Self {
        Flags(self.0 | other.0)
    }

    /// These flags without those of `other`.
    #[must_use]
    pub const fn without(self, other: Flags) -> Self {
        Flags(self.0 & !other.0)
    }

    /// The bits that have no meaning.
    #[must_use]
    pub const fn reserved(self) -> u16 {
        self.0 & !0xFF
    }
}

/// The preamble of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preamble {
    /// Which frames there are.
    pub flags: Flags,
    /// Four bytes that are written as zero.
    pub reserved: u32,
    /// The length of the message; 0 if its writer did not know it.
    pub total_len: u64,
}

impl Preamble {
    /// Reads the preamble of a message at `at` of the file.
    ///
    /// # Errors
    ///
    /// The bytes break a rule (TGM-P1, TGM-P2, TGM-P3, TGM-P6).
    pub fn read(bytes: &[u8], at: u64) -> Result<Self, Fault> {
        let magic = bytes.get(..MAGIC.len()).unwrap_or(bytes);
        if !MAGIC.starts_with(magic) || magic.is_empty() {
            let (found, wanted) = (word(magic), word(&MAGIC));
            return Err(Fault { rule: &rule::MAGIC, at, found, wanted });
        }
        let found = bytes.len() as u64;
        if found < PREAMBLE_LEN {
            return Err(Fault { rule: &rule::PREAMBLE_CUT, at, found, wanted: PREAMBLE_LEN });
        }
        let mut fields = Fields::new(bytes);
        let _: [u8; 8] = fields.bytes();
        let (version, flags) = (fields.u16(), Flags(fields.u16()));
        let (reserved, total_len) = (fields.u32(), fields.u64());
        if version != VERSION {
            let (found, wanted) = (version.into(), VERSION.into());
            return Err(Fault { rule: &rule::VERSION, at, found, wanted });
        }
        if total_len != 0 && total_len < TOTAL_LEN_MIN {
            let (found, wanted) = (total_len, TOTAL_LEN_MIN);
            return Err(Fault { rule: &rule::TOTAL_MIN, at, found, wanted });
        }
        Ok(Preamble { flags, reserved, total_len })
    }

    /// Appends the preamble.
    pub fn write(self, out: &mut Vec<u8>) {
        let put = Put::to(out).bytes(&MAGIC).u16(VERSION).u16(self.flags.0);
        put.u32(self.reserved).u64(self.total_len);
    }
}

/// No message is shorter than its preamble and postamble.
const TOTAL_LEN_MIN: u64 = PREAMBLE_LEN + POSTAMBLE_LEN;
