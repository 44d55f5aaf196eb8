//! A buffer of a thread, for the elements of a chunk before they are decoded.

use std::cell::RefCell;

use tet_codec::{Error, Result};

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Calls `decode` with a buffer of `len` bytes. No borrow is open meanwhile: decoded values of decoded values nest.
///
/// # Errors
/// As `decode`; memory may not hold the buffer.
pub fn with_buffer(
    codec: &'static str,
    len: u64,
    decode: impl FnOnce(&mut [u8]) -> Result<()>,
) -> Result<()> {
    let len = usize::try_from(len).map_err(|_| Error::Memory { codec })?;
    let mut buffer = BUFFER.take();
    let more = len.saturating_sub(buffer.len());
    buffer.try_reserve_exact(more).map_err(|_| Error::Memory { codec })?;
    buffer.resize(len, 0);
    let result = decode(&mut buffer);
    BUFFER.set(buffer);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_nest() {
        let fill = |byte| {
            move |buffer: &mut [u8]| {
                buffer.fill(byte);
                Ok(())
            }
        };
        let outer = with_buffer("test", 3, |outer| {
            outer.fill(1);
            with_buffer("test", 5, fill(2))?;
            assert_eq!(outer, [1; 3]);
            Ok(())
        });
        assert_eq!(outer, Ok(()));
        assert_eq!(with_buffer("test", u64::MAX, fill(0)), Err(Error::Memory { codec: "test" }));
    }
}
