//! Claims of `docs/limits.md` and the pages of formats: what they deny is a command that is refused, with a way out.
//!
//! The tables of the page come from the containers, and so do the cases of the first three tests; the sentences are rows of
//! [`DENIED`].

use std::fs;
use std::path::Path;

use tet_cli::Exit;
use tet_convert::{Container, EditKind, OpenOptions, containers};

use crate::fixtures::{self, tet_in};

/// Files of the repository that no command writes.
const SAMPLES: [(&str, &str); 8] = [
    ("one.zt", "../tet-convert/tests/data/ztensor1.zt"),
    ("two.zt", "../tet-convert/tests/data/ztensor2.zt"),
    ("cube.fits", "../tet-convert/tests/data/cube.fits"),
    ("texts.h5", "../tet-convert/tests/data/texts.h5"),
    ("objects.npy", "../tet-convert/tests/data/refused_object.npy"),
    ("nine.npy", "../tet-convert/tests/data/refused_rank_9.npy"),
    ("checkpoint.pt", "tests/fixtures/checkpoint.pt"),
    ("run.h5", "tests/fixtures/run.h5"),
];

/// A file of each container that is opened, by the name of its format, but for an index of PyTorch.
const FILES: [(&str, &str); 17] = [
    ("tet", "climate.tet"),
    ("tets", "c.tets"),
    ("ztensor", "c.zt"),
    ("ztensor1", "one.zt"),
    ("ztensor2", "two.zt"),
    ("tensogram", "c.tgm"),
    ("hdf5", "c.nc"),
    ("safetensors", "model.safetensors"),
    ("safetensors-index", "c.safetensors.index.json"),
    ("zarr", "c.zarr"),
    ("torch", "checkpoint.pt"),
    ("npz", "climate.npz"),
    ("npy", "scalar.npy"),
    ("netcdf3", "c.nc3"),
    ("gguf", "weights.gguf"),
    ("fits", "cube.fits"),
    ("csv", "rain.csv"),
];

/// A folder with a file of each container.
fn files() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fixtures::make(folder.path());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, sample) in SAMPLES {
        fs::copy(root.join(sample), folder.path().join(name)).unwrap();
    }
    for output in ["c.tets", "c.zt", "c.tgm", "c.nc", "c.zarr", "c.nc3", "c.safetensors.index.json"]
    {
        let (exit, _, err) = tet_in(folder.path(), &["convert", "climate.tet", output]);
        assert_eq!(exit, Exit::Done, "{output}: {err}");
    }
    let convert = ["convert", "climate.tet", "c.raw", "--dataset", "lat"];
    assert_eq!(tet_in(folder.path(), &convert).0, Exit::Done);
    let mut messages = fs::read(folder.path().join("c.tgm")).unwrap();
    messages[9] = 2;
    fs::write(folder.path().join("v2.tgm"), messages).unwrap();
    fs::write(folder.path().join("float6.safetensors"), float6()).unwrap();
    folder
}

/// Four elements of a type that nothing computes with.
fn float6() -> Vec<u8> {
    let header = r#"{"x":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3]}}"#;
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 3]].concat()
}

/// A container that is opened, and a file of it.
struct Sample {
    container: &'static dyn Container,
    file: &'static str,
}

/// The containers of which there is a file.
fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for container in containers() {
        let name = container.format().name();
        if !["raw", "json", "torch-index"].contains(&name) {
            let file = FILES.iter().find(|(format, _)| *format == name).map(|(_, file)| *file);
            let file = file.unwrap_or_else(|| panic!("add a file of {name} to the table"));
            samples.push(Sample { container, file });
        }
    }
    samples
}

/// Runs a command that is refused; its message.
fn refused(folder: &Path, args: &[&str], wanted: Exit) -> String {
    let (exit, out, err) = tet_in(folder, args);
    assert_eq!((exit, out.as_str()), (wanted, ""), "{args:?}: {err}");
    err
}

