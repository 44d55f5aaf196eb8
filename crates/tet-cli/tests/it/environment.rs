//! The environment of a process: files past 4 GiB, little memory, limits on files, directories without
//! write permission, other clocks and languages.

#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Output};

use crate::fixtures;

/// Runs a shell script in a directory; `$tet` is the program.
fn shell(folder: &Path, script: &str) -> Output {
    Command::new("sh")
        .args(["-c", script])
        .env("tet", env!("CARGO_BIN_EXE_tet"))
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .current_dir(folder)
        .output()
        .expect("sh is there")
}

fn result(output: &Output) -> (Option<i32>, String) {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

/// A `.npy` file of `row_count` rows of 4 KiB, sparse except for the last element, 42.
fn sparse(path: &Path, row_count: u64) {
    let header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({row_count}, 1024), }}");
    let mut file = File::create(path).expect("a file");
    file.write_all(b"\x93NUMPY\x01\x00\x76\x00").expect("room");
    file.write_all(format!("{header:<117}\n").as_bytes()).expect("room");
    file.seek(SeekFrom::Current(i64::try_from(row_count * 4096 - 4).expect("small")))
        .expect("seeks");
    file.write_all(&42.0_f32.to_le_bytes()).expect("room");
}

#[test]
fn e9_elements_past_32_bits_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    sparse(&folder.path().join("far.npy"), 5 << 18);
    let output = shell(folder.path(), r#""$tet" cat far.npy 'far[1310719, 1020:]' --format csv"#);
    assert_eq!(result(&output), (Some(0), "far\n0.0\n0.0\n0.0\n42.0\n".to_owned()));
}

#[test]
fn e10_a_file_twice_the_limit_of_memory_is_summed_up() {
    let folder = tempfile::tempdir().expect("a folder");
    sparse(&folder.path().join("wide.npy"), 100 << 10);
    let script = r#"ulimit -v 200000; "$tet" query wide.npy --sum -q"#;
    assert_eq!(result(&shell(folder.path(), script)), (Some(0), "42.0\n".to_owned()));
}

/// A small document may list more than memory holds: that is a limit, and no signal.
#[test]
fn e10_more_arrays_than_memory_holds_are_a_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let about = r#"{\"zarr_format\":2,\"shape\":[1],\"chunks\":[1],\"dtype\":\"|u1\",\"compressor\":null,\"fill_value\":0,\"order\":\"C\",\"filters\":null}"#;
    let arrays: Vec<String> =
        (0..120_000).map(|nth| format!(r#""a{nth}/.zarray":"{about}""#)).collect();
    let text = format!(
        r#"{{"version":1,"refs":{{".zgroup":"{{\"zarr_format\":2}}",{}}}}}"#,
        arrays.join(",")
    );
    fs::write(folder.path().join("r.json"), text).expect("written");
    let output = shell(folder.path(), r#"ulimit -v 300000; "$tet" info r.json"#);
    assert_eq!(output.status.code(), Some(4), "{}", result(&output).1);
}

#[test]
fn e1_a_limit_on_the_length_of_files_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    fixtures::make(folder.path());
    let old = fs::read(folder.path().join("climate.tet")).expect("is there");
    fs::copy(folder.path().join("climate.tet"), folder.path().join("in.tet")).expect("a file");
    // The archive is compressed, and unpacked into a scratch file first.
    for (input, wanted) in [("in.tet", "climate.tet: "), ("climate.npz", "a scratch file in ")] {
        let script = format!(r#"ulimit -f 8; "$tet" convert {input} climate.tet --force"#);
        let (code, text) = result(&shell(folder.path(), &script));
        assert_eq!(code, Some(5), "{text}");
        assert!(text.contains(&format!("cannot write {wanted}")), "{text}");
    }
    assert_eq!(fs::read(folder.path().join("climate.tet")).expect("is there"), old);
}

#[test]
fn e8_a_directory_without_write_permission_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    fixtures::make(folder.path());
    let long = format!("{}.npy", "n".repeat(300));
    // Not even the superuser can create files in these.
    for target in ["/proc/t.npy", "/sys/t.npy", "no/such/t.npy", &long] {
        let output = shell(folder.path(), &format!(r#""$tet" cat climate.tet temp -o {target}"#));
        let (code, text) = result(&output);
        assert_eq!(code, Some(5), "{text}");
        assert!(text.contains("cannot ") && text.contains(target), "{text}");
    }
}

#[test]
fn e12_what_is_written_depends_on_no_clock_language_or_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    fixtures::make(folder.path());
    let here = folder.path().display();
    let convert = format!(r#""$tet" convert "{here}/climate.npz" "{here}/new.tet" --force"#);
    let surroundings = [
        String::new(),
        "export TZ=Asia/Kathmandu LC_ALL=tr_TR.UTF-8 LANG=de_DE; umask 077;".to_owned(),
        "mkdir gone; cd gone; rmdir ../gone;".to_owned(),
        "unset HOME PATH TMPDIR; export NO_COLOR=1 COLUMNS=20;".to_owned(),
    ];
    let mut files = Vec::new();
    for around in surroundings {
        let output = shell(folder.path(), &format!("{around} {convert}"));
        let (code, text) = result(&output);
        assert_eq!(code, Some(0), "{around}: {text}");
        files.push(fs::read(folder.path().join("new.tet")).expect("is there"));
    }
    assert!(files.iter().all(|file| *file == files[0]));
}

#[test]
fn e14_readers_write_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    fixtures::make(folder.path());
    let list = || {
        let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<_> = fs::read_dir(folder.path()).expect("is there").map(name).collect();
        names.sort();
        names
    };
    let before = (list(), fs::read(folder.path().join("climate.tet")).expect("is there"));
    for args in ["info", "verify", "stats", "explain", "cat", "query"] {
        let what = if ["explain", "query"].contains(&args) { "temp --mean" } else { "" };
        let what = if args == "cat" { "temp" } else { what };
        let output = shell(folder.path(), &format!(r#""$tet" {args} climate.tet {what}"#));
        assert_eq!(output.status.code(), Some(0), "{args}: {}", result(&output).1);
    }
    assert!(before == (list(), fs::read(folder.path().join("climate.tet")).expect("is there")));
}
