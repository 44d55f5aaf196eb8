//! Selected texts as the chunks of a dataset.

use std::sync::Arc;

use tet_format::Grid;
use tet_io::Source;
use tet_query::{Dataset, Execution, Hyperslab, TextChunks};

use tet_container::read::slabs::{grid_of_one, unread};
use tet_container::write::texts;

/// Texts of a chunk, about.
const CHUNK_COUNT: u64 = 1 << 16;

/// The selected texts of a dataset, as a dataset without axes, labels and attributes.
pub(super) fn selected(dataset: &Dataset, slab: &Hyperslab, how: &Execution) -> Dataset {
    let shape = slab.kept_shape();
    let chunk = tet_container::chunking::in_place(
        &shape,
        tet_container::chunking::AUTO_LEN_MAX / CHUNK_COUNT,
    );
    let grid = Grid::new(shape.clone(), chunk.into()).unwrap_or_else(|| grid_of_one(&shape));
    let (_, nothing) = unread(&shape, None);
    let (name, source) = (dataset.name.clone(), dataset.source.clone());
    let texts = SelectedTexts {
        dataset: dataset.clone(),
        slab: slab.clone(),
        grid: grid.clone(),
        how: how.silent(),
    };
    let outline = Dataset::unknown(source, name, "", grid, nothing);
    outline.with_text_chunks(Arc::new(texts))
}

/// One text as a dataset of this name without axes.
pub(super) fn one(source: Source, name: String, text: String) -> Dataset {
    let (grid, nothing) = unread(&[], None);
    let outline = Dataset::unknown(source, name, "", grid, nothing);
    outline.with_text_chunks(Arc::new(OneText(text)))
}

struct OneText(String);

impl TextChunks for OneText {
    fn texts(&self, _linear: u64, _len_max: u64) -> tet_query::Result<Vec<String>> {
        Ok(vec![self.0.clone()])
    }
}

/// A part of a dataset of texts.
struct SelectedTexts {
    dataset: Dataset,
    slab: Hyperslab,
    grid: Grid,
    how: Execution,
}

impl TextChunks for SelectedTexts {
    fn texts(&self, linear: u64, len_max: u64) -> tet_query::Result<Vec<String>> {
        let coord = self.grid.coord_of(linear);
        let extents = self.grid.extents_of(&coord);
        let ranges = self.grid.origin_of(&coord).into_iter().zip(&extents);
        let ranges: Vec<_> = ranges.map(|(start, extent)| start..start + extent).collect();
        let how = Execution { memory_budget: len_max, ..self.how.clone() };
        let texts = self.dataset.read_texts(&self.slab.part(&ranges), &how)?.value;
        let limit = || tet_query::Error::Limit { what: "texts", wanted: u64::MAX, limit: len_max };
        let chunk = self.grid.chunk_shape();
        texts::filled(&self.dataset, texts, &extents, chunk, String::new()).map_err(|_| limit())
    }
}
