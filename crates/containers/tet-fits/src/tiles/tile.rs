//! One tile: its numbers, made pixels.

use tet_codec::{Decode, Error, Result};

use super::codec::{Codec, Numbers};
use super::dither::Quantum;

/// Decoder of a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    pub(super) codec: Codec,
    /// Bits of a pixel; negative for floats.
    pub(super) bitpix: i64,
    /// How its integers become floats, if they do.
    pub(super) quantum: Option<Quantum>,
    /// Whether the sign bit of its pixels is turned, as unsigned integers are stored.
    pub(super) is_turned: bool,
}

impl Tile {
    /// Bytes of a pixel.
    fn size(&self) -> usize {
        super::index(self.bitpix.unsigned_abs() / 8).max(1)
    }

    fn corrupt(&self, reason: &'static str) -> Error {
        Error::Corrupt { codec: self.codec.name(), reason }
    }

    /// Writes numbers that are the pixels themselves.
    fn copy(&self, numbers: &Numbers, out: &mut [u8]) -> Result<()> {
        let size = self.size();
        if numbers.width == size && numbers.bytes.len() == out.len() {
            out.copy_from_slice(&numbers.bytes);
            return Ok(());
        }
        if self.bitpix < 0 {
            return Err(self.corrupt("it has floats of another length"));
        }
        for (pixel, value) in out.chunks_exact_mut(size).zip(numbers.values()) {
            let nearest = match size {
                1 => value.clamp(u8::MIN.into(), u8::MAX.into()),
                2 => value.clamp(i16::MIN.into(), i16::MAX.into()),
                4 => value.clamp(i32::MIN.into(), i32::MAX.into()),
                _ => value,
            };
            if nearest != value && !numbers.is_lossy {
                return Err(self.corrupt("a pixel does not fit its type"));
            }
            let value = nearest;
            pixel.iter_mut().zip(value.to_le_bytes()).for_each(|(to, byte)| *to = byte);
        }
        Ok(())
    }

    /// Writes the floats of integers.
    #[allow(clippy::cast_possible_truncation, reason = "pixels are the nearest floats")]
    fn scale(&self, numbers: &Numbers, quantum: Quantum, out: &mut [u8]) -> Result<()> {
        let floats = quantum.floats().ok_or(self.corrupt("ZDITHER0 is not from 1 to 10000"))?;
        let floats = numbers.values().map(floats);
        if self.bitpix == -32 {
            let pixels = out.as_chunks_mut::<4>().0;
            pixels.iter_mut().zip(floats).for_each(|(to, it)| *to = (it as f32).to_le_bytes());
        } else {
            let pixels = out.as_chunks_mut::<8>().0;
            pixels.iter_mut().zip(floats).for_each(|(to, it)| *to = it.to_le_bytes());
        }
        Ok(())
    }
}

impl Numbers {
    /// The integers; those of one byte have no sign.
    fn values(&self) -> impl Iterator<Item = i64> {
        self.bytes.chunks_exact(self.width).map(|bytes| match *bytes {
            [a] => i64::from(a),
            [a, b] => i64::from(i16::from_le_bytes([a, b])),
            [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
            _ => bytes.first_chunk().map_or(0, |it| i64::from_le_bytes(*it)),
        })
    }
}

impl Decode for Tile {
    fn name(&self) -> &'static str {
        self.codec.name()
    }

    fn decode(&self, stored: &[u8], out: &mut [u8]) -> Result<()> {
        let size = self.size();
        let numbers = self.codec.numbers(stored, out.len() / size)?;
        match self.quantum {
            Some(quantum) => self.scale(&numbers, quantum, out)?,
            None => self.copy(&numbers, out)?,
        }
        if self.is_turned {
            let last = out.chunks_exact_mut(size).filter_map(<[u8]>::last_mut);
            last.for_each(|byte| *byte ^= 0x80);
        }
        Ok(())
    }

    fn check_len(&self, stored_len: u64, decoded_len: u64) -> Result<()> {
        let count = decoded_len / u64::try_from(self.size()).unwrap_or(1);
        if self.codec.can_be(stored_len, count) {
            return Ok(());
        }
        Err(Error::Lengths { codec: self.codec.name(), stored_len, decoded_len })
    }
}

#[cfg(test)]
mod tests {
    use super::super::hcompress::Smoothing;
    use super::*;

    /// Tiles of 2 x 2 pixels of one value, of which the scale times the sum is four times as much.
    #[test]
    fn pixels_that_were_lost_are_the_nearest_of_their_type() {
        let of = |bitpix: i64, scale: u8, sum: [u8; 2]| {
            let numbers = [[0, 0, 0, 2], [0, 0, 0, 2], [0, 0, 0, scale]].concat();
            let stored = [&[0xdd, 0x99], &numbers[..], &[0; 6], &sum, &[0; 4]].concat();
            let codec = Codec::Hcompress(Smoothing::Requested);
            let tile = Tile { codec, bitpix, quantum: None, is_turned: false };
            let mut out = vec![0; 4 * tile.size()];
            tile.decode(&stored, &mut out).map(|()| out[..tile.size()].to_vec())
        };
        assert_eq!(of(8, 1, [3, 0xfc]).unwrap(), [255]);
        assert_eq!(of(8, 2, [4, 0]).unwrap(), [255]);
        assert!(of(8, 1, [4, 0]).is_err());
        assert_eq!(of(16, 12, [0xaa, 0xaa]).unwrap(), [0xff, 0x7f]);
        assert_eq!(of(16, 4, [0x40, 0]).unwrap(), [0, 0x40]);
        assert_eq!(of(64, 4, [0x40, 0]).unwrap(), [0, 0x40, 0, 0, 0, 0, 0, 0]);
    }
}
