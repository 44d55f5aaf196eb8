//! Reads metadata: addresses count from the base of the file, and small reads come out of blocks that are
//! kept.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tet_format::{ForeignRule, Span};
use tet_io::Source;

use crate::checksum::lookup3;
use crate::error::{Result, fault};
use crate::rule;

/// Bytes of a block that is kept.
const BLOCK_LEN: u64 = 16 << 10;
/// How many are kept.
const BLOCK_COUNT: usize = 1024;
/// The longest piece of metadata that is read.
const PIECE_LEN_MAX: u64 = 64 << 20;
/// The most metadata that is read in one walk: this, and `WORK_TIMES` times the length of the file.
const WORK_LEN: u64 = 64 << 20;
const WORK_TIMES: u64 = 16;

/// The widths of addresses and lengths in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) offset: usize,
    pub(crate) length: usize,
}

/// Reads the metadata of a file.
pub(crate) struct Reader {
    pub(crate) source: Source,
    /// Where addresses count from.
    pub(crate) base: u64,
    pub(crate) sizes: Sizes,
    blocks: Mutex<Blocks>,
    /// Bytes that were given out as pieces.
    given: AtomicU64,
}

#[derive(Default)]
struct Blocks {
    held: BTreeMap<u64, Arc<Vec<u8>>>,
    order: VecDeque<u64>,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("base", &self.base).field("sizes", &self.sizes).finish()
    }
}

impl Reader {
    pub(crate) fn new(source: Source, base: u64, sizes: Sizes) -> Reader {
        Reader { source, base, sizes, blocks: Mutex::default(), given: AtomicU64::new(0) }
    }

    /// Bytes of metadata that were read so far.
    pub(crate) fn given(&self) -> u64 {
        self.given.load(Ordering::Relaxed)
    }

    /// Bounds a walk that began when `begin` bytes were read: structures that share bytes could be read again
    /// and again.
    pub(crate) fn check_work(&self, begin: u64) -> Result<()> {
        let found = self.given().saturating_sub(begin);
        let wanted = self.source.len().saturating_mul(WORK_TIMES).saturating_add(WORK_LEN);
        if found <= wanted {
            Ok(())
        } else {
            Err(fault(&rule::LIMIT_WORK, self.base, found, wanted))
        }
    }

    /// The place in the file of bytes at an address.
    pub(crate) fn span(&self, address: u64, len: u64, rule: &'static ForeignRule) -> Result<Span> {
        let start = self.base.saturating_add(address);
        let (end, file_len) = (start.saturating_add(len), self.source.len());
        let span = Span::from_range(start..end).filter(|span| span.end() <= file_len);
        span.ok_or_else(|| fault(rule, start.min(file_len), end, file_len))
    }

    /// The bytes at an address; outside the file this rule is broken.
    pub(crate) fn piece(
        &self,
        address: u64,
        len: u64,
        rule: &'static ForeignRule,
    ) -> Result<Piece> {
        let span = self.span(address, len, rule)?;
        if PIECE_LEN_MAX < len {
            return Err(fault(&rule::LIMIT_BLOCK, span.start(), len, PIECE_LEN_MAX));
        }
        self.given.fetch_add(len, Ordering::Relaxed);
        let at = span.start();
        let piece = |bytes| Piece { at, bytes, sizes: self.sizes, rule };
        if BLOCK_LEN < len {
            return Ok(piece(self.source.read_vec(at, len)?));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
        let mut from = at;
        while from < span.end() {
            let block = self.block(from / BLOCK_LEN)?;
            let first = from / BLOCK_LEN * BLOCK_LEN;
            let end = span.end().min(first.saturating_add(BLOCK_LEN));
            let [start, stop] =
                [from, end].map(|at| usize::try_from(at - first).unwrap_or(usize::MAX));
            bytes.extend_from_slice(block.get(start..stop).unwrap_or_default());
            from = end;
        }
        Ok(piece(bytes))
    }

    /// As many bytes at an address as there are, up to `len`.
    pub(crate) fn up_to(
        &self,
        address: u64,
        len: u64,
        rule: &'static ForeignRule,
    ) -> Result<Piece> {
        let start = self.base.saturating_add(address);
        self.piece(address, len.min(self.source.len().saturating_sub(start)), rule)
    }

    /// The bytes at an address, which end with the checksum of those before it.
    pub(crate) fn sealed(
        &self,
        address: u64,
        len: u64,
        cut: &'static ForeignRule,
        differs: &'static ForeignRule,
    ) -> Result<Piece> {
        let mut piece = self.piece(address, len, cut)?;
        piece.unseal(differs)?;
        Ok(piece)
    }

    fn block(&self, number: u64) -> Result<Arc<Vec<u8>>> {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = blocks.held.get(&number) {
            return Ok(Arc::clone(block));
        }
        let start = number.saturating_mul(BLOCK_LEN);
        let len = BLOCK_LEN.min(self.source.len().saturating_sub(start));
        let block = Arc::new(self.source.read_vec(start, len)?);
        if blocks.order.len() == BLOCK_COUNT
            && let Some(oldest) = blocks.order.pop_front()
        {
            blocks.held.remove(&oldest);
        }
        blocks.held.insert(number, Arc::clone(&block));
        blocks.order.push_back(number);
        Ok(block)
    }
}

/// Bytes of metadata.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Where they are in the file.
    pub(crate) at: u64,
    pub(crate) bytes: Vec<u8>,
    sizes: Sizes,
    rule: &'static ForeignRule,
}

