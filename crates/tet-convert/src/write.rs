//! The way to an output that all containers share: options, a conversion, elements block by block, a
//! new file.

pub(crate) mod archive;
pub(crate) mod array;
pub(crate) mod axes;
pub(crate) mod bands;
pub(crate) mod chunk_shape;
pub(crate) mod conversion;
pub(crate) mod csv;
pub(crate) mod file;
pub(crate) mod fill;
pub(crate) mod groups;
pub(crate) mod joined;
pub(crate) mod json;
pub(crate) mod label_range;
pub(crate) mod labels;
pub(crate) mod left_out;
pub(crate) mod netcdf;
pub(crate) mod npy;
pub(crate) mod options;
pub(crate) mod rechunk;
pub(crate) mod storage;
pub(crate) mod stream;
pub(crate) mod text;
pub(crate) mod texts;
pub(crate) mod whole_chunks;
pub(crate) mod write_option;
