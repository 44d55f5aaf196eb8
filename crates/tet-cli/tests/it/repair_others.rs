//! `tet repair` of containers other than `.tet`: plans as the schema says, options, and folders.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tet_cli::Exit;

use crate::fixtures;

/// The arrays of `climate.npz` in a file of this name, of which the byte in the middle of the largest file has a flipped bit.
fn flipped(folder: &Path, name: &str, args: &[&str]) -> (std::path::PathBuf, Vec<u8>) {
    let convert = [&["convert", "climate.npz", name, "-q"], args].concat();
    let (exit, _, err) = fixtures::tet_in(folder, &convert);
    assert_eq!(exit, Exit::Done, "{err}");
    let path = largest(&folder.join(name));
    let good = fs::read(&path).expect("a file");
    let mut bad = good.clone();
    let at = bad.len() / 2;
    bad[at] ^= 4;
    fs::write(&path, bad).expect("written");
    (path, good)
}

/// The largest file of a folder, or the file itself.
fn largest(path: &Path) -> std::path::PathBuf {
    if path.is_file() {
        return path.to_path_buf();
    }
    let entries = fs::read_dir(path).expect("a folder").map(|it| largest(&it.expect("it").path()));
    entries.max_by_key(|it| fs::metadata(it).expect("a file").len()).expect("files")
}

#[test]
fn a_flipped_bit_is_put_back_in_every_format() {
    let folder = tempfile::tempdir().expect("a folder");
    fixtures::make(folder.path());
    let schema =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/schema/tet.repair.1.json");
    let schema: Value =
        serde_json::from_str(&fs::read_to_string(schema).expect("a schema")).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema that compiles");
    let crc32c: &[&str] = &["--checksum", "crc32c", "--codec", "raw"];
    for (name, args) in [("x.zt", &[][..]), ("x.npz", &[]), ("x.zarr", crc32c)] {
        let (path, good) = flipped(folder.path(), name, args);
        let (exit, out, err) = fixtures::tet_in(folder.path(), &["repair", name, "--json"]);
        assert_eq!((exit, err.as_str()), (Exit::No, ""), "{name}: {out}");
        let plan: Value = serde_json::from_str(&out).expect("JSON");
        assert!(schema.is_valid(&plan), "{name}: {out}");
        let edit = &plan["edits"][0];
        assert_eq!((&edit["proof"], &edit["applied"]), (&"digest".into(), &false.into()));
        assert_eq!(edit["offset"], good.len() / 2, "{name}: {out}");
        assert_ne!(fs::read(&path).expect("a file"), good, "a plan changes nothing");
        let (exit, out, _) = fixtures::tet_in(folder.path(), &["repair", name, "--all"]);
        assert_eq!(exit, Exit::Done, "{name}: {out}");
        assert_eq!(fs::read(&path).expect("a file"), good, "{name}");
        let (exit, out, _) = fixtures::tet_in(folder.path(), &["repair", name, "--all"]);
        assert_eq!((exit, out), (Exit::Done, format!("{name}: nothing to repair\n")));
    }
}

#[test]
fn what_cannot_be_repaired_is_said_with_the_way_out() {
    let folder = tempfile::tempdir().expect("a folder");
    fixtures::make(folder.path());
    let (path, _) = flipped(folder.path(), "x.zt", &[]);
    let mut bad = fs::read(&path).expect("a file");
    let at = bad.len() / 2 + 1;
    bad[at] ^= 1;
    fs::write(&path, &bad).expect("written");
    let (exit, out, _) = fixtures::tet_in(folder.path(), &["repair", "x.zt", "--all"]);
    assert_eq!(exit, Exit::Format, "{out}");
    for part in ["ZT-B4", "no single flipped bit explains the checksum", "tet convert --salvage"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert_eq!(fs::read(&path).expect("a file"), bad);
    for option in [&["--salvage"][..], &["--from", "climate.tet"], &["-o", "y.zt"]] {
        let args = [&["repair", "x.zt"], option].concat();
        let (exit, _, err) = fixtures::tet_in(folder.path(), &args);
        assert_eq!(exit, Exit::Usage, "{err}");
    }
    let (exit, _, err) = fixtures::tet_in(folder.path(), &["repair", "climate.npy", "--all"]);
    assert_ne!(exit, Exit::Done, "{err}");
}