/// Options of an edit of a dataset of some rank.
fn edit(kind: EditKind, dataset: &str, rank: usize) -> Option<Vec<String>> {
    let words = |text: String| text.split('\n').map(str::to_owned).collect();
    let dims: Vec<String> = (0..rank).map(|axis| format!("a{axis}")).collect();
    Some(match kind {
        EditKind::Rename => words(format!("rename\nFILE\n{dataset}=other")),
        EditKind::Drop => words(format!("drop\nFILE\n{dataset}")),
        EditKind::Attr => words(format!("set\nFILE\n{dataset}:key=value")),
        EditKind::FileAttr => words("set\nFILE\nkey=value".to_owned()),
        EditKind::Dims => words(format!("set\nFILE\n--dims\n{dataset}={}", dims.join(","))),
        EditKind::Compact => words("compact\nFILE".to_owned()),
        EditKind::Append => words("append\nFILE\nFILE\n--axis\n0".to_owned()),
        EditKind::Repack => words("repack\nFILE\n--codec\nraw".to_owned()),
        EditKind::Reserve => words("repack\nFILE\n--reserve-rows\n9".to_owned()),
        // Axes have labels where they have names.
        EditKind::Labels => return None,
    })
}

#[test]
fn edits_that_a_container_lacks_are_refused() {
    use EditKind::{Append, Attr, Compact, Dims, Drop, FileAttr, Rename, Repack, Reserve};
    let folder = files();
    let mut count = 0;
    for Sample { container, file } in samples() {
        let opened = tet_convert::open(folder.path().join(file), &OpenOptions::default()).unwrap();
        assert_eq!(opened.format, container.format(), "{file}");
        let dataset = opened.catalog.datasets().iter().find(|it| it.fault.is_none()).unwrap();
        let can = container.editor().map(|it| it.can()).unwrap_or_default();
        for kind in [Rename, Drop, Attr, FileAttr, Dims, Compact, Append, Repack, Reserve] {
            let Some(options) = edit(kind, &dataset.name, dataset.grid.rank()) else { continue };
            let options = options.iter().map(|it| if it == "FILE" { file } else { it });
            let args: Vec<&str> = ["edit"].into_iter().chain(options).collect();
            if can.contains(&kind) {
                continue;
            }
            let err = refused(folder.path(), &args, Exit::Usage);
            let says = err.contains(kind.instead()) || err.contains("`tet convert FILE OUT.tet");
            assert!(says, "{args:?}: {err}");
            count += 1;
        }
    }
    assert!(50 < count, "{count}");
}

#[test]
fn outputs_that_are_not_written_are_refused() {
    let folder = files();
    for container in containers().into_iter().filter(|it| it.writer().is_none()) {
        for suffix in container.suffixes() {
            let output = format!("out.{suffix}");
            if tet_convert::writable(Path::new(&output)).is_ok() {
                continue;
            }
            let err = refused(folder.path(), &["convert", "climate.tet", &output], Exit::Usage);
            assert!(err.contains("  write a "), "{err}");
            assert!(!folder.path().join(output).exists());
        }
    }
}

#[test]
fn files_without_checksums_are_never_verified_nor_repaired() {
    let folder = files();
    for Sample { container, file } in samples() {
        let name = container.format().name();
        if !container.has_checksums() {
            let (exit, out, _) = tet_in(folder.path(), &["verify", file]);
            assert_eq!(exit, Exit::Done, "{file}");
            assert!(out.contains("has no checksums of all values"), "{file}: {out}");
            let err = refused(folder.path(), &["repair", file], Exit::Usage);
            assert!(err.contains("`tet verify` lists its errors"), "{err}");
        } else {
            assert!(container.repairer().is_some() || name.starts_with("tet"), "{name}");
        }
    }
}

