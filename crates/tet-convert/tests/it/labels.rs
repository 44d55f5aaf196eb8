//! Labels and names of axes that a caller gives, in the containers that have a place for them.

use std::fs;

use crate::common::npy;
use crate::common::world::{World, floats, noise};
use tet_convert::{AxisLabels, DimNames, Error, LabelSource, Note};

/// The containers that have labels of axes.
const LABELED: [&str; 3] = ["tet", "zt", "tgm"];

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// `t` of two stations and three depths, and arrays that may label its axes.
fn stations() -> World {
    let points: Vec<u8> = "AB".chars().flat_map(|it| u32::from(it).to_le_bytes()).collect();
    let levels: Vec<u8> = [10_i16, -5, 7].iter().flat_map(|it| it.to_le_bytes()).collect();
    World::new(&[
        ("t", npy("<f4", "False", "(2, 3)", &floats(&[0.0; 6]))),
        ("station", npy("<U1", "False", "(2,)", &points)),
        ("depth", npy("<i2", "False", "(3,)", &levels)),
    ])
}

/// Sets the names of the axes of `t`, and labels of axes.
fn name(world: &mut World, dims: &[&str], labels: &[(&str, LabelSource)]) {
    let (dataset, names) = (Some("t".to_owned()), texts(dims));
    world.options.tet.dims = vec![DimNames { dataset, names }];
    let labels = labels.iter().map(|(axis, from)| AxisLabels {
        dataset: None,
        axis: (*axis).to_owned(),
        from: from.clone(),
    });
    world.options.tet.labels = labels.collect();
}

/// The labels of the axes of `t`.
fn labels(world: &World, file: &str) -> Vec<(usize, Vec<String>)> {
    let opened = world.opened(file);
    opened.catalog.find("t").expect("it is there").coords.clone().into_iter().collect()
}

#[test]
fn arrays_of_texts_and_numbers_become_labels() {
    let mut world = stations();
    let depth = || LabelSource::Array("depth".to_owned());
    let wanted = vec![(0, texts(&["A", "B"])), (1, texts(&["10", "-5", "7"]))];
    for to in LABELED.map(|suffix| format!("out.{suffix}")) {
        name(&mut world, &["station", "x"], &[("1", depth())]);
        world.go("in.npz", &to);
        assert_eq!(labels(&world, &to), wanted, "{to}");
        // The others keep them.
        name(&mut world, &["station", "x"], &[]);
        world.options.tet.dims.clear();
        for next in LABELED.map(|suffix| format!("next.{suffix}")) {
            world.go(&to, &next);
            assert_eq!(labels(&world, &next), wanted, "{to} {next}");
        }
    }
    let other = [
        ("y", LabelSource::Array("station".to_owned())),
        ("x", LabelSource::Texts(texts(&["p", "q", "r"]))),
    ];
    name(&mut world, &["y", "x"], &other);
    world.go("in.npz", "out.tet");
    let by_texts = vec![(0, texts(&["A", "B"])), (1, texts(&["p", "q", "r"]))];
    assert_eq!(labels(&world, "out.tet"), by_texts);
    // A file that is no archive keeps the labels too.
    name(&mut world, &["y", "z"], &[("z", depth())]);
    world.go("out.tet", "next.zt");
    assert_eq!(labels(&world, "next.zt"), wanted);
}

#[test]
fn labels_that_do_not_fit_are_refused() {
    let mut world = stations();
    name(&mut world, &["y", "x"], &[]);
    let notes = world.go("in.npz", "unlabeled.tet");
    let left = Note::LeftBehind { dataset: "station".to_owned(), what: "texts", count: 2 };
    assert!(notes.contains(&left), "{notes:?}");
    name(&mut world, &["station", "x"], &[("x", LabelSource::Texts(texts(&["p"])))]);
    let found = world.try_go("in.npz", "out.tet");
    assert!(matches!(found, Err(Error::LabelCount { count: 1, extent: 3, .. })), "{found:?}");
    name(&mut world, &["station", "x"], &[("lat", LabelSource::Texts(texts(&["p"])))]);
    let found = world.try_go("in.npz", "out.tet");
    assert!(matches!(found, Err(Error::NoLabeledAxis { .. })), "{found:?}");
    world.options = crate::common::world::options();
    world.options.tet.exclude = vec!["station".to_owned()];
    world.go("in.npz", "out.tet");
}

#[test]
fn complex_arrays_keep_the_names_of_their_axes() {
    let array = npy("<c8", "False", "(2, 3)", &noise(48));
    let mut world = World::new(&[("t", array.clone())]);
    fs::write(world.path("t.npy"), &array).expect("room");
    for input in ["t.npy", "in.npz"] {
        for output in LABELED.map(|suffix| format!("out.{suffix}")) {
            name(&mut world, &["y", "x"], &[]);
            world.go(input, &output);
            assert_eq!(world.dims(&output, "t"), ["y", "x"], "{input} {output}");
            name(&mut world, &["y", "x", "z"], &[]);
            let found = world.try_go(input, &output);
            assert!(matches!(found, Err(Error::DimsRank { rank: 2, .. })), "{input} {output}");
        }
    }
}
