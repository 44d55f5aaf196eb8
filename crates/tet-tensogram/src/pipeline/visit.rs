//! Visits elements piece by piece; holds no more of them in memory than a codec needs.
//!
//! ```text
//!   no codec, or packed numbers  a few MiB of payload at a time
//!   zstd alone                    streamed
//!   all else                      payload and elements as a whole
//! ```

use tet_codec::{WINDOW_LOG_MAX, ZstdScan};
use tet_format::{DType, Span};
use tet_io::{Progress, Source};

use super::compression::Compression;
use super::{Pipeline, buffer, index};
use crate::error::{Error, Fault, Result};
use crate::rule;

/// Bytes of elements that are visited at once, if the codec allows.
const PIECE_LEN: u64 = 4 << 20;
/// Objects whose buffers are at most this long are checked in parallel.
const LIGHT_LEN_MAX: u64 = 32 << 20;

/// Receives little-endian elements and the number of the first, a multiple of 8.
pub(crate) type Visit<'v> = &'v mut dyn FnMut(u64, &[u8]);

/// How the elements are decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Not at all: their values do not matter, and none can be missing.
    Unseen,
    /// From the part of the payload that holds them.
    Parts,
    /// As the decoder produces them.
    Stream,
    /// All together.
    Whole,
}

impl Pipeline {
    /// Whether visiting the elements takes little memory.
    pub(crate) fn is_light(&self) -> bool {
        self.way() != Way::Whole
            || self.payload_len.saturating_add(self.decoded_len.saturating_mul(3)) <= LIGHT_LEN_MAX
    }

    fn way(&self) -> Way {
        let is_float = self.dtype.is_float() || self.dtype.is_complex();
        let is_plain = self.packing.is_none() && self.shuffle.is_none();
        match &self.compression {
            Compression::None if !is_float && self.dtype != DType::Bitmask => Way::Unseen,
            Compression::None if self.shuffle.is_none() && self.dtype != DType::Bitmask => {
                Way::Parts
            }
            Compression::Zstd(_) if is_plain || !is_float => Way::Stream,
            _ => Way::Whole,
        }
    }

    /// Decodes and visits all elements of a payload: those under masks as stored.
    ///
    /// Elements that are always finite may be visited in the order of their bytes. Returns what is
    /// unusual about the payload.
    pub(crate) fn visit(
        &self,
        source: &Source,
        progress: &Progress,
        visit: Visit<'_>,
    ) -> Result<Option<Fault>> {
        let span = Span::new(self.at, self.payload_len);
        let Some(span) = span.filter(|span| span.end() <= source.len()) else {
            return Err(self.short(0));
        };
        match self.way() {
            Way::Unseen => {}
            Way::Parts => self.visit_parts(source, progress, visit)?,
            Way::Stream => self.visit_stream(source, span, progress, visit)?,
            Way::Whole => {
                let payload = read(source, span, progress)?;
                let mut out = buffer(self.decoded_len)?;
                self.decode(&payload, &mut out)?;
                visit(0, &out);
                drop(out);
                if let Compression::Szip(szip) = &self.compression {
                    let differs = szip.differs(&payload, self.at)?;
                    let end = szip.check_end(&payload, self.encoded_len, self.at)?;
                    return Ok(differs.or(end));
                }
            }
        }
        Ok(None)
    }

    fn visit_parts(&self, source: &Source, progress: &Progress, visit: Visit<'_>) -> Result<()> {
        let size = self.dtype.size().unwrap_or(1);
        let step = (PIECE_LEN / size).next_multiple_of(8);
        let (mut first, mut out) = (0, Vec::new());
        while first < self.element_count {
            let elements = first..first.saturating_add(step).min(self.element_count);
            let Some(place) = self.payload_range(&elements)? else { break };
            let start = self.at.saturating_add(place.start);
            let span = Span::new(start, place.end.saturating_sub(place.start));
            let stored = read(source, span.ok_or_else(|| self.short(0))?, progress)?;
            out.resize(index(self.len_of(&elements)), 0);
            self.decode_range(&stored, &elements, &mut out)?;
            visit(first, &out);
            first = elements.end;
        }
        Ok(())
    }

    fn visit_stream(
        &self,
        source: &Source,
        span: Span,
        progress: &Progress,
        visit: Visit<'_>,
    ) -> Result<()> {
        let frames_fault = |position: u64| {
            let at = self.at.saturating_add(position);
            let (rule, found, wanted) = (&rule::ZSTD_FRAMES, self.payload_len, self.encoded_len);
            Error::from(Fault { rule, at, found, wanted })
        };
        let memory = |_| Error::Memory { len: self.decoded_len };
        let mut scan = ZstdScan::new().map_err(memory)?;
        scan.begin(self.encoded_len, WINDOW_LOG_MAX).map_err(memory)?;
        let mut pieces = Pieces { pipeline: self, held: Vec::new(), first: 0, visit };
        let (mut fault, mut window) = (None, Vec::new());
        progress.pieces::<Error>(source, span, &mut window, |_, bytes| {
            fault = scan.update_with(bytes, |decoded| pieces.take(decoded)).err();
            fault.is_none()
        })?;
        let scanned = match fault {
            Some(fault) => Err(fault),
            None => scan.finish_with(|decoded| pieces.take(decoded)),
        };
        match scanned {
            Ok(scanned) if scanned.decoded_len == self.encoded_len => {
                pieces.show(0);
                Ok(())
            }
            Ok(scanned) => Err(self.zstd_len(scanned.decoded_len)),
            Err(tet_codec::Error::TooLong { .. }) => {
                Err(self.zstd_len(self.encoded_len.saturating_add(1)))
            }
            Err(tet_codec::Error::Memory { .. }) => Err(Error::Memory { len: self.decoded_len }),
            Err(_) => Err(frames_fault(scan.position())),
        }
    }

    fn zstd_len(&self, found: u64) -> Error {
        Fault { rule: &rule::ZSTD_LEN, at: self.at, found, wanted: self.encoded_len }.into()
    }
}

/// Groups decoded bytes into whole elements, eight at a time.
struct Pieces<'p, 'v> {
    pipeline: &'p Pipeline,
    held: Vec<u8>,
    first: u64,
    visit: Visit<'v>,
}

impl Pieces<'_, '_> {
    fn take(&mut self, decoded: &[u8]) {
        self.held.extend_from_slice(decoded);
        if PIECE_LEN <= self.held.len() as u64 {
            let size = index(self.pipeline.dtype.size().unwrap_or(1)).saturating_mul(8).max(1);
            self.show(self.held.len() % size);
        }
    }

    /// Visits the buffered bytes, except the last `kept` ones.
    fn show(&mut self, kept: usize) {
        let shown = self.held.len().saturating_sub(kept);
        let rest = self.held.split_off(shown);
        if self.pipeline.shuffle.is_none() {
            self.pipeline.order(&mut self.held);
        }
        (self.visit)(self.first, &self.held);
        let size = self.pipeline.dtype.size().unwrap_or(1).max(1);
        self.first = self.first.saturating_add(shown as u64 / size);
        self.held = rest;
    }
}

fn read(source: &Source, span: Span, progress: &Progress) -> Result<Vec<u8>> {
    progress.advance(span.len())?;
    let mut bytes = buffer(span.len())?;
    source.read_exact_at(span.start(), &mut bytes)?;
    Ok(bytes)
}
