//! Files that the command writes to a bucket: their parts arrive while they are made, and are those of the local file. The
//! server copies the bytes that stay in an edited or merged file.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use tet_file::parts::{FilePart, FilePlan, RegionOptions, RegionWriter, publish};
use tet_file::write::WriteOptions;
use tet_io::Progress;
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

/// Requests to a bucket from the program that writes to it.
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

/// An upload has the bytes of a local file, in every format; parts arrive before the file is complete, and of those not
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

/// The requests of a kind, such as `COPY`.
fn count(log: &[String], method: &str) -> usize {
    log.iter().filter(|line| line.starts_with(method)).count()
}

/// Runs a command that succeeds.
fn run(store: &ObjectStore, args: &[&str]) {
    let temporary = tempfile::tempdir().unwrap();
    let output = begin(store, temporary.path(), args).wait_with_output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A local file with an array of 40 MiB named `rows40`, and the same in the bucket.
fn held(folder: &Path, suffix: &str, store: &ObjectStore) -> PathBuf {
    let (input, local) = (npy(folder, 40), folder.join(format!("a.{suffix}")));
    let raw: &[&str] = if suffix == "safetensors" { &[] } else { &["--codec", "raw"] };
    let args = ["convert", input.to_str().unwrap(), local.to_str().unwrap(), "-q"];
    run(store, &[&args, raw].concat());
    store.put(&format!("/bucket/a.{suffix}"), &fs::read(&local).unwrap());
    local
}

/// An edit of a file, to another file if `out` is one. It has no time, so that the same bytes are made twice.
fn edit<'a>(words: &[&'a str], file: &'a str, out: Option<&'a str>) -> Vec<&'a str> {
    let mut args = vec!["edit"];
    args.extend(words.iter().map(|word| if *word == "FILE" { file } else { word }));
    args.extend(file.ends_with(".tet").then_some("--no-history"));
    args.extend(out.iter().flat_map(|out| ["-o", *out]));
    args
}

/// The bytes of an edit on the disk, and of parts of 8 MiB all but those that hold something new are copied.
#[test]
fn bytes_that_stay_are_copied_on_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let more = npy(folder.path(), 16);
    let append = ["append", "FILE", more.to_str().unwrap(), "--axis", "0"];
    for (suffix, words) in [
        ("tet", &["set", "FILE", "rows40:units=K"][..]),
        ("tet", &["rename", "FILE", "rows40=t2m"]),
        ("tet", &append),
        ("zt", &["set", "FILE", "rows40:units=K"]),
        ("tgm", &["set", "FILE", "rows40:units=K"]),
        ("safetensors", &["rename", "FILE", "rows40=t2m"]),
    ] {
        let about = format!("{suffix} {words:?}");
        let folder = tempfile::tempdir().unwrap();
        let store = ObjectStore::with(|_| None);
        let local = held(folder.path(), suffix, &store);
        let out = folder.path().join(format!("b.{suffix}"));
        run(&store, &edit(words, local.to_str().unwrap(), out.to_str()));
        run(&store, &edit(words, &format!("s3://bucket/a.{suffix}"), None));
        let log = store.take_log();
        let object = store.get(&format!("/bucket/a.{suffix}")).unwrap();
        assert!(object == fs::read(&out).unwrap(), "{about}: other bytes");
        assert_eq!(store.pending(), 0, "{about}");
        let grown = object.len() / (8 << 20) - 5;
        let (copied, sent) = (count(&log, "COPY"), count(&log, "PUT"));
        assert!(4 <= copied && sent <= 2 + grown, "{about}: {copied} copied, {sent} sent");
        // Reads that open the file, and the ends of the copied spans.
        assert!(count(&log, "GET") <= 8, "{about}: {log:?}");
    }
}

/// Files, and the parts of a folder, are merged by copies: the bytes are those of the same merge on a disk.
#[test]
fn files_are_merged_on_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let store = ObjectStore::with(|_| None);
    let local = held(folder.path(), "tet", &store);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (a, b) = (local.to_str().unwrap(), &*path("b.tet"));
    run(&store, &edit(&["rename", "FILE", "rows40=wind"], a, Some(b)));
    store.put("/bucket/b.tet", &fs::read(b).unwrap());
    for to in [&*path("grown.tets"), "s3://bucket/grown.tets"] {
        run(&store, &["convert", a, to, "--codec", "raw", "-q"]);
        run(&store, &["edit", "append", to, a, "--axis", "0", "-q"]);
    }
    let grown = path("grown.tets");
    for (name, near, far) in [
        ("two.tet", &[a, b][..], &["s3://bucket/a.tet", "s3://bucket/b.tet"][..]),
        ("grown.tet", &[&*grown], &["s3://bucket/grown.tets"]),
    ] {
        let (out, url) = (path(name), format!("s3://bucket/{name}"));
        run(&store, &[&["convert", "--merge", "-q", "--no-history"], near, &[&out]].concat());
        store.take_log();
        run(&store, &[&["convert", "--merge", "-q", "--no-history"], far, &[&url]].concat());
        let log = store.take_log();
        let object = store.get(&format!("/bucket/{name}")).unwrap();
        assert!(object == fs::read(out).unwrap(), "{name}: other bytes");
        let (copied, sent) = (count(&log, "COPY"), count(&log, "PUT"));
        assert!(7 <= copied && sent <= 4, "{name}: {copied} copied, {sent} sent");
    }
}

