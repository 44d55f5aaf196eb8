//! Edits of files of every container: what stays has the same elements, and the file is sound.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::made::{Made, check_sound, write};
use crate::common::{opened, read};
use tet_convert::{
    ConvertOptions, EditOptions, Error, FileEdit, Opened, convert, datasets_named, edit, renames,
};
use tet_format::DType;
use tet_io::Output;
use tet_query::AttrText;

/// The suffixes of all files that are edited.
const SUFFIXES: [&str; 5] = ["tet", "zt", "safetensors", "npz", "tgm"];

struct World {
    folder: tempfile::TempDir,
}

impl World {
    /// A file of four datasets of each container.
    fn new() -> World {
        let world = World { folder: tempfile::tempdir().expect("a folder") };
        let array = |at: u64, name, dtype: DType, shape: &[u64]| Made {
            name,
            dtype,
            shape: shape.to_vec(),
            dims: &[],
            element: Box::new(move |place: &[u64]| {
                let number = place.iter().fold(at, |sum, place| sum * 7 + place) as u8 % 100;
                vec![number; usize::try_from(dtype.size().unwrap()).unwrap()]
            }),
        };
        let arrays = [
            array(1, "layers.0.w", DType::Float32, &[3, 40]),
            array(2, "layers.1.w", DType::Int16, &[7]),
            array(3, "layers.1.b", DType::Float64, &[2, 2, 2]),
            array(4, "time", DType::Int64, &[7]),
        ];
        write(&world.path("tet"), &arrays, None);
        for suffix in &SUFFIXES[1..] {
            let done = convert(&world.path("tet"), &world.path(suffix), &ConvertOptions::default());
            done.expect("converted");
        }
        world
    }

    fn path(&self, suffix: &str) -> PathBuf {
        self.folder.path().join(format!("model.{suffix}"))
    }

    fn opened(&self, suffix: &str) -> Opened {
        opened(&self.path(suffix))
    }
}

/// The elements of all datasets, by name.
fn elements(opened: &Opened) -> BTreeMap<String, (Vec<u64>, Vec<u8>)> {
    let datasets = opened.catalog.datasets().iter().filter(|it| it.name != "__metadata__");
    let read = |name: &String| {
        (
            opened.catalog.find(name).expect("it").shape().to_vec(),
            read(opened, name).bytes().to_vec(),
        )
    };
    datasets.map(|it| (it.name.clone(), read(&it.name))).collect()
}

fn in_place(path: &Path, edits: &[FileEdit]) -> Result<u64, Error> {
    edit(&opened(path), edits, Output::InPlace(path), &EditOptions::default())
}

#[test]
fn renamed_datasets_keep_their_elements_in_every_container() {
    let world = World::new();
    for suffix in SUFFIXES {
        let path = world.path(suffix);
        let old = elements(&world.opened(suffix));
        let catalog = &world.opened(suffix).catalog;
        let mut edits = renames(catalog, "layers.*.w", "blocks/*/weight").expect("a pattern");
        edits.extend(renames(catalog, "time", "a rather long name of the coordinate").expect("it"));
        let len = in_place(&path, &edits).unwrap_or_else(|error| panic!("{suffix}: {error}"));
        assert_eq!(len, fs::metadata(&path).expect("a file").len(), "{suffix}");
        check_sound(&path);
        let new = elements(&world.opened(suffix));
        let names = |name: &str| match name {
            "layers.0.w" => "blocks/0/weight".to_owned(),
            "layers.1.w" => "blocks/1/weight".to_owned(),
            "time" => "a rather long name of the coordinate".to_owned(),
            other => other.to_owned(),
        };
        let wanted: BTreeMap<_, _> = old.into_iter().map(|(name, it)| (names(&name), it)).collect();
        assert!(new == wanted, "{suffix}: {:?}", new.keys());
    }
}

