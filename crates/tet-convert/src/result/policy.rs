//! Where results may be written: below some folders, and not through links out of them.

use std::fs;
use std::path::{Path, PathBuf};

use tet_io::{Operation, Source};

use crate::{Error, Result};

/// The folders that results may be written to, with all folders below them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WritePolicy {
    /// The folders; none means the folder of the file that is read.
    pub roots: Vec<PathBuf>,
}

impl WritePolicy {
    /// Only below this folder.
    pub fn within(root: impl Into<PathBuf>) -> Self {
        Self { roots: vec![root.into()] }
    }

    /// Below this folder too.
    #[must_use]
    pub fn and(mut self, root: impl Into<PathBuf>) -> Self {
        self.roots.push(root.into());
        self
    }

    /// The path with the links of its folders followed, if it is allowed for a result of `read`.
    ///
    /// # Errors
    /// The path's folder is not there, is outside all roots, or the path is a link itself, or a URL.
    pub fn resolve(&self, path: &Path, read: &Source) -> Result<PathBuf> {
        let Some(name) = path.file_name() else {
            return Err(tet_io::Error::NoName { path: path.to_path_buf() }.into());
        };
        if tet_io::is_url(path) {
            return Err(Error::Outside { path: path.to_path_buf(), roots: self.roots.clone() });
        }
        let fault = |error| tet_io::Error::io(Operation::Resolve, path, error);
        let folder = fs::canonicalize(folder_of(path)).map_err(fault)?;
        let near = || read.path().map(|path| folder_of(path).to_path_buf());
        let roots =
            if self.roots.is_empty() { near().into_iter().collect() } else { self.roots.clone() };
        let holds =
            |root: &PathBuf| fs::canonicalize(root).is_ok_and(|root| folder.starts_with(root));
        if !roots.iter().any(holds) {
            return Err(Error::Outside { path: path.to_path_buf(), roots });
        }
        let target = folder.join(name);
        let is_link = fs::symlink_metadata(&target).is_ok_and(|metadata| metadata.is_symlink());
        if is_link { Err(Error::Link { path: path.to_path_buf() }) } else { Ok(target) }
    }
}

/// The folder a path's last component is in.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_outside(policy: &WritePolicy, path: &Path, read: &Source) -> bool {
        match policy.resolve(path, read) {
            Err(Error::Outside { .. }) => true,
            Ok(_) => false,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn results_stay_below_the_roots() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("below")).unwrap();
        fs::create_dir_all(folder.path().join("root2")).unwrap();
        fs::write(root.join("a.tet"), "x").unwrap();
        let read = Source::open(root.join("a.tet")).unwrap();
        for policy in [WritePolicy::default(), WritePolicy::within(&root)] {
            for (path, wanted) in [
                ("root/x.npy", false),
                ("root/below/x.npy", false),
                ("root/below/../x.npy", false),
                ("x.npy", true),
                ("root/../x.npy", true),
                ("root2/x.npy", true),
            ] {
                let path = folder.path().join(path);
                assert_eq!(is_outside(&policy, &path, &read), wanted, "{}", path.display());
            }
        }
        let both = WritePolicy::within(&root).and(folder.path().join("root2"));
        assert!(!is_outside(&both, &folder.path().join("root2/x"), &read));
        let error = both.resolve(&folder.path().join("x"), &read).unwrap_err().to_string();
        assert!(error.contains("root2"), "{error}");
        let bucket = WritePolicy::within("https://host/x.tet?sig=a/b");
        let error = bucket.resolve(Path::new("https://host/y.npy"), &read).unwrap_err().to_string();
        assert!(error.contains("outside") && !error.contains("sig"), "{error}");
        let gone = WritePolicy::within(folder.path().join("gone"));
        assert!(is_outside(&gone, &root.join("x"), &read));
        let memory = Source::from_bytes(vec![1]);
        assert!(is_outside(&WritePolicy::default(), &root.join("x"), &memory));
        assert!(matches!(both.resolve(&root.join(".."), &read), Err(Error::Io(_))));
        assert!(matches!(both.resolve(&root.join("gone/x"), &read), Err(Error::Io(_))));
    }
    #[test]
    fn links_lead_nowhere_else() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let [root, other] = ["root", "other"].map(|name| folder.path().join(name));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&other).unwrap();
        fs::write(other.join("victim"), "x").unwrap();
        symlink(&other, root.join("folder")).unwrap();
        symlink(other.join("victim"), root.join("file")).unwrap();
        symlink(other.join("nothing"), root.join("dangling")).unwrap();
        let policy = WritePolicy::within(&root);
        let read = Source::from_bytes(vec![1]);
        assert!(is_outside(&policy, &root.join("folder/x"), &read));
        for name in ["file", "dangling"] {
            let outcome = policy.resolve(&root.join(name), &read);
            assert!(matches!(outcome, Err(Error::Link { .. })), "{name}");
        }
        // A root that is itself reached by a link is the folder it leads to.
        symlink(&root, folder.path().join("alias")).unwrap();
        let alias = WritePolicy::within(folder.path().join("alias"));
        let found = alias.resolve(&root.join("x"), &read).unwrap();
        assert_eq!(found, fs::canonicalize(&root).unwrap().join("x"));
    }
}
