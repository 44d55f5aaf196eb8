//! deflate in the framing of zlib (RFC 1950) or gzip (RFC 1952): HDF5 filter 1, numcodecs `zlib`
//! and `gzip`, Zarr v3 `gzip`.
//!
//! Either framing is recognized, whatever the name is: a gzip member starts with bytes that no zlib
//! stream starts with. Bytes after a zlib stream are ignored, as libhdf5 and Python do; gzip members
//! follow each other, with zeros behind.

use std::cell::RefCell;

use crc_fast::{CrcAlgorithm, checksum};
use flate2::{Decompress, FlushDecompress, Status};

use crate::error::{Error, Result};
use crate::numcodecs_pipeline::NumcodecsCodec;
use crate::pipeline::{Room, Stage};
use crate::scratch::{index, resize};

/// The most bytes that one byte of deflate decodes to.
const RATIO_MAX: u64 = 1032;
/// The first room for bytes whose number is not known.
const START_LEN: usize = 64 << 10;

const RAW: &str = "inflate";

const GZIP_MAGIC: [u8; 3] = [0x1F, 0x8B, 8];
const GZIP_HEADER_LEN: usize = 10;
const GZIP_TRAILER_LEN: usize = 8;
/// Bits of the flags of a gzip member.
const HAS_CRC: u8 = 2;
const HAS_EXTRA: u8 = 4;
const HAS_NAME: u8 = 8;
const HAS_COMMENT: u8 = 16;

thread_local! {
    static CONTEXT: RefCell<Option<Decompress>> = const { RefCell::new(None) };
}

/// Undoes deflate.
///
/// ```
/// use tet_codec::{Deflate, Stage};
///
/// let mut stored = Vec::new();
/// tet_codec::encode::gzip(b"abcabcabc", 6, &mut stored)?;
/// let mut out = [0; 9];
/// Deflate::gzip().undo_into(&stored, &mut out)?;
/// assert_eq!(&out, b"abcabcabc");
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deflate {
    name: &'static str,
}

impl Deflate {
    /// deflate in zlib's framing.
    #[must_use]
    pub const fn zlib() -> Deflate {
        Deflate { name: "deflate" }
    }

    /// deflate in gzip's framing.
    #[must_use]
    pub const fn gzip() -> Deflate {
        Deflate { name: "gzip" }
    }

    /// A bare stream (RFC 1951), as members of zip files have it.
    #[must_use]
    pub const fn raw() -> Deflate {
        Deflate { name: RAW }
    }

    fn corrupt(self, reason: &'static str) -> Error {
        Error::Corrupt { codec: self.name, reason }
    }

    /// Decodes all of `stored` into `target`.
    fn read(self, stored: &[u8], target: &mut Target<'_>) -> Result<()> {
        CONTEXT.with_borrow_mut(|slot| {
            let context = slot.get_or_insert_with(|| Decompress::new(true));
            if self.name == RAW || !stored.starts_with(&GZIP_MAGIC[..2]) {
                context.reset(self.name != RAW);
                return self.stream(context, stored, target).map(drop);
            }
            let mut rest = stored;
            loop {
                rest = self.member(context, rest, target)?;
                if rest.iter().all(|byte| *byte == 0) {
                    return Ok(());
                }
            }
        })
    }

