//! Members of a new zip file, which is what `.npz` and `.zarr.zip` are.

use std::io;

use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime};

use crate::Error;

/// Members from this length on are written with 64-bit sizes.
const LARGE_LEN: u64 = u32::MAX as u64 / 2;
/// Where the bytes of members begin: on a boundary for elements of every type, so that raw ones are
/// used where they lie in a map of the file.
const ALIGN: u16 = 64;

/// How a member of `len` bytes is written. It has no time, so that the file depends on its content alone.
pub(crate) fn member(method: CompressionMethod, len: u64) -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(method)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644)
        .with_alignment(ALIGN)
        .large_file(LARGE_LEN <= len)
}

/// The error of a zip file that cannot be written.
pub(crate) fn fault(error: ZipError) -> Error {
    Error::Write(match error {
        ZipError::Io(error) => error,
        other => io::Error::other(other),
    })
}
