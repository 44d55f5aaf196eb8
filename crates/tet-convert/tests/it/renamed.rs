//! Conversions that give datasets other names: axes and attributes follow, in every container.

use crate::common::{opened, read};
use crate::edit_in_place::climate;
use tet_convert::{Attribute, ConvertOptions, Error, convert};
use tet_file::AttrValue;
use tet_query::AttrText;

fn with(renames: &[(&str, &str)]) -> ConvertOptions {
    let mut options = ConvertOptions::default();
    let pairs = renames.iter().map(|(old, new)| ((*old).to_owned(), (*new).to_owned()));
    options.renames = pairs.collect();
    options
}

#[test]
fn axes_and_attributes_follow_new_names() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("from.tet");
    climate(&from);
    for name in ["a.tet", "a.nc", "a.h5", "a.nc3", "a.zarr", "a.zarr.zip", "a.zt"] {
        let path = folder.path().join(name);
        let mut options = with(&[("lat", "latitude"), ("height", "level")]);
        // Other options have the old names.
        let (dataset, key) = (Some("lat".to_owned()), "note".to_owned());
        options.tet.attrs = vec![Attribute { dataset, key, value: AttrValue::from("of lat") }];
        options.tet.exclude = vec!["lon".to_owned()];
        convert(&from, &path, &options).unwrap();
        let file = opened(&path);
        let names: Vec<&str> = file.catalog.datasets().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["tas", "latitude", "level"], "{name}");
        let tas = file.catalog.find("tas").unwrap();
        assert_eq!(tas.dims, ["latitude", "lon"], "{name}");
        assert_eq!(tas.attrs["coordinates"], AttrText::Text("level other".to_owned()), "{name}");
        assert_eq!(tas.attrs["cell_measures"], AttrText::Text("area: level".to_owned()), "{name}");
        let latitude = file.catalog.find("latitude").unwrap();
        assert_eq!(latitude.dims, ["latitude"], "{name}");
        assert_eq!(latitude.attrs["note"], AttrText::Text("of lat".to_owned()), "{name}");
        assert_eq!(read(&file, "latitude").as_slice::<f64>().unwrap(), [1.0, 2.0], "{name}");
        let tas = read(&file, "tas");
        assert_eq!(tas.as_slice::<f64>().unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "{name}");
    }
}

#[test]
fn names_are_exchanged_and_patterns_are_of_many() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("from.tet");
    climate(&from);
    let path = folder.path().join("a.nc");
    convert(&from, &path, &with(&[("tas", "height"), ("height", "tas")])).unwrap();
    let file = opened(&path);
    assert_eq!(read(&file, "tas").as_slice::<f64>().unwrap(), [3.0]);
    assert_eq!(read(&file, "height").as_slice::<f64>().unwrap().len(), 6);
    let path = folder.path().join("b.nc");
    convert(&from, &path, &with(&[("l*", "grid_*")])).unwrap();
    let file = opened(&path);
    assert_eq!(file.catalog.find("tas").unwrap().dims, ["grid_at", "grid_on"]);
}

#[test]
fn a_name_that_is_not_there_or_taken_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("from.tet");
    climate(&from);
    let path = folder.path().join("a.nc");
    for renames in [("nothing", "x"), ("tas", "lat"), ("l*", "same")] {
        let refused = convert(&from, &path, &with(&[renames]));
        assert!(refused.is_err(), "{renames:?}");
        assert!(!path.exists(), "{renames:?}");
    }
    let refused = convert(&from, &path, &with(&[("tas", "lat")])).unwrap_err();
    assert!(matches!(refused, Error::Collision { .. }), "{refused}");
}
