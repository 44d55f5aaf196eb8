//! The container (section 2): the magic at the start, the footer at the end, the index before it.
//!
//! ```text
//!   0       8        64                                  file_len - 8 - index_len   file_len - 8
//!   | magic | zeros | blob | zeros | blob | zeros | blob | index                   | footer |
//! ```

use tet_format::Span;

use crate::error::Fault;
use crate::limits::Limits;
use crate::rule;

/// The first bytes of a file.
pub const MAGIC: [u8; 8] = *b"ZTEN0001";
/// The length of the magic.
pub const MAGIC_LEN: u64 = 8;
/// The length of the footer: the length of the index, as a `u64`.
pub const FOOTER_LEN: u64 = 8;
/// The shortest file.
pub const FILE_LEN_MIN: u64 = MAGIC_LEN + FOOTER_LEN;
/// Blobs start at multiples of this.
pub const ALIGN: u64 = 64;
/// The most axes that arrays in memory have; a file may state more.
pub const RANK_MAX: usize = 64;

/// The first bytes of files of later versions: 1.x, and 2.x.
const MAGICS_LATER: [[u8; 8]; 2] =
    [*b"ZTEN1000", [0x89, b'Z', b'T', b'2', b'\r', b'\n', 0x1A, b'\n']];

/// Whether bytes start like a file of any version of the format.
#[must_use]
pub fn is_ztensor(head: &[u8]) -> bool {
    head.first_chunk().is_some_and(|head| *head == MAGIC || MAGICS_LATER.contains(head))
}

/// The span of the index, from the first and the last 8 bytes of a file; `head` and `tail` are
/// shorter if the file is.
///
/// # Errors
///
/// The container breaks a rule (ZT-C1 to ZT-C5, ZT-L1).
pub fn index_span(head: &[u8], tail: &[u8], file_len: u64, limits: &Limits) -> Result<Span, Fault> {
    let truncated = Fault { rule: &rule::TRUNCATED, at: 0, found: file_len, wanted: FILE_LEN_MIN };
    check_magic(head.first_chunk().ok_or(truncated)?)?;
    let index_end = file_len.checked_sub(FOOTER_LEN).filter(|end| MAGIC_LEN <= *end);
    let index_end = index_end.ok_or(truncated)?;
    let index_len = tail.last_chunk().copied().map(u64::from_le_bytes).ok_or(truncated)?;
    let len_max = index_end.saturating_sub(MAGIC_LEN);
    if index_len == 0 {
        return Err(Fault { rule: &rule::INDEX_MISSING, at: index_end, found: 0, wanted: 1 });
    }
    let bounds = Fault { rule: &rule::INDEX_LEN, at: index_end, found: index_len, wanted: len_max };
    let start = index_end.checked_sub(index_len).filter(|start| MAGIC_LEN <= *start);
    let span = start.and_then(|start| Span::from_range(start..index_end)).ok_or(bounds)?;
    limits.check_index_len(span)?;
    Ok(span)
}

fn check_magic(head: &[u8; 8]) -> Result<(), Fault> {
    let rule = match head {
        &MAGIC => return Ok(()),
        head if MAGICS_LATER.contains(head) => &rule::OTHER_VERSION,
        _ => &rule::MAGIC,
    };
    let [found, wanted] = [*head, MAGIC].map(u64::from_le_bytes);
    Err(Fault { rule, at: 0, found, wanted })
}
