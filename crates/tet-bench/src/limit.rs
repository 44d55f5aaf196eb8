//! Limits of the machine: the bare loops that the workloads are compared with.
//!
//! A limit that is too slow flatters the work, so each comes in several builds and the fastest of
//! them, tried in the same run, is taken.

use std::cell::RefCell;
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use flate2::{Decompress, FlushDecompress};
use multiversion::multiversion;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use tet_codec::Crc32c;

/// Bytes of one step of `read`, and of one task of finely cut limits.
const STEP_LEN: usize = 1 << 20;

/// How the bytes are shared among threads.
#[derive(Clone, Copy, Debug)]
enum Cut {
    /// All in one piece, on one thread.
    One,
    /// One piece a thread.
    PerThread,
    /// Pieces of 1 MiB, as they come.
    Fine,
}

impl Cut {
    const ALL: [Cut; 3] = [Cut::One, Cut::PerThread, Cut::Fine];

    /// The length of a piece; whole cache lines.
    fn len(self, total: usize) -> usize {
        let len = match self {
            Cut::One => total,
            Cut::PerThread => total.div_ceil(rayon::current_num_threads()),
            Cut::Fine => STEP_LEN,
        };
        len.next_multiple_of(4096).max(4096)
    }
}

/// Every byte once, by exclusive or.
#[derive(Clone, Copy, Debug)]
pub struct Scan {
    build: fn(&[u64]) -> u64,
    cut: Cut,
}

impl Scan {
    /// The fastest build for these bytes.
    #[must_use]
    pub fn fastest(bytes: &[u8]) -> Self {
        let builds: [fn(&[u64]) -> u64; 3] = [scan_plain, scan_lanes, scan_wide];
        let scans = builds.iter().flat_map(|&build| Cut::ALL.map(|cut| Scan { build, cut }));
        fastest(scans, |scan| {
            scan.run(bytes);
        })
    }

    /// Looks at every whole word of the bytes; gives the exclusive or of all.
    pub fn run(&self, bytes: &[u8]) -> u64 {
        let all = bytes
            .par_chunks(self.cut.len(bytes.len()))
            .map(|piece| (self.build)(bytemuck::pod_align_to::<u8, u64>(piece).1))
            .reduce(|| 0, |a, b| a ^ b);
        black_box(all)
    }
}

/// Every float32 once by CRC-32C and once by a plain sum in float64, the second while it is in the
/// nearest caches: what one pass that compares and sums cannot beat.
#[derive(Clone, Copy, Debug)]
pub struct DigestSum {
    build: fn(&[f32]) -> f64,
    cut: Cut,
    step: usize,
}

impl DigestSum {
    /// The fastest build for these bytes.
    #[must_use]
    pub fn fastest(bytes: &[u8]) -> Self {
        let builds: [fn(&[f32]) -> f64; 2] = [sum_lanes, sum_wide];
        let cuts = [Cut::PerThread, Cut::Fine];
        let sums = builds.iter().flat_map(|&build| {
            cuts.into_iter().flat_map(move |cut| {
                [16 << 10, 64 << 10, 256 << 10].map(|step| DigestSum { build, cut, step })
            })
        });
        fastest(sums, |sum| {
            sum.run(bytes);
        })
    }

    /// Looks at every whole float32 of the bytes; gives the sum of all and of the CRCs.
    pub fn run(&self, bytes: &[u8]) -> f64 {
        let piece = |piece: &[u8]| {
            let mut crc = Crc32c::new();
            let mut all = 0.0;
            for step in piece.chunks(self.step) {
                crc.update(step);
                all += (self.build)(bytemuck::pod_align_to::<u8, f32>(step).1);
            }
            all + f64::from(crc.finish())
        };
        let pieces = bytes.par_chunks(self.cut.len(bytes.len()));
        black_box(pieces.map(piece).reduce(|| 0.0, |a, b| a + b))
    }
}

