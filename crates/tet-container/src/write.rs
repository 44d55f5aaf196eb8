//! The way to an output that all containers share: options, a conversion, elements block by block, a
//! new file.

pub mod archive;
pub mod array;
pub mod axes;
pub mod bands;
mod chosen;
pub mod chunk_shape;
pub mod conversion;
pub mod csv;
pub mod file;
pub mod fill;
pub mod groups;
pub mod joined;
pub mod json;
pub mod label_range;
pub mod labels;
pub mod left_out;
pub mod netcdf;
pub mod no_codec;
pub mod npy;
pub mod options;
pub mod rechunk;
pub mod storage;
pub mod stream;
pub mod text;
pub mod texts;
pub mod whole_chunks;
pub mod write_option;
