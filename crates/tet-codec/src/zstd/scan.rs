//! Decodes a payload piece by piece, only to check it and to count its bytes.
//!
//! Memory: the largest window among its frames, whatever the payload decodes to.

use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

use super::blocks::Blocks;
use super::{FRAME_MAGIC, NAME, SKIPPABLE_MAGIC, SKIPPABLE_MASK, WINDOW_LOG_MAX, check_header};
use super::{fault, little_endian};
use crate::error::{Error, Result};

/// The longest header of a frame.
const HEADER_LEN_MAX: usize = 18;
/// The header of a skippable frame.
const SKIPPABLE_HEADER_LEN: usize = 8;
/// The number of bytes decoded at once: a block.
const OUT_LEN: usize = 128 << 10;

/// The result of scanning a payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// The decoded length in bytes.
    pub decoded_len: u64,
    /// Stored bytes in skippable frames, which decode to nothing.
    pub skipped_len: u64,
}

/// Decodes payloads piece by piece and discards the output.
pub struct ZstdScan {
    context: DCtx<'static>,
    out: Vec<u8>,
    /// The start of a frame with an incomplete header.
    held: Vec<u8>,
    within: Within,
    blocks: Blocks,
    window_max: u64,
    decoded_max: u64,
    /// The position in the payload.
    at: u64,
    seen: Scanned,
}

/// The position in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    Nothing,
    Frame,
    Skippable(u64),
}

impl std::fmt::Debug for ZstdScan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ZstdScan").field("at", &self.at).field("seen", &self.seen).finish()
    }
}

impl ZstdScan {
    /// A decoder that can be used for many payloads.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Memory`] when it cannot be allocated.
    pub fn new() -> Result<Self> {
        let memory = Error::Memory { codec: NAME };
        let mut context = DCtx::try_create().ok_or(memory.clone())?;
        let log = DParameter::WindowLogMax(WINDOW_LOG_MAX);
        context.set_parameter(log).map_err(|_| memory)?;
        Ok(Self {
            context,
            out: vec![0; OUT_LEN],
            held: Vec::with_capacity(HEADER_LEN_MAX),
            within: Within::Nothing,
            blocks: Blocks::default(),
            window_max: 1 << WINDOW_LOG_MAX,
            decoded_max: 0,
            at: 0,
            seen: Scanned::default(),
        })
    }

    /// Starts a payload that may decode to at most `decoded_max` bytes, with frame windows of up to
    /// `2^window_log_max` bytes.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Memory`] when the decoder cannot be reset.
    pub fn begin(&mut self, decoded_max: u64, window_log_max: u32) -> Result<()> {
        let reset = self.context.reset(ResetDirective::SessionOnly);
        reset.map_err(|_| Error::Memory { codec: NAME })?;
        self.held.clear();
        self.within = Within::Nothing;
        self.window_max = 1 << window_log_max.min(WINDOW_LOG_MAX);
        self.decoded_max = decoded_max;
        (self.at, self.seen) = (0, Scanned::default());
        Ok(())
    }

    /// Decodes the next bytes of the payload.
    ///
    /// # Errors
    ///
    /// Returns an error when the payload is invalid.
    pub fn update(&mut self, stored: &[u8]) -> Result<()> {
        self.update_with(stored, |_| {})
    }

    /// Decodes the next bytes of the payload, and visits the output, in order and in pieces.
    ///
    /// # Errors
    ///
    /// As [`ZstdScan::update`].
    pub fn update_with(&mut self, stored: &[u8], mut visit: impl FnMut(&[u8])) -> Result<()> {
        if self.held.is_empty() {
            return self.run(stored, End::Open, &mut visit);
        }
        let joined = [&std::mem::take(&mut self.held), stored].concat();
        self.run(&joined, End::Open, &mut visit)
    }

