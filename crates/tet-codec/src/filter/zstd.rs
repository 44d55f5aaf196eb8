//! zstd frames: HDF5 filter 32015, numcodecs `zstd`, Zarr v3 `zstd`. The content size may be absent;
//! a checksum is checked.

use tet_format::zstd_decoded_max;

use crate::error::Result;
use crate::filter::Compressor;
use crate::numcodecs_pipeline::NumcodecsCodec;

/// Undoes zstd.
///
/// ```
/// use tet_codec::{Encode, Stage, ZstdEncoder, ZstdStage};
///
/// let mut stored = Vec::new();
/// ZstdEncoder::new(3)?.encode(b"aaaaaaaa", &mut stored)?;
/// let mut out = [0; 8];
/// ZstdStage.undo_into(&stored, &mut out)?;
/// assert_eq!(&out, b"aaaaaaaa");
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ZstdStage;

impl Compressor for ZstdStage {
    fn codec(&self) -> &'static str {
        "zstd"
    }

    fn numcodecs_codec(&self) -> Option<NumcodecsCodec> {
        Some(NumcodecsCodec::named("zstd"))
    }

    fn max(&self, stored_len: u64) -> u64 {
        zstd_decoded_max(stored_len)
    }

    fn read(&self, stored: &[u8], out: &mut [u8]) -> Result<usize> {
        crate::zstd::decode_some(stored, out)
    }
}
