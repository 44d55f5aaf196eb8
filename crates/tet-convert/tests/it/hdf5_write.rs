//! HDF5 and NetCDF-4 files that are written: elements in every layout, types, names, axes, labels and
//! attributes come back, and a failure leaves the old file.

#![allow(clippy::big_endian_bytes, reason = "the numbers of classic NetCDF are big-endian")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{npy, opened, read};
use tet_convert::{
    Attribute, AxisLabels, ChunkChoice, ConvertOptions, DimNames, Error, Filter, Format,
    LabelSource, Note, PayloadCodec, Result, Storage, convert,
};
use tet_file::AttrValue;
use tet_format::DType;
use tet_io::Overwrite;
use tet_query::AttrText;

/// Both conventions.
const OUTPUTS: [&str; 2] = ["out.h5", "out.nc"];

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

struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new(arrays: &[(&str, Vec<u8>)]) -> World {
        let folder = tempfile::tempdir().expect("it works");
        archive(&folder.path().join("in.npz"), arrays);
        World { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn go(&self, from: &str, to: &str, options: &ConvertOptions) -> Result<Vec<Note>> {
        let mut options = options.clone();
        options.tet.overwrite = Overwrite::Replace;
        convert(&self.path(from), &self.path(to), &options).map(|report| report.notes)
    }

    /// Checks that `tet verify` finds nothing.
    fn check(&self, name: &str) {
        let source = tet_io::Source::open(self.path(name)).expect("it opens");
        let report = tet_convert::verify(&source, &tet_verify::VerifyOptions::default());
        assert_eq!(report.expect("it is checked").findings, [], "{name}");
    }
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn float_npy(shape: &str, count: u16) -> Vec<u8> {
    let values: Vec<f32> = (0..count).map(|value| f32::from(value) - 0.5).collect();
    npy("<f4", "False", shape, &floats(&values))
}

fn dims(dataset: &str, names: &[&str]) -> DimNames {
    let names = names.iter().map(|&name| name.to_owned()).collect();
    DimNames { dataset: Some(dataset.to_owned()), names }
}

fn texts(axis: &str, labels: &[&str]) -> AxisLabels {
    let from = LabelSource::Texts(labels.iter().map(|&label| label.to_owned()).collect());
    AxisLabels { dataset: None, axis: axis.to_owned(), from }
}

fn attr(dataset: Option<&str>, key: &str, value: AttrValue) -> Attribute {
    Attribute { dataset: dataset.map(str::to_owned), key: key.to_owned(), value }
}

fn dims_of(world: &World, file: &str, name: &str) -> Vec<String> {
    opened(&world.path(file)).catalog.find(name).expect("it is there").dims.clone()
}

#[test]
fn elements_come_back_in_every_layout() {
    // Edges that do not divide, one chunk, chunks longer than the array, single elements.
    let shapes = [vec![2, 3, 4], vec![5, 7, 11], vec![100, 9, 50], vec![1, 1, 1]];
    let world = World::new(&[("x", float_npy("(5, 7, 11)", 385))]);
    let wanted = read(&opened(&world.path("in.npz")), "x").bytes().to_vec();
    let codecs =
        [(PayloadCodec::Raw, None), (PayloadCodec::Gzip, Some(6)), (PayloadCodec::Zstd, Some(1))];
    for output in OUTPUTS {
        for chunk_shape in &shapes {
            for (codec, level) in codecs {
                for (filter, threads) in [(Filter::None, 1), (Filter::Shuffle, 3)] {
                    let mut options = ConvertOptions::default();
                    options.tet.chunks = ChunkChoice::Shape(chunk_shape.clone()).into();
                    options.tet.threads = threads;
                    let (codec, filter) = (Some(codec), Some(filter));
                    options.storage = Storage { codec, level, filter, ..Storage::default() };
                    world.go("in.npz", output, &options).expect("it works");
                    world.check(output);
                    let after = opened(&world.path(output));
                    let what = format!("{output} {chunk_shape:?} {codec:?} {filter:?}");
                    assert_eq!(read(&after, "x").bytes(), wanted, "{what}");
                    let found = after.catalog.find("x").expect("it is there");
                    let clipped =
                        chunk_shape.iter().zip([5, 7, 11]).map(|(&it, axis)| it.min(axis));
                    let clipped: Vec<u64> = clipped.collect();
                    assert_eq!(found.grid.chunk_shape().as_slice(), clipped, "{what}");
                }
            }
        }
    }
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let world = World::new(&[("x", float_npy("(50, 70, 11)", 38_500))]);
    let file = |threads| {
        let mut options = ConvertOptions::default();
        options.tet.chunks = ChunkChoice::Shape(vec![3, 4, 5]).into();
        options.tet.threads = threads;
        options.storage.codec = Some(PayloadCodec::Gzip);
        world.go("in.npz", "out.h5", &options).expect("it works");
        fs::read(world.path("out.h5")).expect("it is there")
    };
    let alone = file(1);
    for threads in [0, 2, 5] {
        assert!(file(threads) == alone, "{threads}");
    }
}

#[test]
fn small_memory_is_enough_or_named() {
    let world = World::new(&[("x", float_npy("(50, 70, 11)", 38_500))]);
    let mut options = ConvertOptions::default();
    options.execution.memory_budget = 64 << 10;
    options.storage.codec = Some(PayloadCodec::Gzip);
    options.tet.chunks = ChunkChoice::Shape(vec![5, 7, 11]).into();
    world.go("in.npz", "out.nc", &options).expect("it works");
    world.check("out.nc");
    let wanted = read(&opened(&world.path("in.npz")), "x");
    assert_eq!(read(&opened(&world.path("out.nc")), "x").bytes(), wanted.bytes());
    options.tet.chunks = ChunkChoice::Shape(vec![50, 70, 11]).into();
    let found = world.go("in.npz", "more.nc", &options);
    assert!(matches!(found, Err(Error::Budget { .. })), "{found:?}");
    assert!(!world.path("more.nc").exists());
}

#[test]
fn scalars_and_arrays_without_elements_come_back() {
    let none = |shape: &str| npy("<i2", "False", shape, &[]);
    let world = World::new(&[
        ("one", npy("<f4", "False", "()", &floats(&[4.5]))),
        ("none", none("(0, 3)")),
        ("nor", none("(3, 0)")),
        ("pair", npy("<c8", "False", "()", &floats(&[1.0, -0.0]))),
    ]);
    for output in OUTPUTS {
        for codec in [PayloadCodec::Raw, PayloadCodec::Gzip] {
            let mut options = ConvertOptions::default();
            options.storage.codec = Some(codec);
            world.go("in.npz", output, &options).expect("it works");
            world.check(output);
            let after = opened(&world.path(output));
            let shape =
                |name: &str| after.catalog.find(name).expect("it is there").shape().to_vec();
            assert_eq!((shape("none"), shape("nor")), (vec![0, 3], vec![3, 0]));
            assert_eq!(shape("one"), [] as [u64; 0]);
            assert_eq!(read(&after, "one").bytes(), floats(&[4.5]));
            let pair = after.catalog.find("pair").expect("it is there");
            assert_eq!((pair.dtype, pair.shape()), (Some(DType::Complex64), &[][..]));
            assert_eq!(read(&after, "pair").bytes(), floats(&[1.0, -0.0]));
        }
    }
}

#[test]
fn axes_scales_and_attributes_come_back() {
    let world = World::new(&[
        ("t", float_npy("(2, 3)", 6)),
        ("lat", npy("<f8", "False", "(2,)", &[1.5_f64, 2.5].map(f64::to_le_bytes).concat())),
        ("line", float_npy("(3,)", 3)),
    ]);
    let mut options = ConvertOptions::default();
    options.tet.dims = vec![dims("t", &["lat", "x"]), dims("lat", &["lat"]), dims("line", &["x"])];
    options.tet.attrs = vec![
        attr(Some("t"), "units", "K".into()),
        attr(Some("t"), "range", AttrValue::Json("[0.5,2.5]".to_owned())),
        attr(Some("t"), "_FillValue", AttrValue::Json("-1".to_owned())),
        attr(Some("t"), "names", AttrValue::Json("[\"a\",\"b\"]".to_owned())),
        attr(Some("t"), "tree", AttrValue::Json("{\"a\":[1]}".to_owned())),
    ];
    for output in OUTPUTS {
        let notes = world.go("in.npz", output, &options).expect("it works");
        let dataset = "t".to_owned();
        assert_eq!(notes, [Note::AttrsAsJson { dataset, count: 1 }], "{output}");
        world.check(output);
        for (file, next) in
            [(output, "again.h5"), ("again.h5", "again.nc"), ("again.nc", "again.h5")]
        {
            let after = opened(&world.path(file));
            assert_eq!(after.format, Format::HDF5);
            for (name, wanted) in
                [("t", vec!["lat", "x"]), ("lat", vec!["lat"]), ("line", vec!["x"])]
            {
                assert_eq!(dims_of(&world, file, name), wanted, "{file} {name}");
                let before = read(&opened(&world.path("in.npz")), name);
                assert_eq!(read(&after, name).bytes(), before.bytes(), "{file} {name}");
            }
            let t = after.catalog.find("t").expect("it is there");
            let number = |dtype, json: &str| AttrText::Numbers { dtype, json: json.to_owned() };
            let wanted = [
                ("_FillValue", number(DType::Float32, "-1.0")),
                ("names", AttrText::Json("[\"a\",\"b\"]".to_owned())),
                ("range", number(DType::Float64, "[0.5,2.5]")),
                ("tree", AttrText::Text("{\"a\":[1]}".to_owned())),
                ("units", AttrText::Text("K".to_owned())),
            ];
            // HDF5 has the names of axes without a scale in an attribute.
            let found = t.attrs.iter().filter(|(key, _)| *key != "DIMENSION_LABELS");
            let found: Vec<(&str, AttrText)> =
                found.map(|(key, value)| (key.as_str(), value.clone())).collect();
            assert_eq!(found, wanted, "{file}");
            let notes = world.go(file, next, &ConvertOptions::default()).expect("it works");
            assert_eq!(notes, [], "{file} {next}");
            world.check(next);
        }
    }
}

#[test]
fn labels_of_axes_become_coordinates() {
    let world = World::new(&[("t", float_npy("(2, 3)", 6)), ("x", float_npy("(1,)", 1))]);
    let mut options = ConvertOptions::default();
    options.tet.dims = vec![dims("t", &["year", "depth"])];
    options.tet.labels =
        vec![texts("year", &["2001", "2002"]), texts("depth", &["0.5", "1.5", "3.0"])];
    for output in OUTPUTS {
        let notes = world.go("in.npz", output, &options).expect("it works");
        let made = |array: &str| {
            let (dataset, array) = ("t".to_owned(), array.to_owned());
            Note::LabelsAsArray { dataset, array }
        };
        assert!(notes.contains(&made("year")) && notes.contains(&made("depth")), "{notes:?}");
        world.check(output);
        let after = opened(&world.path(output));
        let year = after.catalog.find("year").expect("it is there");
        assert_eq!((year.dtype, &year.dims[..]), (Some(DType::Int32), &["year".to_owned()][..]));
        assert_eq!(read(&after, "year").bytes(), [2001_i32, 2002].map(i32::to_le_bytes).concat());
        assert_eq!(dims_of(&world, output, "t"), ["year", "depth"]);
        let depth = [0.5_f64, 1.5, 3.0].map(f64::to_le_bytes).concat();
        assert_eq!(read(&after, "depth").bytes(), depth);
    }
}

#[test]
fn groups_have_dimensions_and_attributes_of_their_own() {
    let world = World::new(&[
        ("x", float_npy("(3,)", 3)),
        ("g/x", float_npy("(4,)", 4)),
        ("g/a", float_npy("(4,)", 4)),
        ("g/b", float_npy("(3,)", 3)),
        ("h/x", float_npy("(3, 2)", 6)),
        ("h/y", float_npy("()", 1)),
        ("h/z", float_npy("(2,)", 2)),
    ]);
    let mut options = ConvertOptions::default();
    options.tet.dims = vec![
        dims("x", &["x"]),
        dims("g/x", &["x"]),
        dims("g/a", &["x"]),
        dims("g/b", &["x"]),
        dims("h/x", &["x", "y"]),
        dims("h/z", &["y"]),
    ];
    options.tet.attrs = vec![attr(Some("h/y"), "a/b", "text".into())];
    let notes = world.go("in.npz", "out.nc", &options).expect("it works");
    let (dataset, to) = ("g/b".to_owned(), "x_3".to_owned());
    assert!(notes.contains(&Note::AxisRenamed { dataset, axis: 0, to }), "{notes:?}");
    world.check("out.nc");
    let found = |name: &str| dims_of(&world, "out.nc", name);
    assert_eq!(
        (found("x"), found("g/x"), found("g/a")),
        (vec!["x".into()], vec!["x".into()], vec!["x".into()])
    );
    assert_eq!((found("g/b"), found("h/x")), (vec!["x_3".into()], vec!["x".into(), "y".into()]));
    // A scalar with the name of a dimension is not its coordinates.
    assert_eq!((found("h/y"), found("h/z")), (vec![], vec!["y".into()]));
    world.go("in.npz", "out.h5", &options).expect("it works");
    world.check("out.h5");
    for name in ["x", "g/x", "g/a", "g/b", "h/x", "h/y", "h/z"] {
        let wanted = read(&opened(&world.path("in.npz")), name).bytes().to_vec();
        for output in OUTPUTS {
            assert_eq!(read(&opened(&world.path(output)), name).bytes(), wanted, "{output} {name}");
        }
        if name != "h/y" {
            assert_eq!(dims_of(&world, "out.h5", name)[0], if name == "h/z" { "y" } else { "x" });
        }
    }
    for names in [["a", "a/b"], ["a//b", "a/_/b"]] {
        let world = World::new(&names.map(|name| (name, float_npy("(1,)", 1))));
        for output in OUTPUTS {
            let found = world.go("in.npz", output, &ConvertOptions::default());
            assert!(matches!(found, Err(Error::Collision { .. })), "{found:?}");
        }
    }
}

#[test]
fn axes_that_can_grow_stay_so() {
    // A classic file of one record variable and two records.
    let mut bytes = b"CDF\x01\0\0\0\x02".to_vec();
    let word = |bytes: &mut Vec<u8>, word: u32| bytes.extend(word.to_be_bytes());
    let name = |bytes: &mut Vec<u8>, name: &str| {
        bytes.extend((name.len() as u32).to_be_bytes());
        bytes.extend(name.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    };
    for number in [10, 2] {
        word(&mut bytes, number);
    }
    name(&mut bytes, "time");
    word(&mut bytes, 0);
    name(&mut bytes, "x");
    for number in [3, 0, 0, 11, 1] {
        word(&mut bytes, number);
    }
    name(&mut bytes, "t");
    for number in [2, 0, 1, 0, 0, 4, 12] {
        word(&mut bytes, number);
    }
    let begin = bytes.len() as u32 + 4;
    word(&mut bytes, begin);
    (0..6_u32).for_each(|number| word(&mut bytes, number));
    let world = World::new(&[]);
    fs::write(world.path("in.nc3"), bytes).expect("it works");
    for (from, to) in [("in.nc3", "a.nc"), ("a.nc", "b.h5"), ("b.h5", "c.nc"), ("c.nc", "d.nc4")] {
        let notes = world.go(from, to, &ConvertOptions::default()).expect("it works");
        assert_eq!(notes, [], "{from} {to}");
        world.check(to);
        let after = opened(&world.path(to));
        let t = after.catalog.find("t").expect("it is there");
        assert_eq!(
            (&t.unlimited[..], &t.dims[..]),
            (&[true, false][..], &["time".to_owned(), "x".into()][..])
        );
        let wanted: Vec<u8> = (0..6_i32).flat_map(i32::to_le_bytes).collect();
        assert_eq!(read(&after, "t").bytes(), wanted, "{to}");
    }
}

#[test]
fn chunk_shapes_must_fit() {
    let world = World::new(&[("x", float_npy("(2, 3)", 6))]);
    let with = |chunk_shape: &[u64]| {
        let mut options = ConvertOptions::default();
        options.tet.chunks = ChunkChoice::Shape(chunk_shape.to_vec()).into();
        world.go("in.npz", "out.h5", &options)
    };
    assert!(matches!(with(&[2]), Err(Error::ChunkRank { .. })));
    assert!(matches!(with(&[0, 2]), Err(Error::ChunkZero { .. })));
    assert!(with(&[u64::MAX, 2]).is_ok());
    let mut options = ConvertOptions::default();
    (options.storage.codec, options.storage.level) = (Some(PayloadCodec::Gzip), Some(10));
    assert!(world.go("in.npz", "more.h5", &options).is_err());
    assert!(!world.path("more.h5").exists());
}

#[test]
fn a_failure_leaves_the_old_file() {
    let world = World::new(&[("a", float_npy("(2,)", 2))]);
    world.go("in.npz", "out.nc", &ConvertOptions::default()).expect("it works");
    let old = fs::read(world.path("out.nc")).expect("it is there");
    let found = convert(&world.path("in.npz"), &world.path("out.nc"), &ConvertOptions::default());
    assert!(matches!(found, Err(Error::Io(tet_io::Error::Exists { .. }))), "{found:?}");
    // A chunk of the input that cannot be read is found while the new file is written.
    let mut options = ConvertOptions::default();
    world.go("in.npz", "in.tet", &options).expect("it works");
    let mut bytes = fs::read(world.path("in.tet")).expect("it is there");
    let magic = [0x28, 0xb5, 0x2f, 0xfd];
    let at = bytes.windows(4).position(|it| it == magic).expect("a frame of zstd");
    bytes[at + 4] ^= 0xff;
    fs::write(world.path("in.tet"), bytes).expect("it works");
    for codec in [PayloadCodec::Raw, PayloadCodec::Gzip] {
        options.storage.codec = Some(codec);
        assert!(world.go("in.tet", "out.nc", &options).is_err());
        assert_eq!(fs::read(world.path("out.nc")).expect("it is there"), old);
    }
    let names = fs::read_dir(world.folder.path()).expect("it works").count();
    assert_eq!(names, 3, "no scratch file is left");
}
