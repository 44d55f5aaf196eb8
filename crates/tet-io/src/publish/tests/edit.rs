//! Edits: the target is the file that was read, or nothing happens.

use super::*;

fn edit(target: &Path) -> (Source, Publish) {
    let source = Source::open(target).unwrap();
    let stamp = source.stamp().unwrap();
    (source, Publish { force: Overwrite::Edit(stamp), inputs: vec![stamp], ..Publish::default() })
}

#[test]
fn an_edited_file_replaces_the_one_that_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("t.tet");
    fs::write(&target, OLD).unwrap();
    let (source, options) = edit(&target);
    write_new(Box::new(Disk), &target, &options).unwrap();
    assert_eq!(fs::read(&target).unwrap(), NEW);
    assert_eq!(names(folder.path()), ["t.tet"]);
    source.check_unchanged().unwrap();
    let again = write_new(Box::new(Disk), &target, &options);
    assert!(matches!(again, Err(Error::Changed { .. })), "an edit is of one state");
}

#[test]
fn an_edit_of_another_state_changes_nothing() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 5] = [
        ("written in place", |path| fs::write(path, b"THE OLD FILE").unwrap()),
        ("longer", |path| fs::write(path, b"the old file, longer").unwrap()),
        ("replaced by a copy", |path| {
            let other = path.with_extension("other");
            fs::copy(path, &other).unwrap();
            fs::rename(other, path).unwrap();
        }),
        ("removed", |path| fs::remove_file(path).unwrap()),
        ("a folder", |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }),
    ];
    for (what, change) in changes {
        for is_late in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let target = folder.path().join("t.tet");
            fs::write(&target, OLD).unwrap();
            // As old as no clock is coarse.
            let file = File::options().write(true).open(&target).unwrap();
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
            let (_source, options) = edit(&target);
            let outcome = if is_late {
                let mut publisher = Publisher::begin(&target, &options).unwrap();
                publisher.write_all(NEW).unwrap();
                change(&target);
                publisher.commit()
            } else {
                change(&target);
                write_new(Box::new(Disk), &target, &options)
            };
            let is_refused =
                matches!(outcome, Err(Error::Changed { .. } | Error::NotRegular { .. }));
            assert!(is_refused, "{what}: {outcome:?}");
            let wanted: &[&str] = if what == "removed" { &[] } else { &["t.tet"] };
            assert_eq!(names(folder.path()), wanted, "{what}");
            let left = fs::read(&target);
            assert!(left.is_err() || left.unwrap() != NEW, "{what}");
        }
    }
}

#[test]
fn an_edit_replaces_no_other_input() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    fs::write(&one, OLD).unwrap();
    fs::write(&other, OLD).unwrap();
    let (_source, options) = edit(&one);
    let options = Publish { inputs: vec![stamp(&one), stamp(&other)], ..options };
    let outcome = write_new(Box::new(Disk), &other, &options);
    assert!(matches!(outcome, Err(Error::Changed { .. })), "{outcome:?}");
    write_new(Box::new(Disk), &one, &options).unwrap();
}

/// Each edit adds one to the number in the file, as often as it takes; none of them is lost.
#[test]
fn of_edits_at_the_same_time_none_is_lost() {
    const THREADS: usize = 4;
    const EDITS: usize = 50;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("count");
    fs::write(&target, 0_u64.to_le_bytes()).unwrap();
    let add = || -> Result<()> {
        let (source, options) = edit(&target);
        let mut count = [0; 8];
        source.read_exact_at(0, &mut count)?;
        let count = u64::from_le_bytes(count) + 1;
        let options = Publish { sync: Sync::None, ..options };
        let mut publisher = Publisher::begin(&target, &options)?;
        publisher.write_all(&count.to_le_bytes()).unwrap();
        publisher.commit()
    };
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut done = 0;
                while done < EDITS {
                    match add() {
                        Ok(()) => done += 1,
                        Err(
                            Error::Changed { .. } | Error::Io { operation: Operation::Lock, .. },
                        ) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    assert_eq!(fs::read(&target).unwrap(), ((THREADS * EDITS) as u64).to_le_bytes());
    assert_eq!(names(folder.path()), ["count"]);
}

#[cfg(target_os = "linux")]
#[test]
fn owner_and_attributes_are_kept_where_that_is_permitted() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("t.tet");
    fs::write(&target, OLD).unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    // Only the superuser gives files away, and not every file system has attributes.
    let is_owner_set = chown(&target, Some(12_345), Some(23_456)).is_ok();
    let name = "user.tet.origin";
    let is_attribute_set = setxattr(&target, name, b"lab 7", XattrFlags::empty()).is_ok();
    let (_source, options) = edit(&target);
    write_new(Box::new(Disk), &target, &options).unwrap();
    let metadata = fs::metadata(&target).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o7777, 0o640);
    if is_owner_set {
        assert_eq!((metadata.uid(), metadata.gid()), (12_345, 23_456));
    }
    if is_attribute_set {
        let mut value = vec![0; 64];
        let value_len = getxattr(&target, name, value.as_mut_slice()).unwrap();
        assert_eq!(&value[..value_len], b"lab 7");
    }
    assert_eq!(fs::read(&target).unwrap(), NEW);
}

#[test]
fn what_is_no_file_is_not_replaced_by_an_edit() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("t.tet");
    fs::write(&target, OLD).unwrap();
    let outcome = Output::InPlace(&target).begin(&Source::from_bytes(OLD.to_vec()), &REPLACE);
    assert!(matches!(outcome, Err(Error::NotRegular { .. })));
    assert_eq!(fs::read(&target).unwrap(), OLD);
}
