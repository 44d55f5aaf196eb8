//! Codec 1: zstd frames, decoded into exactly the stated length.
//!
//! Contexts are reused, one per thread. The frame headers are read before decoding starts, because
//! the one-shot decoder accepts any window and reports few details of errors.

mod blocks;
mod scan;
mod start;
mod stream;

use std::cell::RefCell;
use std::thread::LocalKey;

use tet_format::zstd_decoded_max;
use zstd_safe::{CCtx, CParameter, DCtx, compress_bound, find_frame_compressed_size};

use crate::codec::{Decode, Encode};
use crate::error::{Error, Result};
use crate::numcodecs_pipeline::{NumcodecsCodec, NumcodecsPipeline};
pub use scan::{Scanned, ZstdScan};
pub use start::{ZstdBlock, ZstdStart};
pub use stream::ZstdStream;

const NAME: &str = "zstd";

/// The largest window a frame may have: 2^27 bytes (format section 4).
pub const WINDOW_LOG_MAX: u32 = 27;

const FRAME_MAGIC: u32 = 0xFD2F_B528;
const SKIPPABLE_MAGIC: u32 = 0x184D_2A50;
const SKIPPABLE_MASK: u32 = 0xFFFF_FFF0;

thread_local! {
    static DECODE_CONTEXT: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
    static ENCODE_CONTEXT: RefCell<Option<CCtx<'static>>> = const { RefCell::new(None) };
}

/// Decodes zstd frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Zstd;

impl Decode for Zstd {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        let decoded_len = out.len() as u64;
        self.check_len(stored.len() as u64, decoded_len)?;
        let found = decode_some(stored, out)? as u64;
        if found != decoded_len {
            return Err(Error::TooShort { codec: NAME, found, decoded_len });
        }
        Ok(())
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> Result<()> {
        if decoded_len <= zstd_decoded_max(stored_len) {
            return Ok(());
        }
        Err(Error::Lengths { codec: NAME, stored_len, decoded_len })
    }

    fn numcodecs(&self) -> Option<NumcodecsPipeline> {
        let codecs = vec![NumcodecsCodec::named(NAME)];
        Some(NumcodecsPipeline { codecs, ..NumcodecsPipeline::default() })
    }
}

/// Decodes frames into the start of `out`. Returns the decoded length.
pub(crate) fn decode_some(stored: &[u8], out: &mut [u8]) -> Result<usize> {
    let decoded_len = out.len() as u64;
    check_frames(stored, 1 << WINDOW_LOG_MAX)?;
    with_context(&DECODE_CONTEXT, DCtx::try_create, |context| {
        context.decompress(out, stored).map_err(|code| fault(code, decoded_len))
    })
}

/// Encodes one frame per chunk, with content size and checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZstdEncoder {
    level: i32,
}

impl ZstdEncoder {
    /// An encoder of this level; 3 is the default.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Level`] when zstd does not support the level.
    pub fn new(level: i32) -> Result<Self> {
        check_level(level)?;
        Ok(Self { level })
    }
}

fn check_level(level: i32) -> Result<()> {
    let (min, max) = (zstd_safe::min_c_level(), zstd_safe::max_c_level());
    if level < min || max < level {
        return Err(Error::Level { codec: NAME, level, min, max });
    }
    Ok(())
}

impl Encode for ZstdEncoder {
    fn name(&self) -> &'static str {
        NAME
    }

    fn codec(&self) -> tet_format::Codec {
        tet_format::Codec::Zstd
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        let bound = compress_bound(decoded.len());
        out.try_reserve_exact(bound).map_err(|_| Error::Memory { codec: NAME })?;
        with_context(&ENCODE_CONTEXT, CCtx::try_create, |context| {
            let parameters = [
                CParameter::CompressionLevel(self.level),
                CParameter::ContentSizeFlag(true),
                CParameter::ChecksumFlag(true),
            ];
            for parameter in parameters {
                context.set_parameter(parameter).map_err(refused)?;
            }
            context.compress2(out, decoded).map_err(refused)
        })?;
        Ok(())
    }
}

