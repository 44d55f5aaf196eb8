//! Formats results: tables, values, JSON.

pub(crate) mod dtype;
pub(crate) mod hex;
pub(crate) mod json;
pub(crate) mod layout;
pub(crate) mod number;
pub(crate) mod numbers;
pub(crate) mod paint;
pub(crate) mod spark;
pub(crate) mod table;
