//! The chunks of parts that the server of the new file copies: those that many others follow in their part too.
//!
//! They are neither read nor sent, and so not compared with their digests, which go to the new file. A server copies long
//! spans only; other chunks are read, several at the same time.

use std::collections::BTreeSet;

use tet_format::write::Layout;
use tet_io::Source;

use super::part::{FilePart, Key, Places};

/// The bytes of the shortest run that is copied: several parts of an upload.
const RUN_LEN_MIN: u64 = 32 << 20;

/// Chunks of a dataset that follow each other in a part and in the new file.
struct ChunkRun<'p> {
    part: &'p FilePart,
    dataset: usize,
    keys: Vec<Key>,
    start: u64,
    end: u64,
}

/// The chunks that are copied; `may_copy` says whether the server copies bytes of a file.
pub(super) fn on_server(
    layout: &Layout,
    chunks: &Places<'_>,
    may_copy: impl Fn(&Source) -> bool,
) -> BTreeSet<Key> {
    let mut copied = BTreeSet::new();
    let mut end = |run: Option<ChunkRun<'_>>| {
        let long = run.filter(|run| RUN_LEN_MIN <= run.end - run.start);
        let long = long.filter(|run| run.part.opened().is_some_and(&may_copy));
        copied.extend(long.into_iter().flat_map(|run| run.keys));
    };
    let mut run: Option<ChunkRun<'_>> = None;
    for chunk in layout.chunks() {
        let key = (chunk.dataset, chunk.linear);
        let Some((part, row)) = chunks.get(&key) else {
            end(run.take());
            continue;
        };
        let span = row.span;
        let goes_on = |run: &&mut ChunkRun<'_>| {
            let is_of = std::ptr::eq(run.part, *part) && run.dataset == chunk.dataset;
            is_of && run.end == span.start()
        };
        if let Some(run) = run.as_mut().filter(goes_on) {
            run.keys.push(key);
            run.end = span.end();
            continue;
        }
        let (dataset, start) = (chunk.dataset, span.start());
        end(run.replace(ChunkRun { part, dataset, keys: vec![key], start, end: span.end() }));
    }
    end(run);
    copied
}
