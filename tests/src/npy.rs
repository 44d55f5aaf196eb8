//! A small reader of `.npy` and `.npz`: the other side of the rival samples.

use std::io::Read;
use std::path::Path;

/// One array of an `.npz` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// NumPy's type string, such as `<f4`.
    pub descr: String,
    /// All extents.
    pub shape: Vec<u64>,
    /// The elements, row-major.
    pub bytes: Vec<u8>,
}

/// Reads every array of an `.npz` file, by key.
#[must_use]
pub fn read_npz(path: &Path) -> Vec<(String, Array)> {
    let file = std::fs::File::open(path).unwrap();
    let mut archive = zip::ZipArchive::new(file).unwrap();
    (0..archive.len())
        .map(|number| {
            let mut entry = archive.by_index(number).unwrap();
            let key = entry.name().unwrap().strip_suffix(".npy").unwrap().to_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            (key, parse_npy(&bytes))
        })
        .collect()
}

/// Parses an `.npy` file in C order.
#[must_use]
pub fn parse_npy(bytes: &[u8]) -> Array {
    assert_eq!(&bytes[..6], b"\x93NUMPY", "an npy file begins with its magic");
    let (start, len) = match bytes[6] {
        1 => (10, usize::from(u16::from_le_bytes(bytes[8..10].try_into().unwrap()))),
        _ => (12, u32::from_le_bytes(bytes[8..12].try_into().unwrap()).try_into().unwrap()),
    };
    let header = std::str::from_utf8(&bytes[start..start + len]).unwrap();
    assert!(header.contains("'fortran_order': False"), "the samples are in C order: {header}");
    let descr = between(header, "'descr': '", "'").to_owned();
    let shape = between(header, "'shape': (", ")")
        .split(',')
        .map(str::trim)
        .filter(|extent| !extent.is_empty())
        .map(|extent| extent.parse().unwrap())
        .collect();
    Array { descr, shape, bytes: bytes[start + len..].to_vec() }
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let start = text.find(before).unwrap() + before.len();
    let len = text[start..].find(after).unwrap();
    &text[start..start + len]
}
