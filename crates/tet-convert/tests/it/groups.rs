//! Attributes of groups of a file that h5py wrote: every container that has groups has them, with their values.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use tet_convert::{ConvertOptions, Note, convert};
use tet_query::AttrText;

use crate::common::{fixture, opened};

/// The attributes as JSON.
fn values(attrs: &BTreeMap<String, AttrText>) -> BTreeMap<&str, Value> {
    let json = |attr: &AttrText| match attr {
        AttrText::Text(text) => Value::from(text.as_str()),
        attr => serde_json::from_str(attr.text()).unwrap(),
    };
    attrs.iter().map(|(name, attr)| (name.as_str(), json(attr))).collect()
}

/// The notes but those on axes, which NetCDF names.
fn left_out(notes: &[Note]) -> Vec<&Note> {
    notes.iter().filter(|it| !matches!(it, Note::AxisRenamed { .. })).collect()
}

#[test]
fn attributes_of_groups_come_through_every_container() {
    let wanted = BTreeMap::from([
        ("about/run/host", json!("here")),
        ("about/run/step", json!(7)),
        ("model/name", json!("of the model")),
        ("model/scale", json!([0.5, 1.5])),
        ("model/version", json!(3)),
        ("title", json!("groups")),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let mut from = fixture("groups.h5");
    let typed = opened(&from).catalog.attrs().clone();
    assert_eq!(values(&typed), wanted);
    for name in ["a.zarr", "b.zarr.zip", "c.nc", "d.tet", "e.h5", "f.zarr", "g.tet"] {
        let to = folder.path().join(name);
        let notes = convert(&from, &to, &ConvertOptions::default()).unwrap().notes;
        assert_eq!(left_out(&notes), Vec::<&Note>::new(), "{name}");
        let opened = opened(&to);
        let attrs = opened.catalog.attrs();
        // Numbers with a fraction are float64 where no type is given.
        let is_same = |name: &String| attrs[name].is_same(&typed[name]);
        assert!(attrs.keys().eq(typed.keys()) && attrs.keys().all(is_same), "{name}: {attrs:?}");
        from = to;
    }
    // A program that knows nothing of this one finds them at their groups.
    for (group, wanted) in [
        ("", json!({"title": "groups"})),
        ("model/", json!({"version": 3, "scale": [0.5, 1.5], "name": "of the model"})),
        ("about/run/", json!({"host": "here", "step": 7})),
    ] {
        let document = fs::read(folder.path().join(format!("a.zarr/{group}zarr.json"))).unwrap();
        let document: Value = serde_json::from_slice(&document).unwrap();
        let mut attrs = document["attributes"].clone();
        attrs.as_object_mut().unwrap().remove("tet:types");
        assert_eq!(attrs, wanted, "{group}");
    }
}

#[test]
fn attributes_of_a_group_whose_datasets_are_left_out_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = ConvertOptions::default();
    options.tet.include = vec!["top".to_owned()];
    for name in ["a.zarr", "a.h5", "a.nc", "a.tet"] {
        let to = folder.path().join(name);
        let notes = convert(&fixture("groups.h5"), &to, &options).unwrap().notes;
        assert_eq!(left_out(&notes), Vec::<&Note>::new(), "{name}");
        let count = opened(&to).catalog.attrs().len();
        assert_eq!(count, 6, "{name}");
    }
}
