//! The chunk shape of an output: that of the input, or one by the rule.

use tet_query::Dataset;

use crate::chunking::auto;
use crate::write::conversion::ConvertOptions;
use crate::write::options::ChunkChoice;

/// The least bytes, decoded, of chunks whose shape is kept.
const KEPT_LEN_MIN: u64 = 8 << 10;
/// The most.
const KEPT_LEN_MAX: u64 = 64 << 20;

/// The chunk shape of an output of this shape where no shape is asked for: that of the chunks that the input
/// stores, cut to the extents, unless these are tiny, or long for the memory that there is; else that of
/// [`auto`]. The shape is that of the dataset, or all but its last axes.
pub(crate) fn chosen(
    dataset: &Dataset,
    shape: &[u64],
    element_size: u64,
    options: &ConvertOptions,
) -> Vec<u64> {
    let is_asked = options.tet.chunks == ChunkChoice::Auto;
    let stored = dataset.grid.chunk_shape().get(..shape.len()).unwrap_or_default();
    let is_same = dataset.shape().get(..shape.len()) == Some(shape);
    let chunk: Vec<u64> = stored.iter().zip(shape).map(|(&chunk, &it)| chunk.min(it)).collect();
    let len = chunk.iter().copied().fold(element_size.max(1), u64::saturating_mul);
    let fits =
        (KEPT_LEN_MIN..=KEPT_LEN_MAX.min(options.execution.memory_budget / 8)).contains(&len);
    match dataset.chunks.is_chunked() && is_same && fits && !is_asked {
        true => chunk,
        false => auto(shape, element_size),
    }
}
