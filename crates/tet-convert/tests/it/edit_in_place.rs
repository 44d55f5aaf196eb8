//! Edits of files of others - HDF5, NetCDF and Zarr: names and attributes change, and all else is what it was.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{fixture, opened, read};
use tet_convert::{
    ConvertOptions, EditOptions, Error, FileEdit, convert, datasets_named, edit, renames, verify,
    with_followers,
};
use tet_io::{Output, Source};
use tet_query::AttrText;
use tet_verify::VerifyOptions;

type Outcome = Result<u64, Error>;

/// Edits the file at a path in its place.
fn edited(path: &Path, edits: impl FnOnce(&tet_convert::Opened) -> Vec<FileEdit>) -> Outcome {
    let file = opened(path);
    let edits = edits(&file);
    edit(&file, &edits, Output::InPlace(path), &EditOptions::default())
}

fn rename(path: &Path, from: &str, to: &str) -> Outcome {
    edited(path, |file| renames(&file.catalog, from, to).unwrap())
}

fn set(path: &Path, dataset: Option<&str>, key: &str, value: Option<&str>) -> Outcome {
    edited(path, |file| {
        let dataset = dataset.map(|name| datasets_named(&file.catalog, name).unwrap()[0]);
        let value = value.map(|text| AttrText::Text(text.to_owned()));
        vec![FileEdit::Attr { dataset, key: key.to_owned(), value }]
    })
}

/// The shape, the elements where they can be read, and the attributes of a dataset.
type Content = (Vec<u64>, Option<Vec<u8>>, Vec<String>);

/// Attributes of all datasets.
fn contents(path: &Path) -> BTreeMap<String, Content> {
    let file = opened(path);
    let mut found = BTreeMap::new();
    for dataset in file.catalog.datasets() {
        let is_number = dataset.dtype.is_some() && dataset.fault.is_none();
        let bytes = is_number.then(|| read(&file, &dataset.name).bytes().to_vec());
        let attrs = dataset.attrs.iter().map(|(key, value)| format!("{key}={value:?}")).collect();
        found.insert(dataset.name.clone(), (dataset.shape().to_vec(), bytes, attrs));
    }
    found
}

fn check_sound(path: &Path) {
    let source = Source::open(tet_convert::document_of(path)).unwrap();
    let report = verify(&source, &VerifyOptions::default()).unwrap();
    assert!(report.is_ok(), "{}: {:?}", path.display(), report.findings);
}

/// Copies of files of every kind, with a dataset of each that is edited.
fn copies(folder: &Path) -> Vec<(PathBuf, &'static str)> {
    let mut files = Vec::new();
    let of = [
        ("data.nc", "temp"),
        ("classic.nc", "temp"),
        ("offset.nc", "temp"),
        ("groups.h5", "model/t"),
        ("types.h5", "sky"),
        ("structures.h5", ""),
    ];
    for (name, dataset) in of {
        let to = folder.join(name);
        fs::copy(fixture(name), &to).unwrap();
        files.push((to, dataset));
    }
    for name in ["made.zarr", "made.zarr.zip"] {
        let to = folder.join(name);
        convert(&fixture("data.nc"), &to, &ConvertOptions::default()).unwrap();
        files.push((to, "temp"));
    }
    files
}

/// The dataset that is edited, or the first one.
fn target(path: &Path, wanted: &str) -> String {
    let file = opened(path);
    let names: Vec<&str> = file.catalog.datasets().iter().map(|it| it.name.as_str()).collect();
    if names.contains(&wanted) { wanted.to_owned() } else { names[0].to_owned() }
}

#[test]
fn an_attribute_changes_and_all_else_stays() {
    let folder = tempfile::tempdir().unwrap();
    for (path, wanted) in copies(folder.path()) {
        let name = target(&path, wanted);
        let before = contents(&path);
        // Twice: the second edit is one of a header that was edited.
        for number in 0..20 {
            set(&path, Some(&name), "note", Some(&format!("number {number}"))).unwrap();
        }
        set(&path, None, "of_file", Some("yes")).unwrap();
        let file = opened(&path);
        let value = file.catalog.find(&name).unwrap().attrs.get("note").cloned();
        assert_eq!(value, Some(AttrText::Text("number 19".to_owned())), "{}", path.display());
        assert_eq!(file.catalog.attrs()["of_file"], AttrText::Text("yes".to_owned()));
        drop(file);
        check_sound(&path);
        set(&path, Some(&name), "note", None).unwrap();
        assert_eq!(contents(&path), before, "{}", path.display());
        check_sound(&path);
    }
}

