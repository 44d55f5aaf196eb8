//! Lost parts of a file, as datasets that cannot be read, so that no part of it is taken for all.
//!
//! ```text
//!   message 0: t, u | bytes of no message | message ?: t, a broken frame
//!   datasets: t, u, t, and, lost, at_900_o1 and lost_at_700
//! ```
//!
//! They come after the others. Behind the first loss positions are not known: how many objects and
//! messages are lost is not. So `#N` means nothing there, and an object without a name is called by
//! the byte where its message or its frame starts.

use crate::{Error as Theirs, Fault, FrameKind, Message, Metadata, TensogramFile, rule};
use tet_format::Span;
use tet_io::Source;
use tet_query::Dataset;

use super::keys::given;
use tet_container::read::slabs::unread;

/// Lost datasets of one file, at most: a few bytes may speak of any number.
const LOST_MAX: usize = 1 << 10;
/// Preamble and postamble: bytes between messages that are fewer are no message that is lost.
const MESSAGE_LEN_MIN: u64 = 48;

/// The lost parts of a file: the name of each, and the fault that lost it.
#[derive(Default)]
pub(super) struct Lost {
    parts: Vec<(String, Fault)>,
    /// Faults by which nothing is known to be lost.
    odd: Vec<Fault>,
    /// Bytes between messages, in the order of the file.
    gaps: Vec<(Span, Fault)>,
    /// How many datasets have a known position, and what is lost behind them.
    counted: Option<(usize, Fault)>,
    /// Whether a message was lost: the numbers of those behind it are not known.
    has_lost_message: bool,
    /// Whether objects of the message are lost that may have been before others.
    has_lost_object: bool,
    /// A fault behind all objects of the message that are known.
    hidden: Option<Fault>,
}

/// A message of a file.
#[derive(Clone, Copy)]
pub(super) struct MessageAt {
    /// Its number in the file.
    pub(super) number: usize,
    /// Its bytes.
    pub(super) span: Span,
}

impl Lost {
    /// Takes note of a message whose frames cannot be walked through.
    pub(super) fn message(&mut self, message: MessageAt, fault: Fault, counted: usize) {
        let name = self.name_of_message(message);
        self.push(name, fault);
        self.counted.get_or_insert((counted, fault));
    }

    /// Notes what is lost before a message; `counted` datasets come before it.
    pub(super) fn before(&mut self, span: Span, counted: usize) {
        self.has_lost_object = false;
        let is_message = |gap: &Span| MESSAGE_LEN_MIN <= gap.len() && gap.end() <= span.start();
        let gap = self.gaps.iter().find(|(gap, _)| is_message(gap));
        if let Some((_, fault)) = gap.filter(|_| !self.has_lost_message) {
            self.has_lost_message = true;
            self.counted.get_or_insert((counted, *fault));
        }
    }

    /// Whether the objects of a message are not those that its index, hashes and metadata count.
    pub(super) fn within(
        &mut self,
        file: &TensogramFile,
        message: MessageAt,
        walked: &Message,
        metadata: &Option<Metadata>,
        counted: usize,
    ) -> Result<bool, Theirs> {
        let is_unknown = |kind: FrameKind| matches!(kind, FrameKind::Unknown(_));
        let is_odd = metadata.is_none()
            || walked.fault().is_some()
            || walked.frames().iter().any(|frame| is_unknown(frame.kind()));
        if !walked.is_whole() || !is_odd {
            return Ok(false);
        }
        // A frame that became a tensor moves the others as one does that no longer is.
        let Some(stated) = file.counted(walked)?.filter(|&stated| stated != walked.len()) else {
            return Ok(false);
        };
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let (found, wanted) = (number(stated), number(walked.len()));
        let fault = Fault { rule: &rule::INDEX_COUNT, at: message.span.start(), found, wanted };
        let fault = walked.fault().copied().unwrap_or(fault);
        let name = format!("{}_lost", self.name_of_message(message));
        self.push(name, fault);
        self.counted.get_or_insert((counted, fault));
        self.has_lost_object = true;
        Ok(true)
    }

    /// Takes note of the objects of a message behind a broken frame.
    pub(super) fn hidden(&mut self, message: MessageAt, walked: &Message, metadata: &Metadata) {
        let Some(fault) = walked.fault().filter(|_| !walked.is_whole()) else { return };
        self.hidden = Some(*fault);
        // Where the number of objects is not stored, there may be one more, or any number.
        let known = walked.len();
        let is_counted = !metadata.base.is_empty();
        let stated = if is_counted { metadata.base.len() } else { known.saturating_add(1) };
        if stated <= known || !is_counted {
            self.odd.push(*fault);
        }
        for position in (known..stated).take(LOST_MAX) {
            let by_number = format!("{}_o{position}", self.name_of_message(message));
            self.push(given(metadata, position).unwrap_or(by_number), *fault);
        }
    }

    /// Takes note of the datasets of a message, behind which some may be hidden.
    pub(super) fn after(&mut self, datasets: &[Dataset]) {
        if let Some(fault) = self.hidden.take() {
            self.counted.get_or_insert((datasets.len(), fault));
        }
    }

    /// Takes note of what is lost between messages.
    pub(super) fn between(&mut self, file: &TensogramFile) -> Result<(), Theirs> {
        self.gaps = file.losses()?.into_iter().map(|loss| (loss.span, loss.fault)).collect();
        Ok(())
    }

    /// The name of an object to which the metadata give none; its frame starts at `at`.
    pub(super) fn name(&self, message: MessageAt, number: usize, at: u64) -> String {
        if self.has_lost_object {
            return format!("at_{at}");
        }
        format!("{}_o{number}", self.name_of_message(message))
    }

    fn name_of_message(&self, message: MessageAt) -> String {
        let MessageAt { number, span } = message;
        if self.has_lost_message { format!("at_{}", span.start()) } else { format!("m{number}") }
    }

    fn push(&mut self, name: String, fault: Fault) {
        if self.parts.len() < LOST_MAX {
            self.parts.push((name, fault));
        }
    }

    /// Puts them behind the datasets of a file, and reports what takes none away. Gives how many of the
    /// datasets have a known position, and what is lost behind these.
    pub(super) fn list(
        mut self,
        source: &Source,
        datasets: &mut Vec<Dataset>,
        report: &mut dyn FnMut(Fault),
    ) -> Option<(usize, Fault)> {
        for (span, fault) in std::mem::take(&mut self.gaps) {
            self.push(format!("lost_at_{}", span.start()), fault);
        }
        self.odd.into_iter().for_each(report);
        // A loss behind the last message moves no dataset.
        let counted = self.counted.filter(|(count, _)| *count < datasets.len());
        for (name, fault) in self.parts {
            let cause = tet_query::Error::Foreign { dataset: name.clone(), fault };
            datasets.push(Dataset::unreadable(source.clone(), name, cause));
        }
        counted
    }
}

/// A dataset of which no more than the name is known.
pub(super) fn unread_dataset(source: &Source, index: usize, name: String) -> Dataset {
    let (grid, chunks) = unread(&[], None);
    Dataset { index, ..Dataset::unknown(source.clone(), name, "", grid, chunks) }
}
