//! The members of a zip archive; of a `.npz` those that are arrays.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, OnceLock};

use tet_io::Source;
use zip::read::{ArchiveOffset, Config, ZipFile};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::directory::Directory;
use super::fault::ZipFault;
use crate::error::is_of_system;
use crate::read::opened::OpenOptions;
use crate::read::spool::{Scratch, SourceReader, Spool};

/// The bytes of the header of a member before its name.
const HEADER_LEN: u64 = 30;

/// Bytes read ahead of the name of a member: those of small members that follow are among them.
const HEADERS_LEN: usize = 1 << 12;

/// Deflate makes at most this many bytes out of one.
const DEFLATE_RATIO_MAX: u64 = 1032;

/// An open archive.
#[derive(Clone)]
pub struct Archive {
    zip: ZipArchive<SourceReader>,
    /// Reads the names in the headers of members.
    headers: SourceReader,
    /// Names that several members have: the last one of each is listed.
    repeated: Arc<[String]>,
    /// Where compressed members are unpacked to.
    scratch: Arc<OnceLock<Arc<Scratch>>>,
}

/// A member that may be an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The position in the directory of the archive.
    pub position: usize,
    /// Its name without `.npy`.
    pub name: String,
}

/// The first bytes of an array.
const MAGIC: &[u8] = b"\x93NUMPY";

/// The members of an archive: arrays, and names of those that are none.
#[derive(Debug, Default)]
pub struct Members {
    /// The arrays.
    pub arrays: Vec<Member>,
    /// The names of the others.
    pub others: Vec<String>,
}

/// One member, open.
#[derive(Debug)]
pub struct OpenMember<'a> {
    /// Its decompressed bytes; its checksum is compared at their end.
    pub bytes: ZipFile<'a, SourceReader>,
    /// Its decompressed length, as the archive lists.
    pub len: u64,
    /// Where its bytes are in the archive, unless they are compressed.
    pub offset: Option<u64>,
    /// Their CRC-32.
    pub crc: u32,
}

impl Archive {
    ///
    /// # Errors
    /// The file is no zip archive, has several, or cannot be read.
    /// Opens the archive that a source holds.
    pub fn open(source: &Source) -> Result<Self, ZipFault> {
        let directory = Directory::read(source)?;
        let reader = SourceReader::new(source, 0);
        let config = Config { archive_offset: ArchiveOffset::Known(0) };
        let mut zip = ZipArchive::with_config(config, reader)?;
        // The zip reader goes on to earlier end records where it does not understand the last one.
        if zip.central_directory_start() != directory.at {
            return Err(ZipFault::Several);
        }
        if zip.has_overlapping_entries()? {
            return Err(ZipFault::Overlap);
        }
        let headers = SourceReader::new(source, 0).with_ahead(HEADERS_LEN);
        Ok(Self { zip, headers, repeated: directory.repeated.into(), scratch: Arc::default() })
    }

    /// Names that several members have.
    pub fn repeated(&self) -> &[String] {
        &self.repeated
    }

    /// Checks that no two members have one name: one of them would be lost in a copy.
    ///
    /// # Errors
    /// Two members have one name.
    pub fn check_names(&self) -> Result<(), ZipFault> {
        match self.repeated.first() {
            Some(name) => Err(ZipFault::DuplicateNames { name: name.clone() }),
            None => Ok(()),
        }
    }

    /// The names of all members; the position of each is that in the list.
    ///
    /// # Errors
    /// The directory of the archive cannot be read.
    pub fn names(&self) -> Result<Vec<String>, ZipFault> {
        Ok(self
            .zip
            .file_names()
            .map(|name| Ok(name?.into_owned()))
            .collect::<Result<_, ZipError>>()?)
    }

