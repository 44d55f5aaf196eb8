//! Blocks of files on servers in a folder, for later runs and for other processes.
//!
//! ```text
//!   DIR/blocks-1/<SHA-256 of object, ETag and length>/<number of the block, 16 hex digits>
//!   a block: its bytes, then CRC-32C of the name of its folder, its number and its bytes
//! ```
//!
//! A block is written beside its place and renamed, so that it is complete or absent; nothing is synced, and
//! what a crash leaves of it does not have its checksum. A block that is damaged is not used. The blocks that
//! were not used for longest are removed first: a use sets the time of change.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use crate::blocks::BLOCK_LEN;
use crate::hex::hex;
use crate::ranges::FileVersion;

/// The folder of this layout, so that nothing else in the folder of the user is ever removed.
const LAYOUT: &str = "blocks-1";
/// Bytes of a checksum.
const CHECKSUM_LEN: usize = 4;
/// How file systems round the length of a file.
const DISK_BLOCK_LEN: u64 = 4096;
/// Length of a block on the disk.
const STORED_LEN: u64 = BLOCK_LEN + DISK_BLOCK_LEN;
/// The beginning of the names of files that are being written.
const UNFINISHED: &str = ".tet-";
/// A file that was being written for so long was left by a process that was killed.
const ABANDONED: Duration = Duration::from_secs(3600);
/// A time of change that is older is set anew when its block is used.
const FRESH: Duration = Duration::from_secs(60);

/// A folder that holds blocks of files on servers, up to a number of bytes; its clones are cheap.
///
/// Any number of processes may use the same folder. An object without a strong ETag is not held.
///
/// ```
/// use tet_net::{BlockCache, Settings};
///
/// let cache = BlockCache::new("/var/cache/tet", BlockCache::LEN_MAX_DEFAULT);
/// let settings = Settings { cache: Some(cache.clone()), ..Settings::default() };
/// assert_eq!(cache.problem(), None);
/// ```
#[derive(Clone, Debug)]
pub struct BlockCache(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    len_max: u64,
    room: Mutex<Room>,
    /// Why nothing is written any more.
    problem: OnceLock<String>,
}

#[derive(Debug, Default)]
struct Room {
    /// Bytes that may be written before the folder is looked through again.
    left: u64,
    /// Whether a thread looks through it now.
    is_counting: bool,
}

/// One version of an object, as its folder is named.
#[derive(Clone, Debug)]
pub(crate) struct VersionKey(String);

impl VersionKey {
    /// The key of a version; `None` where the server does not distinguish versions by a strong ETag.
    pub(crate) fn new(object: &str, version: &FileVersion) -> Option<VersionKey> {
        let mut hash = Sha256::new();
        for part in [object, version.strong_etag()?] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.update(version.len.to_le_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        Some(VersionKey(hex(&digest)))
    }
}

impl BlockCache {
    /// The bytes that are held where no other number is given: 10 GiB.
    pub const LEN_MAX_DEFAULT: u64 = 10 << 30;

    /// A cache in `folder`, which is made when the first block is written, of at most `len_max` bytes.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>, len_max: u64) -> Self {
        let (folder, room, problem) = (folder.into(), Mutex::default(), OnceLock::new());
        BlockCache(Arc::new(Shared { folder, len_max, room, problem }))
    }

    /// Why nothing more is written to the folder: the first error, such as a full disk.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        self.0.problem.get().map(String::as_str)
    }

    /// The folder of the user.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    fn root(&self) -> PathBuf {
        self.0.folder.join(LAYOUT)
    }

    fn path(&self, key: &VersionKey, number: u64) -> PathBuf {
        self.root().join(&key.0).join(block_name(number))
    }

    /// Reads a block of exactly the length of `out`; whether it is there and sound.
    pub(crate) fn get(&self, key: &VersionKey, number: u64, out: &mut [u8]) -> bool {
        read_block(&self.path(key, number), key, number, out).is_ok_and(|is_sound| is_sound)
    }

    /// Writes a block. Where that fails, there is none, and none is written after it.
    pub(crate) fn put(&self, key: &VersionKey, number: u64, bytes: &[u8]) {
        if self.problem().is_some() || !self.take_room() {
            return;
        }
        if let Err(error) = self.write_block(key, number, bytes) {
            let _ = self.0.problem.set(error.to_string());
        }
    }

    fn write_block(&self, key: &VersionKey, number: u64, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(key, number);
        let folder = path.parent().unwrap_or(&self.0.folder);
        let mut made = unfinished_in(folder);
        // Another process removes folders that became empty.
        for _ in 0..3 {
            if made.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
                create_folder(folder)?;
                made = unfinished_in(folder);
            }
        }
        let mut file = made?;
        file.write_all(bytes)?;
        file.write_all(&checksum(key, number, bytes).to_le_bytes())?;
        file.persist(path)?;
        Ok(())
    }

    /// Takes the bytes of one block off the room that is left, after making room.
    fn take_room(&self) -> bool {
        let lock = || self.0.room.lock().unwrap_or_else(PoisonError::into_inner);
        let mut room = lock();
        if room.left < STORED_LEN {
            if std::mem::replace(&mut room.is_counting, true) {
                // Another thread looks through the folder, which takes a while: this block is not worth the wait.
                return false;
            }
            drop(room);
            let left = make_room(&self.root(), self.0.len_max);
            room = lock();
            *room = Room { left, is_counting: false };
        }
        let left = room.left.checked_sub(STORED_LEN);
        room.left = left.unwrap_or(room.left);
        left.is_some()
    }
}

