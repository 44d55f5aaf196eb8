//! `tet verify` and `tet repair` of Tensogram files.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use jsonschema::Validator;
use serde_json::Value;
use tet_cli::{Exit, Streams};

/// A folder with files of messages, and the schema that plans are held against.
struct World {
    folder: tempfile::TempDir,
    validator: Validator,
}

impl World {
    fn new() -> World {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../docs/reference/schema/tet.repair.1.json");
        let schema: Value =
            serde_json::from_str(&fs::read_to_string(path).expect("a schema")).expect("JSON");
        let validator = jsonschema::validator_for(&schema).expect("a schema that compiles");
        World { folder: tempfile::tempdir().expect("a folder"), validator }
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.folder.path().join(name), bytes).expect("written");
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.path().join(name)).expect("a file")
    }

    /// What a command says, when it ends so.
    fn said(&self, exit: Exit, args: &[&str]) -> String {
        let (mut streams, out, err) = Streams::captured(b"");
        streams.world.base = self.folder.path().to_path_buf();
        let all = std::iter::once("tet").chain(args.iter().copied()).map(OsString::from);
        let found = tet_cli::run(all, &mut streams);
        let said = format!("{}{}", out.text(), err.text());
        assert_eq!(found, exit, "{args:?}: {said}");
        said
    }

    /// The answer of a command, which conforms.
    fn plan(&self, exit: Exit, args: &[&str]) -> Value {
        let out = self.said(exit, args);
        let value: Value = serde_json::from_str(&out).expect("JSON");
        let faults: Vec<String> =
            self.validator.iter_errors(&value).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{args:?}\n{faults:#?}\n{out}");
        value
    }
}

fn sample(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rivals/tgm");
    fs::read(folder.join(name)).expect("a sample")
}

#[test]
fn a_sound_file_needs_nothing() {
    let world = World::new();
    world.write("a.tgm", &sample("multi_message_3.tgm"));
    assert!(world.said(Exit::Done, &["repair", "a.tgm", "--all"]).contains("nothing to repair"));
    let plan = world.plan(Exit::Done, &["repair", "a.tgm", "--json"]);
    assert_eq!((&plan["whole"], plan["edits"].as_array().unwrap().len()), (&true.into(), 0));
    world.said(Exit::Done, &["verify", "a.tgm"]);
}

/// What an append left that was stopped: the whole messages stay byte for byte.
#[test]
fn a_cut_message_at_the_end_is_left_out() {
    let world = World::new();
    let whole = sample("multi_message_3.tgm");
    let other = sample("dt_float32_be.tgm");
    let bytes = [&whole[..], &other[..other.len() / 2]].concat();
    world.write("cut.tgm", &bytes);
    world.said(Exit::No, &["verify", "cut.tgm"]);
    let plan = world.plan(Exit::No, &["repair", "cut.tgm", "--json"]);
    assert_eq!(plan["edits"][0]["applied"], false);
    assert_eq!(world.read("cut.tgm"), bytes, "a plan changes nothing");
    assert_eq!(plan["edits"][0]["withheld"], true);
    let said = world.said(Exit::No, &["repair", "cut.tgm", "--all", "-o", "mended.tgm"]);
    assert!(said.contains("--salvage"), "{said}");
    assert!(!world.folder.path().join("mended.tgm").exists(), "nothing is lost unasked");
    world.said(Exit::No, &["repair", "cut.tgm", "--all", "--salvage", "-o", "mended.tgm"]);
    assert_eq!(world.read("cut.tgm"), bytes);
    assert!(world.read("mended.tgm").starts_with(&whole));
    world.said(Exit::Done, &["verify", "mended.tgm"]);
    world.said(Exit::Usage, &["repair", "cut.tgm", "--all", "--salvage", "-o", "mended.tgm"]);
    world.write("cut.tgm.bak", b"an older one");
    world.said(Exit::No, &["repair", "cut.tgm", "--all", "--salvage"]);
    assert_eq!(world.read("cut.tgm.bak"), b"an older one");
    assert_eq!(world.read("cut.tgm.bak.1"), bytes, "the damaged file is kept");
    world.said(Exit::Done, &["repair", "cut.tgm"]);
}

/// Damaged elements stay until they are to go; a bit comes back by itself.
#[test]
fn damaged_objects_stay_or_go() {
    let world = World::new();
    let bytes = sample("multi_object_mixed.tgm");
    let mut bad = bytes.clone();
    let at = bad.windows(4).rposition(|it| it == b"ENDF").unwrap() - 60;
    bad[at] ^= 0x10;
    world.write("bit.tgm", &bad);
    let plan = world.plan(Exit::Done, &["repair", "bit.tgm", "--all", "--json"]);
    assert_eq!(plan["edits"][0]["proof"], "digest");
    world.said(Exit::Done, &["verify", "bit.tgm"]);
    bad[at..at + 8].fill(0xA5);
    world.write("more.tgm", &bad);
    let said = world.said(Exit::No, &["verify", "more.tgm"]);
    assert!(said.contains("TGM-F10"), "{said}");
    let said = world.said(Exit::Format, &["repair", "more.tgm"]);
    assert!(said.contains("--salvage"), "{said}");
    let plan = world
        .plan(Exit::No, &["repair", "more.tgm", "--salvage", "--all", "--no-backup", "--json"]);
    assert!(plan["backup"].is_null() && !world.folder.path().join("more.tgm.bak").exists());
    world.said(Exit::Done, &["verify", "more.tgm"]);
}

/// A file that has lost its first bytes is known by its first frame.
#[test]
fn a_lost_magic_is_written_anew() {
    let world = World::new();
    let mut bytes = sample("dt_float32_be.tgm");
    let whole = bytes.clone();
    bytes[..8].fill(1);
    world.write("headless.tgm", &bytes);
    world.said(Exit::Done, &["repair", "headless.tgm", "--all"]);
    world.said(Exit::Done, &["verify", "headless.tgm"]);
    assert_eq!(world.read("headless.tgm")[..24], whole[..24]);
}

#[test]
fn options_that_mean_nothing_are_refused() {
    let world = World::new();
    let bytes = sample("dt_float32_be.tgm");
    world.write("cut.tgm", &bytes[..bytes.len() - 9]);
    world.said(Exit::Usage, &["repair", "cut.tgm", "-o", "b.tgm"]);
    world.said(Exit::Usage, &["repair", "cut.tgm", "--from", "b.tgm", "--all"]);
    world.said(Exit::Usage, &["repair", "cut.tgm", "--apply", "TGM-K1"]);
    world.write("nothing.tgm", b"TENSOGRM\0\x03\0\0");
    let said = world.said(Exit::Format, &["repair", "nothing.tgm", "--all"]);
    assert!(said.contains("nothing can be done"), "{said}");
}
