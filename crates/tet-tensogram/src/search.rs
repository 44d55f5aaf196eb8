//! Finds the magic of a message in any bytes.

use crate::preamble::MAGIC;

/// The offset of the first magic.
///
/// The letters of the magic differ, so the byte at the position of the last letter determines how
/// far to skip: most bytes are never read.
pub(crate) fn find_magic(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(stretch) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let [.., last] = *stretch;
        match last {
            b'M' if *stretch == MAGIC => return Some(at),
            b'M' => at += 8,
            b'R' => at += 1,
            b'G' => at += 2,
            b'O' => at += 3,
            b'S' => at += 4,
            b'N' => at += 5,
            b'E' => at += 6,
            b'T' => at += 7,
            _ => at += 8,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_found_where_it_stands(
            pieces in prop::collection::vec("[TENSOGRM]{1,3}|TENSOGRM|TENSOGR|ENSOGRM", 0..12),
        ) {
            let bytes = pieces.concat().into_bytes();
            let wanted = bytes.windows(8).position(|window| window == MAGIC);
            prop_assert_eq!(find_magic(&bytes), wanted);
        }
    }
}
