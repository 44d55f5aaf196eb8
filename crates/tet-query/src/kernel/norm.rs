//! TODO norm
