//! Publishes a folder on an object store, where no step replaces several files.
//!
//! ```text
//! begin                          write(key, bytes) ...    commit(documents)
//! empty, .tet-writing, empty     files, several at once   the documents, those of the folder itself last
//! ```
//!
//! Readers find the folder by its documents, so that it is there, complete, with the last of them. Each file is made
//! by a request that is refused where there is one: of two programs at most one succeeds, and no folder has files of
//! both. One that is killed leaves files that no reader finds, and its claim, `.tet-writing`.

use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use super::{Overwrite, Publish};
use crate::at_once::at_once;
use crate::error::{Error, Operation, Result};
use crate::folder::Folder;
use crate::source::{PutMode, Source, store_of};
use crate::url::is_url;

/// The file of a program that is writing.
const CLAIM: &str = ".tet-writing";
/// Bytes of files that are written at the same time, or one longer file.
const TOGETHER_MAX: usize = 32 << 20;
/// Names that are listed before they are removed.
const REMOVED_TOGETHER: usize = 4096;
/// Folders below each other that are removed.
const DEPTH_MAX: usize = 256;

/// A new folder on a server before it is published; dropping it removes its files.
///
/// # Examples
///
/// ```no_run
/// use tet_io::{Publish, UrlFolderPublisher};
///
/// let mut folder = UrlFolderPublisher::begin("s3://bucket/out.zarr", &Publish::default())?;
/// folder.write("temp/c/0", b"elements")?;
/// folder.commit(vec![("zarr.json".to_owned(), b"{}".to_vec())])?;
/// # Ok::<(), tet_io::Error>(())
/// ```
#[derive(Debug)]
pub struct UrlFolderPublisher {
    folder: Folder,
    /// Content of the claim file of this program.
    claim: Vec<u8>,
    waiting: Vec<(String, Vec<u8>)>,
    waiting_len: usize,
    /// The keys of documents that may be there.
    documents: Vec<String>,
    is_done: bool,
    /// Bytes of the files that were given.
    len: u64,
}

impl UrlFolderPublisher {
    /// Starts a new folder. With [`Overwrite::Replace`] the files of a program that was killed are removed first.
    ///
    /// # Errors
    ///
    /// Returns [`Error::FolderExists`] for a folder that is there: it is never replaced. Returns
    /// [`Error::Unfinished`] where files are left, or a program is writing, and [`Error::UrlOutput`] or
    /// [`Error::UrlUnconditional`] where no folders are written.
    pub fn begin(target: impl AsRef<Path>, options: &Publish) -> Result<Self> {
        let path = target.as_ref();
        if !is_url(path) {
            return Err(Error::NoUrls { path: path.to_path_buf() });
        }
        let folder = Folder::open(path)?;
        let claim = format!("{:016x}\n", RandomState::new().hash_one(path)).into_bytes();
        let (store, url) = store_of(path)?;
        store.check_target(url, true)?;
        folder.check_conditional()?;
        match check_empty(&folder, false) {
            Err(Error::Unfinished { .. }) if options.force != Overwrite::Refuse => {
                remove_below(&folder, "", DEPTH_MAX)?;
            }
            checked => checked?,
        }
        match write(&folder, CLAIM, &claim) {
            Err(Error::Exists { .. }) => {
                return Err(Error::Unfinished { path: path.to_path_buf() });
            }
            written => written?,
        }
        // Another program may have begun and ended since the folder was looked at.
        if let Err(error) = check_empty(&folder, true) {
            let _ = folder.remove(CLAIM);
            return Err(error);
        }
        let (waiting, documents) = (Vec::new(), Vec::new());
        Ok(Self { folder, claim, waiting, waiting_len: 0, documents, is_done: false, len: 0 })
    }

    /// Writes a new file below the folder, some time before [`commit`](Self::commit) returns.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NoName`] when the key is not a relative path of ordinary names, and what
    /// [`Publisher::commit`](super::Publisher::commit) returns for this file or one before it.
    pub fn write(&mut self, key: &str, bytes: &[u8]) -> Result<()> {
        self.waiting.push((key.to_owned(), bytes.to_vec()));
        self.waiting_len += bytes.len();
        self.len = self.len.saturating_add(bytes.len() as u64);
        if self.waiting.len() < self.folder.depth() && self.waiting_len < TOGETHER_MAX {
            return Ok(());
        }
        self.write_waiting()
    }

