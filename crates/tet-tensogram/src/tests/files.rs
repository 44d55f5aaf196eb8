//! Files as they are opened: what is read for what is asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tet_io::{ReadAt, Source};

use crate::testing::{FrameDraft, buffered, open, streamed, tensor, tensors};
use crate::{Limits, Message, TensogramFile};

/// A file of one message whose payloads are too long for memory.
struct Vast {
    head: Vec<u8>,
    hole_at: u64,
    hole_len: u64,
    read_len: AtomicU64,
}

impl ReadAt for Vast {
    fn len(&self) -> u64 {
        self.head.len() as u64 + self.hole_len
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        self.read_len.fetch_add(out.len() as u64, Ordering::Relaxed);
        for (at, byte) in (offset..).zip(out) {
            let in_hole = (self.hole_at..self.hole_at + self.hole_len).contains(&at);
            let at = if at < self.hole_at { at } else { at.saturating_sub(self.hole_len) };
            *byte = if in_hole { 0 } else { self.head[usize::try_from(at).unwrap()] };
        }
        Ok(())
    }
}

/// A stream whose second tensor has a payload of a tebibyte.
fn vast() -> (Arc<Vast>, Source) {
    let hole_len = 1 << 40;
    let draft = streamed(&tensors());
    let at = usize::try_from(draft.offsets()[3]).unwrap();
    let mut head = draft.bytes();
    let len = draft.parts[3].len() + hole_len;
    head.splice(at + 8..at + 16, crate::testing::be64(len));
    let tail = at + usize::try_from(draft.parts[3].len()).unwrap() - 20;
    let offset = draft.parts[3].descriptor_offset.unwrap() + hole_len;
    head.splice(tail..tail + 8, crate::testing::be64(offset));
    let end = head.len() - 24;
    let footer = draft.offsets()[4] + hole_len;
    head.splice(end..end + 8, crate::testing::be64(footer));
    let (hole_at, read_len) = (at as u64 + 20, AtomicU64::new(0));
    let vast = Arc::new(Vast { head, hole_at, hole_len, read_len });
    (Arc::clone(&vast), Source::from_reader(vast))
}

#[test]
fn nothing_depends_on_the_length_of_payloads() {
    let (vast, source) = vast();
    let file = TensogramFile::open(source, &Limits::default()).unwrap();
    let message = file.message(0).unwrap();
    assert_eq!(message.fault(), None);
    assert_eq!(message.objects()[1].region.len(), (1 << 40) + 16);
    assert_eq!(file.metadata(0).unwrap().base.len(), 2);
    assert!(file.read_descriptor(&file.object(0, 1).unwrap()).is_ok());
    assert!(vast.read_len.load(Ordering::Relaxed) < 10_000);
}

#[test]
fn an_object_is_found_at_once() {
    let many: Vec<FrameDraft> = (0..3000_u32).map(|number| tensor(&number.to_le_bytes())).collect();
    for draft in [buffered(&many), streamed(&many)] {
        let bytes = draft.bytes();
        let walked = open(&bytes).unwrap().objects(0).unwrap();
        assert_eq!(walked.len(), 3000);
        let read_len = AtomicU64::new(0);
        let counted = Arc::new(Vast { hole_at: u64::MAX, hole_len: 0, head: bytes, read_len });
        let counter = Arc::clone(&counted);
        let file = TensogramFile::open(Source::from_reader(counted), &Limits::default()).unwrap();
        let first = file.object(0, 2999).unwrap();
        assert_eq!(first, walked[2999]);
        // The second one costs its frame alone: the index is in memory.
        let before = counter.read_len.load(Ordering::Relaxed);
        assert_eq!(file.object(0, 1234).unwrap(), walked[1234]);
        let cost = counter.read_len.load(Ordering::Relaxed) - before;
        assert!(cost <= 1024, "{cost} bytes");
        assert!(file.object(0, 3000).is_err());
    }
}

/// Behind a damaged frame objects are found by an index that leads to them.
#[test]
fn an_index_leads_past_damage() {
    let many: Vec<FrameDraft> = (0..4_u8).map(|number| tensor(&[number; 9])).collect();
    let draft = buffered(&many);
    let (mut bytes, wanted) = (draft.bytes(), open(&draft.bytes()).unwrap());
    let at = usize::try_from(draft.offsets()[4]).unwrap();
    bytes[at + 10] = 0x77;
    let file = open(&bytes).unwrap();
    for walk_first in [false, true] {
        if walk_first {
            assert_eq!(file.objects(0).unwrap().len(), 1);
            assert!(!file.message(0).unwrap().is_whole());
        }
        for number in [0, 2, 3] {
            assert_eq!(file.object(0, number).unwrap(), wanted.object(0, number).unwrap());
        }
        assert!(
            matches!(file.object(0, 1), Err(crate::Error::Format(it)) if it.rule.id == "TGM-F3")
        );
    }
    assert_eq!(file.metadata(0).unwrap().base.len(), 4);
}

/// An index of tensors of one length cannot put one in the place of another.
#[test]
fn an_index_in_another_order_is_not_used() {
    let many: Vec<FrameDraft> = (0..3_u8).map(|number| tensor(&[number; 9])).collect();
    let mut draft = buffered(&many);
    let offsets = draft.offsets().split_off(3);
    let lengths: Vec<u64> = many.iter().map(FrameDraft::len).collect();
    let wanted = open(&draft.bytes()).unwrap().objects(0).unwrap();
    for swapped in [[2, 1, 0], [0, 2, 1], [0, 0, 1]] {
        let swapped = swapped.map(|at: usize| offsets[at]);
        draft.parts[1] = crate::testing::index(2, &swapped, &lengths);
        let file = open(&draft.bytes()).unwrap();
        let found: Vec<_> = (0..3).map(|number| file.object(0, number).unwrap()).collect();
        assert_eq!(found, wanted);
    }
}

/// The intact part of a truncated message can be read.
#[test]
fn objects_before_a_cut_are_salvaged() {
    for draft in [buffered(&tensors()), streamed(&tensors())] {
        let (bytes, offsets) = (draft.bytes(), draft.offsets());
        let wanted = open(&bytes).unwrap().objects(0).unwrap();
        for len in 24..bytes.len() {
            let source = Source::from_bytes(&bytes[..len]);
            let found = crate::scan(&source, &Limits::default()).unwrap();
            let [damage] = found.damages.as_slice() else { panic!("one message is damaged") };
            let message = Message::salvage(&source, damage, &Limits::default()).unwrap();
            assert_eq!(message.fault(), Some(&damage.fault));
            let ends = draft.parts.iter().zip(&offsets).map(|(part, at)| (part, at + part.len()));
            let whole = ends.filter(|(part, end)| part.kind == 9 && *end <= len as u64).count();
            assert_eq!(message.len(), whole, "{len}");
            for (object, wanted) in message.objects().iter().zip(&wanted) {
                assert_eq!((object.region, object.descriptor), (wanted.region, wanted.descriptor));
            }
        }
    }
}
