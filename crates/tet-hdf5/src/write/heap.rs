//! Global heap collections (section III.E): values of any length.

use super::len_of;

/// A collection is at least this long.
const LEN_MIN: usize = 4096;
/// A collection takes no further object beyond this length.
const LEN_MAX: usize = 1 << 16;
const HEAD_LEN: usize = 16;

/// The collections of a file, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct NewHeaps {
    /// Where the first collection is.
    pub(crate) address: u64,
    pub(crate) bytes: Vec<u8>,
    /// The first byte of the open collection, and how many objects it has.
    open: Option<(usize, u16)>,
}

impl NewHeaps {
    pub(crate) fn new(address: u64) -> NewHeaps {
        NewHeaps { address, ..NewHeaps::default() }
    }

    /// Adds a value of `count` elements; gives the reference to it, of 16 bytes. A value without elements has its
    /// place too, as the HDF5 library does it: a reference that leads nowhere is no text.
    pub(crate) fn add(&mut self, count: usize, value: &[u8]) -> [u8; 16] {
        let mut reference = [0; 16];
        let Ok(count) = u32::try_from(count) else { return reference };
        let is_full = |&(start, _): &(usize, u16)| LEN_MAX < self.bytes.len() - start;
        if self.open.is_some_and(|open| is_full(&open)) {
            self.close();
        }
        let (start, index) = match self.open {
            Some((start, index)) => (start, index.saturating_add(1)),
            None => {
                self.bytes.extend(b"GCOL\x01\0\0\0");
                self.bytes.extend([0; 8]);
                (self.bytes.len() - HEAD_LEN, 1)
            }
        };
        self.open = Some((start, index));
        self.bytes.extend(index.to_le_bytes());
        self.bytes.extend([0; 6]);
        self.bytes.extend(len_of(value.len()).to_le_bytes());
        self.bytes.extend(value);
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let at = self.address.saturating_add(len_of(start));
        let parts = [&count.to_le_bytes()[..], &at.to_le_bytes(), &u32::from(index).to_le_bytes()];
        reference.copy_from_slice(&parts.concat());
        reference
    }

    /// Ends the open collection: what is left of it is a free object.
    pub(crate) fn close(&mut self) {
        let Some((start, _)) = self.open.take() else { return };
        let free = LEN_MIN.saturating_sub(self.bytes.len() - start);
        if HEAD_LEN <= free {
            self.bytes.extend([0; 8]);
            self.bytes.extend(len_of(free).to_le_bytes());
            self.bytes.resize(self.bytes.len() + free - HEAD_LEN, 0);
        } else {
            self.bytes.resize(self.bytes.len() + free, 0);
        }
        let len = len_of(self.bytes.len() - start).to_le_bytes();
        if let Some(place) = self.bytes.get_mut(start + 8..start + HEAD_LEN) {
            place.copy_from_slice(&len);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_are_closed_when_they_are_full() {
        let mut heaps = NewHeaps::new(800);
        let first = heaps.add(3, b"abc");
        assert_eq!(first[..4], [3, 0, 0, 0]);
        assert_eq!(first[4..12], 800_u64.to_le_bytes());
        assert_eq!(first[12..], [1, 0, 0, 0]);
        let empty = heaps.add(0, b"");
        assert_eq!((&empty[..4], &empty[4..12], empty[12]), (&[0; 4][..], &first[4..12], 2));
        heaps.add(1, &vec![1; LEN_MAX]);
        let next = heaps.add(1, b"z");
        assert_eq!(next[12..], [1, 0, 0, 0], "the first object of another collection");
        heaps.close();
        assert_eq!(heaps.bytes.len() % 8, 0);
        assert_eq!(heaps.bytes.windows(4).filter(|it| it == b"GCOL").count(), 2);
    }
}
