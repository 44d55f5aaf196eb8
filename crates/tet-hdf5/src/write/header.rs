//! Object headers of version 2 (section IV.A.1.b) that keep the order of attributes.

use super::UNDEFINED;
use crate::checksum::lookup3;
use crate::header::kind;

/// The order of attributes is kept; the length has four bytes.
const FLAGS: u8 = 0x04 | 0x02;

/// The flag of a message that is in another object.
const IS_SHARED: u8 = 0x02;
/// The version of such a message, and the word for an object with a name.
const SHARED_VERSION: u8 = 2;
const SHARED_IN_OBJECT: u8 = 2;

/// A header that is being made.
#[derive(Debug, Default)]
pub(super) struct NewHeader {
    messages: Vec<u8>,
    attribute_count: u16,
}

impl NewHeader {
    pub(super) fn add(&mut self, kind: u16, body: &[u8]) {
        self.message(kind, 0, body, 0);
    }

    /// A message that is in the header of another object, at this address (section IV.A.1.c).
    pub(super) fn add_shared(&mut self, kind: u16, address: u64) {
        let mut body = vec![SHARED_VERSION, SHARED_IN_OBJECT];
        body.extend(address.to_le_bytes());
        self.message(kind, IS_SHARED, &body, 0);
    }

    pub(super) fn attribute(&mut self, body: &[u8]) {
        self.message(kind::ATTRIBUTE, 0, body, self.attribute_count);
        self.attribute_count = self.attribute_count.saturating_add(1);
    }

    fn message(&mut self, kind: u16, flags: u8, body: &[u8], order: u16) {
        let len = u16::try_from(body.len()).unwrap_or(u16::MAX);
        self.messages.push(kind.to_le_bytes()[0]);
        self.messages.extend(len.to_le_bytes());
        self.messages.push(flags);
        self.messages.extend(order.to_le_bytes());
        self.messages.extend(body);
    }

    /// The bytes of the header.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let mut info = vec![0, 1];
        info.extend(self.attribute_count.to_le_bytes());
        info.extend([UNDEFINED; 2].iter().flat_map(|address| address.to_le_bytes()));
        self.add(kind::ATTRIBUTE_INFO, &info);
        let mut bytes = b"OHDR".to_vec();
        bytes.extend([2, FLAGS]);
        bytes.extend(u32::try_from(self.messages.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(&self.messages);
        bytes.extend(lookup3(&bytes).to_le_bytes());
        bytes
    }
}
