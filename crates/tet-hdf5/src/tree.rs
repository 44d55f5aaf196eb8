//! B-trees of both versions (sections III.A and III.C).

pub(crate) mod v1;
pub(crate) mod v2;
