//! NetCDF classic files that are written: types, names, axes, labels and attributes come back, and a
//! failure leaves the old file.

use std::fs;
use std::path::Path;

use crate::common::{npy, opened, read};
use tet_convert::{
    Attribute, AxisLabels, ConvertOptions, DimNames, Error, Format, LabelSource, Note, Result,
    convert,
};
use tet_io::Overwrite;
use tet_query::AttrText;

/// An archive of these arrays: a name, and a `.npy` file.
fn archive(path: &Path, arrays: &[(&str, Vec<u8>)]) {
    let mut zip = zip::ZipWriter::new(fs::File::create(path).expect("it works"));
    let how = zip::write::SimpleFileOptions::default();
    for (array, bytes) in arrays {
        zip.start_file(format!("{array}.npy"), how).expect("it works");
        std::io::Write::write_all(&mut zip, bytes).expect("it works");
    }
    zip.finish().expect("it works");
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn dims(dataset: &str, names: &[&str]) -> DimNames {
    let names = names.iter().map(|&name| name.to_owned()).collect();
    DimNames { dataset: Some(dataset.to_owned()), names }
}

fn texts(dataset: Option<&str>, axis: &str, labels: &[&str]) -> AxisLabels {
    let from = LabelSource::Texts(labels.iter().map(|&label| label.to_owned()).collect());
    AxisLabels { dataset: dataset.map(str::to_owned), axis: axis.to_owned(), from }
}

struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new(arrays: &[(&str, Vec<u8>)]) -> World {
        let folder = tempfile::tempdir().expect("it works");
        archive(&folder.path().join("in.npz"), arrays);
        World { folder }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn go(&self, from: &str, to: &str, options: &ConvertOptions) -> Result<Vec<Note>> {
        convert(&self.path(from), &self.path(to), options).map(|report| report.notes)
    }

    fn version(&self, name: &str) -> u8 {
        fs::read(self.path(name)).expect("it is there")[3]
    }
}

#[test]
fn axes_labels_and_attributes_come_back() {
    let world = World::new(&[
        ("t", npy("<f4", "False", "(2, 3)", &floats(&[0.0, -0.0, f32::NAN, 1.5, 2.0, 1e30]))),
        ("lat", npy("<f8", "False", "(2,)", &[1.5_f64, 2.5].map(f64::to_le_bytes).concat())),
    ]);
    let mut options = ConvertOptions::default();
    // The axis of `lat` has no name, and is that of its labels.
    options.tet.dims = vec![dims("t", &["lat", "x"])];
    options.tet.labels = vec![texts(Some("t"), "x", &["a", "bc", "d"])];
    let (dataset, key, value) = (Some("t".to_owned()), "units".to_owned(), "K".to_owned());
    options.tet.attrs = vec![Attribute { dataset, key, value: value.into() }];
    let notes = world.go("in.npz", "out.nc3", &options).expect("it works");
    let (dataset, array) = ("t".to_owned(), "x".to_owned());
    assert_eq!(notes, [Note::LabelsAsArray { dataset, array }]);
    assert_eq!(world.version("out.nc3"), 2);
    let (before, after) = (opened(&world.path("in.npz")), opened(&world.path("out.nc3")));
    assert_eq!(after.format, Format::NETCDF3);
    let t = after.catalog.find("t").expect("it is there");
    assert_eq!((&t.dims[..], t.shape()), (&["lat".to_owned(), "x".to_owned()][..], &[2, 3][..]));
    assert_eq!(t.attrs.get("units"), Some(&AttrText::Text("K".to_owned())));
    for name in ["t", "lat"] {
        assert_eq!(read(&after, name).bytes(), read(&before, name).bytes(), "{name}");
    }
    let x = after.catalog.find("x").expect("it is there");
    assert_eq!((x.dtype_name.as_str(), x.shape()), ("string", &[3][..]));
    assert_eq!(read(&after, "x.bytes").bytes(), b"a\0bcd\0");
    // Text is text again.
    world.go("out.nc3", "again.nc3", &ConvertOptions::default()).expect("it works");
    let again = opened(&world.path("again.nc3"));
    assert_eq!(read(&again, "x.bytes").bytes(), b"a\0bcd\0");
    assert_eq!(world.version("again.nc3"), 2);
}

#[test]
fn the_version_follows_from_types() {
    for (descr, wanted) in [
        ("|i1", 2),
        ("<i2", 2),
        ("<i4", 2),
        ("<f4", 2),
        ("<f8", 2),
        ("|b1", 2),
        ("<f2", 2),
        ("<i8", 5),
        ("|u1", 5),
        ("<u2", 5),
        ("<u4", 5),
        ("<u8", 5),
    ] {
        let size: usize = descr[2..].parse().expect("a size");
        let world = World::new(&[("a", npy(descr, "False", "(3,)", &vec![1; 3 * size]))]);
        world.go("in.npz", "out.nc3", &ConvertOptions::default()).expect("it works");
        assert_eq!(world.version("out.nc3"), wanted, "{descr}");
        let report = tet_convert::verify(
            &tet_io::Source::open(world.path("out.nc3")).expect("it opens"),
            &tet_verify::VerifyOptions::default(),
        );
        assert_eq!(report.expect("it is checked").findings, [], "{descr}");
    }
}

#[test]
fn names_are_legal_and_axes_have_one_extent() {
    let world = World::new(&[
        ("g/a", npy("<f4", "False", "(2,)", &floats(&[1.0, 2.0]))),
        ("b", npy("<f4", "False", "(3,)", &floats(&[1.0, 2.0, 3.0]))),
        ("c", npy("<f4", "False", "()", &floats(&[4.0]))),
    ]);
    let mut options = ConvertOptions::default();
    options.tet.dims = vec![dims("g/a", &["x"]), dims("b", &["x"])];
    let notes = world.go("in.npz", "out.nc3", &options).expect("it works");
    let renamed = Note::Renamed { from: "g/a".to_owned(), to: "g_a".to_owned() };
    assert!(notes.contains(&renamed), "{notes:?}");
    let after = opened(&world.path("out.nc3"));
    let dims = |name: &str| after.catalog.find(name).expect("it is there").dims.clone();
    assert_eq!((dims("g_a"), dims("b")), (vec!["x".to_owned()], vec!["x_3".to_owned()]));
    assert_eq!(after.catalog.find("c").expect("it is there").shape(), [] as [u64; 0]);
    assert_eq!(read(&after, "c").bytes(), floats(&[4.0]));
    let world = World::new(&[
        ("g/a", npy("<f4", "False", "(0,)", &[])),
        ("g_a", npy("<f4", "False", "(0,)", &[])),
    ]);
    let found = world.go("in.npz", "out.nc3", &ConvertOptions::default());
    assert!(matches!(found, Err(Error::Collision { .. })), "{found:?}");
}

#[test]
fn one_axis_of_a_file_may_be_empty() {
    let none = |shape: &str| npy("<f4", "False", shape, &[]);
    let world = World::new(&[("a", none("(0, 3)")), ("b", npy("<i2", "False", "(1,)", &[1, 2]))]);
    world.go("in.npz", "out.nc3", &ConvertOptions::default()).expect("it works");
    let after = opened(&world.path("out.nc3"));
    assert_eq!(after.catalog.find("a").expect("it is there").shape(), [0, 3]);
    assert_eq!(read(&after, "b").bytes(), [1, 2]);
    for arrays in [vec![("a", none("(3, 0)"))], vec![("a", none("(0,)")), ("b", none("(0,)"))]] {
        let world = World::new(&arrays);
        let found = world.go("in.npz", "out.nc3", &ConvertOptions::default());
        assert!(matches!(found, Err(Error::Unfit { .. })), "{found:?}");
        assert!(!world.path("out.nc3").exists());
    }
}

#[test]
fn a_failure_leaves_the_old_file() {
    let world = World::new(&[("a", npy("<f4", "False", "(2,)", &floats(&[1.0, 2.0])))]);
    world.go("in.npz", "out.nc3", &ConvertOptions::default()).expect("it works");
    let old = fs::read(world.path("out.nc3")).expect("it is there");
    let found = world.go("in.npz", "out.nc3", &ConvertOptions::default());
    assert!(matches!(found, Err(Error::Io(tet_io::Error::Exists { .. }))), "{found:?}");
    // A chunk of the input that cannot be read is found while the new file is written.
    let mut options = ConvertOptions::default();
    options.tet.overwrite = Overwrite::Replace;
    world.go("in.npz", "in.tet", &options).expect("it works");
    let mut bytes = fs::read(world.path("in.tet")).expect("it is there");
    let magic = [0x28, 0xb5, 0x2f, 0xfd];
    let at = bytes.windows(4).position(|it| it == magic).expect("a frame of zstd");
    bytes[at + 4] ^= 0xff;
    fs::write(world.path("in.tet"), bytes).expect("it works");
    assert!(world.go("in.tet", "out.nc3", &options).is_err());
    assert_eq!(fs::read(world.path("out.nc3")).expect("it is there"), old);
    let names = fs::read_dir(world.folder.path()).expect("it works").count();
    assert_eq!(names, 3, "no scratch file is left");
}
