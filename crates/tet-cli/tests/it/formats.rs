//! Requirements of the formats for every command: memory hints, malformed messages, other versions, labels.

#[allow(dead_code, reason = "each suite uses its part")]
use std::fs;
use std::path::Path;

use tet_cli::Exit;
use tet_io::Source;
use tet_tensogram::{FrameKind, Limits, TensogramFile};

use crate::fixtures::tet_in;

/// A `.npy` array of float32, 0, 1, 2, ...
fn array(folder: &Path, name: &str, extents: &[usize]) {
    let count: usize = extents.iter().product();
    let elements = (0..count).flat_map(|at| (at as f32).to_le_bytes());
    let shape: String = extents.iter().map(|extent| format!("{extent},")).collect();
    let dict = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({shape}), }}\n");
    let mut file = b"\x93NUMPY\x01\0".to_vec();
    file.extend(u16::try_from(dict.len()).expect("it works").to_le_bytes());
    file.extend(dict.bytes().chain(elements));
    fs::write(folder.join(name), file).expect("it works");
}

fn done(folder: &Path, args: &[&str]) -> (String, String) {
    let (exit, out, err) = tet_in(folder, args);
    assert_eq!(exit, Exit::Done, "{args:?}: {err}");
    (out, err)
}

fn failed(folder: &Path, args: &[&str]) -> (Exit, String) {
    let (exit, _, err) = tet_in(folder, args);
    assert_ne!(exit, Exit::Done, "{args:?}");
    (exit, err)
}

#[test]
fn an_empty_name_is_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let tensor =
        |start| format!(r#"{{"dtype":"U8","shape":[1],"data_offsets":[{start},{}]}}"#, start + 1);
    let header = format!(r#"{{"":{},"a":{}}}"#, tensor(0), tensor(1));
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.bytes().chain([7, 8]));
    fs::write(folder.join("x.safetensors"), file).unwrap();
    assert_eq!(done(folder, &["cat", "x.safetensors", ""]).0, "[7]\n");
    assert_eq!(done(folder, &["cat", "x.safetensors", "a"]).0, "[8]\n");
    let (exit, err) = failed(folder, &["cat", "x.safetensors"]);
    assert_eq!(exit, Exit::Usage, "{err}");
    assert!(err.contains("datasets: \"\", a"), "{err}");
}

#[test]
fn a_memory_hint_lowers_the_budget_and_never_raises_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    array(folder, "x.npy", &[40, 1000]);
    let plain = ["--codec", "raw", "--no-digests", "--no-history", "-f", "--chunks", "8,1000"];
    done(folder, &[&["convert", "x.npy", "x.tet"][..], &plain].concat());
    let sound = fs::read(folder.join("x.tet")).unwrap();
    let hinted = |percent_bps: u16, bytes: u32| {
        let mut file = sound.clone();
        let at = file.windows(4).position(|it| it == b"TIDX").unwrap();
        file[at + 16..at + 18].copy_from_slice(&percent_bps.to_le_bytes());
        file[at + 20..at + 24].copy_from_slice(&bytes.to_le_bytes());
        fs::write(folder.join("x.tet"), file).unwrap();
    };
    let budget = |flags: &[&str]| {
        let ask = ["explain", "x.tet", "x", "--median", "--json"];
        let (out, _) = done(folder, &[&ask[..], flags].concat());
        let found: serde_json::Value = serde_json::from_str(&out).unwrap();
        found["memory_budget"].as_u64().unwrap()
    };
    // The environment of tests has 4 GiB of memory.
    assert_eq!(budget(&[]), 1 << 30);
    hinted(0, 400_000);
    assert_eq!(budget(&[]), 400_000);
    assert_eq!(budget(&["--memory", "300000"]), 300_000);
    assert_eq!(budget(&["--memory", "3MiB"]), 3 << 20, "a flag is the caller's own word");
    let (out, _) = done(folder, &["explain", "x.tet", "x", "--median"]);
    assert!(out.contains("memory hint"), "{out}");
    let (out, _) = done(folder, &["info", "x.tet", "--all"]);
    assert!(out.contains("memory hint 400,000 bytes"), "{out}");
    let (out, _) = done(folder, &["info", "x.tet", "--json"]);
    let found: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["memory_hint"]["bytes"], 400_000);
    done(folder, &["query", "x.tet", "x", "--median"]);
    hinted(100, 0);
    assert_eq!(budget(&[]), (1 << 32) / 10_000 * 100);
    let (out, _) = done(folder, &["info", "x.tet", "--all"]);
    assert!(out.contains("memory hint 1.00 % of the memory"), "{out}");
    // More than the default.
    hinted(10_000, 0);
    assert_eq!(budget(&[]), 1 << 30);
    hinted(0, u32::MAX);
    assert_eq!(budget(&[]), 1 << 30);
    // Too little for the answer: an error, unless --memory overrides it.
    hinted(0, 1);
    let (exit, err) = failed(folder, &["query", "x.tet", "x", "--median"]);
    assert!(exit == Exit::Limit && err.contains("--memory"), "{err}");
    done(folder, &["query", "x.tet", "x", "--median", "--memory", "64MiB"]);
}

