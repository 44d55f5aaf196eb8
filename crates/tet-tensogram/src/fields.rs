//! Reads and writes big-endian numbers, one after the other.

/// Reads numbers from the front of bytes; zeros after the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Fields(bytes)
    }

    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let (first, rest) = self.0.split_first_chunk().unwrap_or((&[0; N], &[]));
        self.0 = rest;
        *first
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.bytes()).swap_bytes()
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes()).swap_bytes()
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.bytes()).swap_bytes()
    }
}

/// Appends numbers.
#[derive(Debug)]
pub(crate) struct Put<'a>(&'a mut Vec<u8>);

impl<'a> Put<'a> {
    pub(crate) fn to(out: &'a mut Vec<u8>) -> Self {
        Put(out)
    }

    pub(crate) fn bytes(self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn u16(self, number: u16) -> Self {
        self.bytes(&number.swap_bytes().to_le_bytes())
    }

    pub(crate) fn u32(self, number: u32) -> Self {
        self.bytes(&number.swap_bytes().to_le_bytes())
    }

    pub(crate) fn u64(self, number: u64) -> Self {
        self.bytes(&number.swap_bytes().to_le_bytes())
    }
}

/// The bytes of a magic, as a number that a fault can hold.
pub(crate) fn word(bytes: &[u8]) -> u64 {
    let shown = bytes.get(..8).unwrap_or(bytes);
    shown.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
