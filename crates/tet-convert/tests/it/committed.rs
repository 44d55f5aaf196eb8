//! Committed datatypes of files that h5py and the NetCDF library wrote: types that datasets have, and types that nothing
//! has.

use tet_convert::{ConvertOptions, convert, verify};
use tet_io::Source;
use tet_query::AttrText;

use crate::common::{deep, fixture, opened};

/// The messages about a file, those about a copy of it, and the number of types that a check names.
fn told(name: &str) -> (Vec<String>, Vec<String>, usize) {
    let opened = opened(&fixture(name));
    let left_out = opened.left_out().map(ToString::to_string);
    let read = opened.warnings().map(ToString::to_string).chain(left_out).collect();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("x.tet");
    let mut options = ConvertOptions::default();
    options.unsupported = tet_convert::UnsupportedChoice::Skipped;
    let notes = convert(&fixture(name), &out, &options).unwrap().notes;
    let of_types = notes.iter().map(ToString::to_string).filter(|it| it.contains("datatypes"));
    let report = verify(&Source::open(&fixture(name)).unwrap(), &deep()).unwrap();
    let findings = report.findings.iter().filter(|it| it.code.id() == "H5-G7");
    (read, of_types.collect(), findings.count())
}

#[test]
fn types_that_datasets_have_lack_their_names_in_copies_alone() {
    let (read, copied, found) = told("types.nc");
    assert_eq!((read, found), (Vec::new(), 0));
    let names = r#""kind0_t", "kind1_t", "kind2_t", "pair_t", "nested_t", "list_t""#;
    assert_eq!(copied, [format!("names of datatypes (6) are left out: {names}")]);
}

#[test]
fn types_that_no_dataset_has_are_one_warning() {
    let (read, copied, found) = told("types.h5");
    let names: Vec<String> = (0..16).map(|number| format!("\"unused/t{number:02}\"")).collect();
    let unused =
        format!("datatypes that no dataset has (20) are left out: {}, ...", names.join(", "));
    assert_eq!(read, [unused.as_str()]);
    assert_eq!(copied, [unused.as_str(), "names of datatypes (1) are left out: \"kinds\""]);
    assert_eq!(found, 20);
}

#[test]
fn attributes_of_a_type_are_those_of_its_path() {
    let opened = opened(&fixture("types.h5"));
    assert_eq!(opened.catalog.attrs().get("kinds/author"), Some(&AttrText::Text("me".to_owned())));
}
