//! Every container that is written, in one table: elements, axes, labels and attributes come back, and a failure leaves
//! the old output.

use crate::common::npy;
use crate::common::world::{
    World, Zarr, attr, chunks, counting_npy, dims, doubles, floats, hdf5, labels, noise, options,
    row,
};
use tet_convert::{
    Checksum, ConvertOptions, Error, Filter, Note, PayloadCodec, ZarrFormat, containers,
};
use tet_format::DType;
use tet_io::{Kind, Overwrite};
use tet_query::AttrText;

/// An output of each kind that a writer makes, as `out.` and its suffix; of those that hold several arrays, or of all.
fn outputs(are_several: bool) -> Vec<String> {
    let written = containers()
        .into_iter()
        .filter(|it| it.writer().is_some_and(|writer| !are_several || writer.can().several));
    written.flat_map(|it| it.usual_suffixes()).map(|suffix| format!("out.{suffix}")).collect()
}

/// Outputs of binary arrays of any shape.
fn arrays() -> Vec<String> {
    let mut outputs = outputs(true);
    outputs.retain(|it| !it.ends_with("csv") && !it.ends_with("tsv"));
    assert!(10 < outputs.len(), "{outputs:?}");
    outputs
}

/// The arrays of three axes, for which shards of three axes are.
const CUBES: [&str; 3] = ["cube", "g/sparse", "big"];

/// The extents of a chunk or a shard; none is the choice of the writer.
type Extents = Option<[u64; 3]>;

/// Every way to store chunks in HDF5 files, and in hierarchies of Zarr.
fn layouts() -> Vec<(String, ConvertOptions)> {
    let mut layouts = Vec::new();
    let codecs =
        [(PayloadCodec::Raw, None), (PayloadCodec::Gzip, Some(6)), (PayloadCodec::Zstd, Some(1))];
    for output in ["out.h5", "out.nc"] {
        for shape in [[2, 3, 4], [5, 7, 11], [100, 9, 50], [1, 1, 1]] {
            for codec in codecs {
                for (filter, threads) in [(Filter::None, 1), (Filter::Shuffle, 3)] {
                    let mut options = options();
                    options.tet.chunks = chunks(&shape);
                    options.tet.threads = threads;
                    hdf5(&mut options, codec, filter);
                    layouts.push((output.to_owned(), options));
                }
            }
        }
    }
    let codecs =
        [(PayloadCodec::Raw, None), (PayloadCodec::Zstd, Some(1)), (PayloadCodec::Gzip, Some(6))];
    let shapes: [(Extents, Extents); 6] = [
        (None, None),
        (Some([3, 4, 5]), None),
        (Some([20, 1, 12]), None),
        (Some([3, 4, 5]), Some([6, 4, 15])),
        (Some([3, 4, 5]), Some([30, 40, 50])),
        (None, Some([4, 6, 12])),
    ];
    for compression in codecs {
        for (chunk, shard) in shapes {
            let (two, three) = (ZarrFormat::V2, ZarrFormat::V3);
            let (none, sum) = (Checksum::None, Checksum::Crc32c);
            for (format, checksum) in [(two, none), (three, none), (three, sum)] {
                if format == two && shard.is_some() {
                    continue;
                }
                for output in ["out.zarr", "out.zarr.zip"] {
                    let mut options = options();
                    options.tet.chunks = chunk.map_or(options.tet.chunks, |it| chunks(&it));
                    let shards = shard.map(|it| it.to_vec());
                    if shards.is_some() {
                        options.tet.include = CUBES.map(str::to_owned).to_vec();
                    }
                    Zarr { format, compression, shards, checksum }.set(&mut options);
                    layouts.push((output.to_owned(), options));
                }
            }
        }
    }
    layouts
}

