//! NetCDF classic files that are written: versions, characters, legal names, and axes of one extent.

use crate::common::npy;
use crate::common::world::{World, attr, dims, doubles, float_npy, floats, labels, row};
use tet_convert::{Error, Format, Note};
use tet_query::AttrText;

#[test]
fn labels_of_text_become_characters() {
    let mut world = World::new(&[
        ("t", float_npy("(2, 3)", &[0.0, -0.0, f32::NAN, 1.5, 2.0, 1e30])),
        ("lat", npy("<f8", "False", "(2,)", &doubles(&[1.5, 2.5]))),
    ]);
    // The axis of `lat` has no name, and is that of its labels.
    world.options.tet.dims = vec![dims("t", &["lat", "x"])];
    world.options.tet.labels = vec![labels(Some("t"), "x", &["a", "bc", "d"])];
    world.options.tet.attrs = vec![attr(Some("t"), "units", "\"K\"")];
    let notes = world.go("in.npz", "out.nc3");
    let (dataset, array) = ("t".to_owned(), "x".to_owned());
    assert_eq!(notes, [Note::LabelsAsArray { dataset, array }]);
    assert_eq!(world.bytes("out.nc3")[3], 2);
    let after = world.opened("out.nc3");
    assert_eq!(after.format, Format::NETCDF3);
    let t = after.catalog.find("t").expect("it is there");
    assert_eq!(t.attrs.get("units"), Some(&AttrText::Text("K".to_owned())));
    assert_eq!((&t.dims.join(" ")[..], t.shape()), ("lat x", &[2, 3][..]));
    for name in ["t", "lat"] {
        assert_eq!(world.read("out.nc3", name), world.read("in.npz", name), "{name}");
    }
    let x = after.catalog.find("x").expect("it is there");
    assert_eq!((x.dtype_name.as_str(), x.shape()), ("string", &[3][..]));
    // Text is text again.
    world.options.tet.labels.clear();
    world.options.tet.attrs.clear();
    world.go("out.nc3", "again.nc3");
    assert_eq!(world.bytes("again.nc3")[3], 2);
    for file in ["out.nc3", "again.nc3"] {
        assert_eq!(world.read(file, "x.bytes"), b"a\0bcd\0", "{file}");
    }
}

#[test]
fn the_version_follows_from_types() {
    for (version, descrs) in [
        (2, &["|i1", "<i2", "<i4", "<f4", "<f8", "|b1", "<f2"][..]),
        (5, &["<i8", "|u1", "<u2", "<u4", "<u8"]),
    ] {
        for descr in descrs {
            let size: usize = descr[2..].parse().expect("a size");
            let world = World::new(&[("a", npy(descr, "False", "(3,)", &vec![1; 3 * size]))]);
            world.go("in.npz", "out.nc3");
            assert_eq!(world.bytes("out.nc3")[3], version, "{descr}");
            world.check("out.nc3");
        }
    }
}

#[test]
fn names_are_legal_and_axes_have_one_extent() {
    let mut world = World::new(&[
        ("g/a", row(&[1.0, 2.0])),
        ("b", row(&[1.0, 2.0, 3.0])),
        ("c", float_npy("()", &[4.0])),
    ]);
    world.options.tet.dims = vec![dims("g/a", &["x"]), dims("b", &["x"])];
    let notes = world.go("in.npz", "out.nc3");
    let renamed = Note::Renamed { from: "g/a".to_owned(), to: "g_a".to_owned() };
    assert!(notes.contains(&renamed), "{notes:?}");
    let dims = |name| world.dims("out.nc3", name);
    assert_eq!((&dims("g_a")[0][..], &dims("b")[0][..]), ("x", "x_3"));
    assert_eq!(world.shape("out.nc3", "c"), [] as [u64; 0]);
    assert_eq!(world.read("out.nc3", "c"), floats(&[4.0]));
    let none = || npy("<f4", "False", "(0,)", &[]);
    let world = World::new(&[("g/a", none()), ("g_a", none())]);
    let found = world.try_go("in.npz", "out.nc3");
    assert!(matches!(found, Err(Error::Collision { .. })), "{found:?}");
}

#[test]
fn one_axis_of_a_file_may_be_empty() {
    let none = |shape: &str| npy("<f4", "False", shape, &[]);
    let world = World::new(&[("a", none("(0, 3)")), ("b", npy("<i2", "False", "(1,)", &[1, 2]))]);
    world.go("in.npz", "out.nc3");
    assert_eq!(world.shape("out.nc3", "a"), [0, 3]);
    assert_eq!(world.read("out.nc3", "b"), [1, 2]);
    for arrays in [vec![("a", none("(3, 0)"))], vec![("a", none("(0,)")), ("b", none("(0,)"))]] {
        let world = World::new(&arrays);
        let found = world.try_go("in.npz", "out.nc3");
        assert!(matches!(found, Err(Error::Unfit { .. })), "{found:?}");
        assert!(!world.path("out.nc3").exists());
    }
}
