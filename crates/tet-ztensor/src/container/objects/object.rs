//! An object as a dataset.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::objects::{
    ManifestObject, ObjectFile, ObjectLayout, ObjectPart, PartEncoding, Version, rule,
};
use crate::{Error as ReadError, Value};
use tet_codec::Error as Refused;
use tet_format::{DType, ForeignRule, Grid};
use tet_query::{AttrText, ChunkTable, Dataset, Sealed};

use crate::container::{Framed, HELD_COO, blob_seal};
use tet_container::Result;
use tet_container::model::axes::{take_coords, take_dims};
use tet_container::model::item::attr;
use tet_container::read::bands::{Bands, Cache, Stored};
use tet_container::read::slabs::{Slabs, grid, unread};

/// Bands of all sparse tensors of one file, at most.
const BANDS_MAX: u64 = 1 << 16;
/// Shorter parts are decoded at once, however many frames they have.
const FRAMED_LEN_MIN: u64 = 2 << 20;

type Chunks = (Grid, Arc<dyn ChunkTable>);

/// An opened file whose objects become datasets.
pub(super) struct Reading {
    pub(super) file: Arc<ObjectFile>,
    cache: Arc<Cache>,
}

impl Reading {
    /// The objects of a file; `budget` bounds the memory of a sparse one.
    pub(super) fn new(file: &Arc<ObjectFile>, budget: u64) -> Reading {
        let read = Arc::clone(file);
        let cache = Cache::reading(move |position| {
            let object = read.objects().get(position);
            let object = object.ok_or(tet_query::Error::NoMemory { wanted: 0 })?;
            let wanted = read.parts_len(object).unwrap_or(0).saturating_mul(HELD_COO);
            if budget < wanted {
                return Err(tet_query::Error::Budget { wanted, budget });
            }
            let sparse = read.read_sparse(object, budget / HELD_COO);
            sparse.map_err(|error| of_error(&object.name, error))
        });
        Reading { file: Arc::clone(file), cache }
    }

    /// The dataset of the object at a position, and the stored elements of a sparse one.
    pub(super) fn dataset(
        &self,
        at: usize,
        object: &ManifestObject,
    ) -> Result<(Dataset, Option<Arc<Stored>>)> {
        let values = object.values();
        let dtype_name = values.map_or(object.layout_word.as_str(), |part| &part.dtype_name);
        let dtype = values.and_then(|part| DType::from_name(part.element?.name));
        let stored = object.layout.is_sparse().then(|| Stored::new(&self.cache, at));
        let mut fault = self.fault(object);
        let chunks = match (&fault, values) {
            (None, Some(part)) => self.chunks(object, part, stored.as_ref())?,
            _ => None,
        };
        if fault.is_none() && dtype.is_none() {
            let (dataset, dtype) = (object.name.clone(), dtype_name.to_owned());
            fault = Some(tet_query::Error::Opaque { dataset, dtype });
        }
        let (grid, chunks) = chunks.unwrap_or_else(|| unread(&object.shape, None));
        let mut attrs = of_pairs(&object.attributes);
        let dims = take_dims(&mut attrs, object.shape.len());
        let source = values.and_then(|part| self.file.source_of(part));
        let source = source.unwrap_or(self.file.source()).clone();
        let (name, coords) = (object.name.clone(), take_coords(&mut attrs, &dims, &object.shape));
        let dataset = Dataset {
            index: at,
            dtype,
            coords,
            dims,
            attrs,
            fault: fault.map(Arc::new),
            ..Dataset::unknown(source, name, dtype_name, grid, chunks)
        };
        let stored = stored.filter(|_| dataset.fault.is_none());
        Ok((dataset, stored))
    }

    /// Why an object cannot be read, if it cannot.
    fn fault(&self, object: &ManifestObject) -> Option<tet_query::Error> {
        let dataset = object.name.clone();
        let Some(fault) = object.fault else {
            let values = object.values().and_then(|part| part.element);
            let is_packed = values.is_some_and(|element| element.bits < 8);
            let packed = || "sparse tensors of packed elements are not supported".to_owned();
            let packed = (is_packed && object.layout.is_sparse()).then(packed);
            let why = object.unsupported().or(packed)?;
            return Some(tet_query::Error::Unsupported { why: format!("{why}, in {dataset:?}") });
        };
        let fault = fault.into();
        Some(match shard_of(&self.file, object) {
            Some(shard) => tet_query::Error::Shard { dataset, shard, fault },
            None => tet_query::Error::Foreign { dataset, fault },
        })
    }

