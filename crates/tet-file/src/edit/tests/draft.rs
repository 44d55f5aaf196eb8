//! An edited copy is the file that the writer makes of the same content.

use tet_format::{DType, Limits, Rule};
use tet_io::{Progress, Source};

use super::{bytes_of, open};
use crate::edit::FileDraft;
use crate::integrity::{Protection, digest_of};
use crate::metadata::{AttrValue, HistoryRow, Metadata};
use crate::write::{ChunkAt, CodecChoice, DatasetSpec, DigestChoice, WriteOptions, Writer};

/// A dataset to write: its name, shape, chunks, and the seed of its elements.
type SampleDataset<'a> = (&'a str, &'a [u64], &'a [u64], u8);

const PARTS: [SampleDataset<'static>; 3] =
    [("a", &[5, 3], &[2, 2], 1), ("time", &[5], &[5], 2), ("b/c", &[4], &[3], 3)];

/// The file that the writer makes.
fn made(parts: &[SampleDataset<'_>], metadata: &Metadata, options: &WriteOptions) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.tet");
    let spec = |part: &SampleDataset<'_>| DatasetSpec::new(part.0, DType::Int16, part.1, part.2);
    let mut writer = Writer::create(&path, parts.iter().map(spec).collect(), options).unwrap();
    for (id, part) in parts.iter().enumerate() {
        let fill = &mut |chunk: ChunkAt<'_>, out: &mut Vec<u8>| {
            out.extend((0..chunk.decoded_len).map(|at| (at + chunk.linear) as u8 ^ part.3));
            Ok(())
        };
        writer.write_dataset(id, fill, &Progress::default()).unwrap();
    }
    writer.finish(metadata, &[HistoryRow::new("test", "none", "1")]).unwrap();
    std::fs::read(path).unwrap()
}

fn ways() -> impl Iterator<Item = WriteOptions> {
    let codecs = [CodecChoice::Raw, CodecChoice::Zstd { level: 3 }];
    let digests = [DigestChoice::Written, DigestChoice::Left];
    let both = codecs.into_iter().flat_map(move |encoder| digests.map(|it| (encoder, it)));
    both.map(|(encoder, digests)| WriteOptions { encoder, digests, ..WriteOptions::default() })
}

fn metadata() -> Metadata {
    let mut metadata = Metadata::new();
    metadata.file.insert("title".into(), "t".into());
    let about = metadata.datasets.entry("a".to_owned()).or_default();
    about.dim_names = vec!["time".into(), "x".into()];
    about.coords.insert("x".into(), ["p", "q", "r"].map(String::from).to_vec());
    about.attrs.insert("units".into(), "K".into());
    metadata
}

fn edited(bytes: &[u8], edit: impl FnOnce(&mut FileDraft)) -> Vec<u8> {
    let mut draft = FileDraft::new(&open(bytes)).unwrap();
    edit(&mut draft);
    let edited = bytes_of(&draft.image(&Progress::default()).unwrap());
    check_digests(&edited);
    edited
}

/// Every payload matches its digest.
fn check_digests(bytes: &[u8]) {
    let file = open(bytes);
    let Protection::Digests(digests) = file.protection() else { return };
    let mut rows = Vec::new();
    file.index().rows(0..file.index().row_count(), &mut rows).unwrap();
    for (number, row) in (0..).zip(rows) {
        let span = row.payload().unwrap();
        assert_eq!(
            digest_of(file.source(), span.range()).unwrap(),
            digests.of_row(number).unwrap()
        );
    }
}

#[test]
fn attributes_dims_and_labels_are_those_that_the_writer_writes() {
    let mut wanted = metadata();
    wanted.file.insert("title".into(), AttrValue::Json("[1,2]".into()));
    let about = wanted.datasets.get_mut("a").unwrap();
    about.attrs = [("scale".to_owned(), AttrValue::Json("0.5".into()))].into();
    about.dim_names = vec!["t".into(), "lon".into()];
    about.coords.clear();
    about.coords.insert("lon".into(), ["p", "q", "r"].map(String::from).to_vec());
    about.coords.insert("t".into(), ["1", "2", "3", "4", "5"].map(String::from).to_vec());
    for options in ways() {
        let found = edited(&made(&PARTS, &metadata(), &options), |draft| {
            draft.set_attr(None, "title", Some(AttrValue::Json("[1,2]".into()))).unwrap();
            assert!(draft.set_attr(Some(0), "units", None).unwrap());
            assert!(!draft.set_attr(Some(0), "units", None).unwrap());
            draft.set_attr(Some(0), "scale", Some(AttrValue::Json("0.5".into()))).unwrap();
            draft.set_dims(0, &["t".to_owned(), "lon".to_owned()]).unwrap();
            let labels = ["1", "2", "3", "4", "5"].map(String::from).to_vec();
            draft.set_labels(0, 0, Some(labels)).unwrap();
        });
        assert!(found == made(&PARTS, &wanted, &options), "{options:?}");
    }
}

#[test]
fn dropped_and_renamed_datasets_leave_the_file_that_the_writer_makes_of_the_others() {
    let mut wanted = metadata();
    let about = wanted.datasets.remove("a").unwrap();
    wanted.datasets.insert("time".to_owned(), about);
    let rest = [("time", PARTS[0].1, PARTS[0].2, 1), ("a", PARTS[2].1, PARTS[2].2, 3)];
    for options in ways() {
        let found = edited(&made(&PARTS, &metadata(), &options), |draft| {
            draft.remove(1).unwrap();
            draft.rename(0, "time").unwrap();
            draft.rename(2, "a").unwrap();
            assert_eq!(draft.names().collect::<Vec<_>>(), ["time", "a"]);
            assert!(draft.remove(1).is_err());
        });
        assert!(found == made(&rest, &wanted, &options), "{options:?}");
        let none = edited(&found, |draft| {
            draft.remove(0).unwrap();
            draft.remove(2).unwrap_err();
            draft.remove(1).unwrap();
        });
        assert!(open(&none).datasets().is_empty() && open(&none).metadata().datasets.is_empty());
    }
}

#[test]
fn a_longer_name_moves_payloads_by_whole_blocks_and_compact_undoes_it() {
    let name = "n".repeat(700);
    let mut wanted = metadata();
    let about = wanted.datasets.remove("a").unwrap();
    wanted.datasets.insert(name.clone(), about);
    let parts = [(name.as_str(), PARTS[0].1, PARTS[0].2, 1), PARTS[1], PARTS[2]];
    for options in ways() {
        let old = made(&PARTS, &metadata(), &options);
        let moved = edited(&old, |draft| draft.rename(0, &name).unwrap());
        let offset = |bytes: &[u8]| {
            let mut rows = Vec::new();
            open(bytes).index().rows(0..1, &mut rows).unwrap();
            rows[0].payload_offset
        };
        assert_eq!(offset(&moved) - offset(&old), 4096);
        assert_eq!(open(&moved).metadata(), &wanted);
        let packed = edited(&moved, FileDraft::compact);
        assert!(packed == made(&parts, &wanted, &options), "{options:?}");
    }
}

#[test]
fn a_damaged_payload_stays_known_as_damaged() {
    let mut bytes = made(&PARTS, &metadata(), &WriteOptions::default());
    let at = {
        let mut rows = Vec::new();
        open(&bytes).index().rows(3..4, &mut rows).unwrap();
        usize::try_from(rows[0].payload_offset).unwrap()
    };
    bytes[at] ^= 1;
    for edit in [
        |draft: &mut FileDraft| draft.remove(1).unwrap(),
        |draft: &mut FileDraft| {
            draft.set_attr(None, "x", Some("y".into())).unwrap();
        },
    ] {
        let mut draft = FileDraft::new(&open(&bytes)).unwrap();
        edit(&mut draft);
        let file = open(&bytes_of(&draft.image(&Progress::default()).unwrap()));
        let mut rows = Vec::new();
        file.index().rows(3..4, &mut rows).unwrap();
        let known = file.protection().digests().unwrap().of_row(3).unwrap();
        assert_ne!(digest_of(file.source(), rows[0].payload().unwrap().range()).unwrap(), known);
    }
}

#[test]
fn damaged_digests_are_not_sealed_anew() {
    let mut bytes = made(&PARTS, &metadata(), &WriteOptions::default());
    let at = open(&bytes).protection().digests().unwrap().block().chunk_at(2);
    bytes[usize::try_from(at).unwrap()] ^= 1;
    let draft = FileDraft::new(&open(&bytes)).unwrap();
    let error = draft.image(&Progress::default()).unwrap_err();
    assert_eq!(error.as_format().map(|fault| fault.rule), Some(Rule::ChunksDigest), "{error}");
}

#[test]
fn metadata_that_do_not_fit_the_json_move_to_a_spill_and_back() {
    for options in ways() {
        let mut wanted = metadata();
        let old = made(&PARTS, &wanted, &options);
        let long = AttrValue::from("x".repeat(100_000));
        let spilled = edited(&old, |draft| {
            draft.set_attr(Some(1), "long", Some(long.clone())).unwrap();
        });
        wanted.datasets.entry("time".to_owned()).or_default().attrs.insert("long".into(), long);
        assert_eq!(open(&spilled).metadata(), &wanted);
        assert!(open(&spilled).footer().spilled.is_some());
        let renamed = edited(&spilled, |draft| draft.rename(2, &"c".repeat(900)).unwrap());
        assert_eq!(open(&renamed).metadata(), &wanted);
        let again = edited(&spilled, |draft| {
            draft.set_attr(Some(1), "long", None).unwrap();
        });
        assert!(again == old, "{options:?}");
    }
}

#[test]
fn wrong_edits_are_refused() {
    let file = open(&made(&PARTS, &metadata(), &WriteOptions::default()));
    let edit = || FileDraft::new(&file).unwrap();
    let image = |draft: &FileDraft| draft.image(&Progress::default()).unwrap_err().to_string();
    let mut draft = edit();
    draft.rename(0, "time").unwrap();
    assert!(image(&draft).contains("time") || image(&draft).contains("#1"), "{}", image(&draft));
    draft.rename(1, "a").unwrap();
    assert!(draft.image(&Progress::default()).is_ok(), "names may be exchanged");
    draft.rename(1, "").unwrap();
    assert!(!image(&draft).is_empty());
    let names = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    for wrong in [&["x"][..], &["x", "x"], &["x", "y", "z"]] {
        assert!(edit().set_dims(0, &names(wrong)).is_err(), "{wrong:?}");
    }
    assert!(edit().set_labels(0, 2, None).is_err());
    assert!(edit().set_labels(0, 1, Some(names(&["1", "2"]))).is_err());
    assert!(edit().set_labels(3, 0, None).is_err());
    assert!(edit().set_attr(Some(3), "k", None).is_err());
    let _ = edit().set_attr(None, "k", Some(AttrValue::Json("{".into())));
    let mut draft = edit();
    draft.set_attr(None, "k", Some(AttrValue::Json("{".into()))).unwrap();
    assert!(image(&draft).contains("JSON"));
}

/// Any bytes: an edit is refused, or its result opens.
#[test]
fn edits_of_damaged_files_are_refused_or_open() {
    let sound = made(&PARTS, &metadata(), &ways().nth(1).unwrap());
    for at in 0..sound.len() {
        for bit in [1, 0x80] {
            let mut bytes = sound.clone();
            bytes[at] ^= bit;
            let opened = crate::TetFile::open(Source::from_bytes(bytes), &Default::default());
            let Ok(file) = opened else { continue };
            let Ok(mut draft) = FileDraft::new(&file) else { continue };
            draft.remove(1).unwrap();
            let Ok(image) = draft.image(&Progress::default()) else { continue };
            assert!(image.len() <= 2 * sound.len() as u64 + Limits::default().name_len_max);
            assert_eq!(open(&bytes_of(&image)).datasets().len(), 2, "byte {at}");
        }
    }
}
