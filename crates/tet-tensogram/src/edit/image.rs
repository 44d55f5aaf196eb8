//! A new file before it is written: spans of old files, and new bytes.

use std::io::Write;
use std::path::Path;

use tet_io::{Appender, Output, Progress, Publish, Publisher, Settled, Source, Step};

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
    message_count: usize,
    object_count: usize,
    /// The length of the file that is appended to.
    kept_len: u64,
}

impl Image {
    /// A file without messages.
    #[must_use]
    pub fn new() -> Self {
        Image::default()
    }

    /// A file without messages that may replace `file`.
    #[must_use]
    pub fn of(file: &TensogramFile) -> Self {
        let mut image = Image::default();
        image.know(file.source());
        image
    }

    /// A file that begins with all bytes of `file`.
    #[must_use]
    pub fn behind(file: &TensogramFile) -> Self {
        let bytes = tet_io::Image::of(file.source());
        let (message_count, kept_len) = (file.len(), bytes.len());
        Image { bytes, message_count, kept_len, ..Image::of(file) }
    }

    /// Its length so far.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.bytes.len()
    }

    /// Whether it has no messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.message_count == 0
    }

    /// The number of its messages.
    #[must_use]
    pub fn message_count(&self) -> usize {
        self.message_count
    }

    /// The number of objects in the messages added by [`Image::push`].
    #[must_use]
    pub fn object_count(&self) -> usize {
        self.object_count
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
        self.message_count = self.message_count.saturating_add(1);
        Ok(())
    }

    /// Appends a new message.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] and [`Error::Usage`] when the message cannot be written.
    pub fn push(&mut self, draft: &Draft) -> Result<()> {
        self.push_before(draft, None)
    }

    /// The same, before a message copied from `next_start` of its file. Padding keeps that
    /// message's offset modulo 64.
    ///
    /// # Errors
    ///
    /// Returns what [`Image::push`] returns.
    pub fn push_before(&mut self, draft: &Draft, next_start: Option<u64>) -> Result<()> {
        let message = lay(draft, Site { start: self.len(), next_start })?;
        if self.len().checked_add(message.len()).is_none() {
            return Err(Error::Unwritable { why: "a file is longer than a length can say" });
        }
        draft.tensors.iter().for_each(|tensor| self.know(&tensor.source));
        self.bytes.append_image(&message);
        self.message_count = self.message_count.saturating_add(1);
        self.object_count = self.object_count.saturating_add(draft.len());
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
        self.written(output, publish, progress)?.commit()?;
        Ok(self.len())
    }

    /// Writes the file under a temporary name, to be renamed with others by [`tet_io::commit_all`].
    ///
    /// # Errors
    ///
    /// Returns what [`Image::save`] returns.
    pub fn settle(&self, path: &Path, publish: &Publish, progress: &Progress) -> Result<Settled> {
        Ok(self.written(Output::NewFile(path), publish, progress)?.settle()?)
    }

    fn written(
        &self,
        output: Output<'_>,
        publish: &Publish,
        progress: &Progress,
    ) -> Result<Publisher> {
        let mut publisher = self.begin(output, publish)?;
        publisher.file().mark_final(0..u64::MAX);
        publisher.write_image::<Error>(&self.bytes, &progress.begin(self.len()))?;
        self.sources.iter().try_for_each(Source::check_unchanged)?;
        Ok(publisher)
    }

    /// Checks that [`Image::settle`] may write to a path.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when an existing file may not be replaced, or no file can be created.
    pub fn check_target(&self, path: &Path, publish: &Publish) -> Result<()> {
        self.begin(Output::NewFile(path), publish).map(drop)
    }

    /// Appends the new bytes to the existing file that the image began with.
    ///
    /// This is not atomic: if the machine stops meanwhile, the file ends with a truncated message,
    /// which readers report and ignore. After any other failure the file gets its old length.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] when the image did not begin with a file, [`Error::Canceled`]
    /// and [`Error::Io`].
    pub fn append_in_place(&self, progress: &Progress) -> Result<u64> {
        let source = self.sources.first().filter(|_| self.kept_len != 0);
        let no_file = Error::Unwritable { why: "there is no file to append to" };
        let mut appender = Appender::begin(source.ok_or(no_file)?)?;
        self.write(self.kept_len, &mut appender, progress)?;
        let others = self.sources.iter().skip(1);
        others.into_iter().try_for_each(Source::check_unchanged)?;
        appender.commit()?;
        Ok(self.len())
    }

    /// Writes all bytes in order, and returns `out`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when a source cannot be read or has changed, or `out` fails.
    pub fn write_to<W: Write>(&self, mut out: W) -> Result<W> {
        self.write(0, &mut out, &Progress::default())?;
        self.sources.iter().try_for_each(Source::check_unchanged)?;
        Ok(out)
    }

    fn begin(&self, output: Output<'_>, publish: &Publish) -> Result<Publisher> {
        let mut publish = publish.clone();
        publish.inputs.extend(self.sources.iter().filter_map(Source::stamp));
        let nothing = Source::from_bytes(Vec::new());
        Ok(output.begin(self.sources.first().unwrap_or(&nothing), &publish)?)
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

    fn write<W: Write>(&self, start: u64, out: &mut W, progress: &Progress) -> Result<()> {
        let fault = |error| tet_io::Error::io(Step::Write, Path::new("(output)"), error);
        self.bytes.write_to(start, out, fault, &progress.begin(self.len()))
    }
}
