//! Small files: what they hold, and that no change of a byte and no cut makes the reader panic.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use tet_hdf5::{Class, Hdf5File, NumberOrder, ObjectKind, StoredFault, StoredLayout, StoredObject};
use tet_io::Source;

const FILES: [(&str, &[u8]); 4] = [
    ("old", include_bytes!("fixtures/old.h5")),
    ("arrays", include_bytes!("fixtures/arrays.h5")),
    ("tree", include_bytes!("fixtures/tree.h5")),
    ("dense", include_bytes!("fixtures/dense.h5")),
];

fn bytes(name: &str) -> Vec<u8> {
    FILES.iter().find(|(it, _)| *it == name).map(|(_, bytes)| bytes.to_vec()).unwrap()
}

fn open(name: &str) -> Hdf5File {
    Hdf5File::open(Source::from_bytes(bytes(name))).unwrap()
}

fn object(file: &Hdf5File, path: &str) -> StoredObject {
    let (objects, _) = file.objects().unwrap();
    objects.into_iter().find(|it| it.path == path).unwrap()
}

/// Reads all that there is; gives how many rules are broken.
fn read_all(bytes: Vec<u8>) -> usize {
    let Ok(file) = Hdf5File::open(Source::from_bytes(bytes)) else { return 1 };
    let mut count = 0;
    file.check(&mut |_| count += 1).unwrap();
    let Ok((objects, _)) = file.objects() else { return count };
    for object in objects {
        if let Ok((attributes, _)) = file.attributes(object.address) {
            for attribute in attributes {
                let _ = file.texts(&attribute.datatype, &attribute.bytes, 1 << 20);
            }
        }
        if object.kind == ObjectKind::Dataset
            && let Ok(dataset) = file.dataset(object.address)
            && let StoredLayout::Chunked(chunks) = dataset.layout
        {
            let _ = chunks.find(&vec![1; chunks.shape().len()]);
            let _ = chunks.each(&mut |_, _| true);
        }
    }
    count
}

#[test]
fn sound_files_break_no_rule_but_those_of_links() {
    for (name, bytes) in FILES {
        let mut all: Vec<StoredFault> = Vec::new();
        let file = Hdf5File::open(Source::from_bytes(bytes)).unwrap();
        file.check(&mut |found| all.push(found)).unwrap();
        let ids: Vec<&str> = all.iter().map(|it| it.fault.rule.id).collect();
        let wanted: &[&str] = if name == "old" { &["H5-G3", "H5-G6"] } else { &[] };
        assert_eq!(ids, wanted, "{name}");
    }
}

#[test]
fn an_old_file_has_its_objects_names_and_texts() {
    let file = open("old");
    let (objects, _) = file.objects().unwrap();
    let names: Vec<&str> = objects.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(names, ["", "g", "g/z", "text", "gone"]);
    let is_lost = |it: &StoredObject| matches!(it.kind, ObjectKind::Unreadable(_));
    assert!(is_lost(&objects[4]) && !objects[..4].iter().any(is_lost));
    assert_eq!(objects[0].others, ["g/loop"]);
    assert_eq!(objects[2].others, ["soft"]);
    let described = file.dataset(objects[2].address).unwrap();
    assert_eq!(described.space.shape, [4, 5]);
    assert_eq!(described.space.max_shape, [None, Some(5)]);
    assert_eq!(described.fill.as_deref(), Some(&[0xff, 0xff][..]));
    assert_eq!(described.filters[0].id, 1);
    let class =
        Class::Integer { order: NumberOrder::Big, is_signed: true, offset: 0, precision: 16 };
    assert_eq!(described.datatype.class, class);
    let text = file.dataset(objects[3].address).unwrap();
    let StoredLayout::Contiguous(Some(span)) = text.layout else { panic!("contiguous") };
    let raw = file.source().read_vec(span.start(), span.len()).unwrap();
    assert_eq!(file.texts(&text.datatype, &raw, 1 << 20).unwrap().unwrap(), ["a", "bb"]);
    let (attributes, _) = file.attributes(objects[3].address).unwrap();
    let units = file.texts(&attributes[0].datatype, &attributes[0].bytes, 100).unwrap();
    assert_eq!((attributes[0].name.as_str(), units), ("units", Some(vec!["K".to_owned()])));
}

