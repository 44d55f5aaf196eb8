//! From the elements of the input to those of `.tet`: byte order and width, never the value.

use super::descr::Descr;

/// Replaces `out` by the elements of `input` as `.tet` stores them.
pub(crate) fn convert_into(descr: &Descr, input: &[u8], out: &mut Vec<u8>) {
    out.clear();
    if descr.is_widened() {
        // int8 is the one dtype that grows; its sign fills the upper byte.
        out.extend(input.iter().flat_map(|&byte| i16::from(byte.cast_signed()).to_le_bytes()));
    } else {
        out.extend_from_slice(input);
        order(descr, out);
    }
}

/// Puts elements into little endian, in place; they must keep their width.
pub(crate) fn order(descr: &Descr, elements: &mut [u8]) {
    if let Some(swapped) = descr.swapped() {
        swapped.in_place(elements);
    }
}

#[cfg(test)]
mod tests {
    use super::super::literal::Literal;
    use super::*;

    fn converted(descr: &str, input: &[u8]) -> Vec<u8> {
        let descr = Descr::from_literal(&Literal::Text(descr.to_owned())).unwrap();
        let mut out = vec![99];
        convert_into(&descr, input, &mut out);
        out
    }

    #[test]
    fn bits_are_kept() {
        assert_eq!(converted("<f4", &[1, 2, 3, 4]), [1, 2, 3, 4]);
        assert_eq!(converted(">f4", &[1, 2, 3, 4]), [4, 3, 2, 1]);
        assert_eq!(converted(">u2", &[1, 2, 3, 4]), [2, 1, 4, 3]);
        assert_eq!(converted(">i8", &[1, 2, 3, 4, 5, 6, 7, 8]), [8, 7, 6, 5, 4, 3, 2, 1]);
        // Each part of a complex number by itself.
        assert_eq!(converted(">c8", &[1, 2, 3, 4, 5, 6, 7, 8]), [4, 3, 2, 1, 8, 7, 6, 5]);
        // A signaling NaN with a payload, and a negative zero.
        assert_eq!(converted(">f4", &[0x7f, 0xa0, 0, 1]), [1, 0, 0xa0, 0x7f]);
        assert_eq!(converted(">f2", &[0x80, 0]), [0, 0x80]);
        assert_eq!(converted("|b1", &[0, 1, 1]), [0, 1, 1]);
    }

    #[test]
    fn every_int8_widens_to_its_value() {
        let input = (0..=255).collect::<Vec<u8>>();
        let out = converted("|i1", &input);
        for (byte, wide) in input.iter().zip(out.as_chunks::<2>().0) {
            assert_eq!(i16::from_le_bytes(*wide), i16::from(*byte as i8));
        }
    }
}
