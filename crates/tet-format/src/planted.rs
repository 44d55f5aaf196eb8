//! Bugs planted on purpose, to see whether the tests notice them.
//!
//! A build with `--cfg planted` has the bug that `TET_PLANTED` names. Every other build has none,
//! and its compiler leaves the question out. `cargo xtask planted` plants them one by one.

/// Whether this bug is planted.
#[cfg(not(planted))]
#[must_use]
#[inline(always)]
pub const fn is(_bug: &str) -> bool {
    false
}

/// Whether this bug is planted.
#[cfg(planted)]
#[must_use]
pub fn is(bug: &str) -> bool {
    use std::string::String;
    use std::sync::OnceLock;
    static PLANTED: OnceLock<String> = OnceLock::new();
    PLANTED.get_or_init(|| std::env::var("TET_PLANTED").unwrap_or_default()) == bug
}
