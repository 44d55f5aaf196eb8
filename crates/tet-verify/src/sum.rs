//! A list of digests of a file of any format, stored in its folder: `x.tet.sum`.
//!
//! ```text
//!   tet.sum/1 crc32c+xxh3 1048576     the form, the algorithms, the length of a block
//!   file 2500000 "climate.tet"        the length and the name, as a JSON string
//!   91d0e2a17c3c2f0f4e1b5a72          a digest for each block, the last one shorter
//!   ...
//!   end 53c1a0b7cf0c6bb1d1d6dd0a      the digest of the lines before
//! ```

use std::fmt::Write;
use std::ops::Range;

use tet_file::{FooterMode, OpenOptions, TetFile};
use tet_format::index::IndexRow;
use tet_format::{Digest, Span};
use tet_io::{Progress, Source};

use crate::error::{Error, Result};

/// The form of the first line, up to the length of a block.
const FORM: &str = "tet.sum/1 crc32c+xxh3 ";

/// The length of a block.
pub const BLOCK_LEN: u64 = 1 << 20;

/// The longest block, to bound memory.
const BLOCK_LEN_MAX: u64 = 64 << 20;

/// The digests of a file, block by block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    /// The length of the file.
    pub file_len: u64,
    /// The name of the file when the list was made: escape it for printing.
    pub name: String,
    /// The length of a block.
    pub block_len: u64,
    /// A digest for each block.
    pub blocks: Vec<Digest>,
}

impl Sum {
    /// The digests of a file.
    ///
    /// # Errors
    ///
    /// The source cannot be read or changed meanwhile, or the caller canceled.
    pub fn compute(source: &Source, name: &str, progress: &Progress) -> Result<Self> {
        let (file_len, block_len) = (source.len(), BLOCK_LEN);
        let mut blocks = Vec::new();
        for_blocks(source, block_len, file_len, progress, |_, digest| blocks.push(digest))?;
        source.check_unchanged()?;
        Ok(Sum { file_len, name: name.to_owned(), block_len, blocks })
    }

    /// The lines of the list.
    #[must_use]
    pub fn to_text(&self) -> String {
        let Sum { file_len, name, block_len, blocks } = self;
        let mut text = format!("{FORM}{block_len}\nfile {file_len} {}\n", quoted(name));
        for block in blocks {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{block}");
        }
        let end = tet_codec::digest(text.as_bytes());
        text + &format!("end {end}\n")
    }

    /// Reads the lines of a list.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Sum`] with the line that is wrong.
    pub fn parse(text: &str) -> Result<Self> {
        let mut lines = (1_u64..).zip(text.split_inclusive('\n'));
        let mut line = || {
            let (number, line) = lines.next().unwrap_or((0, ""));
            (number, line.strip_suffix('\n').unwrap_or_default(), line.len())
        };
        let wrong = |line, what| Err(Error::Sum { line, what });
        let (_, first, mut read_len) = line();
        let block_len = first.strip_prefix(FORM).and_then(|text| text.parse().ok());
        let block_len: u64 = block_len.unwrap_or(0);
        if block_len == 0 || BLOCK_LEN_MAX < block_len {
            return wrong(1, "not the first line of a checksum list that this build supports");
        }
        let (_, second, len) = line();
        read_len += len;
        let file = second.strip_prefix("file ").and_then(|text| text.split_once(' '));
        let file = file.and_then(|(len, name)| Some((len.parse().ok()?, unquoted(name)?)));
        let Some((file_len, name)) = file else { return wrong(2, "not the length and the name") };
        let block_count = u64::div_ceil(file_len, block_len);
        let mut blocks = Vec::new();
        for _ in 0..block_count {
            let (number, text, len) = line();
            read_len += len;
            let Some(digest) = Digest::from_hex(text) else {
                return wrong(number.max(blocks.len() as u64 + 3), "not a digest");
            };
            blocks.push(digest);
        }
        let (number, last, len) = line();
        let before = text.get(..read_len).unwrap_or_default();
        let end = last.strip_prefix("end ").and_then(Digest::from_hex);
        if end != Some(tet_codec::digest(before.as_bytes())) || text.len() != read_len + len {
            return wrong(number, "not the digest of the previous lines");
        }
        Ok(Sum { file_len, name, block_len, blocks })
    }

