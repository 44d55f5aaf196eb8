//! TODO histogram
