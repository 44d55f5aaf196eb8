//! Every bit of small files of every container, flipped: it comes back, or nothing is lost.
//!
//! ```text
//!   flip one bit -> plan without losses -> the file as it will be
//!     restored    the same bytes as before
//!     unnoticed   no rule is broken, and nothing is changed: no checksum covers the bit
//!     left        the plan is not whole: exit 1, and every other byte is as it was
//! ```

#![allow(clippy::print_stdout, reason = "the figures are part of what is tested")]

use std::path::Path;

use tet_convert::{Checksum, ConvertOptions, PayloadCodec};
use tet_file::write::{CodecChoice, WriteOptions};
use tet_format::DType;
use tet_format::write::DatasetSpec;
use tet_io::Source;
use tet_tests::written::{self, Written};

/// What a repair without losses makes of a file, and whether nothing is wrong with it then.
type Repair = fn(&Source) -> (Vec<u8>, bool);

fn bytes_of(source: &Source) -> Vec<u8> {
    source.read_vec(0, source.len()).unwrap()
}

fn tet(source: &Source) -> (Vec<u8>, bool) {
    let plan = tet_verify::repair::plan(source, &Default::default()).unwrap();
    assert!(!plan.edits.iter().any(tet_verify::repair::Edit::is_lossy), "{:?}", plan.edits);
    (bytes_of(&plan.repaired()), plan.is_whole())
}

fn ztensor(source: &Source) -> (Vec<u8>, bool) {
    let plan = tet_ztensor::repair::plan(source, &Default::default()).unwrap();
    assert!(plan.edits.iter().all(|edit| edit.losses.is_empty()), "{:?}", plan.edits);
    (bytes_of(&plan.repaired()), plan.is_whole() && plan.error_count == 0)
}

fn tensogram(source: &Source) -> (Vec<u8>, bool) {
    let plan = tet_tensogram::repair::plan(source, &Default::default()).unwrap();
    assert!(!plan.edits.iter().any(tet_tensogram::repair::Edit::is_lossy), "{:?}", plan.edits);
    (bytes_of(&plan.repaired()), plan.is_whole() && plan.error_count == 0)
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    tried: u64,
    restored: u64,
    unnoticed: u64,
    left: u64,
    other: u64,
}

/// Flips every bit; gives what came of it.
fn flipped(name: &str, good: &[u8], repair: Repair) -> Tally {
    let mut tally = Tally::default();
    for bit in 0..good.len() * 8 {
        let mut bad = good.to_vec();
        bad[bit / 8] ^= 1 << (bit % 8);
        let (repaired, is_whole) = repair(&Source::from_bytes(&*bad));
        tally.tried += 1;
        if repaired == good && is_whole {
            tally.restored += 1;
        } else if repaired != bad {
            // Changed, and not to what it was: nothing may do that.
            tally.other += 1;
            println!("{name}: bit {} of byte {} became another file", bit % 8, bit / 8);
        } else if is_whole {
            tally.unnoticed += 1;
        } else {
            tally.left += 1;
            println!("{name}: bit {} of byte {} is left", bit % 8, bit / 8);
        }
    }
    println!("{name}, {} bytes: {tally:?}", good.len());
    tally
}

/// A `.tet` file of floats and integers.
fn written(folder: &Path, codec: CodecChoice) -> Vec<u8> {
    let datasets = [
        Written {
            spec: DatasetSpec::new("a", DType::Float32, [4, 6], [4, 6]),
            elements: (0..24_u8).flat_map(|it| (f32::from(it) / 2.0).to_le_bytes()).collect(),
        },
        Written {
            spec: DatasetSpec::new("b", DType::Int16, [5], [5]),
            elements: [3_i16, 1, 4, 1, 5].iter().flat_map(|it| it.to_le_bytes()).collect(),
        },
    ];
    let options = WriteOptions { encoder: codec, ..WriteOptions::default() };
    let path = written::write_with(options, folder, "good.tet", &datasets);
    std::fs::read(path).unwrap()
}

/// The same arrays in another container.
fn converted(folder: &Path, name: &str, options: &ConvertOptions) -> Vec<u8> {
    let (from, to) = (folder.join("good.tet"), folder.join(name));
    assert!(tet_convert::writable(&to).is_ok());
    tet_convert::convert(&from, &to, options).unwrap();
    std::fs::read(to).unwrap()
}

#[test]
fn every_bit_of_a_tet_file_is_flipped_back() {
    for codec in [CodecChoice::Raw, CodecChoice::Zstd { level: 3 }] {
        let folder = tempfile::tempdir().unwrap();
        let tally = flipped("tet", &written(folder.path(), codec), tet);
        assert_eq!(tally.restored, tally.tried, "{tally:?}");
    }
}

#[test]
fn no_bit_of_a_ztensor_file_costs_a_tensor() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), CodecChoice::Raw);
    for zstd in [false, true] {
        for checksum in [Checksum::Crc32c, Checksum::Sha256] {
            let mut options = ConvertOptions::default();
            options.storage.checksum = Some(checksum);
            options.storage.codec = zstd.then_some(PayloadCodec::Zstd);
            let name = format!("{checksum:?}-{zstd}.zt");
            let tally = flipped(&name, &converted(folder.path(), &name, &options), ztensor);
            assert_eq!(tally.other, 0, "{tally:?}");
            assert!(tally.left * 100 <= tally.tried, "{tally:?}");
        }
    }
}

#[test]
fn no_bit_of_a_tensogram_file_costs_an_object() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), CodecChoice::Raw);
    let one = converted(folder.path(), "one.tgm", &ConvertOptions::default());
    let mut options = ConvertOptions::default();
    options.storage.codec = Some(PayloadCodec::Zstd);
    let zstd = converted(folder.path(), "zstd.tgm", &options);
    let files = [
        ("raw.tgm", one.clone()),
        ("zstd.tgm", zstd.clone()),
        ("three.tgm", [&one[..], &zstd, &one].concat()),
    ];
    for (name, good) in files {
        let tally = flipped(name, &good, tensogram);
        // Index frames of header and footer hold the same, and no hash covers the type: the index is
        // written anew in the other place, once a message.
        assert!(tally.other <= 3 && tally.left == 0, "{tally:?}");
    }
}
