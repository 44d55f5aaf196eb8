//! The postamble of a message (section 1.2): its last 24 bytes.
//!
//! ```text
//!   0                     8              16         24
//!   | first footer offset | total length | 39277777 |
//! ```

use crate::error::Fault;
use crate::fields::{Fields, Put, word};
use crate::rule;

/// The last bytes of a message.
pub(crate) const END_MAGIC: [u8; 8] = *b"39277777";
/// The length of a postamble.
pub(crate) const POSTAMBLE_LEN: u64 = 24;

/// The postamble of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Postamble {
    /// The offset of the first footer frame in the message, or of the postamble if there is none.
    pub first_footer_offset: u64,
    /// The length of the message; 0 if its writer could not seek back to store it.
    pub total_len: u64,
}

impl Postamble {
    /// Reads the postamble at `at` of the file.
    ///
    /// # Errors
    ///
    /// The bytes do not end with the end magic (TGM-P4).
    pub fn read(bytes: &[u8], at: u64) -> Result<Self, Fault> {
        let mut fields = Fields::new(bytes);
        let (first_footer_offset, total_len) = (fields.u64(), fields.u64());
        let found = fields.bytes();
        if found != END_MAGIC {
            let (found, wanted) = (word(&found), word(&END_MAGIC));
            let at = at.saturating_add(POSTAMBLE_LEN - END_MAGIC.len() as u64);
            return Err(Fault { rule: &rule::END_MAGIC, at, found, wanted });
        }
        Ok(Postamble { first_footer_offset, total_len })
    }

    /// Appends the postamble.
    pub fn write(self, out: &mut Vec<u8>) {
        Put::to(out).u64(self.first_footer_offset).u64(self.total_len).bytes(&END_MAGIC);
    }
}