#[test]
fn every_index_finds_the_chunks_that_it_lists() {
    let cases = [
        ("old", "g/z", "B-tree 1", 6),
        ("arrays", "fixed", "fixed array", 6),
        ("arrays", "grows", "extensible array", 6),
        ("arrays", "single", "single chunk", 1),
        ("arrays", "zipped", "fixed array", 6),
        ("tree", "both", "B-tree 2", 6),
    ];
    for (name, path, form, count) in cases {
        let file = open(name);
        let dataset = file.dataset(object(&file, path).address).unwrap();
        let StoredLayout::Chunked(chunks) = dataset.layout else { panic!("{path} has chunks") };
        let mut listed = 0;
        let mut all = |coord: &[u64], chunk| {
            assert_eq!(chunks.find(coord).unwrap(), Some(chunk), "{path} {coord:?}");
            listed += 1;
            true
        };
        chunks.each(&mut all).unwrap();
        assert_eq!((chunks.form(), listed), (form, count), "{path}");
    }
}

/// The elements of the first and the last chunk are those that were written: their own numbers.
#[test]
fn chunks_without_filters_hold_their_elements() {
    for (name, path) in [("arrays", "fixed"), ("arrays", "grows"), ("tree", "both")] {
        let file = open(name);
        let dataset = file.dataset(object(&file, path).address).unwrap();
        let StoredLayout::Chunked(chunks) = dataset.layout else { panic!("{path} has chunks") };
        for (coord, first) in [([0, 0], 0), ([0, 1], 2), ([1, 0], 10), ([1, 2], 14)] {
            let span = chunks.find(&coord).unwrap().unwrap().span;
            let raw = file.source().read_vec(span.start(), 2).unwrap();
            assert_eq!(raw, [first, 0], "{path} {coord:?}");
        }
    }
}

#[test]
fn attributes_come_in_the_order_of_making() {
    let file = open("dense");
    let (attributes, faults) = file.attributes(file.root()).unwrap();
    assert_eq!(faults, []);
    let all: Vec<(&str, &[u8])> =
        attributes.iter().map(|it| (it.name.as_str(), it.bytes.as_slice())).collect();
    assert_eq!(all.len(), 9);
    assert_eq!(all[0], ("k9", &[0][..]));
    assert_eq!(all[8], ("k1", &[8][..]));
}

#[test]
fn no_changed_byte_makes_the_reader_panic() {
    for (_, original) in FILES {
        for at in 0..original.len() {
            let mut bytes = original.to_vec();
            let zeros = original[at.saturating_sub(8)..(at + 8).min(original.len())].iter();
            // Inside long runs of zeros every eighth byte is enough.
            if zeros.clone().all(|&byte| byte == 0) && at % 64 != 0 {
                continue;
            }
            bytes[at] ^= if at % 2 == 0 { 0xff } else { 1 };
            read_all(bytes);
        }
    }
}

#[test]
fn no_cut_makes_the_reader_panic() {
    for (_, original) in FILES {
        for len in (0..original.len()).step_by(7) {
            assert!(read_all(original[..len].to_vec()) > 0, "a cut to {len} bytes is found");
        }
    }
}

/// Every byte of a checksummed structure matters.
#[test]
fn a_changed_header_is_found() {
    let mut bytes = bytes("arrays");
    let at = bytes.windows(4).position(|it| it == b"OHDR").unwrap();
    bytes[at + 20] ^= 1;
    assert!(read_all(bytes) > 0);
}

/// Trees whose children are their own parent, or the same child twice.
#[test]
fn trees_with_circles_end() {
    let mut bytes = bytes("old");
    let nodes: Vec<usize> =
        (0..bytes.len() - 4).filter(|&at| &bytes[at..at + 4] == b"TREE").collect();
    for at in nodes {
        let own = (at as u64).to_le_bytes();
        bytes[at + 5] = 200;
        let key_len = if bytes[at + 4] == 0 { 8 } else { 8 + 8 * 3 };
        bytes[at + 24 + key_len..at + 32 + key_len].copy_from_slice(&own);
    }
    assert!(read_all(bytes) > 0);
}
