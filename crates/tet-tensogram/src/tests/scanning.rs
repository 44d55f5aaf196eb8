//! Files of many messages, with junk between them, and how much is read for that.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tet_io::{ReadAt, Source};

use crate::testing::{Draft, FrameDraft, buffered, check, ids, open, streamed, tensor, tensors};
use crate::{Limits, Scan, TensogramFile, scan};

/// Bytes that count how often and how much of them is read.
struct Counted {
    bytes: Vec<u8>,
    calls: AtomicU64,
    read_len: AtomicU64,
}

impl ReadAt for Counted {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.read_len.fetch_add(out.len() as u64, Ordering::Relaxed);
        let at = usize::try_from(offset).unwrap();
        out.copy_from_slice(&self.bytes[at..at + out.len()]);
        Ok(())
    }
}

fn counted(bytes: Vec<u8>) -> (Arc<Counted>, Source) {
    let (calls, read_len) = (AtomicU64::new(0), AtomicU64::new(0));
    let counted = Arc::new(Counted { bytes, calls, read_len });
    (Arc::clone(&counted), Source::from_reader(counted))
}

/// Scans, and says how many calls and bytes that took.
fn cost(bytes: Vec<u8>) -> (Scan, u64, u64) {
    let (counted, source) = counted(bytes);
    let found = scan(&source, &Limits::default()).unwrap();
    (found, counted.calls.load(Ordering::Relaxed), counted.read_len.load(Ordering::Relaxed))
}

#[test]
fn messages_are_found_between_junk() {
    let (one, two) = (buffered(&tensors()).bytes(), streamed(&tensors()).bytes());
    for junk in [&[][..], b"x", b"TENSOGR", b"TENSOGRM", b"TENSOGRMTENSOGRM", &[7; 5000], &[0; 999]]
    {
        let bytes = [junk, &one, junk, &two, &one, junk, &two, junk].concat();
        let found = scan(&Source::from_bytes(bytes.as_slice()), &Limits::default()).unwrap();
        let lens: Vec<u64> = found.messages.iter().map(|span| span.len()).collect();
        assert_eq!(lens, [&one, &two, &one, &two].map(|it| it.len() as u64));
        let gaps: u64 = found.gaps.iter().map(|gap| gap.len()).sum();
        assert_eq!(gaps, 4 * junk.len() as u64);
        let all: u64 = lens.iter().sum::<u64>() + gaps;
        assert_eq!(all, bytes.len() as u64, "every byte is of one thing");
        let zeros = junk.iter().all(|byte| *byte == 0);
        let rule = if zeros { "TGM-N6" } else { "TGM-S2" };
        // At the end it may be a message that is cut short.
        let cut = junk.ends_with(b"TENSOGRM").then_some("TGM-P3");
        let found_ids: Vec<_> = ids(&bytes).into_iter().filter(|id| Some(*id) != cut).collect();
        assert_eq!(found_ids, vec![rule; found.gaps.len()]);
    }
}

/// Wherever what is read at once ends.
#[test]
fn a_message_is_found_at_every_place() {
    let one = buffered(&tensors()).bytes();
    for junk_len in (0..1100).chain((1 << 20) - 20..(1 << 20) + 20).chain(3000..3100) {
        let bytes = [&vec![b'x'; junk_len][..], &one].concat();
        let found = scan(&Source::from_bytes(bytes), &Limits::default()).unwrap();
        assert_eq!(found.messages.len(), 1, "{junk_len}");
        assert_eq!(found.messages[0].start(), junk_len as u64);
    }
}

/// Whatever happens to a message, those before and behind it are found.
#[test]
fn a_damaged_message_costs_no_other() {
    let (one, two) = (buffered(&tensors()).bytes(), streamed(&tensors()).bytes());
    let short = buffered(&[tensor(b"x")]).bytes();
    let keeps = |before: &[u8], bad: &[u8], after: &[u8], what: &dyn Fn() -> String| {
        let bytes = [before, bad, after].concat();
        let found = scan(&Source::from_bytes(bytes.as_slice()), &Limits::default()).unwrap();
        let len = bytes.len() as u64;
        let wanted = [0..before.len() as u64, len - after.len() as u64..len];
        for wanted in wanted {
            let is_found = found.messages.iter().any(|span| span.range() == wanted);
            assert!(is_found, "{}: {found:?}", what());
        }
        for damage in &found.damages {
            let is_apart = |span: &tet_format::Span| !span.overlaps(damage.span);
            assert!(found.messages.iter().all(is_apart), "{}: {found:?}", what());
        }
    };
    for bad in [&one, &two, &short] {
        for good in [&one, &two, &short] {
            for len in 0..bad.len() {
                keeps(good, &bad[..len], good, &|| format!("{len} bytes"));
            }
        }
        for bit in 0..bad.len() * 8 {
            let mut bad = bad.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            keeps(&one, &bad, &two, &|| format!("bit {bit}"));
        }
    }
}

