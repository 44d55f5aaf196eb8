//! The bounds of a search for flipped bits.

/// The longest region, in bytes, in which a checksum of 32 bits proves a flipped bit. Other damage of as many bytes looks
/// like one flipped bit with a probability below 1 %.
pub const SUM_LEN_MAX: u64 = 4 << 20;
/// The longest region, in bytes, of which each bit is tried against a digest.
pub const DIGEST_LEN_MAX: u64 = 64 << 10;
/// The most bytes that are digested to try bits, for all regions of a file.
pub const SEARCH_WORK_MAX: u64 = 64 << 30;
