//! Zarr hierarchies that are written: fill values, groups, labels of text and missing values of both versions, legal
//! paths, and folders that are not replaced.

use std::fs;

use crate::common::npy;
use crate::common::world::{
    World, Zarr, attr, chunks, dims, doubles, float_npy, floats, labels, noise, options, row,
    zarr_format,
};
use tet_convert::{Checksum, ConvertOptions, Error, Note, PayloadCodec, ShardChoice, ZarrFormat};
use tet_format::DType;
use tet_query::AttrText;

#[test]
fn chunks_of_nothing_but_the_fill_value_are_left_out_if_their_bits_come_back() {
    let nan = f32::from_bits(0x7fc0_0001);
    let values = [[0.0; 4], [-0.0; 4], [nan; 4], [f32::NAN; 4], [7.0; 4]].concat();
    let mut world = World::new(&[("a", row(&values))]);
    world.options.tet.chunks = chunks(&[4]);
    // In version 2 a fill value that is undefined could be read as anything.
    for (version, fill, absent, spelled) in [
        (3, None, Some(0), serde_json::json!(0.0)),
        (2, None, None, serde_json::Value::Null),
        (3, Some("-0.0"), Some(1), serde_json::json!(-0.0)),
        (2, Some("-0.0"), Some(1), serde_json::json!(-0.0)),
        (3, Some("7"), Some(4), serde_json::json!(7.0)),
        (2, Some("7"), Some(4), serde_json::json!(7.0)),
    ] {
        let is_old = version == 2;
        let format = if is_old { ZarrFormat::V2 } else { ZarrFormat::V3 };
        zarr_format(&mut world.options, format);
        world.options.tet.attrs =
            fill.map(|fill| attr(None, "_FillValue", fill)).into_iter().collect();
        let output = format!("{version}{}.zarr", fill.unwrap_or("none"));
        world.go("in.npz", &output);
        world.check(&output);
        assert_eq!(world.read(&output, "a"), floats(&values), "{output}");
        for chunk in 0..5 {
            let key = if is_old { format!("a/{chunk}") } else { format!("a/c/{chunk}") };
            let is_there = world.path(&output).join(key).exists();
            assert_eq!(is_there, absent != Some(chunk), "{output}, chunk {chunk}");
        }
        let document = if is_old { ".zarray" } else { "zarr.json" };
        let found = &world.json(&format!("{output}/a/{document}"))["fill_value"];
        assert_eq!(*found, spelled, "{output}");
    }
}

#[test]
fn groups_scalars_and_numbers_of_any_length_come_back() {
    let mut world = World::new(&[
        ("g/t", float_npy("(2, 3)", &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])),
        ("g/lat", npy("<f8", "False", "(2,)", &doubles(&[1.5, 2.5]))),
        ("h/deep/x", row(&[1.0])),
        ("scalar", npy("<c16", "False", "()", &noise(16))),
    ]);
    let attrs =
        [("scale_factor", "0.1"), ("flags", "[1,2]"), ("huge", "123456789012345678901234567890")];
    world.options.tet.dims = vec![dims("g/t", &["lat", "x"]), dims("g/lat", &["lat"])];
    world.options.tet.labels = vec![labels(Some("g/t"), "x", &["1", "-2", "3"])];
    world.options.tet.attrs = attrs.map(|(key, json)| attr(Some("g/t"), key, json)).to_vec();
    for format in [ZarrFormat::V2, ZarrFormat::V3] {
        zarr_format(&mut world.options, format);
        let output = &format!("{format:?}.zarr.zip");
        let notes = world.go("in.npz", output);
        let (dataset, array) = ("g/t".to_owned(), "g/x".to_owned());
        let as_json = Note::AttrsAsJson { dataset: dataset.clone(), count: 1 };
        assert_eq!(notes, [as_json, Note::LabelsAsArray { dataset, array }]);
        assert_eq!(
            (world.dims(output, "g/t").join(" "), world.dims(output, "g/x").join(" ")),
            ("lat x".to_owned(), "x".to_owned())
        );
        let after = world.opened(output);
        let t = after.catalog.find("g/t").expect("it is there");
        for (key, wanted) in attrs {
            assert_eq!(t.attrs[key].text(), wanted, "{output} {key}");
        }
        let numbers = [1_i64, -2, 3].map(i64::to_le_bytes).concat();
        assert_eq!(world.read(output, "g/x"), numbers, "{output}");
        assert_eq!(world.shape(output, "scalar"), [] as [u64; 0]);
        assert_eq!(world.read(output, "scalar"), noise(16));
        assert_eq!(world.read(output, "h/deep/x"), floats(&[1.0]));
    }
}

#[test]
fn labels_of_text_are_an_array_of_text() {
    let mut world = World::new(&[("t", row(&[1.0, 2.0]))]);
    world.options.tet.dims = vec![dims("t", &["station"])];
    world.options.tet.labels = vec![labels(None, "station", &["G\u{fc}tersloh", ""])];
    world.go("in.npz", "out.zarr");
    assert_eq!(world.json("out.zarr/station/zarr.json")["data_type"], "string");
    let (format, compression) = (ZarrFormat::V2, (PayloadCodec::Raw, None));
    Zarr { format, compression, shards: None, checksum: Checksum::None }.set(&mut world.options);
    world.go("in.npz", "old.zarr");
    assert_eq!(world.json("old.zarr/station/.zarray")["dtype"], "|O");
    assert_eq!(world.json("old.zarr/station/.zarray")["filters"][0]["id"], "vlen-utf8");
    let stored = world.bytes("old.zarr/station/0");
    assert_eq!(stored, b"\x02\0\0\0\x0a\0\0\0G\xc3\xbctersloh\0\0\0\0");
}

