//! Seeds of the targets.

use std::fs;
use std::path::Path;

use super::TARGETS;
use super::tensogram::{metadata_seeds, pipeline_seeds};
use super::ztensor::made_seed;
use crate::assemble::{Dataset, Sheet, Stored};
use crate::values::{noise, plain};
use crate::{accept, reject, tgm, zoo, zt};

/// Seeds are short: a fuzzer changes short bytes better.
const SEED_LEN_MAX: usize = 8192;

/// Every file and every document that is known here.
#[must_use]
pub fn known() -> Vec<Vec<u8>> {
    let mut all = files();
    all.extend(documents());
    all.extend(ztensors());
    all.extend(tensograms());
    all.extend(super::netcdf::seeds());
    all.extend(super::containers::gguf_seeds());
    all.extend(super::ztensor2::seeds());
    all.extend(super::containers::fits_seeds());
    all.extend(super::torch::seeds());
    all.extend(super::containers::csv_seeds());
    all
}

/// Seeds of each target.
#[must_use]
pub fn seeds() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let of = |(name, _): (&'static str, _)| {
        let mut seeds = match name {
            "open" | "verify" => files(),
            "footer" => files().iter().filter_map(|file| footer(file)).collect(),
            "decode" => [1, 5, 300, 65_536].map(frame).to_vec(),
            "query_doc" => documents(),
            "ztensor" => ztensors().into_iter().chain((0..200).map(made_seed)).collect(),
            "tgm_scan" => tensograms(),
            "tgm_decode" => tensograms().into_iter().chain((0..200).map(made_seed)).collect(),
            "tgm_metadata" => metadata_seeds(),
            "tgm_pipeline" => pipeline_seeds(),
            "netcdf" => super::netcdf::seeds(),
            "gguf" => super::containers::gguf_seeds(),
            // Files that other programs wrote.
            "hdf5" | "zarr" | "pipeline" => corpus(name),
            "ztensor2" => super::ztensor2::seeds(),
            "fits" => super::containers::fits_seeds(),
            "torch" => super::torch::seeds(),
            "csv" => super::containers::csv_seeds(),
            _ => (0..200).map(|seed| noise(seed, 60)).collect(),
        };
        seeds.retain(|seed| seed.len() <= SEED_LEN_MAX);
        (name, seeds)
    };
    TARGETS.map(of).to_vec()
}

/// A small sound file of each container that is only read, and its suffix.
#[must_use]
pub fn read_only() -> [(&'static str, Vec<u8>); 3] {
    let units = "BITPIX  = 16\nNAXIS   = 1\nNAXIS1  = 4\n\n\
                 BITPIX  = 8\nNAXIS   = 1\nNAXIS1  = 6\nPCOUNT  = 0\nGCOUNT  = 1\nEXTNAME = 'beta'";
    let gguf = super::containers::gguf_seeds().into_iter().nth(28).unwrap_or_default();
    let pickle = super::torch::seeds().into_iter().next().unwrap_or_default();
    [
        ("gguf", gguf),
        ("fits", super::containers::fits_file(units.as_bytes())),
        ("pt", super::torch::checkpoint(&pickle)),
    ]
}

/// The inputs that are kept for a target.
#[must_use]
pub fn corpus(name: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../fuzz/corpus/{name}.hex"));
    fs::read_to_string(path).unwrap().lines().map(input).collect()
}

/// The bytes of a line: hexadecimal digits, and `(20)` for 20 zeros.
fn input(line: &str) -> Vec<u8> {
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    let digits = |digits: &str| digits.as_bytes().as_chunks().0.iter().map(byte).collect();
    let mut parts = line.split('(');
    let mut bytes: Vec<u8> = digits(parts.next().unwrap());
    for part in parts {
        let (zeros, after) = part.split_once(')').unwrap();
        bytes.resize(bytes.len() + zeros.parse::<usize>().unwrap(), 0);
        bytes.extend::<Vec<u8>>(digits(after));
    }
    bytes
}

fn files() -> Vec<Vec<u8>> {
    let mut files: Vec<Vec<u8>> = accept::cases().into_iter().map(|case| case.bytes).collect();
    files.extend(reject::cases().into_iter().map(|case| case.bytes));
    files.extend(zoo::animals().into_iter().map(|animal| animal.bytes));
    files
}

/// zTensor files of every kind.
fn ztensors() -> Vec<Vec<u8>> {
    zt::kinds().iter().map(|(_, tensors)| zt::assemble(tensors).0).collect()
}

/// Tensogram files of every kind, and hostile ones.
fn tensograms() -> Vec<Vec<u8>> {
    let kinds = tgm::kinds().into_iter().map(|(_, file)| file);
    kinds.chain(tgm::animals().into_iter().map(|animal| animal.bytes)).collect()
}

/// The documents that stand in the pages of the project.
fn documents() -> Vec<Vec<u8>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/query.md");
    let page = fs::read_to_string(page).unwrap();
    let blocks = page.split("```").skip(1).step_by(2);
    let bodies = blocks.filter_map(|block| Some(block.split_once('\n')?.1.as_bytes().to_vec()));
    bodies.collect()
}

/// The footer JSON of a file, if it has one.
fn footer(file: &[u8]) -> Option<Vec<u8>> {
    let (front, tail) = file.split_at_checked(file.len().checked_sub(16)?)?;
    let len = usize::try_from(u64::from_le_bytes(*tail.first_chunk()?)).ok()?;
    tail.ends_with(b"THST").then(|| Some(front.get(front.len().checked_sub(len)?..)?.to_vec()))?
}

/// A frame of so many bytes, and their number before it.
fn frame(count: u64) -> Vec<u8> {
    let dataset = Dataset::new("z", 5, 1, &[count]).stored(Stored::Frame);
    let file = Sheet::new(&[dataset.elements(plain(5, count))]).assemble();
    let (start, len) = file.marks.payloads[0];
    let start = usize::try_from(start).unwrap();
    let number = u16::try_from(count - 1).unwrap().to_le_bytes();
    [&number[..], &file.bytes[start..][..usize::try_from(len).unwrap()]].concat()
}
