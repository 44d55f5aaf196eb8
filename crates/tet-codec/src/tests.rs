//! Tests of several modules: decoders by their tags, chunks of other libraries, and hostile bytes.

mod cases;
mod hostile;

use tet_format::Codec;

use crate::{Decode, decoder};

#[test]
fn tags_find_their_decoders() {
    assert_eq!(decoder(Codec::Raw).map(Decode::name), Some("raw"));
    #[cfg(feature = "zstd")]
    assert_eq!(decoder(Codec::Zstd).map(Decode::name), Some("zstd"));
    assert!(decoder(Codec::Unknown(7)).is_none());
}
