//! TODO collect
