//! The weights of a model: 1 GiB of tensors in memory, and zTensor files of them.

use std::path::{Path, PathBuf};

use anyhow::Result;
use half::bf16;
use rayon::prelude::*;
use tet_format::DType;
use tet_io::publish::Sync;
use tet_io::{Overwrite, Publish};
use tet_ztensor::{ChecksumChoice, Declaration, WriteOptions};

use crate::data::{self, Folder};

/// The extents of each tensor: 8 MiB of float32, 4 MiB of bfloat16.
pub const SHAPE: [u64; 2] = [2048, 1024];
/// How many there are of each type.
const COUNTS: [(DType, u64); 2] = [(DType::Float32, 64), (DType::BFloat16, 128)];
/// How far weights lie from zero.
const DEVIATION: f64 = 0.02;

/// A tensor in memory.
#[derive(Clone, Debug)]
pub struct Weight {
    /// Its dtype or declaration, and its name.
    pub declaration: Declaration,
    /// Its elements, little-endian.
    pub elements: Vec<u8>,
}

/// One of `parts` equal parts of all weights.
#[must_use]
pub fn weights(parts: u64) -> Vec<Weight> {
    let of = |(dtype, count)| (0..count / parts).into_par_iter().map(move |at| weight(dtype, at));
    COUNTS.into_par_iter().flat_map(of).collect()
}

fn weight(dtype: DType, at: u64) -> Weight {
    let name = format!("model.layers.{at}.{}.weight", dtype.name());
    let mut next = data::random(at.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ dtype.size().unwrap_or(0));
    let count = SHAPE.iter().product::<u64>();
    let mut elements = Vec::with_capacity((count * dtype.size().unwrap_or(1)) as usize);
    for _ in 0..count {
        let value = normal(&mut next) * DEVIATION;
        match dtype {
            DType::BFloat16 => elements.extend(bf16::from_f64(value).to_le_bytes()),
            _ => elements.extend((value as f32).to_le_bytes()),
        }
    }
    Weight { declaration: Declaration::new(name, dtype, SHAPE), elements }
}

/// A number around 0 of deviation 1: four equally likely ones added up, random to the last bit.
fn normal(next: &mut impl FnMut() -> u64) -> f64 {
    let bits = next();
    let lanes: u64 = (0..4).map(|lane| (bits >> (16 * lane)) & 0xffff).sum();
    let fine = (next() >> 11) as f64 / (1_u64 << 53) as f64;
    ((lanes as f64 + fine) / 65536.0 - 2.0) * f64::sqrt(3.0)
}

/// Writes a file.
///
/// # Errors
///
/// Returns an error when it cannot be written.
pub fn write(path: &Path, weights: &[Weight], options: &WriteOptions, sync: Sync) -> Result<()> {
    publish(
        path,
        options,
        sync,
        weights.iter().map(|it| (it.declaration.clone(), &it.elements[..])),
    )
}

fn publish<'a>(
    path: &Path,
    options: &WriteOptions,
    sync: Sync,
    tensors: impl Iterator<Item = (Declaration, &'a [u8])>,
) -> Result<()> {
    let publish = Publish { force: Overwrite::Replace, sync, ..Publish::default() };
    tet_ztensor::publish(path, options, &publish, |writer| -> tet_ztensor::Result<()> {
        for (declaration, elements) in tensors {
            writer.whole(declaration, elements)?;
        }
        Ok(())
    })?;
    Ok(())
}

/// The file of all weights, made when it is not there.
///
/// # Errors
///
/// Returns an error when it cannot be made.
pub fn file(folder: &Folder, checksum: ChecksumChoice) -> Result<PathBuf> {
    let path = folder.scratch(match checksum {
        ChecksumChoice::Sha256 => "weights-sha256.zt",
        _ => "weights.zt",
    });
    if !path.exists() {
        let options = WriteOptions { checksum, ..WriteOptions::default() };
        write(&path, &weights(1), &options, Sync::None)?;
    }
    Ok(path)
}

/// The name of a tensor of a file of many.
#[must_use]
pub fn name(at: u64) -> String {
    format!("model.layers.{}.experts.{}.weight", at / 128, at % 128)
}

/// A file of `count` tensors of four elements, made when it is not there.
///
/// # Errors
///
/// Returns an error when it cannot be made.
pub fn many(folder: &Folder, count: u64) -> Result<PathBuf> {
    let path = folder.scratch(&format!("tensors-{count}.zt"));
    if !path.exists() {
        let tensors =
            (0..count).map(|at| (Declaration::new(name(at), DType::Float32, [4]), &[1; 16][..]));
        publish(&path, &WriteOptions::default(), Sync::None, tensors)?;
    }
    Ok(path)
}
