//! The members of a `.npz`: a zip archive of `.npy` files, whose directory is not trusted.

use std::io::{self, Read};

use tet_io::Source;
use zip::read::{ArchiveOffset, Config, ZipFile};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::fault::NpzFault;
use crate::read::spool::SourceReader;

/// Deflate makes at most this many bytes out of one.
const DEFLATE_RATIO_MAX: u64 = 1032;

/// An open archive.
#[derive(Clone)]
pub(crate) struct Archive {
    zip: ZipArchive<SourceReader>,
}

/// A member that may be an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) position: usize,
    /// Its name without `.npy`.
    pub(crate) name: String,
}

/// What the archive holds: arrays, and names of members that are none.
#[derive(Debug, Default)]
pub(crate) struct Members {
    pub(crate) arrays: Vec<Member>,
    pub(crate) others: Vec<String>,
}

/// One member, open.
pub(crate) struct OpenMember<'a> {
    /// Its decompressed bytes; its checksum is compared at their end.
    pub(crate) bytes: ZipFile<'a, SourceReader>,
    /// Its decompressed length, as the archive lists.
    pub(crate) len: u64,
    /// Where its bytes are in the archive, unless they are compressed.
    pub(crate) offset: Option<u64>,
    /// Their CRC-32.
    pub(crate) crc: u32,
}

impl Archive {
    pub(crate) fn open(source: &Source) -> Result<Self, NpzFault> {
        let reader = SourceReader::new(source, 0);
        // An archive with something before it would not have been recognized.
        let config = Config { archive_offset: ArchiveOffset::Known(0) };
        let mut zip = ZipArchive::with_config(config, reader)?;
        if zip.has_duplicate_names() {
            return Err(NpzFault::DuplicateNames);
        }
        if zip.has_overlapping_entries()? {
            return Err(NpzFault::Overlap);
        }
        Ok(Self { zip })
    }

    /// The names of all members; the position of each is that in the list.
    pub(crate) fn names(&self) -> Result<Vec<String>, NpzFault> {
        Ok(self
            .zip
            .file_names()
            .map(|name| Ok(name?.into_owned()))
            .collect::<Result<_, ZipError>>()?)
    }

    pub(crate) fn members(&self) -> Result<Members, NpzFault> {
        let mut members = Members::default();
        for (position, name) in self.zip.file_names().enumerate() {
            let name = name?;
            match name.strip_suffix(".npy") {
                Some(name) => members.arrays.push(Member { position, name: name.to_owned() }),
                None if name.ends_with('/') => {}
                None => members.others.push(name.into_owned()),
            }
        }
        Ok(members)
    }

    /// One member as it is stored, compressed or not.
    pub(crate) fn raw(&mut self, position: usize) -> Result<ZipFile<'_, SourceReader>, NpzFault> {
        Ok(self.zip.by_index_raw(position)?)
    }

    pub(crate) fn member(&mut self, position: usize) -> Result<OpenMember<'_>, NpzFault> {
        let entry = self.zip.by_index_data(position)?;
        let (size, stored_len) = (entry.size(), entry.compressed_size());
        if entry.encrypted() {
            return Err(NpzFault::Encrypted);
        }
        let method = entry.compression();
        let is_possible = match method {
            CompressionMethod::Stored => size == stored_len,
            CompressionMethod::Deflated => size / DEFLATE_RATIO_MAX <= stored_len,
            other => return Err(NpzFault::Method { method: other.to_string() }),
        };
        if !is_possible {
            return Err(NpzFault::Size { size, stored_len });
        }
        let bytes = self.zip.by_index(position)?;
        let is_stored = method == CompressionMethod::Stored;
        let offset = if is_stored { bytes.data_start() } else { None };
        let crc = bytes.crc32();
        Ok(OpenMember { bytes, len: size, offset, crc })
    }
}

impl Read for OpenMember<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(out)
    }
}

impl std::fmt::Debug for Archive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Archive").field("members", &self.zip.len()).finish()
    }
}
