//! Types that a container lacks, arrays without elements and the index of a model: they come through as they were, and
//! notes name those that are stored as bits.

use std::fs;

use crate::common::npy;
use crate::common::world::{World, doubles};
use tet_convert::Note;

/// A safetensors file of this header.
fn safetensors(header: &str, buffer: &[u8]) -> Vec<u8> {
    let header = format!("{header:<len$}", len = header.len().next_multiple_of(8));
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), buffer].concat()
}

#[test]
fn complex_numbers_are_bits_and_come_back() {
    let (scalar, line) = (doubles(&[1.0, 2.0]), doubles(&[3.0, 4.0, 5.0, 6.0]));
    let world = World::new(&[
        ("s", npy("<c16", "False", "()", &scalar)),
        ("l", npy("<c16", "False", "(2,)", &line)),
    ]);
    for (from, to, names) in [
        ("in.npz", "b.safetensors", &["s", "l"][..]),
        ("in.npz", "b.zt", &["s", "l"]),
        ("b.safetensors", "c.zt", &["l", "s"]),
        ("b.zt", "c.safetensors", &["s", "l"]),
        ("in.npz", "b.npz", &[]),
    ] {
        let notes = world.go(from, to);
        let name = |note: &Note| match note {
            Note::AsBits { dataset, .. } => dataset.clone(),
            other => panic!("{other}"),
        };
        assert_eq!(notes.iter().map(name).collect::<Vec<_>>(), names, "{from} {to}");
        let opened = world.opened(to);
        for (array, shape, bytes) in [("s", &[][..], &scalar), ("l", &[2], &line)] {
            assert_eq!(
                (world.shape(to, array), world.read(to, array)),
                (shape.to_vec(), bytes.clone())
            );
            let dtype = &opened.catalog.find(array).unwrap().dtype_name;
            assert_eq!(dtype, "complex128", "{to} {array}");
        }
    }
    assert_eq!(world.bytes("b.safetensors"), world.bytes("c.safetensors"));
}

#[test]
fn arrays_without_elements_keep_their_type() {
    let entry = |name: &str, shape: &str| {
        format!("\"{name}\":{{\"dtype\":\"F4\",\"shape\":{shape},\"data_offsets\":[0,0]}}")
    };
    let header =
        format!("{{{},{},{}}}", entry("a", "[0]"), entry("b", "[0,3]"), entry("c", "[2,0]"));
    let world = World::new(&[("e", npy("<f4", "False", "(0, 3)", &[]))]);
    world.put("a.safetensors", &safetensors(&header, &[]));
    for (from, to) in [("a.safetensors", "b.zt"), ("b.zt", "c.safetensors")] {
        world.go(from, to);
        let opened = world.opened(to);
        for (tensor, shape) in [("a", &[0][..]), ("b", &[0, 3]), ("c", &[2, 0])] {
            let dataset = opened.catalog.find(tensor).unwrap();
            let found = (dataset.dtype_name.as_str(), dataset.shape());
            assert_eq!(found, ("float4_e2m1fn", shape), "{to} {tensor}");
        }
    }
    let columns = World::new(&[
        ("e", npy("<f4", "False", "(0, 3)", &[])),
        ("columns", npy(">c8", "True", "(3, 0, 4)", &[])),
    ]);
    columns.go("in.npz", "e.zt");
    assert_eq!(columns.shape("e.zt", "columns"), [3, 0, 4]);
    // Other readers of `.tet` refuse an extent of 0.
    let noted = Note::NoElements { dataset: "e".to_owned() };
    assert_eq!(world.go("in.npz", "e.zt"), []);
    for from in ["in.npz", "e.zt"] {
        assert_eq!(world.go(from, "e.tet"), std::slice::from_ref(&noted), "{from}");
        world.go("e.tet", "back.npz");
        world.go("back.npz", "again.zt");
        assert_eq!(world.shape("again.zt", "e"), [0, 3], "{from}");
    }
}

#[test]
fn an_index_comes_back_letter_by_letter() {
    let world = World::new(&[]);
    let metadata = "{\"zz\":\"1\",\"format\":\"pt\"}";
    let tensor = "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}";
    let header = format!("{{\"__metadata__\":{metadata},{tensor}}}");
    let (index, shard) = ("m.safetensors.index.json", "m-00001-of-00001.safetensors");
    world.put(shard, &safetensors(&header, &[7]));
    let text = "{\n  \"metadata\": {\n    \"made\": {\"by\":   [\"h\u{e4}nd\", 1180591620717411303424,\n  \
        1e2]},\n    \"total_size\": 1\n  },\n  \"weight_map\": {\n    \
        \"a\": \"m-00001-of-00001.safetensors\"\n  }\n}\n";
    world.put(index, text.as_bytes());
    world.go(index, "m.zt");
    fs::create_dir(world.path("again")).unwrap();
    world.go("m.zt", &format!("again/{index}"));
    for name in [index, shard] {
        let [one, other] = [name.to_owned(), format!("again/{name}")].map(|it| world.bytes(&it));
        assert_eq!(String::from_utf8_lossy(&one), String::from_utf8_lossy(&other), "{name}");
    }
}
