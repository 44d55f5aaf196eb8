use std::path::Path;

use tet_file::write::{ChunkAt, DatasetSpec, WriteOptions, Writer};
use tet_file::{HistoryRow, Metadata};
use tet_format::DType;
use tet_format::footer::Tail;
use tet_io::Progress;
use tet_io::publish::Sync;

use super::*;

fn written(path: &Path, digests: DigestChoice) -> Vec<u8> {
    let specs = vec![DatasetSpec::new("a", DType::Int16, [5_u64], [2_u64])];
    let options = WriteOptions { digests, ..WriteOptions::default() };
    let mut writer = Writer::create(path, specs, &options).unwrap();
    let fill = &mut |chunk: ChunkAt<'_>, out: &mut Vec<u8>| {
        out.extend((0..chunk.decoded_len).map(|at| (at + chunk.linear) as u8 | 1));
        Ok(())
    };
    writer.write_dataset(0, fill, &Progress::default()).unwrap();
    writer.finish(&Metadata::new(), &[HistoryRow::new("test", "none", "1")]).unwrap();
    std::fs::read(path).unwrap()
}

fn protected(path: &Path) -> Result<Option<u64>> {
    let source = Source::open(path).unwrap();
    let publish = Publish { sync: Sync::None, ..Publish::default() };
    protect(&source, Output::InPlace(path), &publish, &Limits::default(), &Progress::default())
}

#[test]
fn a_file_gets_the_digests_that_its_writer_would_have_made() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = written(&folder.path().join("with.tet"), DigestChoice::Written);
    let path = folder.path().join("without.tet");
    let plain = written(&path, DigestChoice::Left);
    assert_eq!(protected(&path).unwrap(), Some(wanted.len() as u64));
    assert!(std::fs::read(&path).unwrap() == wanted);
    let stamp = Source::open(&path).unwrap().stamp();
    assert_eq!(protected(&path).unwrap(), None, "nothing is left to do");
    assert_eq!(Source::open(&path).unwrap().stamp(), stamp);
    // A program that does not know the key wrote the footer: the block is made anew.
    let tail_len = 16;
    let json = &plain[plain.len() - tail_len..];
    let json_len = Tail::read(json, 0, plain.len() as u64).unwrap().json_len as usize;
    let file = TetFile::open(Source::open(&path).unwrap(), &OpenOptions::default()).unwrap();
    let json_at = file.footer().json_at as usize;
    let mut stale = wanted[..json_at].to_vec();
    stale.extend(&plain[plain.len() - tail_len - json_len..]);
    std::fs::write(&path, stale).unwrap();
    assert_eq!(protected(&path).unwrap(), Some(wanted.len() as u64));
    assert!(std::fs::read(&path).unwrap() == wanted);
}

#[test]
fn what_digests_would_hide_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.tet");
    let check = |good: &[u8], damage: &dyn Fn(&mut Vec<u8>), is_wanted: &dyn Fn(&Error) -> bool| {
        let mut bad = good.to_vec();
        damage(&mut bad);
        std::fs::write(&path, &bad).unwrap();
        let error = protected(&path).unwrap_err();
        assert!(is_wanted(&error), "{error}");
        assert!(std::fs::read(&path).unwrap() == bad, "nothing is changed");
    };
    let with = written(&folder.path().join("with.tet"), DigestChoice::Written);
    let without = written(&folder.path().join("without.tet"), DigestChoice::Left);
    let file = TetFile::open(Source::from_bytes(with.as_slice()), &OpenOptions::default());
    let index_end = file.unwrap().index_end() as usize;
    let payload = index_end.next_multiple_of(64);
    assert!(index_end < payload, "there is a gap");
    check(&with, &|it| it[payload] ^= 1, &|error| matches!(error, Error::NotSound { .. }));
    check(&without, &|it| it[index_end] = 1, &|error| matches!(error, Error::Unused { .. }));
    check(&without, &|it| it[0] = 1, &|error| matches!(error, Error::NotSound { .. }));
}
