//! How a stream was written: its configuration, which comes after the compressed bytes.
//!
//! ```text
//!   3.1.7:                                                     payload | configuration | its length (4)
//!   3.3.2: F342F310 (4) | version (4) | length of payload (8) | payload | configuration
//! ```

use super::bytes::Bytes;
use super::fault::{corrupt, unsupported};
use super::shape::{RANK_MAX, Shape};
use crate::error::Result;

const MAGIC: u32 = 0xF342_F310;
/// Version 3.3.2 of the layout: a byte for each part, from the highest.
const VERSION: u32 = 0x0303_0200;
/// The most bits of an extent.
const EXTENT_BITS_MAX: u8 = 64;

/// Which layout a stream has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generation {
    /// That of SZ3 3.1.7, which has no header.
    Bare,
    /// That of SZ3 3.3.2.
    Headed,
}

/// How the elements were predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// From the elements of a coarser grid.
    Interpolation,
    /// In blocks, from the elements before, or by a plane.
    Blocks,
    /// Not at all: each as its distance from 0.
    Unpredicted,
    /// Zstd alone.
    Lossless,
}

/// A way of predicting the elements of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prediction {
    /// From the elements that come one before.
    Lorenzo,
    /// From the elements that come one and two before.
    LorenzoOfTwo,
    /// By a plane.
    Regression,
}

/// The configuration of a stream, and what it is about.
#[derive(Clone, Debug)]
pub(super) struct Head<'a> {
    pub(super) generation: Generation,
    pub(super) shape: Shape,
    pub(super) algorithm: Algorithm,
    /// The extent of a block along each axis.
    pub(super) block_len: u32,
    /// In the order in which blocks choose from them.
    pub(super) predictions: Vec<Prediction>,
    pub(super) payload: &'a [u8],
}

impl<'a> Head<'a> {
    pub(super) fn read(stream: &'a [u8]) -> Result<Self> {
        let mut bytes = Bytes::new(stream);
        if bytes.clone().u32() != Ok(MAGIC) {
            return Self::bare(stream);
        }
        bytes.u32()?;
        if bytes.u32()? != VERSION {
            return Err(unsupported("a version of the layout other than 3.3.2"));
        }
        let payload_len = bytes.u64()?;
        let payload = bytes.take(payload_len)?;
        let config = Config::headed(&mut bytes)?;
        Self::new(Generation::Headed, config, payload)
    }

    /// Reads the configuration from the end of a stream.
    fn bare(stream: &'a [u8]) -> Result<Self> {
        let cut = corrupt("the stream has no configuration");
        let (rest, len) = stream.split_last_chunk().ok_or(cut.clone())?;
        let len = usize::try_from(u32::from_le_bytes(*len)).ok();
        let start = len.and_then(|len| rest.len().checked_sub(len));
        let (payload, config) = rest.split_at_checked(start.ok_or(cut.clone())?).ok_or(cut)?;
        Self::new(Generation::Bare, Config::bare(&mut Bytes::new(config))?, payload)
    }

    fn new(generation: Generation, config: Config, payload: &'a [u8]) -> Result<Self> {
        let Config { shape, algorithm, block_len, predictions, .. } = config;
        Ok(Head { generation, shape, algorithm, block_len, predictions, payload })
    }
}

/// The members of a configuration that decoding needs.
#[derive(Clone, Debug)]
pub(super) struct Config {
    pub(super) shape: Shape,
    pub(super) algorithm: Algorithm,
    pub(super) block_len: u32,
    pub(super) predictions: Vec<Prediction>,
    /// The type of the elements, where the writer set it.
    pub(super) number_id: u8,
}

