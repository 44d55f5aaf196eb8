//! Frames of zstd blobs, and seek tables that lie.

use tet_codec::{Decode, Zstd};
use tet_format::Span;
use tet_io::Source;

use crate::frames::{Frame, frames};
use crate::testing::{Fields, deep, open, read, rules, seek_table, text, with_good};
use crate::testing::{zstd, zstd_bare};
use crate::{Check, SeekTable, rule};

/// Bytes that do not repeat.
fn elements(len: u32) -> Vec<u8> {
    (0..len).map(|at| (at.wrapping_mul(at) >> 5) as u8).collect()
}

fn stored(blob: &[u8], len: u64) -> Vec<u8> {
    let fields = Fields::dense("t", 64, blob.len() as u64, "uint8", &[len]);
    with_good(blob, &fields.with("encoding", text("zstd")))
}

/// The stored and the decoded length of each frame.
type Table = Vec<(u32, u32)>;

/// Frames of these lengths, and the table of them.
fn framed(elements: &[u8], lens: &[usize]) -> (Vec<u8>, Table) {
    let (mut blob, mut table, mut rest) = (Vec::new(), Vec::new(), elements);
    for len in lens {
        let (frame, after) = rest.split_at(*len);
        let frame = zstd(frame);
        table.push((frame.len() as u32, *len as u32));
        blob.extend(frame);
        rest = after;
    }
    (blob, table)
}

#[track_caller]
fn frames_are_parts_of_the_whole(blob: &[u8], wanted: &[u8]) {
    let bytes = stored(blob, wanted.len() as u64);
    let file = open(&bytes).unwrap();
    let tensor = file.find("t").unwrap();
    assert_eq!(file.read(tensor, Check::Always).unwrap(), wanted);
    let Some(frames) = file.frames(tensor).unwrap() else { return };
    let index = |at: u64| usize::try_from(at).unwrap();
    let step = wanted.len().div_ceil(13).max(1);
    for start in (0..wanted.len()).step_by(step) {
        for end in (start + 1..=wanted.len()).step_by(step) {
            let covering = frames.covering(start as u64..end as u64);
            let (first, last) = (covering.first().unwrap(), covering.last().unwrap());
            let mut out = Vec::new();
            for Frame { stored, decoded } in covering {
                let stored = &bytes[index(stored.start())..index(stored.end())];
                let mut part = vec![0xEE; index(decoded.end - decoded.start)];
                Zstd.decode(stored, &mut part).unwrap();
                out.extend(part);
            }
            assert_eq!(out, wanted[index(first.decoded.start)..index(last.decoded.end)]);
            assert!(index(first.decoded.start) <= start && start < index(first.decoded.end));
            assert!(index(last.decoded.start) < end && end <= index(last.decoded.end));
        }
    }
}

#[test]
fn ranges_are_read_from_frames() {
    let wanted = elements(1000);
    for lens in [&[1000][..], &[400, 600], &[1, 0, 998, 1], &[250; 4]] {
        let (blob, table) = framed(&wanted, lens);
        frames_are_parts_of_the_whole(&blob, &wanted);
        let blob = [blob, seek_table(&table)].concat();
        frames_are_parts_of_the_whole(&blob, &wanted);
        let bytes = stored(&blob, 1000);
        let file = open(&bytes).unwrap();
        let found = file.frames(file.find("t").unwrap()).unwrap().unwrap();
        assert_eq!(found.seek_table(), SeekTable::Agrees);
        assert_eq!(found.list().len(), lens.len());
        assert_eq!(found.decoded_len(), 1000);
        assert_eq!(found.covering(0..1).len(), 1);
        assert_eq!(rules(&bytes), [&rule::BLOB_SHARED]);
    }
}

