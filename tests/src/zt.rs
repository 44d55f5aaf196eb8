//! zTensor files put together by hand from `docs/spec/ztensor.md`.
//!
//! ```text
//! cbor    items of the index, by hand
//! kinds   sound files of every kind that the document names
//! ```
//!
//! An entry is kept as a list of fields, so that a test can put any item in the place of another and
//! still have offsets and checksums that fit.

pub mod cbor;
mod kinds;

use tet_ztensor::Checksum;

use self::cbor::{entry, text, uint, uints};

pub use self::kinds::kinds;

/// Checksum of the stored bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seal {
    /// Nothing.
    None,
    /// Their CRC-32C.
    Crc32c,
    /// Their SHA-256.
    Sha256,
}

/// Where a blob lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobPlace {
    /// At the next multiple of this.
    Next(usize),
    /// Where that of an earlier tensor lies.
    Of(usize),
}

/// A tensor that is to be put into a file: its fields but for place and checksum, and its blob.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Keys and values of the entry, as items.
    pub fields: Vec<(Vec<u8>, Vec<u8>)>,
    /// The stored bytes.
    pub blob: Vec<u8>,
    /// Where they go.
    pub place: BlobPlace,
    /// Their checksum.
    pub seal: Seal,
    /// Whether the entry states how many fields it has.
    pub counted: bool,
}

impl Tensor {
    /// A raw dense tensor, as old programs write it.
    #[must_use]
    pub fn new(name: &str, dtype: &str, shape: &[u64], elements: Vec<u8>) -> Self {
        let size = elements.len() as u64;
        let tensor = Tensor {
            fields: Vec::new(),
            blob: elements,
            place: BlobPlace::Next(64),
            seal: Seal::None,
            counted: false,
        };
        let tensor = tensor.with("name", text(name)).with("offset", uint(0));
        let tensor = tensor.with("size", uint(size)).with("dtype", text(dtype));
        let tensor = tensor.with("layout", text("dense")).with("shape", uints(shape));
        tensor.with("encoding", text("raw"))
    }

    /// Sets the value of a key, or adds it at the end.
    #[must_use]
    pub fn with(mut self, key: &str, value: Vec<u8>) -> Self {
        let key = text(key);
        match self.fields.iter_mut().find(|(found, _)| *found == key) {
            Some((_, held)) => *held = value,
            None => self.fields.push((key, value)),
        }
        self
    }

    /// Takes a key away.
    #[must_use]
    pub fn without(mut self, key: &str) -> Self {
        let key = text(key);
        self.fields.retain(|(found, _)| *found != key);
        self
    }

    /// This tensor with these zstd frames for a blob.
    #[must_use]
    pub fn framed(self, frames: Vec<u8>) -> Self {
        let size = uint(frames.len() as u64);
        Tensor { blob: frames, ..self }.with("encoding", text("zstd")).with("size", size)
    }

    /// This tensor with a checksum.
    #[must_use]
    pub fn sealed(self, seal: Seal) -> Self {
        Tensor { seal, ..self }
    }

    /// This tensor at another offset.
    #[must_use]
    pub fn at(self, place: BlobPlace) -> Self {
        Tensor { place, ..self }
    }
}

/// Puts a file together, and says where its index starts.
#[must_use]
pub fn assemble(tensors: &[Tensor]) -> (Vec<u8>, usize) {
    let mut bytes = b"ZTEN0001".to_vec();
    let (mut entries, mut places) = (Vec::new(), Vec::<(usize, usize)>::new());
    for tensor in tensors {
        let (offset, len) = match tensor.place {
            BlobPlace::Of(earlier) => places[earlier],
            BlobPlace::Next(multiple) => {
                bytes.resize(bytes.len().next_multiple_of(multiple), 0);
                let offset = bytes.len();
                bytes.extend_from_slice(&tensor.blob);
                (offset, tensor.blob.len())
            }
        };
        places.push((offset, len));
        let blob = &bytes[offset..offset + len];
        let said = match tensor.seal {
            Seal::None => None,
            Seal::Crc32c => Some(Checksum::crc32c(blob)),
            Seal::Sha256 => Some(Checksum::sha256(blob)),
        };
        let mut placed = tensor.clone();
        // A number that a test put there stays.
        if placed.fields.iter().any(|it| *it == (text("offset"), uint(0))) {
            placed = placed.with("offset", uint(offset as u64));
        }
        if placed.fields.iter().any(|it| *it == (text("size"), uint(tensor.blob.len() as u64))) {
            placed = placed.with("size", uint(len as u64));
        }
        if let Some(said) = said {
            placed = placed.with("checksum", text(&said.to_string()));
        }
        entries.push(entry(&placed.fields, placed.counted));
    }
    let index = cbor::array(&entries);
    let index_start = bytes.len();
    bytes.extend_from_slice(&index);
    bytes.extend((index.len() as u64).to_le_bytes());
    (bytes, index_start)
}
