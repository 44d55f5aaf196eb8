//! Datasets of text that are written as text: HDF5, NetCDF-4 and Zarr have the same texts, axes and attributes.
#![allow(clippy::unwrap_used, reason = "what does not hold here fails the test")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::common::world::{archive, chunks as chunks_of, dims, options};
use crate::common::{deep, fixture, npy, opened};
use tet_convert::{ChunkChoice, Note, Opened, PayloadCodec, ShardChoice, convert};
use tet_query::{Execution, Hyperslab};

/// Every container that holds texts.
const OUTPUTS: [&str; 4] = ["out.h5", "out.nc", "out.zarr", "out.zarr.zip"];

/// The texts of every dataset of text, by name.
fn texts(opened: &Opened) -> BTreeMap<String, (Vec<u64>, Vec<String>)> {
    let datasets = opened.catalog.datasets().iter().filter(|it| it.is_text());
    let texts = datasets.map(|dataset| {
        let slab = Hyperslab::whole(dataset.shape());
        let texts = dataset.read_texts(&slab, &Execution::default()).unwrap().value;
        (dataset.name.clone(), (dataset.shape().to_vec(), texts))
    });
    texts.collect()
}

fn check(path: &Path) {
    let source = tet_io::Source::open(tet_convert::document_of(path)).unwrap();
    let report = tet_convert::verify(&source, &deep()).unwrap();
    assert!(report.findings.is_empty(), "{}: {:?}", path.display(), report.findings);
}

/// A file of NumPy with these texts, in UTF-32.
fn numpy(folder: &Path, name: &str, shape: &str, texts: &[String]) -> PathBuf {
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap().max(1);
    let mut bytes = Vec::new();
    for text in texts {
        let points = text.chars().map(u32::from).chain(std::iter::repeat(0));
        bytes.extend(points.take(width).flat_map(u32::to_le_bytes));
    }
    let path = folder.join(name);
    std::fs::write(&path, npy(&format!("<U{width}"), "False", shape, &bytes)).unwrap();
    path
}

#[test]
fn texts_are_the_same_in_every_container() {
    let folder = tempfile::tempdir().unwrap();
    for input in ["texts.h5", "texts_v2.zarr.zip", "texts_v3.zarr.zip"] {
        let wanted = texts(&opened(&fixture(input)));
        assert!(2 < wanted.len(), "{input}");
        for output in OUTPUTS {
            let path = folder.path().join(format!("{input}.{output}"));
            let mut options = options();
            if output == "out.zarr.zip" {
                options.storage.variant = Some("2".to_owned());
            }
            let report = convert(&fixture(input), &path, &options).unwrap();
            let left =
                report.notes.iter().find(|it| matches!(it, Note::LeftBehind { what: "texts", .. }));
            assert!(left.is_none(), "{input} {output}: {left:?}");
            check(&path);
            // And back: what is written is read as what it was.
            for back in OUTPUTS {
                let again = folder.path().join(format!("again.{back}"));
                convert(&path, &again, &options).unwrap();
                for file in [&path, &again] {
                    let mut found = texts(&opened(file));
                    // Members of structures are parts in the input.
                    found.retain(|name, _| wanted.contains_key(name) || !name.contains('.'));
                    assert_eq!(found, wanted, "{input}: {}", file.display());
                }
            }
        }
    }
}

#[test]
fn characters_of_netcdf_stay_characters_and_become_texts_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    for input in ["texts_classic.nc", "texts_four.nc"] {
        let wanted = texts(&opened(&fixture(input)));
        for output in ["out.nc", "out.zarr"] {
            let path = folder.path().join(output);
            convert(&fixture(input), &path, &options()).unwrap();
            assert_eq!(texts(&opened(&path)), wanted, "{input} {output}");
            let file = opened(&path);
            let bytes = file.catalog.find("station.bytes");
            assert_eq!(bytes.is_ok(), output == "out.nc", "{input} {output}");
        }
    }
}

#[test]
fn chunks_and_shards_of_any_shape_hold_all_texts() {
    let folder = tempfile::tempdir().unwrap();
    let cell =
        |at: usize| if at.is_multiple_of(7) { String::new() } else { "\u{e9}x".repeat(at % 5) };
    let mut wanted: Vec<String> = (0..5 * 6 * 7).map(cell).collect();
    // A chunk of nothing.
    wanted[..20].fill(String::new());
    let input = numpy(folder.path(), "cube.npy", "(5, 6, 7)", &wanted);
    for chunks in [[1, 1, 1], [2, 4, 3], [5, 6, 7], [8, 1, 20]] {
        for (number, output) in OUTPUTS.iter().chain(&["shards.zarr"]).enumerate() {
            let path = folder.path().join(output);
            let mut options = options();
            options.tet.chunks = chunks_of(&chunks);
            if number == 2 {
                options.storage.codec = Some(PayloadCodec::Raw);
            }
            if number == 3 {
                options.storage.variant = Some("2".to_owned());
            }
            if number == 4 {
                let shard = chunks.iter().zip([2, 1, 3]).map(|(chunk, count)| chunk * count);
                options.storage.shards = ShardChoice::Shape(shard.collect());
            }
            convert(&input, &path, &options).unwrap();
            check(&path);
            let found = texts(&opened(&path)).remove("cube").unwrap();
            assert_eq!(found, (vec![5, 6, 7], wanted.clone()), "{chunks:?} {output}");
        }
    }
}

