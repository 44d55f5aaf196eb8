use std::ffi::OsString;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::*;

const OLD: &[u8] = b"the old file";
const NEW: &[u8] = b"the new file, longer than the old one";

const REPLACE: Publish =
    Publish { force: Overwrite::Replace, sync: Sync::Full, inputs: Vec::new() };
const REFUSE: Publish = Publish { force: Overwrite::Refuse, sync: Sync::Full, inputs: Vec::new() };

/// A disk on which chosen operations fail.
#[derive(Debug)]
struct Faulty {
    state: Arc<FaultState>,
}

#[derive(Debug)]
struct FaultState {
    count: AtomicUsize,
    /// The operation that fails, counted from 0.
    fails_at: usize,
    /// Whether all later ones fail too.
    stays_broken: bool,
    /// Whether files without names are to be had.
    has_unnamed: bool,
    log: Mutex<Vec<&'static str>>,
}

impl FaultState {
    fn step(&self, name: &'static str) -> io::Result<()> {
        let at = self.count.fetch_add(1, Ordering::Relaxed);
        self.log.lock().unwrap().push(name);
        if at == self.fails_at || (self.stays_broken && at > self.fails_at) {
            return Err(io::Error::other("injected"));
        }
        Ok(())
    }
}

#[derive(Debug)]
struct FaultyFile {
    file: Box<dyn VfsFile>,
    state: Arc<FaultState>,
}

impl Vfs for Faulty {
    fn create_unnamed(&self, folder: &Path) -> io::Result<Option<Box<dyn VfsFile>>> {
        self.state.step("create_unnamed")?;
        if !self.state.has_unnamed {
            return Ok(None);
        }
        let state = Arc::clone(&self.state);
        Ok(Disk.create_unnamed(folder)?.map(|file| Box::new(FaultyFile { file, state }) as _))
    }

    fn create_named(&self, path: &Path) -> io::Result<Box<dyn VfsFile>> {
        self.state.step("create_named")?;
        let file = Disk.create_named(path)?;
        Ok(Box::new(FaultyFile { file, state: Arc::clone(&self.state) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.state.step("rename")?;
        Disk.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.state.step("rename_new")?;
        Disk.rename_new(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.state.step("remove")?;
        Disk.remove(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.state.step("sync_folder")?;
        Disk.sync_folder(folder)
    }
}

impl Write for FaultyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.state.step("write")?;
        // Short writes, as a full pipe or a signal makes them.
        self.file.write(&bytes[..bytes.len().min(16)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.state.step("flush")?;
        self.file.flush()
    }
}

impl Seek for FaultyFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.state.step("seek")?;
        self.file.seek(to)
    }
}

impl VfsFile for FaultyFile {
    fn sync(&mut self) -> io::Result<()> {
        self.state.step("sync")?;
        self.file.sync()
    }

    fn set_mode(&mut self, mode: u32) -> io::Result<()> {
        self.state.step("set_mode")?;
        self.file.set_mode(mode)
    }

    fn link(&mut self, path: &Path) -> io::Result<()> {
        self.state.step("link")?;
        self.file.link(path)
    }
}

fn write_new(vfs: Box<dyn Vfs>, target: &Path, options: &Publish) -> Result<()> {
    let mut publisher = Publisher::begin_on(vfs, target, options)?;
    publisher.file().write_all(NEW).map_err(|error| publisher.write_fault(error))?;
    let rewound = publisher.seek(SeekFrom::Start(0));
    rewound.map_err(|error| publisher.write_fault(error))?;
    publisher.commit()
}

fn names(folder: &Path) -> Vec<OsString> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    names
}

/// Lets operation `fails_at` fail; says whether there was one.
fn check_fault(fails_at: usize, stays_broken: bool, has_unnamed: bool, options: &Publish) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("t.tet");
    let had_old = options.force == Overwrite::Replace;
    if had_old {
        fs::write(&target, OLD).unwrap();
    }
    let log = Mutex::default();
    let count = AtomicUsize::new(0);
    let state = Arc::new(FaultState { count, fails_at, stays_broken, has_unnamed, log });
    let outcome = write_new(Box::new(Faulty { state: Arc::clone(&state) }), &target, options);
    let log = state.log.lock().unwrap();
    let context = format!("{log:?} fails at {fails_at}, {options:?}: {outcome:?}");
    let found = fs::read(&target).ok();
    let is_new = found.as_deref() == Some(NEW);
    let is_old = found.as_deref() == had_old.then_some(OLD);
    match &outcome {
        Ok(()) => assert!(is_new, "{context}"),
        Err(Error::Io { step: Step::SyncFolder, .. }) => assert!(is_new, "{context}"),
        Err(Error::Io { path, .. }) => assert!(is_old && *path == target, "{context}"),
        Err(_) => panic!("{context}"),
    }
    if !stays_broken && log.get(fails_at) != Some(&"remove") {
        let wanted = if is_new || had_old { vec![OsString::from("t.tet")] } else { vec![] };
        assert_eq!(names(folder.path()), wanted, "no litter: {context}");
    }
    let happened = fails_at < log.len();
    assert_eq!(outcome.is_ok(), !happened, "{context}");
    happened
}

#[test]
fn after_any_failure_the_target_is_the_old_file_or_the_new_one() {
    for options in [REPLACE, REFUSE] {
        for has_unnamed in [true, false] {
            for stays_broken in [true, false] {
                let mut fails_at = 0;
                while check_fault(fails_at, stays_broken, has_unnamed, &options) {
                    fails_at += 1;
                }
                assert!(fails_at > 7, "every step was reached");
            }
        }
    }
}

#[test]
fn a_target_that_appears_meanwhile_is_not_replaced() {
    for has_unnamed in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("t.tet");
        let state = FaultState {
            count: AtomicUsize::new(0),
            fails_at: usize::MAX,
            stays_broken: false,
            has_unnamed,
            log: Mutex::default(),
        };
        let vfs = Box::new(Faulty { state: Arc::new(state) });
        let mut publisher = Publisher::begin_on(vfs, &target, &REFUSE).unwrap();
        publisher.file().write_all(NEW).unwrap();
        fs::write(&target, OLD).unwrap();
        assert!(matches!(publisher.commit(), Err(Error::Exists { .. })));
        assert_eq!(fs::read(&target).unwrap(), OLD);
        assert_eq!(names(folder.path()), ["t.tet"]);
    }
}

