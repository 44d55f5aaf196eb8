//! Finds the stored bytes of chunks: by key, and through the indexes of shards.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tet_format::Span;
use tet_io::{Compared, Source, Writers};

use crate::array::ArrayMeta;
use crate::error::{Result, broken, fault_in};
use crate::objects::{ObjectId, Objects};
use crate::rule;
use crate::shard::{ShardIndex, ShardLevel};
use crate::store::{DocumentState, KeyPlace, ObjectName, Store};

/// The most bytes of shard indexes that are kept.
const CACHE_LEN_MAX: usize = 128 << 20;

/// Where the stored bytes of a chunk are.
///
/// # Examples
///
/// ```
/// use tet_format::Span;
/// use tet_zarr::{Located, ObjectId};
///
/// let located = Located { object: ObjectId(0), span: Span::EMPTY, inflated_len: None, crc32: None };
/// assert!(located.span.is_empty());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// The source.
    pub object: ObjectId,
    /// The bytes in the source.
    pub span: Span,
    /// The length after inflating (raw deflate), for a deflated member of a zip file.
    pub inflated_len: Option<u64>,
    /// The CRC-32 of the bytes, of those that are inflated, where the zip file has one of these bytes alone.
    pub crc32: Option<u32>,
}

/// Finds the chunks of one array. Threads may share it.
///
/// # Examples
///
/// ```no_run
/// use tet_zarr::{Hierarchy, Store};
///
/// let hierarchy = Hierarchy::open(Store::folder("x.zarr")?)?;
/// let finder = hierarchy.finder(&hierarchy.arrays()[0]);
/// match finder.find(&[0, 0])? {
///     Some(chunk) => println!("{:?} of {:?}", chunk.span, finder.object(chunk.object)?.path()),
///     None => println!("absent: all elements are the fill value"),
/// }
/// # Ok::<(), tet_zarr::Error>(())
/// ```
#[derive(Debug)]
pub struct ChunkFinder {
    array: Arc<ArrayMeta>,
    objects: Objects,
    /// The documents of the array.
    documents: Arc<[DocumentState]>,
    indexes: Mutex<Cache>,
}

/// A shard: its source, its first byte, and its level.
type ShardName = (ObjectId, u64, usize);

#[derive(Debug, Default)]
struct Cache {
    kept: HashMap<ShardName, Arc<ShardIndex>>,
    order: VecDeque<ShardName>,
    byte_count: usize,
    /// Where the shards begin in a zip file that match their CRC-32.
    compared: HashSet<u64>,
}

impl ChunkFinder {
    pub(crate) fn new(
        array: Arc<ArrayMeta>,
        objects: Objects,
        documents: Arc<[DocumentState]>,
    ) -> ChunkFinder {
        ChunkFinder { array, objects, documents, indexes: Mutex::default() }
    }

    /// Checks that the array is still the one whose metadata were read: chunks that are not there are absent from it
    /// alone. The store and the documents that it shares with other arrays are compared unless `compared` has them.
    ///
    /// # Errors
    ///
    /// Returns `ZR-P5` when it is not, and errors of the environment.
    pub fn check_unchanged(&self, compared: &mut Compared) -> Result<()> {
        if self.objects.is_first(compared) {
            self.objects.store().check_in_place()?;
        }
        if compared.is_first(&self.documents) {
            self.objects.store().check_documents(&self.documents)?;
        }
        Ok(())
    }

    /// The array.
    #[must_use]
    pub fn array(&self) -> &Arc<ArrayMeta> {
        &self.array
    }

    /// The objects that it opens.
    #[must_use]
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// The source of a chunk.
    ///
    /// # Errors
    ///
    /// As [`Objects::source`].
    pub fn object(&self, id: ObjectId) -> Result<Source> {
        self.objects.source(id)
    }

    /// Who may have written to the objects of chunks since they were opened.
    #[must_use]
    pub fn writers(&self) -> Writers {
        self.objects.writers()
    }

