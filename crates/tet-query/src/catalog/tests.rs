use std::io::Cursor;

use tet_file::{OpenOptions, TetFile};
use tet_format::index::{HEADER_LEN, IndexRow};
use tet_format::write::{DatasetSpec, Declaration, FileWriter};
use tet_format::{Codec, DType, Rule, Superblock};
use tet_io::Source;

use super::{Catalog, Dataset};
use crate::budget::Execution;
use crate::error::{Error, Result};
use crate::selection::{AxisSlice, Hyperslab};

/// Two datasets of bytes, 0 to 11 and 100 to 105, in chunks of 2 x 2 and 2.
fn bytes() -> Vec<u8> {
    let specs = [
        DatasetSpec::new("grid", DType::UInt8, [3, 4], [2, 2]),
        DatasetSpec::new("line", DType::UInt8, [6], [2]),
    ];
    let layout = Declaration::new(specs).layout().unwrap();
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), layout).unwrap();
    let chunks: [&[u8]; 7] =
        [&[0, 1, 4, 5], &[2, 3, 6, 7], &[8, 9], &[10, 11], &[100, 101], &[102, 103], &[104, 105]];
    for chunk in chunks {
        writer.push(Codec::Raw, chunk.len() as u64, chunk).unwrap();
    }
    writer.finish(None).unwrap().into_inner()
}

fn row_range(bytes: &[u8], row: usize) -> std::ops::Range<usize> {
    let superblock = Superblock::read(bytes, bytes.len() as u64).unwrap();
    let start =
        usize::try_from(superblock.index_offset + HEADER_LEN).unwrap() + row * IndexRow::LEN;
    start..start + IndexRow::LEN
}

fn edit(bytes: &mut [u8], row: usize, change: impl FnOnce(&mut IndexRow)) {
    let range = row_range(bytes, row);
    let mut decoded = IndexRow::decode(bytes[range.clone()].try_into().unwrap());
    change(&mut decoded);
    bytes[range].copy_from_slice(&decoded.encode());
}

fn open(bytes: Vec<u8>) -> Catalog {
    let source = Source::from_bytes(bytes);
    Catalog::from_tet(TetFile::open(source, &OpenOptions::default()).unwrap()).unwrap()
}

fn read(catalog: &Catalog, name: &str, axes: &[(u64, u64)]) -> Result<Vec<u8>> {
    let dataset = catalog.find(name)?;
    let slice =
        |&(start, stop): &(u64, u64)| AxisSlice { start, stop, step: 1, axis: Default::default() };
    let slab = Hyperslab::new(axes.iter().map(slice).collect(), dataset.shape()).unwrap();
    Ok(dataset.read(&slab, &Execution::default())?.value.into_bytes())
}

#[test]
fn parts_are_found_by_their_names_unless_several_have_one() {
    let catalog = open(bytes());
    let part = |name: &str| Dataset { name: name.to_owned(), ..catalog.datasets()[0].clone() };
    let many = (0..200).map(|at| part(&format!("p{at}")));
    let parts = many.chain([part("twice"), part("twice"), part("line")]).collect();
    let catalog = catalog.with_parts(parts);
    // More often than the names are gone through.
    for at in (0..200).cycle().take(600) {
        let name = format!("p{at}");
        assert_eq!(catalog.find(&name).unwrap().index, 2 + at);
        assert!(catalog.has(&name) && !catalog.has("nothing"));
    }
    let suggested = |name| match catalog.find(name) {
        Err(Error::NoSuchDataset { suggestion, .. }) => suggestion,
        found => panic!("{found:?}"),
    };
    assert_eq!(suggested("twice"), None);
    assert_eq!(suggested("p/19").as_deref(), Some("p19"));
    assert_eq!(catalog.find("line").unwrap().index, 1);
    let filtered = catalog.filtered(|it| it.name == "line");
    assert_eq!(filtered.find("#1").unwrap().name, "line");
    assert_eq!(filtered.find("line").unwrap().index, 1);
    assert!(filtered.find("#0").is_err() && filtered.matching("x*").unwrap().is_empty());
}