    /// Writes the documents by which readers find the folder: those of other folders below it first, and those of the
    /// folder itself at the end, one after the other. Returns the bytes of all files.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Changed`] when another program removed what was written, and what
    /// [`write`](Self::write) returns. No reader finds the folder then.
    pub fn commit(mut self, mut documents: Vec<(String, Vec<u8>)>) -> Result<u64> {
        self.write_waiting()?;
        self.check_claim()?;
        let depth = |key: &str| key.split('/').count();
        // Those of one depth stay in their order.
        documents.sort_by_key(|(key, _)| std::cmp::Reverse(depth(key)));
        let lens = documents.iter().map(|(_, bytes)| bytes.len() as u64);
        let len = lens.fold(self.len, u64::saturating_add);
        self.documents = documents.iter().map(|(key, _)| key.clone()).collect();
        let at = documents.partition_point(|(key, _)| depth(key) != 1);
        let of_folder = documents.split_off(at);
        for of_depth in documents.chunk_by(|(a, _), (b, _)| depth(a) == depth(b)) {
            self.write_together(of_depth)?;
        }
        self.check_claim()?;
        for document in of_folder {
            self.write_together(&[document])?;
        }
        self.is_done = true;
        // Where this fails, a file is left that no reader looks at.
        let _ = self.folder.remove(CLAIM);
        Ok(len)
    }

    fn write_waiting(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.waiting_len = 0;
        self.write_together(&waiting)
    }

    fn write_together(&self, files: &[(String, Vec<u8>)]) -> Result<()> {
        at_once(files.len(), self.folder.depth(), |nth| {
            let (key, bytes) = &files[nth];
            write(&self.folder, key, bytes)
        })?;
        Ok(())
    }

    /// Checks that no other program removed the claim, and with it what was written.
    fn check_claim(&self) -> Result<()> {
        let claim = self.folder.read(CLAIM, self.claim.len() as u64)?;
        if claim.is_some_and(|claim| claim.bytes == self.claim) {
            return Ok(());
        }
        Err(Error::Changed { path: self.folder.path().to_path_buf() })
    }

    /// Removes what was written: the documents first, so that no reader finds a part of the folder.
    fn give_up(&self) -> Result<()> {
        self.check_claim()?;
        self.documents.iter().rev().try_for_each(|key| self.folder.remove(key))?;
        remove_below(&self.folder, "", DEPTH_MAX)
    }
}

impl Drop for UrlFolderPublisher {
    fn drop(&mut self) {
        if !self.is_done {
            // A failure cannot be reported here; what is left is found by the next program that writes there.
            let _ = self.give_up();
        }
    }
}

/// Checks that there are no files below a folder, but for the claim where it is that of this program.
fn check_empty(folder: &Folder, is_claimed: bool) -> Result<()> {
    let list = folder.list("", REMOVED_TOGETHER)?;
    let path = || folder.path().to_path_buf();
    if list.files.iter().any(|name| name != CLAIM) {
        return Err(Error::FolderExists { path: path() });
    }
    let is_empty = list.folders.is_empty() && (is_claimed || list.files.is_empty());
    if is_empty { Ok(()) } else { Err(Error::Unfinished { path: path() }) }
}

fn write(folder: &Folder, key: &str, bytes: &[u8]) -> Result<()> {
    let path = folder.path_of(key).ok_or_else(|| Error::NoName { path: key.into() })?;
    let (store, url) = store_of(&path)?;
    let content = Source::from_named_bytes(path.clone(), bytes.to_vec());
    store.write(url, &content, PutMode::Create)
}

/// Removes all files below a folder of the folder; the claim at the end.
fn remove_below(folder: &Folder, key: &str, depth_left: usize) -> Result<()> {
    let below = |name: &str| if key.is_empty() { name.to_owned() } else { format!("{key}/{name}") };
    loop {
        let list = folder.list(key, REMOVED_TOGETHER)?;
        let depth_left = depth_left.checked_sub(1).ok_or_else(|| {
            let text = "its files are too deep below each other to be removed";
            Error::io(Operation::Remove, folder.path(), std::io::Error::other(text))
        })?;
        list.folders.iter().try_for_each(|it| remove_below(folder, &below(it), depth_left))?;
        let files = list.files.iter().filter(|name| !key.is_empty() || *name != CLAIM);
        let files: Vec<String> = files.map(|name| below(name)).collect();
        at_once(files.len(), folder.depth(), |nth| folder.remove(&files[nth]))?;
        if !list.is_cut || files.is_empty() && list.folders.is_empty() {
            break;
        }
    }
    if key.is_empty() { folder.remove(CLAIM) } else { Ok(()) }
}
