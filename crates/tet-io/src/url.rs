//! Names with a scheme, such as `https://host/file.tet`.

use std::path::{Path, PathBuf};

/// The scheme of the files of this machine.
const FILE: &str = "file://";

/// Whether a path is a URL: it begins with a scheme and `://`.
///
/// ```
/// assert!(tet_io::is_url("https://host/a.tet".as_ref()));
/// assert!(!tet_io::is_url("a/https://host".as_ref()));
/// ```
#[must_use]
pub fn is_url(path: &Path) -> bool {
    let scheme = path.to_str().and_then(|text| text.split_once("://")).map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_part)
    })
}

/// The path of a `file://` URL; other paths and URLs stay as they are.
///
/// ```
/// use std::path::Path;
///
/// assert_eq!(tet_io::local_path("file:///a/b.tet".as_ref()), Path::new("/a/b.tet"));
/// assert_eq!(tet_io::local_path("a/b.tet".as_ref()), Path::new("a/b.tet"));
/// ```
#[must_use]
pub fn local_path(path: &Path) -> PathBuf {
    let local = path.to_str().and_then(|text| text.strip_prefix(FILE));
    let local = local.map(|text| text.strip_prefix("localhost").unwrap_or(text));
    local.filter(|text| text.starts_with('/')).map_or_else(|| path.to_path_buf(), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_begins_with_its_scheme() {
        for url in ["http://h", "s3://bucket/key", "a+b.c-d://x", "HTTPS://H/x"] {
            assert!(is_url(Path::new(url)), "{url}");
        }
        for path in ["", "a", "://x", "1a://x", "./http://x", "a b://x", "/a://b", "C:/x"] {
            assert!(!is_url(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn only_an_absolute_path_follows_the_file_scheme() {
        for (url, path) in [
            ("file:///a", "/a"),
            ("file://localhost/a", "/a"),
            ("file://host/a", "file://host/a"),
            ("http://h/a", "http://h/a"),
        ] {
            assert_eq!(local_path(Path::new(url)), Path::new(path));
        }
    }
}
