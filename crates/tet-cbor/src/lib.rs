//! CBOR (RFC 8949) as tensor files have it.
//!
//! What comes in is read in any dialect: indefinite lengths, over-long heads, text in pieces, keys in
//! any order. It is read once, from bounded memory, to a bounded depth, and a fault says where it is.
//! What goes out is written in one way only.

#![forbid(unsafe_code)]

mod decode;
mod encode;
mod fault;
mod item;
mod value;

pub use decode::{Head, Items, Reader};
pub use encode::{
    BREAK, MAP_OPEN, array_head, check_value, check_wide_value, encode, map_head, text, unsigned,
};
pub use fault::{Broken, Fault};
pub use item::value;
pub use value::Value;

#[cfg(test)]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
