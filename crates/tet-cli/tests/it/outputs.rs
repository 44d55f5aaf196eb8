//! Outputs: no input is overwritten, options work or are refused, and losses are reported.

mod matrix;

use std::fs;
use std::path::{Path, PathBuf};

use tet_cli::Exit;

use crate::fixtures;

/// The formats that `convert` writes.
const OUTPUTS: [&str; 9] =
    ["tet", "zt", "tgm", "safetensors", "safetensors.index.json", "npz", "npy", "raw", "csv"];

/// The formats of these that it reads.
const INPUTS: [&str; 7] =
    ["tet", "zt", "tgm", "safetensors", "safetensors.index.json", "npz", "npy"];

struct Env(tempfile::TempDir);

impl Env {
    fn new() -> Env {
        Env(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, args: &[&str]) -> (Exit, String, String) {
        fixtures::tet_in(self.0.path(), args)
    }

    /// Runs a command that must succeed; returns its output and its errors.
    fn works(&self, args: &[&str]) -> String {
        let (exit, out, err) = self.run(args);
        assert_eq!(exit, Exit::Done, "{args:?}: {err}");
        out + &err
    }

    fn refused(&self, args: &[&str]) -> String {
        let (exit, out, err) = self.run(args);
        assert_eq!((exit, out.as_str()), (Exit::Usage, ""), "{args:?}: {err}");
        err
    }

    /// The array `v`, and `in.SUFFIX` with `v` and another array for every suffix.
    fn with_inputs() -> Env {
        let env = Env::new();
        fs::write(env.path("v.npy"), npy(&noise())).expect("a file");
        fs::write(env.path("w.npy"), npy(&[1.0, 2.0])).expect("a file");
        env.works(&["convert", "--merge", "v.npy", "w.npy", "in.zt"]);
        for suffix in INPUTS {
            let input = format!("in.{suffix}");
            match suffix {
                "zt" => {}
                "npy" => drop(fs::copy(env.path("v.npy"), env.path(&input)).expect("a copy")),
                _ => drop(env.works(&["convert", "in.zt", &input])),
            }
        }
        env
    }
}

/// A `.npy` of these elements.
fn npy(elements: &[f64]) -> Vec<u8> {
    let shape = if elements.len() == 2 { "(2,)".to_owned() } else { "(64, 128)".to_owned() };
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    let header = format!("{header:<117}\n");
    let len = u16::try_from(header.len()).expect("short").to_le_bytes();
    let elements = elements.iter().flat_map(|element| element.to_le_bytes());
    [&b"\x93NUMPY\x01\x00"[..], &len, header.as_bytes()]
        .concat()
        .into_iter()
        .chain(elements)
        .collect()
}

/// Numbers that are compressible, and a NaN.
fn noise() -> Vec<f64> {
    let mut state = 7_u64;
    let mut elements: Vec<f64> = (0..64 * 128)
        .map(|at| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            f64::from(at % 90) + f64::from((state >> 60) as u8)
        })
        .collect();
    elements[5] = f64::NAN;
    elements
}

/// All files of a directory except links.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a name").path());
    let mut files: Vec<_> =
        paths.map(|path| (path.clone(), fs::read(path).expect("a file"))).collect();
    files.sort();
    files
}

#[test]
fn no_input_is_overwritten_under_any_name() {
    let env = Env::with_inputs();
    for suffix in INPUTS {
        let input = format!("in.{suffix}");
        let (hard, soft) = (format!("hard.{suffix}"), format!("soft.{suffix}"));
        fs::hard_link(env.path(&input), env.path(&hard)).expect("a link");
        std::os::unix::fs::symlink(&input, env.path(&soft)).expect("a link");
        let before = files(env.0.path());
        for output in [&input, &hard, &soft] {
            for from in [&input, &soft] {
                let printed = env.refused(&["convert", from, output, "--force"]);
                assert!(printed.contains("is the input itself"), "{printed}");
                env.refused(&["convert", from, output, "--force", "--dataset", "#0"]);
            }
            match suffix {
                "npy" => {
                    env.refused(&["cat", &input, "-o", output, "--force"]);
                    env.refused(&["query", &input, "-o", output, "--force"]);
                }
                "tet" => drop(env.refused(&["query", &input, "v", "-o", output, "--force"])),
                _ => {}
            }
            assert!(files(env.0.path()) == before, "{input} as {output}");
        }
    }
    // A shard of the input is an input too.
    let shard = "in-00001-of-00001.safetensors";
    env.refused(&["convert", "in.safetensors.index.json", shard, "--force"]);
}

