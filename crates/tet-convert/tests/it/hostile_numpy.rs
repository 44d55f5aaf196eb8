//! Broken and hostile files of NumPy: an error that says what is wrong, and no output file.

use std::path::Path;

use crate::common::{fixture, npy, to_tet};
use tet_convert::{ChunkChoice, ImportOptions, Result};
use tet_io::Kind;

/// Imports these bytes; an error leaves nothing behind.
fn outcome(folder: &Path, bytes: &[u8]) -> Result<Vec<u8>> {
    let (input, output) = (folder.join("in"), folder.join("out.tet"));
    std::fs::write(&input, bytes).expect("a scratch file");
    let mut options = ImportOptions::default();
    options.sync = tet_io::publish::Sync::None;
    options.threads = 1;
    let outcome = to_tet(&input, &output, &options);
    let entries = std::fs::read_dir(folder).expect("a folder").count();
    match outcome {
        Ok(_) => {
            let written = std::fs::read(&output).expect("it was written");
            std::fs::remove_file(&output).expect("it was written");
            Ok(written)
        }
        Err(error) => {
            assert_eq!(entries, 1, "an error leaves no file: {error}");
            assert!(!error.to_string().is_empty());
            Err(error)
        }
    }
}

#[test]
fn a_changed_element_of_an_archive_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(fixture("stored.npz")).unwrap();
    // The elements of the first member, 120 bytes of float16, end before the second member.
    let second = whole.windows(4).enumerate().skip(1).find(|(_, w)| *w == b"PK\x03\x04");
    let element = second.unwrap().0 - 60;
    let mut changed = whole.clone();
    changed[element] ^= 1;
    let error = outcome(folder.path(), &changed).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("\"f2\"") && text.contains("NPZ-C1"), "{text}");
    assert_eq!(error.kind(), Kind::Format);
}

#[test]
fn bytes_after_the_array_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut twice = std::fs::read(fixture("version_1.npy")).unwrap();
    twice.extend_from_within(..);
    let error = outcome(folder.path(), &twice).unwrap_err();
    assert!(error.to_string().contains("bytes follow"), "{error}");
}

#[test]
fn claims_are_compared_with_the_bytes_before_anything_is_made() {
    let folder = tempfile::tempdir().unwrap();
    for shape in [
        "(1152921504606846976,)",
        "(1099511627776, 1048576)",
        "(18446744073709551615, 18446744073709551615)",
        "(4294967296, 4294967296, 4294967296)",
        "(1000000,)",
    ] {
        let error = outcome(folder.path(), &npy("|u1", "False", shape, &[0; 64])).unwrap_err();
        assert_eq!(error.kind(), Kind::Format, "{shape}: {error}");
    }
}

#[test]
fn the_last_of_a_name_is_read_and_overlapping_members_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(fixture("mixed.npz")).unwrap();
    // One name written over another of the same length, in both places.
    let mut doubled = whole.clone();
    for at in 0..doubled.len() - 8 {
        if doubled[at..].starts_with(b"text.npy") {
            doubled[at..at + 8].copy_from_slice(b"good.npy");
        }
    }
    // The last one is read, as NumPy does.
    assert!(outcome(folder.path(), &doubled).is_ok());

    // The second directory entry points at the first member.
    let mut overlapping = whole.clone();
    let entries = (0..whole.len() - 4).filter(|&at| whole[at..].starts_with(b"PK\x01\x02"));
    let entries = entries.collect::<Vec<_>>();
    overlapping[entries[1] + 42..entries[1] + 46].copy_from_slice(&[0; 4]);
    let error = outcome(folder.path(), &overlapping).unwrap_err();
    assert!(error.to_string().contains("overlap"), "{error}");
}

#[test]
fn a_chunk_that_memory_cannot_hold_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out.tet"));
    // 1 PiB of nothing: a file with a hole.
    let header = npy("|u1", "False", "(1125899906842624,)", &[]);
    std::fs::write(&input, &header).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&input).unwrap();
    if file.set_len(header.len() as u64 + (1 << 50)).is_err() {
        // This file system holds no such file.
        return;
    }
    let mut options = ImportOptions::default();
    options.chunks = ChunkChoice::Shape(vec![1 << 50]).into();
    let error = to_tet(&input, &output, &options).unwrap_err();
    assert_eq!(error.kind(), Kind::Limit, "{error}");
}

#[test]
fn hostile_names_are_escaped_in_messages() {
    let folder = tempfile::tempdir().unwrap();
    let mut whole = std::fs::read(fixture("mixed.npz")).unwrap();
    for at in 0..whole.len() - 8 {
        if whole[at..].starts_with(b"good.npy") || whole[at..].starts_with(b"text.npy") {
            whole[at..at + 4].copy_from_slice(b"\x1b[2J");
        }
    }
    // The second directory entry points at the first member.
    let entries = (0..whole.len() - 4).filter(|&at| whole[at..].starts_with(b"PK\x01\x02"));
    let second = entries.collect::<Vec<_>>()[1];
    whole[second + 42..second + 46].copy_from_slice(&[0; 4]);
    let error = outcome(folder.path(), &whole).unwrap_err();
    assert!(!error.to_string().contains('\u{1b}'), "{error:?}");
}
