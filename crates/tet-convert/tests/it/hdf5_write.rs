//! HDF5 and NetCDF-4 files that are written: memory, dimension scales, groups and axes that can grow.

#![allow(clippy::big_endian_bytes, reason = "the numbers of classic NetCDF are big-endian")]

use crate::common::npy;
use crate::common::world::{World, attr, chunks, counting_npy, dims, doubles, hdf5, options};
use tet_convert::{Error, Filter, Format, Note, PayloadCodec};
use tet_format::DType;
use tet_query::AttrText;

/// Both conventions.
const OUTPUTS: [&str; 2] = ["out.h5", "out.nc"];

#[test]
fn small_memory_is_enough_or_named() {
    let mut world = World::new(&[("x", counting_npy("(50, 70, 11)", 38_500))]);
    world.options.execution.memory_budget = 64 << 10;
    hdf5(&mut world.options, (PayloadCodec::Gzip, Some(1)), Filter::None);
    world.options.tet.chunks = chunks(&[5, 7, 11]);
    world.go("in.npz", "out.nc");
    world.check("out.nc");
    assert_eq!(world.read("out.nc", "x"), world.read("in.npz", "x"));
    world.options.tet.chunks = chunks(&[50, 70, 11]);
    let found = world.try_go("in.npz", "more.nc");
    assert!(matches!(found, Err(Error::Budget { .. })), "{found:?}");
    assert!(!world.path("more.nc").exists());
}

#[test]
fn axes_scales_and_typed_attributes_come_back() {
    let mut world = World::new(&[
        ("t", counting_npy("(2, 3)", 6)),
        ("lat", npy("<f8", "False", "(2,)", &doubles(&[1.5, 2.5]))),
        ("line", counting_npy("(3,)", 3)),
    ]);
    let axes = [("t", &["lat", "x"][..]), ("lat", &["lat"]), ("line", &["x"])];
    let number = |dtype, json: &str| AttrText::Numbers { dtype, json: json.to_owned() };
    let attrs = [
        ("_FillValue", "-1", number(DType::Float32, "-1.0")),
        ("names", "[\"a\",\"b\"]", AttrText::Json("[\"a\",\"b\"]".to_owned())),
        ("range", "[0.5,2.5]", number(DType::Float64, "[0.5,2.5]")),
        ("tree", "{\"a\":[1]}", AttrText::Text("{\"a\":[1]}".to_owned())),
        ("units", "\"K\"", AttrText::Text("K".to_owned())),
    ];
    for output in OUTPUTS {
        world.options.tet.dims = axes.map(|(name, names)| dims(name, names)).to_vec();
        world.options.tet.attrs =
            attrs.each_ref().map(|(key, json, _)| attr(Some("t"), key, json)).to_vec();
        let dataset = "t".to_owned();
        let notes = world.go("in.npz", output);
        assert_eq!(notes, [Note::AttrsAsJson { dataset, count: 1 }], "{output}");
        world.check(output);
        world.options = options();
        for (file, next) in
            [(output, "again.h5"), ("again.h5", "again.nc"), ("again.nc", "again.h5")]
        {
            for (name, wanted) in axes {
                assert_eq!(world.dims(file, name), wanted, "{file} {name}");
                assert_eq!(world.read(file, name), world.read("in.npz", name), "{file} {name}");
            }
            let after = world.opened(file);
            assert_eq!(after.format, Format::HDF5);
            // HDF5 has the names of axes without a scale in an attribute.
            let found = after.catalog.find("t").expect("it is there").attrs.iter();
            let found = found.filter(|(key, _)| *key != "DIMENSION_LABELS");
            let found: Vec<_> = found.map(|(key, value)| (key.as_str(), value)).collect();
            let wanted = attrs.each_ref().map(|(key, _, value)| (*key, value));
            assert_eq!(found, wanted, "{file}");
            assert_eq!(world.go(file, next), [], "{file} {next}");
            world.check(next);
        }
    }
}