#[test]
fn many_texts_are_written_in_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let wanted: Vec<String> = (0..150_001).map(|at| format!("text {at}")).collect();
    let input = numpy(folder.path(), "many.npy", "(150001,)", &wanted);
    for output in OUTPUTS {
        let path = folder.path().join(output);
        let mut options = options();
        // Less than all texts take.
        options.execution.memory_budget = 24 << 20;
        options.tet.chunks = ChunkChoice::Auto.into();
        let report = convert(&input, &path, &options).unwrap();
        assert!(report.datasets[0].chunk_shape[0] <= 65_536, "{:?}", report.datasets);
        check(&path);
        assert_eq!(texts(&opened(&path)).remove("many").unwrap().1, wanted, "{output}");
        // One chunk of all does not fit, in a container whose chunks are written whole.
        options.tet.chunks = chunks_of(&[150_001]);
        let outcome = convert(&input, &path, &options);
        assert_eq!(outcome.is_err(), output.contains("zarr"), "{output}");
    }
}

#[test]
fn texts_without_elements_and_without_axes_are_written() {
    let folder = tempfile::tempdir().unwrap();
    for output in OUTPUTS {
        let nothing = numpy(folder.path(), "nothing.npy", "(0, 3)", &[String::new()][..1]);
        std::fs::write(&nothing, npy("<U1", "False", "(0, 3)", &[])).unwrap();
        let path = folder.path().join(output);
        convert(&nothing, &path, &options()).unwrap();
        check(&path);
        assert_eq!(texts(&opened(&path)).remove("nothing").unwrap(), (vec![0, 3], vec![]));
        let one = numpy(folder.path(), "one.npy", "()", &["\u{65e5}".to_owned()]);
        convert(&one, &path, &options()).unwrap();
        check(&path);
        let found = texts(&opened(&path)).remove("one").unwrap();
        assert_eq!(found, (vec![], vec!["\u{65e5}".to_owned()]), "{output}");
    }
}

/// Two numbers `t`, and two texts `station` in a list.
fn stations(folder: &Path) -> PathBuf {
    let input = folder.join("in.npz");
    let text = |text: &str| u32::from(text.chars().next().unwrap()).to_le_bytes();
    let arrays = [
        ("t", npy("<f4", "False", "(2,)", &[0; 8])),
        ("station", npy("<U1", "False", "(2,)", &[text("a"), text("\u{e9}")].concat())),
    ];
    archive(&input, &arrays);
    input
}

#[test]
fn labels_that_are_left_out_of_a_selection_are_told_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let input = stations(folder.path());
    let mut named = options();
    named.tet.dims = vec![dims("t", &["station"])];
    let left = |input: &Path, output: &str, select: &str| {
        let mut options = options();
        options.select = Some(select.to_owned());
        let report = convert(input, &folder.path().join(output), &options).unwrap();
        let left = |note: &Note| match note {
            Note::LeftBehind { dataset, what, count } => Some((dataset.clone(), *what, *count)),
            _ => None,
        };
        report.notes.iter().filter_map(left).collect::<Vec<_>>()
    };
    // A text of one position is a scalar coordinate, where there are texts.
    let one = [("station".to_owned(), "texts", 1)];
    for source in ["in.nc", "in.v3.zarr", "in.tet"] {
        let source = folder.path().join(source);
        convert(&input, &source, &named).unwrap();
        for output in ["out.nc", "out.zarr", "out.nc3", "out.tet", "out.zt", "out.tgm"] {
            let (several, all) = ("station=[\u{e9}, a]", left(&source, output, "station=a"));
            assert_eq!(left(&source, output, several), [], "{source:?} {output}");
            let is_kept = ["out.nc", "out.zarr"].contains(&output);
            assert_eq!(all, &one[usize::from(is_kept)..], "{source:?} {output}");
        }
    }
}

#[test]
fn a_list_that_has_the_name_of_an_axis_labels_it() {
    let folder = tempfile::tempdir().unwrap();
    let input = stations(folder.path());
    for output in OUTPUTS {
        let path = folder.path().join(output);
        let mut options = options();
        options.tet.dims = vec![dims("t", &["station"])];
        convert(&input, &path, &options).unwrap();
        let file = opened(&path);
        for name in ["t", "station"] {
            assert_eq!(file.catalog.find(name).unwrap().dims, ["station"], "{output} {name}");
        }
        let dataset = file.catalog.find("t").unwrap();
        let labels = tet_query::CatalogLabels::new(&file.catalog, dataset, &options.execution);
        let labels = tet_query::LabelLookup::labels(&labels, 0).unwrap().unwrap();
        assert_eq!(labels.first_equal("\u{e9}"), Some(1), "{output}");
    }
}

#[test]
fn texts_that_change_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = ["a\0b", "c", "\u{fffd}"].map(str::to_owned);
    let input = numpy(folder.path(), "odd.npy", "(3,)", &wanted);
    for output in OUTPUTS {
        let path = folder.path().join(output);
        let notes = convert(&input, &path, &options()).unwrap().notes;
        let counts = notes.iter().filter_map(|note| match note {
            Note::Texts { count, what, .. } => Some((*count, what.contains("zero"))),
            _ => None,
        });
        let found = texts(&opened(&path)).remove("odd").unwrap().1;
        if output.contains("zarr") {
            assert_eq!(counts.collect::<Vec<_>>(), [(1, false)], "{output}");
            assert_eq!(found, wanted, "{output}");
        } else {
            assert_eq!(counts.collect::<Vec<_>>(), [(1, false), (1, true)], "{output}");
            assert_eq!(found, ["a", "c", "\u{fffd}"], "{output}");
        }
    }
}