#[test]
fn chunks_are_shown_up_to_32() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    array(folder, "x.npy", &[100]);
    done(folder, &["convert", "x.npy", "x.tet", "--chunks", "1"]);
    let (out, _) = done(folder, &["info", "x.tet", "--chunks"]);
    assert!(out.contains("68 more"), "{out}");
}

/// The position of a frame among those of metadata and tensors, and its new type, or 0 to remove
/// it.
type Edit = (usize, u8);

/// A message of three objects, with some frames changed.
fn malformed(folder: &Path, name: &str, edits: &[Edit]) {
    for at in ["a", "b", "c"] {
        array(folder, &format!("{at}.npy"), &[4]);
        done(folder, &["convert", &format!("{at}.npy"), &format!("{at}.zt"), "-f"]);
    }
    let merge = ["convert", "--merge", "a.zt", "b.zt", "c.zt", "sound.tgm", "--no-digests", "-f"];
    done(folder, &merge);
    let path = folder.join("sound.tgm");
    let file = TensogramFile::open(Source::open(&path).expect("it works"), &Limits::default())
        .expect("it works");
    let message = file.message(0).expect("it works");
    let mut bytes = fs::read(&path).expect("it works");
    let ours = |kind: FrameKind| matches!(kind, FrameKind::HeaderMetadata | FrameKind::Tensor);
    let frames: Vec<_> = message.frames().iter().filter(|it| ours(it.kind())).collect();
    for &(number, kind) in edits {
        let at = usize::try_from(frames[number].at()).expect("it works");
        let end = usize::try_from(frames[number].span.end()).expect("it works");
        match kind {
            0 => bytes[at..end].fill(0),
            kind => bytes[at + 2..at + 4].copy_from_slice(&[0, kind]),
        }
    }
    fs::write(folder.join(name), bytes).expect("it works");
}

#[test]
fn every_reader_warns_of_a_malformed_message() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (footer_metadata, preceder) = (7, 8);
    let cases: [(&str, &[Edit], &str); 4] = [
        ("no metadata", &[(0, 0)], "TGM-M9"),
        ("a footer before tensors", &[(0, footer_metadata)], "TGM-F6"),
        ("two preceders", &[(1, preceder), (2, preceder)], "TGM-F7"),
        ("a preceder of nothing", &[(3, preceder)], "TGM-F7"),
    ];
    for (what, edits, rule) in cases {
        malformed(folder, "x.tgm", edits);
        let readers: [&[&str]; 6] = [
            &["info", "x.tgm"],
            &["cat", "x.tgm", "#0"],
            &["query", "x.tgm", "#0", "--sum"],
            &["stats", "x.tgm"],
            &["convert", "x.tgm", "out.tet", "-f"],
            &["convert", "x.tgm", "out.npz", "-f"],
        ];
        for args in readers {
            let (_, out, err) = tet_in(folder, args);
            let printed = out + &err;
            // If the index counts more objects than there are, some are lost.
            let is_reported = printed.contains("malformed") || what.contains("preceder");
            // The error names the first part that cannot be read.
            let is_named = printed.contains(rule) || printed.contains("is not known: TGM-");
            assert!(is_reported && is_named, "{what}, {args:?}: {printed}");
        }
        let (exit, _) = failed(folder, &["info", "x.tgm"]);
        assert_eq!(exit, Exit::Format, "{what}");
    }
    malformed(folder, "x.tgm", &[]);
    assert_eq!(done(folder, &["cat", "x.tgm", "#0"]).1, "");
}

