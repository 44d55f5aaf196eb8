use std::ffi::OsString;
use std::fs;

use super::*;

mod copy;
mod edit;
mod faulty;
mod upload;

use faulty::{Faults, Faulty};

const OLD: &[u8] = b"the old file";
const NEW: &[u8] = b"the new file, longer than the old one";

const REPLACE: Publish =
    Publish { force: Overwrite::Replace, sync: Sync::Full, inputs: Vec::new(), version: None };
const REFUSE: Publish =
    Publish { force: Overwrite::Refuse, sync: Sync::Full, inputs: Vec::new(), version: None };

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

fn stamp(path: &Path) -> Stamp {
    Stamp::from_file(&File::open(path).unwrap()).unwrap()
}

#[test]
fn a_target_that_appears_meanwhile_is_not_replaced() {
    for has_unnamed in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("t.tet");
        let vfs = Box::new(Faulty::new(Faults::none(has_unnamed)));
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
    assert!(matches!(nowhere, Err(Error::Io { operation: Operation::Create, .. })));
    assert_eq!(fs::read(&target).unwrap(), OLD);
}
#[test]
fn the_input_is_never_the_output_by_whatever_name() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("t.tet");
    fs::write(&target, OLD).unwrap();
    let input = stamp(&target);
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
    assert!(matches!(outcome, Err(Error::Io { operation: Operation::Resolve, .. })));
}

#[test]
fn long_names_get_hidden_names_that_fit() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("n".repeat(255));
    write_new(Box::new(Disk), &target, &REPLACE).unwrap();
    write_new(Box::new(Disk), &target, &REPLACE).unwrap();
    assert_eq!(fs::read(&target).unwrap(), NEW);
}
