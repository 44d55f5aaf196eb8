//! The name a new file has until it takes its target's: `.NAME.tet-RANDOM.tmp`, beside the target.
//!
//! Such a file found later was left by a process that was killed; it is safe to remove.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::retried;

/// How often a taken name is tried anew.
const TRY_COUNT_MAX: usize = 16;

/// The target's own name is cut here, so that the hidden one is not too long for the system.
const NAME_CHARS: usize = 40;

/// Calls `create` with hidden names beside the target until one is free.
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
