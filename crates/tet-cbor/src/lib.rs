//! CBOR (RFC 8949) for tensor files.
//!
//! The reader accepts any encoding: indefinite lengths, over-long heads, text in pieces, keys in
//! any order. It reads once, with bounded memory and depth, and a fault has an offset. The writer
//! uses one form only. [`check_deterministic`] is for formats that demand one form.

#![forbid(unsafe_code)]

mod decode;
mod encode;
mod fault;
mod item;
mod strict;
mod value;

pub use decode::{Head, Items, Reader};
pub use encode::{
    BREAK, MAP_OPEN, array_head, check_value, check_wide_value, encode, map_head, text, unsigned,
};
pub use fault::{Broken, Fault};
pub use item::value;
pub use strict::{Irregular, StrictFault, check_deterministic};
pub use value::Value;

#[cfg(test)]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