    /// Decodes one gzip member. Returns the bytes behind it.
    fn member<'a>(
        self,
        context: &mut Decompress,
        bytes: &'a [u8],
        target: &mut Target<'_>,
    ) -> Result<&'a [u8]> {
        let stream = after_header(bytes).ok_or(self.corrupt("this is no gzip header"))?;
        let start = target.len;
        context.reset(false);
        let used = self.stream(context, stream, target)?;
        let behind = stream.get(index(used)..).unwrap_or_default();
        let (trailer, rest) =
            behind.split_first_chunk::<GZIP_TRAILER_LEN>().ok_or(self.corrupt("cut short"))?;
        let decoded = target.bytes().get(start..target.len).unwrap_or_default();
        let [a, b, c, d, len @ ..] = *trailer;
        let found = checksum(CrcAlgorithm::Crc32IsoHdlc, decoded);
        // The trailer has the length modulo 2^32.
        let is_len = (decoded.len() as u64).to_le_bytes().starts_with(&len);
        if found != u64::from(u32::from_le_bytes([a, b, c, d])) || !is_len {
            return Err(Error::Checksum { codec: self.name });
        }
        Ok(rest)
    }

    /// Decodes one stream of deflate. Returns how many bytes of `stored` it has.
    fn stream(
        self,
        context: &mut Decompress,
        stored: &[u8],
        target: &mut Target<'_>,
    ) -> Result<u64> {
        loop {
            let (used, made) = (context.total_in(), context.total_out());
            let input = stored.get(index(used)..).unwrap_or_default();
            let status = context
                .decompress(input, target.rest(self.name)?, FlushDecompress::Finish)
                .map_err(|fault| match fault.message() {
                    Some("incorrect data check") => Error::Checksum { codec: self.name },
                    _ => self.corrupt("these bytes are no deflate stream"),
                })?;
            let added = context.total_out().saturating_sub(made);
            target.len = target.len.saturating_add(index(added));
            if status == Status::StreamEnd {
                return Ok(context.total_in());
            }
            if target.is_full() {
                return Err(Error::TooLong { codec: self.name, decoded_len: target.max as u64 });
            }
            if added == 0 && used == context.total_in() {
                return Err(self.corrupt("cut short"));
            }
        }
    }
}

/// Where bytes are decoded to: a slice of the wanted length, or a buffer that grows up to a bound.
struct Target<'a> {
    place: OutputBytes<'a>,
    len: usize,
    max: usize,
}

enum OutputBytes<'a> {
    Slice(&'a mut [u8]),
    Buffer(&'a mut Vec<u8>),
}

impl Target<'_> {
    fn bytes(&self) -> &[u8] {
        match &self.place {
            OutputBytes::Slice(slice) => slice,
            OutputBytes::Buffer(buffer) => buffer,
        }
    }

    fn is_full(&self) -> bool {
        self.max <= self.len
    }

    /// The room behind the decoded bytes. Doubles a buffer that is full.
    fn rest(&mut self, codec: &'static str) -> Result<&mut [u8]> {
        match &mut self.place {
            OutputBytes::Slice(slice) => Ok(slice.get_mut(self.len..).unwrap_or_default()),
            OutputBytes::Buffer(buffer) => {
                if buffer.len() <= self.len {
                    let len = buffer.len().saturating_mul(2).max(START_LEN).min(self.max);
                    let more = len.saturating_sub(buffer.len());
                    buffer.try_reserve(more).map_err(|_| Error::Memory { codec })?;
                    buffer.resize(len, 0);
                }
                Ok(buffer.get_mut(self.len..).unwrap_or_default())
            }
        }
    }
}

/// The bytes behind the header of a gzip member.
fn after_header(bytes: &[u8]) -> Option<&[u8]> {
    let (header, mut rest) = bytes.split_first_chunk::<GZIP_HEADER_LEN>()?;
    let flags = header[3];
    if !header.starts_with(&GZIP_MAGIC) || flags & 0xE0 != 0 {
        return None;
    }
    if flags & HAS_EXTRA != 0 {
        let (len, after) = rest.split_first_chunk()?;
        rest = after.get(usize::from(u16::from_le_bytes(*len))..)?;
    }
    for bit in [HAS_NAME, HAS_COMMENT] {
        if flags & bit != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = rest.get(end + 1..)?;
        }
    }
    if flags & HAS_CRC != 0 { rest.get(2..) } else { Some(rest) }
}