    /// How many objects are worth opening at the same time: 1 where they are not on a server.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self.objects.store() {
            Store::Folder(folder) => folder.depth(),
            _ => 1,
        }
    }

    /// Opens the objects of chunks at the same time, where they are on a server; which of them are not there, as far as
    /// that was asked.
    ///
    /// # Errors
    ///
    /// As [`ChunkFinder::find`].
    pub fn open_ahead(&self, linear: &[u64]) -> Result<HashSet<ObjectName>> {
        let depth = self.depth();
        if depth <= 1 {
            return Ok(HashSet::new());
        }
        let unit = self.units().into_iter().next().unwrap_or_default();
        let keys = linear.iter().map(|&linear| {
            let coordinate = self.array.grid.coord_of(linear);
            self.array.object_key(&divided(&coordinate, &unit))
        });
        let mut names: Vec<ObjectName> = keys.map(ObjectName::File).collect();
        names.dedup();
        self.objects.open_ahead(&names, depth)
    }

    /// The number of innermost chunks in one unit of each level, the outermost first.
    fn units(&self) -> Vec<Vec<u64>> {
        let mut units = vec![vec![1_u64; self.array.grid.counts().len()]];
        for level in self.array.shards.iter().rev() {
            let inner = units.last().cloned().unwrap_or_default();
            let unit = inner.iter().zip(&level.counts).map(|(a, b)| a.saturating_mul(*b));
            units.push(unit.collect());
        }
        units.reverse();
        units
    }

    /// Where the chunk at a coordinate of [`ArrayMeta::grid`] is; `None` if it is not stored, or
    /// outside of the grid.
    ///
    /// # Errors
    ///
    /// Returns a fault of a shard index, of a zip member or of a reference, and errors of reading.
    pub fn find(&self, coordinate: &[u64]) -> Result<Option<Located>> {
        self.find_but(coordinate, &HashSet::new())
    }

    /// As `find`, without requests for objects that [`ChunkFinder::open_ahead`] found absent.
    ///
    /// # Errors
    ///
    /// As [`ChunkFinder::find`].
    pub fn find_but(
        &self,
        coordinate: &[u64],
        absent: &HashSet<ObjectName>,
    ) -> Result<Option<Located>> {
        let counts = self.array.grid.counts();
        let is_inside = coordinate.len() == counts.len()
            && coordinate.iter().zip(counts).all(|(at, count)| at < count);
        if !is_inside {
            return Ok(None);
        }
        let units = self.units();
        let outermost = units.first().cloned().unwrap_or_default();
        let of_object: Vec<u64> = divided(coordinate, &outermost);
        let key = self.array.object_key(&of_object);
        if !absent.is_empty() && absent.contains(&ObjectName::File(key.clone())) {
            return Ok(None);
        }
        let Some(object) = self.find_object(&key)? else { return Ok(None) };
        let mut located = object;
        for (number, level) in self.array.shards.iter().enumerate() {
            let (Some(outer), Some(unit)) = (units.get(number), units.get(number + 1)) else {
                return Ok(None);
            };
            let rest: Vec<u64> = coordinate.iter().zip(outer).map(|(at, unit)| at % unit).collect();
            let inside = divided(&rest, unit);
            let index = self.index(&key, &located, number, level)?;
            self.check_shard(&key, &located)?;
            let entry = level.entry_number(&inside).unwrap_or(usize::MAX);
            match index.entry(entry).map_err(|fault| fault_in(&key, fault))? {
                Some(span) => located = Located { span, crc32: None, ..located },
                None => return Ok(None),
            }
        }
        Ok(Some(located))
    }

    /// Where a whole object is.
    pub(crate) fn find_object(&self, key: &str) -> Result<Option<Located>> {
        let store = self.objects.store();
        let Some(place) = store.locate(key)? else {
            if let Store::Zip(zip) = store {
                zip.check_names()?;
            }
            return Ok(None);
        };
        let Some((object, len)) = self.objects.locate(&place.name)? else { return Ok(None) };
        let whole = Span::new(0, len).unwrap_or(Span::EMPTY);
        let span = place.part.unwrap_or(whole);
        if !whole.contains(span) {
            let fault = broken(&rule::PAYLOAD_BOUNDS, span.end(), whole.end());
            return Err(fault_in(key, tet_format::ForeignFault { at: span.start(), ..fault }));
        }
        let KeyPlace { inflated_len, crc32, .. } = place;
        Ok(Some(Located { object, span, inflated_len, crc32 }))
    }

    /// The index of a shard, read once while it is kept.
    pub(crate) fn index(
        &self,
        key: &str,
        shard: &Located,
        number: usize,
        level: &ShardLevel,
    ) -> Result<Arc<ShardIndex>> {
        let name = (shard.object, shard.span.start(), number);
        if let Some(index) = self.cache().kept.get(&name) {
            return Ok(index.clone());
        }
        if shard.inflated_len.is_some() {
            return Err(fault_in(key, broken(&rule::ZIP_SHARD, 8, 0)));
        }
        let span = level.index_span(shard.span).map_err(|fault| fault_in(key, fault))?;
        let bytes = self.objects.source(shard.object)?.read_vec(span.start(), span.len())?;
        let index = level.parse(bytes, span, shard.span).map_err(|fault| fault_in(key, fault))?;
        let index = Arc::new(index);
        self.cache().keep(name, index.clone());
        Ok(index)
    }

    /// Compares a shard that is a member of a zip file with its CRC-32, once: its chunks are read one by one.
    fn check_shard(&self, key: &str, shard: &Located) -> Result<()> {
        let (Store::Zip(zip), Some(_)) = (self.objects.store(), shard.crc32) else { return Ok(()) };
        let is_compared = self.cache().compared.contains(&shard.span.start());
        if is_compared || zip.compared_max() < shard.span.len() {
            return Ok(());
        }
        let (name, part, crc32) = (ObjectName::Zip, Some(shard.span), shard.crc32);
        if let Some(fault) =
            zip.check_member(&KeyPlace { name, part, inflated_len: None, crc32 })?
        {
            return Err(fault_in(key, fault));
        }
        self.cache().compared.insert(shard.span.start());
        Ok(())
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        // Every change of the cache is complete at each place where it could panic.
        self.indexes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cache {
    fn keep(&mut self, name: ShardName, index: Arc<ShardIndex>) {
        // An entry costs more than its bytes.
        let cost = |index: &ShardIndex| index.byte_count().saturating_add(256);
        self.byte_count = self.byte_count.saturating_add(cost(&index));
        if let Some(older) = self.kept.insert(name, index) {
            self.byte_count = self.byte_count.saturating_sub(cost(&older));
        } else {
            self.order.push_back(name);
        }
        while CACHE_LEN_MAX < self.byte_count {
            let Some(oldest) = self.order.pop_front() else { break };
            if let Some(index) = self.kept.remove(&oldest) {
                self.byte_count = self.byte_count.saturating_sub(cost(&index));
            }
        }
    }
}

fn divided(coordinate: &[u64], units: &[u64]) -> Vec<u64> {
    let pairs = coordinate.iter().zip(units);
    pairs.map(|(at, unit)| at.checked_div(*unit).unwrap_or(0)).collect()
}
