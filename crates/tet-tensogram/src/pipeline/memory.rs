//! Allocates buffers, and checks their lengths.

use crate::error::{Error, Result};

/// A buffer of `len` zeros, if it can be allocated.
pub(crate) fn buffer(len: u64) -> Result<Vec<u8>> {
    let memory = Error::Memory { len };
    let Ok(len) = usize::try_from(len) else { return Err(memory) };
    // Only checks for memory: `vec![0; len]` then gets zeroed pages without clearing them.
    Vec::<u8>::new().try_reserve_exact(len).map_err(|_| memory)?;
    Ok(vec![0; len])
}

/// Resizes a reused buffer; its content is unspecified.
pub(crate) fn sized(mut room: Vec<u8>, len: u64) -> Result<Vec<u8>> {
    let long = index(len);
    if room.capacity() < long {
        return buffer(len);
    }
    room.resize(long, 0);
    Ok(room)
}

/// Calls `visit` with pieces that are multiples of `unit`, except the last one.
pub(crate) fn whole_units<E: From<Error>>(
    unit: usize,
    pieces: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E>,
    visit: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut held: Vec<u8> = Vec::new();
    pieces(&mut |mut piece| {
        if !held.is_empty() {
            let take = unit.saturating_sub(held.len()).min(piece.len());
            let (first, rest) = piece.split_at(take);
            held.extend_from_slice(first);
            if held.len() < unit {
                return Ok(());
            }
            visit(&held)?;
            held.clear();
            piece = rest;
        }
        let rest_len = piece.len().checked_rem(unit).unwrap_or_default();
        let (whole, rest) = piece.split_at(piece.len() - rest_len);
        held.extend_from_slice(rest);
        if whole.is_empty() { Ok(()) } else { visit(whole) }
    })?;
    if held.is_empty() { Ok(()) } else { visit(&held) }
}

/// Checks the length of a buffer that the caller passed.
pub(crate) fn expect_len(what: &'static str, found: usize, wanted: u64) -> Result<()> {
    let found = found as u64;
    if found == wanted { Ok(()) } else { Err(Error::Usage { what, found, wanted }) }
}

/// A number from the file as an index; a number that does not fit is past every end.
pub(crate) fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
