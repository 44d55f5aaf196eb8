//! bzip2: HDF5 filter 307, numcodecs `bz2`. Streams may follow each other, as Python reads them.

use bzip2::{Decompress, Status};

use crate::error::{Error, Result};
use crate::filter::Compressor;
use crate::numcodecs_pipeline::NumcodecsCodec;
use crate::scratch::index;

const NAME: &str = "bzip2";
/// A block of 900,000 bytes, in which 5 may stand for 259, takes more than 25 bytes.
const RATIO_MAX: u64 = 1 << 21;

/// Undoes bzip2.
///
/// ```
/// use tet_codec::{Bzip2, Stage};
///
/// // The stream of no bytes.
/// let stored = b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0";
/// Bzip2.undo_into(stored, &mut [])?;
/// assert!(Bzip2.undo_into(stored, &mut [0]).is_err());
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bzip2;

impl Compressor for Bzip2 {
    fn codec(&self) -> &'static str {
        NAME
    }

    fn numcodecs_codec(&self) -> Option<NumcodecsCodec> {
        Some(NumcodecsCodec::named("bz2"))
    }

    fn max(&self, stored_len: u64) -> u64 {
        stored_len.saturating_mul(RATIO_MAX)
    }

    fn read(&self, stored: &[u8], out: &mut [u8]) -> Result<usize> {
        let decoded_len = out.len() as u64;
        let long = || Error::TooLong { codec: NAME, decoded_len };
        let (mut rest, mut at) = (stored, 0);
        loop {
            let room = out.get_mut(at..).unwrap_or_default();
            let (used, made) = stream(rest, room)?.ok_or_else(long)?;
            at += made;
            rest = rest.get(used..).unwrap_or_default();
            // Bytes after the last stream are ignored.
            if !rest.starts_with(b"BZh") {
                return Ok(at);
            }
        }
    }
}

/// Decodes one stream. Returns how many bytes it has, and how many it decodes to; `None` if these do not
/// fit.
fn stream(stored: &[u8], out: &mut [u8]) -> Result<Option<(usize, usize)>> {
    let mut context = Decompress::new(false);
    loop {
        let (used, made) = (context.total_in(), context.total_out());
        let input = stored.get(index(used)..).unwrap_or_default();
        let room = out.get_mut(index(made)..).unwrap_or_default();
        let status = context.decompress(input, room).map_err(|_| Error::Corrupt {
            codec: NAME,
            reason: "these bytes are no bzip2 stream, or do not match its checksum",
        })?;
        match status {
            Status::StreamEnd => {
                return Ok(Some((index(context.total_in()), index(context.total_out()))));
            }
            Status::MemNeeded => return Err(Error::Memory { codec: NAME }),
            _ if context.total_in() != used || context.total_out() != made => {}
            _ if input.is_empty() => {
                return Err(Error::Corrupt { codec: NAME, reason: "cut short" });
            }
            _ => return Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{Room, Stage};

    /// 100,000 zeros by Python.
    const ZEROS: [u8; 47] = [
        0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0xbe, 0xa9, 0x88, 0x2b, 0x00,
        0x00, 0xc4, 0x50, 0x00, 0xc0, 0x00, 0x04, 0x00, 0x00, 0x08, 0x20, 0x00, 0x30, 0xcc, 0x05,
        0x29, 0xa6, 0x10, 0xb6, 0x22, 0x17, 0x8b, 0xb9, 0x22, 0x9c, 0x28, 0x48, 0x5f, 0x54, 0xc4,
        0x15, 0x80,
    ];
    /// The bytes of `text`, in blocks of 100,000.
    const TEXT: [u8; 103] = [
        0x42, 0x5a, 0x68, 0x31, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x63, 0x45, 0x8c, 0x23, 0x00,
        0x00, 0x00, 0x78, 0x00, 0x7f, 0xfd, 0x77, 0x3d, 0xb4, 0xb3, 0xad, 0x67, 0x20, 0x00, 0x54,
        0x60, 0x0d, 0x1a, 0x32, 0x64, 0x61, 0x19, 0x32, 0x03, 0x26, 0x9a, 0x08, 0xa6, 0x69, 0x00,
        0x34, 0x34, 0xd1, 0xa6, 0x9a, 0x68, 0x34, 0x01, 0xa2, 0x48, 0x01, 0xe9, 0x04, 0x0d, 0x08,
        0xbd, 0xf2, 0x4b, 0x31, 0x67, 0xa4, 0xa0, 0x73, 0xd7, 0x60, 0x95, 0x08, 0x4a, 0x6e, 0x30,
        0xa9, 0x4a, 0x2a, 0xd6, 0xc6, 0x35, 0xba, 0x06, 0x9a, 0xb9, 0xd2, 0x75, 0xdb, 0xdf, 0x08,
        0x46, 0x3f, 0x7e, 0x2e, 0xe4, 0x8a, 0x70, 0xa1, 0x20, 0xc6, 0x8b, 0x18, 0x46,
    ];

    fn text() -> Vec<u8> {
        (0..60_u32).map(|at| (((at * at) >> 4) & 0x3f) as u8).collect()
    }

    #[test]
    fn streams_of_python_come_back() {
        let mut zeros = vec![1; 100_000];
        Bzip2.undo_into(&ZEROS, &mut zeros).unwrap();
        assert!(zeros.iter().all(|byte| *byte == 0));
        let mut out = Vec::new();
        Bzip2.undo(&TEXT, Room::AtMost(1000), &mut out).unwrap();
        assert_eq!(out, text());
        assert!(100_000 <= Bzip2.decoded_max(ZEROS.len() as u64));
    }

    #[test]
    fn streams_follow_each_other() {
        let both = [&TEXT[..], &TEXT, b"BZ"].concat();
        let mut out = [0; 120];
        Bzip2.undo_into(&both, &mut out).unwrap();
        assert_eq!(out[..60], out[60..]);
    }

    #[test]
    fn every_prefix_and_every_changed_byte_is_an_error() {
        for (stored, len) in [(&TEXT[..], 60), (&ZEROS, 100_000)] {
            let mut out = vec![0; len];
            for cut in 0..stored.len() {
                assert!(Bzip2.undo_into(&stored[..cut], &mut out).is_err(), "{cut}");
            }
            let wanted = Error::TooLong { codec: NAME, decoded_len: len as u64 - 1 };
            assert_eq!(Bzip2.undo_into(stored, &mut out[1..]), Err(wanted));
            assert!(Bzip2.undo_into(stored, &mut vec![0; len + 1]).is_err());
        }
        for at in 4..TEXT.len() {
            let mut stored = TEXT;
            stored[at] ^= 0x10;
            let mut out = Vec::new();
            // Bits that are filled up at the end mean nothing.
            let is_same = Bzip2.undo(&stored, Room::AtMost(1000), &mut out).is_ok();
            assert!(!is_same || out == text(), "{at}");
        }
    }
}