impl Piece {
    /// A part of the bytes, as a piece of its own.
    pub(crate) fn part(
        &self,
        start: usize,
        len: usize,
        rule: &'static ForeignRule,
    ) -> Result<Piece> {
        let part = start.checked_add(len).and_then(|end| self.bytes.get(start..end));
        let at = self.at.saturating_add(start as u64);
        let cut = || fault(rule, at, len as u64, (self.bytes.len().saturating_sub(start)) as u64);
        Ok(Piece { at, bytes: part.ok_or_else(cut)?.to_vec(), sizes: self.sizes, rule })
    }

    /// The fields, from the first byte on.
    pub(crate) fn fields(&self) -> Fields<'_> {
        Fields { bytes: &self.bytes, at: self.at, next: 0, sizes: self.sizes, rule: self.rule }
    }

    /// Takes off the checksum at the end.
    pub(crate) fn unseal(&mut self, differs: &'static ForeignRule) -> Result<()> {
        let Some((head, stored)) = self.bytes.split_last_chunk::<4>() else {
            return Err(fault(self.rule, self.at, self.bytes.len() as u64, 4));
        };
        let (found, wanted) = (lookup3(head), u32::from_le_bytes(*stored));
        let len = head.len();
        if found != wanted {
            let at = self.at.saturating_add(len as u64);
            return Err(fault(differs, at, found.into(), wanted.into()));
        }
        self.bytes.truncate(len);
        Ok(())
    }
}

/// Fields that are read one after another.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
    at: u64,
    next: usize,
    pub(crate) sizes: Sizes,
    rule: &'static ForeignRule,
}

impl<'a> Fields<'a> {
    /// Sets the rule that is broken by an early end.
    pub(crate) fn with_rule(self, rule: &'static ForeignRule) -> Self {
        Fields { rule, ..self }
    }

    /// Where the next field is in the file.
    pub(crate) fn at(&self) -> u64 {
        self.at.saturating_add(self.next as u64)
    }

    /// Where the next field is, counted from the first.
    pub(crate) fn position(&self) -> usize {
        self.next
    }

    pub(crate) fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.next)
    }

    /// An error at the next field.
    pub(crate) fn fault(
        &self,
        rule: &'static ForeignRule,
        found: u64,
        wanted: u64,
    ) -> crate::Error {
        fault(rule, self.at(), found, wanted)
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let cut = || fault(self.rule, self.at(), len as u64, self.left() as u64);
        let end = self.next.checked_add(len).ok_or_else(cut)?;
        let taken = self.bytes.get(self.next..end).ok_or_else(cut)?;
        self.next = end;
        Ok(taken)
    }

    /// The next bytes, as fields of their own.
    pub(crate) fn part(&mut self, len: usize) -> Result<Fields<'a>> {
        let at = self.at();
        Ok(Fields { bytes: self.take(len)?, at, next: 0, ..*self })
    }

    pub(crate) fn rest(&mut self) -> &'a [u8] {
        let rest = self.bytes.get(self.next..).unwrap_or_default();
        self.next = self.bytes.len();
        rest
    }

    /// A little-endian number of up to 8 bytes.
    pub(crate) fn uint(&mut self, width: usize) -> Result<u64> {
        let mut bytes = [0; 8];
        for (to, from) in bytes.iter_mut().zip(self.take(width)?) {
            *to = *from;
        }
        Ok(u64::from_le_bytes(bytes))
    }

    pub(crate) fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?.first().copied().unwrap_or(0))
    }

    pub(crate) fn u16(&mut self) -> Result<u16> {
        Ok(self.take(2)?.first_chunk().copied().map_or(0, u16::from_le_bytes))
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        Ok(self.take(4)?.first_chunk().copied().map_or(0, u32::from_le_bytes))
    }

    /// An address; `None` for the undefined one.
    pub(crate) fn address(&mut self) -> Result<Option<u64>> {
        let width = self.sizes.offset;
        let address = self.uint(width)?;
        Ok(Some(address).filter(|&it| it != ones(width)))
    }

    pub(crate) fn length(&mut self) -> Result<u64> {
        self.uint(self.sizes.length)
    }

    /// A length; `None` where all bits are set: unlimited or undefined.
    pub(crate) fn length_or_none(&mut self) -> Result<Option<u64>> {
        let length = self.length()?;
        Ok(Some(length).filter(|&it| it != ones(self.sizes.length)))
    }

    /// The four bytes of a signature.
    pub(crate) fn signature(&mut self, wanted: &[u8; 4], rule: &'static ForeignRule) -> Result<()> {
        let at = self.at();
        let found = self.u32()?;
        let wanted = u32::from_le_bytes(*wanted);
        if found == wanted { Ok(()) } else { Err(fault(rule, at, found.into(), wanted.into())) }
    }

    /// Text that ends with a zero.
    pub(crate) fn text(&mut self) -> Result<String> {
        let rest = self.bytes.get(self.next..).unwrap_or_default();
        let len = rest.iter().position(|&byte| byte == 0);
        let len = len.ok_or_else(|| self.fault(self.rule, rest.len() as u64, 0))?;
        let text = String::from_utf8_lossy(self.take(len)?).into_owned();
        self.take(1)?;
        Ok(text)
    }
}

/// The largest number of so many bytes.
pub(crate) fn ones(width: usize) -> u64 {
    if width >= 8 { u64::MAX } else { (1 << (8 * width)) - 1 }
}

/// The number of bytes that numbers up to this one take.
pub(crate) fn width_of(limit: u64) -> usize {
    usize::try_from(limit.checked_ilog2().unwrap_or(0) / 8 + 1).unwrap_or(8)
}