#[test]
fn dropped_datasets_are_gone_and_the_others_stay() {
    let world = World::new();
    for suffix in &SUFFIXES[..4] {
        let path = world.path(suffix);
        let opened = world.opened(suffix);
        let (mut wanted, old_len) = (elements(&opened), fs::metadata(&path).expect("it").len());
        let dropped = datasets_named(&opened.catalog, "layers.1.*").expect("a pattern");
        let edits: Vec<FileEdit> =
            dropped.into_iter().map(|dataset| FileEdit::Drop { dataset }).collect();
        assert_eq!(edits.len(), 2);
        in_place(&path, &edits).unwrap_or_else(|error| panic!("{suffix}: {error}"));
        check_sound(&path);
        wanted.retain(|name, _| !name.starts_with("layers.1."));
        assert!(elements(&world.opened(suffix)) == wanted, "{suffix}");
        assert!(fs::metadata(&path).expect("it").len() < old_len, "{suffix}");
    }
}

#[test]
fn attributes_are_set_and_removed() {
    let world = World::new();
    let attr = |dataset, key: &str, value| FileEdit::Attr { dataset, key: key.to_owned(), value };
    for suffix in ["tet", "zt", "tgm"] {
        let path = world.path(suffix);
        let at = world.opened(suffix).catalog.find("layers.1.b").expect("it").index;
        let wanted = elements(&world.opened(suffix));
        let range = AttrText::Json("[1,2.5]".to_owned());
        let text = AttrText::Text("7".to_owned());
        let edits =
            [attr(Some(at), "range", Some(range)), attr(Some(at), "code", Some(text.clone()))];
        in_place(&path, &edits).unwrap_or_else(|error| panic!("{suffix}: {error}"));
        let attrs = |name: &str| {
            let opened = world.opened(suffix);
            opened.catalog.find("layers.1.b").expect("it").attrs.get(name).cloned()
        };
        assert_eq!(
            attrs("range").and_then(|it| it.json().map(str::to_owned)).as_deref(),
            Some("[1,2.5]")
        );
        assert_eq!(attrs("code"), Some(text), "{suffix}");
        in_place(&path, &[attr(Some(at), "range", None)]).expect("removed");
        assert_eq!(attrs("range"), None, "{suffix}");
        check_sound(&path);
        assert!(elements(&world.opened(suffix)) == wanted, "{suffix}");
    }
    for suffix in ["tet", "safetensors"] {
        let path = world.path(suffix);
        let title = AttrText::Text("x \"y\"".to_owned());
        in_place(&path, &[attr(None, "title", Some(title.clone()))]).expect("set");
        check_sound(&path);
        assert_eq!(world.opened(suffix).catalog.attrs().get("title"), Some(&title));
        in_place(&path, &[attr(None, "title", None)]).expect("removed");
        assert_eq!(world.opened(suffix).catalog.attrs().get("title"), None);
    }
}

#[test]
fn names_that_collide_are_refused() {
    let world = World::new();
    for suffix in &SUFFIXES[..4] {
        let before = fs::read(world.path(suffix)).expect("a file");
        let catalog = world.opened(suffix).catalog;
        let error =
            in_place(&world.path(suffix), &renames(&catalog, "time", "layers.0.w").unwrap());
        let text = error.unwrap_err().to_string();
        assert!(text.contains("\"time\"") && text.contains("\"layers.0.w\""), "{text}");
        let many = renames(&catalog, "layers.*.*", "one").map(|_| ()).unwrap_err();
        assert!(many.to_string().contains('*'), "{many}");
        assert!(datasets_named(&catalog, "nothing.*").is_err());
        assert!(before == fs::read(world.path(suffix)).expect("a file"), "{suffix}");
    }
    let npz = world.opened("npz");
    let odd = renames(&npz.catalog, "time", "../time").expect("a name");
    assert!(in_place(&world.path("npz"), &odd).is_err());
    let safetensors = world.opened("safetensors");
    let reserved = renames(&safetensors.catalog, "time", "__metadata__").expect("a name");
    assert!(in_place(&world.path("safetensors"), &reserved).is_err());
}

