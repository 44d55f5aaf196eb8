//! NetCDF classic files: what is checked, opened and read of any bytes agrees.

#![allow(clippy::big_endian_bytes, reason = "the numbers of NetCDF are big-endian")]

use super::agree::{DatasetLen, agree};

/// Checks, opens and reads the bytes; those without a magic get one.
pub fn netcdf(bytes: &[u8]) {
    let version = [1, 2, 5][usize::from(bytes.first().copied().unwrap_or(0)) % 3];
    let file = match bytes {
        [b'C', b'D', b'F', ..] => bytes.to_vec(),
        bytes => [&[b'C', b'D', b'F', version], bytes].concat(),
    };
    if !matches!(file.get(3), Some(1 | 2 | 5)) {
        return;
    }
    agree(&file, DatasetLen::Max(file.len() as u64));
}

/// Sound files of every version.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for version in [1, 2, 5] {
        for count in [0, 1, 3] {
            seeds.push(seed(version, count));
        }
    }
    seeds
}

/// A dimension of records and one of 3, an attribute, and a variable of each kind.
fn seed(version: u8, records: u8) -> Vec<u8> {
    let number = |number: usize| {
        let bytes = (number as u64).to_be_bytes();
        if version == 5 { bytes.to_vec() } else { bytes[4..].to_vec() }
    };
    let tag = |tag: u32| tag.to_be_bytes().to_vec();
    let name = |name: &str| [number(name.len()), name.as_bytes().to_vec(), vec![0; 3]].concat();
    let variable = |letter: &str, dims: &[usize], kind: u32, begin: usize| {
        let mut entry = [name(letter), number(dims.len())].concat();
        dims.iter().for_each(|&dim| entry.extend(number(dim)));
        let attrs = [tag(12), number(1), name("u"), tag(3), number(1), vec![1, 2, 0, 0]].concat();
        let begin = begin as u64;
        let begin = if version == 1 {
            begin.to_be_bytes()[4..].to_vec()
        } else {
            begin.to_be_bytes().to_vec()
        };
        entry.extend([attrs, tag(kind), number(8), begin].concat());
        entry
    };
    let header = |at: usize| {
        let dims = [tag(10), number(2), name("t"), number(0), name("x"), number(3)].concat();
        let attrs = [tag(12), number(1), name("a"), tag(2), number(4), b"text".to_vec()].concat();
        let variables = [
            variable("x", &[1], 3, at),
            variable("p", &[0, 1], 5, at + 8),
            variable("q", &[0], 6, at + 20),
        ];
        let head = [vec![b'C', b'D', b'F', version], number(usize::from(records))].concat();
        [head, dims, attrs, tag(11), number(3), variables.concat()].concat()
    };
    let len = header(0).len();
    let data = (0..8 + 20 * records).collect::<Vec<u8>>();
    [header(len), data].concat()
}
