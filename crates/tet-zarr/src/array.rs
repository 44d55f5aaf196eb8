//! The metadata of one array: what versions 2 and 3 have in common.

mod v2;
mod v3;

pub(crate) use self::v3::check_members;

use std::sync::Arc;

use tet_format::{Grid, Shape};

use crate::codec::ZarrCodec;
use crate::element::{ZarrElement, ZarrOrder};
use crate::error::{Broken, broken, len};
use crate::fill;
use crate::json::Object;
use crate::key::KeyEncoding;
use crate::rule;
use crate::shard::ShardLevel;

/// The attribute in which xarray names the axes of an array of version 2.
pub const DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// The most axes of an array.
pub(crate) const AXES_MAX: usize = 64;

/// The version of the specification that a node follows.
///
/// ```
/// assert!(tet_zarr::ZarrFormat::V2 < tet_zarr::ZarrFormat::V3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ZarrFormat {
    /// Version 2: `.zarray`, `.zgroup`, `.zattrs`.
    V2,
    /// Version 3: `zarr.json`.
    V3,
}

/// The metadata of an array.
#[derive(Clone, Debug)]
pub struct ArrayMeta {
    /// The path in the hierarchy, without a first `/`; empty for the root.
    pub path: String,
    /// The version.
    pub format: ZarrFormat,
    /// The extents.
    pub shape: Shape,
    /// The grid of the innermost chunks, which are stored whole at the edges. If another codec is
    /// applied to whole shards, these are the shards.
    pub grid: Grid,
    /// The extents of an object: a shard, or a chunk if there are no shards.
    pub object_shape: Shape,
    /// The type of the elements.
    pub element: ZarrElement,
    /// The order of the bytes of a stored number, from the type (2) or the codec `bytes` (3).
    pub byte_order: ZarrOrder,
    /// The bytes of the fill value of one element, numbers with the lowest byte first, and those of other elements
    /// without zeros at the end. `None` if it is undefined, which reads as zeros, and for types that are not read.
    pub fill: Option<Vec<u8>>,
    /// Whether chunks that are not stored have elements: version 3 requires a fill value.
    pub has_fill: bool,
    /// The codecs of an innermost chunk, in the order in which a writer applies them.
    ///
    /// For version 2 these are `transpose` for the order F, `bytes`, the filters and the
    /// compressor: filters of version 2 see the bytes as they are stored.
    ///
    /// Arrays of documents that are the same share them.
    pub codecs: Arc<[ZarrCodec]>,
    /// The shards around a chunk, the outermost first.
    pub shards: Vec<ShardLevel>,
    /// The names of the axes, where they have one.
    pub dimension_names: Option<Vec<Option<String>>>,
    /// The attributes.
    pub attributes: Object,
    /// How keys of objects are made.
    pub keys: KeyEncoding,
    /// Findings of this document that leave the array readable.
    pub(crate) notes: Vec<Broken>,
}

impl ArrayMeta {
    /// The array of a `.zarray` and the attributes of its `.zattrs`.
    pub(crate) fn of_v2(path: &str, document: &Object, attributes: Object) -> Result<Self, Broken> {
        v2::read(path, document, attributes)
    }

    /// The array of a `zarr.json`.
    pub(crate) fn of_v3(path: &str, document: &Object) -> Result<Self, Broken> {
        v3::read(path, document)
    }

    /// The bytes of the element that stands for missing values where xarray wrote the array: in
    /// version 2 the fill value, in version 3 the attribute `_FillValue` of a float array. `None`
    /// where there is none.
    #[must_use]
    pub fn missing_value(&self) -> Option<Vec<u8>> {
        match self.format {
            ZarrFormat::V2 if self.attributes.contains_key(DIMENSIONS) => self.fill.clone(),
            ZarrFormat::V2 => None,
            ZarrFormat::V3 => fill::of_attribute(self.attributes.get("_FillValue")?, &self.element),
        }
    }

    /// The length of a decoded chunk in bytes; `None` for types that are not read.
    #[must_use]
    pub fn chunk_len(&self) -> Option<u64> {
        self.grid.chunk_shape().element_count()?.checked_mul(self.element.size()?)
    }

    /// The number of chunks of the innermost grid.
    #[must_use]
    pub fn chunk_count(&self) -> u64 {
        self.grid.chunk_count()
    }

    /// The numbers of objects along each axis.
    pub(crate) fn object_counts(&self) -> Vec<u64> {
        let pairs = self.shape.iter().zip(self.object_shape.iter());
        pairs.map(|(extent, object)| extent.div_ceil(*object)).collect()
    }

    /// The key of the object at a coordinate of objects.
    pub(crate) fn object_key(&self, coordinate: &[u64]) -> String {
        join(&self.path, &self.keys.key(coordinate))
    }
}

/// A path and a name below it.
pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// The extents of a list of numbers.
fn extents(
    value: Option<&serde_json::Value>,
    of: &'static tet_format::ForeignRule,
) -> Result<Shape, Broken> {
    let Some(serde_json::Value::Array(list)) = value else { return Err(broken(of, 0, 0)) };
    if AXES_MAX < list.len() {
        return Err(broken(&rule::LIMIT_AXES, len(list.len()), len(AXES_MAX)));
    }
    let extents = list.iter().map(serde_json::Value::as_u64).collect::<Option<Vec<u64>>>();
    extents.map(Shape::from).ok_or(broken(of, 0, 0))
}

/// The shape of an array.
pub(crate) fn shape_of(document: &Object) -> Result<Shape, Broken> {
    let shape = extents(document.get("shape"), &rule::SHAPE)?;
    let count = shape.element_count().filter(|count| *count < 1 << 63);
    if count.is_none() {
        return Err(broken(&rule::SHAPE, u64::MAX, (1 << 63) - 1));
    }
    Ok(shape)
}

/// The extents of chunks over a shape: above 0, but for axes without elements.
fn chunks_of(value: Option<&serde_json::Value>, shape: &Shape) -> Result<Shape, Broken> {
    let chunks = extents(value, &rule::CHUNKS)?;
    if chunks.rank() != shape.rank() {
        return Err(broken(&rule::CHUNKS, len(chunks.rank()), len(shape.rank())));
    }
    let pairs = chunks.iter().zip(shape.iter());
    let chunks = pairs.map(|(&chunk, &extent)| if extent == 0 { chunk.max(1) } else { chunk });
    let chunks: Shape = chunks.collect();
    if chunks.contains(&0) {
        return Err(broken(&rule::CHUNKS, 0, 1));
    }
    Ok(chunks)
}

/// The padded grid, if its numbers fit.
fn grid_of(shape: &Shape, chunks: &Shape) -> Result<Grid, Broken> {
    Grid::padded(shape.clone(), chunks.clone()).ok_or(broken(&rule::CHUNKS, u64::MAX, 0))
}
