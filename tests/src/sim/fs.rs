//! The disk as programs see it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tet_format::Span;
use tet_io::Stamp;
use tet_io::vfs::{self, Entry, Vfs, VfsFile};

use super::{Image, Ino, Op};

/// Which operations fail, counted from 0, and how.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The operations that fail.
    pub at: Range<usize>,
    /// Error of the system; `None` for writes that take only some of their bytes.
    pub says: Option<ErrorKind>,
}

impl Fault {
    /// The faults that begin with operation `at`: once, and from then on.
    #[must_use]
    pub fn each_at(at: usize) -> Vec<Self> {
        let once = at..at + 1;
        let burst = at..at + BURST;
        let onward = at..usize::MAX;
        let mut faults = vec![
            Self { at: once.clone(), says: Some(ErrorKind::Interrupted) },
            Self { at: burst, says: Some(ErrorKind::Interrupted) },
            Self { at: once.clone(), says: None },
            Self { at: onward.clone(), says: None },
        ];
        for kind in [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::Other] {
            faults.push(Self { at: once.clone(), says: Some(kind) });
            faults.push(Self { at: onward.clone(), says: Some(kind) });
        }
        faults
    }
}

/// As often as a signal comes in a row.
const BURST: usize = 16;

/// One folder in memory; clones share it.
#[derive(Clone, Debug)]
pub struct SimFs(Arc<Mutex<Folder>>);

#[derive(Debug)]
struct Folder {
    names: BTreeMap<PathBuf, Ino>,
    files: Vec<Vec<u8>>,
    log: Vec<Op>,
    calls: Vec<&'static str>,
    fault: Option<Fault>,
    has_unnamed: bool,
}

impl SimFs {
    /// A folder as a power cut, or nobody, left it: all of it is durable.
    #[must_use]
    pub fn new(image: &Image, has_unnamed: bool, fault: Option<Fault>) -> Self {
        let (mut names, mut files) = (BTreeMap::new(), Vec::new());
        for (name, bytes) in image {
            names.insert(name.clone(), files.len());
            files.push(bytes.clone());
        }
        let (log, calls) = (Vec::new(), Vec::new());
        Self(Arc::new(Mutex::new(Folder { names, files, log, calls, fault, has_unnamed })))
    }

    /// Operations so far.
    #[must_use]
    pub fn log(&self) -> Vec<Op> {
        self.folder().log.clone()
    }

    /// Calls so far, in the order in which faults count.
    #[must_use]
    pub fn calls(&self) -> Vec<&'static str> {
        self.folder().calls.clone()
    }

    /// Opens a file to be written in place, which publishing never does.
    ///
    /// # Errors
    ///
    /// Says when there is none.
    pub fn open(&self, path: &Path) -> io::Result<Box<dyn VfsFile>> {
        let ino = self.folder().names.get(path).copied().ok_or(ErrorKind::NotFound)?;
        Ok(self.file(ino))
    }

    /// Content of a name, without a call.
    #[must_use]
    pub fn look(&self, path: &Path) -> Entry {
        let folder = self.folder();
        let Some(&ino) = folder.names.get(path) else { return Entry::Absent };
        // A clock that ticks with every operation.
        let is_write = |op: &Op| matches!(op, Op::Write(written, ..) if *written == ino);
        let time = folder.log.iter().rposition(is_write).map_or(0, |at| at as i128 + 1);
        let (size, ino) = (folder.files[ino].len() as u64, ino as u64);
        Entry::File(Stamp { dev: 1, ino, size, mtime: time, ctime: time, link_count: 1 })
    }

    /// The bytes of a file as programs see them.
    ///
    /// # Errors
    ///
    /// Says when there is none.
    pub fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let folder = self.folder();
        let ino = folder.names.get(path).copied().ok_or(ErrorKind::NotFound)?;
        Ok(folder.files[ino].clone())
    }

    fn folder(&self) -> MutexGuard<'_, Folder> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, ino: Ino) -> Box<dyn VfsFile> {
        Box::new(SimFile { fs: self.clone(), ino, position: 0 })
    }
}

impl Folder {
    /// Counts a call; fails it if it is its turn.
    fn call(&mut self, name: &'static str) -> io::Result<()> {
        let at = self.calls.len();
        self.calls.push(name);
        match &self.fault {
            Some(Fault { at: fails, says: Some(kind) }) if fails.contains(&at) => {
                Err((*kind).into())
            }
            _ => Ok(()),
        }
    }

