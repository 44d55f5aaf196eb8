//! Zarr hierarchies that are written: bits, axes, labels, attributes and fill values come back for every
//! version, codec and shape of chunks and shards, and a failure leaves the old hierarchy.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{npy, opened, read};
use tet_convert::{
    Attribute, AxisLabels, Checksum, ChunkChoice, ConvertOptions, DimNames, Error, LabelSource,
    Note, PayloadCodec, Result, ShardChoice, Storage, convert,
};
use tet_format::DType;
use tet_io::Overwrite;
use tet_query::AttrText;
use tet_verify::VerifyOptions;

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

fn row(values: &[f32]) -> Vec<u8> {
    npy("<f4", "False", &format!("({},)", values.len()), &floats(values))
}

struct World {
    folder: tempfile::TempDir,
    options: ConvertOptions,
}

impl World {
    fn new(arrays: &[(&str, Vec<u8>)]) -> World {
        let folder = tempfile::tempdir().expect("it works");
        archive(&folder.path().join("in.npz"), arrays);
        let mut options = ConvertOptions::default();
        options.tet.sync = tet_io::publish::Sync::None;
        World { folder, options }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn go(&self, from: &str, to: &str) -> Result<Vec<Note>> {
        convert(&self.path(from), &self.path(to), &self.options).map(|report| report.notes)
    }

    fn json(&self, key: &str) -> serde_json::Value {
        serde_json::from_slice(&fs::read(self.path(key)).expect("it is there")).expect("JSON")
    }

    /// The output is clean, and has these elements.
    fn check(&self, output: &str, wanted: &BTreeMap<&str, Vec<u8>>, what: &str) {
        let path = tet_convert::document_of(&self.path(output));
        let source = tet_io::Source::open(path).expect("it opens");
        let report =
            tet_convert::verify(&source, &VerifyOptions::default()).expect("it is checked");
        assert_eq!(report.findings, [], "{what}");
        let opened = opened(&self.path(output));
        for (name, bytes) in wanted {
            assert!(read(&opened, name).bytes() == bytes, "{what}: {name}");
        }
    }
}

/// The files below a folder, by path.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("it is below").to_string_lossy();
                files.insert(name.into_owned(), fs::read(&path).expect("a file"));
            }
        }
    }
    files
}

/// Bytes without a pattern, of which some are NaN with a payload.
fn noise(count: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u8::try_from(state >> 56).expect("eight bits")
    };
    (0..count).map(next).collect()
}

