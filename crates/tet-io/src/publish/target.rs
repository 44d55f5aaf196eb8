//! Resolves the path of a target, and checks whether it may be written.

use std::io;
use std::path::{Path, PathBuf};

use super::{Overwrite, Publish, retried};
use crate::error::{Error, Operation, Result};
use crate::vfs::{Entry, Vfs};

/// The most symbolic links that are followed; the limit of the kernel.
const LINK_COUNT_MAX: usize = 40;

/// Follows the target's last component while it is a symbolic link, dangling or not.
pub(super) fn resolve(vfs: &dyn Vfs, target: &Path) -> Result<PathBuf> {
    let fault = |error| Error::io(Operation::Resolve, target, error);
    let mut path = target.to_path_buf();
    for _ in 0..LINK_COUNT_MAX {
        match retried(|| vfs.entry(&path)).map_err(fault)? {
            Entry::Link(link) => path = path.parent().unwrap_or(Path::new("")).join(link),
            _ => return Ok(path),
        }
    }
    Err(fault(io::Error::other("too many symbolic links")))
}

/// Checks that the target may be written.
pub(super) fn check(vfs: &dyn Vfs, target: &Path, options: &Publish) -> Result<()> {
    let path = target.to_path_buf();
    let entry = retried(|| vfs.entry(target));
    let stamp = match entry.map_err(|error| Error::io(Operation::Resolve, target, error))? {
        Entry::File(stamp) => stamp,
        Entry::Other(what) => return Err(Error::NotRegular { path, what }),
        Entry::Absent | Entry::Link(_) if target.file_name().is_none() => {
            return Err(Error::NoName { path });
        }
        Entry::Absent | Entry::Link(_) => {
            return match options.force {
                Overwrite::Edit(_) => Err(Error::Changed { path }),
                Overwrite::Refuse | Overwrite::Replace => Ok(()),
            };
        }
    };
    if let Overwrite::Edit(edited) = options.force {
        return if edited.is_same_state(&stamp) { Ok(()) } else { Err(Error::Changed { path }) };
    }
    if options.inputs.iter().any(|input| input.is_same_file(&stamp)) {
        return Err(Error::SameFile { path });
    }
    match options.force {
        Overwrite::Refuse => Err(Error::Exists { path }),
        Overwrite::Replace | Overwrite::Edit(_) => Ok(()),
    }
}