const WHOLE: &[(u64, u64)] = &[(0, 3), (0, 4)];

#[test]
fn chunks_are_found_in_any_order_of_rows() {
    for swaps in [&[][..], &[(0, 3)], &[(1, 2)], &[(0, 6), (1, 4)], &[(5, 6)]] {
        let mut bytes = bytes();
        for &(a, b) in swaps {
            let (a, b) = (row_range(&bytes, a), row_range(&bytes, b));
            let held = bytes[a.clone()].to_vec();
            bytes.copy_within(b.clone(), a.start);
            bytes[b].copy_from_slice(&held);
        }
        let catalog = open(bytes);
        assert_eq!(read(&catalog, "grid", WHOLE).unwrap(), Vec::from_iter(0..12), "{swaps:?}");
        assert_eq!(read(&catalog, "grid", &[(1, 3), (3, 4)]).unwrap(), [7, 11]);
        assert_eq!(read(&catalog, "line", &[(1, 6)]).unwrap(), [101, 102, 103, 104, 105]);
    }
}

#[test]
fn a_chunk_named_twice_takes_the_place_of_a_missing_one() {
    let mut bytes = bytes();
    edit(&mut bytes, 1, |row| row.coord[1] = 0);
    let second = row_range(&bytes, 1).start as u64;
    let catalog = open(bytes);
    let twice = read(&catalog, "grid", &[(0, 1), (1, 3)]).unwrap_err();
    assert!(
        matches!(&twice, Error::DuplicateChunk { dataset, chunk, at }
        if dataset == "grid" && **chunk == [0, 0] && *at == second),
        "{twice}"
    );
    let missing = read(&catalog, "grid", &[(0, 1), (2, 3)]).unwrap_err();
    assert!(
        matches!(&missing, Error::MissingChunk { chunk, .. } if **chunk == [0, 1]),
        "{missing}"
    );
    assert_eq!(read(&catalog, "grid", &[(2, 3), (0, 4)]).unwrap(), [8, 9, 10, 11]);
    assert_eq!(read(&catalog, "line", &[(0, 6)]).unwrap(), Vec::from_iter(100..106));
}

#[test]
fn a_broken_row_stops_only_those_who_touch_it() {
    type Change = fn(&mut IndexRow);
    let cases: [(Change, Rule); 6] = [
        (|row| row.raw_len += 1, Rule::RowRawLen),
        (|row| row.stored_len -= 1, Rule::RowStoredLen),
        (|row| row.codec = 7, Rule::RowCodec),
        (|row| row.payload_offset = 31, Rule::PayloadStructure),
        (|row| row.payload_offset = 1 << 40, Rule::PayloadBounds),
        (|row| row.payload_offset = u64::MAX, Rule::PayloadBounds),
    ];
    for (change, rule) in cases {
        let mut bytes = bytes();
        edit(&mut bytes, 2, change);
        let catalog = open(bytes);
        let error = read(&catalog, "grid", WHOLE).unwrap_err();
        assert!(
            matches!(&error, Error::Chunk { chunk, fault, .. }
            if **chunk == [1, 0] && fault.rule == rule),
            "{rule}: {error}"
        );
        assert_eq!(error.kind(), tet_io::Kind::Format);
        assert_eq!(read(&catalog, "grid", &[(0, 3), (2, 4)]).unwrap(), [2, 3, 6, 7, 10, 11]);
    }
}

