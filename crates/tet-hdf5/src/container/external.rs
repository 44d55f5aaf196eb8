//! External storage: the elements of a dataset in other files, one part behind the other.
//!
//! Parts are looked for in the folder of the file and below it, and nowhere else: a file that somebody sent must
//! not name any file of this machine.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use crate::ExternalPart;
use tet_io::{Folder, ReadAt, Source, Writers};

/// The most parts of a dataset.
const PARTS_MAX: usize = 1024;

/// A part: bytes of a file, and where they are in the dataset.
struct JoinedPart {
    file: Source,
    offset: u64,
    at: u64,
    len: u64,
}

/// The parts of a dataset, read as one file.
struct JoinedParts {
    parts: Vec<JoinedPart>,
    len: u64,
}

/// The `len` bytes of a dataset of `file`, which are in these parts; an error is why they are not read.
pub(super) fn open(file: &Source, parts: &[ExternalPart], len: u64) -> Result<Source, String> {
    file.path().ok_or("its elements are in other files, and the folder is not known")?;
    let folder = file.folder().map_err(|error| error.to_string())?;
    if PARTS_MAX < parts.len() {
        return Err(format!(
            "its elements are in {} parts, at most {PARTS_MAX} are read",
            parts.len()
        ));
    }
    let mut files: BTreeMap<&str, Source> = BTreeMap::new();
    let (mut joined, mut at) = (Vec::new(), 0_u64);
    for part in parts {
        let wanted = len - at;
        if wanted == 0 {
            break;
        }
        let name = part.file.as_str();
        let source = match files.get(name) {
            Some(source) => source.clone(),
            None => files.entry(name).or_insert(source_of(&folder, name)?).clone(),
        };
        let held = part.len.map_or(wanted, |held| held.min(wanted));
        if part.offset.checked_add(held).is_none_or(|end| source.len() < end) {
            let (found, end) = (source.len(), part.offset.saturating_add(held));
            return Err(format!("the file {name:?} of its elements has {found} bytes, not {end}"));
        }
        joined.push(JoinedPart { file: source, offset: part.offset, at, len: held });
        at += held;
    }
    if at != len {
        return Err(format!("the files of its elements have {at} bytes of it, not {len}"));
    }
    Ok(Source::from_reader(Arc::new(JoinedParts { parts: joined, len })))
}

/// The file of this name in a folder or below it.
fn source_of(folder: &Folder, name: &str) -> Result<Source, String> {
    if folder.path_of(name).is_none() {
        return Err(outside(name));
    }
    match folder.get(name) {
        Ok(Some(source)) => Ok(source),
        Ok(None) => Err(format!("the file {name:?} of its elements is missing")),
        Err(tet_io::Error::LinkOutside { .. }) => Err(outside(name)),
        Err(error) => Err(error.to_string()),
    }
}

fn outside(name: &str) -> String {
    format!(
        "its elements are in the file {name:?}, which is not in the folder of this file or below it"
    )
}

impl ReadAt for JoinedParts {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let (mut offset, mut out) = (offset, out);
        let after = self.parts.partition_point(|part| part.at <= offset);
        for part in self.parts.iter().skip(after.saturating_sub(1)) {
            if out.is_empty() {
                return Ok(());
            }
            let within = offset - part.at;
            let left = part.len.saturating_sub(within);
            let count = usize::try_from(left).unwrap_or(usize::MAX).min(out.len());
            let (now, later) = out.split_at_mut(count);
            let from = part.offset.saturating_add(within);
            part.file.read_exact_at(from, now).map_err(io::Error::other)?;
            offset = offset.saturating_add(left);
            out = later;
        }
        if out.is_empty() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn name(&self) -> &str {
        "(external storage)"
    }

    fn writers(&self) -> Writers {
        self.parts.iter().map(|part| part.file.writers()).max().unwrap_or(Writers::Absent)
    }

    fn version(&self) -> io::Result<Option<String>> {
        let mut files = self.parts.iter().map(|part| &part.file);
        let is_same = files.all(|file| file.check_unchanged().is_ok());
        Ok(Some(if is_same { "as opened" } else { "changed" }.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn part(file: &str, offset: u64, len: Option<u64>) -> ExternalPart {
        ExternalPart { file: file.to_owned(), offset, len }
    }

    #[test]
    fn parts_are_read_one_behind_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("x.h5"), b"").unwrap();
        fs::write(at("a.raw"), b"0123456789").unwrap();
        fs::write(at("sub/b.raw"), b"abcdef").unwrap();
        let file = Source::open(at("x.h5")).unwrap();
        let parts =
            [part("a.raw", 2, Some(3)), part("sub/b.raw", 1, Some(2)), part("a.raw", 7, None)];
        let all = b"234bc789";
        let source = open(&file, &parts, 8).unwrap();
        for start in 0..8 {
            for end in start..=8 {
                let mut out = vec![0; end - start];
                source.read_exact_at(start as u64, &mut out).unwrap();
                assert_eq!(out, all[start..end], "{start}..{end}");
            }
        }
        assert!(source.check_unchanged().is_ok());
        assert_eq!(open(&file, &parts, 4).unwrap().len(), 4);
        let why = |parts: &[ExternalPart], len| open(&file, parts, len).err().unwrap();
        assert!(why(&parts, 9).contains("has 10 bytes, not 11"), "{}", why(&parts, 9));
        assert!(why(&parts[..2], 8).contains("5 bytes"));
        assert!(why(&[part("none.raw", 0, None)], 1).contains("missing"));
        assert!(why(&[part("a.raw", u64::MAX, Some(1))], 1).contains("bytes"));
        fs::write(at("a.raw"), b"0123456789a").unwrap();
        assert!(source.check_unchanged().is_err());
    }

    #[test]
    fn no_part_is_outside_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        fs::write(folder.path().join("secret"), b"secret").unwrap();
        fs::write(inner.join("x.h5"), b"public").unwrap();
        std::os::unix::fs::symlink("../secret", inner.join("link")).unwrap();
        std::os::unix::fs::symlink("x.h5", inner.join("own")).unwrap();
        let file = Source::open(inner.join("x.h5")).unwrap();
        let absolute = folder.path().join("secret");
        for name in ["../secret", "link", absolute.to_str().unwrap(), "./x.h5", "a/../../secret"] {
            let why = open(&file, &[part(name, 0, Some(6))], 6).err().unwrap();
            assert!(why.contains("not in the folder"), "{name}: {why}");
        }
        assert!(open(&file, &[part("own", 0, Some(6))], 6).is_ok());
        assert!(open(&Source::from_bytes([0]), &[part("x.h5", 0, Some(1))], 1).is_err());
    }
}