#[test]
fn elements_come_back_in_every_layout() {
    let mut sparse = vec![0.0; 990];
    sparse[700] = -0.0;
    let (cube, big) = (noise(5 * 7 * 11 * 4), noise(16));
    let swapped = big.chunks(2).flat_map(|it| [it[1], it[0]]).collect();
    let pair = floats(&[1.0, -0.0]);
    let mut world = World::new(&[
        ("cube", npy("<f4", "False", "(5, 7, 11)", &cube)),
        ("g/sparse", npy("<f4", "False", "(9, 10, 11)", &floats(&sparse))),
        ("big", npy(">i2", "False", "(2, 2, 2)", &big)),
        ("one", npy("<f4", "False", "()", &floats(&[4.5]))),
        ("none", npy("<i2", "False", "(0, 3)", &[])),
        ("nor", npy("<i2", "False", "(3, 0)", &[])),
        ("pair", npy("<c8", "False", "()", &pair)),
    ]);
    let wanted: [(&str, &[u64], Vec<u8>); 7] = [
        ("cube", &[5, 7, 11], cube),
        ("g/sparse", &[9, 10, 11], floats(&sparse)),
        ("big", &[2, 2, 2], swapped),
        ("one", &[], floats(&[4.5])),
        ("none", &[0, 3], Vec::new()),
        ("nor", &[3, 0], Vec::new()),
        ("pair", &[], pair),
    ];
    let layouts = layouts();
    assert_eq!(layouts.len(), 2 * 4 * 3 * 2 + 2 * 3 * (3 + 6 * 2));
    for (output, options) in layouts {
        world.options = options.clone();
        world.go("in.npz", &output);
        world.check(&output);
        let is_there = |name: &str| options.tet.include.is_empty() || CUBES.contains(&name);
        for (name, shape, bytes) in wanted.iter().filter(|(name, ..)| is_there(name)) {
            let what = || format!("{output} {name} {options:?}");
            assert_eq!(world.shape(&output, name), *shape, "{}", what());
            assert!(world.read(&output, name) == *bytes, "{}", what());
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let mut world = World::new(&[("x", counting_npy("(50, 70, 11)", 38_500))]);
    world.options.tet.chunks = chunks(&[3, 4, 5]);
    hdf5(&mut world.options, (PayloadCodec::Gzip, Some(1)), Filter::None);
    let mut outputs = arrays();
    outputs.push("shards.zarr.zip".to_owned());
    for output in outputs {
        let mut trees = Vec::new();
        for threads in [0, 1, 2, 5] {
            let shards = output.starts_with("shards").then(|| vec![6, 8, 10]);
            let (format, checksum) = (ZarrFormat::V3, Checksum::None);
            let compression = (PayloadCodec::Zstd, Some(1));
            Zarr { format, compression, shards, checksum }.set(&mut world.options);
            world.options.tet.threads = threads;
            world.go("in.npz", &output);
            trees.push(world.tree(&output));
        }
        assert!(trees.windows(2).all(|it| it[0] == it[1]), "{output}");
    }
}

/// Labels of numbers are those of axes, or arrays beside the dataset.
#[test]
fn axes_labels_and_attributes_come_back() {
    let mut world = World::new(&[
        ("t", counting_npy("(2, 3)", 6)),
        ("u", counting_npy("(2, 3)", 6)),
        ("lat", npy("<f8", "False", "(2,)", &doubles(&[1.5, 2.5]))),
    ]);
    let before = options();
    let mut named = options();
    named.tet.dims =
        vec![dims("t", &["depth", "x"]), dims("u", &["lat", "x"]), dims("lat", &["lat"])];
    named.tet.labels =
        vec![labels(None, "x", &["1", "-2", "3"]), labels(None, "depth", &["0.5", "3.0"])];
    named.tet.attrs =
        vec![attr(Some("t"), "units", "\"K\""), attr(Some("t"), "range", "[0.5,2.5]")];
    for (output, integer) in [
        ("out.tet", None),
        ("out.zt", None),
        ("out.tgm", None),
        ("out.nc3", Some(DType::Int32)),
        ("out.nc", Some(DType::Int32)),
        ("out.h5", Some(DType::Int32)),
        ("out.zarr", Some(DType::Int64)),
        ("out.zarr.zip", Some(DType::Int64)),
    ] {
        world.options = named.clone();
        let notes = world.go("in.npz", output);
        world.check(output);
        world.options = before.clone();
        world.go(output, "back.tet");
        for file in [output, "back.tet"] {
            let what = format!("{output}: {file}");
            assert_eq!(world.dims(file, "t"), ["depth", "x"], "{what}");
            assert_eq!(world.dims(file, "u"), ["lat", "x"], "{what}");
            assert_eq!(world.dims(file, "lat"), ["lat"], "{what}");
            for name in ["t", "u", "lat"] {
                assert_eq!(world.read(file, name), world.read("in.npz", name), "{what} {name}");
            }
            let opened = world.opened(file);
            let t = opened.catalog.find("t").expect("it is there");
            assert_eq!(t.attrs["units"], AttrText::Text("K".to_owned()), "{what}");
            assert_eq!(t.attrs["range"].text(), "[0.5,2.5]", "{what}");
            let Some(integer) = integer else {
                let texts: Vec<_> = t.coords.values().flatten().collect();
                assert_eq!(texts, ["0.5", "3.0", "1", "-2", "3"], "{what}");
                continue;
            };
            let x = opened.catalog.find("x").expect("an array");
            assert_eq!((x.dtype, &x.dims[..]), (Some(integer), &["x".to_owned()][..]), "{what}");
            let numbers = crate::common::read(&opened, "x");
            let numbers = (0..3).map(|at| numbers.get(at).and_then(|it| it.to_f64()));
            assert_eq!(numbers.collect::<Vec<_>>(), [Some(1.0), Some(-2.0), Some(3.0)], "{what}");
            assert_eq!(world.read(file, "depth"), doubles(&[0.5, 3.0]), "{what}");
        }
        let is_array = |array: &str| {
            let (dataset, array) = ("t".to_owned(), array.to_owned());
            notes.contains(&Note::LabelsAsArray { dataset, array })
        };
        assert_eq!(is_array("x") && is_array("depth"), integer.is_some(), "{output}: {notes:?}");
    }
}

#[test]
fn chunk_shapes_must_fit() {
    let text = npy("<U1", "False", "(1,)", &u32::from('a').to_le_bytes());
    let mut world = World::new(&[("x", counting_npy("(2, 3)", 6))]);
    world.put("text.npy", &text);
    for output in ["out.tet", "out.h5", "out.nc", "out.zarr", "out.zarr.zip"] {
        world.options.tet.chunks = chunks(&[2]);
        let found = world.try_go("in.npz", output);
        assert!(matches!(found, Err(Error::ChunkRank { .. })), "{output}: {found:?}");
        world.options.tet.chunks = chunks(&[0, 2]);
        let found = world.try_go("in.npz", output);
        assert!(matches!(found, Err(Error::ChunkZero { .. })), "{output}: {found:?}");
        world.options.tet.chunks = chunks(&[1, 1]);
        if output != "out.tet" {
            let found = world.try_go("text.npy", output);
            assert!(matches!(found, Err(Error::ChunkRank { .. })), "{output}: {found:?}");
        }
        assert!(!world.path(output).exists(), "{output}");
    }
    world.options.tet.chunks = chunks(&[u64::MAX, 2]);
    world.go("in.npz", "out.h5");
    hdf5(&mut world.options, (PayloadCodec::Gzip, Some(10)), Filter::None);
    assert!(world.try_go("in.npz", "more.h5").is_err());
    assert!(!world.path("more.h5").exists());
}

#[test]
fn a_failure_leaves_the_old_output() {
    for output in outputs(false) {
        let mut world = World::new(&[("a", row(&[1.0, 123.456]))]);
        // A chunk of the input that cannot be read is found while the new files are written.
        world.go("in.npz", "in.tet");
        let mut bytes = world.bytes("in.tet");
        let value = 123.456_f32.to_le_bytes();
        let at = bytes.windows(4).position(|it| it == value).expect("a raw chunk");
        bytes[at] ^= 0xff;
        world.put("in.tet", &bytes);
        world.go("in.npz", &output);
        let (old, names) = (world.tree(&output), world.names());
        assert!(world.try_go("in.tet", &output).is_err(), "{output}");
        assert!(world.try_go("in.tet", &output.replace("out.", "none.")).is_err(), "{output}");
        world.options.tet.overwrite = Overwrite::default();
        let refused = world.try_go("in.npz", &output).unwrap_err();
        assert_eq!(refused.kind(), Kind::Usage, "{output}: {refused}");
        assert!(refused.to_string().contains("exists"), "{output}: {refused}");
        assert_eq!(world.tree(&output), old, "{output}");
        assert_eq!(world.names(), names, "no scratch file is left beside {output}");
    }
}