    /// Ends the payload and returns the result.
    ///
    /// # Errors
    ///
    /// Returns an error when its last frame is incomplete.
    pub fn finish(&mut self) -> Result<Scanned> {
        self.finish_with(|_| {})
    }

    /// Ends the payload, visits the rest of the output, and returns the result.
    ///
    /// # Errors
    ///
    /// As [`ZstdScan::finish`].
    pub fn finish_with(&mut self, mut visit: impl FnMut(&[u8])) -> Result<Scanned> {
        let held = std::mem::take(&mut self.held);
        self.run(&held, End::Reached, &mut visit)?;
        match self.within {
            Within::Nothing => Ok(self.seen),
            _ => Err(Error::Corrupt { codec: NAME, reason: "the last frame is cut short" }),
        }
    }

    /// The number of bytes of the payload decoded so far.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.at
    }

    fn run(&mut self, mut rest: &[u8], end: End, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
        while !rest.is_empty() {
            let taken = match self.within {
                Within::Nothing if rest.len() < HEADER_LEN_MAX && end == End::Open => {
                    self.held.extend_from_slice(rest);
                    return Ok(());
                }
                Within::Nothing => self.start(rest)?,
                Within::Frame => {
                    let taken = self.decode(rest, visit)?;
                    self.blocks.pass(rest.get(..taken).unwrap_or_default())?;
                    taken
                }
                Within::Skippable(left) => {
                    let taken = left.min(rest.len() as u64);
                    let left = left - taken;
                    self.seen.skipped_len += taken;
                    self.within = if left == 0 { Within::Nothing } else { Within::Skippable(left) };
                    usize::try_from(taken).unwrap_or(rest.len())
                }
            };
            self.at += taken as u64;
            rest = rest.get(taken..).unwrap_or_default();
        }
        Ok(())
    }

    /// Starts a frame. Returns the number of bytes consumed.
    fn start(&mut self, rest: &[u8]) -> Result<usize> {
        let at = self.at;
        match rest.first_chunk().copied().map(u32::from_le_bytes) {
            Some(FRAME_MAGIC) => {
                self.blocks = Blocks::after(check_header(rest, at, self.window_max)?);
                self.within = Within::Frame;
                Ok(0)
            }
            Some(magic) if magic & SKIPPABLE_MASK == SKIPPABLE_MAGIC => {
                let reason = "the frame header is cut short";
                let header = rest.get(..SKIPPABLE_HEADER_LEN);
                let header = header.ok_or(Error::Corrupt { codec: NAME, reason })?;
                let len = little_endian(header.get(4..).unwrap_or_default());
                self.seen.skipped_len += SKIPPABLE_HEADER_LEN as u64;
                self.within = if len == 0 { Within::Nothing } else { Within::Skippable(len) };
                Ok(SKIPPABLE_HEADER_LEN)
            }
            _ => Err(Error::NotAFrame { codec: NAME, at }),
        }
    }

    /// Decodes to the end of the frame or of the bytes. Returns the number of bytes consumed.
    fn decode(&mut self, rest: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<usize> {
        let decoded_len = self.decoded_max;
        let mut input = InBuffer::around(rest);
        loop {
            let mut output = OutBuffer::around(self.out.as_mut_slice());
            let left = self.context.decompress_stream(&mut output, &mut input);
            let left = left.map_err(|code| fault(code, decoded_len))?;
            let count = output.pos();
            self.seen.decoded_len += count as u64;
            if self.decoded_max < self.seen.decoded_len {
                return Err(Error::TooLong { codec: NAME, decoded_len });
            }
            visit(self.out.get(..count).unwrap_or_default());
            if left == 0 {
                self.within = Within::Nothing;
                return Ok(input.pos());
            }
            // If the buffer is full, more decoded bytes may be pending.
            if input.pos() == rest.len() && count < OUT_LEN {
                return Ok(input.pos());
            }
        }
    }
}

/// Whether more of the payload follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Open,
    Reached,
}
