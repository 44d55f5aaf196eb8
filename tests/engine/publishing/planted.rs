//! Bugs of publishing programs, each known from one that was in use.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use tet_format::Span;
use tet_io::vfs::{Entry, OpenFolder, Vfs, VfsFile};
use tet_tests::sim::SimFs;

use super::{TARGET, new};

/// A bug: in the disk under a right procedure, or a wrong procedure.
#[derive(Clone, Copy)]
pub(crate) enum Bug {
    Wrapped(Wrap),
    Procedure(&'static str, fn(&SimFs) -> io::Result<()>),
}

impl Bug {
    pub(crate) fn name(self) -> String {
        match self {
            Bug::Wrapped(wrap) => format!("{wrap:?}"),
            Bug::Procedure(name, _) => name.to_owned(),
        }
    }
}

impl std::fmt::Debug for Bug {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

/// Deviations from the calls of the publisher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrap {
    /// The file is not synced.
    NoSync,
    /// The folder is not synced.
    NoFolderSync,
    /// The folder is synced before the rename instead of after it.
    EarlyFolderSync,
    /// A failed sync is tried again.
    SyncAgain,
    /// A sync that failed is taken for one that did not.
    SyncIgnored,
    /// Bytes that a write did not take are forgotten.
    ShortWrite,
    /// A write that failed is taken for one that did not.
    WriteIgnored,
    /// The target is removed to make room for the new name.
    RemoveFirst,
    /// The bytes are copied over the target, as between two disks.
    CopyOver,
}

/// All of them.
pub(crate) const BUGS: [Bug; 13] = [
    Bug::Wrapped(Wrap::NoSync),
    Bug::Wrapped(Wrap::NoFolderSync),
    Bug::Wrapped(Wrap::EarlyFolderSync),
    Bug::Wrapped(Wrap::SyncAgain),
    Bug::Wrapped(Wrap::SyncIgnored),
    Bug::Wrapped(Wrap::ShortWrite),
    Bug::Wrapped(Wrap::WriteIgnored),
    Bug::Wrapped(Wrap::RemoveFirst),
    Bug::Wrapped(Wrap::CopyOver),
    Bug::Procedure("write in place", in_place),
    Bug::Procedure("rename before the bytes", rename_first),
    Bug::Procedure("sync after the rename", sync_late),
    Bug::Procedure("sync before the last bytes", sync_early),
];

/// A disk with one bug.
#[derive(Debug)]
pub(crate) struct Planted {
    fs: SimFs,
    wrap: Wrap,
}

impl Planted {
    pub(crate) fn new(fs: &SimFs, wrap: Wrap) -> Self {
        Self { fs: fs.clone(), wrap }
    }

    fn file(&self, file: Box<dyn VfsFile>) -> Box<dyn VfsFile> {
        Box::new(PlantedFile { file, wrap: self.wrap })
    }
}

impl Vfs for Planted {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        self.fs.entry(path)
    }

    fn create_unnamed(&self, folder: &Path) -> io::Result<Option<Box<dyn VfsFile>>> {
        Ok(self.fs.create_unnamed(folder)?.map(|file| self.file(file)))
    }

    fn create_named(&self, path: &Path) -> io::Result<Box<dyn VfsFile>> {
        Ok(self.file(self.fs.create_named(path)?))
    }

    fn lock(&self, path: &Path) -> io::Result<Option<File>> {
        self.fs.lock(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        match self.wrap {
            Wrap::EarlyFolderSync => self.fs.sync_folder(&OpenFolder::default())?,
            Wrap::RemoveFirst => self.fs.remove(to)?,
            Wrap::CopyOver => {
                let mut out = self.fs.open(to)?;
                out.write_all(&self.fs.read(from)?)?;
                out.sync()?;
                return self.fs.remove(from);
            }
            _ => {}
        }
        self.fs.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        if self.wrap == Wrap::EarlyFolderSync {
            self.fs.sync_folder(&OpenFolder::default())?;
        }
        self.fs.rename_new(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.fs.remove(path)
    }

    fn open_folder(&self, folder: &Path) -> io::Result<OpenFolder> {
        self.fs.open_folder(folder)
    }

    fn sync_folder(&self, folder: &OpenFolder) -> io::Result<()> {
        match self.wrap {
            Wrap::NoFolderSync | Wrap::EarlyFolderSync => Ok(()),
            _ => self.fs.sync_folder(folder),
        }
    }
}

#[derive(Debug)]
struct PlantedFile {
    file: Box<dyn VfsFile>,
    wrap: Wrap,
}

impl Write for PlantedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        match self.wrap {
            Wrap::ShortWrite => written.map(|_| bytes.len()),
            Wrap::WriteIgnored => Ok(written.unwrap_or(bytes.len())),
            _ => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for PlantedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl VfsFile for PlantedFile {
    fn sync(&mut self) -> io::Result<()> {
        match self.wrap {
            Wrap::NoSync => Ok(()),
            Wrap::SyncAgain => self.file.sync().or_else(|_| self.file.sync()),
            Wrap::SyncIgnored => {
                let _ = self.file.sync();
                Ok(())
            }
            _ => self.file.sync(),
        }
    }

    fn keep_rights(&mut self, path: &Path) -> io::Result<()> {
        self.file.keep_rights(path)
    }

    fn copy_span(&mut self, from: &File, span: Span) -> u64 {
        self.file.copy_span(from, span)
    }

    fn link(&mut self, path: &Path) -> io::Result<()> {
        self.file.link(path)
    }
}

const HIDDEN: &str = "folder/.t.tet.tet-0123456789abcdef.tmp";

/// All calls of publishing, in order.
pub(crate) fn by_the_book(fs: &SimFs) -> io::Result<()> {
    let result = write_hidden(fs, |out| {
        out.write_all(&new())?;
        out.sync()?;
        fs.rename(Path::new(HIDDEN), Path::new(TARGET))
    });
    result.and_then(|()| fs.sync_folder(&OpenFolder::default()))
}

/// Writes under a hidden name, which is gone when anything fails.
fn write_hidden(
    fs: &SimFs,
    write: impl FnOnce(&mut dyn VfsFile) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = fs.create_named(Path::new(HIDDEN))?;
    write(&mut *out).inspect_err(|_| {
        let _ = fs.remove(Path::new(HIDDEN));
    })
}

fn in_place(fs: &SimFs) -> io::Result<()> {
    let target = Path::new(TARGET);
    let mut out = fs.open(target).or_else(|_| fs.create_named(target))?;
    out.write_all(&new())?;
    out.sync()?;
    fs.sync_folder(&OpenFolder::default())
}

fn rename_first(fs: &SimFs) -> io::Result<()> {
    let mut out = fs.create_named(Path::new(HIDDEN))?;
    fs.rename(Path::new(HIDDEN), Path::new(TARGET))?;
    out.write_all(&new())?;
    out.sync()?;
    fs.sync_folder(&OpenFolder::default())
}

fn sync_late(fs: &SimFs) -> io::Result<()> {
    write_hidden(fs, |out| {
        out.write_all(&new())?;
        fs.rename(Path::new(HIDDEN), Path::new(TARGET))?;
        out.sync()
    })?;
    fs.sync_folder(&OpenFolder::default())
}

fn sync_early(fs: &SimFs) -> io::Result<()> {
    write_hidden(fs, |out| {
        let bytes = new();
        let (first, last) = bytes.split_at(bytes.len() - 100);
        out.write_all(first)?;
        out.sync()?;
        out.write_all(last)?;
        fs.rename(Path::new(HIDDEN), Path::new(TARGET))
    })?;
    fs.sync_folder(&OpenFolder::default())
}
