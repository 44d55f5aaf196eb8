//! A disk on which chosen operations fail, each in turn.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::*;

/// Reply of the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Full,
    Broken,
    Quota,
    TooLarge,
    Interrupted,
}

impl Word {
    const ALL: [Word; 5] =
        [Word::Full, Word::Broken, Word::Quota, Word::TooLarge, Word::Interrupted];

    fn error(self) -> io::Error {
        match self {
            Word::Full => ErrorKind::StorageFull.into(),
            Word::Broken => io::Error::other("input/output error"),
            Word::Quota => ErrorKind::QuotaExceeded.into(),
            Word::TooLarge => ErrorKind::FileTooLarge.into(),
            Word::Interrupted => ErrorKind::Interrupted.into(),
        }
    }
}

/// Which operations fail, counted from 0, and with what.
#[derive(Debug)]
pub(super) struct Faults {
    fails: Range<usize>,
    word: Word,
    /// Whether files without names are to be had.
    has_unnamed: bool,
    log: Mutex<Vec<&'static str>>,
    count: AtomicUsize,
}

impl Faults {
    fn new(fails: Range<usize>, word: Word, has_unnamed: bool) -> Arc<Self> {
        let (log, count) = (Mutex::default(), AtomicUsize::new(0));
        Arc::new(Self { fails, word, has_unnamed, log, count })
    }

    /// None of them.
    pub(super) fn none(has_unnamed: bool) -> Arc<Self> {
        Self::new(0..0, Word::Full, has_unnamed)
    }

    fn step(&self, name: &'static str) -> io::Result<()> {
        let at = self.count.fetch_add(1, Ordering::Relaxed);
        self.log.lock().unwrap().push(name);
        if self.fails.contains(&at) { Err(self.word.error()) } else { Ok(()) }
    }
}

#[derive(Debug)]
pub(super) struct Faulty(Arc<Faults>);

impl Faulty {
    pub(super) fn new(faults: Arc<Faults>) -> Self {
        Self(faults)
    }
}

#[derive(Debug)]
struct FaultyFile {
    file: Box<dyn VfsFile>,
    faults: Arc<Faults>,
}

impl Vfs for Faulty {
    fn entry(&self, path: &Path) -> io::Result<Entry> {
        self.0.step("entry")?;
        Disk.entry(path)
    }

    fn create_unnamed(&self, folder: &Path) -> io::Result<Option<Box<dyn VfsFile>>> {
        self.0.step("create_unnamed")?;
        if !self.0.has_unnamed {
            return Ok(None);
        }
        let faults = Arc::clone(&self.0);
        Ok(Disk.create_unnamed(folder)?.map(|file| Box::new(FaultyFile { file, faults }) as _))
    }

    fn create_named(&self, path: &Path) -> io::Result<Box<dyn VfsFile>> {
        self.0.step("create_named")?;
        let file = Disk.create_named(path)?;
        Ok(Box::new(FaultyFile { file, faults: Arc::clone(&self.0) }))
    }

    fn lock(&self, path: &Path) -> io::Result<Option<File>> {
        self.0.step("lock")?;
        Disk.lock(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.step("rename")?;
        Disk.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.step("rename_new")?;
        Disk.rename_new(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.step("remove")?;
        Disk.remove(path)
    }

    fn open_folder(&self, folder: &Path) -> io::Result<OpenFolder> {
        self.0.step("open_folder")?;
        Disk.open_folder(folder)
    }

    fn sync_folder(&self, folder: &OpenFolder) -> io::Result<()> {
        self.0.step("sync_folder")?;
        Disk.sync_folder(folder)
    }
}

impl Write for FaultyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.faults.step("write")?;
        // Short writes, as a nearly full disk or a signal makes them.
        self.file.write(&bytes[..bytes.len().min(16)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.faults.step("flush")?;
        self.file.flush()
    }
}

impl Seek for FaultyFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.faults.step("seek")?;
        self.file.seek(to)
    }
}

