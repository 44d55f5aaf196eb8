//! Files of which a bounded number is open at the same time.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use crate::read_at::ReadAt;
use crate::source::{Backend, Source, open_regular, read_file};
use crate::stamp::Stamp;
use crate::writers::{Writers, writers_of};

/// Opens files for positioned reads, more of them than a process may have open at the same time. A file that was
/// closed meanwhile is opened again, and must be unchanged. Clones share the open files.
///
/// # Examples
///
/// ```
/// use tet_io::FilePool;
///
/// let folder = std::env::temp_dir().join(format!("tet-pool-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// let pool = FilePool::new(1);
/// let mut sources = Vec::new();
/// for name in ["a", "b"] {
///     std::fs::write(folder.join(name), name)?;
///     sources.push(pool.open(&folder.join(name))?);
/// }
/// assert_eq!(sources[0].read_vec(0, 1)?, b"a");
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FilePool(Arc<Mutex<Table>>);

#[derive(Debug)]
struct Table {
    /// The open files by the numbers of their sources, each with the time of its last use.
    open: HashMap<u64, (Arc<File>, u64)>,
    open_max: usize,
    /// Counts uses.
    clock: u64,
    /// Counts sources.
    opened: u64,
}

impl FilePool {
    /// A pool that has this many files open at most, and one at least.
    #[must_use]
    pub fn new(open_max: usize) -> FilePool {
        let open_max = open_max.max(1);
        let table = Table { open: HashMap::new(), open_max, clock: 0, opened: 0 };
        FilePool(Arc::new(Mutex::new(table)))
    }

    /// Opens a regular file for positioned reads.
    ///
    /// # Errors
    ///
    /// As [`Source::open`].
    pub fn open(&self, path: &Path) -> Result<Source> {
        let (file, stamp) = open_regular(path)?;
        let mut table = self.table();
        let number = table.opened;
        table.opened = table.opened.saturating_add(1);
        table.keep(number, Arc::new(file));
        drop(table);
        let name = path.to_string_lossy().into_owned();
        let pooled = Pooled { pool: self.clone(), number, path: path.to_path_buf(), name, stamp };
        Ok(Source::opened(Backend::Custom(Arc::new(pooled)), path, stamp))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Every change of the table is complete at each place where it could panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn touch(&mut self, number: u64) -> Option<Arc<File>> {
        self.clock = self.clock.saturating_add(1);
        let (file, used) = self.open.get_mut(&number)?;
        *used = self.clock;
        Some(Arc::clone(file))
    }

    fn keep(&mut self, number: u64, file: Arc<File>) {
        if self.open_max <= self.open.len() {
            let oldest = self.open.iter().min_by_key(|(_, (_, used))| *used).map(|(at, _)| *at);
            oldest.and_then(|oldest| self.open.remove(&oldest));
        }
        self.clock = self.clock.saturating_add(1);
        self.open.insert(number, (file, self.clock));
    }
}

/// A file of a pool, open or not.
struct Pooled {
    pool: FilePool,
    number: u64,
    path: PathBuf,
    name: String,
    stamp: Stamp,
}

impl Pooled {
    /// The open file; an error if it is another one than before.
    fn file(&self) -> io::Result<Arc<File>> {
        if let Some(file) = self.pool.table().touch(self.number) {
            return Ok(file);
        }
        let (file, now) = open_regular(&self.path).map_err(io::Error::other)?;
        if !self.stamp.is_unchanged(&now) {
            return Err(io::Error::other(Error::Changed { path: self.path.clone() }));
        }
        let file = Arc::new(file);
        self.pool.table().keep(self.number, Arc::clone(&file));
        Ok(file)
    }
}

impl ReadAt for Pooled {
    fn len(&self) -> u64 {
        self.stamp.size
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        read_file(&*self.file()?, offset, out)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn writers(&self) -> Writers {
        self.file().map_or(Writers::Unknown, |file| writers_of(&file))
    }

    /// None while the file is what it was.
    fn version(&self) -> io::Result<Option<String>> {
        let open = self.pool.table().touch(self.number);
        let now = match open {
            Some(file) => Stamp::from_file(&file)?,
            None => Stamp::from_metadata(&fs::metadata(&self.path)?),
        };
        Ok((!self.stamp.is_unchanged(&now)).then(|| "changed".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_file_is_opened_again_if_it_is_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let pool = FilePool::new(2);
        let paths: Vec<PathBuf> = (0..5).map(|at| folder.path().join(at.to_string())).collect();
        let open = |path: &PathBuf| {
            fs::write(path, path.file_name().unwrap().to_str().unwrap().repeat(4)).unwrap();
            pool.open(path).unwrap()
        };
        let sources: Vec<Source> = paths.iter().map(open).collect();
        for (at, source) in sources.iter().enumerate().chain(sources.iter().enumerate()) {
            assert_eq!(source.read_vec(1, 3).unwrap(), at.to_string().repeat(3).as_bytes());
            assert!(pool.table().open.len() <= 2);
            source.check_unchanged().unwrap();
            assert_eq!(source.path(), Some(&*paths[at]));
        }
        assert!(matches!(sources[0].read_vec(2, 3), Err(Error::PastEnd { .. })));
        // 3 and 4 are open, 0 is not.
        fs::write(&paths[0], "other").unwrap();
        fs::remove_file(&paths[1]).unwrap();
        let changed = |outcome: Result<()>| assert!(matches!(outcome, Err(Error::Changed { .. })));
        changed(sources[0].check_unchanged());
        changed(sources[0].read_vec(0, 4).map(drop));
        assert!(sources[1].check_unchanged().is_err() && sources[1].read_vec(0, 1).is_err());
        fs::remove_file(&paths[4]).unwrap();
        sources[4].check_unchanged().unwrap();
    }
}