#[test]
fn other_versions_of_ztensor_are_not_called_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for version in ["1", "2"] {
        let data =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tet-convert/tests/data");
        fs::copy(data.join(format!("ztensor{version}.zt")), folder.join("x.zt")).unwrap();
        let (out, _) = done(folder, &["info", "x.zt"]);
        assert!(out.contains(&format!("ztensor{version}")), "{out}");
        let (out, _) = done(folder, &["repair", "x.zt"]);
        assert_eq!(out, "x.zt: nothing to repair\n");
    }
}

#[test]
fn duplicate_labels_are_no_error_of_a_strict_verify() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    array(folder, "x.npy", &[3]);
    done(folder, &["convert", "x.npy", "x.tet", "--dims", "t", "--labels", "t=a,b,a"]);
    let (out, _) = done(folder, &["verify", "x.tet", "--strict"]);
    assert!(out.contains("TET-N20"), "{out}");
    let group = ["query", "x.tet", "x", "--sum", "--group-by-labels", "t"];
    done(folder, &group);
}

#[test]
fn arrays_of_many_axes_go_where_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    array(folder, "x.npy", &[1, 2, 1, 1, 1, 1, 1, 1, 3]);
    for output in ["x.zt", "x.tgm", "x.safetensors", "x.npz"] {
        done(folder, &["convert", "x.npy", output]);
    }
    for input in ["x.npy", "x.zt", "x.safetensors"] {
        let (_, err) = failed(folder, &["convert", input, "x.tet"]);
        assert!(err.contains("\"x\"") && err.contains("9 axes"), "{err}");
    }
}

#[test]
fn the_old_dialect_takes_the_level_of_its_programs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    array(folder, "x.npy", &[50_000]);
    let how = ["convert", "x.npy", "a.zt", "--dialect", "0.1.x", "--codec", "zstd"];
    done(folder, &how);
    done(folder, &[&["convert", "x.npy", "b.zt"], &how[3..], &["--level", "3"]].concat());
    assert!(fs::read(folder.join("a.zt")).unwrap() == fs::read(folder.join("b.zt")).unwrap());
}

#[test]
fn an_archive_of_nothing_is_a_file_of_no_datasets() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // The end of a zip directory that has no entries.
    fs::write(folder.join("x.npz"), [&b"PK\x05\x06"[..], &[0; 18]].concat()).unwrap();
    for output in ["x.tet", "x.zt", "x.safetensors", "y.npz"] {
        done(folder, &["convert", "x.npz", output]);
    }
}

#[test]
fn a_rewritten_file_does_not_name_its_former_writer() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rivals/tet");
    let samples = fs::read_dir(sample).unwrap().map(|it| it.unwrap().path());
    let said_of = |path: &Path| {
        let (_, out, _) = tet_in(folder, &["info", path.to_str().unwrap(), "--json"]);
        let found: serde_json::Value = serde_json::from_str(&out).unwrap_or_default();
        found["attrs"]["tool"].as_str().map(str::to_owned)
    };
    let of_others = samples.filter(|path| said_of(path).is_some_and(|tool| tool != "tet"));
    let mut count = 0;
    for path in of_others.take(3) {
        done(folder, &["convert", path.to_str().unwrap(), "out.tet", "-f"]);
        assert_eq!(said_of(&folder.join("out.tet")).as_deref(), Some("tet"));
        count += 1;
    }
    assert!(count > 0, "a sample says which program wrote it");
}

