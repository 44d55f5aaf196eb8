//! The chunk shape of an output: what is asked for, that of the input, or one by the rule.

use tet_query::Dataset;

use crate::chunking::{AUTO_LEN_MAX, auto, filled};
use crate::model::axes;
use crate::write::conversion::ConvertOptions;
use crate::write::storage::{AxisChunk, ChunkChoice, ChunkRule, rules_of};
use crate::{Error, Result};

/// The least bytes, decoded, of chunks whose shape is kept, or of shards of chunks whose shapes are.
pub const KEPT_LEN_MIN: u64 = 8 << 10;
/// The most bytes of such a chunk.
const KEPT_LEN_MAX: u64 = 64 << 20;

/// The chunk shape of an output of this shape where no shape is asked for: that of the chunks that the input
/// stores, cut to the extents, unless these are tiny, or long for the memory that there is; else that of
/// [`auto`]. The shape is that of the dataset, or all but its last axes.
pub fn chosen(
    dataset: &Dataset,
    shape: &[u64],
    element_size: u64,
    options: &ConvertOptions,
) -> Vec<u64> {
    let kept = kept(dataset, shape).filter(|chunk| {
        let len = len_of(chunk, element_size);
        KEPT_LEN_MIN <= len && is_fit(len, options)
    });
    kept.unwrap_or_else(|| auto(shape, element_size))
}

/// The shape of the chunks that the input stores, cut to the extents; `None` where it stores no chunks of this shape.
pub fn kept(dataset: &Dataset, shape: &[u64]) -> Option<Vec<u64>> {
    let stored = dataset.grid.chunk_shape().get(..shape.len())?;
    let is_same = dataset.shape().get(..shape.len()) == Some(shape);
    let chunk = stored.iter().zip(shape).map(|(&chunk, &it)| chunk.min(it)).collect();
    (dataset.chunks.is_chunked() && is_same).then_some(chunk)
}

/// Whether a chunk of this many bytes fits the memory that there is.
pub fn is_fit(chunk_len: u64, options: &ConvertOptions) -> bool {
    chunk_len <= KEPT_LEN_MAX.min(options.execution.memory_budget / 8)
}

/// Bytes of the elements of a chunk of this shape.
pub fn len_of(shape: &[u64], element_size: u64) -> u64 {
    shape.iter().copied().fold(element_size.max(1), u64::saturating_mul)
}

/// The chunk shape that options set for a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskedChunks {
    /// Nothing.
    Kept,
    /// Those of [`auto`].
    Auto,
    /// This shape.
    Shape(Vec<u64>),
}

/// The chunk shape that options set for a dataset of this shape: that of the dataset, or all but its last axes.
///
/// # Errors
/// A shape for this dataset has another number of axes, or an extent of 0.
pub fn chunks_of(
    dataset: &Dataset,
    shape: &[u64],
    element_size: u64,
    options: &ConvertOptions,
) -> Result<AskedChunks> {
    let (mut asked, mut extents) = (AskedChunks::Kept, vec![None; shape.len()]);
    for rule in in_order(&options.tet.chunks, &dataset.name) {
        match &rule.chunks {
            ChunkChoice::Axes(axes) if holds(rule, dataset, shape) => {
                for (name, extent) in axes {
                    let axis = axes::axis(name, &dataset.dims, shape.len());
                    if let Some(place) = axis.and_then(|axis| extents.get_mut(axis)) {
                        *place = Some(*extent);
                    }
                }
            }
            ChunkChoice::Axes(_) => {}
            ChunkChoice::Shape(chunk) if chunk.len() != shape.len() => {
                if rule.dataset.is_some() {
                    return Err(misfit(dataset, shape, chunk));
                }
            }
            whole => {
                asked = match whole {
                    ChunkChoice::Shape(chunk) => AskedChunks::Shape(chunk.clone()),
                    ChunkChoice::Auto => AskedChunks::Auto,
                    ChunkChoice::Kept | ChunkChoice::Axes(_) => AskedChunks::Kept,
                };
                extents.fill(None);
            }
        }
    }
    if extents.iter().any(Option::is_some) {
        let others = match asked {
            AskedChunks::Shape(chunk) => chunk,
            AskedChunks::Kept => kept(dataset, shape).unwrap_or_else(|| auto(shape, element_size)),
            AskedChunks::Auto => auto(shape, element_size),
        };
        asked = AskedChunks::Shape(with_extents(shape, element_size, others, &extents));
    }
    match asked {
        AskedChunks::Shape(chunk_shape) if chunk_shape.contains(&0) => {
            Err(Error::ChunkZero { chunk_shape })
        }
        asked => Ok(asked),
    }
}

