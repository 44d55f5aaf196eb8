//! The data set of the demo: a year of monthly temperatures on a map of the world.
//!
//! The data are not measured. They are smooth functions of latitude, season, land and elevation, the
//! same on every machine.

mod field;
mod npz;

pub(crate) use field::Field;
pub(crate) use npz::write as write_npz;
