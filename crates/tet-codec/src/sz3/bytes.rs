//! Reads little-endian values one after the other.

use super::fault::corrupt;
use crate::error::Result;
use crate::scratch::index;

/// The bytes that are not read yet.
#[derive(Clone, Debug)]
pub(super) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Bytes(bytes)
    }

    /// All bytes that are left.
    pub(super) const fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// The next `len` bytes.
    pub(super) fn take(&mut self, len: u64) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.0.split_at_checked(index(len)).ok_or(corrupt("the stream is cut short"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const LEN: usize>(&mut self) -> Result<[u8; LEN]> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(corrupt("the stream is cut short"))?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        self.array().map(u8::from_le_bytes)
    }

    /// One byte that is 0 or not.
    pub(super) fn flag(&mut self) -> Result<bool> {
        Ok(self.u8()? != 0)
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn i32(&mut self) -> Result<i32> {
        self.array().map(i32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn f32(&mut self) -> Result<f32> {
        self.array().map(f32::from_le_bytes)
    }

    pub(super) fn f64(&mut self) -> Result<f64> {
        self.array().map(f64::from_le_bytes)
    }
}