#[test]
fn a_dropped_publisher_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut publisher = Publisher::begin(folder.path().join("t.tet"), &REFUSE).unwrap();
    publisher.write_all(NEW).unwrap();
    drop(publisher);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn outputs_that_may_not_be_written_are_refused_before_a_byte_is() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("t.tet");
    fs::write(&target, OLD).unwrap();
    assert!(matches!(Publisher::begin(&target, &REFUSE), Err(Error::Exists { .. })));
    let refused = Publisher::begin(folder.path(), &REPLACE);
    assert!(matches!(refused, Err(Error::NotRegular { what: "a directory", .. })));
    assert!(matches!(Publisher::begin("/dev/null", &REPLACE), Err(Error::NotRegular { .. })));
    let nowhere = Publisher::begin(folder.path().join("no/such/t.tet"), &REPLACE);
    assert!(matches!(nowhere, Err(Error::Io { step: Step::Create, .. })));
    assert_eq!(fs::read(&target).unwrap(), OLD);
}

#[cfg(unix)]
#[test]
fn the_input_is_never_the_output_by_whatever_name() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("t.tet");
    fs::write(&target, OLD).unwrap();
    let input = Stamp::of(&fs::File::open(&target).unwrap()).unwrap();
    let (hard, soft) = (folder.path().join("hard"), folder.path().join("soft"));
    fs::hard_link(&target, &hard).unwrap();
    std::os::unix::fs::symlink("t.tet", &soft).unwrap();
    for path in [&target, &hard, &soft] {
        for force in [Overwrite::Refuse, Overwrite::Replace] {
            let options = Publish { force, inputs: vec![input], ..Publish::default() };
            assert!(matches!(Publisher::begin(path, &options), Err(Error::SameFile { .. })));
        }
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_permissions_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (target, link) = (folder.path().join("t.tet"), folder.path().join("link"));
    fs::write(&target, OLD).unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("t.tet", &link).unwrap();
    write_new(Box::new(Disk), &link, &REPLACE).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&target).unwrap(), NEW);
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o7777, 0o640);

    let dangling = folder.path().join("dangling");
    symlink("fresh.tet", &dangling).unwrap();
    write_new(Box::new(Disk), &dangling, &REFUSE).unwrap();
    assert_eq!(fs::read(folder.path().join("fresh.tet")).unwrap(), NEW);

    let ring = folder.path().join("ring");
    symlink("ring", &ring).unwrap();
    let outcome = write_new(Box::new(Disk), &ring, &REPLACE);
    assert!(matches!(outcome, Err(Error::Io { step: Step::Resolve, .. })));
}

#[test]
fn long_names_get_hidden_names_that_fit() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("n".repeat(255));
    write_new(Box::new(Disk), &target, &REPLACE).unwrap();
    write_new(Box::new(Disk), &target, &REPLACE).unwrap();
    assert_eq!(fs::read(&target).unwrap(), NEW);
}
