//! SZ3 as a filter: HDF5 filter 32024, whose client data states the type of the elements.

use crate::error::{Error, Result};
use crate::filter::Compressor;
use crate::sz3::{Sz3Array, Sz3Number, stated};

/// Chunks of fewer elements are stored as they are.
const COUNT_MIN: u64 = 20;

/// Undoes SZ3.
///
/// ```
/// use tet_codec::{Stage, Sz3Number, Sz3Stage};
///
/// let stage = Sz3Stage::Numbers(Sz3Number::Float32);
/// assert!(stage.undo_into(b"no stream", &mut [0; 8]).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sz3Stage {
    /// Chunks that the filter leaves as they are.
    Plain,
    /// Chunks of elements of this type.
    Numbers(Sz3Number),
}

impl Sz3Stage {
    /// The stage of the client data of HDF5: of the filter of SZ3 3.1.7 the number of axes, the type and the extents,
    /// of that of 3.3.2 the bytes of a configuration.
    pub(crate) fn hdf5(values: &[u32]) -> Option<Sz3Stage> {
        let (number_id, count) = match values {
            [] => return Some(Sz3Stage::Plain),
            [1, number_id, high, low, ..] => (*number_id, u64::from(*high) << 32 | u64::from(*low)),
            [rank @ 2..=4, number_id, extents @ ..] => {
                let extents = extents.get(..usize::try_from(*rank).ok()?)?;
                let extents = extents.iter().map(|extent| u64::from(*extent));
                (*number_id, extents.fold(1, u64::saturating_mul))
            }
            [..=5, ..] => return None,
            _ => {
                let config: Vec<u8> = values.iter().flat_map(|word| word.to_le_bytes()).collect();
                stated(&config).ok()?
            }
        };
        let number = Sz3Number::of_id(number_id)?;
        Some(if count < COUNT_MIN { Sz3Stage::Plain } else { Sz3Stage::Numbers(number) })
    }
}

impl Compressor for Sz3Stage {
    fn codec(&self) -> &'static str {
        "sz3"
    }

    fn max(&self, stored_len: u64) -> u64 {
        match self {
            Sz3Stage::Plain => stored_len,
            Sz3Stage::Numbers(_) => Sz3Array::decoded_max(stored_len),
        }
    }

    fn read(&self, stored: &[u8], out: &mut [u8]) -> Result<usize> {
        let decoded_len = out.len() as u64;
        let too_long = Error::TooLong { codec: self.codec(), decoded_len };
        match self {
            Sz3Stage::Plain => {
                let out = out.get_mut(..stored.len()).ok_or(too_long)?;
                out.copy_from_slice(stored);
                Ok(out.len())
            }
            Sz3Stage::Numbers(number) => {
                let array = Sz3Array::of_stream(stored, *number)?;
                let len = array.byte_len().and_then(|len| usize::try_from(len).ok());
                let out = len.and_then(|len| out.get_mut(..len)).ok_or(too_long)?;
                array.decode(out)?;
                Ok(out.len())
            }
        }
    }
}