#[test]
fn axes_that_can_grow_are_shown_and_stay_so() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tet-convert/tests/data/classic.nc");
    fs::copy(data, folder.join("classic.nc")).unwrap();
    done(folder, &["convert", "classic.nc", "again.nc", "-q"]);
    for file in ["classic.nc", "again.nc"] {
        let (out, _) = done(folder, &["info", file]);
        assert!(out.contains("time (unlimited), lat"), "{file}: {out}");
        let (out, _) = done(folder, &["info", file, "--tree"]);
        assert!(out.contains("time (unlimited), lat"), "{file}: {out}");
        let (out, _) = done(folder, &["info", file, "--json"]);
        let info: serde_json::Value = serde_json::from_str(&out).unwrap();
        let datasets = info["datasets"].as_array().unwrap();
        let of = |name: &str| &datasets.iter().find(|it| it["name"] == name).unwrap()["unlimited"];
        assert_eq!(*of("f4_time"), serde_json::json!([true, false]), "{file}");
        assert_eq!(*of("f4_lat"), serde_json::Value::Null, "{file}");
    }
}

#[test]
fn what_is_sound_and_not_read_is_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("x.zarr")).unwrap();
    let store = |compressor: &str, chunk: &[u8]| {
        let document = format!(
            "{{\"zarr_format\": 2, \"shape\": [3], \"chunks\": [3], \"dtype\": \"<f4\", \"order\": \"C\", \
             \"compressor\": {{\"id\": \"{compressor}\"}}, \"filters\": null, \"fill_value\": 0}}"
        );
        fs::write(folder.join("x.zarr/.zarray"), document).unwrap();
        fs::write(folder.join("x.zarr/0"), chunk).unwrap();
    };
    let commands: [&[&str]; 7] = [
        &["cat", "x.zarr", "x"],
        &["query", "x.zarr", "x", "--mean"],
        &["explain", "x.zarr", "x", "--mean"],
        &["stats", "x.zarr", "x"],
        &["cat", "x.zarr", "x", "--format", "heatmap"],
        &["convert", "x.zarr", "x.npy", "--dataset", "x"],
        &["convert", "x.zarr", "x.tet"],
    ];
    store("pcodec", &[1, 2, 3]);
    for args in commands {
        let (exit, err) = failed(folder, args);
        assert_eq!(exit, Exit::Unsupported, "{args:?} {err}");
        assert!(err.contains("pcodec"), "{args:?} {err}");
    }
    // Statistics of all datasets omit it.
    done(folder, &["stats", "x.zarr"]);
    // A damaged payload of a codec that is read.
    store("zlib", &[1, 2, 3]);
    for args in commands.iter().filter(|args| args[0] != "explain") {
        let (exit, err) = failed(folder, args);
        assert_eq!(exit, Exit::Format, "{args:?} {err}");
    }
    assert_eq!(failed(folder, &["stats", "x.zarr"]).0, Exit::Format);
}

#[test]
fn those_who_take_all_datasets_are_told_what_is_not_listed() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tet-convert/tests/data");
    let told = "datatypes that no dataset has (20) are left out";
    for (args, count) in [
        (&["info", "types.h5"][..], 1),
        (&["stats", "types.h5"], 1),
        (&["stats", "types.h5", "--json"], 1),
        (&["diff", "types.h5", "types.h5"], 2),
        (&["diff", "types.h5", "types.h5", "--json"], 2),
        (&["stats", "types.h5", "sky"], 0),
        (&["diff", "types.h5", "types.h5", "sky"], 0),
    ] {
        let (out, err) = done(&data, args);
        assert_eq!(format!("{out}{err}").matches(told).count(), count, "{args:?}: {out}{err}");
    }
}

/// The fields of a structure are members; a file that is cut short is damaged.
#[test]
fn fields_of_structured_arrays_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let dict = "{'descr': [('t', '<f8'), ('n', '<i4')], 'fortran_order': False, 'shape': (1,), }\n";
    let mut file = b"\x93NUMPY\x01\0".to_vec();
    file.extend(u16::try_from(dict.len()).expect("it works").to_le_bytes());
    file.extend(dict.bytes().chain([0; 12]));
    fs::write(folder.path().join("s.npy"), &file).expect("it works");
    let (out, err) = done(folder.path(), &["cat", "s.npy", "s.n"]);
    assert_eq!((out.as_str(), err.as_str()), ("[0]\n", ""));
    file.truncate(14);
    fs::write(folder.path().join("s.npy"), &file).expect("it works");
    assert_eq!(failed(folder.path(), &["info", "s.npy"]).0, Exit::Format);
}

