//! The data set of the tour: a year of monthly temperatures on a map of the world.
//!
//! Nothing is measured: a few smooth functions of latitude, season, land and height, the same on
//! every machine.

mod field;
mod npz;

pub(crate) use field::Field;
pub(crate) use npz::write as write_npz;