/// Options, each with those that it needs.
const OPTIONS: [(&[&str], &[&str]); 22] = [
    (&["--name", "other"], &[]),
    (&["--chunks", "16,16"], &[]),
    (&["--dims", "x,y"], &[]),
    (&["--attr", "key=value"], &[]),
    (&["--codec", "raw"], &["--codec", "zstd"]),
    (&["--codec", "zstd"], &["--codec", "raw"]),
    (&["--codec", "lz4"], &[]),
    (&["--codec", "zstd", "--level", "19"], &["--codec", "zstd", "--level", "1"]),
    (&["--codec", "raw", "--level", "19"], &["--codec", "raw"]),
    (&["--align", "4096"], &[]),
    (&["--align", "4096", "--align-above", "1000000000"], &["--align", "4096"]),
    (&["--checksum", "sha256"], &[]),
    (&["--dialect", "0.1.x"], &[]),
    (&["--encoding", "simple_packing", "--bits", "12", "--masks", "all"], &[]),
    (&["--filter", "shuffle"], &[]),
    (&["--masks", "none"], &[]),
    (&["--no-digests"], &[]),
    (&["--no-history"], &[]),
    (&["--shard-size", "1KB"], &[]),
    (&["--stack", "time"], &[]),
    (&["--dataset", "nothing"], &[]),
    (&["--exclude", "v"], &[]),
];

/// No option is ignored: the output differs, or is not written.
#[test]
fn every_option_works_or_is_refused() {
    let env = Env::with_inputs();
    for suffix in OUTPUTS {
        for (option, base) in OPTIONS {
            // One tensor is always one shard.
            if suffix == "safetensors.index.json" && option[0] == "--shard-size" {
                continue;
            }
            let written = |name: &str, options: &[&str]| {
                let folder = env.path(name);
                fs::create_dir(&folder).expect("a folder");
                let output = format!("{name}/out.{suffix}");
                let (exit, _, err) = env.run(&[&["convert", "v.npy", &output], options].concat());
                let files = files(&folder)
                    .into_iter()
                    .map(|(path, bytes)| (path.file_name().expect("a name").to_owned(), bytes));
                let files: Vec<_> = files.collect();
                fs::remove_dir_all(&folder).expect("a folder");
                assert!(matches!(exit, Exit::Done | Exit::Usage), "{options:?} {suffix}: {err}");
                assert_eq!(exit == Exit::Usage, files.is_empty(), "{options:?} {suffix}: {err}");
                files
            };
            let (plain, other) = (written("plain", base), written("other", option));
            let is_refused = other.is_empty();
            assert!(is_refused || plain != other, "{option:?} is ignored by .{suffix}");
        }
    }
}

/// Messages are stacked for every output format.
#[test]
fn stacks_are_written_in_every_format() {
    let env = Env::with_inputs();
    let one = fs::read(env.path("in.tgm")).expect("a file");
    fs::write(env.path("two.tgm"), [&one[..], &one].concat()).expect("a file");
    for suffix in OUTPUTS {
        let output = format!("stack.{suffix}");
        let args = ["convert", "two.tgm", &output, "--stack", "time", "--dataset", "v", "--json"];
        let printed = env.works(&args);
        assert!(
            printed.contains("2,\n        64,\n        128\n") || printed.contains("[2, 64, 128]"),
            "{printed}"
        );
    }
}

/// The name that the command had stays accepted.
#[test]
fn export_is_convert() {
    let env = Env::new();
    fixtures::make(env.0.path());
    env.works(&["convert", "climate.tet", "one.npz"]);
    env.works(&["export", "climate.tet", "two.npz"]);
    let [one, two] = ["one.npz", "two.npz"].map(|name| fs::read(env.path(name)).expect("a file"));
    assert!(one == two && !one.is_empty());
}

/// The metadata of the input is in the output, or a note reports that it is omitted.
#[test]
fn metadata_that_an_output_cannot_store_is_reported() {
    let env = Env::with_inputs();
    let header = "{\"__metadata__\":{\"maker\":\"somebody\"},\
        \"v\":{\"dtype\":\"F32\",\"shape\":[1,1],\"data_offsets\":[0,4]}}";
    let len = u64::try_from(header.len()).expect("short").to_le_bytes();
    let bytes = [&len[..], header.as_bytes(), &[0; 4]].concat();
    fs::write(env.path("m.safetensors"), bytes).expect("a file");
    let options = ["--dims", "north,east", "--attr", "v:units=furlong"];
    env.works(&[&["convert", "m.safetensors", "attrs.tet"][..], &options].concat());
    let things = [
        (&["north", "east"][..], "dimension names"),
        (&["furlong"], "\"v\": attributes"),
        (&["somebody"], "attributes of the file"),
    ];
    for suffix in OUTPUTS {
        let output = format!("attrs.{suffix}");
        let printed = match suffix {
            "tet" => String::new(),
            _ => env.works(&["convert", "attrs.tet", &output]),
        };
        let (_, info, _) = env.run(&["info", &output, "--json", "--metadata"]);
        for (words, note) in things {
            let is_there = words.iter().all(|word| info.contains(word));
            assert!(is_there != printed.contains(note), ".{suffix}: {note}: {printed} {info}");
        }
    }
}

