//! One member of structures: the same bytes of every structure.

use crate::error::{Error, Result};
use crate::pipeline::{Room, Stage};

const NAME: &str = "member";

/// Takes the bytes of one member out of every structure.
///
/// ```
/// use tet_codec::{MemberStage, Room, Stage};
///
/// // Bytes 1 and 2 of structures of 4 bytes.
/// let member = MemberStage::new(1, 2, 4).expect("it is inside");
/// let mut out = Vec::new();
/// member.undo(b"abcdefgh", Room::Exact(4), &mut out)?;
/// assert_eq!(out, b"bcfg");
/// # Ok::<(), tet_codec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemberStage {
    start: usize,
    len: usize,
    size: usize,
}

impl MemberStage {
    /// The `len` bytes from byte `start` on of structures of `size` bytes; `None` where they are not inside, or
    /// are none.
    #[must_use]
    pub fn new(start: u64, len: u64, size: u64) -> Option<MemberStage> {
        let is_inside = len != 0 && start.checked_add(len)? <= size;
        let index = |number: u64| usize::try_from(number).ok();
        let member = MemberStage { start: index(start)?, len: index(len)?, size: index(size)? };
        is_inside.then_some(member)
    }

    /// The bytes of the member in one structure; fewer where the structure ends before it.
    #[must_use]
    pub fn member<'a>(&self, structure: &'a [u8]) -> &'a [u8] {
        let bytes = structure.get(self.start..).unwrap_or_default();
        bytes.get(..self.len).unwrap_or(bytes)
    }
}

impl Stage for MemberStage {
    fn name(&self) -> &'static str {
        NAME
    }

    fn written_len(&self, len: u64) -> Option<u64> {
        (len / self.len as u64).checked_mul(self.size as u64)
    }

    fn decoded_max(&self, stored_len: u64) -> u64 {
        stored_len / self.size as u64 * self.len as u64
    }

    fn undo(&self, stored: &[u8], room: Room, out: &mut Vec<u8>) -> Result<()> {
        let (stored_len, decoded_len) =
            (stored.len() as u64, self.decoded_max(stored.len() as u64));
        if !stored.len().is_multiple_of(self.size) {
            return Err(Error::Lengths { codec: NAME, stored_len, decoded_len });
        }
        room.check(NAME, decoded_len)?;
        out.clear();
        let members = stored.chunks_exact(self.size).map(|structure| self.member(structure));
        members.for_each(|member| out.extend_from_slice(member));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_inside_their_structure() {
        for (start, len, size, is_inside) in [
            (0, 1, 1, true),
            (3, 1, 4, true),
            (3, 2, 4, false),
            (0, 0, 4, false),
            (u64::MAX, 1, 4, false),
            (1, u64::MAX, 4, false),
            (0, 1, 0, false),
        ] {
            assert_eq!(
                MemberStage::new(start, len, size).is_some(),
                is_inside,
                "{start} {len} {size}"
            );
        }
    }

    #[test]
    fn every_member_is_the_same_bytes_of_every_structure() {
        let stored: Vec<u8> = (0..60).collect();
        for size in [1_usize, 3, 5, 12] {
            for start in 0..size {
                for len in 1..=size - start {
                    let member = MemberStage::new(start as u64, len as u64, size as u64).unwrap();
                    let mut out = vec![7; 3];
                    let wanted: Vec<u8> = (0..60 / size)
                        .flat_map(|nth| (0..len).map(move |at| (nth * size + start + at) as u8))
                        .collect();
                    let room = Room::Exact(wanted.len() as u64);
                    member.undo(&stored, room, &mut out).unwrap();
                    assert_eq!(out, wanted);
                    assert_eq!(member.written_len(out.len() as u64), Some(60));
                    assert_eq!(member.decoded_max(60), out.len() as u64);
                    assert!(member.undo(&stored, Room::Exact(1_000), &mut out).is_err());
                }
            }
        }
    }

    #[test]
    fn a_cut_structure_is_an_error() {
        let member = MemberStage::new(0, 1, 4).unwrap();
        let mut out = Vec::new();
        assert!(member.undo(&[0; 7], Room::AtMost(9), &mut out).is_err());
        assert!(member.undo(&[0; 8], Room::AtMost(1), &mut out).is_err());
        assert!(member.undo(&[0; 8], Room::AtMost(2), &mut out).is_ok());
    }
}
