//! Files that the command writes to a bucket: their parts arrive while they are made, and are those of the local file.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use tet_tests::bucket::{BucketFault, ObjectStore};
use tet_tests::program;
use tet_tests::values::Seeded;

const MIB: u64 = 1 << 20;
const PART_LEN: u64 = 8 * MIB;

/// An array of random numbers, of this many rows of 1 MiB, which no codec makes shorter.
fn npy(folder: &Path, rows: u64) -> PathBuf {
    let path = folder.join(format!("rows{rows}.npy"));
    let header = format!("{{'descr': '<i4', 'fortran_order': False, 'shape': ({rows}, 262144), }}");
    let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    npy.extend(format!("{header:<117}\n").bytes());
    let mut seeded = Seeded(rows);
    npy.extend((0..rows * MIB / 8).flat_map(|_| seeded.bits().to_le_bytes()));
    fs::write(&path, npy).unwrap();
    path
}

/// A command that runs; its temporary files are in a folder of their own.
fn begin(store: &ObjectStore, temporary: &Path, args: &[&str]) -> Child {
    let mut command = Command::new(program::tet());
    command.args(args).env("AWS_ENDPOINT_URL", store.endpoint()).env("TMPDIR", temporary);
    command.env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "hidden");
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Length and disk space of the files without a name that a process has in a folder, each once.
fn temporary_files(pid: u32, folder: &Path) -> BTreeMap<u64, (u64, u64)> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten();
    let of = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.ok()?.path();
        let is_ours = fs::read_link(&path).ok()?.starts_with(folder);
        let file = fs::metadata(path).ok().filter(|_| is_ours)?;
        Some((file.ino(), (file.len(), 512 * file.blocks())))
    };
    open.filter_map(of).collect()
}

/// What a bucket sees of the program that writes to it, at each request.
#[derive(Clone, Default)]
struct Watch(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    folder: PathBuf,
    child: Option<Child>,
    /// The length of the temporary file at each request.
    lens: Vec<u64>,
    /// The most disk space that it has.
    most: u64,
    /// The request at which the program is killed.
    kill_at: Option<usize>,
}

impl Watch {
    fn store(&self) -> ObjectStore {
        let watch = self.clone();
        ObjectStore::with(move |nth| watch.look(nth))
    }

    fn look(&self, nth: usize) -> Option<BucketFault> {
        let mut seen = self.0.lock().unwrap();
        let files = temporary_files(seen.child.as_ref()?.id(), &seen.folder);
        seen.lens.push(files.values().map(|file| file.0).max().unwrap_or(0));
        seen.most = seen.most.max(files.values().map(|file| file.1).sum());
        if seen.kill_at == Some(nth) {
            seen.child.as_mut()?.kill().unwrap();
        }
        None
    }

    /// Runs a command to its end; whether it succeeds, and its messages.
    fn run(&self, store: &ObjectStore, args: &[&str]) -> (bool, String) {
        let temporary = tempfile::tempdir().unwrap();
        let mut seen = self.0.lock().unwrap();
        seen.folder = temporary.path().canonicalize().unwrap();
        (seen.lens, seen.most) = Default::default();
        seen.child = Some(begin(store, temporary.path(), args));
        drop(seen);
        let status = loop {
            if let Some(status) = self.0.lock().unwrap().child.as_mut().unwrap().try_wait().unwrap()
            {
                break status;
            }
            std::thread::yield_now();
        };
        let child = self.0.lock().unwrap().child.take().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0, "no file is left");
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (status.success(), said)
    }
}

/// Without a time, so that the same bytes are made twice.
fn to<'a>(input: &'a str, out: &'a str, options: &[&'a str]) -> Vec<&'a str> {
    let has_history = [".tet", ".tgm"].iter().any(|suffix| out.ends_with(suffix));
    let timeless: &[&str] = if has_history { &["--no-history"] } else { &[] };
    [&["convert", input, out, "--force", "-q"], options, timeless].concat()
}

/// The same bytes as a local file, whichever format; parts arrive before the file is complete, and of those that are not
/// written again nothing stays on the disk.
#[test]
fn parts_arrive_while_a_file_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let rows = 96;
    let input = npy(folder.path(), rows);
    let input = input.to_str().unwrap();
    for (suffix, options) in [
        ("tet", &["--codec", "zstd"][..]),
        ("tet", &["--codec", "raw"]),
        ("zt", &[]),
        ("tgm", &[]),
        ("tgm", &["--codec", "zstd"]),
        ("safetensors", &[]),
        ("npz", &[]),
        ("h5", &[]),
        ("nc", &[]),
        ("zarr.zip", &["--codec", "raw"]),
        ("npy", &[]),
    ] {
        let about = format!("{suffix} {options:?}");
        let local = folder.path().join(format!("local.{suffix}"));
        let url = format!("s3://bucket/remote.{suffix}");
        let watch = Watch::default();
        let store = watch.store();
        let (is_done, said) = watch.run(&store, &to(input, local.to_str().unwrap(), options));
        assert!(is_done, "{about}: {said}");
        let (is_done, said) = watch.run(&store, &to(input, &url, options));
        assert!(is_done, "{about}: {said}");
        let object = store.get(&format!("/bucket/remote.{suffix}")).unwrap();
        assert!(object == fs::read(local).unwrap(), "{about}: other bytes");
        assert_eq!(store.pending(), 0, "{about}");
        let seen = watch.0.lock().unwrap();
        let len = object.len() as u64;
        let early = seen.lens.iter().filter(|at| 0 < **at && **at < len).count();
        assert!(5 <= early, "{about}: the file was complete at all requests but {early}");
        // The head, four parts on their way, and the one that is written; of an archive one member, which is all.
        let is_member =
            ["npz", "zarr.zip", "tgm"].contains(&suffix) && options != ["--codec", "raw"];
        let bound = if is_member { len + 8 * PART_LEN } else { 7 * PART_LEN };
        assert!(seen.most <= bound, "{about}: {} bytes on the disk", seen.most);
    }
}

#[test]
fn a_program_that_is_killed_leaves_the_old_object() {
    let folder = tempfile::tempdir().unwrap();
    let input = npy(folder.path(), 40);
    let args = to(input.to_str().unwrap(), "s3://bucket/a.tet", &["--codec", "raw"]);
    let watch = Watch::default();
    let store = watch.store();
    assert!(watch.run(&store, &args).0);
    let (new, count) = (store.get("/bucket/a.tet").unwrap(), store.requests());
    for nth in 0..count {
        let watch = Watch::default();
        let store = watch.store();
        store.put("/bucket/a.tet", b"old");
        watch.0.lock().unwrap().kill_at = Some(nth);
        assert!(!watch.run(&store, &args).0, "killed at {nth}");
        let left = store.get("/bucket/a.tet").unwrap();
        // The last request is done before its answer is sent.
        assert!(if nth + 1 < count { left == b"old" } else { left == new }, "killed at {nth}");
    }
}