#[test]
fn names_are_found_by_number_and_nearly() {
    let catalog = open(bytes());
    assert_eq!(catalog.find("#1").unwrap().name, "line");
    assert_eq!(catalog.find("grid").unwrap().index, 0);
    let error = catalog.find("gird").unwrap_err();
    assert!(
        matches!(&error, Error::NoSuchDataset { known, suggestion, .. }
        if known.len() == 2 && suggestion.as_deref() == Some("grid")),
        "{error}"
    );
    assert!(catalog.find("#2").is_err());
    let twice: Vec<_> = catalog
        .datasets()
        .iter()
        .map(|dataset| super::Dataset { name: "same".to_owned(), ..dataset.clone() })
        .collect();
    let catalog = Catalog::new(catalog.source().clone(), "test", twice);
    let error = catalog.find("same").unwrap_err();
    assert!(
        matches!(&error, Error::Ambiguous { positions, .. } if positions == &[0, 1]),
        "{error}"
    );
}

#[test]
fn a_table_of_names_answers_as_the_names_do() {
    let catalog = open(bytes());
    let of_names = |names: &[&str]| {
        let datasets = names
            .iter()
            .map(|&name| super::Dataset { name: name.to_owned(), ..catalog.datasets()[0].clone() });
        Catalog::new(catalog.source().clone(), "test", datasets.collect())
    };
    let others: Vec<String> = (0..60).map(|number| format!("other {number}")).collect();
    let mut names = vec!["a", "b", "", "a", "#1", "c"];
    names.extend(others.iter().map(String::as_str));
    let catalog = of_names(&names);
    for _ in 0..4 {
        for (name, at) in [("b", 1), ("", 2), ("#1", 4), ("c", 5), ("#0", 0), ("#3", 3)] {
            assert_eq!(catalog.find(name).unwrap().index, at, "{name:?}");
        }
        let twice = catalog.find("a").unwrap_err();
        assert!(matches!(&twice, Error::Ambiguous { positions, .. } if positions == &[0, 3]));
        for name in ["d", "#66", "#", "#-1"] {
            assert!(matches!(catalog.find(name), Err(Error::NoSuchDataset { .. })), "{name}");
        }
    }
}

#[test]
fn a_path_is_a_name_and_a_group_is_its_datasets() {
    let source = Source::from_bytes(Vec::new());
    let why = || Error::Unsupported { why: "only its name matters".to_owned() };
    let names = ["g", "g/h/x", "g/h/y", "g2/h", "//odd"];
    let datasets = names.map(|name| Dataset::unreadable(source.clone(), name, why())).to_vec();
    let catalog = Catalog::new(source, "hdf5", datasets);
    let all = |text: &str| {
        let found = catalog.find_all(text).unwrap_or_default();
        found.into_iter().map(|it| it.name.clone()).collect::<Vec<_>>()
    };
    for (text, wanted) in [
        ("/g", &["g"][..]),
        ("/g/h/x", &["g/h/x"]),
        ("g/h", &["g/h/x", "g/h/y"]),
        ("/g/h/", &["g/h/x", "g/h/y"]),
        ("g2", &["g2/h"]),
        ("//odd", &["//odd"]),
        ("/", &[]),
        ("", &[]),
        ("h", &[]),
    ] {
        assert_eq!(all(text), wanted, "{text}");
    }
    assert!(catalog.has("/g/h/x") && !catalog.has("/g/h") && !catalog.has(&"/".repeat(1 << 20)));
}

#[test]
fn a_name_in_a_group_that_cannot_be_read_is_not_said_to_be_missing() {
    let source = Source::from_bytes(Vec::new());
    let why = || Error::Unsupported { why: "its header is damaged".to_owned() };
    let delta = Dataset::unreadable(source.clone(), "delta", why());
    let catalog = Catalog::new(source.clone(), "hdf5", vec![delta]);
    for name in ["delta/epsilon", "/delta/epsilon/deep"] {
        let error = catalog.find(name).unwrap_err();
        assert!(
            matches!(&error, Error::Unreadable { dataset, .. } if dataset == "delta"),
            "{error}"
        );
    }
    assert!(matches!(catalog.find("alpha/x"), Err(Error::NoSuchDataset { .. })));
    let root = Dataset::unreadable(source.clone(), "/", why());
    let catalog = Catalog::new(source, "hdf5", vec![root]);
    assert!(matches!(catalog.find("alpha"), Err(Error::Unreadable { .. })));
}