/// The name of a block.
fn block_name(number: u64) -> String {
    format!("{number:016x}")
}

/// Checksum at the end of a block.
fn checksum(key: &VersionKey, number: u64, bytes: &[u8]) -> u32 {
    let place = crc32c::crc32c_append(crc32c::crc32c(key.0.as_bytes()), &number.to_le_bytes());
    crc32c::crc32c_append(place, bytes)
}

/// Reads a block; whether its checksum matches.
fn read_block(path: &Path, key: &VersionKey, number: u64, out: &mut [u8]) -> io::Result<bool> {
    let found = fs::symlink_metadata(path)?;
    if !found.is_file() || found.len() != (out.len() + CHECKSUM_LEN) as u64 {
        return Ok(false);
    }
    let (mut file, mut stored) = (File::open(path)?, [0; CHECKSUM_LEN]);
    file.read_exact(out)?;
    file.read_exact(&mut stored)?;
    let is_sound = u32::from_le_bytes(stored) == checksum(key, number, out);
    if is_sound && age(&found) > FRESH {
        // In a folder that is only read, blocks are used without a trace.
        let _ = file.set_modified(SystemTime::now());
    }
    Ok(is_sound)
}

/// How long ago a file was changed.
fn age(found: &fs::Metadata) -> Duration {
    let changed = found.modified().ok();
    changed.and_then(|changed| changed.elapsed().ok()).unwrap_or_default()
}

/// A file that is removed unless it gets the name of a block.
fn unfinished_in(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)
}

/// Makes a folder that only its owner reads.
fn create_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).recursive(true).create(folder)
}

/// A block in a folder.
struct Stored {
    used: SystemTime,
    len: u64,
    /// The number of its folder.
    folder: usize,
    number: u64,
}

/// Looks through all blocks, and removes the oldest where they leave too little room; how many bytes this
/// process may write until it looks again: a quarter of the room, so that several processes at the same time
/// stay within it.
fn make_room(root: &Path, len_max: u64) -> u64 {
    let (folders, mut blocks) = stored_in(root);
    let mut total = blocks.iter().fold(0, |sum: u64, block| sum.saturating_add(block.len));
    if len_max.saturating_sub(total) < STORED_LEN.max(len_max / 16) {
        blocks.sort_unstable_by_key(|block| block.used);
        let mut thinned = HashSet::new();
        for block in &blocks {
            if total <= len_max - len_max / 8 {
                break;
            }
            let Some(folder) = folders.get(block.folder) else { continue };
            if fs::remove_file(folder.join(block_name(block.number))).is_ok() {
                total = total.saturating_sub(block.len);
                thinned.insert(folder);
            }
        }
        for folder in thinned {
            // One that has more blocks stays.
            let _ = fs::remove_dir(folder);
        }
    }
    let left = len_max.saturating_sub(total);
    (left / 4).max(STORED_LEN).min(left)
}

/// The folders of versions, and the blocks in them. What was left by a killed process is removed.
fn stored_in(root: &Path) -> (Vec<PathBuf>, Vec<Stored>) {
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let is_key = |name: &str| name.len() == 64 && name.bytes().all(|it| it.is_ascii_hexdigit());
    let folders = entries(root).filter(|entry| entry.file_name().to_str().is_some_and(is_key));
    let folders: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
    let mut blocks = Vec::new();
    for (folder, path) in folders.iter().enumerate() {
        for entry in entries(path) {
            let name = entry.file_name();
            let (Some(name), Ok(found)) = (name.to_str(), entry.metadata()) else { continue };
            let number = u64::from_str_radix(name, 16).ok();
            if let Some(number) = number.filter(|&number| block_name(number) == name) {
                let len = found.len().div_ceil(DISK_BLOCK_LEN).saturating_mul(DISK_BLOCK_LEN);
                let used = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                blocks.push(Stored { used, len, folder, number });
            } else if name.starts_with(UNFINISHED) && age(&found) > ABANDONED {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
    (folders, blocks)
}
