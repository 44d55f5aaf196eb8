mod draft;

use tet_format::Limits;
use tet_io::{Image, Progress, Source};

use super::*;
use crate::integrity::Protection;
use crate::metadata::Metadata;
use crate::open::{OpenOptions, TetFile};
use crate::testing::written;
use crate::write::{DigestChoice, WriteOptions, Writer};

fn bytes_of(image: &Image) -> Vec<u8> {
    image.to_source().read_vec(0, image.len()).unwrap()
}

fn open(bytes: &[u8]) -> TetFile {
    TetFile::open(Source::from_bytes(bytes), &OpenOptions::default()).unwrap()
}

/// The file with its own footer, digests written or left.
fn rebuilt(bytes: &[u8], digests: DigestChoice) -> Vec<u8> {
    let file = open(bytes);
    let limits = Limits::default();
    let footer = FooterEdit { digests, ..FooterEdit::from_file(&file, &limits).unwrap().unwrap() };
    let image = Image::from_source(file.source());
    bytes_of(&with_footer(&image, Some(&footer), &limits, &Progress::default()).unwrap())
}

#[test]
fn a_footer_made_anew_is_the_one_the_writer_made() {
    for attr_len in [0, 10, 70_000] {
        let with = written(attr_len, DigestChoice::Written);
        let without = written(attr_len, DigestChoice::Left);
        assert!(rebuilt(&with, DigestChoice::Written) == with, "{attr_len}");
        assert!(rebuilt(&without, DigestChoice::Left) == without, "{attr_len}");
        assert!(rebuilt(&without, DigestChoice::Written) == with, "{attr_len}");
        assert!(rebuilt(&with, DigestChoice::Left) == without, "{attr_len}");
    }
}

#[test]
fn members_nobody_knows_stay_and_spills_move() {
    let bytes = written(0, DigestChoice::Left);
    let file = open(&bytes);
    let limits = Limits::default();
    let spill = br#"{"file":{"title":"spilled"}}"#;
    let members = [
        ("zebra", Member::Text("[1, {\"x\": null}]".to_owned())),
        ("metadata_ref", Member::New(spill.as_slice().into())),
        ("apple", Member::Text("1.50e1".to_owned())),
    ];
    let members = members.map(|(key, member)| (key.to_owned(), member));
    let footer = FooterEdit { version: 2, members: members.into(), digests: DigestChoice::Left };
    let image = Image::from_source(file.source());
    let image = with_footer(&image, Some(&footer), &limits, &Progress::default()).unwrap();
    let protected = rebuilt(&bytes_of(&image), DigestChoice::Written);
    let file = open(&protected);
    assert!(matches!(file.protection(), Protection::Digests(_)));
    assert_eq!(file.warnings(), []);
    assert_eq!(file.footer().version, 2);
    let unknown: Vec<(&str, &str)> =
        file.footer().json.unknown.iter().map(|(key, text)| (&**key, &**text)).collect();
    assert_eq!(unknown, [("zebra", "[1, {\"x\": null}]"), ("apple", "1.50e1")]);
    assert_eq!(file.metadata().file.len(), 1);
    assert!(rebuilt(&protected, DigestChoice::Left) == bytes_of(&image));
}

#[test]
fn a_file_without_datasets_takes_a_footer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.tet");
    let options = WriteOptions { digests: DigestChoice::Left, ..WriteOptions::default() };
    Writer::create(&path, vec![], &options).unwrap().finish(&Metadata::new(), &[]).unwrap();
    let source = Source::open(&path).unwrap();
    let footer = FooterEdit::empty(DigestChoice::Written);
    let image = Image::from_source(&source);
    let image =
        with_footer(&image, Some(&footer), &Limits::default(), &Progress::default()).unwrap();
    let file = open(&bytes_of(&image));
    assert!(matches!(file.protection(), Protection::Digests(_)));
    let none = with_footer(
        &Image::from_source(file.source()),
        None,
        &Limits::default(),
        &Progress::default(),
    )
    .unwrap();
    assert_eq!(bytes_of(&none), std::fs::read(path).unwrap());
}
