//! Stops every command that writes, by a signal at any moment or by a limit of open files. Then the
//! directory contains the complete old files or the complete new ones, and no others.

#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::fixtures;

/// The files of a folder, by name.
type Files = BTreeMap<String, Vec<u8>>;

/// The commands; each changes files of its folder in its own way.
const COMMANDS: [&str; 24] = [
    "convert climate.npz new.tet",
    "convert climate.npz climate.tet --force",
    "convert climate.tet new.npz",
    "convert climate.tet new.zt",
    "convert climate.tet new.zarr",
    "convert climate.tet old.zarr --force --chunks 1,30,60 --dataset temp",
    "convert climate.tet new.zarr.zip",
    "convert climate.tet new.tgm",
    "convert climate.tet new.safetensors",
    "convert climate.tet new.safetensors --shard-size 10KiB",
    "cat climate.tet temp -o new.npy",
    "cat climate.tet temp[0] -o new.csv",
    "cat climate.tet temp[0] -o new.txt",
    "query climate.tet temp --mean month -o new.npy",
    "query climate.tet temp --transform zscore --over month -o new.tet",
    "edit repack bare.tet --digests",
    "digest create climate.npz",
    "repair damaged.tet --all",
    "repair damaged.npz --all",
    "repair damaged.zarr --all",
    "edit rename model.zt temp=warm",
    "edit rename climate.tet temp=warm",
    "edit set messages.tgm temp:note=1",
    "convert messages.tgm new.tgm",
];

/// The files below a folder, by path, and their bytes.
fn files(folder: &Path) -> Files {
    let mut all = Files::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            let below = files(&entry.path());
            all.extend(below.into_iter().map(|(path, bytes)| (format!("{name}/{path}"), bytes)));
        } else {
            all.insert(name, fs::read(entry.path()).expect("a file"));
        }
    }
    all
}

/// Names in the folder itself: files, and folders that are each one output.
fn names(files: &Files) -> BTreeSet<&str> {
    files.keys().map(|path| path.split('/').next().unwrap_or(path)).collect()
}

/// A file, or all files of a folder.
fn whole<'f>(files: &'f Files, name: &str) -> BTreeMap<&'f str, &'f [u8]> {
    let is_in = |path: &str| path.split('/').next() == Some(name);
    let files = files.iter().filter(|(path, _)| is_in(path));
    files.map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect()
}

fn tet(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tet"));
    command.args(line.split(' ')).current_dir(folder).env("SOURCE_DATE_EPOCH", "1700000000");
    command.stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null());
    command
}

/// Runs the command under a limit that a shell sets.
fn limited(folder: &Path, limit: &str, line: &str) -> Output {
    let script = format!("{limit}; exec {} {line}", env!("CARGO_BIN_EXE_tet"));
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(folder).env("SOURCE_DATE_EPOCH", "1700000000");
    command.stdin(Stdio::null()).output().expect("sh is there")
}

/// The inputs of all commands.
fn inputs(folder: &Path) -> Files {
    let (all, folder) = (folder.join("all"), &folder.join("in"));
    fixtures::make(&all);
    fs::create_dir(folder).expect("a folder");
    for name in ["climate.tet", "climate.npz"] {
        fs::copy(all.join(name), folder.join(name)).expect("a file");
    }
    for line in [
        "convert climate.npz bare.tet --no-digests",
        "convert climate.tet model.zt",
        "convert climate.tet messages.tgm",
        "convert climate.tet model.safetensors",
        "cat climate.tet temp -o temp.npy",
        "convert temp.npy months.tet --dims temp=month,lat,lon --chunks 5,30,60",
        "convert climate.tet old.zarr",
        "convert climate.tet stored.npz",
        "convert climate.tet damaged.zarr --dataset temp --checksum crc32c --codec raw --shards none",
    ] {
        assert!(tet(folder, line).status().expect("it runs").success(), "{line}");
    }
    let all = files(folder);
    let chunks = all.iter().filter(|(path, _)| path.starts_with("damaged.zarr/temp/c/"));
    let (chunk, _) = chunks.max_by_key(|(_, bytes)| bytes.len()).expect("a chunk");
    let flipped = [
        ("climate.tet", "damaged.tet"),
        ("stored.npz", "damaged.npz"),
        (chunk.as_str(), chunk.as_str()),
    ];
    for (from, to) in flipped {
        let mut damaged = fs::read(folder.join(from)).expect("a file");
        let middle = damaged.len() / 2;
        damaged[middle] ^= 1;
        fs::write(folder.join(to), damaged).expect("room");
    }
    files(folder)
}

/// A folder with these files and no others.
fn fresh(folder: &Path, files: &Files) {
    if folder.exists() {
        fs::remove_dir_all(folder).expect("it is there");
    }
    fs::create_dir(folder).expect("a folder");
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("room");
        fs::write(path, bytes).expect("room");
    }
}

