//! Files of which a part is lost: every command reports that something is missing.

use std::fs;
use std::path::Path;

use tet_cli::Exit;
use tet_format::DType;
use tet_tensogram as tg;

use super::{done, message, opened};
use crate::fixtures::tet_in;

/// A message of two objects of these names.
fn pair(names: [&str; 2]) -> Vec<u8> {
    let objects = names.map(|name| {
        let encoded = tg::encode(DType::UInt8, &[3], &[1, 2, 3], &tg::Recipe::default());
        (name.to_owned(), encoded.expect("an object"), vec![])
    });
    message(objects.into(), &[])
}

/// Checks a file that has lost these objects, but not `a`.
fn check(folder: &Path, bytes: &[u8], lost: &[&str]) {
    fs::write(folder.join("in.tgm"), bytes).expect("a test file");
    let run = |args: &[&str]| tet_in(folder, args);
    let (exit, out, _) = run(&["info", "in.tgm"]);
    assert_eq!(exit, Exit::Format, "{out}");
    let (exit, json, _) = run(&["info", "--json", "in.tgm"]);
    assert_eq!(exit, Exit::Format);
    for name in lost {
        assert!(out.contains(&format!("! dataset {name:?}")), "{name}: {out}");
        assert!(json.contains(&format!("\"name\": {name:?}")), "{name}: {json}");
    }
    assert_eq!(run(&["stats", "in.tgm"]).0, Exit::Format);
    let (exit, out, err) = run(&["cat", "in.tgm", "a"]);
    assert_eq!((exit, out.lines().next()), (Exit::Done, Some("[1 2 3]")));
    assert!(err.contains("of this file cannot be read"), "{err}");
    let (exit, out, err) = run(&["query", "in.tgm", "a", "--sum"]);
    assert_eq!(exit, Exit::Done);
    assert!(out.contains("= 6") && (out + &err).contains("of this file cannot be read"));
    for output in ["new.tet", "new.tgm", "new.npz"] {
        let (exit, _, err) = run(&["convert", "in.tgm", output]);
        assert_eq!(exit, Exit::Format, "{output}: {err}");
        assert!(!folder.join(output).exists());
    }
    let mut args = vec!["convert", "in.tgm", "new.tet", "--force"];
    args.extend(lost.iter().flat_map(|name| ["--exclude", name]));
    done(folder, &args);
    fs::remove_file(folder.join("new.tet")).expect("the output");
}

#[test]
fn what_is_lost_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (one, two) = (pair(["a", "b"]), pair(["c", "d"]));
    // A message that is cut short, and one between others whose preamble is gone.
    let place = format!("lost_at_{}", one.len());
    check(folder, &[&one[..], &two[..two.len() - 100]].concat(), &[&place]);
    let mut gone = two.clone();
    gone[..8].fill(7);
    check(folder, &[&one[..], &gone, &pair(["e", "f"])].concat(), &[&place]);
    // Junk before the first message, and first bytes that were changed.
    check(folder, &[b"junkjunkjunk", &one[..]].concat(), &["lost_at_0"]);
    check(folder, &[&gone[..], &one].concat(), &["lost_at_0"]);
    // A broken frame: the objects after it are known by their names.
    fs::write(folder.join("in.tgm"), &two).unwrap();
    let frame = opened(&folder.join("in.tgm")).object(0, 0).unwrap().frame.at() as usize;
    let mut broken = two;
    broken[frame + 9] = 1;
    check(folder, &[&one[..], &broken].concat(), &["c", "d"]);
}

/// Zeros between messages are not a lost message.
#[test]
fn zeros_between_messages_are_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = [&pair(["a", "b"])[..], &[0; 4096], &pair(["c", "d"])].concat();
    fs::write(folder.join("in.tgm"), file).unwrap();
    assert!(!done(folder, &["info", "in.tgm"]).contains("lost"));
    done(folder, &["convert", "in.tgm", "new.tet"]);
}

#[test]
fn metadata_that_cannot_be_read_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut bytes = pair(["a", "b"]);
    // The map of the metadata frame, after the preamble and the header of the frame.
    bytes[24 + 16] = 0xFF;
    fs::write(folder.join("in.tgm"), &bytes).unwrap();
    let (exit, _, err) = tet_in(folder, &["info", "in.tgm"]);
    assert_eq!(exit, Exit::Format);
    assert!(err.contains("TGM-"), "{err}");
    let (exit, _, err) = tet_in(folder, &["convert", "in.tgm", "new.tet"]);
    assert!(exit == Exit::Format && err.contains("TGM-"), "{err}");
    done(folder, &["convert", "in.tgm", "new.tet", "--skip-unsupported"]);
}

#[test]
fn what_other_readers_refuse_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let error = tg::encode(DType::UInt8, &[1 << 63, 4, 0], &[], &tg::Recipe::default());
    assert!(matches!(error, Err(tg::Error::Unwritable { .. })));
    let with_axis = |_| {
        let encoded = tg::encode(DType::UInt8, &[3], &[1, 2, 3], &tg::Recipe::default());
        let dims = tg::Value::Array(vec![tg::Value::Text("lat".to_owned())]);
        let metadata = vec![("dims".to_owned(), dims)];
        message(vec![("a".to_owned(), encoded.expect("an object"), metadata)], &[])
    };
    fs::write(folder.join("in.tgm"), [0, 1].map(with_axis).concat()).unwrap();
    let (exit, _, err) = tet_in(folder, &["convert", "in.tgm", "new.tet", "--stack", "lat"]);
    assert_eq!(exit, Exit::Usage);
    assert!(err.contains("it has an axis \"lat\" already"), "{err}");
}
