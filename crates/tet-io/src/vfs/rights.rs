//! What a new file takes over from the one it replaces: owner, permissions, extended attributes.
//!
//! They are taken over before the first byte is written, so that nobody reads the new bytes who
//! might not read the old ones.

use std::fs::File;
use std::io;
use std::path::Path;

#[cfg(unix)]
pub(super) fn keep(file: &File, path: &Path) -> io::Result<()> {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let old = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => metadata,
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let new = file.metadata()?;
    let kept = if (old.uid(), old.gid()) == (new.uid(), new.gid()) {
        Kept::Both
    } else {
        keep_owner(file, old.uid(), old.gid())
    };
    #[cfg(target_os = "linux")]
    keep_attributes(file, path);
    // After the owner and the access list, since both of these change permissions.
    file.set_permissions(Permissions::from_mode(mode(old.mode(), kept)))
}

#[cfg(not(unix))]
pub(super) fn keep(_file: &File, _path: &Path) -> io::Result<()> {
    Ok(())
}

/// What was kept of the owner.
#[cfg(unix)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Both,
    Group,
    Neither,
}

/// Gives the file to the old one's owner, or at least to its group.
#[cfg(unix)]
fn keep_owner(file: &File, uid: u32, gid: u32) -> Kept {
    use std::os::unix::fs::fchown;
    if fchown(file, Some(uid), Some(gid)).is_ok() {
        Kept::Both
    } else if fchown(file, None, Some(gid)).is_ok() {
        Kept::Group
    } else {
        Kept::Neither
    }
}

/// The permissions a file may have when not all of its owner was kept: none that a stranger gains.
#[cfg(unix)]
fn mode(old: u32, kept: Kept) -> u32 {
    const SET_ID: u32 = 0o6000;
    let old = old & 0o7777;
    match kept {
        Kept::Both => old,
        Kept::Group => old & !SET_ID,
        // Another group may do what everybody may.
        Kept::Neither => old & !SET_ID & !0o070 | old & 0o070 & (old & 0o007) << 3,
    }
}

/// Longer lists of names and longer values do not exist on Linux.
#[cfg(target_os = "linux")]
const ATTRIBUTES_LEN_MAX: usize = 1 << 16;

/// Takes over what users and access control wrote down; what is not permitted is left.
///
/// Other names belong to the system, which signs and labels the new bytes by itself.
#[cfg(target_os = "linux")]
fn keep_attributes(file: &File, path: &Path) {
    use rustix::fs::{XattrFlags, fsetxattr, lgetxattr, llistxattr};
    let mut names = vec![0; ATTRIBUTES_LEN_MAX];
    let Ok(names_len) = llistxattr(path, names.as_mut_slice()) else { return };
    let mut value = vec![0; ATTRIBUTES_LEN_MAX];
    for name in names[..names_len].split(|&byte| byte == 0) {
        let is_kept = name.starts_with(b"user.")
            || name == b"system.posix_acl_access"
            || name == b"security.selinux";
        if !is_kept {
            continue;
        }
        if let Ok(value_len) = lgetxattr(path, name, value.as_mut_slice()) {
            let _ = fsetxattr(file, name, &value[..value_len], XattrFlags::empty());
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_owner_lets_no_stranger_in() {
        let cases = [
            (0o6755, Kept::Both, 0o6755),
            (0o6755, Kept::Group, 0o755),
            (0o640, Kept::Group, 0o640),
            (0o640, Kept::Neither, 0o600),
            (0o664, Kept::Neither, 0o644),
            (0o4771, Kept::Neither, 0o711),
            (0o1777, Kept::Neither, 0o1777),
        ];
        for (old, kept, want) in cases {
            assert_eq!(mode(0o100_000 | old, kept), want, "{old:o} {kept:?}");
        }
    }
}
