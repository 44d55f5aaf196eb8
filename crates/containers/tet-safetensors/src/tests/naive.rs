//! Headers against a reading by another JSON parser, which takes no care.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value};
use tet_query::{Execution, Hyperslab};

use super::{file, opened};
use tet_container::read::json::Scanner;
use tet_container::read::opened::Opened;

/// Dtypes with their bytes.
const DTYPES: [(&str, usize); 8] = [
    ("BOOL", 1),
    ("I8", 1),
    ("U16", 2),
    ("BF16", 2),
    ("F32", 4),
    ("I64", 8),
    ("C64", 8),
    ("F8_E5M2", 1),
];

/// A file out of tensors with names, dtypes and shapes, in this order in the buffer; keys stand in
/// the order of a map.
fn built(
    tensors: &[(String, usize, Vec<usize>)],
    spaces: usize,
) -> (Vec<u8>, BTreeMap<String, Vec<u8>>) {
    let (mut header, mut buffer) = (Map::new(), Vec::new());
    let mut wanted = BTreeMap::new();
    for (name, dtype, shape) in tensors {
        let (dtype, size) = DTYPES[*dtype];
        let len = shape.iter().product::<usize>() * size;
        let begin = buffer.len();
        let bytes: Vec<u8> =
            (0..len).map(|at| u8::try_from((at * 7 + begin) % 251).unwrap()).collect();
        buffer.extend(&bytes);
        let offsets = [begin, begin + len];
        let entry = serde_json::json!({"dtype": dtype, "shape": shape, "data_offsets": offsets});
        header.insert(name.clone(), entry);
        wanted.insert(name.clone(), bytes);
    }
    let text = if spaces.is_multiple_of(2) {
        serde_json::to_string(&Value::Object(header)).unwrap()
    } else {
        serde_json::to_string_pretty(&Value::Object(header)).unwrap()
    };
    (file(&(text + &" ".repeat(spaces)), &buffer), wanted)
}

proptest! {
    #[test]
    fn every_sound_file_is_read(
        tensors in proptest::collection::btree_map(".{0,12}", (0..DTYPES.len(), proptest::collection::vec(0..4_usize, 0..4)), 0..6),
        spaces in 0..9_usize,
    ) {
        let tensors: Vec<(String, usize, Vec<usize>)> = tensors
            .into_iter()
            .filter(|(name, _)| name != "__metadata__")
            .map(|(name, (dtype, shape))| (name, dtype, shape))
            .collect();
        let (bytes, wanted) = built(&tensors, spaces);
        let Opened { catalog, .. } = opened(&bytes).unwrap();
        prop_assert_eq!(catalog.datasets().len(), wanted.len());
        for dataset in catalog.datasets() {
            let shape: Vec<u64> = tensors
                .iter()
                .find(|it| it.0 == dataset.name)
                .map(|it| it.2.iter().map(|&extent| extent as u64).collect())
                .unwrap();
            prop_assert_eq!(dataset.shape(), &shape[..]);
            if dataset.why().is_none() {
                let slab = Hyperslab::whole(dataset.shape());
                let array = dataset.read(&slab, &Execution::default()).unwrap();
                prop_assert_eq!(array.bytes(), &wanted[&dataset.name][..]);
            }
        }
    }

    /// Text that is nearly JSON is JSON to both or to none.
    #[test]
    fn the_scanner_takes_what_json_is(
        text in "[\\[\\]{}:, \n\"\\\\u0-9a-cefA-CEF+.\\-truels]{0,24}"
    ) {
        let mut scanner = Scanner::new(&text);
        let taken = scanner.skip().and_then(|()| scanner.end()).is_ok();
        prop_assert_eq!(taken, serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok(), "{}", text);
    }

    #[test]
    fn strings_are_read_as_they_were_written(text in ".{0,40}") {
        let json = serde_json::to_string(&text).unwrap();
        let mut scanner = Scanner::new(&json);
        prop_assert_eq!(scanner.string().unwrap().into_owned(), text.clone());
        let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
        let json = format!("\"{escaped}\"");
        prop_assert_eq!(Scanner::new(&json).string().unwrap().into_owned(), text);
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = opened(&bytes).map(|_| ());
        let len = u64::try_from(bytes.len()).unwrap();
        let _ = opened(&[&len.to_le_bytes()[..], b"{\"", &bytes].concat()).map(|_| ());
    }
}
