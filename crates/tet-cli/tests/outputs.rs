//! Outputs: no input is written over, options work or are refused, and what is lost is noted.

mod fixtures;

use std::fs;
use std::path::{Path, PathBuf};

use tet_cli::Exit;

/// What `convert` writes.
const OUTPUTS: [&str; 9] =
    ["tet", "zt", "tgm", "safetensors", "safetensors.index.json", "npz", "npy", "raw", "csv"];

/// What of these it reads.
const INPUTS: [&str; 7] =
    ["tet", "zt", "tgm", "safetensors", "safetensors.index.json", "npz", "npy"];

struct World(tempfile::TempDir);

impl World {
    fn new() -> World {
        World(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, args: &[&str]) -> (Exit, String, String) {
        fixtures::tet_in(self.0.path(), args)
    }

    /// Runs a command that works, and gives what it says on both streams.
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

    /// The array `v`, and a model of it and another one as `in.SUFFIX` for every suffix.
    fn with_inputs() -> World {
        let world = World::new();
        fs::write(world.path("v.npy"), npy(&noise())).expect("a file");
        fs::write(world.path("w.npy"), npy(&[1.0, 2.0])).expect("a file");
        world.works(&["convert", "v.npy", "in.zt"]);
        world.works(&["zt", "append", "in.zt", "w.npy"]);
        for suffix in INPUTS {
            let input = format!("in.{suffix}");
            match suffix {
                "zt" => {}
                "npy" => drop(fs::copy(world.path("v.npy"), world.path(&input)).expect("a copy")),
                _ => drop(world.works(&["convert", "in.zt", &input])),
            }
        }
        world
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

/// Numbers that compress some, and one that is none.
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

/// All files of a folder but links.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a name").path());
    let mut files: Vec<_> =
        paths.map(|path| (path.clone(), fs::read(path).expect("a file"))).collect();
    files.sort();
    files
}

#[test]
fn no_input_is_written_over_by_whatever_name() {
    let world = World::with_inputs();
    for suffix in INPUTS {
        let input = format!("in.{suffix}");
        let (hard, soft) = (format!("hard.{suffix}"), format!("soft.{suffix}"));
        fs::hard_link(world.path(&input), world.path(&hard)).expect("a link");
        std::os::unix::fs::symlink(&input, world.path(&soft)).expect("a link");
        let before = files(world.0.path());
        for output in [&input, &hard, &soft] {
            for from in [&input, &soft] {
                for command in ["convert", "export"] {
                    let said = world.refused(&[command, from, output, "--force"]);
                    assert!(said.contains("is the input itself"), "{said}");
                    world.refused(&[command, from, output, "--force", "--dataset", "#0"]);
                }
            }
            match suffix {
                "npy" => {
                    world.refused(&["cat", &input, "-o", output, "--force"]);
                    world.refused(&["query", &input, "-o", output, "--force"]);
                }
                "tet" => drop(world.refused(&["query", &input, "v", "-o", output, "--force"])),
                _ => {}
            }
            assert!(files(world.0.path()) == before, "{input} as {output}");
        }
    }
    // A shard of the model that is read is an input too.
    let shard = "in-00001-of-00001.safetensors";
    world.refused(&["convert", "in.safetensors.index.json", shard, "--force"]);
}

#[test]
fn messages_are_never_written_over_those_they_come_from() {
    let world = World::with_inputs();
    let one = fs::read(world.path("in.tgm")).expect("a file");
    fs::write(world.path("two.tgm"), [&one[..], &one].concat()).expect("a file");
    fs::copy(world.path("two.tgm"), world.path("v.tgm")).expect("a copy");
    fs::hard_link(world.path("v.tgm"), world.path("hard.tgm")).expect("a link");
    std::os::unix::fs::symlink("v.tgm", world.path("soft.tgm")).expect("a link");
    let before = files(world.0.path());
    for force in [&[][..], &["--force"]] {
        for target in ["v.tgm", "hard.tgm", "soft.tgm"] {
            for args in [
                &["tgm", "copy", "v.tgm", target][..],
                &["tgm", "copy", "v.tgm", target, "-w", "name=v"],
                &["tgm", "copy", "soft.tgm", target],
                &["tgm", "merge", "v.tgm", "-o", target],
                &["tgm", "merge", "in.tgm", "v.tgm", "-o", target],
                &["tgm", "merge", "v.tgm", "in.tgm", "-o", target],
            ] {
                world.refused(&[args, force].concat());
            }
        }
        // What the file says itself chooses the name.
        world.refused(&[&["tgm", "copy", "v.tgm", "[name].tgm"], force].concat());
        world.refused(&[&["tgm", "split", "v.tgm", "-o", "[name].tgm"], force].concat());
        assert!(files(world.0.path()) == before, "{force:?}");
    }
    // Others are replaced only if that is asked for, all of them or none.
    fs::write(world.path("w.tgm"), "old").expect("a file");
    let split = ["tgm", "split", "two.tgm", "-o", "[name].tgm"];
    let said = world.refused(&split);
    assert!(said.contains("exists"), "{said}");
    assert_eq!(fs::read(world.path("w.tgm")).expect("a file"), b"old");
    world.works(&[&split[..], &["--force"]].concat());
    assert_eq!(fs::read(world.path("two.tgm")).expect("a file"), [&one[..], &one].concat());
    assert!(world.works(&["verify", "--deep", "v.tgm", "w.tgm"]).contains("ok"));
    // One file that becomes one file may take its own place, by any name.
    for target in ["v.tgm", "soft.tgm"] {
        world.works(&["tgm", "set", "-s", "a=1", "v.tgm", target]);
        world.works(&["tgm", "reshuffle", "v.tgm", "-o", target]);
        assert_eq!(world.works(&["tgm", "get", "-p", "name", "v.tgm"]), "v\nv\n");
    }
}

/// Options, and those that they need.
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

/// No option is ignored: the output is another one, or there is none.
#[test]
fn every_option_works_or_is_refused() {
    let world = World::with_inputs();
    for suffix in OUTPUTS {
        for (option, base) in OPTIONS {
            // One tensor is one shard, however short shards are to be.
            if suffix == "safetensors.index.json" && option[0] == "--shard-size" {
                continue;
            }
            let written = |name: &str, options: &[&str]| {
                let folder = world.path(name);
                fs::create_dir(&folder).expect("a folder");
                let output = format!("{name}/out.{suffix}");
                let (exit, _, err) = world.run(&[&["convert", "v.npy", &output], options].concat());
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

/// Messages are stacked whatever the output is.
#[test]
fn stacks_are_written_as_everything() {
    let world = World::with_inputs();
    let one = fs::read(world.path("in.tgm")).expect("a file");
    fs::write(world.path("two.tgm"), [&one[..], &one].concat()).expect("a file");
    for suffix in OUTPUTS {
        let output = format!("stack.{suffix}");
        let args = ["convert", "two.tgm", &output, "--stack", "time", "--dataset", "v", "--json"];
        let said = world.works(&args);
        assert!(
            said.contains("2,\n        64,\n        128\n") || said.contains("[2, 64, 128]"),
            "{said}"
        );
    }
}

/// Both commands write the same bytes, or neither writes any.
#[test]
fn export_is_convert() {
    let world = World::new();
    fixtures::make(world.0.path());
    for input in ["climate.npz", "climate.tet", "model.safetensors", "fp8.safetensors", "sparse.zt"]
    {
        for suffix in OUTPUTS {
            for dataset in [&[][..], &["--dataset", "#0"]] {
                let [one, two] = ["convert", "export"].map(|command| {
                    let output = format!("same.{suffix}");
                    let (exit, _, err) = world.run(&[&[command, input, &output], dataset].concat());
                    let bytes = fs::read(world.path(&output)).ok();
                    let _ = fs::remove_file(world.path(&output));
                    fs::read_dir(world.0.path()).expect("a folder").for_each(|entry| {
                        let name = entry.expect("a name").file_name();
                        if name.to_string_lossy().starts_with("same-") {
                            fs::remove_file(world.path(&name.to_string_lossy())).expect("a file");
                        }
                    });
                    (exit, err, bytes)
                });
                assert!(one == two, "{input} {suffix} {dataset:?}: {} {}", one.1, two.1);
            }
        }
    }
}

/// What a file says beside its elements is in the output, or a note says that it is left out.
#[test]
fn what_an_output_has_no_place_for_is_noted() {
    let world = World::with_inputs();
    let header = "{\"__metadata__\":{\"maker\":\"somebody\"},\
        \"v\":{\"dtype\":\"F32\",\"shape\":[1,1],\"data_offsets\":[0,4]}}";
    let len = u64::try_from(header.len()).expect("short").to_le_bytes();
    let bytes = [&len[..], header.as_bytes(), &[0; 4]].concat();
    fs::write(world.path("m.safetensors"), bytes).expect("a file");
    let told = ["--dims", "north,east", "--attr", "v:units=furlong"];
    world.works(&[&["convert", "m.safetensors", "told.tet"][..], &told].concat());
    let things = [
        (&["north", "east"][..], "dimension names"),
        (&["furlong"], "\"v\": attributes"),
        (&["somebody"], "attributes of the file"),
    ];
    for suffix in OUTPUTS {
        let output = format!("told.{suffix}");
        let said = match suffix {
            "tet" => String::new(),
            _ => world.works(&["convert", "told.tet", &output]),
        };
        let (_, info, _) = world.run(&["info", &output, "--json", "--metadata"]);
        for (words, note) in things {
            let is_there = words.iter().all(|word| info.contains(word));
            assert!(is_there != said.contains(note), ".{suffix}: {note}: {said} {info}");
        }
    }
}

#[test]
fn standard_output_is_not_a_file() {
    let world = World::with_inputs();
    for args in [
        &["convert", "in.tet", "-"][..],
        &["export", "in.tet", "-"],
        &["query", "in.tet", "v", "-o", "-"],
        &["query", "in.tet", "v", "-o", "-", "--to", "npy"],
    ] {
        assert!(world.refused(args).contains("standard output"));
    }
    assert!(!world.path("-").exists());
    // What takes bytes as they come is no file that is replaced.
    world.works(&["cat", "in.tet", "w", "-o", "/dev/null", "--format", "raw"]);
    world.refused(&["cat", "in.tet", "w", "-o", "w.npy", "--format", "csv", "--force"]);
    world.refused(&["query", "in.tet", "w", "-o", "w.npy", "--to", "raw", "--force"]);
}

#[test]
fn numbers_name_datasets_of_archives_too() {
    let world = World::with_inputs();
    for input in ["in.npz", "in.tet", "in.zt"] {
        let output = ["convert", input, "out.tet", "--force", "--dims", "#1=t", "--attr"];
        world.works(&[&output[..], &["#0:units=K", "--attr", ":cf:role=x"]].concat());
        let info = world.works(&["info", "out.tet", "--json", "--metadata"]);
        assert!(["\"t\"", "\"units\"", "\"cf:role\""].iter().all(|it| info.contains(it)), "{info}");
        let twice = ["convert", input, "out.tet", "--force", "--dims", "v=t,t"];
        assert!(world.refused(&twice).contains("two axes"));
    }
}

#[test]
fn more_threads_than_a_machine_has_are_refused() {
    let world = World::with_inputs();
    for args in [
        &["convert", "in.npz", "out.tet"][..],
        &["export", "in.tet", "out.npz"],
        &["verify", "in.tet"],
        &["query", "in.tet", "v"],
    ] {
        let said = world.refused(&[args, &["--threads", "100000"]].concat());
        assert!(said.contains("0 to 1024"), "{said}");
    }
}

#[test]
fn names_of_files_forge_no_lines() {
    let world = World::with_inputs();
    let forged = "v.tet: ok\nfake.tet";
    fs::copy(world.path("in.tet"), world.path(forged)).expect("a copy");
    for args in [&["verify", forged][..], &["info", forged], &["verify", "no\nfile"]] {
        let (_, out, err) = world.run(args);
        assert!(
            !(out + &err).lines().any(|line| line.starts_with("fake") || line.starts_with("file"))
        );
    }
}
