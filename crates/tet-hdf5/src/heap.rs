//! Heaps: names of old groups, objects of new ones, and values of variable length (sections III.D to III.G).

pub(crate) mod fractal;
pub(crate) mod global;
pub(crate) mod local;