/// Names and labels of axes are there in every container that has a place for them, and other names keep the labels.
#[test]
fn axes_are_named_and_labeled() {
    let world = World::new();
    for suffix in ["tet", "zt", "tgm"] {
        let path = world.path(suffix);
        let (old, labels) = (elements(&world.opened(suffix)), ["a", "b", "c"].map(str::to_owned));
        let at = world.opened(suffix).catalog.find("layers.0.w").expect("it").index;
        let dims = |names: &[&str]| FileEdit::Dims {
            dataset: at,
            names: names.iter().map(|it| (*it).to_owned()).collect(),
        };
        let label = |axis, labels: Option<&[String]>| FileEdit::Labels {
            dataset: at,
            axis,
            labels: labels.map(<[String]>::to_vec),
        };
        let axes = || {
            let opened = world.opened(suffix);
            let dataset = opened.catalog.find("layers.0.w").expect("it");
            let coords: Vec<(usize, Vec<String>)> = dataset.coords.clone().into_iter().collect();
            (dataset.dims.clone(), coords)
        };
        in_place(&path, &[dims(&["row", "x"]), label(0, Some(&labels))]).expect("named");
        assert_eq!(
            axes(),
            (vec!["row".into(), "x".into()], vec![(0, labels.to_vec())]),
            "{suffix}"
        );
        in_place(&path, &[dims(&["y", "x"])]).expect("other names");
        assert_eq!(axes(), (vec!["y".into(), "x".into()], vec![(0, labels.to_vec())]), "{suffix}");
        check_sound(&path);
        in_place(&path, &[label(0, None), dims(&[])]).expect("nothing left");
        assert_eq!(axes(), (Vec::new(), Vec::new()), "{suffix}");
        assert!(elements(&world.opened(suffix)) == old, "{suffix}");
        check_sound(&path);
    }
}

#[test]
fn a_file_that_changes_meanwhile_stays_as_it_is_then() {
    let world = World::new();
    for suffix in SUFFIXES {
        let path = world.path(suffix);
        let opened = world.opened(suffix);
        let edits = renames(&opened.catalog, "time", "t").expect("a name");
        let mut changed = fs::read(&path).expect("a file");
        changed.push(0);
        fs::write(&path, &changed).expect("room");
        for output in [Output::InPlace(&path), Output::NewFile(&world.path("new"))] {
            let failed = edit(&opened, &edits, output, &EditOptions::default());
            assert!(failed.is_err(), "{suffix}");
            assert!(changed == fs::read(&path).expect("a file"), "{suffix}");
            assert!(!world.path("new").exists(), "{suffix}");
        }
    }
}

#[test]
fn the_input_is_no_output_and_links_are_followed() {
    let world = World::new();
    for suffix in SUFFIXES {
        let (path, link) = (world.path(suffix), world.folder.path().join("link"));
        let hard = world.folder.path().join("hard");
        let opened = world.opened(suffix);
        let edits = renames(&opened.catalog, "time", "t").expect("a name");
        let before = fs::read(&path).expect("a file");
        fs::hard_link(&path, &hard).expect("a link");
        for output in [&path, &hard] {
            let failed = edit(&opened, &edits, Output::NewFile(output), &EditOptions::default());
            assert!(
                matches!(failed, Err(Error::Io(_) | Error::File(_) | Error::Container(_))),
                "{suffix}"
            );
        }
        assert!(before == fs::read(&path).expect("a file"), "{suffix}");
        // A link stays a link, and other names of the old file keep it.
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        in_place(&link, &edits).unwrap_or_else(|error| panic!("{suffix}: {error}"));
        assert!(link.symlink_metadata().expect("it").is_symlink());
        assert!(world.opened(suffix).catalog.find("t").is_ok(), "{suffix}");
        assert!(before == fs::read(&hard).expect("a file"), "{suffix}");
        fs::remove_file(link).expect("a link");
        fs::remove_file(hard).expect("a file");
    }
}
