//! The chunks of an array: found when they are asked for, decoded by its codecs.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

use crate::{ArrayMeta, ChunkFinder, ObjectId, ObjectName, ShardLevel, ZarrCodec, ZarrOrder, rule};
use serde_json::Value;
use tet_codec::{ConfigValue, Decode, ElementLayout, FillValue, MemberStage, Pipeline, Stage};
use tet_format::{DType, ForeignFault, ForeignRule, Grid, Shape};
use tet_io::Compared;
use tet_query::{ChunkPlace, ChunkTable, Decoder, Error as QueryError, StoredCompression};

use super::shards::{self, ShardStage};
use super::zipped::{self, Pipelines};
use tet_container::read::touched::Touched;

/// The chunks of an array.
pub(super) struct Chunks {
    pub(super) name: String,
    pub(super) finder: ChunkFinder,
    pub(super) chunk_len: u64,
    pub(super) pipelines: Arc<Pipelines>,
    pub(super) fill: FillValue,
    pub(super) touched: Touched,
}

/// The codecs that make chunks shorter.
const COMPRESSING: [&str; 9] =
    ["blosc", "bz2", "gzip", "lz4", "lzma", "pcodec", "zfpy", "zlib", "zstd"];

impl Chunks {
    /// Where a chunk is, unless it is in an object that is known to be absent.
    fn place(&self, linear: u64, absent: &HashSet<ObjectName>) -> crate::Result<ChunkPlace> {
        let array = self.finder.array();
        let coordinate = array.grid.coord_of(linear);
        let Some(found) = self.finder.find_but(&coordinate, absent)? else {
            if !array.has_fill {
                let fault = ForeignFault { rule: &rule::NO_FILL, at: 0, found: 0, wanted: 0 };
                return Err(crate::Error::Fault { fault, key: array.path.clone() });
            }
            return Ok(ChunkPlace::absent(self.chunk_len));
        };
        let (codec, row) = self.pipelines.codec_of(&found, self.finder.objects().store());
        let name = self.finder.objects().name(found.object);
        // A file that lost its bytes must not pass for an absent one, whose elements are the fill value.
        if found.span.is_empty() && self.chunk_len != 0 {
            let (rule, at) = (&rule::PAYLOAD_DECODES, found.span.start());
            let fault = ForeignFault { rule, at, found: 0, wanted: self.chunk_len };
            let key = match name {
                Some(ObjectName::File(key) | ObjectName::Inline(key)) => key,
                _ => String::new(),
            };
            return Err(crate::Error::Fault { fault, key });
        }
        let object = match name {
            // The zip file is the file of the catalog.
            Some(ObjectName::Zip) => 0,
            _ => found.object.0.saturating_add(1),
        };
        Ok(ChunkPlace { object, codec, row, ..ChunkPlace::new(found.span, self.chunk_len) })
    }

    fn check(&self, number: u32) -> crate::Result<()> {
        self.finder.objects().check_unchanged(ObjectId(number))
    }

    /// Checks the objects by `check`, and that the array has its metadata still: what is not there is an absent chunk of
    /// these alone.
    fn check_objects(
        &self,
        compared: &mut Compared,
        check: impl FnOnce() -> crate::Result<()>,
    ) -> tet_query::Result<()> {
        let unchanged = check().and_then(|()| self.finder.check_unchanged(compared));
        unchanged.map_err(|error| of_array(&self.name, error))
    }
}

