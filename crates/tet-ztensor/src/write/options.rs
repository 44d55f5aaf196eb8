//! How tensors are written.

use tet_codec::ZstdEncoder;

use crate::error::{Error, Result};

/// The default zstd level: on model weights it gives the same length as higher levels, in half the
/// time.
const LEVEL_DEFAULT: i32 = 1;

/// How the bytes of a tensor are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EncodingChoice {
    /// Unchanged.
    #[default]
    Raw,
    /// As zstd frames.
    Zstd {
        /// The level; [`EncodingChoice::zstd`] uses the default.
        level: i32,
    },
}

impl EncodingChoice {
    /// As zstd frames at the default level.
    #[must_use]
    pub const fn zstd() -> Self {
        EncodingChoice::Zstd { level: LEVEL_DEFAULT }
    }

    /// Checks that zstd supports the level.
    pub(super) fn check(self, name: &str) -> Result<()> {
        let EncodingChoice::Zstd { level } = self else { return Ok(()) };
        let coded = |fault| Error::Codec { name: name.to_owned(), at: 0, fault };
        ZstdEncoder::new(level).map(|_| ()).map_err(coded)
    }
}

/// How readers detect that the bytes of a tensor changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChecksumChoice {
    /// A CRC-32C, which all readers check.
    #[default]
    Crc32c,
    /// A SHA-256, which readers of 0.1.x ignore.
    Sha256,
    /// No checksum.
    Left,
}

/// The alignment of blobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// 64 bytes, which the format requires.
    #[default]
    Line,
    /// 4096 bytes.
    Page,
    /// 65536 bytes.
    LargePage,
}

impl Align {
    /// The alignment in bytes.
    #[must_use]
    pub const fn multiple(self) -> u64 {
        match self {
            Align::Line => 64,
            Align::Page => 4096,
            Align::LargePage => 65536,
        }
    }
}

/// How sparse tensors are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SparseChoice {
    /// As dense tensors `NAME.indptr`, `NAME.indices`, `NAME.values`, or `NAME.coords`,
    /// `NAME.values`, which every reader opens.
    #[default]
    Split,
    /// As one tensor of the layout `sparse`; readers of 0.1.x refuse a file with such a tensor.
    Native,
}

/// The readers that the file is written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// All readers, and random access: zstd in frames with a seek table, both kinds of checksums,
    /// all alignments.
    #[default]
    Common,
    /// Byte for byte the output of programs of 0.1.x for the same tensors in the same order; zstd
    /// bytes are those of the library they use.
    V01x,
}

/// How tensors are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// How their bytes are stored.
    pub encoding: EncodingChoice,
    /// How readers detect changes.
    pub checksum: ChecksumChoice,
    /// The alignment of blobs.
    pub align: Align,
    /// Shorter tensors start at a multiple of 64, whatever `align` is.
    pub align_len_min: u64,
    /// How sparse tensors are written.
    pub sparse: SparseChoice,
    /// The readers that the file is written for.
    pub dialect: Dialect,
}

impl WriteOptions {
    /// The defaults of programs of 0.1.x.
    #[must_use]
    pub fn v01x() -> Self {
        let (checksum, dialect) = (ChecksumChoice::Left, Dialect::V01x);
        WriteOptions { checksum, dialect, ..WriteOptions::default() }
    }

    /// The alignment of the blob of a tensor with `decoded_len` bytes.
    pub(super) fn align_of(&self, decoded_len: u64) -> u64 {
        let align = if decoded_len < self.align_len_min { Align::Line } else { self.align };
        align.multiple()
    }

    /// Checks that the choices are compatible.
    pub(super) fn check(&self, name: &str) -> Result<()> {
        self.encoding.check(name)?;
        if self.dialect == Dialect::V01x {
            if self.checksum == ChecksumChoice::Sha256 {
                return Err(Error::Options { why: "programs of 0.1.x do not write sha256" });
            }
            if self.align != Align::Line {
                return Err(Error::Options { why: "programs of 0.1.x align to 64 bytes" });
            }
        }
        Ok(())
    }
}
