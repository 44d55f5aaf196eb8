//! A new file before it is written: spans of old files, and new bytes.

use tet_io::{Output, Progress, Publish, Source};

use super::draft::Draft;
use super::lay::{Site, lay};
use crate::error::{Error, Result};
use crate::open::TensogramFile;

/// A new file before it is written.
#[derive(Clone, Debug, Default)]
pub struct Image {
    bytes: tet_io::Image,
    /// The files whose bytes it copies.
    sources: Vec<Source>,
}

impl Image {
    /// A file without messages that may replace `file`.
    #[must_use]
    pub fn for_file(file: &TensogramFile) -> Self {
        let mut image = Image::default();
        image.know(file.source());
        image
    }

    /// Its length so far.
    fn len(&self) -> u64 {
        self.bytes.len()
    }

    /// Appends an existing message byte for byte.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] when `file` has no message of this number.
    pub fn copy(&mut self, file: &TensogramFile, message: usize) -> Result<()> {
        let span = file.span(message)?;
        self.know(file.source());
        self.bytes.append_span(file.source(), span);
        Ok(())
    }

    /// Appends a new message. Before one that is copied from `next_start` of its file, padding keeps that
    /// message's offset modulo 64.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] and [`Error::Usage`] when the message cannot be written.
    pub fn push(&mut self, draft: &Draft, next_start: Option<u64>) -> Result<()> {
        let message = lay(draft, Site { start: self.len(), next_start })?;
        if self.len().checked_add(message.len()).is_none() {
            return Err(Error::Unwritable { why: "a file is longer than a length can say" });
        }
        draft.tensors.iter().for_each(|tensor| self.know(&tensor.source));
        self.bytes.append_image(&message);
        Ok(())
    }

    /// Writes the file atomically: under a temporary name, then renamed. A source file is never
    /// overwritten, unless it is the first one and the output is [in its place](Output::InPlace).
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when a source cannot be read or has changed, or the new file cannot be
    /// written, and [`Error::Canceled`]. The old file is unchanged then.
    pub fn save(&self, output: Output<'_>, publish: &Publish, progress: &Progress) -> Result<u64> {
        let mut publish = publish.clone();
        publish.inputs.extend(self.sources.iter().filter_map(Source::stamp));
        let nothing = Source::from_bytes(Vec::new());
        let mut publisher = output.begin(self.sources.first().unwrap_or(&nothing), &publish)?;
        publisher.file().mark_final(0..u64::MAX);
        publisher.write_image::<Error>(&self.bytes, &progress.begin(self.len()))?;
        self.sources.iter().try_for_each(Source::check_unchanged)?;
        publisher.commit()?;
        Ok(self.len())
    }

    /// The bytes of the file.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> Vec<u8> {
        let (mut bytes, progress) = (Vec::new(), Progress::default());
        let fault = |error| tet_io::Error::io(tet_io::Operation::Write, "(output)".as_ref(), error);
        let written = self.bytes.write_to::<_, Error>(0, &mut bytes, fault, &progress);
        written.expect("the sources are there");
        bytes
    }

    fn know(&mut self, source: &Source) {
        let stamp = source.stamp();
        let is_it =
            |known: &Source| known.is_same(source) || (stamp.is_some() && known.stamp() == stamp);
        let is_file = stamp.is_some() || source.version().is_some();
        if is_file && !self.sources.iter().rev().any(is_it) {
            self.sources.push(source.clone());
        }
    }
}
