//! A new file before it is written: stretches of old ones, and new bytes.

use std::io::Write;
use std::path::Path;

use tet_format::Span;
use tet_io::{Appender, Output, Publish, Publisher, Settled, Source, Step, Watch};

use super::draft::Draft;
use super::lay::{Site, lay};
use crate::error::{Error, Result};
use crate::open::TensogramFile;

/// A new file before it is written.
#[derive(Clone, Debug, Default)]
pub struct Image {
    pieces: Vec<Piece>,
    /// The files that it is made of.
    sources: Vec<Source>,
    len: u64,
    message_count: usize,
    object_count: usize,
    /// How many pieces are the file that is appended to.
    kept_count: usize,
}

/// A stretch of a new file.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Bytes(Vec<u8>),
    Zeros(u64),
    Span(Source, Span),
}

/// Small pieces travel together, this many bytes at a time.
const BUFFER_LEN: usize = 256 << 10;
/// Stretches of fewer bytes are read and written.
const DIRECT_LEN: u64 = 64 << 10;
/// Longer ones are copied in parts, between which the caller may ask to stop.
const PART_LEN: u64 = 64 << 20;

impl Image {
    /// A file without messages.
    #[must_use]
    pub fn new() -> Self {
        Image::default()
    }

    /// A file without messages that is made of another one, which it may replace.
    #[must_use]
    pub(super) fn of(file: &TensogramFile) -> Self {
        let mut image = Image::default();
        image.know(file.source());
        image
    }

    /// A file that begins as another one.
    #[must_use]
    pub fn behind(file: &TensogramFile) -> Self {
        let mut image = Image { message_count: file.len(), ..Image::of(file) };
        image.extend(file.source(), Span::new(0, file.source().len()));
        image.kept_count = image.pieces.len();
        image
    }

    /// Its length so far.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has no message.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.message_count == 0
    }

    /// How many messages it has.
    #[must_use]
    pub fn message_count(&self) -> usize {
        self.message_count
    }

    /// How many objects the messages have that were drafted.
    #[must_use]
    pub fn object_count(&self) -> usize {
        self.object_count
    }

    /// Appends a message as it lies, byte for byte.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Usage`] when there are not so many messages.
    pub fn copy(&mut self, file: &TensogramFile, message: usize) -> Result<()> {
        let span = file.span(message)?;
        self.know(file.source());
        self.extend(file.source(), Some(span));
        self.message_count = self.message_count.saturating_add(1);
        Ok(())
    }

    /// Appends a message that was drafted.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] and [`Error::Usage`] when it cannot be written.
    pub fn push(&mut self, draft: &Draft) -> Result<()> {
        self.push_before(draft, None)
    }

    /// The same, before a message that is copied from `next_start` of its file: it stays as far from
    /// a multiple of 64 as it was.
    ///
    /// # Errors
    ///
    /// Returns what [`Image::push`] returns.
    pub fn push_before(&mut self, draft: &Draft, next_start: Option<u64>) -> Result<()> {
        let (pieces, len) = lay(draft, Site { start: self.len, next_start })?;
        let end = self.len.checked_add(len);
        self.len =
            end.ok_or(Error::Unwritable { why: "a file is longer than a length can say" })?;
        draft.tensors.iter().for_each(|tensor| self.know(&tensor.source));
        self.pieces.extend(pieces);
        self.message_count = self.message_count.saturating_add(1);
        self.object_count = self.object_count.saturating_add(draft.len());
        Ok(())
    }

    /// Writes the file beside its name, and renames it. A file that it is made of is never written
    /// over, unless it is the first one and the output is [in its place](Output::InPlace).
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when a source cannot be read or has changed, or the new file cannot be
    /// written. What was under its name is still there then.
    pub fn save(&self, output: Output<'_>, publish: &Publish) -> Result<u64> {
        self.save_watched(output, publish, &Watch::new(None, None, self.len))
    }

    /// The same for a caller who watches, and may ask to stop.
    ///
    /// # Errors
    ///
    /// Returns what [`Image::save`] returns, and [`Error::Canceled`].
    pub fn save_watched(
        &self,
        output: Output<'_>,
        publish: &Publish,
        watch: &Watch<'_>,
    ) -> Result<u64> {
        self.written(output, publish, watch)?.commit()?;
        Ok(self.len)
    }

    /// Writes the file under a hidden name, to be renamed with others by [`tet_io::commit_all`].
    ///
    /// # Errors
    ///
    /// Returns what [`Image::save_watched`] returns.
    pub fn settle(&self, path: &Path, publish: &Publish, watch: &Watch<'_>) -> Result<Settled> {
        Ok(self.written(Output::Beside(path), publish, watch)?.settle()?)
    }

    fn written(
        &self,
        output: Output<'_>,
        publish: &Publish,
        watch: &Watch<'_>,
    ) -> Result<Publisher> {
        let publisher = self.begin(output, publish)?;
        let publisher = write(&self.pieces, publisher, watch, |publisher, source, span| {
            Ok(publisher.copy_from(source, span)?)
        })?;
        self.sources.iter().try_for_each(Source::check_unchanged)?;
        Ok(publisher)
    }

    /// Whether [`Image::settle`] may write under a name.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when a file is there that may not be replaced, or none can be made.
    pub fn check_target(&self, path: &Path, publish: &Publish) -> Result<()> {
        self.begin(Output::Beside(path), publish).map(drop)
    }

    /// Writes what is new behind the file that the image began as, as that stands.
    ///
    /// This is not atomic: when the machine stops meanwhile, the file ends with a message that is cut
    /// short, which readers tell of and leave alone. When it fails otherwise, the file is cut back.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] when the image began as no file, [`Error::Canceled`] and
    /// [`Error::Io`].
    pub fn append_in_place(&self, watch: &Watch<'_>) -> Result<u64> {
        let source = self.sources.first().filter(|_| self.kept_count != 0);
        let no_file = Error::Unwritable { why: "there is no file to append to" };
        let appender = Appender::begin(source.ok_or(no_file)?)?;
        let pieces = self.pieces.get(self.kept_count..).unwrap_or_default();
        let appender = write(pieces, appender, watch, copy_through)?;
        let others = self.sources.iter().skip(1);
        others.into_iter().try_for_each(Source::check_unchanged)?;
        appender.commit()?;
        Ok(self.len)
    }

    /// Writes all bytes in their order, and gives back what was written to.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when a source cannot be read or has changed, or `out` fails.
    pub fn write_to<W: Write>(&self, out: W) -> Result<W> {
        let out = write(&self.pieces, out, &Watch::new(None, None, self.len), copy_through)?;
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
        let is_known = self.sources.iter().rev().any(|known| known.stamp() == stamp);
        if stamp.is_some() && !is_known {
            self.sources.push(source.clone());
        }
    }

    /// Appends a stretch; one that follows the last one in the same file is one with it.
    fn extend(&mut self, source: &Source, span: Option<Span>) {
        let Some(span) = span.filter(|span| !span.is_empty()) else { return };
        self.len = self.len.saturating_add(span.len());
        let is_kept = self.pieces.len() == self.kept_count;
        if let Some(Piece::Span(last, before)) = self.pieces.last_mut()
            && !is_kept
            && last.stamp().is_some_and(|stamp| source.stamp() == Some(stamp))
            && before.end() == span.start()
            && let Some(both) = Span::from_range(before.start()..span.end())
        {
            *before = both;
            return;
        }
        self.pieces.push(Piece::Span(source.clone(), span));
    }
}