/// Calls `work` with this thread's context, which is created on first use.
fn with_context<C: 'static, T>(
    key: &'static LocalKey<RefCell<Option<C>>>,
    create: fn() -> Option<C>,
    work: impl FnOnce(&mut C) -> Result<T>,
) -> Result<T> {
    key.with_borrow_mut(|slot| {
        let context = match slot {
            Some(context) => context,
            None => slot.insert(create().ok_or(Error::Memory { codec: NAME })?),
        };
        work(context)
    })
}

/// Checks the frames of a payload: they must be complete and within the limits of the format.
fn check_frames(stored: &[u8], window_max: u64) -> Result<()> {
    let mut rest = stored;
    while !rest.is_empty() {
        let at = (stored.len() - rest.len()) as u64;
        let not_a_frame = Error::NotAFrame { codec: NAME, at };
        let magic = rest.first_chunk().copied().map(u32::from_le_bytes);
        match magic {
            Some(FRAME_MAGIC) => {
                check_header(rest, at, window_max)?;
            }
            Some(magic) if magic & SKIPPABLE_MASK == SKIPPABLE_MAGIC => {}
            _ => return Err(not_a_frame),
        }
        let len = find_frame_compressed_size(rest).map_err(|code| fault(code, 0))?;
        rest = rest.get(len..).filter(|_| len > 0).ok_or(not_a_frame)?;
    }
    Ok(())
}

/// Checks the header of a frame. Returns its length.
fn check_header(frame: &[u8], at: u64, window_max: u64) -> Result<u64> {
    let header = FrameHeader::read(frame)
        .ok_or(Error::Corrupt { codec: NAME, reason: "the frame header is cut short" })?;
    if header.dictionary_id != 0 {
        return Err(Error::Dictionary { at, id: header.dictionary_id });
    }
    if header.window_len > window_max {
        return Err(Error::Window { at, found: header.window_len, wanted: window_max });
    }
    Ok(header.len)
}

/// The length of a frame header, the two fields that the format restricts, and the content size
/// (RFC 8878, section 3.1.1.1).
struct FrameHeader {
    len: u64,
    dictionary_id: u32,
    window_len: u64,
    content_len: Option<u64>,
    has_checksum: bool,
}

impl FrameHeader {
    fn read(frame: &[u8]) -> Option<Self> {
        let (descriptor, mut rest) = frame.get(4..)?.split_first()?;
        let is_single_segment = descriptor & 0x20 != 0;
        let mut window_len = 0;
        if !is_single_segment {
            let (window, after) = rest.split_first()?;
            let base = 1_u64 << (10 + u32::from(window >> 3));
            window_len = base + (base / 8) * u64::from(window & 7);
            rest = after;
        }
        let dictionary_id_len = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let (dictionary_id, rest) = rest.split_at_checked(dictionary_id_len)?;
        let (mut len, base) = [(1, 0), (2, 256), (4, 0), (8, 0)][usize::from(descriptor >> 6)];
        let mut content_len = None;
        if is_single_segment || len != 1 {
            content_len = Some(little_endian(rest.get(..len)?).saturating_add(base));
        } else {
            len = 0;
        }
        if is_single_segment {
            window_len = content_len.unwrap_or_default();
        }
        let has_checksum = descriptor & 0x04 != 0;
        let dictionary_id = u32::try_from(little_endian(dictionary_id)).ok()?;
        let len = (frame.len() - rest.len() + len) as u64;
        Some(Self { len, dictionary_id, window_len, content_len, has_checksum })
    }
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// The error codes of `zstd_errors.h` that are mapped to specific errors.
const CODE_CHECKSUM_WRONG: usize = 22;
const CODE_MEMORY: usize = 64;
const CODE_DST_TOO_SMALL: usize = 70;

fn fault(code: usize, decoded_len: u64) -> Error {
    match code.wrapping_neg() {
        CODE_CHECKSUM_WRONG => Error::Checksum { codec: NAME },
        CODE_MEMORY => Error::Memory { codec: NAME },
        CODE_DST_TOO_SMALL => Error::TooLong { codec: NAME, decoded_len },
        _ => Error::Corrupt { codec: NAME, reason: zstd_safe::get_error_name(code) },
    }
}

/// Encoding can only fail without memory: the buffer has the largest possible length.
fn refused(_code: usize) -> Error {
    Error::Memory { codec: NAME }
}

#[cfg(test)]
mod tests;