impl ChunkTable for Chunks {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        let first = out.len();
        let of_array = |error| of_array(&self.name, error);
        let absent = self.finder.open_ahead(linear).map_err(of_array)?;
        for &linear in linear {
            out.push(self.place(linear, &absent).map_err(of_array)?);
        }
        self.touched.add(out.get(first..).unwrap_or_default());
        Ok(())
    }

    fn is_chunked(&self) -> bool {
        true
    }

    fn compression(&self) -> Option<StoredCompression> {
        let codecs = &self.finder.array().codecs;
        let codec = codecs.iter().find(|it| COMPRESSING.contains(&it.name.as_str()))?;
        let is_deflate = ["gzip", "zlib"].contains(&codec.name.as_str());
        let level = codec.number("level").and_then(|it| u32::try_from(it).ok());
        let deflate_level = level.filter(|level| is_deflate && *level <= 9);
        let is_shuffled = !is_deflate || codecs.iter().any(|it| it.name == "shuffle");
        Some(StoredCompression { deflate_level, is_shuffled })
    }

    fn shard_shape(&self) -> Option<&Shape> {
        let array = self.finder.array();
        (!array.shards.is_empty()).then_some(&array.object_shape)
    }

    fn codecs_of_objects(&self) -> Option<Vec<String>> {
        let is_far = self.finder.objects().store().is_far();
        is_far.then(|| vec![self.pipelines.plain.full_name().to_owned()])
    }

    fn each_stored(
        &self,
        take: &mut dyn FnMut(u64) -> tet_query::Result<bool>,
    ) -> tet_query::Result<bool> {
        let mut failed = None;
        let walked = crate::each_stored(&self.finder, &mut |coordinate| {
            let Some(linear) = self.finder.array().grid.linear(coordinate) else { return true };
            take(linear).unwrap_or_else(|error| {
                failed = Some(error);
                false
            })
        });
        match failed {
            Some(error) => Err(error),
            None => walked.map(|()| true).map_err(|error| of_array(&self.name, error)),
        }
    }

    fn rule_of(&self, fault: &tet_codec::Error) -> Option<&'static ForeignRule> {
        rule_of(fault)
    }

    fn object(&self, number: u32) -> tet_query::Result<Option<tet_io::Source>> {
        let Some(id) = number.checked_sub(1) else { return Ok(None) };
        let source = self.finder.object(ObjectId(id));
        source.map(Some).map_err(|error| of_array(&self.name, error))
    }

    fn writers(&self) -> tet_io::Writers {
        self.finder.writers()
    }

    fn check_unchanged(&self) -> tet_query::Result<()> {
        let depth = self.finder.depth();
        let compared = &mut Compared::default();
        self.check_objects(compared, || {
            self.touched.check_recent(depth, |number| self.check(number))
        })
    }

    fn check_all_unchanged(&self, compared: &mut Compared) -> tet_query::Result<()> {
        let depth = self.finder.depth();
        self.check_objects(compared, || self.touched.check_all(depth, |number| self.check(number)))
    }

    fn decoder(&self, _linear: u64, place: &ChunkPlace) -> Decoder<'_> {
        if place.is_absent() {
            return Decoder::Shared(&self.fill);
        }
        self.pipelines.decoder(place)
    }
}

/// The rule that a payload breaks which does not decode with this error.
pub(super) fn rule_of(fault: &tet_codec::Error) -> Option<&'static ForeignRule> {
    match fault {
        tet_codec::Error::Checksum { codec } if *codec == zipped::CHECKSUM => {
            Some(&rule::ZIP_CHECKSUM)
        }
        tet_codec::Error::Checksum { .. } => Some(&rule::PAYLOAD_CHECKSUM),
        _ => None,
    }
}

/// An error of the reader, as one of the array.
pub(super) fn of_array(name: &str, error: crate::Error) -> QueryError {
    match error {
        crate::Error::Io(error) => QueryError::Io(error),
        // As for a file that is still open: the file has no fault.
        crate::Error::Fault { fault, key } if std::ptr::eq(fault.rule, &rule::CHANGED) => {
            QueryError::Io(tet_io::Error::Changed { path: key.into() })
        }
        crate::Error::Fault { fault, key } => {
            QueryError::Shard { dataset: name.to_owned(), shard: key, fault }
        }
    }
}

/// The elements of a dataset, as they are made of those of an array.
pub(super) struct Made<'a> {
    /// Bytes of what is made of an element.
    pub(super) size: u64,
    /// Which bytes of an element it is made of, where these are not all.
    pub(super) member: Option<MemberStage>,
    /// The type of its numbers, if it is numbers, and the order of their bytes.
    pub(super) numbers: Option<(DType, ZarrOrder)>,
    pub(super) array: &'a ArrayMeta,
}

/// The decoders of the last array that was looked at. Arrays whose documents are the same have the same.
#[derive(Default)]
pub(super) struct LastPipelines(RefCell<Option<LastMade>>);

struct LastMade {
    codecs: Arc<[ZarrCodec]>,
    size: u64,
    numbers: Option<(DType, ZarrOrder)>,
    pipelines: Arc<Pipelines>,
}

impl LastPipelines {
    /// The decoders of chunks; an error is why there are none.
    pub(super) fn pipelines(&self, made: &Made<'_>) -> Result<Arc<Pipelines>, String> {
        if made.member.is_some() {
            return pipelines(made).map(Arc::new);
        }
        let (codecs, size, numbers) = (&made.array.codecs, made.size, made.numbers);
        // Codecs are shared by arrays of one document alone, which have all else in common too.
        let is_same = |last: &&LastMade| {
            Arc::ptr_eq(&last.codecs, codecs) && last.size == size && last.numbers == numbers
        };
        if let Some(last) = self.0.borrow().as_ref().filter(is_same) {
            return Ok(Arc::clone(&last.pipelines));
        }
        let (codecs, pipelines) = (Arc::clone(codecs), Arc::new(pipelines(made)?));
        let last = LastMade { codecs, size, numbers, pipelines: Arc::clone(&pipelines) };
        *self.0.borrow_mut() = Some(last);
        Ok(pipelines)
    }
}

