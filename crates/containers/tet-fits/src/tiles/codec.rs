//! The codecs of tiles: bytes to little-endian numbers.

use tet_codec::{Deflate, Error, Result, Room, Stage};

use super::hcompress::{self, Smoothing};
use super::index;
use super::plio;
use super::rice::Rice;

/// How the bytes of a tile become numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    /// gzip of big-endian numbers.
    Gzip,
    /// gzip of the highest bytes of all numbers, then of the next ones.
    Shuffled,
    Rice(Rice),
    Plio,
    Hcompress(Smoothing),
    /// Big-endian numbers.
    Plain,
}

/// Numbers of a tile.
pub(super) struct Numbers {
    /// Little-endian; numbers of one byte have no sign.
    pub(super) bytes: Vec<u8>,
    /// Bytes of a number.
    pub(super) width: usize,
    /// Whether the codec lost some of them: they may be beyond the range of the pixels.
    pub(super) is_lossy: bool,
}

impl Numbers {
    fn exact(bytes: Vec<u8>, width: usize) -> Numbers {
        Numbers { bytes, width, is_lossy: false }
    }
}

/// The codecs of tiles, by their names in ZCMPTYPE.
pub(in super::super) const CODECS: [&str; 6] =
    ["RICE_1", "GZIP_1", "GZIP_2", plio::NAME, hcompress::NAME, "NOCOMPRESS"];

impl Codec {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Codec::Gzip => "GZIP_1",
            Codec::Shuffled => "GZIP_2",
            Codec::Rice(_) => "RICE_1",
            Codec::Plio => plio::NAME,
            Codec::Hcompress(_) => hcompress::NAME,
            Codec::Plain => "NOCOMPRESS",
        }
    }

    /// Checks that `stored_len` bytes can be as many as `count` numbers.
    pub(super) fn can_be(self, stored_len: u64, count: u64) -> bool {
        let most = match self {
            Codec::Gzip | Codec::Shuffled => Deflate::gzip().decoded_max(stored_len),
            Codec::Rice(rice) => rice.count_max(stored_len),
            Codec::Plio => plio::count_max(stored_len),
            Codec::Hcompress(_) => hcompress::count_max(stored_len),
            Codec::Plain => stored_len,
        };
        count <= most
    }

    /// The numbers of a tile of `count` pixels.
    pub(super) fn numbers(self, stored: &[u8], count: usize) -> Result<Numbers> {
        match self {
            Codec::Rice(rice) => {
                let bytes = rice.decode(stored, count)?;
                Ok(Numbers::exact(bytes, index(u64::from(rice.width))))
            }
            Codec::Plio => Ok(Numbers::exact(plio::decode(stored, count)?, 4)),
            Codec::Hcompress(smoothing) => {
                let decoded = hcompress::decode(stored, count, smoothing)?;
                Ok(Numbers { bytes: decoded.bytes, width: 4, is_lossy: decoded.is_lossy })
            }
            Codec::Gzip | Codec::Shuffled => {
                let most = u64::try_from(count).unwrap_or(u64::MAX).saturating_mul(8);
                let mut bytes = Vec::new();
                Deflate::gzip().undo(stored, Room::AtMost(most), &mut bytes)?;
                let width = self.width(bytes.len(), count)?;
                if self == Codec::Gzip {
                    turn(&mut bytes, width);
                } else {
                    bytes = unshuffled(&bytes, width, count);
                }
                Ok(Numbers::exact(bytes, width))
            }
            Codec::Plain => {
                let width = self.width(stored.len(), count)?;
                let mut bytes = stored.to_vec();
                turn(&mut bytes, width);
                Ok(Numbers::exact(bytes, width))
            }
        }
    }

    /// Bytes of a number, where `len` bytes are `count` of them.
    fn width(self, len: usize, count: usize) -> Result<usize> {
        let is_width = |width: &usize| count.checked_mul(*width) == Some(len);
        let reason = "it has another number of pixels than the tile";
        let fault = Error::Corrupt { codec: self.name(), reason };
        [1, 2, 4, 8].into_iter().find(is_width).ok_or(fault)
    }
}

/// Makes big-endian numbers little-endian.
fn turn(bytes: &mut [u8], width: usize) {
    bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
}

/// The little-endian numbers whose highest bytes come first.
fn unshuffled(bytes: &[u8], width: usize, count: usize) -> Vec<u8> {
    let mut out = vec![0; bytes.len()];
    for (plane, place) in bytes.chunks_exact(count.max(1)).zip((0..width).rev()) {
        for (number, byte) in out.chunks_exact_mut(width).zip(plane) {
            if let Some(to) = number.get_mut(place) {
                *to = *byte;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn big_endian_and_shuffled_numbers_are_turned() {
        let of = |codec: Codec, bytes: &[u8], count| {
            let mut stored = Vec::new();
            tet_codec::encode::gzip(bytes, 5, &mut stored).unwrap();
            codec.numbers(&stored, count).map(|it| (it.bytes, it.width))
        };
        let wanted = (vec![2, 1, 4, 3, 6, 5], 2);
        assert_eq!(of(Codec::Gzip, &[1, 2, 3, 4, 5, 6], 3).unwrap(), wanted);
        assert_eq!(of(Codec::Shuffled, &[1, 3, 5, 2, 4, 6], 3).unwrap(), wanted);
        assert!(of(Codec::Gzip, &[0; 6], 2).is_err() && of(Codec::Gzip, &[0; 18], 2).is_err());
        let plain = Codec::Plain.numbers(&[1, 2, 3, 4], 1).unwrap();
        assert_eq!((plain.bytes, plain.width), (vec![4, 3, 2, 1], 4));
        assert!(!Codec::Plain.can_be(3, 4) && Codec::Plain.can_be(4, 4));
    }
}