#[test]
fn bits_come_back_for_every_version_codec_and_shape() {
    let cube = noise(10 * 11 * 12 * 4);
    let mut sparse = floats(&[0.0; 990]);
    sparse[4 * 700..][..4].copy_from_slice(&(-0.0_f32).to_le_bytes());
    let mut world = World::new(&[
        ("cube", npy("<f4", "False", "(10, 11, 12)", &cube)),
        ("g/sparse", npy("<f4", "False", "(9, 10, 11)", &sparse)),
        ("big", npy(">i2", "False", "(2, 2, 2)", &noise(16))),
    ]);
    let mut swapped = noise(16);
    swapped.chunks_mut(2).for_each(|it| it.swap(0, 1));
    let wanted = BTreeMap::from([("cube", cube), ("g/sparse", sparse), ("big", swapped)]);
    let codecs =
        [(PayloadCodec::Raw, None), (PayloadCodec::Zstd, Some(1)), (PayloadCodec::Gzip, Some(6))];
    let shapes = [
        (None, None),
        (Some([3, 4, 5]), None),
        (Some([20, 1, 12]), None),
        (Some([3, 4, 5]), Some([6, 4, 15])),
        (Some([3, 4, 5]), Some([30, 40, 50])),
        (None, Some([4, 6, 12])),
    ];
    let mut number = 0;
    for variant in ["2", "3"] {
        for (codec, level) in codecs {
            for (chunks, shards) in shapes {
                for checksum in [Checksum::None, Checksum::Crc32c] {
                    let is_old = variant == "2";
                    if is_old && (shards.is_some() || checksum == Checksum::Crc32c) {
                        continue;
                    }
                    world.options.storage = Storage {
                        variant: Some(variant.to_owned()),
                        codec: Some(codec),
                        level,
                        checksum: Some(checksum),
                        shards: shards
                            .map_or(ShardChoice::None, |it| ShardChoice::Shape(it.to_vec())),
                        ..Storage::default()
                    };
                    world.options.tet.chunks = chunks
                        .map_or(ChunkChoice::Auto, |it| ChunkChoice::Shape(it.to_vec()))
                        .into();
                    for suffix in ["zarr", "zarr.zip"] {
                        number += 1;
                        let output = format!("{number}.{suffix}");
                        let what = format!("{:?} {chunks:?}", world.options.storage);
                        world.go("in.npz", &output).expect(&what);
                        world.check(&output, &wanted, &what);
                    }
                }
            }
        }
    }
    assert_eq!(number, 2 * (3 * 3 + 3 * 6 * 2));
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let mut world = World::new(&[("a", npy("<f4", "False", "(50, 40)", &noise(8000)))]);
    world.options.tet.chunks = ChunkChoice::Shape(vec![7, 9]).into();
    for (shards, more) in
        [(ShardChoice::None, "plain"), (ShardChoice::Shape(vec![14, 18]), "shards")]
    {
        world.options.storage.shards = shards;
        let mut outputs = Vec::new();
        for threads in [1, 2, 5] {
            world.options.tet.threads = threads;
            let output = format!("{more}{threads}.zarr.zip");
            world.go("in.npz", &output).expect("it works");
            outputs.push(fs::read(world.path(&output)).expect("it is there"));
        }
        assert!(outputs.windows(2).all(|it| it[0] == it[1]), "{more}");
    }
}

#[test]
fn chunks_of_nothing_but_the_fill_value_are_left_out_if_their_bits_come_back() {
    let nan = f32::from_bits(0x7fc0_0001);
    let values = [[0.0; 4], [-0.0; 4], [nan; 4], [f32::NAN; 4], [7.0; 4]].concat();
    let mut world = World::new(&[("a", row(&values))]);
    world.options.tet.chunks = ChunkChoice::Shape(vec![4]).into();
    let wanted = BTreeMap::from([("a", floats(&values))]);
    let fill = |text: &str| Attribute {
        dataset: None,
        key: "_FillValue".to_owned(),
        value: tet_file::metadata::AttrValue::Json(text.to_owned()),
    };
    // In version 2 a fill value that is undefined could be read as anything.
    for (version, attr, absent, spelled) in [
        (3, None, Some(0), serde_json::json!(0.0)),
        (2, None, None, serde_json::Value::Null),
        (3, Some("-0.0"), Some(1), serde_json::json!(-0.0)),
        (2, Some("-0.0"), Some(1), serde_json::json!(-0.0)),
        (3, Some("7"), Some(4), serde_json::json!(7.0)),
        (2, Some("7"), Some(4), serde_json::json!(7.0)),
    ] {
        let is_old = version == 2;
        world.options.storage.variant = Some(version.to_string());
        world.options.tet.attrs = attr.map(fill).into_iter().collect();
        let output = format!("{version}{}.zarr", attr.unwrap_or("none"));
        world.go("in.npz", &output).expect("it works");
        world.check(&output, &wanted, &output);
        for chunk in 0..5 {
            let key = if is_old { format!("a/{chunk}") } else { format!("a/c/{chunk}") };
            let is_there = world.path(&output).join(key).exists();
            assert_eq!(is_there, absent != Some(chunk), "{output}, chunk {chunk}");
        }
        let document = if is_old { ".zarray" } else { "zarr.json" };
        assert_eq!(
            world.json(&format!("{output}/a/{document}"))["fill_value"],
            spelled,
            "{output}"
        );
    }
}

