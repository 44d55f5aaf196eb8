//! Blocks in a folder: never other bytes than those of the version that was opened, whatever is in the folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tet_io::ReadAt;

use super::{bytes, serving, settings};
use crate::cached::Cached;
use crate::{
    BlockCache, FileVersion, RangeAnswer, RangeFailure, RangeSource, Remote, Settings, Wanted,
};

const MIB: u64 = 1 << 20;

/// A file in memory that is replaced while it is served.
#[derive(Clone, Debug)]
struct Object {
    state: Arc<Mutex<(Vec<u8>, Option<String>)>>,
    requests: Arc<AtomicUsize>,
}

impl Object {
    fn new(bytes: Vec<u8>, etag: Option<&str>) -> Object {
        let state = Arc::new(Mutex::new((bytes, etag.map(str::to_owned))));
        Object { state, requests: Arc::default() }
    }

    fn replace(&self, bytes: Vec<u8>, etag: Option<&str>) {
        *self.state.lock().unwrap() = (bytes, etag.map(str::to_owned));
    }

    fn take_requests(&self) -> usize {
        self.requests.swap(0, Ordering::Relaxed)
    }

    fn open(&self, cache: &BlockCache) -> Remote {
        let cached = Cached::new(Box::new(self.clone()), cache.clone(), "object".to_owned());
        Remote::open(Box::new(cached), &settings()).unwrap()
    }
}

impl RangeSource for Object {
    fn name(&self) -> &str {
        "object"
    }

    fn get(
        &self,
        wanted: Wanted,
        pinned: Option<&FileVersion>,
        out: &mut Vec<u8>,
    ) -> Result<RangeAnswer, RangeFailure> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let state = self.state.lock().unwrap();
        let len = state.0.len() as u64;
        let version = FileVersion { len, etag: state.1.clone(), ..FileVersion::default() };
        if pinned.is_some_and(|pinned| *pinned != version) {
            return Err(RangeFailure::Changed);
        }
        let (offset, len) = wanted.within(len);
        let at = usize::try_from(offset).unwrap();
        out.extend_from_slice(&state.0[at..][..usize::try_from(len).unwrap()]);
        Ok(RangeAnswer { offset, version })
    }
}

fn read(remote: &Remote, offset: usize, len: usize) -> Vec<u8> {
    let mut out = vec![0; len];
    remote.read_exact_at(offset as u64, &mut out).unwrap();
    out
}

/// All files below a folder, and what they take on the disk.
fn files(folder: &Path) -> BTreeMap<PathBuf, u64> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(data) if data.is_dir() => folders.push(entry.path()),
                Ok(data) => drop(found.insert(entry.path(), data.len().next_multiple_of(4096))),
                Err(_) => {}
            }
        }
    }
    found
}

#[test]
fn what_was_read_once_is_not_requested_again() {
    let folder = tempfile::tempdir().unwrap();
    let len = 10 << 20;
    let (server, all) = (serving("/a.tet", len), bytes(len));
    let reads =
        [(300_000, 10), (1 << 20, 5 << 20), ((7 << 20) + 12_345, 100_000), (len - 70_000, 9)];
    for run in 0..3 {
        // Each run is a process of its own: it shares nothing but the folder.
        let cache = BlockCache::new(folder.path(), BlockCache::LEN_MAX_DEFAULT);
        let settings = Settings { cache: Some(cache), ..settings() };
        let source = crate::open(&server.url("/a.tet"), &settings).unwrap();
        assert_eq!(server.take_log().len(), 2, "the opening requests are always made");
        for (offset, count) in reads {
            let found = source.read_vec(offset as u64, count as u64).unwrap();
            assert!(found == all[offset..][..count], "{offset} {count}");
        }
        let planned = 1 + 2 + 1 + 1;
        assert_eq!(server.take_log().len(), if run == 0 { planned } else { 0 });
    }
}

