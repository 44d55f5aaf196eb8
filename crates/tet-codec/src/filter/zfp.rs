//! zfp as a filter: HDF5 filter 32013, whose header is in the client data, and numcodecs `zfpy`, whose header is in
//! every chunk.

use crate::error::{Error, Result};
use crate::filter::Compressor;
use crate::zfp::ZfpArray;

/// The most bytes of a block: 256 elements of 8 bytes.
const BLOCK_LEN_MAX: u64 = 2048;

/// Undoes zfp.
///
/// ```
/// use tet_codec::{Stage, ZfpStage};
///
/// let error = ZfpStage::Stated.undo_into(b"no header", &mut [0; 8]).unwrap_err();
/// assert!(error.to_string().contains("header"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ZfpStage {
    /// Every chunk is this array, without a header.
    Array(ZfpArray),
    /// Every chunk starts with a header.
    Stated,
}

impl ZfpStage {
    /// The stage of the client data of HDF5: a word with versions, then the header.
    pub(crate) fn hdf5(values: &[u32]) -> Option<ZfpStage> {
        let (_, header) = values.split_first()?;
        let header: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
        ZfpArray::of_header(&header).ok().map(|(array, _)| ZfpStage::Array(array))
    }
}

impl Compressor for ZfpStage {
    fn codec(&self) -> &'static str {
        "zfp"
    }

    fn max(&self, stored_len: u64) -> u64 {
        match self {
            ZfpStage::Array(array) => array.decoded_max(stored_len),
            // A block takes at least one bit.
            ZfpStage::Stated => stored_len.saturating_mul(8).saturating_mul(BLOCK_LEN_MAX),
        }
    }

    fn read(&self, stored: &[u8], out: &mut [u8]) -> Result<usize> {
        let stated;
        let (array, start) = match self {
            ZfpStage::Array(array) => (array, 0),
            ZfpStage::Stated => {
                stated = ZfpArray::of_header(stored)?;
                (&stated.0, stated.1)
            }
        };
        let decoded_len = out.len() as u64;
        let len = array.byte_len().and_then(|len| usize::try_from(len).ok());
        let out = len.and_then(|len| out.get_mut(..len));
        let out = out.ok_or(Error::TooLong { codec: self.codec(), decoded_len })?;
        array.decode(stored, start, out)?;
        Ok(out.len())
    }
}