    /// Reads the lines of several lists, one behind the other: one for each file of a folder.
    ///
    /// ```
    /// use tet_io::{Progress, Source};
    /// use tet_verify::sum::Sum;
    ///
    /// let of = |name| Sum::compute(&Source::from_bytes(*b"abc"), name, &Progress::default());
    /// let text = of("a/0")?.to_text() + &of("a/1")?.to_text();
    /// let names: Vec<String> = Sum::parse_all(&text)?.into_iter().map(|it| it.name).collect();
    /// assert_eq!(names, ["a/0", "a/1"]);
    /// # Ok::<(), tet_verify::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`Error::Sum`] with the line that is wrong.
    pub fn parse_all(text: &str) -> Result<Vec<Self>> {
        let (mut sums, mut rest, mut line_count) = (Vec::new(), text, 0_u64);
        loop {
            let end = rest
                .match_indices(FORM)
                .map(|(at, _)| at)
                .find(|&at| at != 0 && rest.as_bytes().get(at.wrapping_sub(1)) == Some(&b'\n'));
            let (list, later) = rest.split_at(end.unwrap_or(rest.len()));
            sums.push(Self::parse(list).map_err(|error| match error {
                Error::Sum { line, what } => {
                    Error::Sum { line: line.saturating_add(line_count), what }
                }
                error => error,
            })?);
            line_count += u64::try_from(list.lines().count()).unwrap_or(u64::MAX);
            if later.is_empty() {
                return Ok(sums);
            }
            rest = later;
        }
    }

    /// The ranges of a file that changed, in whole blocks; missing or additional bytes at the end
    /// are part of the last range.
    ///
    /// # Errors
    ///
    /// The source cannot be read or changed meanwhile, or the caller canceled.
    pub fn compare(&self, source: &Source, progress: &Progress) -> Result<Vec<Range<u64>>> {
        let mut wrong: Vec<Range<u64>> = Vec::new();
        let mut wanted = self.blocks.iter();
        let shared_len = self.file_len.min(source.len());
        for_blocks(source, self.block_len, shared_len, progress, |span, digest| {
            if wanted.next() != Some(&digest) {
                match wrong.last_mut().filter(|last| last.end == span.start) {
                    Some(last) => last.end = span.end,
                    None => wrong.push(span),
                }
            }
        })?;
        if self.file_len != source.len() {
            // A truncated block cannot match: it is reported with the missing bytes.
            let end = self.file_len.max(source.len());
            match wrong.last_mut().filter(|last| last.end == shared_len) {
                Some(last) => last.end = end,
                None => wrong.push(shared_len..end),
            }
        }
        source.check_unchanged()?;
        Ok(wrong)
    }
}

/// Calls `visit` with the digest of each block up to `len`.
fn for_blocks(
    source: &Source,
    block_len: u64,
    len: u64,
    progress: &Progress,
    mut visit: impl FnMut(Range<u64>, Digest),
) -> Result<()> {
    let progress = progress.begin(len);
    let mut block = Vec::new();
    let mut at = 0;
    while at < len {
        let end = at.saturating_add(block_len).min(len);
        block.resize(usize::try_from(end - at).unwrap_or(0), 0);
        source.read_exact_at(at, &mut block)?;
        visit(at..end, tet_codec::digest(&block));
        at = end;
        progress.advance(block.len() as u64)?;
    }
    Ok(())
}

/// Content of a range of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RangeContent {
    /// A chunk of a dataset.
    Chunk {
        /// The dataset's name as stored: escape it for printing.
        dataset: String,
        /// The chunk's coordinate in the grid.
        coord: Vec<u64>,
    },
    /// Superblock, directory or index.
    Structure,
    /// The bytes after the payloads.
    Footer,
}