/// The only arrays of two files are compared, and what is wrong with a file is said of that file.
#[test]
fn arrays_of_two_names_are_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["frame.npy", "fr.npy"] {
        array(folder.path(), name, &[3, 2]);
    }
    let (out, err) = done(folder.path(), &["diff", "frame.npy", "fr.npy"]);
    assert_eq!(out, "");
    let note = "note: \"frame\" of frame.npy is compared with \"fr\" of fr.npy";
    assert!(err.starts_with(note), "{err}");
    let (exit, out, _) = tet_in(folder.path(), &["diff", "frame.npy", "fr.npy", "fr[0:2]"]);
    assert_eq!((exit, out.as_str()), (Exit::Done, ""));
    array(folder.path(), "more.npy", &[3, 3]);
    let (exit, out, _) = tet_in(folder.path(), &["diff", "frame.npy", "more.npy"]);
    assert_eq!(exit, Exit::No);
    assert!(out.starts_with("frame -> more\n  shape: (3, 2) -> (3, 3)\n"), "{out}");
    let args = ["diff", "frame.npy", "more.npy", "--digests", "always"];
    let (_, _, err) = tet_in(folder.path(), &args);
    for name in ["frame.npy", "more.npy"] {
        assert!(err.contains(&format!("warning: {name}: --digests always: ")), "{err}");
    }
}

/// Members of a structure, and columns of one axis, are rows of a table.
#[test]
fn structures_and_columns_are_printed_as_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let zarr = folder.path().join("run.zarr");
    fs::create_dir_all(zarr.join("events")).expect("it works");
    fs::write(zarr.join(".zgroup"), r#"{"zarr_format": 2}"#).expect("it works");
    let array = r#"{"zarr_format": 2, "shape": [3], "chunks": [3], "compressor": null, "fill_value": null,
        "order": "C", "filters": null, "dtype": [["t", "<f8"], ["n", "<i4"], ["at", "<i2", [2]]]}"#;
    fs::write(zarr.join("events/.zarray"), array).expect("it works");
    let row = |n: i32| {
        let at = [n, n + 1].map(|it| i16::try_from(it).expect("small").to_le_bytes());
        [&f64::from(n).to_le_bytes()[..], &(-n).to_le_bytes(), &at.concat()].concat()
    };
    fs::write(zarr.join("events/0"), [row(1), row(2), row(30)].concat()).expect("it works");
    let whole = "  events.t  events.n  events.at\n       1.0        -1      [1 2]\n       \
        2.0        -2      [2 3]\n      30.0       -30    [30 31]\n";
    assert_eq!(done(folder.path(), &["cat", "run.zarr", "events"]).0, whole);
    assert_eq!(done(folder.path(), &["head", "run.zarr"]).0, whole);
    let two = "  events.t  events.n\n       2.0        -2\n      30.0       -30\n";
    assert_eq!(done(folder.path(), &["cat", "run.zarr", "events.{t,n}[1:]"]).0, two);
    let lines: String = (0..50).map(|n| format!("{n},s{n}\n")).collect();
    fs::write(folder.path().join("log.csv"), format!("n,state\n{lines}")).expect("it works");
    let (out, _) = done(folder.path(), &["head", "log.csv"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((lines[0], lines[1], lines[10]), ("   n  state", "   0  s0", "   9  s9"));
    assert_eq!((lines[11], lines[12], lines[21]), ("  ...", "  40  s40", "  49  s49"));
    assert_eq!(lines[22..], ["  ... 30 more rows (use --full, or `tet convert`)"]);
    assert_eq!(done(folder.path(), &["head", "log.csv", "--full"]).0.lines().count(), 51);
}
