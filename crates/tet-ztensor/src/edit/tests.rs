//! Edits leave unchanged bytes alone.

use std::fs;
use std::path::PathBuf;

use tet_cbor::Value;
use tet_format::DType;
use tet_io::{Publish, Source};

use super::*;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::open::ZTensorFile;
use crate::stored::Check;
use crate::write::{Align, Declaration, EncodingChoice, WriteOptions, Writer};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("a.zt")
    }

    /// A file of four tensors, one of an unknown kind, `a` and `d` on one blob.
    fn with_file(bytes: &[u8]) -> Self {
        let folder = Self::new();
        fs::write(folder.path(), bytes).unwrap();
        folder
    }

    fn draft(&self) -> Draft {
        Draft::open(&Source::open(self.path()).unwrap(), &Limits::default()).unwrap()
    }

    fn save(&self, draft: &Draft) -> ZTensorFile {
        draft.save(Output::InPlace(&self.path()), &Publish::default()).unwrap();
        self.open()
    }

    fn open(&self) -> ZTensorFile {
        ZTensorFile::open(Source::open(self.path()).unwrap(), &Limits::default()).unwrap()
    }
}

fn tensor(name: &str, len: u64) -> Declaration {
    Declaration::new(name, DType::UInt8, [len]).with("of", Value::Text(name.to_owned()))
}

fn sample() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &WriteOptions::default()).unwrap();
    writer.whole(tensor("a", 100), &[1; 100]).unwrap();
    let options = WriteOptions {
        align: Align::Page,
        encoding: EncodingChoice::zstd(),
        ..WriteOptions::default()
    };
    let mut page = writer.tensor_as(tensor("b", 5000), &options).unwrap();
    page.write(&[2; 5000]).unwrap();
    page.finish().unwrap();
    writer.whole(tensor("c", 70_000), &[3; 70_000]).unwrap();
    writer.alias(tensor("d", 100), "a").unwrap();
    writer.whole(tensor("e", 0), &[]).unwrap();
    let mut bytes = writer.finish().unwrap().0;
    // The dtype of `c` becomes unknown.
    let at = bytes.windows(9).position(|window| window == b"dname\x61c".as_slice());
    assert!(at.is_none());
    let name = bytes.windows(7).position(|it| it == b"\x64name\x61c").unwrap();
    let dtype = name + bytes[name..].windows(6).position(|it| it == b"\x65uint8").unwrap();
    bytes[dtype + 5] = b'9';
    bytes
}

fn stored(file: &ZTensorFile, name: &str) -> Vec<u8> {
    let span = file.find(name).unwrap().stored().unwrap();
    file.source().read_vec(span.start(), span.len()).unwrap()
}

#[test]
fn a_draft_without_changes_is_the_file() {
    let folder = Folder::with_file(&sample());
    folder.save(&folder.draft());
    assert!(fs::read(folder.path()).unwrap() == sample());
}

#[test]
fn a_renamed_tensor_keeps_everything_else() {
    let folder = Folder::with_file(&sample());
    let before = folder.open();
    let mut draft = folder.draft();
    draft.rename("c", "a longer name than it had").unwrap();
    draft.rename("a", "a").unwrap();
    assert!(matches!(draft.rename("a", "b"), Err(Error::Unwritable { .. })));
    assert!(matches!(draft.rename("x", "y"), Err(Error::NoSuchTensor { .. })));
    assert!(draft.rename("a", "\0").is_err());
    let after = folder.save(&draft);
    let index_start = before.index().span().unwrap().start();
    assert!(
        sample()[..index_start as usize]
            == fs::read(folder.path()).unwrap()[..index_start as usize]
    );
    let renamed = after.find("a longer name than it had").unwrap();
    assert_eq!(renamed.dtype_word(), "uint9", "unknown fields are copied");
    let [old, new] = [before.find("c").unwrap(), renamed].map(|it| it.entry_bytes().to_vec());
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    assert_eq!(tail, old.len() - 8, "all but the name");
    for name in ["a", "b", "d", "e"] {
        assert_eq!(
            before.find(name).unwrap().entry_bytes(),
            after.find(name).unwrap().entry_bytes()
        );
    }
}