/// Content of ranges of a `.tet` file, in the order of the index; empty if the file cannot be read.
///
/// # Errors
///
/// The source cannot be read.
pub fn contents(source: &Source, ranges: &[Range<u64>]) -> Result<Vec<RangeContent>> {
    let options = OpenOptions { footer: FooterMode::Ignore, ..OpenOptions::default() };
    let Ok(file) = TetFile::open(source.clone(), &options) else { return Ok(Vec::new()) };
    let merged = merged(ranges);
    let meets = |span: Span| {
        let before = merged.partition_point(|it| it.start < span.end());
        merged.get(..before).and_then(<[_]>::last).is_some_and(|it| span.start() < it.end)
    };
    let mut found = Vec::new();
    if Span::from_range(0..file.index_end()).is_some_and(meets) {
        found.push(RangeContent::Structure);
    }
    let mut end = file.index_end();
    file.index().for_blocks(0..file.index().row_count(), |_, rows| {
        for row in rows.iter().map(IndexRow::decode) {
            let Some(span) = row.payload() else { continue };
            end = end.max(span.end());
            let id = usize::try_from(row.dataset_id).unwrap_or(usize::MAX);
            let Some(entry) = file.datasets().get(id).filter(|_| meets(span)) else { continue };
            let coord = row.coord.get(..entry.grid.rank()).unwrap_or_default().to_vec();
            found.push(RangeContent::Chunk { dataset: entry.name.clone(), coord });
        }
    })?;
    let last = ranges.iter().map(|it| it.end).max().unwrap_or(0).max(source.len());
    if Span::from_range(end..last.max(end)).is_some_and(meets) {
        found.push(RangeContent::Footer);
    }
    Ok(found)
}

/// Ranges in their order, none of which touches another.
fn merged(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut sorted = ranges.to_vec();
    sorted.sort_by_key(|it| it.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match merged.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => merged.push(range),
        }
    }
    merged
}

/// Encodes a text as an ASCII JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            c => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out + "\""
}

/// Decodes a JSON string written by [`quoted`].
fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut units = Vec::new();
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        let unit = match c {
            '\\' => match rest.next()? {
                'u' => {
                    let digits: String = rest.by_ref().take(4).collect();
                    u16::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 4)?
                }
                c => u16::try_from(u32::from(c)).ok()?,
            },
            '"' => return None,
            c => u16::try_from(u32::from(c)).ok()?,
        };
        units.push(unit);
    }
    String::from_utf16(&units).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(bytes: &[u8]) -> Sum {
        Sum::compute(&Source::from_bytes(bytes), "a \"b\"\n\u{1f600}.tet", &Progress::default())
            .unwrap()
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        for len in [0, 1, BLOCK_LEN - 1, BLOCK_LEN, BLOCK_LEN + 1, 3 * BLOCK_LEN] {
            let list = sum(&vec![7; usize::try_from(len).unwrap()]);
            assert_eq!(list.blocks.len() as u64, len.div_ceil(BLOCK_LEN));
            let text = list.to_text();
            assert!(text.is_ascii());
            assert_eq!(Sum::parse(&text).unwrap(), list);
        }
    }

    #[test]
    fn every_changed_character_of_a_list_is_found() {
        let text = sum(&vec![7; 3 << 20]).to_text();
        for at in 0..text.len() {
            for bit in 0..7 {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                assert!(Sum::parse(str::from_utf8(&bytes).unwrap()).is_err(), "{at}");
            }
            assert!(Sum::parse(&text[..at]).is_err(), "{at}");
        }
        assert!(Sum::parse(&format!("{text}\n")).is_err());
    }

    #[test]
    fn what_differs_is_told_in_blocks() {
        const MIB: usize = 1 << 20;
        let good = vec![7; 5 * MIB + 10];
        let list = sum(&good);
        let wrong = |bytes: &[u8]| {
            let found = list.compare(&Source::from_bytes(bytes), &Progress::default()).unwrap();
            found.into_iter().map(|it| [it.start, it.end]).collect::<Vec<_>>()
        };
        assert_eq!(wrong(&good), [[0; 2]; 0]);
        let mut bad = good.clone();
        for at in [MIB, 2 * MIB, 5 * MIB + 9] {
            bad[at] = 0;
        }
        let mib = MIB as u64;
        assert_eq!(wrong(&bad), [[mib, 3 * mib], [5 * mib, 5 * mib + 10]]);
        assert_eq!(wrong(&good[..4 * MIB + 1]), [[4 * mib, 5 * mib + 10]]);
        assert_eq!(wrong(&[&good[..], &[1]].concat()), [[5 * mib + 10, 5 * mib + 11]]);
    }
}
