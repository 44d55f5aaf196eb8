//! How a new file is written.

use std::thread;

use tet_codec::{Encode, Raw};
use tet_format::write::{Align, ZeroExtents};
use tet_io::publish::Sync;
use tet_io::{Overwrite, Publish, Stamp};

use crate::error::Result;
use crate::statistics::statistics_fit;

/// How chunks are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodecChoice {
    /// Uncompressed.
    #[default]
    Raw,
    /// As zstd frames.
    Zstd {
        /// The level; 3 is the default.
        level: i32,
    },
}

impl CodecChoice {
    /// The encoder of this choice.
    pub(crate) fn encoder(self) -> Result<Box<dyn Encode>> {
        match self {
            Self::Raw => Ok(Box::new(Raw)),
            #[cfg(feature = "zstd")]
            Self::Zstd { level } => Ok(Box::new(tet_codec::ZstdEncoder::new(level)?)),
            #[cfg(not(feature = "zstd"))]
            Self::Zstd { .. } => Err(crate::Error::NoCodec { codec: "zstd" }),
        }
    }
}

/// Whether digests are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DigestChoice {
    /// For every byte of the file.
    #[default]
    Written,
    /// None: changed bytes cannot be detected.
    Left,
}

/// Whether statistics of chunks are written; files without digests have none.
///
/// ```
/// use tet_file::{StatisticsChoice, WriteOptions};
///
/// let options = WriteOptions { statistics: StatisticsChoice::Left, ..WriteOptions::default() };
/// assert_ne!(options.statistics, StatisticsChoice::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatisticsChoice {
    /// Where they are at most 0.2 % of the payloads.
    #[default]
    Fitting,
    /// Always.
    Written,
    /// Never.
    Left,
}

impl StatisticsChoice {
    /// Whether statistics of this many chunks, whose payloads have this length, are written.
    pub(super) fn takes(self, row_count: u64, payload_len: u64) -> bool {
        match self {
            Self::Fitting => statistics_fit(row_count, payload_len),
            Self::Written => true,
            Self::Left => false,
        }
    }
}

/// How a new file is written.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// How chunks are stored.
    pub encoder: CodecChoice,
    /// The number of threads that encode; 0 is one per processor.
    pub threads: usize,
    /// The most bytes of chunks in progress, if that is more than one chunk; never more than
    /// [`BUDGET_LEN`](super::BUDGET_LEN) and one chunk for each thread, which is also what `None` means.
    pub memory: Option<u64>,
    /// The alignment of the payloads of each dataset.
    pub align: Align,
    /// For how many more chunks there is room in the index, so that the file can grow and its payloads stay.
    pub reserved_rows: u64,
    /// Whether extents of 0 are allowed.
    pub zero_extents: ZeroExtents,
    /// Whether digests are written, to detect changed bytes.
    pub digests: DigestChoice,
    /// Whether statistics are written, with which queries skip chunks.
    pub statistics: StatisticsChoice,
    /// Whether the file is synced to disk.
    pub sync: Sync,
    /// Action if the file exists.
    pub overwrite: Overwrite,
    /// The version of the file of a URL that may be replaced; any, if there is none.
    pub version: Option<String>,
    /// The files that are being read: they are never overwritten.
    pub inputs: Vec<Stamp>,
}

impl WriteOptions {
    pub(crate) fn publish(&self) -> Publish {
        Publish {
            force: self.overwrite,
            sync: self.sync,
            inputs: self.inputs.clone(),
            version: self.version.clone(),
        }
    }

    pub(crate) fn thread_count(&self) -> usize {
        match self.threads {
            0 => thread::available_parallelism().map_or(1, Into::into),
            threads => threads.min(THREAD_COUNT_MAX),
        }
    }
}

/// The most threads that are started.
const THREAD_COUNT_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_bounded() {
        let count = |threads| WriteOptions { threads, ..WriteOptions::default() }.thread_count();
        assert_eq!([1, 7, 100_000, usize::MAX].map(count), [1, 7, 1024, 1024]);
        assert!(1 <= count(0));
    }
}
