//! A container of another crate is added with one directory and one line, and every command supports it.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

#[path = "container/toy.rs"]
mod toy;

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use tet_cli::{Exit, Streams};

/// Runs a command on files of a folder.
fn tet(folder: &Path, args: &[&str]) -> (Exit, String, String) {
    let (mut streams, out, err) = Streams::captured(b"");
    streams.env.base = folder.to_path_buf();
    let args = std::iter::once("tet").chain(args.iter().copied()).map(OsString::from);
    let exit = tet_cli::run(args, &mut streams);
    (exit, out.text(), err.text())
}

#[test]
fn a_toy_container_is_added_with_one_line() {
    tet_convert::register(&toy::Toy);
    let folder = tempfile::tempdir().unwrap();
    let done = |args: &[&str]| {
        let (exit, out, err) = tet(folder.path(), args);
        assert_eq!(exit, Exit::Done, "{args:?}: {out}{err}");
        out
    };
    let elements: Vec<u8> = (0..6_i16).flat_map(i16::to_le_bytes).chain([7, 8]).collect();
    let toy = [&b"TOY1\na int16 2 3\nb uint8 2\n\n"[..], &elements].concat();
    fs::write(folder.path().join("x.toy"), &toy).unwrap();

    let info = done(&["info", "x.toy"]);
    assert!(info.contains("toy") && info.contains("int16"), "{info}");
    assert_eq!(done(&["cat", "x.toy", "a[1]", "--format", "csv"]), "a\n3\n4\n5\n");
    assert_eq!(done(&["query", "x.toy", "a", "--sum", "-q"]), "15\n");
    assert!(done(&["stats", "x.toy"]).contains('5'));
    done(&["verify", "x.toy"]);

    // To and from every container that stores both arrays.
    for suffix in ["tet", "zt", "tgm", "safetensors", "npz"] {
        let (there, back) = (format!("x.{suffix}"), format!("{suffix}.toy"));
        done(&["convert", "x.toy", &there, "-q"]);
        done(&["convert", &there, &back, "-q"]);
        assert_eq!(fs::read(folder.path().join(&back)).unwrap(), toy, "{suffix}");
    }
    let (exit, _, err) = tet(folder.path(), &["convert", "x.toy", "y.toy", "--chunks", "1,1"]);
    assert_eq!(exit, Exit::Usage, "{err}");
    assert!(err.contains(".toy does not support --chunks"), "{err}");

    fs::write(folder.path().join("bad.toy"), &toy[..toy.len() - 1]).unwrap();
    let (exit, out, _) = tet(folder.path(), &["verify", "bad.toy"]);
    assert!(exit != Exit::Done && out.contains("TOY-2"), "{out}");
    let (exit, _, err) = tet(folder.path(), &["info", "bad.toy"]);
    assert!(exit == Exit::Format && err.contains("TOY-2"), "{err}");
}