    /// How a sound object is cut.
    fn chunks(
        &self,
        object: &ManifestObject,
        part: &ObjectPart,
        stored: Option<&Arc<Stored>>,
    ) -> Result<Option<Chunks>> {
        let bits = part.element.map_or(8, |element| element.bits);
        if let Some(stored) = stored {
            let bands = Bands::new(&object.shape, bits / 8, part.stored, stored, BANDS_MAX);
            let bands = bands.sealed(self.seal(part));
            return Ok(Some((bands.grid().clone(), Arc::new(bands))));
        }
        debug_assert_eq!(object.layout, ObjectLayout::Dense);
        self.part_chunks(part, &object.shape, bits)
    }

    /// How the elements of a part are cut, which fill an array of this shape.
    pub(super) fn part_chunks(
        &self,
        part: &ObjectPart,
        shape: &[u64],
        bits: u64,
    ) -> Result<Option<Chunks>> {
        let seal = self.seal(part);
        match part.encoding {
            PartEncoding::Raw => {
                let Some(grid) = grid(shape, bits) else { return Ok(None) };
                let slabs = Slabs::new(grid.clone(), bits, part.stored).sealed(seal);
                Ok(Some((grid, Arc::new(slabs))))
            }
            PartEncoding::Zstd if bits.is_multiple_of(8) => {
                let is_long = part.decoded_len.is_some_and(|len| FRAMED_LEN_MIN <= len);
                let frames = if is_long { self.file.frames(part)? } else { None };
                let framed = Framed::new(shape, bits / 8, part.stored, frames, zstd_rule);
                Ok(framed.map(|(grid, it)| (grid, Arc::new(it.sealed(seal)) as _)))
            }
            PartEncoding::Zstd | PartEncoding::Unknown => Ok(None),
        }
    }

    /// The checksum of the stored bytes of a part: in version 2 that of decoded bytes is one of them only if they
    /// are stored as they are.
    pub(super) fn seal(&self, part: &ObjectPart) -> Option<Sealed> {
        let is_of_stored =
            self.file.version() == Version::One || part.encoding == PartEncoding::Raw;
        let digest = part.digest.filter(|digest| digest.is_known() && is_of_stored)?;
        Some(blob_seal(part.stored, digest, &rule::BLOB_DIGEST))
    }
}

/// The rule that a zstd blob breaks, for an error of its decoder.
const fn zstd_rule(fault: &Refused) -> &'static ForeignRule {
    match fault {
        Refused::Lengths { .. } => &rule::ZSTD_BOUND,
        Refused::TooLong { .. } | Refused::TooShort { .. } => &rule::ZSTD_LEN,
        _ => &rule::ZSTD_FRAMES,
    }
}

/// The error of the format as that of a dataset.
fn of_error(dataset: &str, error: ReadError) -> tet_query::Error {
    let dataset = dataset.to_owned();
    match error {
        ReadError::Io(error) => tet_query::Error::Io(error),
        ReadError::Format(fault) | ReadError::Tensor { fault, .. } => {
            tet_query::Error::Foreign { dataset, fault: fault.into() }
        }
        ReadError::Limit { what, wanted, limit } => tet_query::Error::Limit { what, wanted, limit },
        _ => tet_query::Error::NoMemory { wanted: 0 },
    }
}

/// Attributes as those of datasets.
pub(super) fn of_pairs(pairs: &[(String, Value)]) -> BTreeMap<String, AttrText> {
    pairs.iter().map(|(key, value)| (key.clone(), attr(value.clone()))).collect()
}

/// The shard of an object whose fault is that of a shard.
fn shard_of(file: &ObjectFile, object: &ManifestObject) -> Option<String> {
    let shards = object.parts.iter().filter_map(|part| file.shards().get(part.shard?));
    let mut broken = shards.filter(|shard| shard.fault.is_some());
    broken.next().map(|shard| shard.name.clone())
}
