//! Which container a file is, told by its first bytes.

use std::fmt;

use tet_io::Source;

use crate::{Result, safetensors};

/// A container this crate can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `.tet` version 1.
    Tet,
    /// One NumPy array.
    Npy,
    /// A zip archive, which NumPy calls `.npz`.
    Npz,
    /// zTensor.
    ZTensor,
    /// Tensogram.
    Tensogram,
    /// Safetensors.
    SafeTensors,
    /// The index of a model in several safetensors files.
    SafeTensorsIndex,
    /// HDF5, and so NetCDF-4.
    Hdf5,
    /// NetCDF classic.
    NetCdf,
    /// GGUF.
    Gguf,
    /// A zstd stream.
    Zstd,
    /// A gzip stream.
    Gzip,
    /// A file of no bytes.
    Empty,
    /// Nothing known.
    Unknown,
}

impl Format {
    /// The name used in messages and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tet => "tet",
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::ZTensor => "ztensor",
            Self::Tensogram => "tensogram",
            Self::SafeTensors => "safetensors",
            Self::SafeTensorsIndex => "safetensors-index",
            Self::Hdf5 => "hdf5",
            Self::NetCdf => "netcdf",
            Self::Gguf => "gguf",
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
            Self::Empty => "empty",
            Self::Unknown => "unknown",
        }
    }

    /// The format of a file of `file_len` bytes that begins with `head`; 16 bytes are enough, but for
    /// an index, which is told by a key in the first 64 KiB.
    #[must_use]
    pub fn of(head: &[u8], file_len: u64) -> Self {
        const MAGICS: [(&[u8], Format); 15] = [
            (b"TETR", Format::Tet),
            (b"\x93NUMPY", Format::Npy),
            (b"PK\x03\x04", Format::Npz),
            (b"PK\x05\x06", Format::Npz),
            (b"ZTEN", Format::ZTensor),
            (b"\x89ZT2", Format::ZTensor),
            (b"TENSOGRM", Format::Tensogram),
            (b"\x89HDF\r\n\x1a\n", Format::Hdf5),
            (b"CDF\x01", Format::NetCdf),
            (b"CDF\x02", Format::NetCdf),
            (b"CDF\x05", Format::NetCdf),
            (b"GGUF", Format::Gguf),
            (b"\x28\xb5\x2f\xfd", Format::Zstd),
            (b"\x1f\x8b\x08", Format::Gzip),
            (b"PK\x06\x06", Format::Npz),
        ];
        if head.is_empty() {
            return Self::Empty;
        }
        let magic = MAGICS.iter().find(|(magic, _)| head.starts_with(magic));
        match magic {
            Some((_, format)) => *format,
            None if is_safetensors(head, file_len) => Self::SafeTensors,
            None if is_object(head) && has_map(head) => Self::SafeTensorsIndex,
            None => Self::Unknown,
        }
    }
}

/// Whether the file begins with the length of a JSON object and the object: there is no magic. One
/// that is cut short within the object is told by what a name begins with.
fn is_safetensors(head: &[u8], file_len: u64) -> bool {
    let Some((length, json)) = head.split_first_chunk() else { return false };
    let len = u64::from_le_bytes(*length);
    let fits = 2 <= len && len <= file_len.saturating_sub(8);
    let is_cut = (2..=safetensors::LEN_MAX).contains(&len) && json.starts_with(b"{\"");
    json.starts_with(b"{") && (fits || is_cut)
}

/// Whether the file may be an object of JSON.
fn is_object(head: &[u8]) -> bool {
    head.trim_ascii_start().first() == Some(&b'{')
}

/// Whether the key is there that makes JSON an index.
fn has_map(head: &[u8]) -> bool {
    let key = safetensors::MAP_KEY.as_bytes();
    head.windows(key.len().saturating_add(2))
        .any(|it| it.strip_prefix(b"\"").and_then(|it| it.strip_suffix(b"\"")) == Some(key))
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tet => "a .tet file",
            Self::Npy => "a NumPy .npy array",
            Self::Npz => "a zip archive (.npz)",
            Self::ZTensor => "a zTensor file",
            Self::Tensogram => "a Tensogram file",
            Self::SafeTensors => "a safetensors file",
            Self::SafeTensorsIndex => "an index of safetensors files",
            Self::Hdf5 => "an HDF5 or NetCDF-4 file",
            Self::NetCdf => "a NetCDF classic file",
            Self::Gguf => "a GGUF file",
            Self::Zstd => "a zstd stream",
            Self::Gzip => "a gzip stream",
            Self::Empty => "an empty file",
            Self::Unknown => "a file of no known format",
        })
    }
}

/// Bytes that tell all formats that begin with a magic.
const HEAD_LEN: u64 = 16;
/// Bytes of JSON in which its keys are looked for.
const OBJECT_LEN: u64 = 64 << 10;

/// The format of `source`, told by its content.
///
/// # Errors
/// The source cannot be read.
pub fn sniff(source: &Source) -> Result<Format> {
    let head = source.read_vec(0, source.len().min(HEAD_LEN))?;
    match Format::of(&head, source.len()) {
        Format::Unknown if is_object(&head) => {
            let head = source.read_vec(0, source.len().min(OBJECT_LEN))?;
            Ok(Format::of(&head, source.len()))
        }
        // Messages are looked for wherever they stand, whatever is before the first one.
        Format::Unknown if tet_tensogram::is_likely(source)? => Ok(Format::Tensogram),
        format => Ok(format),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_told_by_its_first_bytes() {
        for (head, format) in [
            (&b""[..], Format::Empty),
            (b"TETR\x01\0\0\0", Format::Tet),
            (b"\x93NUMPY\x01\0", Format::Npy),
            (b"\x93NUMP", Format::Unknown),
            (b"PK\x03\x04", Format::Npz),
            (b"PK\x05\x06\0\0", Format::Npz),
            (b"ZTEN0001", Format::ZTensor),
            (b"TENSOGRM\0\x03", Format::Tensogram),
            (b"\x89HDF\r\n\x1a\n", Format::Hdf5),
            (b"hello", Format::Unknown),
            (b"\x02\0\0\0\0\0\0\0{}", Format::SafeTensors),
            (b"\x01\0\0\0\0\0\0\0{}", Format::Unknown),
            (b"\x5c\0\0\0\0\0\0\0{ ", Format::SafeTensors),
            (b"\x5d\0\0\0\0\0\0\0{ ", Format::Unknown),
            (b"\x5d\0\0\0\0\0\0\0{\"", Format::SafeTensors),
            (b"\0\0\0\0\0\0\0\x01{\"", Format::Unknown),
            (b"\x10\0\0\0\0\0\0\0[]", Format::Unknown),
            (b"{\"metadata\": {}, \"weight_map\": {}}", Format::SafeTensorsIndex),
            (b" \n{\"weight_map\"", Format::SafeTensorsIndex),
            (b"{\"weight_maps\": {}}", Format::Unknown),
            (b"[\"weight_map\"]", Format::Unknown),
        ] {
            assert_eq!(Format::of(head, 100), format, "{head:?}");
        }
    }
}