#[test]
fn a_dataset_gets_another_name_and_its_old_one_again() {
    let folder = tempfile::tempdir().unwrap();
    for (path, wanted) in copies(folder.path()) {
        let name = target(&path, wanted);
        let group = name.rsplit_once('/').map_or(String::new(), |(group, _)| format!("{group}/"));
        let new = format!("{group}an_other_name");
        let before = contents(&path);
        rename(&path, &name, &new).unwrap();
        let mut wanted = before.clone();
        let moved = wanted.remove(&name).unwrap();
        wanted.insert(new.clone(), moved);
        let names = |map: &BTreeMap<String, _>| map.keys().cloned().collect::<Vec<_>>();
        let found = contents(&path);
        assert_eq!(names(&found), names(&wanted), "{}", path.display());
        assert_eq!(found[&new].1, wanted[&new].1, "{}", path.display());
        check_sound(&path);
        rename(&path, &new, &name).unwrap();
        assert_eq!(contents(&path), before, "{}", path.display());
    }
}

#[test]
fn a_name_that_is_taken_or_in_another_group_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    for (path, wanted) in copies(folder.path()) {
        let name = target(&path, wanted);
        let before = contents(&path);
        assert!(rename(&path, &name, &format!("elsewhere/{name}")).is_err(), "{}", path.display());
        let other = before.keys().find(|it| **it != name).cloned();
        if let Some(other) = other {
            assert!(rename(&path, &name, &other).is_err(), "{}", path.display());
        }
        assert_eq!(contents(&path), before);
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(Result::unwrap).collect();
        left.retain(|it| it.file_name().to_string_lossy().starts_with('.'));
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn what_names_a_coordinate_follows_its_new_name() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("from.tet");
    climate(&from);
    for name in ["a.tet", "a.nc", "a.nc3", "a.zarr", "a.zarr.zip"] {
        let path = folder.path().join(name);
        convert(&from, &path, &ConvertOptions::default()).unwrap();
        edited(&path, |file| {
            let edits = [("lat", "latitude"), ("height", "level")];
            let edits =
                edits.iter().flat_map(|(from, to)| renames(&file.catalog, from, to).unwrap());
            with_followers(file, edits.collect())
        })
        .unwrap();
        let file = opened(&path);
        let tas = file.catalog.find("tas").unwrap();
        assert_eq!(tas.dims, ["latitude", "lon"], "{name}");
        assert_eq!(tas.attrs["coordinates"], AttrText::Text("level other".to_owned()), "{name}");
        assert_eq!(tas.attrs["cell_measures"], AttrText::Text("area: level".to_owned()), "{name}");
        assert_eq!(file.catalog.find("latitude").unwrap().dims, ["latitude"], "{name}");
        assert!(file.catalog.find("lat").is_err(), "{name}");
    }
}

fn drop_of(path: &Path, name: &str) -> Outcome {
    edited(path, |file| {
        let dataset = datasets_named(&file.catalog, name).unwrap()[0];
        with_followers(file, vec![FileEdit::Drop { dataset }])
    })
}

#[test]
fn a_dataset_is_removed_and_all_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    for (path, _) in copies(folder.path()) {
        let before = contents(&path);
        let bytes = path.is_file().then(|| fs::read(&path).unwrap());
        let names: Vec<String> = before.keys().cloned().collect();
        // A folder is not put back: one dataset after the other goes.
        let mut wanted = before.clone();
        for name in names.iter().take(names.len() - 1) {
            if let Some(bytes) = &bytes {
                fs::write(&path, bytes).unwrap();
                wanted.clone_from(&before);
            }
            match drop_of(&path, name) {
                // Another dataset is a link to it.
                Err(error) if error.to_string().contains("is linked to") => continue,
                outcome => outcome.unwrap(),
            };
            wanted.remove(name);
            let found = contents(&path);
            let elements = |all: &BTreeMap<String, Content>| -> Vec<_> {
                all.iter().map(|(name, it)| (name.clone(), it.0.clone(), it.1.clone())).collect()
            };
            assert_eq!(elements(&found), elements(&wanted), "{}: {name}", path.display());
            check_sound(&path);
        }
    }
}

