//! zTensor 0.1.0 files, read where they lie.
//!
//! The format is `tet-ztensor`'s; here its tensors become datasets, its rules findings, and its
//! custom fields attributes. A raw tensor is slabs of one array, a zstd tensor of several frames is
//! a chunk for each of them, a sparse one is bands of rows, anything else is one chunk.

mod attrs;
mod catalog;
mod check;
mod error;
mod framed;
mod parts;
mod seal;
mod sparse;

pub(crate) use self::attrs::{COORDS_KEY, DIMS_KEY, escaped, take_coords, take_dims};
pub(crate) use self::catalog::open;
pub(crate) use self::check::verify;
pub(crate) use self::framed::slab;
pub(crate) use self::sparse::{Bands, Stored, check_budget};
pub(crate) use tet_ztensor::rule::ALL as RULES;
