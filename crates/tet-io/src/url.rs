//! Names with a scheme, such as `https://host/file.tet`.

use std::borrow::Cow;
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

/// A URL without its query, its fragment, and what is before an `@` in the name of its server, which may be
/// secret; another path as it is.
///
/// ```
/// use tet_io::without_secrets;
///
/// assert_eq!(without_secrets("https://user:x@host/a.tet?signature=x".as_ref()), "https://host/a.tet");
/// assert_eq!(without_secrets("a?b#c.tet".as_ref()), "a?b#c.tet");
/// ```
#[must_use]
pub fn without_secrets(path: &Path) -> Cow<'_, str> {
    let text = path.to_string_lossy();
    if !is_url(path) {
        return text;
    }
    let text = text.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = text.split_once("://").unwrap_or_default();
    let (server, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let server = server.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{server}{path}").into()
}

/// The last component of a path or a URL, as it is written into files and lists: without the query of a URL, which may
/// be a signature.
///
/// ```
/// assert_eq!(tet_io::file_name("a/b.tet".as_ref()), "b.tet");
/// assert_eq!(tet_io::file_name("https://host/a/b.tet?sig=s/x".as_ref()), "b.tet");
/// ```
#[must_use]
pub fn file_name(path: &Path) -> String {
    let shown = if is_url(path) { PathBuf::from(&*without_secrets(path)) } else { path.to_owned() };
    shown.file_name().unwrap_or_default().to_string_lossy().into_owned()
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
    fn secrets_are_left_out() {
        for (url, shown) in [
            ("https://h:1/a@b/c", "https://h:1/a@b/c"),
            ("https://me:pass@h/a?sig=x#y", "https://h/a"),
            ("s3://b/k?versionId=1", "s3://b/k"),
            ("http://a@b@h", "http://h"),
        ] {
            assert_eq!(without_secrets(Path::new(url)), shown);
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
