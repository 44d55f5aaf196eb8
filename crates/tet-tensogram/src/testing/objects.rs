//! For tests: the tensor frames of sample messages, and objects without a message.

use std::fs;
use std::io::Read;
use std::path::PathBuf;

use serde_json::Value as Json;

use crate::{Descriptor, Encoded, Limits, Region, Result, Value};

/// A tensor frame: the spans of its region and its descriptor in the file.
pub(crate) struct Frame {
    pub(crate) region: std::ops::Range<usize>,
    pub(crate) descriptor: std::ops::Range<usize>,
}

fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

/// The tensor frames of valid messages, found only by lengths.
pub(crate) fn frames(file: &[u8]) -> Vec<Frame> {
    let (mut at, mut frames) = (0, Vec::new());
    while at < file.len() {
        match &file[at..at + 2] {
            b"TE" | b"39" => at += 24 - if file[at] == b'3' { 16 } else { 0 },
            b"FR" => {
                let (kind, len) = (number(&file[at + 2..at + 4]), number(&file[at + 8..at + 16]));
                if kind == 9 {
                    let cbor = at + number(&file[at + len - 20..at + len - 12]);
                    assert_eq!(file[at + 7] & 1, 1, "the descriptor follows the payload");
                    frames.push(Frame { region: at + 16..cbor, descriptor: cbor..at + len - 20 });
                }
                at += len;
            }
            // Padding, or the numbers of a postamble.
            _ => at += 1,
        }
    }
    frames
}

/// A file of the reference implementation, with its expected values.
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) objects: Vec<Json>,
    npz: Vec<u8>,
}

impl Sample {
    /// The bytes of an array, which are at the end of its member.
    pub(crate) fn values(&self, key: &str, len: usize) -> Vec<u8> {
        let mut npz = zip::ZipArchive::new(std::io::Cursor::new(&self.npz)).unwrap();
        let mut npy = Vec::new();
        npz.by_name(&format!("{key}.npy")).unwrap().read_to_end(&mut npy).unwrap();
        assert_eq!(npy[..6], *b"\x93NUMPY");
        npy.split_off(npy.len() - len)
    }
}

/// Every sample, by name.
pub(crate) fn samples() -> Vec<Sample> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rivals/tgm");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "tgm"))
        .collect();
    paths.sort();
    let sample = |path: PathBuf| {
        let json = fs::read_to_string(path.with_extension("json")).unwrap();
        let json: Json = serde_json::from_str(&json).unwrap();
        let messages = json["messages"].as_array().unwrap();
        let objects = messages.iter().flat_map(|it| it["objects"].as_array().unwrap().clone());
        Sample {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            bytes: fs::read(&path).unwrap(),
            objects: objects.collect(),
            npz: fs::read(path.with_extension("npz")).unwrap(),
        }
    };
    paths.into_iter().map(sample).collect()
}

/// Decodes a region as its descriptor says.
pub(crate) fn decode(descriptor: &Descriptor, region: &[u8]) -> Result<Vec<u8>> {
    let limits = Limits { inflated_len_max: 1 << 24, ..Limits::default() };
    let plan = Region::new(descriptor, 0, region.len() as u64, &limits)?;
    let mut out = crate::pipeline::buffer(plan.decoded_len())?;
    plan.decode(region, &mut out)?;
    Ok(out)
}

/// The plan of a region.
pub(crate) fn plan(descriptor: &Descriptor, region: &[u8]) -> Result<Region> {
    Region::new(descriptor, 0, region.len() as u64, &Limits::default())
}

/// The descriptor read back from its own bytes.
pub(crate) fn reread(descriptor: &Descriptor) -> Descriptor {
    let bytes = descriptor.encode().unwrap();
    let found = Descriptor::read(&bytes, 0, &Limits::default()).unwrap();
    assert_eq!(found.encode().unwrap(), bytes, "canonical bytes are read back");
    assert_eq!(found.stored_len(), bytes.len() as u64);
    found
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// Pseudorandom bytes.
pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[5]
    };
    (0..len).map(|_| next()).collect()
}

/// Doubles as bytes.
pub(crate) fn doubles(values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    values.into_iter().flat_map(f64::to_le_bytes).collect()
}

/// An object that does not borrow its elements, with its descriptor read back.
pub(crate) fn owned(encoded: Result<Encoded<'_>>) -> Encoded<'static> {
    let Encoded { descriptor, region } = encoded.unwrap();
    Encoded { descriptor: reread(&descriptor), region: region.into_owned().into() }
}
