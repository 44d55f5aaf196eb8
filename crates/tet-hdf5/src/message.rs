//! The messages that describe a dataset (section IV.A.2).

pub(crate) mod attribute;
pub(crate) mod datatype;
pub(crate) mod fill;
pub(crate) mod filters;
pub(crate) mod layout;
pub(crate) mod link;
pub(crate) mod space;
