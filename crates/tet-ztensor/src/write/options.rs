//! How tensors are written.

use tet_codec::ZstdEncoder;

use crate::error::{Error, Result};

/// The level of zstd that is taken unless another is asked for: on weights it comes to the same
/// length as higher ones, in half the time.
const LEVEL_DEFAULT: i32 = 1;

/// How the bytes of a tensor are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EncodingChoice {
    /// As they are.
    #[default]
    Raw,
    /// As zstd frames.
    Zstd {
        /// The level; [`EncodingChoice::zstd`] has the usual one.
        level: i32,
    },
}

impl EncodingChoice {
    /// As zstd frames of the usual level.
    #[must_use]
    pub const fn zstd() -> Self {
        EncodingChoice::Zstd { level: LEVEL_DEFAULT }
    }

    /// Checks that zstd has the level.
    pub(super) fn check(self, name: &str) -> Result<()> {
        let EncodingChoice::Zstd { level } = self else { return Ok(()) };
        let coded = |fault| Error::Codec { name: name.to_owned(), at: 0, fault };
        ZstdEncoder::new(level).map(|_| ()).map_err(coded)
    }
}

/// By what a reader tells that the bytes of a tensor have changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChecksumChoice {
    /// A CRC-32C, which all readers check.
    #[default]
    Crc32c,
    /// A SHA-256, which readers of 0.1.x pass over.
    Sha256,
    /// Nothing.
    Left,
}

/// What a blob starts at a multiple of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// 64 bytes, which the format asks for.
    #[default]
    Line,
    /// 4096 bytes.
    Page,
    /// 65536 bytes.
    LargePage,
}

impl Align {
    /// How many bytes that is.
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
    /// As one tensor of the layout `sparse`; readers of 0.1.x refuse a file with one.
    Native,
}

/// For which readers the file is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// For all, and for random access: zstd in frames with a seek table, checksums of both kinds,
    /// alignments of all kinds.
    #[default]
    Common,
    /// Byte for byte what the programs of 0.1.x write of the same tensors in the same order; the
    /// bytes of zstd are those of the library they use.
    V01x,
}

/// How tensors are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// How their bytes are stored.
    pub encoding: EncodingChoice,
    /// By what a reader tells that they have changed.
    pub checksum: ChecksumChoice,
    /// What their blobs start at a multiple of.
    pub align: Align,
    /// Tensors of fewer bytes start at a multiple of 64, whatever `align` says.
    pub align_len_min: u64,
    /// How sparse ones are written.
    pub sparse: SparseChoice,
    /// For which readers.
    pub dialect: Dialect,
}

impl WriteOptions {
    /// What the programs of 0.1.x do when nothing is asked for.
    #[must_use]
    pub fn v01x() -> Self {
        let (checksum, dialect) = (ChecksumChoice::Left, Dialect::V01x);
        WriteOptions { checksum, dialect, ..WriteOptions::default() }
    }

    /// What the blob of a tensor of so many bytes starts at a multiple of.
    pub(super) fn align_of(&self, decoded_len: u64) -> u64 {
        let align = if decoded_len < self.align_len_min { Align::Line } else { self.align };
        align.multiple()
    }

    /// Checks that the choices go together.
    pub(super) fn check(&self, name: &str) -> Result<()> {
        self.encoding.check(name)?;
        if self.dialect == Dialect::V01x {
            if self.checksum == ChecksumChoice::Sha256 {
                return Err(Error::Options { why: "programs of 0.1.x write no sha256" });
            }
            if self.align != Align::Line {
                return Err(Error::Options { why: "programs of 0.1.x align by 64 bytes" });
            }
        }
        Ok(())
    }
}
