//! Another reader's opinion.

use proptest::prelude::*;

use crate::{Reader, value};

/// Whether another reader finds one well-formed item, and how long it is.
fn other(bytes: &[u8]) -> Option<usize> {
    let mut decoder = minicbor::Decoder::new(bytes);
    decoder.skip().ok().map(|()| decoder.position())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// We are stricter than the other reader and never laxer, and agree where an item ends.
    #[test]
    fn items_end_where_another_reader_ends_them(
        bytes in prop::collection::vec(
            prop_oneof![any::<u8>(), prop::sample::select(&[0x9F_u8, 0xBF, 0xFF, 0x81, 0x7F, 0x60][..])],
            1..24,
        ),
    ) {
        let mut reader = Reader::new(&bytes, 0, 0, 128);
        let skipped = reader.skip(0).map(|()| reader.at());
        // The other reader looks at text while it skips it.
        if let (Ok(len), None) = (skipped, reader.bad_text()) {
            prop_assert_eq!(other(&bytes), Some(len));
        }
        let mut reader = Reader::new(&bytes, 0, 0, 128);
        let decoded = value(&mut reader, 0, &mut 1000);
        prop_assert_eq!(decoded.is_ok(), skipped.is_ok());
        if let (Ok(Some(_)), Ok(len)) = (decoded, skipped) {
            prop_assert_eq!(reader.at(), len);
        }
    }
}