impl VfsFile for FaultyFile {
    fn sync(&mut self) -> io::Result<()> {
        self.faults.step("sync")?;
        self.file.sync()
    }

    fn keep_rights(&mut self, path: &Path) -> io::Result<()> {
        self.faults.step("keep_rights")?;
        self.file.keep_rights(path)
    }

    fn copy_span(&mut self, from: &File, span: Span) -> u64 {
        self.faults.step("copy_span").map_or(0, |()| self.file.copy_span(from, span))
    }

    fn link(&mut self, path: &Path) -> io::Result<()> {
        self.faults.step("link")?;
        self.file.link(path)
    }
}

/// How the target is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Fresh,
    Replace,
    Edit,
}

/// Lets some operations fail; says whether they were reached.
fn check(way: Way, fails: Range<usize>, word: Word, has_unnamed: bool) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("t.tet");
    let had_old = way != Way::Fresh;
    if had_old {
        fs::write(&target, OLD).unwrap();
    }
    let options = match way {
        Way::Fresh => REFUSE,
        Way::Replace => REPLACE,
        Way::Edit => Publish { force: Overwrite::Edit(stamp(&target)), ..REPLACE },
    };
    let faults = Faults::new(fails.clone(), word, has_unnamed);
    let outcome = write_new(Box::new(Faulty::new(Arc::clone(&faults))), &target, &options);
    let log = faults.log.lock().unwrap();
    let context = format!("{log:?} {fails:?} {word:?} {options:?}: {outcome:?}");
    let found = fs::read(&target).ok();
    let is_new = found.as_deref() == Some(NEW);
    let is_old = found.as_deref() == had_old.then_some(OLD);
    match &outcome {
        Ok(()) => assert!(is_new, "{context}"),
        Err(Error::Io { operation: Operation::SyncFolder, .. }) => assert!(is_new, "{context}"),
        Err(Error::Io { path, .. }) => assert!(is_old && *path == target, "{context}"),
        Err(_) => panic!("{context}"),
    }
    if let Err(Error::Io { operation, path, source }) = &outcome {
        let text = format!("cannot {operation} {}: {source}", path.display());
        assert_eq!(outcome.as_ref().unwrap_err().to_string(), text, "{context}");
    }
    let first = log.get(fails.start).copied();
    if fails.end < usize::MAX && first != Some("remove") {
        let wanted = if is_new || had_old { vec![OsString::from("t.tet")] } else { vec![] };
        assert_eq!(names(folder.path()), wanted, "no litter: {context}");
    }
    // An interrupted call is made again, but for syncs, and seeks, which nothing interrupts.
    let is_survived = match (word, first) {
        (_, None) => true,
        (Word::Interrupted, Some(first)) => !["seek", "sync", "sync_folder"].contains(&first),
        (_, Some(_)) => false,
    };
    assert_eq!(outcome.is_ok(), is_survived, "{context}");
    for sync in ["sync", "sync_folder"] {
        let count = log.iter().filter(|&&name| name == sync).count();
        assert!(count <= 1, "no sync is tried again: {context}");
    }
    first.is_some()
}

#[test]
fn after_any_failure_the_target_is_the_old_file_or_the_new_one() {
    /// As often as a signal may come in a row.
    const BURST: usize = 64;
    for way in [Way::Fresh, Way::Replace, Way::Edit] {
        for has_unnamed in [true, false] {
            for word in Word::ALL {
                let lasts: [fn(usize) -> usize; 2] = match word {
                    Word::Interrupted => [|at| at + 1, |at| at + BURST],
                    _ => [|at| at + 1, |_| usize::MAX],
                };
                for last in lasts {
                    let mut at = 0;
                    while check(way, at..last(at), word, has_unnamed) {
                        at += 1;
                    }
                    assert!(at > 9, "every step was reached");
                }
            }
        }
    }
}
