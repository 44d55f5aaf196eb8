//! Addresses that readers open: a path, or a URL that has its place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tet_io::is_url;

use crate::{Error, Result};

/// Form of the path of a file in references.
///
/// ```
/// use tet_convert::RefsAddress;
///
/// assert_eq!(RefsAddress::default(), RefsAddress::Path);
/// let _ = RefsAddress::Prefix("s3://bucket/data".to_owned());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RefsAddress {
    /// The absolute path, or the URL that the file was opened by.
    #[default]
    Path,
    /// This, a slash, and the name of the file.
    Prefix(String),
    /// This for the file that was opened, with the rest of the path for files below it.
    Url(String),
}

/// The addresses of files, no two of which have the same.
#[derive(Debug)]
pub(super) struct AddressBook<'o> {
    how: &'o RefsAddress,
    /// The absolute paths of what was opened, or is written.
    inputs: Vec<PathBuf>,
    known: BTreeMap<String, String>,
}

impl<'o> AddressBook<'o> {
    pub(super) fn new<'p>(
        how: &'o RefsAddress,
        inputs: impl IntoIterator<Item = &'p Path>,
    ) -> AddressBook<'o> {
        let whole = |path: &Path| {
            let absolute = if is_url(path) { None } else { std::path::absolute(path).ok() };
            absolute.unwrap_or_else(|| path.to_path_buf())
        };
        let inputs = inputs.into_iter().map(whole).collect();
        AddressBook { how, inputs, known: BTreeMap::new() }
    }

    /// The address of a file.
    ///
    /// # Errors
    /// The file is not beside or below an input; another file has the address.
    pub(super) fn of(&mut self, file: &str) -> Result<String> {
        let below = |folder: &Path| {
            let rest = Path::new(file).strip_prefix(folder).ok()?;
            rest.to_str().map(str::to_owned)
        };
        let shown = |file: &str| tet_io::shown(Path::new(file));
        let join = |start: &str, rest: &str| {
            let is_web = ["http://", "https://"].iter().any(|scheme| start.starts_with(scheme));
            let rest = if is_web { percent_encoded(rest) } else { rest.to_owned() };
            format!("{}/{rest}", start.trim_end_matches('/'))
        };
        let address = match self.how {
            RefsAddress::Path if is_url(Path::new(file)) && shown(file) != file => {
                let what =
                    format!("{} has a password, which references would have too", shown(file));
                return Err(Error::Refs { what });
            }
            RefsAddress::Path => Some(file.to_owned()),
            RefsAddress::Prefix(prefix) => {
                let folders = self.inputs.iter().filter_map(|input| input.parent());
                let mut rests = folders.filter_map(below);
                rests.next().map(|rest| join(prefix, &rest))
            }
            RefsAddress::Url(url) => {
                let rest = self.inputs.iter().find_map(|input| below(input));
                rest.map(|rest| if rest.is_empty() { url.clone() } else { join(url, &rest) })
            }
        };
        let Some(address) = address else {
            let what = format!("{} is not beside or below an input: no URL names it", shown(file));
            return Err(Error::Refs { what });
        };
        let known = self.known.entry(address.clone()).or_insert_with(|| file.to_owned());
        if known == file {
            return Ok(address);
        }
        let what = format!("{} and {} would both be {address:?}", shown(known), shown(file));
        Err(Error::Refs { what })
    }
}

/// A path as that of a URL of a web server. Keys of object stores are what they are: their readers decode nothing.
fn percent_encoded(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=:@".contains(&byte);
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        if is_plain(byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(how: &RefsAddress, inputs: &[&str], files: &[&str]) -> Vec<String> {
        let mut book = AddressBook::new(how, inputs.iter().map(Path::new));
        let of = |file: &&str| book.of(file).unwrap_or_else(|error| error.to_string());
        files.iter().map(of).collect()
    }

    #[test]
    fn addresses_are_those_of_one_file() {
        let prefix = RefsAddress::Prefix("s3://bucket/".to_owned());
        let inputs = ["/d/a.tet", "/e/a.zarr"];
        let files = ["/d/a.tet", "/e/a.zarr/c/0", "/e/a.tet", "/f/b.tet"];
        let all = found(&prefix, &inputs, &files);
        assert_eq!(all[..2], ["s3://bucket/a.tet", "s3://bucket/a.zarr/c/0"]);
        assert!(all[2].contains("would both be"), "{}", all[2]);
        assert!(all[3].contains("not beside or below"), "{}", all[3]);
        let web = RefsAddress::Prefix("https://host/d".to_owned());
        let named = ["/d/a b#1%2?.nc", "/d/\u{e9}=1+2.nc"];
        let encoded = ["https://host/d/a%20b%231%252%3F.nc", "https://host/d/%C3%A9=1+2.nc"];
        assert_eq!(found(&web, &inputs, &named), encoded);
        assert_eq!(found(&prefix, &inputs, &named)[0], "s3://bucket/a b#1%2?.nc");
        let url = RefsAddress::Url("https://host/x.zarr/".to_owned());
        let all = found(&url, &["/d/a.zarr"], &["/d/a.zarr/c/0", "/d/a.zarr", "/d/b"]);
        assert_eq!(all[..2], ["https://host/x.zarr/c/0", "https://host/x.zarr/"]);
        assert!(all[2].contains("not beside or below"), "{}", all[2]);
    }
}