/// Copies a stretch by reading and writing it.
fn copy_through<W: Write>(out: &mut W, source: &Source, span: Span) -> Result<()> {
    source.for_windows(span.range(), &mut Vec::new(), |_, bytes| {
        out.write_all(bytes).map_err(fault)?;
        Ok(true)
    })
}

/// Writes pieces; `copy` takes long stretches over.
fn write<W: Write>(
    pieces: &[Piece],
    mut out: W,
    watch: &Watch<'_>,
    mut copy: impl FnMut(&mut W, &Source, Span) -> Result<()>,
) -> Result<W> {
    let mut buffer: Vec<u8> = Vec::new();
    for piece in pieces {
        if BUFFER_LEN <= buffer.len() {
            watch.tell(buffer.len() as u64)?;
            out.write_all(&buffer).map_err(fault)?;
            buffer.clear();
        }
        match piece {
            Piece::Bytes(bytes) => buffer.extend_from_slice(bytes),
            // Never more than an alignment asks for.
            Piece::Zeros(len) => {
                let len = usize::try_from(*len).unwrap_or(usize::MAX);
                buffer.resize(buffer.len().saturating_add(len), 0);
            }
            Piece::Span(source, span) if span.len() < DIRECT_LEN => {
                let start = buffer.len();
                let len = usize::try_from(span.len()).unwrap_or(usize::MAX);
                buffer.resize(start.saturating_add(len), 0);
                let room = buffer.get_mut(start..).unwrap_or_default();
                source.read_exact_at(span.start(), room)?;
            }
            Piece::Span(source, span) => {
                out.write_all(&buffer).map_err(fault)?;
                buffer.clear();
                let mut start = span.start();
                while let Some(part) = part(start, span.end()) {
                    watch.tell(0)?;
                    copy(&mut out, source, part)?;
                    watch.tell(part.len())?;
                    start = part.end();
                }
            }
        }
    }
    out.write_all(&buffer).map_err(fault)?;
    Ok(out)
}

/// The next part of a stretch, if anything is left.
fn part(start: u64, end: u64) -> Option<Span> {
    let part = Span::from_range(start..start.saturating_add(PART_LEN).min(end))?;
    (!part.is_empty()).then_some(part)
}

fn fault(error: std::io::Error) -> Error {
    Error::Io(tet_io::Error::io(Step::Write, Path::new("(output)"), error))
}