/// An edit whose bytes are copied: the command, the object before and after it, and the number of its requests.
fn edited() -> (Vec<&'static str>, Vec<u8>, Vec<u8>, usize) {
    let folder = tempfile::tempdir().unwrap();
    let args = edit(&["set", "FILE", "rows40:units=K"], "s3://bucket/a.tet", None);
    let store = ObjectStore::with(|_| None);
    let old = fs::read(held(folder.path(), "tet", &store)).unwrap();
    let before = store.requests();
    run(&store, &args);
    (args, old, store.get("/bucket/a.tet").unwrap(), store.requests() - before)
}

/// Where the server does not copy, or another program writes, whichever request it is: the old object or the new one, and
/// bytes that cannot be copied are sent.
#[test]
fn an_edit_is_done_or_not_whichever_request_fails() {
    use BucketFault::{AnswerLost, Nonsense, Overtaken, Status};
    let (args, old, new, count) = edited();
    for fault in [Status(501), Status(403), AnswerLost, Nonsense, Overtaken] {
        for nth in 0..count {
            let store = ObjectStore::with(move |at| (at == nth).then_some(fault));
            store.put("/bucket/a.tet", &old);
            let temporary = tempfile::tempdir().unwrap();
            let output = begin(&store, temporary.path(), &args).wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            // Parts are sent at the same time, in any order.
            let log = store.take_log();
            let about = format!("{fault:?} at {nth}, {:?}: {said}", log.get(nth));
            let left = store.get("/bucket/a.tet").unwrap();
            match (output.status.success(), fault) {
                (true, _) => assert!(left == new, "{about}"),
                (false, Overtaken) => assert!(left == b"overtaken", "{about}"),
                (false, _) => assert!(left == old, "{about}"),
            }
            let is_copy = log.get(nth).is_some_and(|line| line.starts_with("COPY"));
            assert!(output.status.success() || !is_copy || fault == Overtaken, "{about}");
        }
    }
}

#[test]
fn an_edit_that_is_killed_leaves_the_old_object() {
    let (args, old, new, count) = edited();
    for nth in 0..count {
        let watch = Watch::default();
        let store = watch.store();
        store.put("/bucket/a.tet", &old);
        watch.0.lock().unwrap().kill_at = Some(nth);
        assert!(!watch.run(&store, &args).0, "killed at {nth}");
        let left = store.get("/bucket/a.tet").unwrap();
        assert!(left == if nth + 1 < count { &old[..] } else { &new[..] }, "killed at {nth}");
    }
}

/// Parts of a plan in the bucket, which the server copies, and the file that the same parts make on a disk.
#[test]
fn parts_are_put_together_on_the_server() {
    let store = ObjectStore::with(|_| None);
    let endpoint = store.endpoint().to_owned();
    let lookup = tet_net::Lookup::new(move |name| match name {
        "AWS_ENDPOINT_URL" => Some(endpoint.clone()),
        "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" => Some("key".to_owned()),
        _ => None,
    });
    tet_net::register(tet_net::Settings { lookup, ..tet_net::Settings::default() });
    let folder = tempfile::tempdir().unwrap();
    for codec in ["raw", "zstd"] {
        let plan = FilePlan::from_json(&format!(
            r#"{{"tet_plan": 1, "codec": "{codec}", "datasets": [
                {{"name": "a", "dtype": "uint8", "shape": [96, {MIB}], "chunks": [1, {MIB}]}}]}}"#
        ))
        .unwrap();
        let mut parts = [Vec::new(), Vec::new()];
        for nth in 0..2 {
            let mut seeded = Seeded(nth);
            let rows: Vec<u8> =
                (0..48 * MIB / 8).flat_map(|_| seeded.bits().to_le_bytes()).collect();
            let near = folder.path().join(format!("{codec}{nth}.part"));
            let far = PathBuf::from(format!("s3://bucket/{codec}{nth}.part"));
            for (place, parts) in [near, far].iter().zip(&mut parts) {
                let writer = RegionWriter::create(place, &plan, RegionOptions::default()).unwrap();
                let (start, extents) = ([48 * nth, 0], [48, MIB]);
                writer.write(0, &start, &extents, &rows, &Progress::default()).unwrap();
                writer.close().unwrap();
                parts.push(FilePart::open(place, &plan).unwrap());
            }
        }
        store.take_log();
        let target = PathBuf::from(format!("s3://bucket/{codec}.tet"));
        let local = folder.path().join(format!("{codec}.tet"));
        for (parts, target) in parts.iter().zip([&local, &target]) {
            let options = WriteOptions::default();
            publish(&plan, parts, None, target, &options, &[], &Progress::default()).unwrap();
        }
        let log = store.take_log();
        let object = store.get(&format!("/bucket/{codec}.tet")).unwrap();
        assert!(object == fs::read(&local).unwrap(), "{codec}");
        let opened = tet_convert::open(&target, &Default::default()).unwrap();
        assert!(opened.tet.is_some_and(|file| file.statistics().is_some()), "{codec}");
        let (copied, sent) = (count(&log, "COPY"), count(&log, "PUT"));
        assert!(9 <= copied && sent <= 4, "{codec}: {copied} copied, {sent} sent");
        assert_eq!(store.pending(), 0);
    }
}