impl Stage for Deflate {
    fn name(&self) -> &'static str {
        self.name
    }

    fn numcodecs(&self) -> Option<NumcodecsCodec> {
        let known = [(Deflate::zlib(), "zlib"), (Deflate::gzip(), "gzip")];
        let found = known.into_iter().find(|(framing, _)| framing == self);
        found.map(|(_, id)| NumcodecsCodec::named(id))
    }

    fn written_len(&self, _len: u64) -> Option<u64> {
        None
    }

    fn decoded_max(&self, stored_len: u64) -> u64 {
        stored_len.saturating_mul(RATIO_MAX)
    }

    fn undo(&self, stored: &[u8], room: Room, out: &mut Vec<u8>) -> Result<()> {
        if let Room::Exact(len) = room {
            resize(self.name, out, index(len))?;
            return self.undo_into(stored, out);
        }
        let max = room.max().min(self.decoded_max(stored.len() as u64));
        let guess = START_LEN.max(stored.len().saturating_mul(2)).min(index(max));
        resize(self.name, out, guess)?;
        let mut target = Target { place: OutputBytes::Buffer(out), len: 0, max: index(max) };
        self.read(stored, &mut target)?;
        let len = target.len;
        out.truncate(len);
        Ok(())
    }

    fn undo_into(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        let max = out.len();
        let mut target = Target { place: OutputBytes::Slice(out), len: 0, max };
        self.read(stored, &mut target)?;
        Room::Exact(max as u64).check(self.name, target.len as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode;

    fn samples() -> Vec<Vec<u8>> {
        let noise = |len: u32| (0..len).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8);
        vec![
            Vec::new(),
            vec![7],
            vec![0; 300_000],
            noise(70_000).collect(),
            (0..200_000_u32).map(|at| (at / 100) as u8).collect(),
        ]
    }

    fn both(bytes: &[u8]) -> [(Deflate, Vec<u8>); 2] {
        let (mut zlib, mut gzip) = (Vec::new(), Vec::new());
        encode::deflate(bytes, 5, &mut zlib).unwrap();
        encode::gzip(bytes, 5, &mut gzip).unwrap();
        [(Deflate::zlib(), zlib), (Deflate::gzip(), gzip)]
    }

    #[test]
    fn what_was_deflated_comes_back() {
        for bytes in samples() {
            for (stage, stored) in both(&bytes) {
                let mut out = vec![0xee; bytes.len()];
                stage.undo_into(&stored, &mut out).unwrap();
                assert!(out == bytes);
                for room in [bytes.len(), bytes.len() + 1, 2 * bytes.len() + 5000] {
                    let mut out = vec![1; 3];
                    stage.undo(&stored, Room::AtMost(room as u64), &mut out).unwrap();
                    assert!(out == bytes);
                }
                assert!(bytes.len() as u64 <= stage.decoded_max(stored.len() as u64));
            }
        }
    }

    #[test]
    fn another_length_is_an_error() {
        let bytes = vec![3; 1000];
        for (stage, stored) in both(&bytes) {
            let codec = stage.name();
            let long = stage.undo_into(&stored, &mut [0; 999]);
            assert_eq!(long, Err(Error::TooLong { codec, decoded_len: 999 }));
            let long = stage.undo(&stored, Room::AtMost(999), &mut Vec::new());
            assert_eq!(long, Err(Error::TooLong { codec, decoded_len: 999 }));
            let short = stage.undo_into(&stored, &mut [0; 1001]);
            assert_eq!(short, Err(Error::TooShort { codec, found: 1000, decoded_len: 1001 }));
        }
    }

    #[test]
    fn every_prefix_is_an_error_and_a_wrong_checksum_is_named() {
        let bytes: Vec<u8> = (0..500_u32).map(|at| ((at * at) >> 5) as u8).collect();
        for (stage, mut stored) in both(&bytes) {
            let mut out = vec![0; bytes.len()];
            for len in 0..stored.len() {
                assert!(stage.undo_into(&stored[..len], &mut out).is_err(), "{stage:?} {len}");
            }
            let at = stored.len() - if stage == Deflate::zlib() { 1 } else { 5 };
            stored[at] ^= 1;
            let found = stage.undo_into(&stored, &mut out);
            assert_eq!(found, Err(Error::Checksum { codec: stage.name() }));
        }
    }

    #[test]
    fn gzip_members_follow_each_other() {
        let [_, (stage, one)] = both(b"one and ");
        let [_, (_, two)] = both(b"two");
        let mut stored = [one, two].concat();
        let mut out = [0; 11];
        stage.undo_into(&stored, &mut out).unwrap();
        assert_eq!(&out, b"one and two");
        stored.extend([0, 0]);
        stage.undo_into(&stored, &mut out).unwrap();
        stored.push(1);
        assert!(stage.undo_into(&stored, &mut out).is_err());
    }

    #[test]
    fn a_gzip_header_may_have_more_fields() {
        let [_, (stage, plain)] = both(b"content");
        let mut stored = plain[..10].to_vec();
        stored[3] = HAS_EXTRA | HAS_NAME | HAS_COMMENT | HAS_CRC;
        stored.extend(b"\x03\0abcname\0comment\0cc");
        stored.extend(&plain[10..]);
        let mut out = [0; 7];
        stage.undo_into(&stored, &mut out).unwrap();
        assert_eq!(&out, b"content");
    }
}
