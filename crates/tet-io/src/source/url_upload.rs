//! A file that is uploaded in parts, which appears when all of them have arrived.

use std::fmt::Debug;

use tet_format::Span;

use super::Source;
use crate::error::Result;

/// The length of the first parts, and of the longest file that is written with one request.
const PART_LEN: u64 = 8 << 20;
/// The number of parts that have this length; as many after them are twice as long, and so on.
const RUN: u64 = 1_000;
/// The last parts have 2 GiB: Azure has blocks of up to 4,000 MiB.
const DOUBLES_MAX: u64 = 8;
/// An upload to S3 has at most this many parts. They reach beyond 5 TiB, the longest object.
const PARTS_MAX: usize = 10_000;

/// A part of an upload. Parts are long enough and few enough for the object stores, whatever the length of the file, which is not
/// known before it ends.
///
/// ```
/// use tet_io::UrlPart;
///
/// let parts = UrlPart::all_of(20 << 20);
/// assert_eq!(parts.iter().map(|part| part.span.len() >> 20).collect::<Vec<_>>(), [8, 8, 4]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlPart {
    /// Its number, from 0.
    pub nth: usize,
    /// Where its bytes are in the file.
    pub span: Span,
}

impl UrlPart {
    /// The part of a number, from 0, of a file that goes on behind it.
    #[must_use]
    pub fn nth(nth: usize) -> Option<UrlPart> {
        let number = u64::try_from(nth).ok().filter(|_| nth < PARTS_MAX)?;
        let double = (number / RUN).min(DOUBLES_MAX);
        let rest = number - double * RUN;
        let before = PART_LEN * RUN * ((1 << double) - 1);
        let len = PART_LEN << double;
        Some(UrlPart { nth, span: Span::new(before + rest * len, len)? })
    }

    /// The part that an offset is in; `None` past the end of the longest file.
    #[must_use]
    pub fn at(offset: u64) -> Option<UrlPart> {
        let double = u64::from((offset / (PART_LEN * RUN)).checked_add(1)?.ilog2());
        let first = double.min(DOUBLES_MAX) * RUN;
        let begin = Self::nth(usize::try_from(first).ok()?)?.span;
        let rest = (offset - begin.start()) / begin.len();
        Self::nth(usize::try_from(first + rest).ok()?)
    }

    /// The parts of a file of `len` bytes, as far as an upload may have them.
    #[must_use]
    pub fn all_of(len: u64) -> Vec<UrlPart> {
        let parts = (0..).map_while(UrlPart::nth).take_while(|part| part.span.start() < len);
        let cut = |part: UrlPart| {
            let span = Span::from_range(part.span.start()..part.span.end().min(len));
            UrlPart { span: span.unwrap_or(Span::EMPTY), ..part }
        };
        parts.map(cut).collect()
    }
}

/// A file that is being uploaded in parts. It is visible once it is finished; dropped before, the upload is given up.
pub trait UrlUpload: Debug + Send + Sync {
    /// Sends a part of `content`, which takes the place of what was sent of it before. Several may be sent at the same
    /// time, but not the same one.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`](crate::Error::Io) when it cannot be read or sent.
    fn send(&self, content: &Source, part: UrlPart) -> Result<()>;

    /// Makes a part of the bytes of another file of the server from `start` on, which the server copies: they are not
    /// read here. `false` where it does not, for any reason: the part is as it was then.
    ///
    /// Bytes of another version than that of `from` are found by [`UrlUpload::finish`] at the latest.
    fn copy(&self, part: UrlPart, from: &Source, start: u64) -> bool {
        let _ = (part, from, start);
        false
    }

    /// Sends the parts that are left, and makes the file visible.
    ///
    /// # Errors
    ///
    /// As [`UrlStore::write`](crate::UrlStore::write), and [`Error::Changed`](crate::Error::Changed) for a file that is no
    /// longer the one that parts were to be copied of.
    fn finish(&self, content: &Source, rest: &[UrlPart]) -> Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_and_hold_the_longest_object() {
        let mut end = 0;
        for nth in 0..PARTS_MAX {
            let part = UrlPart::nth(nth).unwrap();
            assert_eq!((part.nth, part.span.start()), (nth, end));
            // S3 has parts of 5 MiB to 5 GiB, Azure blocks of up to 4,000 MiB.
            assert!(5 << 20 <= part.span.len() && part.span.len() <= 4_000 << 20);
            for offset in [end, part.span.end() - 1] {
                assert_eq!(UrlPart::at(offset), Some(part));
            }
            end = part.span.end();
        }
        assert!(5 << 40 <= end, "5 TiB");
        assert_eq!(
            (UrlPart::nth(PARTS_MAX), UrlPart::at(end), UrlPart::at(u64::MAX)),
            (None, None, None)
        );
    }

    #[test]
    fn the_parts_of_a_file_end_with_it() {
        assert_eq!(UrlPart::all_of(0), []);
        for len in [1, PART_LEN - 1, PART_LEN, PART_LEN + 1, PART_LEN * RUN + 1] {
            let parts = UrlPart::all_of(len);
            assert_eq!(parts.iter().map(|part| part.span.len()).sum::<u64>(), len);
            assert_eq!(parts.len() as u64, len.div_ceil(PART_LEN));
        }
    }
}