#[test]
fn what_names_a_removed_dataset_does_so_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("from.tet");
    climate(&from);
    for name in ["a.tet", "a.nc", "a.h5", "a.nc3", "a.zarr", "a.zarr.zip"] {
        let path = folder.path().join(name);
        convert(&from, &path, &ConvertOptions::default()).unwrap();
        let before = contents(&path);
        drop_of(&path, "height").unwrap();
        drop_of(&path, "lat").unwrap();
        let file = opened(&path);
        let tas = file.catalog.find("tas").unwrap();
        assert_eq!(tas.dims, ["lat", "lon"], "{name}");
        assert_eq!(tas.attrs["coordinates"], AttrText::Text("other".to_owned()), "{name}");
        assert!(!tas.attrs.contains_key("cell_measures"), "{name}");
        let names: Vec<&str> = file.catalog.datasets().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names.len(), 2, "{name}: {names:?}");
        assert!(names.contains(&"tas") && names.contains(&"lon"), "{name}: {names:?}");
        assert_eq!(contents(&path)["tas"].1, before["tas"].1, "{name}");
        check_sound(&path);
    }
}

/// A file with a coordinate, and attributes that name others.
pub(crate) fn climate(path: &Path) {
    use tet_file::write::{ChunkAt, DatasetSpec, WriteOptions, Writer};
    use tet_file::{AttrValue, Metadata};
    use tet_format::DType;
    let spec = |name: &str, shape: &[u64]| DatasetSpec::new(name, DType::Float64, shape, shape);
    let specs =
        vec![spec("tas", &[2, 3]), spec("lat", &[2]), spec("lon", &[3]), spec("height", &[1])];
    let mut writer = Writer::create(path, specs, &WriteOptions::default()).unwrap();
    for id in 0..4 {
        let fill = &mut |chunk: ChunkAt<'_>, out: &mut Vec<u8>| {
            let count = chunk.decoded_len / 8;
            (0..count).for_each(|at| out.extend((at as f64 + id as f64).to_le_bytes()));
            Ok(())
        };
        writer.write_dataset(id, fill, &tet_io::Progress::default()).unwrap();
    }
    let mut metadata = Metadata::new();
    for (name, dims) in [("tas", &["lat", "lon"][..]), ("lat", &["lat"]), ("lon", &["lon"])] {
        let of = metadata.datasets.entry(name.to_owned()).or_default();
        of.dim_names = dims.iter().map(|it| (*it).to_owned()).collect();
    }
    let tas = metadata.datasets.entry("tas".to_owned()).or_default();
    tas.attrs.insert("coordinates".into(), AttrValue::from("height other"));
    tas.attrs.insert("cell_measures".into(), AttrValue::from("area: height"));
    writer.finish(&metadata, &[]).unwrap();
}

#[test]
#[allow(clippy::big_endian_bytes, reason = "the numbers of NetCDF are big-endian")]
fn records_that_no_variable_has_are_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.nc");
    // CDF-5: a number of records, one dimension, no attributes, two variables of one byte each.
    let number = |it: u64| it.to_be_bytes();
    let mut bytes = b"CDF\x05".to_vec();
    bytes.extend(number(1 << 62));
    bytes.extend([0; 12]);
    bytes.extend([0; 12]);
    bytes.extend(11_u32.to_be_bytes());
    bytes.extend(number(2));
    let begin = u64::try_from(bytes.len() + 2 * 52).unwrap();
    for (name, at) in [(b"a\0\0\0", 0), (b"b\0\0\0", 4)] {
        bytes.extend(number(1));
        bytes.extend(name);
        bytes.extend(number(0));
        bytes.extend([0; 12]);
        bytes.extend(1_u32.to_be_bytes());
        bytes.extend(number(4));
        bytes.extend(number(begin + at));
    }
    bytes.extend([5, 0, 0, 0, 7, 0, 0, 0]);
    fs::write(&path, bytes).unwrap();
    drop_of(&path, "a").unwrap();
    let file = opened(&path);
    assert_eq!(file.catalog.datasets().len(), 1);
    assert_eq!(read(&file, "b").bytes(), [7]);
}