#[test]
fn missing_values_are_written_as_xarray_writes_them() {
    let mut world = World::new(&[("a", row(&[-5.5, 1.0]))]);
    world.options.tet.attrs = vec![attr(None, "_FillValue", "-5.5")];
    world.options.tet.dims = vec![dims("a", &["x"])];
    world.go("in.npz", "new.zarr");
    assert_eq!(world.json("new.zarr/a/zarr.json")["attributes"]["_FillValue"], "AAAAAAAAFsA=");
    zarr_format(&mut world.options, ZarrFormat::V2);
    world.go("in.npz", "old.zarr");
    // xarray writes the fill value alone.
    let mut all = world.json("old.zarr/.zmetadata");
    let of_a = all["metadata"]["a/.zattrs"].as_object_mut().expect("an object");
    assert!(of_a.remove("_FillValue").is_some());
    world.put("old.zarr/.zmetadata", all.to_string().as_bytes());
    world.options = options();
    for input in ["new.zarr", "old.zarr"] {
        let wanted = AttrText::number(DType::Float32, &(-5.5_f32).to_le_bytes());
        let after = world.opened(input);
        let a = after.catalog.find("a").expect("it is there");
        assert_eq!(a.attrs.get("_FillValue"), Some(&wanted), "{input}");
        // By way of a file whose attributes have types, and back.
        world.go(input, &format!("{input}.nc3"));
        world.go(&format!("{input}.nc3"), &format!("{input}.again.zarr"));
        let again = world.json(&format!("{input}.again.zarr/a/zarr.json"));
        assert_eq!(again["attributes"]["_FillValue"], "AAAAAAAAFsA=");
        assert_eq!(again["fill_value"], -5.5);
    }
}

#[test]
fn paths_are_legal_and_no_array_is_a_group() {
    let world = World::new(&[("a", row(&[1.0])), ("a/b", row(&[2.0])), ("c/../d", row(&[3.0]))]);
    let notes = world.go("in.npz", "out.zarr");
    for (from, to) in [("a/b", "a_b"), ("c/../d", "c/__/d")] {
        let renamed = Note::Renamed { from: from.to_owned(), to: to.to_owned() };
        assert!(notes.contains(&renamed), "{notes:?}");
    }
    world.check("out.zarr");
    for (name, value) in [("a", 1.0), ("a_b", 2.0), ("c/__/d", 3.0)] {
        assert_eq!(world.read("out.zarr", name), floats(&[value]), "{name}");
    }
    let world = World::new(&[("a_b", row(&[1.0])), ("a", row(&[1.0])), ("a/b", row(&[2.0]))]);
    let found = world.try_go("in.npz", "out.zarr");
    assert!(matches!(found, Err(Error::Collision { .. })), "{found:?}");
    assert!(!world.path("out.zarr").exists());
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let mut world = World::new(&[("a", row(&[1.0; 10]))]);
    let zarr = |options: &mut ConvertOptions, format, shards: Option<Vec<u64>>, checksum| {
        let compression = (PayloadCodec::Zstd, Some(3));
        Zarr { format, compression, shards, checksum }.set(options);
    };
    for (chunk, shard, is_good) in [
        (2, Some(vec![4]), true),
        (2, Some(vec![100]), true),
        (2, Some(vec![5]), false),
        (2, Some(vec![4, 4]), false),
        (2, Some(vec![0]), false),
        (2, Some(vec![1]), false),
        (1 << 40, None, false),
        (1, Some(vec![1 << 21]), false),
        (1 << 10, Some(vec![1 << 40]), false),
    ] {
        world.options.tet.chunks = chunks(&[chunk]);
        zarr(&mut world.options, ZarrFormat::V3, shard.clone(), Checksum::None);
        let found = world.try_go("in.npz", "out.zarr.zip");
        assert_eq!(found.is_ok(), is_good, "{chunk} {shard:?} {found:?}");
    }
    world.options = options();
    for (shards, checksum) in
        [(ShardChoice::Auto, Checksum::None), (ShardChoice::None, Checksum::Crc32c)]
    {
        zarr(&mut world.options, ZarrFormat::V2, None, checksum);
        world.options.storage.shards = shards;
        let found = world.try_go("in.npz", "out.zarr");
        assert!(matches!(found, Err(Error::Unfit { .. })), "{found:?}");
    }
}

#[test]
fn a_folder_of_other_files_is_not_replaced() {
    let world = World::new(&[("a", row(&[1.0, 2.0]))]);
    world.go("in.npz", "out.zarr");
    let old = world.tree("out.zarr").into_values().collect::<Vec<_>>();
    fs::create_dir(world.path("photos.zarr")).expect("room");
    world.put("photos.zarr/cat", b"meow");
    let found = world.try_go("in.npz", "photos.zarr");
    assert!(matches!(found, Err(Error::OtherFolder { .. })), "{found:?}");
    assert_eq!(world.bytes("photos.zarr/cat"), b"meow");
    // One that has the input stays too.
    fs::create_dir(world.path("out.zarr/deep")).expect("room");
    fs::copy(world.path("in.npz"), world.path("out.zarr/deep/in.npz")).expect("room");
    for input in ["out.zarr/deep/in.npz", "out.zarr"] {
        let found = world.try_go(input, "out.zarr");
        assert!(matches!(found, Err(Error::Io(tet_io::Error::SameFile { .. }))), "{found:?}");
    }
    // A hierarchy, and an empty folder, is replaced.
    fs::create_dir(world.path("empty.zarr")).expect("room");
    for output in ["out.zarr", "empty.zarr"] {
        world.go("in.npz", output);
        assert_eq!(world.tree(output).into_values().collect::<Vec<_>>(), old, "{output}");
    }
}
