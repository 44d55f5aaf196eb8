//! Writes a new file: datasets one after the other, chunks encoded in parallel, then the footer.
//!
//! ```text
//!   fill (caller)  ->  encode (threads)  ->  write in row order (caller)  ->  footer, publish
//! ```
//!
//! The bytes of the file depend on the content and the encoder, never on the number of threads.
//! Memory is limited to [`BUDGET_LEN`] and one chunk for each thread.

pub(crate) mod footer;
mod options;
mod ordered;
mod stream;
mod writer;

pub use options::{CodecChoice, DigestChoice, StatisticsChoice, WriteOptions};
pub use ordered::{OrderedJobs, OrderedWorkers, in_order};
pub use stream::{ChunkAt, Fill, FillError, Written};
pub use tet_format::write::{Align, DatasetSpec, ZeroExtents};
pub use writer::Writer;
pub(crate) use writer::{COPY_LEN, CopiedChunk};

/// The memory of all chunks in progress, in addition to one chunk for each thread.
pub const BUDGET_LEN: u64 = 64 << 20;

#[cfg(test)]
mod tests;
