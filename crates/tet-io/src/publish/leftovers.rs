//! Files and folders that programs left under temporary names when they were killed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{folder, hidden};
use crate::error::{Error, Operation, Result};

/// A younger one may be of a program that is writing.
const LEFT_AFTER: Duration = Duration::from_secs(24 * 3600);

/// A file or a folder that was not published, and has not been written to for a day.
///
/// ```
/// let folder = std::env::temp_dir().join(format!("tet-left-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// std::fs::write(folder.join(".a.tet.tet-0123456789abcdef.tmp"), "of now")?;
/// assert!(tet_io::Leftover::list(&folder)?.is_empty());
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Its path.
    pub path: PathBuf,
    /// The bytes of all its files.
    pub len: u64,
    is_folder: bool,
}

impl Leftover {
    /// Those in a folder, by name; folders below it are not looked at, unless they are of temporary names.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when the folder, or one of a temporary name, cannot be read.
    pub fn list(folder: &Path) -> Result<Vec<Leftover>> {
        let fault = |error| Error::io(Operation::Read, folder, error);
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).map_err(fault)? {
            let entry = entry.map_err(fault)?;
            if !entry.file_name().to_str().is_some_and(hidden::is_temporary) {
                continue;
            }
            let is_folder = entry.file_type().map_err(fault)?.is_dir();
            let (len, changed) = extent(&entry.path()).map_err(fault)?;
            if changed.elapsed().is_ok_and(|age| LEFT_AFTER <= age) {
                found.push(Leftover { path: entry.path(), len, is_folder });
            }
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    /// Removes it, and all that is in a folder; symbolic links are not followed.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when it cannot be removed.
    pub fn remove(&self) -> Result<()> {
        let removed = match self.is_folder {
            true => folder::remove(&self.path),
            false => fs::remove_file(&self.path),
        };
        removed.map_err(|error| Error::io(Operation::Remove, &self.path, error))
    }
}

/// The bytes of all files, and the time of the last change of any.
fn extent(path: &Path) -> io::Result<(u64, SystemTime)> {
    let metadata = fs::symlink_metadata(path)?;
    let mut all = (metadata.len(), metadata.modified()?);
    if metadata.is_dir() {
        all.0 = 0;
        for entry in fs::read_dir(path)? {
            let (len, changed) = extent(&entry?.path())?;
            all = (all.0.saturating_add(len), all.1.max(changed));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_older_than_a_day_and_has_a_temporary_name_is_left_over() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let old = SystemTime::now() - 2 * LEFT_AFTER;
        let (file, made, inner) = (
            ".a.nc.tet-0123456789abcdef.tmp",
            ".b.zarr.tet-0123456789abcdef.tmp",
            ".c.zarr.tet-0123456789abcdef.tmp",
        );
        for name in [made, inner] {
            fs::create_dir(at(name)).unwrap();
        }
        fs::write(at(made).join("zarr.json"), "12").unwrap();
        // A program is writing into this one.
        fs::write(at(inner).join("zarr.json"), "12").unwrap();
        for name in [file, "a.nc", ".a.tmp"] {
            fs::write(at(name), "123").unwrap();
        }
        let zarr = format!("{made}/zarr.json");
        for name in [&zarr, file, "a.nc", ".a.tmp", made, inner] {
            fs::File::open(at(name)).unwrap().set_modified(old).unwrap();
        }
        let list = Leftover::list(folder.path()).unwrap();
        let shown: Vec<_> = list.iter().map(|it| (it.path.clone(), it.len)).collect();
        assert_eq!(shown, [(at(file), 3), (at(made), 2)]);
        list.iter().for_each(|it| it.remove().unwrap());
        assert!(Leftover::list(folder.path()).unwrap().is_empty());
        assert!(at("a.nc").exists() && at(".a.tmp").exists() && at(inner).exists());
    }
}
