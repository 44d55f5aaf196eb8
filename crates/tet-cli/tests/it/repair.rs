//! `tet repair` and `tet digest` on damaged files: all JSON output matches the schema.

use std::fs;
use std::path::Path;

use jsonschema::Validator;
use serde_json::{Value, json};
use tet_cli::Exit;
use tet_file::{OpenOptions, TetFile};
use tet_format::digest::{BLOCK_MAGIC, DigestBlock};
use tet_format::footer::{TAIL_LEN, Tail};
use tet_io::Source;

use crate::fixtures;

/// A directory of files, and the schema of the answers.
struct Env {
    folder: tempfile::TempDir,
    validator: Validator,
}

impl Env {
    /// The files of [`fixtures`], and `bare.tet`, which is `climate.tet` without digests.
    fn new(schema: &str) -> Env {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/schema").join(schema);
        let schema = fs::read_to_string(path).expect("a schema");
        let schema: Value = serde_json::from_str(&schema).expect("JSON");
        assert!(jsonschema::meta::is_valid(&schema));
        let validator = jsonschema::validator_for(&schema).expect("a schema that compiles");
        let folder = tempfile::tempdir().expect("a folder");
        fixtures::make(folder.path());
        let env = Env { folder, validator };
        env.write("bare.tet", &bare(&env.read("climate.tet")));
        env
    }

    /// The answer of a command; it must match the schema.
    fn answer(&self, exit: Exit, args: &[&str]) -> Value {
        let (found, out, err) = fixtures::tet_in(self.folder.path(), args);
        assert_eq!((found, err.as_str()), (exit, ""), "{args:?}: {out}");
        let value: Value = serde_json::from_str(&out).expect("JSON");
        let fault =
            |fault: jsonschema::ValidationError<'_>| format!("{}: {fault}", fault.instance_path());
        let faults: Vec<String> = self.validator.iter_errors(&value).map(fault).collect();
        assert!(faults.is_empty(), "{args:?}\n{faults:#?}\n{out}");
        value
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.path().join(name)).expect("a file")
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.folder.path().join(name), bytes).expect("written");
    }
}

fn open(bytes: &[u8]) -> TetFile {
    TetFile::open(Source::from_bytes(bytes), &OpenOptions::default()).expect("sound")
}

/// The file without digests.
fn bare(bytes: &[u8]) -> Vec<u8> {
    let (file, block) = (open(bytes), block(bytes));
    let start = json_at(bytes);
    let end = bytes.len() - usize::try_from(TAIL_LEN).expect("small");
    let json = str::from_utf8(&bytes[start..end]).expect("text");
    let (members, _) = json.split_once(",\"integrity\"").expect("the last member");
    let json = format!("{members}}}");
    let tail = Tail { json_len: json.len() as u64, version: file.footer().version };
    [&bytes[..block], json.as_bytes(), &tail.encode()].concat()
}

fn json_at(bytes: &[u8]) -> usize {
    usize::try_from(open(bytes).footer().json_at).expect("small")
}

/// The offset of the digests.
fn block(bytes: &[u8]) -> usize {
    bytes.windows(4).rposition(|it| it == BLOCK_MAGIC).expect("a block")
}

/// Changes nine bytes of the first payload: more than a flipped bit.
fn payload(bytes: &mut [u8]) {
    let at = usize::try_from(open(bytes).index_end()).expect("small") + 64;
    bytes[at..at + 9].fill(3);
}

/// Changes three bytes of the digest of the first payload.
fn digest(bytes: &mut [u8]) {
    let at = block(bytes);
    let row_count = open(bytes).index().row_count();
    let header = bytes[at..].first_chunk().expect("a header");
    let block = DigestBlock::read(header, at as u64, row_count).expect("sound");
    let at = usize::try_from(block.chunk_at(0)).expect("small");
    bytes[at..at + 3].fill(0x77);
}

/// Overwrites the first bytes of a row: 72 contain its chunk, 80 the offset of its payload too.
fn row(bytes: &mut [u8], len: usize) {
    let at = usize::try_from(open(bytes).index().row_at(2)).expect("small");
    bytes[at..at + len].fill(0x11);
}

/// Makes the JSON of the history invalid.
fn history(bytes: &mut [u8]) {
    let at = bytes.windows(4).rposition(|it| it == b"\"op\"").expect("a history");
    bytes[at..at + 4].fill(0);
}

/// Rewrites the footer as a program that does not know digests.
fn stale(bytes: &mut Vec<u8>) {
    let (at, bare) = (json_at(bytes), bare(bytes));
    bytes.truncate(at);
    bytes.extend_from_slice(&bare[json_at(&bare)..]);
}