#[test]
fn axes_labels_attributes_and_groups_come_back() {
    let mut world = World::new(&[
        ("g/t", npy("<f4", "False", "(2, 3)", &floats(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))),
        ("g/lat", npy("<f8", "False", "(2,)", &[1.5_f64, 2.5].map(f64::to_le_bytes).concat())),
        ("h/deep/x", row(&[1.0])),
        ("scalar", npy("<c16", "False", "()", &noise(16))),
    ]);
    let dims = |dataset: &str, names: &[&str]| DimNames {
        dataset: Some(dataset.to_owned()),
        names: names.iter().map(|&name| name.to_owned()).collect(),
    };
    let texts = |dataset: &str, axis: &str, labels: &[&str]| AxisLabels {
        dataset: Some(dataset.to_owned()),
        axis: axis.to_owned(),
        from: LabelSource::Texts(labels.iter().map(|&label| label.to_owned()).collect()),
    };
    let attr = |key: &str, value: &str| Attribute {
        dataset: Some("g/t".to_owned()),
        key: key.to_owned(),
        value: tet_file::metadata::AttrValue::Json(value.to_owned()),
    };
    world.options.tet.dims = vec![dims("g/t", &["lat", "x"]), dims("g/lat", &["lat"])];
    world.options.tet.labels = vec![texts("g/t", "x", &["1", "-2", "3"])];
    world.options.tet.attrs = vec![
        attr("scale_factor", "0.1"),
        attr("flags", "[1,2]"),
        attr("huge", "123456789012345678901234567890"),
    ];
    for variant in ["2", "3"] {
        world.options.storage.variant = Some(variant.to_owned());
        let output = format!("{variant}.zarr.zip");
        let notes = world.go("in.npz", &output).expect("it works");
        let (dataset, array) = ("g/t".to_owned(), "g/x".to_owned());
        let as_json = Note::AttrsAsJson { dataset: dataset.clone(), count: 1 };
        assert_eq!(notes, [as_json, Note::LabelsAsArray { dataset, array }]);
        let after = opened(&world.path(&output));
        let t = after.catalog.find("g/t").expect("it is there");
        assert_eq!(
            (&t.dims[..], t.shape()),
            (&["lat".to_owned(), "x".to_owned()][..], &[2, 3][..])
        );
        let value = |key: &str| t.attrs.get(key).map(|it| it.text().to_owned());
        assert_eq!(value("scale_factor").as_deref(), Some("0.1"));
        assert_eq!(value("flags").as_deref(), Some("[1,2]"));
        assert_eq!(value("huge").as_deref(), Some("123456789012345678901234567890"));
        let x = after.catalog.find("g/x").expect("it is there");
        assert_eq!((x.dtype, x.shape()), (Some(DType::Int64), &[3][..]));
        assert_eq!(x.dims, ["x"]);
        assert_eq!(read(&after, "g/x").bytes(), [1_i64, -2, 3].map(i64::to_le_bytes).concat());
        assert_eq!(after.catalog.find("scalar").expect("it is there").shape(), [] as [u64; 0]);
        assert_eq!(read(&after, "scalar").bytes(), noise(16));
        assert_eq!(read(&after, "h/deep/x").bytes(), floats(&[1.0]));
    }
}

#[test]
fn labels_of_text_are_an_array_of_text() {
    let mut world = World::new(&[("t", row(&[1.0, 2.0]))]);
    let names = vec!["station".to_owned()];
    world.options.tet.dims = vec![DimNames { dataset: None, names }];
    let from = LabelSource::Texts(vec!["G\u{fc}tersloh".to_owned(), String::new()]);
    world.options.tet.labels = vec![AxisLabels { dataset: None, axis: "station".to_owned(), from }];
    world.go("in.npz", "out.zarr").expect("it works");
    assert_eq!(world.json("out.zarr/station/zarr.json")["data_type"], "string");
    world.options.storage.variant = Some("2".to_owned());
    world.options.storage.codec = Some(PayloadCodec::Raw);
    world.go("in.npz", "old.zarr").expect("it works");
    assert_eq!(world.json("old.zarr/station/.zarray")["dtype"], "|O");
    assert_eq!(world.json("old.zarr/station/.zarray")["filters"][0]["id"], "vlen-utf8");
    let stored = fs::read(world.path("old.zarr/station/0")).expect("it is there");
    assert_eq!(stored, b"\x02\0\0\0\x0a\0\0\0G\xc3\xbctersloh\0\0\0\0");
}

