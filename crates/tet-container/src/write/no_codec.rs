//! A codec that there is not.

use crate::Error;
use crate::write::storage::LeveledCodec;

/// The error for a codec that files of a kind do not have, or not with a level.
#[must_use]
pub fn no_codec(dataset: &str, encoding: &'static str, asked: LeveledCodec) -> Error {
    let LeveledCodec { codec, level } = asked;
    Error::NoCodec { dataset: dataset.to_owned(), encoding, codec: codec.name(), level }
}
