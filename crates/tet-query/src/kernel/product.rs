//! TODO product