/// Checks the files after a command was stopped: each, and each folder, is the old one or the new one.
fn check(line: &str, how: &str, now: &Files, [old, new]: [&Files; 2], is_done: bool) {
    for name in names(now) {
        let is_known = [old, new].iter().any(|all| whole(all, name) == whole(now, name));
        assert!(is_known, "{line}, {how}: {name} is neither the old file nor the new one");
    }
    for name in names(old) {
        assert!(names(now).contains(name), "{line}, {how}: {name} is gone");
    }
    if is_done {
        assert_eq!(now.keys().collect::<Vec<_>>(), new.keys().collect::<Vec<_>>(), "{line}, {how}");
    }
}

/// The edits of every kind of file.
const EDITS: [&str; 17] = [
    "edit rename climate.tet temp=warm",
    "edit drop climate.tet elevation",
    "edit set climate.tet temp:note=1 --labels month=@month",
    "edit compact bare.tet -o new.tet",
    "edit rename model.zt temp=warm",
    "edit drop model.zt elevation",
    "edit rename model.safetensors temp=warm",
    "edit drop climate.npz elevation",
    "edit set messages.tgm temp:note=1",
    "edit append months.tet temp.npy --axis month",
    "edit append model.zt climate.npz --axis 0 --dataset temp",
    "edit append model.safetensors climate.npz --axis 0 --dataset temp",
    "edit append climate.npz climate.tet --axis 1 --dataset temp",
    "edit append messages.tgm climate.npz --axis 0 --dataset temp",
    "edit repack model.zt --codec zstd",
    "edit repack messages.tgm --codec temp=zstd",
    "edit repack climate.npz --codec raw",
];

/// A limit of the length of files makes each write fail as a full disk does; a process that is killed cannot clean up.
#[test]
fn an_edit_that_fails_at_any_write_or_is_killed_leaves_the_old_file_or_the_new() {
    let folder = tempfile::tempdir().expect("a folder");
    let old = inputs(folder.path());
    let work = folder.path().join("work");
    let (mut killed, mut refused) = (0, 0);
    for line in EDITS {
        fresh(&work, &old);
        assert!(tet(&work, line).status().expect("it runs").success(), "{line}");
        let new = files(&work);
        assert!(new != old, "{line} writes");
        for count in (0..200).step_by(9) {
            fresh(&work, &old);
            let output = limited(&work, &format!("trap '' XFSZ; ulimit -f {count}"), line);
            let is_done = output.status.success();
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(is_done || text.starts_with("error: "), "{line}: {text}");
            refused += usize::from(!is_done);
            let wanted = if is_done { &new } else { &old };
            assert!(files(&work) == *wanted, "{line}, {count} blocks: {text}");
        }
        for delay in (0..24).step_by(3) {
            fresh(&work, &old);
            let mut child = tet(&work, line).spawn().expect("it runs");
            sleep(Duration::from_millis(delay));
            // The process may have ended already.
            let _ = child.kill();
            let is_done = child.wait().expect("it ends").success();
            killed += usize::from(!is_done);
            let mut now = files(&work);
            // A new file that had a name for the moment before it took that of the old one.
            now.retain(|name, _| !name.starts_with('.'));
            check(line, &format!("killed after {delay} ms"), &now, [&old, &new], is_done);
        }
    }
    assert!(10 < killed && 50 < refused, "{killed} {refused}");
}

#[test]
fn a_signal_or_a_lack_of_descriptors_leaves_the_old_files_or_the_new() {
    let folder = tempfile::tempdir().expect("a folder");
    let old = inputs(folder.path());
    let work = folder.path().join("work");
    let (mut interrupted, mut refused, mut done) = (0, 0, 0);
    for line in COMMANDS {
        fresh(&work, &old);
        let is_done = tet(&work, line).status().expect("it runs").success();
        assert!(is_done, "{line}");
        let new = files(&work);
        assert!(new != old, "{line} writes");
        for delay in [0, 2, 4, 8, 16] {
            fresh(&work, &old);
            let mut child = tet(&work, line).spawn().expect("it runs");
            sleep(Duration::from_millis(delay));
            let process = rustix::process::Pid::from_child(&child);
            // The process may have ended already.
            let _ = rustix::process::kill_process(process, rustix::process::Signal::INT);
            let status = child.wait().expect("it ends");
            let is_killed = std::os::unix::process::ExitStatusExt::signal(&status) == Some(2);
            let code = status.code();
            assert!(is_killed || code == Some(130) || code == Some(0), "{line}: {status:?}");
            interrupted += usize::from(code != Some(0));
            let how = format!("interrupted after {delay} ms");
            check(line, &how, &files(&work), [&old, &new], code == Some(0));
        }
        for count in 4..12 {
            fresh(&work, &old);
            let output = limited(&work, &format!("ulimit -n {count}"), line);
            let text = String::from_utf8_lossy(&output.stderr);
            let is_done = output.status.success();
            let is_error = matches!(output.status.code(), Some(4 | 5 | 127)) && !text.is_empty();
            assert!(is_done || is_error, "{line}, {count} descriptors: {text}");
            (done, refused) = (done + usize::from(is_done), refused + usize::from(!is_done));
            let how = format!("{count} descriptors");
            check(line, &how, &files(&work), [&old, &new], is_done);
        }
    }
    assert!(interrupted > 10 && refused > 30 && done > 30, "{interrupted} {refused} {done}");
}
