//! Buffers of a thread, reused from chunk to chunk.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

use crate::error::{Error, Result};

/// Buffers that a thread keeps.
const POOL_LEN: usize = 4;
/// Larger buffers are freed after use.
const CAPACITY_MAX: usize = 128 << 20;

thread_local! {
    static POOL: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// A buffer of this thread; it goes back to the thread when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Scratch(Vec<u8>);

impl Scratch {
    /// A buffer whose length and content are unspecified.
    pub(crate) fn new() -> Scratch {
        Scratch(POOL.with_borrow_mut(Vec::pop).unwrap_or_default())
    }
}

impl Deref for Scratch {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.0);
        if buffer.capacity() == 0 || CAPACITY_MAX < buffer.capacity() {
            return;
        }
        // A thread that ends has no pool any more.
        let _ = POOL.try_with(|pool| {
            if let Ok(mut pool) = pool.try_borrow_mut()
                && pool.len() < POOL_LEN
            {
                pool.push(buffer);
            }
        });
    }
}

/// Gives a reused buffer this length; what it held before is kept or cut, and is no content.
pub(crate) fn resize(codec: &'static str, out: &mut Vec<u8>, len: usize) -> Result<()> {
    if out.capacity() < len {
        // Free the old buffer before allocating a new one; new zeroed pages need not be cleared.
        *out = Vec::new();
        out.try_reserve_exact(len).map_err(|_| Error::Memory { codec })?;
        *out = Vec::new();
        *out = vec![0; len];
    }
    out.resize(len, 0);
    Ok(())
}

/// A number as an index; one that does not fit is past every end.
pub(crate) fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_used_again() {
        let mut one = Scratch::new();
        resize("test", &mut one, 1000).unwrap();
        let place = one.as_ptr();
        drop(one);
        let again = Scratch::new();
        assert_eq!(again.as_ptr(), place);
    }

    #[test]
    fn a_length_that_no_memory_has_is_an_error() {
        let mut out = vec![1; 3];
        let memory = Error::Memory { codec: "test" };
        assert_eq!(resize("test", &mut out, usize::MAX), Err(memory));
        resize("test", &mut out, 5).unwrap();
        assert_eq!(out.len(), 5);
    }
}
