//! The chunks of a dataset: their offsets and lengths.

use std::collections::BTreeSet;

use tet_query::{ChunkPlace, Dataset};

use crate::context::Context;
use crate::escape::Escaped;
use crate::exit::Result;
use crate::render::json::ChunkEntry;
use crate::render::table::{Side, Table};
use crate::size::{counted, grouped};

/// The number of chunks that are looked up together.
const BATCH: u64 = 8192;

/// The most chunks that are added up where the file has fewer bytes: chunks that are not stored take
/// none.
const COUNT_MAX: u64 = 1 << 20;

/// A summary of the chunks of a dataset.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    /// The number of chunks that cover the shape.
    pub(crate) chunk_count: u64,
    /// Bytes in the file; `None` if a chunk cannot be found.
    pub(crate) stored_len: Option<u64>,
    /// Bytes of the elements; `None` if the number does not fit.
    pub(crate) decoded_len: Option<u64>,
    /// How chunks are stored.
    pub(crate) codecs: Vec<String>,
    /// Why a chunk cannot be found.
    pub(crate) fault: Option<String>,
}

impl Stored {
    /// `3.62x`: the bytes of the elements divided by the stored bytes.
    pub(crate) fn ratio(&self) -> String {
        let (Some(stored), Some(decoded)) = (self.stored_len, self.decoded_len) else {
            return String::new();
        };
        let Some(hundredths) = (u128::from(decoded) * 100).checked_div(u128::from(stored)) else {
            return String::new();
        };
        format!("{}.{:02}x", hundredths / 100, hundredths % 100)
    }
}

/// Looks up all chunks of a dataset; those of a server only if `is_asked`.
pub(crate) fn stored(dataset: &Dataset, is_asked: bool) -> Stored {
    // Texts are stored as their bytes, or their places.
    let dataset = dataset.stored();
    let chunk_count = dataset.grid.chunk_count();
    let element_size = dataset.dtype.and_then(|dtype| dtype.size());
    let elements = dataset.grid.shape().element_count();
    // Chunks of an opaque dtype can be looked up too.
    let is_opaque = matches!(
        dataset.why(),
        Some(tet_query::Error::Opaque { .. } | tet_query::Error::Compound { .. })
    );
    let decoded_len = match dataset.blocks() {
        // Numbers of less than a byte, and quantized ones, are as long as their blocks.
        Some(_) => Some(tet_convert::byte_len(dataset)),
        None => elements.zip(element_size).and_then(|(count, size)| count.checked_mul(size)),
    };
    let mut stored = Stored { chunk_count, decoded_len, ..Stored::default() };
    let is_too_many = dataset.source.len().max(COUNT_MAX) < chunk_count;
    if is_too_many || dataset.fault.is_some() && !is_opaque {
        return stored;
    }
    if let Some(codecs) = dataset.chunks.codecs_of_objects().filter(|_| !is_asked) {
        return Stored { codecs, ..stored };
    }
    let (mut stored_len, mut codecs) = (0_u64, BTreeSet::<String>::new());
    let mut opaque_len = 0_u64;
    let done = for_each(dataset, chunk_count, &mut |linear, place| {
        stored_len = stored_len.saturating_add(place.stored.len());
        opaque_len = opaque_len.saturating_add(place.decoded_len);
        let codec = dataset.chunks.decoder(linear, place);
        if !codecs.contains(codec.full_name()) {
            codecs.insert(codec.full_name().to_owned());
        }
    });
    match done {
        Ok(()) => {
            stored.stored_len = Some(stored_len);
            stored.decoded_len = stored.decoded_len.or(is_opaque.then_some(opaque_len));
        }
        Err(failure) => stored.fault = Some(failure.message.clone()),
    }
    stored.codecs = codecs.into_iter().collect();
    stored
}

/// Calls `each` with the first `count` chunks in grid order.
fn for_each(dataset: &Dataset, count: u64, each: &mut dyn FnMut(u64, &ChunkPlace)) -> Result<()> {
    let mut places = Vec::new();
    let mut start = 0;
    while start < count {
        let end = count.min(start + BATCH);
        let linear: Vec<u64> = (start..end).collect();
        places.clear();
        dataset.chunks.locate(&linear, &mut places)?;
        for (linear, place) in linear.iter().zip(&places) {
            each(*linear, place);
        }
        start = end;
    }
    Ok(())
}

/// The first chunks of a dataset, all of them for 0.
///
/// # Errors
///
/// A chunk cannot be found.
pub(crate) fn list(dataset: &Dataset, count_max: u64) -> Result<Vec<ChunkEntry>> {
    let dataset = dataset.stored();
    let all = dataset.grid.chunk_count();
    let count = if count_max == 0 { all } else { all.min(count_max) };
    let mut entries = Vec::new();
    for_each(dataset, count, &mut |linear, place| {
        entries.push(ChunkEntry {
            coord: dataset.grid.coord_of(linear),
            offset: place.stored.start(),
            stored_len: place.stored.len(),
            decoded_len: place.decoded_len,
            codec: dataset.chunks.decoder(linear, place).full_name().to_owned(),
        });
    })?;
    Ok(entries)
}

/// Prints the first chunks of every dataset.
///
/// # Errors
///
/// Writing to standard output fails.
pub(crate) fn write(datasets: &[Dataset], count_max: u64, context: &mut Context<'_>) -> Result<()> {
    let columns = [
        ("chunk", Side::Left),
        ("offset", Side::Right),
        ("stored", Side::Right),
        ("decoded", Side::Right),
        ("codec", Side::Left),
    ];
    for dataset in datasets {
        let dataset = dataset.stored();
        let all = dataset.grid.chunk_count();
        let title = format!("{}: {}", Escaped(&dataset.name), counted(all, "chunk"));
        let paint = context.paint;
        context.line(format!("\n{}", paint.strong(title)))?;
        if dataset.fault.is_some() {
            continue;
        }
        let Ok(entries) = list(dataset, count_max) else { continue };
        let mut table = Table::new(&columns);
        for entry in &entries {
            let coord = tet_format::Shape::from(&entry.coord[..]).to_string();
            let lens = [entry.offset, entry.stored_len, entry.decoded_len].map(|n| n.to_string());
            let [offset, stored, decoded] = lens;
            table.row([coord, offset, stored, decoded, entry.codec.clone()]);
        }
        for line in table.lines(None, paint) {
            context.line(line)?;
        }
        let shown = u64::try_from(entries.len()).unwrap_or(u64::MAX);
        if let Some(more) = all.checked_sub(shown).filter(|&more| more > 0) {
            let text = format!("  ... {} more: -n 0 shows all", grouped(more));
            context.line(paint.faint(text))?;
        }
    }
    Ok(())
}
