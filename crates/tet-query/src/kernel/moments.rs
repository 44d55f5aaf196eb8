//! TODO moments