#[test]
fn a_frame_that_says_nothing_takes_what_is_left() {
    let wanted = elements(3000);
    let (a, b) = wanted.split_at(1200);
    for blob in
        [zstd_bare(&wanted), [zstd(a), zstd_bare(b)].concat(), [zstd_bare(a), zstd(b)].concat()]
    {
        frames_are_parts_of_the_whole(&blob, &wanted);
        let bytes = stored(&blob, 3000);
        let file = open(&bytes).unwrap();
        assert!(file.frames(file.find("t").unwrap()).unwrap().is_some());
    }
    let blob = [zstd_bare(a), zstd_bare(b)].concat();
    frames_are_parts_of_the_whole(&blob, &wanted);
    let bytes = stored(&blob, 3000);
    let file = open(&bytes).unwrap();
    assert!(file.frames(file.find("t").unwrap()).unwrap().is_none());
}

#[test]
fn many_frames_are_decoded_at_once() {
    let wanted = elements(3 << 20);
    let (blob, table) = framed(&wanted, &[1 << 18; 12]);
    let bytes = stored(&[blob, seek_table(&table)].concat(), 3 << 20);
    assert_eq!(read(&bytes, 1).unwrap(), wanted);
    let mut broken = bytes.clone();
    // In the middle of some frame.
    broken[64 + 20_000] ^= 0x10;
    assert!(read(&broken, 1).is_err() && !deep(&broken).is_ok());
}

#[test]
fn a_seek_table_that_lies_is_not_believed() {
    let wanted = elements(1000);
    let (blob, table) = framed(&wanted, &[300, 300, 400]);
    let with = |change: &dyn Fn(&mut Table)| {
        let mut table = table.clone();
        change(&mut table);
        [blob.clone(), seek_table(&table)].concat()
    };
    let wrong_tables = [
        with(&|table| table[0].1 += 1),
        with(&|table| {
            table[0].1 += 5;
            table[1].1 -= 5;
        }),
        with(&|table| {
            table[0].0 += 5;
            table[1].0 -= 5;
        }),
        with(&|table| table.swap(0, 2)),
        with(&|table| table.truncate(2)),
        with(&|table| table.push((0, 0))),
        with(&|table| table.clear()),
        with(&|table| table[2] = (u32::MAX, u32::MAX)),
    ];
    for blob in wrong_tables {
        frames_are_parts_of_the_whole(&blob, &wanted);
        let bytes = stored(&blob, 1000);
        assert!(rules(&bytes).contains(&&rule::SEEK_TABLE));
        assert!(deep(&bytes).is_ok());
    }
}

/// A table that leads into a frame whose content looks like one: what is read in part must be what
/// is read as a whole.
#[test]
fn a_frame_inside_a_frame_is_not_one() {
    let inner = zstd(&[7; 100]);
    let decoded = [vec![1; 50], inner.clone(), vec![2; 50]].concat();
    let outer = zstd_bare(&decoded);
    let at = outer.windows(inner.len()).position(|part| part == inner).unwrap() as u32;
    let rest = outer.len() as u32 - at;
    let table = seek_table(&[(at, decoded.len() as u32 - 100), (rest, 100)]);
    frames_are_parts_of_the_whole(&[outer, table].concat(), &decoded);
}

#[test]
fn what_cannot_be_walked_is_not_listed() {
    let wanted = elements(1000);
    let (blob, _) = framed(&wanted, &[300, 700]);
    let list = |blob: &[u8], len: Option<u64>| {
        let span = Span::new(0, blob.len() as u64).unwrap();
        frames(&Source::from_bytes(blob), span, len).unwrap()
    };
    assert!(list(&blob, None).is_some() && list(&blob, Some(1000)).is_some());
    assert!(list(&blob, Some(999)).is_none() && list(&blob, Some(1001)).is_none());
    for len in 1..blob.len() {
        let found = list(&blob[..len], None);
        assert!(found.is_none_or(|found| found.list().len() == 1), "{len} bytes");
    }
    assert!(list(&[blob.clone(), vec![0]].concat(), None).is_none());
    assert!(list(&[blob, vec![0x50, 0x2A, 0x4D, 0x18, 1, 0, 0, 0]].concat(), None).is_none());
    assert_eq!(list(&[], Some(0)).map(|found| found.list().len()), Some(0));
}