/// The error for a chunk shape that has another number of axes than its dataset.
pub fn misfit(dataset: &Dataset, shape: &[u64], chunk_shape: &[u64]) -> Error {
    let (shape, chunk_shape) = (shape.to_vec(), chunk_shape.to_vec());
    Error::ChunkRank { dataset: dataset.name.clone(), shape, chunk_shape }
}

/// The rules that may hold for a dataset, of rules in the order of names: those for all, then those that name it.
fn in_order<'r>(rules: &'r [ChunkRule], name: &str) -> impl Iterator<Item = &'r ChunkRule> {
    let of = |dataset| rules_of(rules, dataset, |rule| rule.dataset.as_deref());
    of(None).iter().chain(of(Some(name)))
}

/// Whether a rule that may hold for a dataset holds for its axes.
pub fn holds(rule: &ChunkRule, dataset: &Dataset, shape: &[u64]) -> bool {
    let is_named = rule.dataset.is_some();
    match &rule.chunks {
        ChunkChoice::Kept | ChunkChoice::Auto => true,
        ChunkChoice::Shape(asked) => asked.len() == shape.len(),
        ChunkChoice::Axes(axes) => {
            let has = |(name, _): &(String, AxisChunk)| {
                axes::axis(name, &dataset.dims, shape.len()).is_some()
            };
            axes.iter().any(has) && (is_named || !is_coordinate(dataset))
        }
    }
}

/// Whether a dataset has the values of its own axis.
fn is_coordinate(dataset: &Dataset) -> bool {
    let leaf = dataset.name.rsplit('/').next().unwrap_or_default();
    dataset.shape().len() == 1 && dataset.dims.first().is_none_or(|dim| dim == leaf)
}

/// A chunk shape with other extents along some axes.
fn with_extents(
    shape: &[u64],
    element_size: u64,
    mut chunk: Vec<u64>,
    extents: &[Option<AxisChunk>],
) -> Vec<u64> {
    let mut is_open = vec![false; shape.len()];
    for (axis, (chunk, extent)) in chunk.iter_mut().zip(extents).enumerate() {
        match extent {
            Some(AxisChunk::Extent(extent)) => *chunk = *extent,
            Some(AxisChunk::Auto) => is_open[axis] = true,
            None => {}
        }
    }
    if is_open.contains(&true) {
        filled(shape, &mut chunk, &is_open, (AUTO_LEN_MAX / element_size.max(1)).max(1));
    }
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_axes_take_what_the_others_leave() {
        let shape = [100, 181, 360];
        let of =
            |extents: [Option<AxisChunk>; 3]| with_extents(&shape, 4, vec![16, 181, 360], &extents);
        let (open, one) = (Some(AxisChunk::Auto), |extent| Some(AxisChunk::Extent(extent)));
        assert_eq!(of([one(1), None, None]), [1, 181, 360]);
        // 1,048,576 elements: the last axis is taken whole, then 29 fit, and 181 is prime: 7 chunks.
        assert_eq!(of([one(100), open, open]), [100, 26, 360]);
        assert_eq!(of([open, one(1), one(1)]), [100, 1, 1]);
        assert_eq!(of([one(1 << 30), open, open]), [1 << 30, 26, 360]);
    }
}
