//! A file whose server has no range requests, downloaded whole into a file without a name.
//!
//! Only where [`Settings::download`] allows it. The version of what was downloaded is compared with that of one
//! more answer after it: a file that was replaced meanwhile is an error.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use tet_io::{Error, Operation, ReadAt, Result, Source};

use crate::block_cache::{BlockCache, VersionKey};
use crate::blocks::BLOCK_LEN;
use crate::http::Http;
use crate::ranges::{FileVersion, RangeFailure, RangeSource};
use crate::retry;
use crate::settings::Settings;

/// Bytes that are read from a server at once.
const PIECE_LEN: usize = 1 << 18;

/// Whether a file could not be opened because its server has no range requests.
pub(crate) fn is_needed(error: &Error) -> bool {
    error.system().is_some_and(|(_, error)| error.kind() == io::ErrorKind::Unsupported)
}

/// Downloads a file of up to `len_max` bytes, or takes it from the cache; `object` is its name there.
pub(crate) fn open(http: &Http, len_max: u64, object: &str, settings: &Settings) -> Result<Source> {
    let name = http.name();
    let created = tempfile::tempfile_in(std::env::temp_dir());
    let file =
        created.map_err(|error| Error::io(Operation::Open, name.as_ref(), unwritten(error)))?;
    let download = Download { http, file, settings };
    let cache = settings.cache.as_ref();
    let held = cache.map_or(Ok(None), |cache| download.copy_held(cache, object))?;
    let version = match held {
        Some(version) => version,
        None => {
            let version = download.fetch(len_max)?;
            cache.map_or(Ok(()), |cache| download.hold(cache, object, &version))?;
            version
        }
    };
    let file = download.file;
    let reader = Downloaded { file, version, name: name.to_owned() };
    Ok(Source::from_named_reader(name, Arc::new(reader)))
}

struct Download<'a> {
    http: &'a Http,
    file: File,
    settings: &'a Settings,
}

impl Download<'_> {
    fn repeated<T>(&self, attempt: impl FnMut() -> Result<T, RangeFailure>) -> Result<T> {
        retry::repeated(self.http.name(), Operation::Open, self.settings, attempt)
    }

    /// The version that the server has now. A length that it does not state is `len`.
    fn version(&self, len: u64) -> Result<FileVersion> {
        self.repeated(|| Ok(self.http.get_whole(0)?.version(len)))
    }

    /// Downloads the file, and checks that the server has the same version after it.
    fn fetch(&self, len_max: u64) -> Result<FileVersion> {
        let version = self.repeated(|| self.fetch_once(len_max))?;
        let now = self.version(version.len)?;
        if now.text() == version.text() && now.len == version.len {
            return Ok(version);
        }
        Err(Error::Changed { path: self.http.name().into() })
    }

    fn fetch_once(&self, len_max: u64) -> Result<FileVersion, RangeFailure> {
        let mut file = &self.file;
        let emptied = file.set_len(0).and_then(|()| file.rewind());
        emptied.map_err(of_scratch)?;
        let mut answer = self.http.get_whole(len_max)?;
        let too_long = || {
            let text =
                format!("the file is longer than the {len_max} bytes that may be downloaded");
            RangeFailure::refused(text)
        };
        if answer.len.is_some_and(|len| len_max < len) {
            return Err(too_long());
        }
        let progress = self.settings.progress.begin(answer.len.unwrap_or(0));
        let (mut piece, mut done) = (vec![0; PIECE_LEN], 0_u64);
        loop {
            let len = answer.read(&mut piece)?;
            if len == 0 {
                break;
            }
            done = done.saturating_add(len as u64);
            if len_max < done {
                return Err(too_long());
            }
            let written = file.write_all(piece.get(..len).unwrap_or_default());
            written.map_err(of_scratch)?;
            progress.advance(len as u64).map_err(|_| RangeFailure::refused("canceled"))?;
        }
        match answer.len {
            Some(len) if len != done => {
                let text = format!("the connection ended after {done} of {len} bytes");
                Err(RangeFailure::later(io::Error::new(io::ErrorKind::ConnectionAborted, text)))
            }
            _ => Ok(answer.version(done)),
        }
    }

    /// Copies the file from the cache, if it has all of the version that the server has now.
    fn copy_held(&self, cache: &BlockCache, object: &str) -> Result<Option<FileVersion>> {
        let version = self.version(0)?;
        let Some(key) = VersionKey::new(object, &version) else { return Ok(None) };
        let mut file = &self.file;
        for (number, len) in blocks(version.len) {
            let mut block = vec![0; len];
            if !cache.get(&key, number, &mut block) {
                return Ok(None);
            }
            file.write_all(&block).map_err(|error| self.scratch(error))?;
        }
        Ok(Some(version))
    }

    /// Puts the file into the cache.
    fn hold(&self, cache: &BlockCache, object: &str, version: &FileVersion) -> Result<()> {
        let Some(key) = VersionKey::new(object, version) else { return Ok(()) };
        for (number, len) in blocks(version.len) {
            let mut block = vec![0; len];
            let read = self.file.read_exact_at(&mut block, number * BLOCK_LEN);
            read.map_err(|error| self.scratch(error))?;
            cache.put(&key, number, &block);
        }
        Ok(())
    }

    /// The error of the file without a name.
    fn scratch(&self, error: io::Error) -> Error {
        Error::io(Operation::Open, self.http.name().as_ref(), unwritten(error))
    }
}

/// The blocks of a file, with their lengths.
fn blocks(file_len: u64) -> impl Iterator<Item = (u64, usize)> {
    let len = move |number| BLOCK_LEN.min(file_len - number * BLOCK_LEN);
    (0..file_len.div_ceil(BLOCK_LEN))
        .map(move |number| (number, usize::try_from(len(number)).unwrap_or(usize::MAX)))
}

/// The error of the file without a name, with its folder.
fn unwritten(error: io::Error) -> io::Error {
    let folder = tet_io::scratch_in(&std::env::temp_dir());
    io::Error::other(Error::io(Operation::Write, &folder, error))
}

fn of_scratch(error: io::Error) -> RangeFailure {
    RangeFailure::Final(unwritten(error))
}

/// A file that was downloaded.
#[derive(Debug)]
struct Downloaded {
    file: File,
    version: FileVersion,
    name: String,
}

impl ReadAt for Downloaded {
    fn len(&self) -> u64 {
        self.version.len
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        FileExt::read_exact_at(&self.file, out, offset)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> io::Result<Option<String>> {
        Ok(self.version.text())
    }

    /// Nobody else has a name for it.
    fn writers(&self) -> tet_io::Writers {
        tet_io::Writers::Absent
    }
}