#[test]
fn groups_have_dimensions_and_attributes_of_their_own() {
    let shapes = [
        ("x", "(3,)", 3),
        ("g/x", "(4,)", 4),
        ("g/a", "(4,)", 4),
        ("g/b", "(3,)", 3),
        ("h/x", "(3, 2)", 6),
        ("h/y", "()", 1),
        ("h/z", "(2,)", 2),
    ];
    let mut world = World::new(&shapes.map(|(name, shape, n)| (name, counting_npy(shape, n))));
    // A scalar with the name of a dimension is not its coordinates.
    let axes: [(&str, &[&str], &[&str]); 7] = [
        ("x", &["x"], &["x"]),
        ("g/x", &["x"], &["x"]),
        ("g/a", &["x"], &["x"]),
        ("g/b", &["x"], &["x_3"]),
        ("h/x", &["x", "y"], &["x", "y"]),
        ("h/y", &[], &[]),
        ("h/z", &["y"], &["y"]),
    ];
    let named = axes.iter().filter(|(_, names, _)| !names.is_empty());
    world.options.tet.dims = named.map(|(name, names, _)| dims(name, names)).collect();
    world.options.tet.attrs = vec![attr(Some("h/y"), "a/b", "\"text\"")];
    for output in OUTPUTS {
        let notes = world.go("in.npz", output);
        world.check(output);
        let (dataset, to) = ("g/b".to_owned(), "x_3".to_owned());
        let is_renamed = notes.contains(&Note::AxisRenamed { dataset, axis: 0, to });
        assert_eq!(is_renamed, output == "out.nc", "{notes:?}");
        for (name, names, in_netcdf) in axes {
            let wanted = if output == "out.nc" { in_netcdf } else { names };
            assert_eq!(world.dims(output, name), wanted, "{output} {name}");
            assert_eq!(world.read(output, name), world.read("in.npz", name), "{output} {name}");
        }
    }
    for names in [["a", "a/b"], ["a//b", "a/_/b"]] {
        let world = World::new(&names.map(|name| (name, counting_npy("(1,)", 1))));
        for output in OUTPUTS {
            let found = world.try_go("in.npz", output);
            assert!(matches!(found, Err(Error::Collision { .. })), "{found:?}");
        }
    }
}

/// A classic file of one record variable and two records.
fn records() -> Vec<u8> {
    let mut bytes = b"CDF\x01\0\0\0\x02".to_vec();
    let words = |bytes: &mut Vec<u8>, words: &[u32]| {
        bytes.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    };
    let name = |bytes: &mut Vec<u8>, name: &str| {
        bytes.extend((name.len() as u32).to_be_bytes());
        bytes.extend(name.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    };
    words(&mut bytes, &[10, 2]);
    name(&mut bytes, "time");
    words(&mut bytes, &[0]);
    name(&mut bytes, "x");
    words(&mut bytes, &[3, 0, 0, 11, 1]);
    name(&mut bytes, "t");
    words(&mut bytes, &[2, 0, 1, 0, 0, 4, 12]);
    let begin = bytes.len() as u32 + 4;
    words(&mut bytes, &[begin, 0, 1, 2, 3, 4, 5]);
    bytes
}

#[test]
fn axes_that_can_grow_stay_so() {
    let world = World::new(&[]);
    world.put("in.nc3", &records());
    for (from, to) in [("in.nc3", "a.nc"), ("a.nc", "b.h5"), ("b.h5", "c.nc"), ("c.nc", "d.nc4")] {
        assert_eq!(world.go(from, to), [], "{from} {to}");
        world.check(to);
        let after = world.opened(to);
        let t = after.catalog.find("t").expect("it is there");
        assert_eq!((&t.unlimited[..], &t.dims.join(" ")[..]), (&[true, false][..], "time x"));
        let wanted: Vec<u8> = (0..6_i32).flat_map(i32::to_le_bytes).collect();
        assert_eq!(world.read(to, "t"), wanted, "{to}");
    }
}