fn sum_lanes(elements: &[f32]) -> f64 {
    sum_by::<8>(elements)
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx+avx2"))]
fn sum_wide(elements: &[f32]) -> f64 {
    sum_by::<32>(elements)
}

#[inline(always)]
fn sum_by<const N: usize>(elements: &[f32]) -> f64 {
    let mut lanes = [0.0; N];
    let (rows, tail) = elements.as_chunks::<N>();
    for row in rows {
        for i in 0..N {
            lanes[i] += f64::from(row[i]);
        }
    }
    let tail = tail.iter().map(|it| f64::from(*it));
    lanes.into_iter().chain(tail).sum()
}

fn scan_plain(words: &[u64]) -> u64 {
    words.iter().fold(0, |all, word| all ^ word)
}

fn scan_lanes(words: &[u64]) -> u64 {
    scan_by::<8>(words)
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx+avx2"))]
fn scan_wide(words: &[u64]) -> u64 {
    scan_by::<32>(words)
}

#[inline(always)]
fn scan_by<const N: usize>(words: &[u64]) -> u64 {
    let mut lanes = [0; N];
    let (rows, tail) = words.as_chunks::<N>();
    for row in rows {
        for i in 0..N {
            lanes[i] ^= row[i];
        }
    }
    lanes.iter().chain(tail).fold(0, |all, word| all ^ word)
}

/// `memcpy` into a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    cut: Cut,
}

impl Copy {
    /// The fastest way for these bytes.
    #[must_use]
    pub fn fastest(from: &[u8], to: &mut [u8]) -> Self {
        fastest(Cut::ALL.map(|cut| Copy { cut }).into_iter(), |copy| copy.run(from, to))
    }

    /// Copies all bytes; both are equally long.
    pub fn run(&self, from: &[u8], to: &mut [u8]) {
        let len = self.cut.len(from.len());
        let pairs = to.par_chunks_mut(len).zip(from.par_chunks(len));
        pairs.for_each(|(to, from)| to.copy_from_slice(from));
        black_box(to);
    }
}

/// The fastest of some builds, each tried five times, by turns: the machine may be busy for a while.
fn fastest<T: std::marker::Copy>(builds: impl Iterator<Item = T>, mut run: impl FnMut(&T)) -> T {
    let mut timed: Vec<(Duration, T)> = builds.map(|build| (Duration::MAX, build)).collect();
    for _ in 0..5 {
        for (time, build) in &mut timed {
            let start = Instant::now();
            run(build);
            *time = start.elapsed().min(*time);
        }
    }
    timed.into_iter().min_by_key(|(time, _)| *time).expect("there are builds").1
}

/// Positioned reads of 1 MiB, each thread into its own reused buffer.
///
/// # Errors
///
/// Returns an error when the file cannot be read.
pub fn read(file: &File, len: u64) -> Result<()> {
    let steps = len / STEP_LEN as u64;
    (0..steps).into_par_iter().try_for_each_init(
        || vec![0; STEP_LEN],
        |buffer, step| file.read_exact_at(buffer, step * STEP_LEN as u64),
    )?;
    Ok(())
}

/// A plain write of these bytes, one piece after the other, to a new file, then fsync.
///
/// # Errors
///
/// Returns an error when the file cannot be written.
pub fn write<'a>(path: &Path, pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<()> {
    let mut file = File::create(path).with_context(|| path.display().to_string())?;
    for piece in pieces {
        file.write_all(piece)?;
    }
    file.sync_all()?;
    Ok(())
}

/// The SHA-256 of each piece, the pieces shared among the threads as they come.
pub fn sha256(pieces: &[&[u8]]) {
    pieces.par_iter().with_max_len(1).for_each(|piece| {
        black_box(Sha256::digest(piece));
    });
}

/// zstd over the same chunks at the same level, a reused context a thread, output thrown away.
///
/// # Panics
///
/// Panics when zstd refuses its own parameters.
pub fn compress(chunks: &[&[u8]], level: i32) {
    let room = chunks.iter().map(|chunk| zstd_safe::compress_bound(chunk.len())).max();
    let state = || {
        let mut context = zstd_safe::CCtx::create();
        for parameter in [
            zstd_safe::CParameter::CompressionLevel(level),
            zstd_safe::CParameter::ChecksumFlag(true),
        ] {
            context.set_parameter(parameter).expect("zstd knows its parameters");
        }
        (context, vec![0_u8; room.unwrap_or(0)])
    };
    chunks.par_iter().for_each_init(state, |(context, out), chunk| {
        let len = context.compress2(&mut out[..], chunk).expect("there is room for any chunk");
        black_box(&out[..len]);
    });
}

/// Decoder of a thread.
struct Decoder {
    context: zstd_safe::DCtx<'static>,
    room: Vec<u8>,
}

thread_local! {
    static DECODER: RefCell<Decoder> =
        RefCell::new(Decoder { context: zstd_safe::DCtx::create(), room: Vec::new() });
}

/// Deflated chunks with the length each decodes to, in zlib or gzip streams, as they come, a kept state and buffer a
/// thread, output thrown away.
///
/// # Errors
///
/// Returns an error when a chunk does not decode to its length.
pub fn inflate(chunks: &[(&[u8], usize)], is_gzip: bool) -> Result<()> {
    let next = AtomicUsize::new(0);
    let outcomes = rayon::broadcast(|_| {
        let (mut state, mut room) = (Decompress::new(false), Vec::new());
        while let Some(&(chunk, len)) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
            room.resize(len.max(room.len()), 0);
            // The head of a gzip stream without names is 10 bytes long, that of a zlib stream 2.
            let from = chunk.get(if is_gzip { 10 } else { 2 }..).context("a short chunk")?;
            state.reset(false);
            state.decompress(from, &mut room[..len], FlushDecompress::Finish)?;
            ensure!(state.total_out() == len as u64, "a chunk is not {len} bytes long");
            black_box(&room[..len]);
        }
        Ok(())
    });
    outcomes.into_iter().collect()
}

/// zstd frames with the length each decodes to, as they come, a kept context and buffer a thread,
/// output thrown away.
///
/// # Errors
///
/// Returns an error when a frame does not decode to its length.
pub fn decompress(frames: &[(&[u8], usize)]) -> Result<()> {
    let next = AtomicUsize::new(0);
    let outcomes = rayon::broadcast(|_| {
        DECODER.with_borrow_mut(|Decoder { context, room }| {
            while let Some(&(frame, len)) = frames.get(next.fetch_add(1, Ordering::Relaxed)) {
                room.resize(len.max(room.len()), 0);
                let found = context.decompress(&mut room[..len], frame);
                let found = found.map_err(|code| anyhow!(zstd_safe::get_error_name(code)))?;
                ensure!(found == len, "a frame decodes to {found} bytes, not {len}");
                black_box(&room[..len]);
            }
            Ok(())
        })
    });
    outcomes.into_iter().collect()
}
