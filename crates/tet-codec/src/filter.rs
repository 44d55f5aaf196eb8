//! The filters of other containers, each a [`Stage`] of a pipeline.

mod bitshuffle;
mod blosc;
#[cfg(feature = "bzip2")]
mod bzip2;
mod checksum;
mod convert;
mod deflate;
mod lz4;
mod lzf;
#[cfg(feature = "lzma")]
mod lzma;
mod member;
mod nbit;
mod packbits;
mod scale_offset;
mod shuffled;
#[cfg(feature = "zstd")]
mod sz3;
mod szip;
mod zfp;
#[cfg(feature = "zstd")]
mod zstd;

use std::fmt::Debug;

pub use bitshuffle::Bitshuffle;
pub use blosc::Blosc;
#[cfg(feature = "bzip2")]
pub use bzip2::Bzip2;
pub use convert::{Convert, NumberType};
pub use deflate::Deflate;
pub use lz4::Lz4;
pub use lzf::Lzf;
pub(crate) use lzf::repeat;
#[cfg(feature = "lzma")]
pub use lzma::Lzma;
pub use member::MemberStage;
pub use nbit::NBit;
pub use packbits::PackBits;
pub use scale_offset::ScaleOffset;
pub use shuffled::Shuffle;
#[cfg(feature = "zstd")]
pub use sz3::Sz3Stage;
pub use szip::Szip;
pub use zfp::ZfpStage;
#[cfg(feature = "zstd")]
pub use zstd::ZstdStage;

use crate::error::Result;
use crate::numcodecs_pipeline::NumcodecsCodec;
use crate::pipeline::{Room, Stage};
use crate::scratch::{index, resize};

/// A filter whose encoded length depends on the bytes.
pub(crate) trait Compressor: Send + Sync + Debug {
    fn codec(&self) -> &'static str;

    /// The most bytes that `stored_len` bytes can decode to.
    fn max(&self, stored_len: u64) -> u64;

    /// The codec of numcodecs that decodes the same bytes, if there is one.
    fn numcodecs_codec(&self) -> Option<NumcodecsCodec> {
        None
    }

    /// Decodes `stored` into the start of `out`. Returns the decoded length.
    fn read(&self, stored: &[u8], out: &mut [u8]) -> Result<usize>;
}

impl<C: Compressor> Stage for C {
    fn name(&self) -> &'static str {
        self.codec()
    }

    fn written_len(&self, _len: u64) -> Option<u64> {
        None
    }

    fn decoded_max(&self, stored_len: u64) -> u64 {
        self.max(stored_len)
    }

    fn numcodecs(&self) -> Option<NumcodecsCodec> {
        self.numcodecs_codec()
    }

    fn undo(&self, stored: &[u8], room: Room, out: &mut Vec<u8>) -> Result<()> {
        let most = match room {
            Room::Exact(len) => len,
            Room::AtMost(len) => len.min(self.max(stored.len() as u64)),
        };
        resize(self.codec(), out, index(most))?;
        let len = self.read(stored, out)?;
        out.truncate(len);
        room.check(self.codec(), len as u64)
    }

    fn undo_into(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        let found = self.read(stored, out)?;
        Room::Exact(out.len() as u64).check(self.codec(), found as u64)
    }
}
