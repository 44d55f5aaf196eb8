//! Datasets of text on their way into a file: chunk by chunk, those at the edges filled up.

use tet_format::{DType, Grid};
use tet_query::{AxisSlice, Dataset, Hyperslab, Texts};

use crate::{Error, Note, Result, chunking};

/// Bytes that a text counts for where the shape of chunks is chosen.
pub const TEXT_LEN: u64 = 64;
/// The fewest texts of a chunk whose shape is that of the input.
const KEPT_COUNT_MIN: u64 = 1 << 10;
/// The most bytes that these are in the input, or their places, and as many texts.
const KEPT_LEN_MAX: u64 = 64 << 20;

/// The attribute by which xarray decodes bytes.
const ENCODING_KEY: &str = "_Encoding";

/// The shape, the axes and the attributes of a dataset of text, as a dataset of numbers, which are not read.
pub fn outline(dataset: &Dataset) -> Dataset {
    let mut outline = Dataset { dtype: Some(DType::UInt8), text: None, ..dataset.clone() };
    // Texts are no bytes any more: xarray refuses to decode them once more.
    outline.attrs.remove(ENCODING_KEY);
    outline
}

/// The chunk shape of texts where none is asked for: that of the input, so that each of its chunks is decoded
/// once, unless these are tiny or long; else of about 65,536 texts, or fewer long ones.
pub fn chunk_shape(dataset: &Dataset) -> Vec<u64> {
    let size = longest(dataset);
    let chunk = dataset.grid.chunk_shape().iter().zip(dataset.shape());
    let chunk: Vec<u64> = chunk.map(|(&chunk, &extent)| chunk.min(extent)).collect();
    let count = chunk.iter().copied().fold(1, u64::saturating_mul);
    let is_short = count.saturating_mul(size.max(16)) <= KEPT_LEN_MAX;
    if dataset.chunks.is_chunked() && KEPT_COUNT_MIN <= count && is_short {
        return chunk;
    }
    auto_shape(dataset)
}

/// The chunk shape of about 65,536 texts, or fewer long ones.
pub fn auto_shape(dataset: &Dataset) -> Vec<u64> {
    chunking::auto(dataset.shape(), longest(dataset).max(TEXT_LEN))
}

/// Bytes of the longest text, where all have one length.
fn longest(dataset: &Dataset) -> u64 {
    match &dataset.text {
        Some(Texts::Elements { bytes, .. }) => bytes.shape().last().copied().unwrap_or(1),
        _ => 1,
    }
}

/// The part of a chunk that is inside of a dataset; `None` where no element is.
pub fn inside(dataset: &Dataset, first: &[u64], chunk: &[u64]) -> Option<Hyperslab> {
    let axes = first.iter().zip(chunk).zip(dataset.shape());
    let axes = axes.map(|((&start, &chunk), &extent)| {
        let stop = start.saturating_add(chunk).min(extent);
        (start < stop).then(|| AxisSlice { start, stop, ..AxisSlice::whole(extent) })
    });
    Hyperslab::new(axes.collect::<Option<_>>()?, dataset.shape())
}

/// Calls `visit` with the coordinate of every chunk, and the part of it that is inside of the dataset.
///
/// # Errors
/// The chunks cannot be counted, or `visit` fails.
pub fn for_each_chunk(
    dataset: &Dataset,
    chunk_shape: &[u64],
    visit: &mut dyn FnMut(&[u64], &Hyperslab) -> Result<()>,
) -> Result<()> {
    let memory = || Error::Memory { dataset: dataset.name.clone() };
    let grid = Grid::new(dataset.grid.shape().clone(), chunk_shape.into()).ok_or_else(memory)?;
    let (mut at, mut first) = (vec![0; grid.rank()], vec![0; grid.rank()]);
    for _ in 0..grid.chunk_count() {
        grid.origin(&at, &mut first);
        let slab = inside(dataset, &first, chunk_shape).ok_or_else(memory)?;
        visit(&at, &slab)?;
        grid.advance(&mut at);
    }
    Ok(())
}

/// The items of a whole chunk, of which `items` are those inside of the array; `fill` is outside.
///
/// # Errors
/// Memory cannot hold a chunk.
pub fn filled<T: Clone>(
    dataset: &Dataset,
    items: Vec<T>,
    extents: &[u64],
    chunk_shape: &[u64],
    fill: T,
) -> Result<Vec<T>> {
    if extents == chunk_shape {
        return Ok(items);
    }
    let memory = || Error::Memory { dataset: dataset.name.clone() };
    let count = chunk_shape.iter().try_fold(1_u64, |count, &extent| count.checked_mul(extent));
    let count = count.and_then(|count| usize::try_from(count).ok()).ok_or_else(memory)?;
    let mut chunk = Vec::new();
    chunk.try_reserve_exact(count).map_err(|_| memory())?;
    chunk.resize(count, fill);
    let mut at = vec![0; extents.len()];
    for item in items {
        let place = at.iter().zip(chunk_shape).fold(0, |place, (&at, &extent)| place * extent + at);
        let place = usize::try_from(place).ok().and_then(|place| chunk.get_mut(place));
        *place.ok_or_else(memory)? = item;
        for (at, &extent) in at.iter_mut().zip(extents).rev() {
            *at += 1;
            if *at < extent {
                break;
            }
            *at = 0;
        }
    }
    Ok(chunk)
}

/// Counts the texts of a dataset that are not all of what they were, or will not be.
#[derive(Debug)]
pub struct TextCounts<'d> {
    pub(super) dataset: &'d Dataset,
    replaced: u64,
    cut: u64,
}

impl<'d> TextCounts<'d> {
    /// No texts of the dataset yet.
    pub const fn new(dataset: &'d Dataset) -> TextCounts<'d> {
        TextCounts { dataset, replaced: 0, cut: 0 }
    }

    /// Counts some texts.
    pub fn add(&mut self, texts: &[String]) {
        let count = |wanted: char| {
            u64::try_from(texts.iter().filter(|text| text.contains(wanted)).count()).unwrap_or(0)
        };
        self.replaced += count(char::REPLACEMENT_CHARACTER);
        self.cut += count('\0');
    }

    /// The note of texts that may have had other bytes in the input.
    pub fn replaced(&self) -> Option<Note> {
        self.note(self.replaced, "have U+FFFD, which stands for bytes that are not UTF-8")
    }

    /// The note of texts that a format whose texts end with a zero does not have whole.
    pub fn cut(&self) -> Option<Note> {
        self.note(self.cut, "have a zero character, where programs that read the file end them")
    }

    fn note(&self, count: u64, what: &'static str) -> Option<Note> {
        let dataset = self.dataset.name.clone();
        (count != 0).then_some(Note::Texts { dataset, count, what })
    }
}