/// A file, its damage, the options of its repair, and the start of the first edit's action.
type Case = (&'static str, fn(&mut Vec<u8>), &'static [&'static str], &'static str);

const CASES: &[Case] = &[
    ("climate.tet", |it| it[3000] ^= 0x10, &[], "flip bit 4 back"),
    ("bare.tet", |it| it[..4].fill(b'?'), &[], "set magic from"),
    ("bare.tet", |it| row(it, 72), &[], "set row 2 from"),
    ("climate.tet", |it| row(it, 80), &[], "set row 2 from"),
    ("climate.tet", |it| digest(it), &[], "set a digest to"),
    ("bare.tet", |it| it[52] = 3, &[], "write zeros"),
    ("bare.tet", |it| it.extend(b"junk"), &["--salvage"], "cut off what follows"),
    ("bare.tet", |it| it.truncate(it.len() - 9), &[], "rewrite the tail"),
    ("bare.tet", |it| it[12] = 0, &[], "set the flag"),
    (
        "bare.tet",
        |it| it.truncate(usize::try_from(open(it).payload_end()).expect("small")),
        &["--salvage"],
        "clear the flag",
    ),
    ("bare.tet", |it| history(it), &["--salvage"], "build a footer"),
    ("climate.tet", |it| history(it), &["--salvage"], "build a footer"),
    ("climate.tet", |it| stale(it), &[], "compute digests"),
    ("climate.tet", |it| payload(it), &["--from", "climate.tet"], "copy the payload"),
    ("climate.tet", |it| payload(it), &["--salvage"], "fill the lost elements"),
];

#[test]
fn every_action_is_planned_and_made_as_the_schema_says() {
    let env = Env::new("tet.repair.1.json");
    for (file, damage, with, action) in CASES {
        let mut bytes = env.read(file);
        damage(&mut bytes);
        env.write("bad.tet", &bytes);
        let args = [&["repair", "bad.tet", "--json"], *with].concat();
        let plan = env.answer(Exit::No, &args);
        let first = &plan["edits"][0];
        assert!(first["action"].as_str().expect("text").starts_with(action), "{action}: {plan}");
        assert_eq!((&plan["whole"], &first["applied"]), (&true.into(), &false.into()), "{action}");
        let args = [&args[..], &["--all", "-o", "good.tet", "--force"]].concat();
        let is_lossy = with.contains(&"--salvage");
        let made = env.answer(if is_lossy { Exit::No } else { Exit::Done }, &args);
        if *action == "clear the flag" {
            assert_eq!(made["output"], Value::Null, "nothing is gained");
            continue;
        }
        assert_eq!(made["output"], "good.tet");
        for edit in made["edits"].as_array().expect("edits") {
            assert_eq!(edit["applied"], true, "{action}: {edit}");
        }
        let again = env.answer(Exit::Done, &["repair", "good.tet", "--json"]);
        assert_eq!(again["edits"], json!([]), "{action}");
    }
}

#[test]
fn what_is_lost_and_what_is_left_is_as_the_schema_says() {
    let env = Env::new("tet.repair.1.json");
    let mut bytes = env.read("climate.tet");
    payload(&mut bytes);
    env.write("lost.tet", &bytes);
    let lost = env.answer(Exit::Format, &["repair", "lost.tet", "--json"]);
    assert_eq!(lost["lost"][0]["dataset"], "temp");
    let filled = env.answer(Exit::No, &["repair", "lost.tet", "--json", "--salvage"]);
    assert_eq!(filled["edits"][0]["losses"].as_array().map(Vec::len), Some(1));
    let left = env.answer(Exit::Format, &["repair", "truncated.tet", "--json"]);
    assert_eq!((&left["whole"], &left["remaining"][0]["code"]), (&false.into(), &"TET-S4".into()));
    // Make one of two edits; the error of the other remains.
    let mut bytes = env.read("climate.tet");
    bytes[0] = b'?';
    *bytes.last_mut().expect("a file") ^= 1;
    env.write("twice.tet", &bytes);
    let args = ["repair", "twice.tet", "--json", "--apply", "TET-S2", "-o", "once.tet"];
    let once = env.answer(Exit::No, &args);
    let applied: Vec<&Value> =
        once["edits"].as_array().expect("edits").iter().map(|edit| &edit["applied"]).collect();
    assert_eq!(applied, [false, true]);
    assert_eq!(once["remaining"].as_array().map(Vec::len), Some(1), "{once}");
    let sound = env.answer(Exit::Done, &["repair", "climate.tet", "--json"]);
    assert_eq!((&sound["whole"], &sound["output"]), (&true.into(), &Value::Null));
}

#[test]
fn digests_are_added_as_the_schema_says() {
    let env = Env::new("tet.edit.1.json");
    let add = ["edit", "repack", "bare.tet", "--digests", "--json"];
    let other = env.answer(Exit::Done, &[&add[..], &["-o", "other.tet"]].concat());
    assert_eq!((&other["file"], &other["output"]), (&"bare.tet".into(), &"other.tet".into()));
    assert_eq!(other["file_len"], env.read("other.tet").len());
    let added = env.answer(Exit::Done, &add);
    assert_eq!(added["edits"][0]["kind"], "digests");
    assert!(env.read("bare.tet") == env.read("other.tet"), "the same file");
    let again = env.answer(Exit::Done, &add);
    assert!(again["file_len"].is_null() && again["edits"] == json!([]), "{again}");
}

#[test]
fn digests_are_listed_and_compared_as_the_schema_says() {
    let env = Env::new("tet.digest.1.json");
    for file in ["climate.tet", "climate.npz"] {
        let sum = format!("{file}.sum");
        let created = env.answer(Exit::Done, &["digest", "create", file, "--json"]);
        assert_eq!(created["output"], sum.as_str());
        let same = env.answer(Exit::Done, &["digest", "check", &sum, "--json"]);
        assert_eq!((&same["ok"], &same["file"]), (&true.into(), &file.into()));
        let mut bytes = env.read(file);
        bytes[3000] ^= 1;
        env.write("other", &bytes);
        let changed = env.answer(Exit::No, &["digest", "check", &sum, "other", "--json"]);
        assert_eq!(changed["differs"], json!([{ "offset": 0, "len": bytes.len() }]));
        let what = |held: &Value| held["what"].as_str().expect("text").to_owned();
        let held: Vec<String> =
            changed["holds"].as_array().expect("a list").iter().map(what).collect();
        match file {
            "climate.npz" => assert!(held.is_empty()),
            _ => assert!(held.iter().any(|it| it == "chunk") && held.len() == 7, "{held:?}"),
        }
    }
}

/// `rows.tet`: 300 numbers, each in a chunk.
fn rows(folder: &Path) -> Vec<u8> {
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (300,), }";
    let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    npy.extend(format!("{header:<117}\n").bytes());
    npy.extend((0..300).flat_map(|it| (1e6 + f64::from(it)).to_le_bytes()));
    fs::write(folder.join("x.npy"), npy).expect("written");
    let args = ["convert", "x.npy", "rows.tet", "--chunks", "1", "--codec", "raw", "-q"];
    let (exit, _, err) = fixtures::tet_in(folder, &args);
    assert_eq!(exit, Exit::Done, "{err}");
    fs::read(folder.join("rows.tet")).expect("a file")
}

