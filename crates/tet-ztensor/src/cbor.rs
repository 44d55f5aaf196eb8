//! CBOR (RFC 8949), as far as an index has it.

mod decode;
mod encode;
mod item;

pub(crate) use decode::{Head, Items, Reader};
pub(crate) use encode::{
    BREAK, MAP_OPEN, array_head, check_value, encode, map_head, text, unsigned,
};
pub(crate) use item::value;