    /// The members, of which those are arrays whose bytes begin as arrays do, and those that are named so.
    ///
    /// # Errors
    /// A member cannot be read.
    pub fn members(&mut self) -> Result<Members, ZipFault> {
        let mut members = Members::default();
        for (name, position) in self.names()?.into_iter().zip(0_usize..) {
            match name.strip_suffix(".npy") {
                Some(name) => members.arrays.push(Member { position, name: name.to_owned() }),
                None if name.ends_with('/') => {}
                None if self.is_array(position)? => members.arrays.push(Member { position, name }),
                None => members.others.push(name),
            }
        }
        Ok(members)
    }

    fn is_array(&mut self, position: usize) -> Result<bool, ZipFault> {
        let Ok(mut member) = self.member(position) else { return Ok(false) };
        let mut head = [0; MAGIC.len()];
        match member.read_exact(&mut head) {
            Ok(()) => Ok(head == MAGIC),
            Err(error) if is_of_system(&error) => Err(ZipFault::Read(error)),
            Err(_) => Ok(false),
        }
    }

    /// One member as it is stored, compressed or not.
    ///
    /// # Errors
    /// There is no such member, or it cannot be read.
    pub fn raw(&mut self, position: usize) -> Result<ZipFile<'_, SourceReader>, ZipFault> {
        let member = self.zip.by_index_raw(position)?;
        check_name(&mut self.headers, &member)?;
        Ok(member)
    }

    /// The bytes of a compressed member, which are unpacked when they are first read; errors call it `name`.
    pub fn unpacked(&self, position: usize, name: &str, len: u64, options: &OpenOptions) -> Source {
        let archive = self.clone();
        let scratch = self.scratch.get_or_init(|| Scratch::new(options));
        let name = format!("the member {name:?}");
        Spool::in_file(scratch, name, len, options, move |out| {
            let mut archive = archive.clone();
            let damaged = |error| io::Error::new(io::ErrorKind::InvalidData, error);
            let mut member = archive.member(position).map_err(damaged)?;
            io::copy(&mut member, out).map(drop)
        })
    }

    ///
    /// # Errors
    /// There is no such member, its method is unknown, or it cannot be read.
    /// Opens a member, decompressed.
    pub fn member(&mut self, position: usize) -> Result<OpenMember<'_>, ZipFault> {
        let entry = self.zip.by_index_data(position)?;
        let (size, stored_len) = (entry.size(), entry.compressed_size());
        if entry.encrypted() {
            return Err(ZipFault::Encrypted);
        }
        let method = entry.compression();
        let is_possible = match method {
            CompressionMethod::Stored => size == stored_len,
            CompressionMethod::Deflated => size / DEFLATE_RATIO_MAX <= stored_len,
            other => return Err(ZipFault::Method { method: other.to_string() }),
        };
        if !is_possible {
            return Err(ZipFault::Size { size, stored_len });
        }
        let bytes = self.zip.by_index(position)?;
        check_name(&mut self.headers, &bytes)?;
        let is_stored = method == CompressionMethod::Stored;
        let offset = if is_stored { bytes.data_start() } else { None };
        let crc = bytes.crc32();
        Ok(OpenMember { bytes, len: size, offset, crc })
    }
}

/// Checks that a member has the name of its entry in the directory (APPNOTE 6.3.10, section 4.3.7).
fn check_name(
    headers: &mut SourceReader,
    member: &ZipFile<'_, SourceReader>,
) -> Result<(), ZipFault> {
    let name = member.name_raw();
    let at = member.header_start().saturating_add(HEADER_LEN);
    let mut found = Vec::with_capacity(name.len());
    let read = headers.seek(SeekFrom::Start(at));
    let read = read.and_then(|_| headers.take(name.len() as u64).read_to_end(&mut found));
    read.map_err(ZipFault::Read)?;
    if found == name {
        return Ok(());
    }
    let text = |name| String::from_utf8_lossy(name).into_owned();
    Err(ZipFault::Misnamed { entry: text(name), header: text(&found) })
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