/// Where the stored bytes of a row are.
fn place(bytes: &[u8], row: u32) -> usize {
    let wanted = (1e6 + f64::from(row)).to_le_bytes();
    bytes.windows(8).position(|it| it == wanted).expect("raw elements")
}

#[test]
fn all_damaged_chunks_are_named_where_errors_are_more_than_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut bytes = rows(folder.path());
    for row in 100..250 {
        let at = place(&bytes, row);
        bytes[at] ^= 0xff;
    }
    fs::write(folder.path().join("rows.tet"), &bytes).expect("written");
    let (exit, out, _) = fixtures::tet_in(folder.path(), &["verify", "rows.tet"]);
    assert_eq!(exit, Exit::No);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].contains("150 errors"), "{out}");
    assert_eq!(lines[1], "  cannot be read: x: x 100..249", "{out}");
}

#[test]
fn a_file_that_is_cut_short_is_one_fact() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = rows(folder.path());
    let at = place(&bytes, 200);
    fs::write(folder.path().join("rows.tet"), &bytes[..at]).expect("written");
    let (exit, out, _) = fixtures::tet_in(folder.path(), &["verify", "rows.tet"]);
    assert_eq!(exit, Exit::No);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 3, "{out}");
    let digits = |text: &str| text.replace(',', "");
    assert!(digits(lines[0]).contains(&format!("truncated: {at} of at least ")), "{out}");
    assert_eq!(lines[1], "  cannot be read: x: x 200..299", "{out}");
    assert!(lines[2].ends_with("errors in all: --json lists them"), "{out}");
    let (_, out, _) = fixtures::tet_in(folder.path(), &["verify", "rows.tet", "--json"]);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    let count = report["findings"].as_array().map(Vec::len);
    assert!(count.is_some_and(|count| count < 80), "{count:?}");
    assert!(report["omitted"][0]["count"].as_u64().is_some_and(|it| 20 < it), "{out}");
}