#[test]
fn standard_output_is_not_a_file() {
    let env = Env::with_inputs();
    for args in [
        &["convert", "in.tet", "-"][..],
        &["query", "in.tet", "v", "-o", "-"],
        &["convert", "in.tet", "-", "--to", "zarr"],
        &["convert", "in.safetensors", "-", "--to", "safetensors.index.json"],
        &["convert", "in.tet", "-", "--to", "npz", "--json"],
    ] {
        assert!(env.refused(args).contains("standard output"));
    }
    assert!(!env.path("-").exists());
    // A stream is not a file that is replaced.
    env.works(&["cat", "in.tet", "w", "-o", "/dev/null", "--format", "raw"]);
    env.refused(&["cat", "in.tet", "w", "-o", "w.npy", "--format", "csv", "--force"]);
    // --to chooses the format, whatever the suffix is; a stream has no report beside the values.
    for command in ["cat", "query"] {
        env.works(&[command, "in.tet", "w", "-o", "w.npy", "--to", "raw", "--force"]);
        assert_eq!(fs::read(env.path("w.npy")).expect("a file").len(), 16, "{command}");
        let printed = env.works(&[command, "in.tet", "w", "-o", "-", "--to", "csv"]);
        assert_eq!(printed, "w\n1.0\n2.0\n", "{command}");
        let refused = env.refused(&[command, "in.tet", "w", "-o", "x.nc", "--layout", "wide"]);
        assert!(refused.contains(".csv"), "{refused}");
    }
}

/// Every format of one file is written to standard output as to a path.
#[test]
fn files_go_to_standard_output() {
    let env = Env::with_inputs();
    let streamed = |args: &[&str]| {
        let (exit, out, err) = fixtures::tet_bytes(env.0.path(), args);
        assert_eq!(exit, Exit::Done, "{args:?}: {err}");
        out
    };
    let one = |suffix: &str| ["npy", "raw", "csv"].contains(&suffix);
    for suffix in OUTPUTS.into_iter().filter(|suffix| !suffix.ends_with("json")) {
        let path = format!("there.{suffix}");
        let only = if one(suffix) { &["--dataset", "w"][..] } else { &[] };
        env.works(&[&["convert", "in.tet", &path], only].concat());
        let wanted = fs::read(env.path(&path)).expect("a file");
        let to = ["convert", "in.tet", "-", "--to", suffix];
        assert!(streamed(&[&to, only].concat()) == wanted, "{suffix}");
        fs::remove_file(env.path(&path)).expect("a file");
        env.works(&["query", "in.tet", "w", "-o", &path]);
        let wanted = fs::read(env.path(&path)).expect("a file");
        let answer = streamed(&["query", "in.tet", "w", "-o", "-", "--to", suffix]);
        assert!(answer == wanted, "{suffix} of a query");
        fs::remove_file(env.path(&path)).expect("a file");
    }
    let tet = streamed(&["cat", "in.tet", "w", "-o", "-", "--to", "tet"]);
    fs::write(env.path("w.tet"), tet).expect("a file");
    assert_eq!(env.works(&["cat", "w.tet", "w"]), "[1. 2.]\n");
}