#[test]
fn missing_values_are_written_as_xarray_writes_them() {
    let mut world = World::new(&[("a", row(&[-5.5, 1.0]))]);
    world.options.tet.attrs = vec![Attribute {
        dataset: None,
        key: "_FillValue".to_owned(),
        value: tet_file::metadata::AttrValue::Json("-5.5".to_owned()),
    }];
    let names = vec!["x".to_owned()];
    world.options.tet.dims = vec![DimNames { dataset: None, names }];
    world.go("in.npz", "new.zarr").expect("it works");
    assert_eq!(world.json("new.zarr/a/zarr.json")["attributes"]["_FillValue"], "AAAAAAAAFsA=");
    world.options.storage.variant = Some("2".to_owned());
    world.go("in.npz", "old.zarr").expect("it works");
    // What xarray writes has the fill value alone.
    let attributes = fs::read(world.path("old.zarr/.zmetadata")).expect("it is there");
    let mut all: serde_json::Value = serde_json::from_slice(&attributes).expect("JSON");
    let of_a = all["metadata"]["a/.zattrs"].as_object_mut().expect("an object");
    assert!(of_a.remove("_FillValue").is_some());
    fs::write(world.path("old.zarr/.zmetadata"), all.to_string()).expect("room");
    world.options = ConvertOptions::default();
    for input in ["new.zarr", "old.zarr"] {
        let after = opened(&world.path(input));
        let wanted = AttrText::number(DType::Float32, &(-5.5_f32).to_le_bytes());
        let a = after.catalog.find("a").expect("it is there");
        assert_eq!(a.attrs.get("_FillValue"), Some(&wanted), "{input}");
        // By way of a file whose attributes have types, and back.
        world.go(input, &format!("{input}.nc3")).expect("it works");
        world.go(&format!("{input}.nc3"), &format!("{input}.again.zarr")).expect("it works");
        let again = world.json(&format!("{input}.again.zarr/a/zarr.json"));
        assert_eq!(again["attributes"]["_FillValue"], "AAAAAAAAFsA=");
        assert_eq!(again["fill_value"], -5.5);
    }
}