/// A request is never more than one, whatever is held of it.
#[test]
fn what_is_held_in_part_is_one_request() {
    let folder = tempfile::tempdir().unwrap();
    let cache = BlockCache::new(folder.path(), 100 * MIB);
    let all = bytes(3 << 20);
    let object = Object::new(all.clone(), Some("\"a\""));
    let remote = object.open(&cache);
    for at in [400_000, 600_000, 900_000] {
        assert_eq!(read(&remote, at, 100), all[at..][..100]);
    }
    let remote = object.open(&cache);
    object.take_requests();
    assert!(read(&remote, 350_000, 700_000) == all[350_000..1_050_000]);
    assert_eq!(object.take_requests(), 1);
    assert!(read(&object.open(&cache), 350_000, 700_000) == all[350_000..1_050_000]);
    assert_eq!(object.take_requests(), 1, "the one that opens the file");
}

#[test]
fn a_new_version_has_no_old_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let cache = BlockCache::new(folder.path(), 100 * MIB);
    let (old, new) = (vec![1; 2 << 20], vec![2; 2 << 20]);
    let object = Object::new(old.clone(), Some("\"a\""));
    let opened = object.open(&cache);
    assert!(read(&opened, 0, old.len()) == old);
    object.replace(new.clone(), Some("\"b\""));
    assert!(read(&object.open(&cache), 0, new.len()) == new);
    // An open file keeps its version, from the blocks in memory.
    assert!(read(&opened, 0, old.len()) == old);
    object.replace(old.clone(), Some("\"a\""));
    object.take_requests();
    assert!(read(&object.open(&cache), 0, old.len()) == old);
    assert_eq!(object.take_requests(), 1);
}

#[test]
fn what_has_no_strong_etag_is_not_held() {
    for etag in [None, Some("W/\"a\"")] {
        let folder = tempfile::tempdir().unwrap();
        let cache = BlockCache::new(folder.path(), 100 * MIB);
        let object = Object::new(bytes(2 << 20), etag);
        assert!(read(&object.open(&cache), 0, 2 << 20) == bytes(2 << 20));
        assert_eq!(files(folder.path()).len(), 0);
    }
}

#[test]
fn a_damaged_block_is_requested_again() {
    let folder = tempfile::tempdir().unwrap();
    let cache = BlockCache::new(folder.path(), 100 * MIB);
    let all = bytes(1 << 20);
    let object = Object::new(all.clone(), Some("\"a\""));
    let fill = || assert!(read(&object.open(&cache), 500_000, 1000) == all[500_000..501_000]);
    fill();
    let path = files(folder.path()).into_keys().next().unwrap();
    let sound = fs::read(&path).unwrap();
    let mut damages: Vec<Vec<u8>> = [0, 1, 40_000, 65_536, 65_539]
        .map(|at| {
            let mut flipped = sound.clone();
            flipped[at] ^= 4;
            flipped
        })
        .into();
    damages.extend([0, 1, 65_535, 65_536, 65_539].map(|len| sound[..len].to_vec()));
    damages.push([sound.clone(), vec![0]].concat());
    damages.push(vec![0; sound.len()]);
    for damage in damages {
        fs::write(&path, damage).unwrap();
        object.take_requests();
        fill();
        assert_eq!(object.take_requests(), 2);
        assert_eq!(fs::read(&path).unwrap(), sound, "the block is sound again");
        fill();
        assert_eq!(object.take_requests(), 1);
    }
    // A sound block in the place of another.
    fs::copy(&path, path.with_file_name(format!("{:016x}", 9))).unwrap();
    assert!(read(&object.open(&cache), 9 << 16, 1000) == all[9 << 16..][..1000]);
    // A folder is no file.
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    fill();
}

/// The folder has a bound for all processes together, and those go first that were not used for longest.
#[test]
fn the_oldest_blocks_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let all = bytes(12 << 20);
    let object = Object::new(all.clone(), Some("\"a\""));
    fs::write(folder.path().join("mine"), vec![0; 8 << 20]).unwrap();
    let bound = 3 * MIB;
    let cache = BlockCache::new(folder.path(), bound);
    for at in (0..all.len()).step_by(1 << 18) {
        assert!(read(&object.open(&cache), at, 1 << 18) == all[at..][..1 << 18]);
        let held: u64 = files(&folder.path().join("blocks-1")).values().sum();
        assert!(held <= bound, "{held}");
    }
    assert!(folder.path().join("mine").exists());
    let held: u64 = files(&folder.path().join("blocks-1")).values().sum();
    assert!(bound / 2 < held, "{held}");
    object.take_requests();
    let remote = object.open(&cache);
    assert!(read(&remote, 11 << 20, 1 << 20) == all[11 << 20..]);
    assert_eq!(object.take_requests(), 1, "the newest are held");
    read(&remote, 1 << 20, 1 << 18);
    assert_eq!(object.take_requests(), 1, "the oldest are not");
    for bound in [0, 1, 65_540, 69_632] {
        let folder = tempfile::tempdir().unwrap();
        let cache = BlockCache::new(folder.path(), bound);
        assert!(read(&object.open(&cache), 1 << 20, 1 << 20) == all[1 << 20..2 << 20]);
        assert!(files(folder.path()).values().sum::<u64>() <= bound);
    }
}

