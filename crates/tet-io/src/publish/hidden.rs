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

/// Whether a name is one of a file or folder that was not published, by a process that was killed or is still writing.
///
/// ```
/// assert!(tet_io::is_temporary(".a.tet.tet-0123456789abcdef.tmp"));
/// assert!(!tet_io::is_temporary("a.tet") && !tet_io::is_temporary(".a.tmp"));
/// ```
#[must_use]
pub fn is_temporary(name: &str) -> bool {
    let stem = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp"));
    let random = stem.and_then(|stem| stem.rsplit_once(".tet-")).map(|(_, random)| random);
    random
        .is_some_and(|it| it.len() == 16 && it.bytes().all(|it| b"0123456789abcdef".contains(&it)))
}

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