/// A pattern stands for all datasets whose names match, in every command that takes a dataset.
#[test]
fn commands_take_patterns() {
    let env = Env::with_inputs();
    let answers = env.works(&["query", "in.tet", "?", "--max", "--json"]);
    let names: Vec<String> = answers
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("an object"))
        .map(|answer| answer["dataset"]["name"].as_str().expect("a name").to_owned())
        .collect();
    assert_eq!(names, ["v", "w"]);
    let explained = env.works(&["explain", "in.tet", "{v,w}", "--max"]);
    assert!(explained.contains("max of v") && explained.contains("max of w"), "{explained}");
    assert_eq!(env.works(&["cat", "in.tet", "{w,v}[:1,...]"]).lines().next(), Some("v"));
    let drawn = env.works(&["plot", "in.tet", "*", "--kind", "histogram"]);
    assert_eq!(drawn.matches("histogram of").count(), 2);
    for args in [
        &["query", "in.tet", "*", "--max", "-o", "x.npy"][..],
        &["cat", "in.tet", "*", "-o", "x.npy"],
        &["cat", "in.tet", "*", "--format", "csv"],
        &["plot", "in.tet", "*", "-o", "x.svg"],
    ] {
        let refused = env.refused(args);
        assert!(refused.contains("matches 2 datasets"), "{args:?}: {refused}");
    }
    let printed = env.refused(&["query", "in.tet", "x*", "--max"]);
    assert!(printed.contains("x*"), "{printed}");
    // One that matches is as if it was named.
    env.works(&["query", "in.tet", "w*", "--max", "-o", "x.npy"]);
    env.works(&["convert", "in.tet", "w.npz", "--dataset", "{v,w}", "--exclude", "v*"]);
    let listed = env.works(&["info", "w.npz", "--json"]);
    assert!(listed.contains("\"w\"") && !listed.contains("\"v\""), "{listed}");
}

/// Inputs that cannot be converted are an error that lists all of them, or are left out with a warning for each.
#[test]
fn datasets_that_cannot_be_taken_do_not_stop_the_others() {
    let env = Env::with_inputs();
    let object = |descr: &str| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1,), }}");
        let header = format!("{header:<117}\n");
        let len = u16::try_from(header.len()).expect("short").to_le_bytes();
        [&b"\x93NUMPY\x01\x00"[..], &len, header.as_bytes(), b"\x80\x02N."].concat()
    };
    let mut zip = zip::ZipWriter::new(fs::File::create(env.path("mixed.npz")).expect("a file"));
    let members = [("a", object("|O")), ("b", npy(&[1.0, 2.0])), ("c", object("|V3"))];
    for (name, bytes) in members {
        let how = zip::write::SimpleFileOptions::default();
        zip.start_file(format!("{name}.npy"), how).expect("a member");
        std::io::Write::write_all(&mut zip, &bytes).expect("a member");
    }
    zip.finish().expect("an archive");
    for suffix in ["tet", "zt", "nc", "zarr"] {
        let output = format!("mixed.{suffix}");
        let (exit, _, err) = env.run(&["convert", "mixed.npz", &output]);
        assert_ne!(exit, Exit::Done, "{suffix}");
        let lists = err.contains("2 datasets") && err.contains("\"a\"") && err.contains("\"c\"");
        assert!(lists && err.contains("--skip-unsupported"), "{suffix}: {err}");
        assert!(!env.path(&output).exists());
        let printed = env.works(&["convert", "mixed.npz", &output, "--skip-unsupported"]);
        assert_eq!(printed.matches("warning: skipped").count(), 2, "{suffix}: {printed}");
        assert_eq!(env.works(&["cat", &output, "b"]).trim(), "[1. 2.]", "{suffix}");
    }
}

#[test]
fn numbers_name_datasets_of_archives_too() {
    let env = Env::with_inputs();
    for input in ["in.npz", "in.tet", "in.zt"] {
        let output = ["convert", input, "out.tet", "--force", "--dims", "#1=t", "--attr"];
        env.works(&[&output[..], &["#0:units=K", "--attr", ":cf:role=x"]].concat());
        let info = env.works(&["info", "out.tet", "--json", "--metadata"]);
        assert!(["\"t\"", "\"units\"", "\"cf:role\""].iter().all(|it| info.contains(it)), "{info}");
        let twice = ["convert", input, "out.tet", "--force", "--dims", "v=t,t"];
        assert!(env.refused(&twice).contains("two axes"));
    }
}

#[test]
fn more_threads_than_a_machine_has_are_refused() {
    let env = Env::with_inputs();
    for args in
        [&["convert", "in.npz", "out.tet"][..], &["verify", "in.tet"], &["query", "in.tet", "v"]]
    {
        let printed = env.refused(&[args, &["--threads", "100000"]].concat());
        assert!(printed.contains("0 to 1024"), "{printed}");
    }
}

#[test]
fn names_of_files_forge_no_lines() {
    let env = Env::with_inputs();
    let forged = "v.tet: ok\nfake.tet";
    fs::copy(env.path("in.tet"), env.path(forged)).expect("a copy");
    for args in [&["verify", forged][..], &["info", forged], &["verify", "no\nfile"]] {
        let (_, out, err) = env.run(args);
        assert!(
            !(out + &err).lines().any(|line| line.starts_with("fake") || line.starts_with("file"))
        );
    }
}
