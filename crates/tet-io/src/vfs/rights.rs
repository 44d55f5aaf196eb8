//! Copies the rights of a replaced file: owner, permissions, extended attributes.
//!
//! They are copied before the first byte is written, so that no user can read the new bytes without
//! permission to read the old ones.

use std::fs::File;
use std::io;
use std::path::Path;

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
    let copied = if (old.uid(), old.gid()) == (new.uid(), new.gid()) {
        CopiedOwner::Both
    } else {
        keep_owner(file, old.uid(), old.gid())
    };
    #[cfg(target_os = "linux")]
    keep_attributes(file, path);
    // After the owner and the access list, since both change permissions.
    file.set_permissions(Permissions::from_mode(mode(old.mode(), copied)))
}

/// Which parts of the owner could be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CopiedOwner {
    Both,
    Group,
    Neither,
}

/// Sets the old file's owner, or at least its group.
fn keep_owner(file: &File, uid: u32, gid: u32) -> CopiedOwner {
    use std::os::unix::fs::fchown;
    if fchown(file, Some(uid), Some(gid)).is_ok() {
        CopiedOwner::Both
    } else if fchown(file, None, Some(gid)).is_ok() {
        CopiedOwner::Group
    } else {
        CopiedOwner::Neither
    }
}

/// The permissions if the owner could not be copied completely: no user gains access.
fn mode(old: u32, copied: CopiedOwner) -> u32 {
    const SET_ID: u32 = 0o6000;
    let old = old & 0o7777;
    match copied {
        CopiedOwner::Both => old,
        CopiedOwner::Group => old & !SET_ID,
        // The new group gets no more rights than everybody has.
        CopiedOwner::Neither => old & !SET_ID & !0o070 | old & 0o070 & (old & 0o007) << 3,
    }
}

/// The limit of Linux for the list of names and for values.
#[cfg(target_os = "linux")]
const ATTRIBUTES_LEN_MAX: usize = 1 << 16;

/// Copies attributes of users and of access control, as far as permitted.
///
/// Other names belong to the system, which signs and labels the new file itself.
#[cfg(target_os = "linux")]
fn keep_attributes(file: &File, path: &Path) {
    use rustix::fs::{XattrFlags, fsetxattr, lgetxattr, llistxattr};
    let mut names = vec![0; ATTRIBUTES_LEN_MAX];
    let Ok(names_len) = llistxattr(path, names.as_mut_slice()) else { return };
    let mut value = vec![0; ATTRIBUTES_LEN_MAX];
    for name in names[..names_len].split(|&byte| byte == 0) {
        let is_copied = name.starts_with(b"user.")
            || name == b"system.posix_acl_access"
            || name == b"security.selinux";
        if !is_copied {
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
            (0o6755, CopiedOwner::Both, 0o6755),
            (0o6755, CopiedOwner::Group, 0o755),
            (0o640, CopiedOwner::Group, 0o640),
            (0o640, CopiedOwner::Neither, 0o600),
            (0o664, CopiedOwner::Neither, 0o644),
            (0o4771, CopiedOwner::Neither, 0o711),
            (0o1777, CopiedOwner::Neither, 0o1777),
        ];
        for (old, copied, want) in cases {
            assert_eq!(mode(0o100_000 | old, copied), want, "{old:o} {copied:?}");
        }
    }
}