#[test]
fn paths_are_legal_and_no_array_is_a_group() {
    let world = World::new(&[("a", row(&[1.0])), ("a/b", row(&[2.0])), ("c/../d", row(&[3.0]))]);
    let notes = world.go("in.npz", "out.zarr").expect("it works");
    let renamed = |from: &str, to: &str| {
        let (from, to) = (from.to_owned(), to.to_owned());
        notes.contains(&Note::Renamed { from, to })
    };
    assert!(renamed("a/b", "a_b") && renamed("c/../d", "c/__/d"), "{notes:?}");
    let wanted = [("a", 1.0), ("a_b", 2.0), ("c/__/d", 3.0)];
    let wanted = wanted.map(|(name, value)| (name, floats(&[value]))).into_iter().collect();
    world.check("out.zarr", &wanted, "names");
    let world = World::new(&[("a_b", row(&[1.0])), ("a", row(&[1.0])), ("a/b", row(&[2.0]))]);
    let found = world.go("in.npz", "out.zarr");
    assert!(matches!(found, Err(Error::Collision { .. })), "{found:?}");
    assert!(!world.path("out.zarr").exists());
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let mut world = World::new(&[("a", row(&[1.0; 10]))]);
    let shape = |extents: &[u64]| ShardChoice::Shape(extents.to_vec());
    for (chunks, shards, is_good) in [
        (vec![2], shape(&[4]), true),
        (vec![2], shape(&[100]), true),
        (vec![2], shape(&[5]), false),
        (vec![2], shape(&[4, 4]), false),
        (vec![2], shape(&[0]), false),
        (vec![2], shape(&[1]), false),
        (vec![1 << 40], ShardChoice::None, false),
        (vec![1], shape(&[1 << 21]), false),
        (vec![1 << 10], shape(&[1 << 40]), false),
    ] {
        world.options.tet.chunks = ChunkChoice::Shape(chunks.clone()).into();
        world.options.storage.shards = shards.clone();
        let found = world.go("in.npz", "out.zarr.zip");
        assert_eq!(found.is_ok(), is_good, "{chunks:?} {shards:?} {found:?}");
        let _ = fs::remove_file(world.path("out.zarr.zip"));
    }
    world.options.tet.chunks = ChunkChoice::Auto.into();
    for (shards, checksum) in
        [(ShardChoice::Auto, Checksum::None), (ShardChoice::None, Checksum::Crc32c)]
    {
        let (variant, checksum) = (Some("2".to_owned()), Some(checksum));
        world.options.storage = Storage { variant, shards, checksum, ..Storage::default() };
        let found = world.go("in.npz", "out.zarr");
        assert!(matches!(found, Err(Error::Unfit { .. })), "{found:?}");
    }
}

#[test]
fn a_failure_leaves_the_old_hierarchy_and_no_other_folder_is_replaced() {
    let mut world = World::new(&[("a", row(&[1.0, 123.456]))]);
    world.go("in.npz", "out.zarr").expect("it works");
    let old = tree(&world.path("out.zarr"));
    let found = world.go("in.npz", "out.zarr");
    assert!(matches!(found, Err(Error::Io(tet_io::Error::Exists { .. }))), "{found:?}");
    world.options.tet.overwrite = Overwrite::Replace;
    // A chunk of the input that cannot be read is found while the new files are written.
    world.go("in.npz", "in.tet").expect("it works");
    let mut bytes = fs::read(world.path("in.tet")).expect("it is there");
    let value = 123.456_f32.to_le_bytes();
    let at = bytes.windows(4).position(|it| it == value).expect("a raw chunk");
    bytes[at] ^= 0xff;
    fs::write(world.path("in.tet"), bytes).expect("it works");
    for output in ["out.zarr", "none.zarr", "none.zarr.zip"] {
        assert!(world.go("in.tet", output).is_err());
    }
    assert_eq!(tree(&world.path("out.zarr")), old);
    // A folder of other files stays, and so does one that has the input.
    fs::create_dir(world.path("photos.zarr")).expect("room");
    fs::write(world.path("photos.zarr/cat"), "meow").expect("room");
    let found = world.go("in.npz", "photos.zarr");
    assert!(matches!(found, Err(Error::OtherFolder { .. })), "{found:?}");
    fs::create_dir(world.path("out.zarr/deep")).expect("room");
    fs::copy(world.path("in.npz"), world.path("out.zarr/deep/in.npz")).expect("room");
    for input in ["out.zarr/deep/in.npz", "out.zarr"] {
        let found = world.go(input, "out.zarr");
        assert!(matches!(found, Err(Error::Io(tet_io::Error::SameFile { .. }))), "{found:?}");
    }
    assert_eq!(fs::read(world.path("photos.zarr/cat")).expect("it is there"), b"meow");
    let mut names: Vec<_> = fs::read_dir(world.folder.path())
        .expect("it works")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    assert_eq!(names, ["in.npz", "in.tet", "out.zarr", "photos.zarr"], "no scratch file is left");
    // A hierarchy, and an empty folder, is replaced.
    fs::create_dir(world.path("empty.zarr")).expect("room");
    for output in ["out.zarr", "empty.zarr"] {
        world.go("in.npz", output).expect("it works");
        assert_eq!(tree(&world.path(output)), old, "{output}");
    }
}