impl Config {
    /// Reads a configuration of 3.1.7, whose members all have a fixed width.
    fn bare(bytes: &mut Bytes<'_>) -> Result<Config> {
        let rank = bytes.u8()?;
        if usize::from(rank) > RANK_MAX {
            return Err(corrupt("an array has 1 to 4 axes"));
        }
        let extents = (0..rank).map(|_| bytes.u64()).collect::<Result<Vec<_>>>()?;
        let shape = Shape::new(&extents)?;
        check_count(&shape, bytes.u64()?)?;
        let id = bytes.u8()?;
        // The kind of the bound, which the absolute one was computed from, and the relative one.
        bytes.u8()?;
        let bound = bytes.f64()?;
        bytes.f64()?;
        let flags = [bytes.flag()?, bytes.flag()?, bytes.flag()?, bytes.flag()?];
        // Interpolation states these again; the other two are always zstd and Huffman.
        bytes.take(1 + 1 + 4)?;
        bytes.take(1 + 1)?;
        bytes.u32()?;
        let block_len = bytes.u32()?;
        bytes.take(4 + 4)?;
        check_threads(bytes.flag()?)?;
        let algorithm = match id {
            _ if bound == 0.0 => Algorithm::Lossless,
            0 => Algorithm::Blocks,
            2 => Algorithm::Interpolation,
            _ => return Err(unsupported("an algorithm other than Lorenzo and interpolation")),
        };
        let predictions = predictions(algorithm, flags)?;
        Ok(Config { shape, algorithm, block_len, predictions, number_id: 0 })
    }

    /// Reads a configuration of 3.3.2: its length, then members, of which the last may be absent.
    pub(super) fn headed(bytes: &mut Bytes<'_>) -> Result<Config> {
        let len = bytes.clone().u8()?;
        let mut bytes = Bytes::new(bytes.take(len.into())?);
        bytes.u8()?;
        let (rank, width) = (bytes.u8()?, bytes.u8()?);
        if usize::from(rank) > RANK_MAX || EXTENT_BITS_MAX < width {
            return Err(corrupt("an array has 1 to 4 axes"));
        }
        let packed = bytes.take((u64::from(rank) * u64::from(width)).div_ceil(8))?;
        let bit = |at: usize| packed.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
        let extent = |axis: usize| {
            let bits = (0..usize::from(width)).rev();
            bits.fold(0, |value, at| value << 1 | u64::from(bit(axis * usize::from(width) + at)))
        };
        let extents: Vec<u64> = (0..usize::from(rank)).map(extent).collect();
        let shape = Shape::new(&extents)?;
        check_count(&shape, bytes.u64()?)?;
        let id = bytes.u8()?;
        let bounds = match bytes.u8()? {
            ..=3 => 1,
            4..=5 => 2,
            _ => return Err(corrupt("the kind of the error bound is unknown")),
        };
        bytes.take(bounds * 8)?;
        let flags = bytes.u8()?;
        let number_id = bytes.u8()?;
        bytes.u32()?;
        let block_len = bytes.u32()?;
        check_threads(flags & 0x08 != 0)?;
        let algorithm = match id {
            0 => Algorithm::Blocks,
            2 => Algorithm::Interpolation,
            3 => Algorithm::Unpredicted,
            4 => Algorithm::Lossless,
            _ => return Err(unsupported("an algorithm for biomolecules, or an unknown one")),
        };
        let flags = [0x80, 0x40, 0x20, 0].map(|flag| flags & flag != 0);
        let predictions = predictions(algorithm, flags)?;
        Ok(Config { shape, algorithm, block_len, predictions, number_id })
    }
}

fn check_count(shape: &Shape, count: u64) -> Result<()> {
    if shape.count() == count {
        return Ok(());
    }
    Err(corrupt("the number of elements is not that of the extents"))
}

fn check_threads(is_parted: bool) -> Result<()> {
    if is_parted {
        Err(unsupported("a stream in parts, written by several threads"))
    } else {
        Ok(())
    }
}

/// The predictions that these flags allow.
fn predictions(algorithm: Algorithm, flags: [bool; 4]) -> Result<Vec<Prediction>> {
    if algorithm != Algorithm::Blocks {
        return Ok(Vec::new());
    }
    let [.., of_squares] = flags;
    if of_squares {
        return Err(unsupported("regression of the second order"));
    }
    let all = [Prediction::Lorenzo, Prediction::LorenzoOfTwo, Prediction::Regression];
    let chosen: Vec<_> = all.into_iter().zip(flags).filter(|(_, flag)| *flag).collect();
    if chosen.is_empty() {
        return Err(corrupt("no prediction is allowed"));
    }
    Ok(chosen.into_iter().map(|(prediction, _)| prediction).collect())
}
