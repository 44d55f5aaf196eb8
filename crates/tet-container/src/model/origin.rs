//! Attributes by which a file that was converted can be made again, byte for byte.
//!
//! A header of safetensors in another order than that of the reference library, and the metadata of the index of a
//! model in several files, are kept by other containers. They are about the file that was read: what is written of
//! its datasets, and comparisons, leave them out.

/// The attribute under which other containers store a header that is not canonical.
pub const HEADER_KEY: &str = "safetensors:header";
/// The attribute that holds the metadata of the index of a model in several files, as an object of JSON.
pub const INDEX_KEY: &str = "safetensors:index";
/// The attribute that holds the order of the strings of a model in several files, where they do not stand by key.
pub const ORDER_KEY: &str = "safetensors:order";

/// Whether an attribute is about the file that its file was made of.
pub fn is_of_origin(key: &str) -> bool {
    [HEADER_KEY, INDEX_KEY, ORDER_KEY].contains(&key)
}
