//! TODO arg
