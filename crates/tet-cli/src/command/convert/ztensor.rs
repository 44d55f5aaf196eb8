//! How a zTensor file is written.

use tet_convert::{DenseOutput, SparseOutput};
use tet_ztensor as zt;

use crate::args::{ChecksumName, CodecName, DialectName, Named, SparseName, StoreArgs, ZtArgs};
use crate::exit::{Failure, Result};

/// How sparse tensors are written.
pub(crate) const fn sparse_output(zt: &ZtArgs) -> SparseOutput {
    match zt.sparse {
        Some(SparseName::Dense) => SparseOutput::Dense,
        Some(SparseName::Split | SparseName::Native) | None => SparseOutput::Sparse,
    }
}

/// How dense arrays are written.
pub(crate) const fn dense_output(zt: &ZtArgs) -> DenseOutput {
    match zt.sparse {
        Some(SparseName::Split | SparseName::Native) => DenseOutput::Sparse,
        Some(SparseName::Dense) | None => DenseOutput::Dense,
    }
}

/// The write options, from the options of the command line.
///
/// # Errors
///
/// A zTensor file does not support the codec, or the level is invalid.
pub(crate) fn options(store: &StoreArgs, zt: &ZtArgs) -> Result<zt::WriteOptions> {
    let mut options = match zt.dialect {
        Some(DialectName::V01x) => zt::WriteOptions::v01x(),
        None => zt::WriteOptions::default(),
    };
    options.encoding = match (Named::general(&store.codec), Named::general(&store.level)) {
        // The level that the programs of that dialect use.
        (Some(CodecName::Zstd), None) if zt.dialect.is_some() => {
            zt::EncodingChoice::Zstd { level: 3 }
        }
        (Some(CodecName::Zstd), None) => zt::EncodingChoice::zstd(),
        (Some(CodecName::Zstd), Some(level)) => zt::EncodingChoice::Zstd { level },
        (None, Some(_)) => {
            let text = "--level needs --codec zstd: a .zt file is raw by default";
            return Err(Failure::usage("options", text).hint("use both, or neither"));
        }
        (Some(CodecName::Lz4 | CodecName::Szip | CodecName::Gzip), _) => {
            let text = "a .zt file does not support this codec";
            return Err(Failure::usage("output-format", text).hint("use --codec raw or zstd"));
        }
        _ => zt::EncodingChoice::Raw,
    };
    options.checksum = match zt.checksum {
        None => options.checksum,
        Some(ChecksumName::Crc32c) => zt::ChecksumChoice::Crc32c,
        Some(ChecksumName::Sha256) => zt::ChecksumChoice::Sha256,
        Some(ChecksumName::None) => zt::ChecksumChoice::Left,
    };
    options.align = match store.align.as_str() {
        "4096" => zt::Align::Page,
        "65536" => zt::Align::LargePage,
        _ => zt::Align::Line,
    };
    options.align_len_min = zt.align_above;
    options.sparse = match zt.sparse {
        Some(SparseName::Native) => zt::SparseChoice::Native,
        _ => zt::SparseChoice::Split,
    };
    Ok(options)
}