#[test]
fn custom_fields_are_set_and_taken_away() {
    let folder = Folder::with_file(&sample());
    let mut draft = folder.draft();
    draft.set("b", "of", &Value::Int(7)).unwrap();
    draft.set("b", "a", &Value::Null).unwrap();
    draft.set("b", "z", &Value::Bool(true)).unwrap();
    assert!(draft.unset("d", "of").unwrap());
    assert!(!draft.unset("d", "of").unwrap());
    assert!(draft.set("b", "size", &Value::Int(1)).is_err());
    assert!(draft.set("b", "x", &Value::Simple(99)).is_err());
    let file = folder.save(&draft);
    let of_b = file.find("b").unwrap().custom().unwrap();
    let wanted = [("a", Value::Null), ("of", Value::Int(7)), ("z", Value::Bool(true))];
    assert_eq!(of_b, wanted.map(|(key, value)| (key.to_owned(), value)));
    assert!(file.find("d").unwrap().custom().unwrap().is_empty());
    assert!(file.read(file.find("b").unwrap(), Check::Always).unwrap() == [2; 5000]);
}

#[test]
fn a_removed_tensor_leaves_no_bytes() {
    let folder = Folder::with_file(&sample());
    let before = folder.open();
    let mut draft = folder.draft();
    draft.remove("b").unwrap();
    let after = folder.save(&draft);
    assert_eq!(draft.names().collect::<Vec<_>>(), ["a", "c", "d", "e"]);
    assert!(after.find("b").is_err());
    for name in ["a", "c", "d"] {
        assert!(stored(&before, name) == stored(&after, name), "{name}");
    }
    let offset = |name| after.find(name).unwrap().offset();
    assert_eq!(offset("a"), offset("d"), "they share their blob still");
    assert_eq!((offset("a"), offset("c"), offset("e")), (Some(64), Some(192), Some(70_208)));
    let mut draft = folder.draft();
    draft.remove("a").unwrap();
    let after = folder.save(&draft);
    assert_eq!(stored(&after, "d"), [1; 100]);
    let mut draft = folder.draft();
    ["c", "d", "e"].iter().for_each(|name| draft.remove(name).unwrap());
    folder.save(&draft);
    assert_eq!(fs::read(folder.path()).unwrap().len(), 17);
}

#[test]
fn compacting_keeps_what_blobs_stood_at_and_is_done_once() {
    let folder = Folder::with_file(&sample());
    let mut draft = folder.draft();
    draft.compact();
    let file = folder.save(&draft);
    assert_eq!(file.find("b").unwrap().offset().unwrap() % 4096, 0);
    let once = fs::read(folder.path()).unwrap();
    let mut draft = folder.draft();
    draft.compact();
    folder.save(&draft);
    assert!(fs::read(folder.path()).unwrap() == once);
}

fn append<W: std::io::Write + Send>(writer: &mut Writer<W>) -> Result<()> {
    writer.whole(tensor("new", 10), &[9; 10])?;
    writer.alias(tensor("newer", 10), "new")
}

#[test]
fn tensors_are_appended() {
    let folder = Folder::with_file(&sample());
    let draft = folder.draft();
    let (output, options) = (folder.path(), WriteOptions::default());
    let saved = draft.save_with(Output::InPlace(&output), &Publish::default(), &options, append);
    assert_eq!(saved.unwrap().1.tensor_count, 7);
    let file = folder.open();
    assert_eq!(stored(&file, "newer"), [9; 10]);
    assert_eq!(file.find("c").unwrap().dtype_word(), "uint9");
    // A second time the names are taken, and the file stays what it is.
    let before = fs::read(&output).unwrap();
    let draft = folder.draft();
    let saved = draft.save_with(Output::InPlace(&output), &Publish::default(), &options, append);
    assert!(saved.is_err());
    assert!(fs::read(&output).unwrap() == before);
}

#[test]
fn nothing_is_written_behind_blobs_that_are_not_there() {
    let mut bytes = sample();
    // `c` says that it is longer than the file.
    let name = bytes.windows(7).position(|it| it == b"\x64name\x61c").unwrap();
    let size = name + bytes[name..].windows(5).position(|it| it == b"\x64size").unwrap() + 5;
    assert_eq!(bytes[size], 0x1a);
    bytes[size + 1] = 1;
    let folder = Folder::with_file(&bytes);
    let options = WriteOptions::default();
    let saved = folder.draft().save_with(
        Output::InPlace(&folder.path()),
        &Publish::default(),
        &options,
        append,
    );
    assert!(saved.is_err());
    assert!(fs::read(folder.path()).unwrap() == bytes);
}
