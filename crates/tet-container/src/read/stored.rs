//! How many bytes of a file are those of a dataset.

use tet_query::Dataset;

/// Chunks whose places are looked up at once.
const BATCH: usize = 1 << 16;
/// The most chunks that are counted where the file has fewer bytes.
const COUNT_MAX: u64 = 1 << 20;

/// Bytes of the stored chunks of a dataset; 0 where these cannot be found, or are too many to be counted.
pub fn stored_len(dataset: &Dataset) -> u64 {
    let dataset = dataset.stored();
    let count = dataset.grid.chunk_count();
    let (mut len, mut places) = (0_u64, Vec::new());
    if dataset.source.len().max(COUNT_MAX) < count {
        return 0;
    }
    for start in (0..count).step_by(BATCH) {
        let linear: Vec<u64> = (start..count.min(start.saturating_add(BATCH as u64))).collect();
        places.clear();
        if dataset.chunks.locate(&linear, &mut places).is_err() {
            return 0;
        }
        len = places.iter().map(|it| it.stored.len()).fold(len, u64::saturating_add);
    }
    len
}
