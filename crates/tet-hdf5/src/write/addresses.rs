//! Where the heaps, groups, types and datasets of a new file are.

/// Where objects are.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    pub(super) heaps: u64,
    pub(super) groups: Vec<u64>,
    /// Those of all enumerations; of one without a path nobody asks for it.
    pub(super) types: Vec<u64>,
    pub(super) datasets: Vec<u64>,
}
