//! The payloads of a file that stay where they are in an edited copy.
//!
//! ```text
//!   base   head | index | A | B | clipped | C | footer
//!   copy   head | longer index  | B | zeros   | C | A | new chunks | footer
//!                               ^-- copied whole --^
//! ```
//!
//! Chunks in the way of the longer index move to the end. Space between the index and the first payload is room for
//! further rows.

use tet_format::Span;
use tet_format::write::Layout;
use tet_io::{Progress, Source};

use super::base::BaseFile;
use super::part::Places;
use super::plan::FilePlan;
use crate::error::Result;
use crate::write::Writer;

/// Files are copied from multiples of this on, a block of most file systems: blocks can be shared then.
const BLOCK_LEN: u64 = 4096;

/// A file is packed where more than this share of its bytes, one in 8, would be unused.
const UNUSED_SHARE: u64 = 8;

/// The payloads that stay where they are.
pub(super) struct Staying<'b> {
    source: &'b Source,
    /// Where the first of them starts and the last one ends.
    all: Span,
    spans: Vec<Span>,
}

impl<'b> Staying<'b> {
    /// Those of a base; `None` where there are none, where they overlap, or where too much would be unused.
    pub(super) fn from_base(
        plan: &FilePlan,
        layout: &Layout,
        parts: &Places<'_>,
        base: &'b BaseFile,
    ) -> Result<Option<Self>> {
        let (mut spans, mut added_len) = (Vec::new(), 0_u64);
        for chunk in layout.chunks() {
            let len = match parts.get(&(chunk.dataset, chunk.linear)) {
                Some((_, row)) => row.span.len(),
                None if base.has(plan, chunk.dataset, chunk.coord()) => {
                    let (span, _) = base.place(chunk.dataset, chunk.coord())?;
                    if layout.payloads_start() <= span.start() {
                        spans.push(span);
                        continue;
                    }
                    span.len()
                }
                None => chunk.raw_len,
            };
            added_len = added_len.saturating_add(len);
        }
        spans.sort_unstable();
        let all = spans.first().zip(spans.last());
        let all = all.and_then(|(first, last)| Span::from_range(first.start()..last.end()));
        let Some(all) = all.filter(|all| all.end() <= base.file().payload_end()) else {
            return Ok(None);
        };
        let are_apart = spans.iter().all(|span| !span.is_empty())
            && spans.array_windows().all(|[a, b]| a.end() <= b.start());
        // The room before the payloads of the base was left for a longer index.
        let start = base.payloads_start().max(layout.payloads_start()).min(all.start());
        let used_len = spans.iter().map(|span| span.len()).fold(0, u64::saturating_add);
        let unused_len = all.end().saturating_sub(start).saturating_sub(used_len);
        let file_len = all.end().saturating_add(added_len);
        let stays = are_apart && unused_len <= file_len / UNUSED_SHARE;
        Ok(stays.then(|| Self { source: base.file().source(), all, spans }))
    }

    /// Copies them to a new file.
    pub(super) fn copy(self, writer: &mut Writer, progress: &Progress) -> Result<()> {
        let start = self.all.start() / BLOCK_LEN * BLOCK_LEN;
        let copied = Span::from_range(start..self.all.end()).unwrap_or(self.all);
        writer.copy_in_place(self.source, copied, self.spans, progress)
    }
}