    /// How many of so many bytes the write that is counted last takes.
    fn taken(&self, len: usize) -> usize {
        match &self.fault {
            Some(Fault { at, says: None }) if at.contains(&(self.calls.len() - 1)) => {
                len.div_ceil(3)
            }
            _ => len,
        }
    }

    fn create(&mut self) -> Ino {
        self.files.push(Vec::new());
        let ino = self.files.len() - 1;
        self.log.push(Op::Create(ino));
        ino
    }

    fn link(&mut self, path: &Path, ino: Ino) -> io::Result<()> {
        if self.names.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        self.names.insert(path.to_path_buf(), ino);
        self.log.push(Op::Link(path.to_path_buf(), ino));
        Ok(())
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let ino = self.names.remove(from).ok_or(ErrorKind::NotFound)?;
        self.names.insert(to.to_path_buf(), ino);
        self.log.push(Op::Rename(from.to_path_buf(), to.to_path_buf(), ino));
        Ok(())
    }
}

impl Vfs for SimFs {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        self.folder().call("entry")?;
        Ok(self.look(path))
    }

    fn create_unnamed(&self, _folder: &Path) -> io::Result<Option<Box<dyn VfsFile>>> {
        let mut folder = self.folder();
        folder.call("create_unnamed")?;
        if !folder.has_unnamed {
            return Ok(None);
        }
        let ino = folder.create();
        Ok(Some(self.file(ino)))
    }

    fn create_named(&self, path: &Path) -> io::Result<Box<dyn VfsFile>> {
        let mut folder = self.folder();
        folder.call("create_named")?;
        let ino = folder.create();
        folder.link(path, ino)?;
        Ok(self.file(ino))
    }

    fn lock(&self, _path: &Path) -> io::Result<Option<File>> {
        self.folder().call("lock").map(|()| None)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut folder = self.folder();
        folder.call("rename")?;
        folder.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut folder = self.folder();
        folder.call("rename_new")?;
        if folder.names.contains_key(to) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        folder.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut folder = self.folder();
        folder.call("remove")?;
        folder.names.remove(path).ok_or(ErrorKind::NotFound)?;
        folder.log.push(Op::Unlink(path.to_path_buf()));
        Ok(())
    }

    fn open_folder(&self, _folder: &Path) -> io::Result<vfs::OpenFolder> {
        self.folder().call("open_folder").map(|()| vfs::OpenFolder::default())
    }

    fn sync_folder(&self, _folder: &vfs::OpenFolder) -> io::Result<()> {
        let mut folder = self.folder();
        folder.call("sync_folder")?;
        folder.log.push(Op::SyncFolder);
        Ok(())
    }
}

#[derive(Debug)]
struct SimFile {
    fs: SimFs,
    ino: Ino,
    position: usize,
}

impl Write for SimFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut folder = self.fs.folder();
        folder.call("write")?;
        let taken = &bytes[..folder.taken(bytes.len())];
        super::replay::put(&mut folder.files[self.ino], self.position, taken);
        folder.log.push(Op::Write(self.ino, self.position, taken.to_vec()));
        self.position += taken.len();
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for SimFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(at) => (0, i64::try_from(at).map_err(io::Error::other)?),
            SeekFrom::Current(by) => (self.position, by),
            SeekFrom::End(by) => (self.fs.folder().files[self.ino].len(), by),
        };
        let by = isize::try_from(by).map_err(io::Error::other)?;
        self.position = from.checked_add_signed(by).ok_or(ErrorKind::InvalidInput)?;
        Ok(self.position as u64)
    }
}

impl VfsFile for SimFile {
    fn sync(&mut self) -> io::Result<()> {
        let mut folder = self.fs.folder();
        let called = folder.call("sync");
        folder.log.push(match &called {
            Ok(()) => Op::Sync(self.ino),
            Err(_) => Op::SyncFailed(self.ino),
        });
        called
    }

    fn keep_rights(&mut self, _path: &Path) -> io::Result<()> {
        self.fs.folder().call("keep_rights")
    }

    fn copy_span(&mut self, _from: &File, _span: Span) -> u64 {
        0
    }

    fn link(&mut self, path: &Path) -> io::Result<()> {
        let mut folder = self.fs.folder();
        folder.call("link")?;
        folder.link(path, self.ino)
    }
}
