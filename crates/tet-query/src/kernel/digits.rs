//! Selection by rank over many passes: how often each next digit of a key occurs.

/// What earlier passes found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pass {}
