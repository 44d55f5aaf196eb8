//! Frames (section 2): a header of 16 bytes, a body, and a tail that depends on the type.
//!
//! ```text
//!   0    2      4         6       8        16                       len
//!   | FR | type | version | flags | length | body | hash | ENDF |
//!   | FR | 9    | version | flags | length | body | descriptor offset | hash | ENDF |
//! ```

use tet_format::Span;

use crate::error::Fault;
use crate::fields::{Fields, Put, word};
use crate::preamble::Flags;
use crate::rule;

/// The first bytes of a frame.
pub(crate) const FRAME_MAGIC: [u8; 2] = *b"FR";
/// The last bytes of a frame.
pub(crate) const FRAME_END: [u8; 4] = *b"ENDF";
/// The length of a frame's header.
pub(crate) const FRAME_HEADER_LEN: u64 = 16;
/// The version written into frames; readers accept any.
pub(crate) const FRAME_VERSION: u16 = 1;
/// The length of the tail of all frames but tensors.
pub(crate) const TAIL_LEN: u64 = 12;
/// The length of the tail of a tensor frame.
pub(crate) const TENSOR_TAIL_LEN: u64 = 20;

/// Kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// Type 1: metadata of the message.
    HeaderMetadata,
    /// Type 2: where the tensor frames are.
    HeaderIndex,
    /// Type 3: hashes of the tensor frames.
    HeaderHashes,
    /// Type 4: the tensor frame of wire version 2, which is refused.
    Obsolete,
    /// Type 5: hashes of the tensor frames.
    FooterHashes,
    /// Type 6: where the tensor frames are.
    FooterIndex,
    /// Type 7: metadata of the message.
    FooterMetadata,
    /// Type 8: metadata of the tensor that follows.
    Preceder,
    /// Type 9: a tensor.
    Tensor,
    /// Another type, which readers skip.
    Unknown(u16),
}

/// The parts of a message, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Before the tensors.
    Header,
    /// Tensors and their preceders.
    Body,
    /// After the tensors.
    Footer,
}

impl FrameKind {
    /// The kind of a type code.
    #[must_use]
    pub const fn from_code(code: u16) -> Self {
        match code {
            1 => FrameKind::HeaderMetadata,
            2 => FrameKind::HeaderIndex,
            3 => FrameKind::HeaderHashes,
            4 => FrameKind::Obsolete,
            5 => FrameKind::FooterHashes,
            6 => FrameKind::FooterIndex,
            7 => FrameKind::FooterMetadata,
            8 => FrameKind::Preceder,
            9 => FrameKind::Tensor,
            code => FrameKind::Unknown(code),
        }
    }

    /// The type code.
    #[must_use]
    pub const fn code(self) -> u16 {
        match self {
            FrameKind::HeaderMetadata => 1,
            FrameKind::HeaderIndex => 2,
            FrameKind::HeaderHashes => 3,
            FrameKind::Obsolete => 4,
            FrameKind::FooterHashes => 5,
            FrameKind::FooterIndex => 6,
            FrameKind::FooterMetadata => 7,
            FrameKind::Preceder => 8,
            FrameKind::Tensor => 9,
            FrameKind::Unknown(code) => code,
        }
    }

    /// The flag of the preamble that announces a frame of this kind; none for some.
    pub(crate) const fn flag(self) -> Flags {
        match self {
            FrameKind::HeaderMetadata => Flags::HEADER_METADATA,
            FrameKind::HeaderIndex => Flags::HEADER_INDEX,
            FrameKind::HeaderHashes => Flags::HEADER_HASHES,
            FrameKind::FooterHashes => Flags::FOOTER_HASHES,
            FrameKind::FooterIndex => Flags::FOOTER_INDEX,
            FrameKind::FooterMetadata => Flags::FOOTER_METADATA,
            FrameKind::Preceder => Flags::PRECEDER,
            FrameKind::Obsolete | FrameKind::Tensor | FrameKind::Unknown(_) => Flags::from_bits(0),
        }
    }

    /// Its name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            FrameKind::HeaderMetadata => "header metadata",
            FrameKind::HeaderIndex => "header index",
            FrameKind::HeaderHashes => "header hashes",
            FrameKind::Obsolete => "tensor of version 2",
            FrameKind::FooterHashes => "footer hashes",
            FrameKind::FooterIndex => "footer index",
            FrameKind::FooterMetadata => "footer metadata",
            FrameKind::Preceder => "preceder",
            FrameKind::Tensor => "tensor",
            FrameKind::Unknown(_) => "unknown",
        }
    }

    /// The part of a message that it belongs to, if any.
    #[must_use]
    pub const fn phase(self) -> Option<Phase> {
        match self {
            FrameKind::HeaderMetadata | FrameKind::HeaderIndex | FrameKind::HeaderHashes => {
                Some(Phase::Header)
            }
            FrameKind::Preceder | FrameKind::Tensor => Some(Phase::Body),
            FrameKind::FooterHashes | FrameKind::FooterIndex | FrameKind::FooterMetadata => {
                Some(Phase::Footer)
            }
            FrameKind::Obsolete | FrameKind::Unknown(_) => None,
        }
    }

    /// Whether the content is unknown, so that readers skip it.
    #[must_use]
    pub const fn is_passed_over(self) -> bool {
        matches!(self, FrameKind::Obsolete | FrameKind::Unknown(_))
    }

    /// The length of its tail; the common length for an unknown type.
    #[must_use]
    pub const fn tail_len(self) -> u64 {
        if matches!(self, FrameKind::Tensor) { TENSOR_TAIL_LEN } else { TAIL_LEN }
    }

    /// The length of the shortest frame of this kind.
    #[must_use]
    pub const fn len_min(self) -> u64 {
        FRAME_HEADER_LEN + self.tail_len()
    }
}

