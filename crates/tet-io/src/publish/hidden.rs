//! The temporary name of a new file in the target's folder: `.NAME.tet-RANDOM.tmp`.
//!
//! Such a file found later is from a killed process; it is safe to remove.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::retried;

/// How often another name is tried.
const TRY_COUNT_MAX: usize = 16;

/// The target's name is shortened to this length, for the limits of the system.
const NAME_CHARS: usize = 40;

/// Calls `create` with hidden names in the target's folder until one is free.
pub(super) fn create<T>(
    target: &Path,
    folder: &Path,
    mut create: impl FnMut(&Path) -> io::Result<T>,
) -> io::Result<(T, PathBuf)> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().take(NAME_CHARS).collect();
    let mut outcome = Err(ErrorKind::AlreadyExists.into());
    for _ in 0..TRY_COUNT_MAX {
        let random = RandomState::new().build_hasher().finish();
        let hidden = folder.join(format!(".{name}.tet-{random:016x}.tmp"));
        outcome = retried(|| create(&hidden)).map(|made| (made, hidden));
        match &outcome {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            _ => break,
        }
    }
    outcome
}
