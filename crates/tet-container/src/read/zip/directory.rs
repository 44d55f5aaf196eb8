//! The directory of a zip archive (APPNOTE 6.3.10, sections 4.3.12 to 4.3.16): the last end record of the file counts.
//!
//! ```text
//!   member | member ... | entries of the directory | [zip64 record, locator] | end record, comment
//!   0                   directory                  its end                   last PK\5\6 of the file
//! ```
//!
//! The first member begins at the first byte of the file, and the directory ends where its record begins. In a file of
//! several archives one behind the other, offsets of the last one are counted from its own beginning: it is refused.

use std::collections::HashSet;
use std::io::{self, Read};

use tet_io::Source;

use super::fault::{NO_DIRECTORY, ZipFault};
use crate::read::spool::SourceReader;

/// Bytes of the end record before its comment, and of the longest comment.
const END_LEN: u64 = 22;
const COMMENT_LEN_MAX: u64 = 0xffff;
/// Bytes of the locator of the zip64 record, and of that record.
const LOCATOR_LEN: usize = 20;
const RECORD_LEN: u64 = 56;
/// Bytes of an entry before its name.
const ENTRY_LEN: usize = 46;
/// No directory is longer.
const DIRECTORY_LEN_MAX: u64 = 256 << 20;

/// The facts about a directory besides its members.
#[derive(Clone, Debug, Default)]
pub(super) struct Directory {
    /// Its offset in the file.
    pub(super) at: u64,
    /// Names that several members have.
    pub(super) repeated: Vec<String>,
}

/// Where the entries are.
struct Span {
    at: u64,
    len: u64,
    /// The offset of the record that gives these numbers.
    record_at: u64,
}

impl Directory {
    /// Reads the directory of an archive that is all of `source`.
    pub(super) fn read(source: &Source) -> Result<Directory, ZipFault> {
        let Span { at, len, record_at } = find(source)?;
        if at.checked_add(len) != Some(record_at) || DIRECTORY_LEN_MAX < len {
            return Err(ZipFault::Several);
        }
        let entries = bytes(source, at, len)?;
        let mut directory = Directory { at, repeated: Vec::new() };
        let mut names = HashSet::new();
        let mut first_at = None;
        let mut rest = entries.as_slice();
        while let Some(entry) = Entry::read(rest) {
            first_at = first_at.into_iter().chain([entry.member_at]).min();
            if !names.insert(entry.name) {
                directory.repeated.push(String::from_utf8_lossy(entry.name).into_owned());
            }
            rest = rest.get(entry.len..).unwrap_or_default();
        }
        if first_at.unwrap_or(at) != 0 {
            return Err(ZipFault::Several);
        }
        Ok(directory)
    }
}

/// The place that the last end record of the file gives, or the zip64 record in front of it.
fn find(source: &Source) -> Result<Span, ZipFault> {
    let file_len = source.len();
    let tail_len = file_len.min(END_LEN + COMMENT_LEN_MAX + 20);
    let tail_at = file_len - tail_len;
    let tail = bytes(source, tail_at, tail_len)?;
    let is_end = |at: &usize| {
        let record = tail.get(*at..).unwrap_or_default();
        let comment_len = number(record, 20, 2);
        let room = u64::try_from(record.len()).unwrap_or(0).saturating_sub(END_LEN);
        record.starts_with(b"PK\x05\x06") && comment_len.is_some_and(|len| len <= room)
    };
    let end = (0..tail.len()).rev().find(is_end).ok_or_else(missing)?;
    let end_at = tail_at.saturating_add(u64::try_from(end).unwrap_or(u64::MAX));
    let record = tail.get(end..).unwrap_or_default();
    let locator = end.checked_sub(LOCATOR_LEN).and_then(|at| tail.get(at..));
    let Some(locator) = locator.filter(|bytes| bytes.starts_with(b"PK\x06\x07")) else {
        let (len, at) = number(record, 12, 4).zip(number(record, 16, 4)).ok_or_else(missing)?;
        return Ok(Span { at, len, record_at: end_at });
    };
    let record_at = number(locator, 8, 8).ok_or_else(missing)?;
    if file_len < record_at.saturating_add(RECORD_LEN) {
        return Err(ZipFault::Several);
    }
    let record = bytes(source, record_at, RECORD_LEN)?;
    if !record.starts_with(b"PK\x06\x06") {
        return Err(ZipFault::Several);
    }
    let (len, at) = number(&record, 40, 8).zip(number(&record, 48, 8)).ok_or_else(missing)?;
    Ok(Span { at, len, record_at })
}

fn missing() -> ZipFault {
    ZipFault::Damaged { reason: NO_DIRECTORY.to_owned() }
}

/// A member as the directory lists it.
struct Entry<'a> {
    name: &'a [u8],
    member_at: u64,
    len: usize,
}

impl Entry<'_> {
    fn read(bytes: &[u8]) -> Option<Entry<'_>> {
        if !bytes.starts_with(b"PK\x01\x02") {
            return None;
        }
        let size = |at| usize::try_from(number(bytes, at, 2)?).ok();
        let (name_len, extra_len, comment_len) = (size(28)?, size(30)?, size(32)?);
        let (name, rest) = bytes.get(ENTRY_LEN..)?.split_at_checked(name_len)?;
        let extra = rest.get(..extra_len)?;
        let short = number(bytes, 42, 4)?;
        let member_at =
            if short == 0xffff_ffff { long(bytes, extra).unwrap_or(short) } else { short };
        let len =
            ENTRY_LEN.checked_add(name_len)?.checked_add(extra_len)?.checked_add(comment_len)?;
        Some(Entry { name, member_at, len })
    }
}

/// The offset of a member in the zip64 field, which has those of the numbers that do not fit into 32 bits.
fn long(entry: &[u8], mut extra: &[u8]) -> Option<u64> {
    loop {
        let (id, len) = (number(extra, 0, 2)?, usize::try_from(number(extra, 2, 2)?).ok()?);
        let field = extra.get(4..)?.get(..len)?;
        if id == 1 {
            let is_long = |at| number(entry, at, 4) == Some(0xffff_ffff);
            let before = usize::from(is_long(24)) + usize::from(is_long(20));
            return number(field, before * 8, 8);
        }
        extra = extra.get(4..)?.get(len..)?;
    }
}

/// A little-endian number of `len` bytes.
fn number(bytes: &[u8], at: usize, len: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.get(..len)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn bytes(source: &Source, at: u64, len: u64) -> Result<Vec<u8>, ZipFault> {
    let mut out = Vec::new();
    let mut reader = SourceReader::new(source, at).take(len);
    reader.read_to_end(&mut out).map_err(ZipFault::Read)?;
    if u64::try_from(out.len()) == Ok(len) {
        return Ok(out);
    }
    Err(ZipFault::Read(io::ErrorKind::UnexpectedEof.into()))
}