/// The flags of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FrameFlags(u16);

impl FrameFlags {
    /// The descriptor follows the payload; only for tensors.
    pub const DESCRIPTOR_LAST: FrameFlags = FrameFlags(1);
    /// The hash slot holds a hash.
    pub const HASHED: FrameFlags = FrameFlags(2);

    /// Flags of these bits.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        FrameFlags(bits)
    }

    /// The bits.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Whether all flags of `other` are set.
    #[must_use]
    pub const fn contains(self, other: FrameFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags and those of `other`.
    #[must_use]
    pub const fn with(self, other: FrameFlags) -> Self {
        FrameFlags(self.0 | other.0)
    }

    /// The bits that have no meaning in a frame of this kind.
    #[must_use]
    pub const fn reserved(self, kind: FrameKind) -> u16 {
        let known = if matches!(kind, FrameKind::Tensor) { 3 } else { 2 };
        self.0 & !known
    }
}

/// The first 16 bytes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// The kind.
    pub kind: FrameKind,
    /// The version of the frame, 1; readers accept any.
    pub version: u16,
    /// Its flags.
    pub flags: FrameFlags,
    /// Its length, with header and tail and without padding.
    pub len: u64,
}

impl FrameHeader {
    /// Reads the header of a frame at `at` of the file.
    ///
    /// # Errors
    ///
    /// The bytes break a rule (TGM-F1, TGM-F2).
    pub fn read(bytes: &[u8], at: u64) -> Result<Self, Fault> {
        let mut fields = Fields::new(bytes);
        let magic = fields.bytes();
        if magic != FRAME_MAGIC {
            let (found, wanted) = (word(&magic), word(&FRAME_MAGIC));
            return Err(Fault { rule: &rule::FRAME_MAGIC, at, found, wanted });
        }
        let kind = FrameKind::from_code(fields.u16());
        let (version, flags) = (fields.u16(), FrameFlags(fields.u16()));
        let len = fields.u64();
        if len < kind.len_min() {
            let (found, wanted) = (len, kind.len_min());
            return Err(Fault { rule: &rule::FRAME_LEN, at, found, wanted });
        }
        Ok(FrameHeader { kind, version, flags, len })
    }

    /// Appends the header.
    pub fn write(self, out: &mut Vec<u8>) {
        let put = Put::to(out).bytes(&FRAME_MAGIC).u16(self.kind.code()).u16(self.version);
        put.u16(self.flags.0).u64(self.len);
    }
}

/// The last bytes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTail {
    /// The offset of the descriptor in the frame; only for tensors.
    pub descriptor_offset: Option<u64>,
    /// The hash slot, whether it holds a hash or not.
    pub hash: u64,
}

impl FrameTail {
    /// Reads the tail of a frame of this kind, at `at` of the file.
    ///
    /// # Errors
    ///
    /// The frame does not end with `ENDF` (TGM-F4).
    pub fn read(kind: FrameKind, bytes: &[u8], at: u64) -> Result<Self, Fault> {
        let mut fields = Fields::new(bytes);
        let descriptor_offset = matches!(kind, FrameKind::Tensor).then(|| fields.u64());
        let hash = fields.u64();
        let end = fields.bytes();
        if end != FRAME_END {
            let (found, wanted) = (word(&end), word(&FRAME_END));
            let at = at.saturating_add(kind.tail_len() - FRAME_END.len() as u64);
            return Err(Fault { rule: &rule::FRAME_END, at, found, wanted });
        }
        Ok(FrameTail { descriptor_offset, hash })
    }

    /// Appends the tail.
    pub fn write(self, out: &mut Vec<u8>) {
        if let Some(offset) = self.descriptor_offset {
            Put::to(out).u64(offset);
        }
        Put::to(out).u64(self.hash).bytes(&FRAME_END);
    }
}

/// A frame and its span in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// All its bytes, without padding.
    pub span: Span,
    /// Its header.
    pub header: FrameHeader,
    /// Its tail.
    pub tail: FrameTail,
}

impl Frame {
    /// The kind.
    #[must_use]
    pub const fn kind(&self) -> FrameKind {
        self.header.kind
    }

    /// Where it starts in the file.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.span.start()
    }

    /// The bytes between header and tail, which the hash covers.
    #[must_use]
    pub fn body(&self) -> Span {
        let start = self.span.start().saturating_add(FRAME_HEADER_LEN);
        let end = self.span.end().saturating_sub(self.kind().tail_len());
        Span::from_range(start..end).unwrap_or(self.span)
    }

    /// The file offset of the hash slot.
    #[must_use]
    pub const fn hash_at(&self) -> u64 {
        self.span.end().saturating_sub(TAIL_LEN)
    }
}
