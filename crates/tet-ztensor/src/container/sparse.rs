//! Sparse tensors of a file, within a budget of memory.

use std::sync::Arc;

use crate::{Check, Layout, Limits, Tensor, ZTensorFile};
use tet_container::read::bands::Cache;

use super::error::of_error;

/// How many times the length of a blob is held while it is taken apart: csr, and coo, whose places
/// are put in order.
const HELD_CSR: u64 = 2;
pub(crate) const HELD_COO: u64 = 3;

/// The sparse tensors of a file, of which the one that was read last stays in memory.
pub(super) fn cache(file: &Arc<ZTensorFile>, budget: u64) -> Arc<Cache> {
    let file = Arc::clone(file);
    Cache::reading(move |position| {
        let tensor = file.tensor(position).ok_or(tet_query::Error::NoMemory { wanted: 0 })?;
        check_budget(&file, tensor, budget)?;
        let sparse = file.read_sparse(tensor, Check::Never);
        sparse.map_err(|error| of_error(&tensor.label(), error))
    })
}

/// Refuses a sparse tensor whose stored elements are more than memory may hold; where only decoding
/// shows how many they are, the reader's limit does.
///
/// # Errors
/// They are more, or the blob cannot be read.
pub(crate) fn check_budget(
    file: &ZTensorFile,
    tensor: Tensor<'_>,
    budget: u64,
) -> tet_query::Result<()> {
    let len = file.sparse_len(tensor).map_err(|error| of_error(&tensor.label(), error))?;
    let is_csr = tensor.layout().is_some_and(Layout::is_csr);
    let times = if is_csr { HELD_CSR } else { HELD_COO };
    let wanted = len.unwrap_or(0).saturating_mul(times);
    if wanted <= budget { Ok(()) } else { Err(tet_query::Error::Budget { wanted, budget }) }
}

/// The bytes that a blob may decode to where its length is not stored, so that the budget holds it.
pub(super) fn decoded_max(budget: u64) -> u64 {
    (budget / HELD_COO).min(Limits::default().sparse_len_max)
}