/// The decoders of chunks; an error is why there are none.
fn pipelines(made: &Made<'_>) -> Result<Pipelines, String> {
    let extents = made.array.grid.chunk_shape();
    let (filters, axes) = undone(&made.array.codecs, extents, made)?;
    let layout = ElementLayout::new(made.size).with_order(&axes, extents);
    let mut layout = layout.ok_or("its order of axes is no permutation")?;
    if let Some((dtype, ZarrOrder::Big)) = made.numbers {
        let width = number_width(dtype);
        layout = layout.with_width(width).ok_or("its byte order is not supported")?;
    }
    let member = made.member.map(|member| Arc::new(member) as Arc<dyn Stage>);
    let stages: Vec<Arc<dyn Stage>> = member.into_iter().chain(filters).collect();
    Ok(Pipelines::new(stages, layout))
}

/// The stages of codecs, and which axis of the array each stored axis is.
type Undone = (Vec<Arc<dyn Stage>>, Vec<usize>);

/// The decoders of the codecs of chunks of these extents.
fn undone(codecs: &[ZarrCodec], extents: &Shape, made: &Made<'_>) -> Result<Undone, String> {
    let mut filters: Vec<Arc<dyn Stage>> = Vec::new();
    let mut axes: Vec<usize> = (0..extents.len()).collect();
    // Codecs of numbers, before those become bytes, take them in the byte order of this machine.
    let mut are_numbers = true;
    for codec in codecs {
        if codec.is_core("transpose") {
            let order = order(codec, extents.len()).filter(|_| filters.is_empty());
            let turned = order.and_then(|it| it.iter().map(|&at| axes.get(at).copied()).collect());
            axes = turned.ok_or("its order of axes is not supported")?;
        } else if codec.is_core("bytes") {
            are_numbers = false;
            if made.array.byte_order == ZarrOrder::Big && !filters.is_empty() {
                return Err("filters of big-endian numbers are not supported".to_owned());
            }
        } else if codec.is_core(shards::NAME) {
            let is_first = are_numbers && filters.is_empty() && axes.iter().is_sorted();
            let shard = if is_first { shard(codec, extents, made)? } else { None };
            let shard = shard.ok_or("its shards are behind codecs that are not supported there")?;
            filters.push(Arc::new(shard));
            are_numbers = false;
        } else {
            // It is written from numbers, and states their type itself.
            are_numbers &= codec.name != "numcodecs.zfpy";
            filters.extend(stage(codec)?);
        }
    }
    if are_numbers {
        return Err("no codec makes bytes of its numbers".to_owned());
    }
    Ok((filters, axes))
}

/// The decoder of shards of these extents; `None` where their bytes cannot be counted.
fn shard(
    codec: &ZarrCodec,
    extents: &Shape,
    made: &Made<'_>,
) -> Result<Option<ShardStage>, String> {
    let array = made.array;
    let (level, chunk, codecs) =
        ShardLevel::of_codec(codec, extents).map_err(|fault| fault.to_string())?;
    let (stages, axes) = undone(&codecs, &chunk, made)?;
    let Some(size) = array.element.size() else { return Ok(None) };
    let layout = ElementLayout::new(size).with_order(&axes, &chunk);
    let layout = layout.ok_or("its order of axes is no permutation")?;
    // The bytes of elements have their order when the whole shard is there.
    let mut fill = array.fill.clone().unwrap_or_default();
    if let (Some((dtype, ZarrOrder::Big)), None) = (made.numbers, made.member) {
        let width = usize::try_from(number_width(dtype)).unwrap_or(1);
        fill.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
    let fill = FillValue::padded(&fill, size).ok_or("its fill value has no bytes")?;
    let pipeline = Pipeline::new(stages, layout);
    let grid = Grid::new(extents.clone(), chunk);
    Ok(grid.and_then(|grid| ShardStage::new(level, grid, size, pipeline, fill)))
}

/// The decoder of a codec of bytes; `None` for a codec that changes nothing.
pub(super) fn stage(codec: &ZarrCodec) -> Result<Option<Arc<dyn Stage>>, String> {
    let config = |key: &str| config(codec, key);
    tet_codec::numcodecs_stage(&codec.name, &config).map_err(|refused| refused.to_string())
}

/// Bytes of one number: complex ones are two.
pub(super) fn number_width(dtype: DType) -> u64 {
    let size = dtype.size().unwrap_or(1);
    if matches!(dtype, DType::Complex64 | DType::Complex128) {
        return size / 2;
    }
    size
}

/// The permutation of a transposition; `C` and `F` are names of two.
fn order(codec: &ZarrCodec, rank: usize) -> Option<Vec<usize>> {
    match codec.configuration.get("order")? {
        Value::String(name) if name == "C" => Some((0..rank).collect()),
        Value::String(name) if name == "F" => Some((0..rank).rev().collect()),
        Value::Array(order) => order.iter().map(|at| usize::try_from(at.as_u64()?).ok()).collect(),
        _ => None,
    }
}

fn config(codec: &ZarrCodec, key: &str) -> Option<ConfigValue> {
    match codec.configuration.get(key)? {
        Value::Number(number) => number.as_f64().map(ConfigValue::Number),
        Value::Bool(truth) => Some(ConfigValue::Number(f64::from(u8::from(*truth)))),
        Value::String(text) => Some(ConfigValue::Text(text.clone())),
        _ => None,
    }
}
