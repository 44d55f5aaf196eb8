//! The chunk shape of an output: that of the input, or one by the rule.

use tet_query::Dataset;

use crate::chunking::auto;
use crate::write::conversion::ConvertOptions;
use crate::write::options::ChunkChoice;

/// The least bytes, decoded, of chunks whose shape is kept, or of shards of chunks whose shapes are.
pub(crate) const KEPT_LEN_MIN: u64 = 8 << 10;
/// The most bytes of such a chunk.
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
    let kept = kept(dataset, shape).filter(|chunk| {
        let len = len_of(chunk, element_size);
        KEPT_LEN_MIN <= len && is_fit(len, options) && !is_asked
    });
    kept.unwrap_or_else(|| auto(shape, element_size))
}

/// The shape of the chunks that the input stores, cut to the extents; `None` where it stores no chunks of this shape.
pub(crate) fn kept(dataset: &Dataset, shape: &[u64]) -> Option<Vec<u64>> {
    let stored = dataset.grid.chunk_shape().get(..shape.len())?;
    let is_same = dataset.shape().get(..shape.len()) == Some(shape);
    let chunk = stored.iter().zip(shape).map(|(&chunk, &it)| chunk.min(it)).collect();
    (dataset.chunks.is_chunked() && is_same).then_some(chunk)
}

/// Whether a chunk of this many bytes fits the memory that there is.
pub(crate) fn is_fit(chunk_len: u64, options: &ConvertOptions) -> bool {
    chunk_len <= KEPT_LEN_MAX.min(options.execution.memory_budget / 8)
}

/// Bytes of the elements of a chunk of this shape.
pub(crate) fn len_of(shape: &[u64], element_size: u64) -> u64 {
    shape.iter().copied().fold(element_size.max(1), u64::saturating_mul)
}
