//! SZ3: numbers predicted from their neighbors, the errors of the predictions as multiples of a bound, Huffman, zstd.
//!
//! There is no specification: the layout was taken from the public headers of SZ3 3.1.7, whose streams the HDF5 filter
//! of `hdf5plugin` writes, and of SZ3 3.3.2, whose streams Tensogram writes. Numbers are equal bit for bit to those of
//! the library on x86-64. A stream is read in one pass; every number takes one symbol or one stored value, and both
//! run out. Decoded zstd is bounded by the number of elements.

mod blocks;
mod bytes;
mod cubes;
mod fault;
mod head;
mod huffman;
mod interpolation;
mod lorenzo;
mod number;
mod quantizer;
mod regression;
mod shape;

use bytes::Bytes;
use fault::NAME;
use head::{Algorithm, Config, Generation, Head};
use number::Value;
use quantizer::Residuals;

use crate::error::{Error, Result};
use crate::scratch::{Scratch, index, resize};

pub use number::Sz3Number;

/// The most bytes of an element before zstd, next to its value, the value of a coefficient, and as much again: its code,
/// and those of a coefficient and of a choice.
const ELEMENT_LEN_MAX: u64 = 12;
/// The most symbols of a tree, and the bytes for each in two trees: two nodes of 13 bytes.
const SYMBOLS_MAX: u64 = 1 << 20;
const TREE_LEN_MAX: u64 = 52;
/// The most bytes before zstd that do not depend on the number of elements.
const HEAD_LEN_MAX: u64 = 1 << 12;
/// The most elements for a stored byte. An array of one value takes no bits for its elements.
const RATIO_MAX: u64 = 1 << 24;

/// The array of a stream.
///
/// ```
/// use tet_codec::{Sz3Array, Sz3Number};
///
/// let error = Sz3Array::of_stream(b"no stream", Sz3Number::Float64).unwrap_err();
/// assert!(error.to_string().starts_with("sz3: "));
/// ```
#[derive(Clone, Debug)]
pub struct Sz3Array<'a> {
    number: Sz3Number,
    head: Head<'a>,
}