/// A sentence of a page, as a command.
struct Denied {
    args: &'static str,
    exit: Exit,
    /// A part of the message: what to do.
    way: &'static str,
}

const fn denied(args: &'static str, exit: Exit, way: &'static str) -> Denied {
    Denied { args, exit, way }
}

/// Arguments are between blanks.
#[rustfmt::skip]
const DENIED: &[Denied] = &[
    // docs/limits.md, formats.
    denied("info c.raw", Exit::Unsupported, "give it a header with NumPy"),
    denied("info v2.tgm", Exit::Format, "write them again"),
    denied("info forecast.grib", Exit::Unsupported, "convert it to NetCDF: cdo"),
    // docs/limits.md, the facts in their order.
    denied("convert run.h5 out.tet", Exit::Unsupported, "--exclude \"entry/old\""),
    denied("convert climate.npz https://example.org/x.nc", Exit::Usage, "s3://BUCKET/KEY"),
    denied("query climate.tet temp --weights lat", Exit::Usage, "mean(weights="),
    denied("query climate.tet temp --add 3", Exit::Usage, "in Python"),
    denied("query climate.tet temp --monthly", Exit::Usage, "groupby"),
    denied("cat climate.tet temp[lat=1.25]", Exit::Usage, "the labels around it are"),
    denied("query climate.tet temp --median --window month:3", Exit::Usage, "such as \"mean\""),
    denied("query climate.tet temp --quantile 0.5 --window month:3", Exit::Usage, "such as \"mean\""),
    denied("query climate.tet temp --histogram 3 --window month:3", Exit::Usage, "such as \"mean\""),
    denied("query texts.h5 fixed --mean", Exit::Usage, "tet cat prints it"),
    denied("plot texts.h5 fixed", Exit::Unsupported, "`tet cat` prints texts"),
    denied("query float6.safetensors x --mean", Exit::Unsupported, "tet convert copies such a dataset"),
    denied("plot climate.tet temp", Exit::Usage, "select one position of an axis"),
    denied("plot climate.tet temp[0] --log", Exit::Usage, "in Python"),
    denied("plot climate.tet temp[0] --projection mollweide", Exit::Usage, "in Python"),
    denied("dump climate.npz", Exit::Usage, "`tet info --layout`"),
    denied("refs climate.npz -o out.json", Exit::Unsupported, "--skip-unsupported"),
    denied("repair c.tets", Exit::Usage, "`tet verify`"),
    denied("info objects.npy", Exit::Unsupported, "save it with a numeric dtype"),
    // docs/formats.
    denied("convert nine.npy out.tet", Exit::Usage, ".zt, .tgm and .safetensors have more"),
    denied("convert float6.safetensors out.csv", Exit::Unsupported, "--exclude"),
    denied("convert appended.safetensors out.tet", Exit::Format, "cut them off"),
    denied("convert overlap.safetensors out.tet", Exit::Format, "write the file again"),
    denied("plot climate.tet temp[0] -o map.gif", Exit::Usage, "give OUT another suffix"),
    denied("convert climate.tet out.csv", Exit::Usage, "choose datasets with --dataset"),
    denied("convert climate.tet out.npy", Exit::Usage, "name it with --dataset"),
];

#[test]
fn what_the_pages_deny_is_refused() {
    let folder = files();
    for Denied { args, exit, way } in DENIED {
        let words: Vec<&str> = args.split(' ').collect();
        let (found, _, err) = tet_in(folder.path(), &words);
        assert_eq!(found, *exit, "{args}: {err}");
        assert!(err.contains(way), "{args}: {err}");
    }
}

#[test]
fn datasets_that_cannot_be_read_are_not_equal() {
    let folder = files();
    let (exit, out, err) = tet_in(folder.path(), &["diff", "run.h5", "run.h5"]);
    assert_eq!(exit, Exit::Unsupported, "{out}{err}");
    assert!(format!("{out}{err}").contains("not compared"), "{out}{err}");
}