/// The first frame of a cut stream ends where the first frame of the next one does, and all behind it
/// stands in order: only the postamble speaks of other places.
#[test]
fn a_postamble_of_another_message_is_none_of_this() {
    let after = streamed(&tensors()).bytes();
    let long =
        FrameDraft::cbor(1, &crate::testing::map(&[("k", crate::testing::text(&"x".repeat(68)))]));
    let first_end = 24 + streamed(&tensors()).parts[0].len();
    let cut = usize::try_from(24 + long.len() - first_end).unwrap();
    let before = Draft::new(&[long]).stream().bytes();
    let bytes = [&before[..cut], &after].concat();
    let found = scan(&Source::from_bytes(bytes.as_slice()), &Limits::default()).unwrap();
    let wanted = tet_format::Span::new(cut as u64, after.len() as u64).unwrap();
    assert_eq!(found.messages, [wanted]);
    assert_eq!(found.damages[0].fault.rule.id, "TGM-P8");
}

/// A fault in the middle of a message does not hide it.
#[test]
fn a_message_whose_ends_stand_is_one() {
    for draft in [buffered(&tensors()), Draft { total_len: [None, None], ..streamed(&tensors()) }] {
        let bytes = draft.bytes();
        for at in 24..bytes.len() - 24 {
            let mut bad = bytes.clone();
            bad[at] ^= 0x20;
            assert_eq!(open(&bad).unwrap().len(), 1, "byte {at}");
        }
    }
}

#[test]
fn other_versions_are_named() {
    let sound = buffered(&tensors());
    let old = Draft { version: 2, ..sound.clone() }.bytes();
    let bytes = [old.clone(), sound.bytes(), old.clone()].concat();
    let report = check(&bytes);
    assert_eq!(crate::testing::message_counts(&bytes), (1, 2));
    let places: Vec<_> = report.findings.iter().filter(|it| it.code.id() == "TGM-P2").collect();
    assert_eq!(
        places.iter().map(|it| it.place.offset).collect::<Vec<_>>(),
        [0, (old.len() * 2) as u64]
    );
}

/// A contiguous file costs a call for each message, whatever its payloads.
#[test]
fn no_payload_is_read_to_find_messages() {
    let big = buffered(&[tensor(&vec![1; 3 << 20])]).bytes();
    let (found, calls, read_len) = cost(big.repeat(10));
    assert_eq!((found.messages.len(), found.gaps.len()), (10, 0));
    assert!(calls <= 12 && read_len <= 12 * 256, "{calls} {read_len}");
    let stream = streamed(&[tensor(&vec![1; 3 << 20]), tensor(&[2; 70_000])]).bytes();
    let (found, calls, read_len) = cost(stream.repeat(10));
    assert_eq!((found.messages.len(), found.gaps.len()), (10, 0));
    assert!(calls <= 60 && read_len <= 60 * 256, "{calls} {read_len}");
}

/// Any file is read a few times at most.
#[test]
fn work_is_bounded_by_the_length() {
    let preamble = |total_len: u64| {
        let draft = Draft { total_len: [Some(total_len), Some(0)], ..Draft::new(&[]) };
        draft.bytes()[..24].to_vec()
    };
    let stream = streamed(&tensors()).bytes();
    let cut = &stream[..stream.len() - 24];
    // A chain of frames, each with the start of a message in its payload that leads to the next.
    let mut chain = preamble(0);
    let outer_len = tensor(&[0; 40]).len();
    let inner = FrameDraft { len_more: outer_len - 40 - tensor(b"").len(), ..tensor(b"") };
    let link = tensor(&[preamble(0), inner.bytes()[..16].to_vec()].concat());
    assert_eq!(link.len(), outer_len);
    for _ in 0..2000 {
        chain.extend(link.bytes());
        chain.resize(chain.len().next_multiple_of(8), 0);
    }
    let one = buffered(&tensors()).bytes();
    let spaced = [&one[..], b"j"].concat();
    for (name, bytes, calls_per_kib) in [
        ("magic", b"TENSOGRM".repeat(100_000), 5),
        ("preambles without a length", preamble(0).repeat(40_000), 100),
        ("preambles with a length", preamble(4800).repeat(40_000), 150),
        ("preambles past the end", preamble(1 << 50).repeat(40_000), 150),
        ("preamble, then zeros", [preamble(0), vec![0; 1 << 20]].concat(), 1),
        ("zeros", vec![0; 1 << 20], 1),
        ("letters", b"TENSOGRN".repeat(100_000), 1),
        ("cut streams", cut.repeat(500), 60),
        ("frames that are no end", chain, 30),
        ("frame starts", b"FR\0\x09\0\x01\0\x03\0\0\0\0\0\0\0\x40".repeat(50_000), 1),
        ("messages with a byte between", spaced.repeat(1000), 30),
    ] {
        let len = bytes.len() as u64;
        let (_, calls, read_len) = cost(bytes);
        assert!(calls <= 64 + calls_per_kib * len / 1024, "{name}: {calls} calls of {len}");
        assert!(read_len <= 32 * len, "{name}: {read_len} of {len}");
    }
}

#[test]
fn messages_are_no_more_than_the_limit() {
    let source = Source::from_bytes(buffered(&tensors()).bytes().repeat(3));
    let limits = Limits::default().with_message_count_max(2);
    let error = TensogramFile::open(source, &limits).unwrap_err();
    assert_eq!(error.kind(), crate::Kind::Limit);
}

#[test]
fn damages_are_counted_and_not_all_kept() {
    let old = Draft { version: 2, ..Draft::new(&[]) }.bytes();
    let file = open(&[buffered(&tensors()).bytes(), old.repeat(3000)].concat()).unwrap();
    assert_eq!(file.damages().len(), 1024);
    let found = scan(file.source(), &Limits::default()).unwrap();
    assert_eq!(found.damage_count, 3000);
}