#[test]
fn a_use_makes_a_block_young() {
    let folder = tempfile::tempdir().unwrap();
    let cache = BlockCache::new(folder.path(), 100 * MIB);
    let object = Object::new(bytes(1 << 20), Some("\"a\""));
    read(&object.open(&cache), 500_000, 10);
    let path = files(folder.path()).into_keys().next().unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(5000);
    fs::File::open(&path).unwrap().set_modified(old).unwrap();
    // Files of a killed process are removed, but not those being written.
    let [left, begun] = [".tet-left", ".tet-begun"].map(|name| path.with_file_name(name));
    fs::write(&begun, [1]).unwrap();
    fs::write(&left, [1]).unwrap();
    fs::File::open(&left).unwrap().set_modified(old).unwrap();
    let cache = BlockCache::new(folder.path(), 100 * MIB);
    let remote = object.open(&cache);
    read(&remote, 500_000, 10);
    assert!(fs::metadata(&path).unwrap().modified().unwrap() > old);
    read(&remote, 700_000, 10);
    assert!(!left.exists() && begun.exists());
}

/// Several at the same time, with a bound that removes blocks all the time.
#[test]
fn a_folder_is_shared() {
    let folder = tempfile::tempdir().unwrap();
    let all = bytes(8 << 20);
    let object = Object::new(all.clone(), Some("\"a\""));
    std::thread::scope(|scope| {
        for worker in 0..4_usize {
            let (object, all, folder) = (&object, &all, folder.path());
            scope.spawn(move || {
                let cache = BlockCache::new(folder, 2 * MIB);
                let remote = object.open(&cache);
                for nth in 0..200 {
                    let at = (nth * 7_919_333 + worker * 1_234_567) % (7 << 20);
                    let len = 1 + (nth * 104_729) % 900_000;
                    assert!(read(&remote, at, len) == all[at..][..len], "{at} {len}");
                }
                assert_eq!(cache.problem(), None);
            });
        }
    });
}

/// A folder that cannot be written to changes no answer.
#[test]
fn a_folder_that_cannot_be_written_to_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, [1]).unwrap();
    let cache = BlockCache::new(file.join("cache"), 100 * MIB);
    let all = bytes(2 << 20);
    let object = Object::new(all.clone(), Some("\"a\""));
    for _ in 0..2 {
        assert!(read(&object.open(&cache), 0, all.len()) == all);
    }
    assert!(cache.problem().is_some());
    assert_eq!(fs::read(&file).unwrap(), [1]);
}

#[test]
fn no_secret_is_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let server = serving("/a.tet", 1 << 20);
    for signature in ["SECRETONE", "SECRETTWO"] {
        let cache = BlockCache::new(folder.path(), 100 * MIB);
        let settings = Settings { cache: Some(cache), ..settings() };
        let query = format!("?token=SECRET&X-Amz-Signature={signature}");
        let url = server.url("/a.tet") + &query;
        let source = crate::open(&url, &settings).unwrap();
        assert_eq!(source.read_vec(600_000, 9).unwrap(), bytes(1 << 20)[600_000..600_009]);
        assert!(!format!("{source:?} {settings:?}").contains("SECRET"));
    }
    assert_eq!(server.take_log().len(), 2 + 1 + 2, "another signature is the same object");
    for path in files(folder.path()).into_keys() {
        let stored = [path.to_str().unwrap().as_bytes(), &fs::read(&path).unwrap()].concat();
        assert!(!stored.windows(6).any(|part| part == b"SECRET"));
    }
}