impl<'a> Sz3Array<'a> {
    /// The array that a stream holds, of elements of this type: streams do not state it reliably.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Corrupt`] when this is no stream, and [`Error::Unsupported`] for one that is not read.
    pub fn of_stream(stream: &'a [u8], number: Sz3Number) -> Result<Sz3Array<'a>> {
        Ok(Sz3Array { number, head: Head::read(stream)? })
    }

    /// The type of the elements.
    #[must_use]
    pub const fn number(&self) -> Sz3Number {
        self.number
    }

    /// The length of all elements in bytes; `None` if it does not fit in 64 bits.
    #[must_use]
    pub fn byte_len(&self) -> Option<u64> {
        self.head.shape.count().checked_mul(self.number.size())
    }

    /// The most bytes that a stream of `stored_len` bytes can decode to.
    #[must_use]
    pub const fn decoded_max(stored_len: u64) -> u64 {
        stored_len.saturating_mul(RATIO_MAX)
    }

    /// Decodes the stream into exactly `out`, as little-endian numbers.
    ///
    /// # Errors
    ///
    /// Returns an error when the stream is damaged or not supported, or `out` is not as long as the elements.
    pub fn decode(&self, out: &mut [u8]) -> Result<()> {
        let (stored_len, decoded_len) = (self.head.payload.len() as u64, out.len() as u64);
        if self.byte_len() != Some(decoded_len) || Self::decoded_max(stored_len) < decoded_len {
            return Err(Error::Lengths { codec: NAME, stored_len, decoded_len });
        }
        if self.head.algorithm == Algorithm::Lossless {
            return decompress(self.head.payload, |len| (len == decoded_len).then_some(out));
        }
        let body = self.body()?;
        self.elements(&body, out)
    }

    /// Decompresses what the elements are decoded from.
    fn body(&self) -> Result<Scratch> {
        let count = self.head.shape.count();
        let trees = count.min(SYMBOLS_MAX).saturating_mul(TREE_LEN_MAX);
        let most = self.number.size().saturating_mul(3).saturating_add(ELEMENT_LEN_MAX);
        let most = count.saturating_mul(most).saturating_add(trees).saturating_add(HEAD_LEN_MAX);
        let mut body = Scratch::new();
        let mut outcome = Ok(());
        decompress(self.head.payload, |len| {
            if len <= most {
                outcome = resize(NAME, &mut body, index(len));
            }
            (len <= most && outcome.is_ok()).then_some(body.as_mut_slice())
        })
        .map_err(|error| outcome.err().unwrap_or(error))?;
        Ok(body)
    }

    /// Decodes what zstd held.
    fn elements(&self, body: &[u8], out: &mut [u8]) -> Result<()> {
        match self.number {
            Sz3Number::Float32 => self.numbers::<f32>(body, out),
            Sz3Number::Float64 => self.numbers::<f64>(body, out),
            Sz3Number::Uint8 => self.numbers::<u8>(body, out),
            Sz3Number::Int8 => self.numbers::<i8>(body, out),
            Sz3Number::Uint16 => self.numbers::<u16>(body, out),
            Sz3Number::Int16 => self.numbers::<i16>(body, out),
            Sz3Number::Uint32 => self.numbers::<u32>(body, out),
            Sz3Number::Int32 => self.numbers::<i32>(body, out),
            Sz3Number::Uint64 => self.numbers::<u64>(body, out),
            Sz3Number::Int64 => self.numbers::<i64>(body, out),
        }
    }

    fn numbers<T: Value>(&self, body: &[u8], out: &mut [u8]) -> Result<()> {
        let mut data: Vec<T> = Vec::new();
        let count = out.len() / T::SIZE;
        data.try_reserve_exact(count).map_err(|_| Error::Memory { codec: NAME })?;
        data.resize(count, T::default());
        let mut bytes = Bytes::new(body);
        let head = &self.head;
        let is_cubes = head.generation == Generation::Bare && head.shape.rank() == 3;
        match head.algorithm {
            Algorithm::Interpolation => interpolation::decode(head, &mut bytes, &mut data)?,
            Algorithm::Blocks if is_cubes => cubes::decode(head, &mut bytes, &mut data)?,
            Algorithm::Blocks => blocks::decode(head, &mut bytes, &mut data)?,
            Algorithm::Unpredicted | Algorithm::Lossless => {
                let mut residuals = Residuals::read::<T>(head, &mut bytes)?;
                for value in &mut data {
                    *value = residuals.next(T::default())?;
                }
            }
        }
        for (element, value) in out.chunks_exact_mut(T::SIZE).zip(&data) {
            value.write(element);
        }
        Ok(())
    }
}

/// The type and the number of elements that a configuration in the client data of a filter states.
pub(crate) fn stated(config: &[u8]) -> Result<(u32, u64)> {
    let config = Config::headed(&mut Bytes::new(config))?;
    Ok((config.number_id.into(), config.shape.count()))
}

/// Decompresses a length and a zstd frame into the room for that length.
fn decompress<'a>(payload: &[u8], room: impl FnOnce(u64) -> Option<&'a mut [u8]>) -> Result<()> {
    let mut payload = Bytes::new(payload);
    let decoded_len = payload.u64()?;
    let frame = payload.rest();
    let stored_len = frame.len() as u64;
    let most = tet_format::zstd_decoded_max(stored_len);
    let room = if decoded_len <= most { room(decoded_len) } else { None };
    let room = room.ok_or(Error::Lengths { codec: NAME, stored_len, decoded_len })?;
    let found = crate::zstd::decode_some(frame, room)? as u64;
    if found != decoded_len {
        return Err(Error::TooShort { codec: NAME, found, decoded_len });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
