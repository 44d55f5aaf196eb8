//! The edit operations: each takes opened files and returns images of new ones.

use std::collections::HashMap;

use tet_cbor::Value;

use super::draft::{Clash, Draft, check_whole};
use super::filter::Filter;
use super::image::Image;
use super::key::Key;
use super::provenance::Provenance;
use super::row::{Row, Rows};
use super::template::Template;
use crate::error::Result;
use crate::frame::{FrameKind, Phase};
use crate::message::Message;
use crate::open::TensogramFile;
use crate::window::Window;

/// A key and its new value; `None` removes the key.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The key.
    pub key: Key,
    /// The value.
    pub value: Option<Value>,
}

/// Refuses a file of which an edit would lose a part: damaged messages or frames, and bytes outside
/// all messages.
///
/// # Errors
///
/// Returns the first fault, and [`Error::Io`](crate::Error::Io).
pub fn check_sound(file: &TensogramFile) -> Result<()> {
    if let Some(damage) = file.damages().first() {
        return Err(damage.fault.into());
    }
    if let Some(loss) = file.losses()?.first() {
        return Err(loss.fault.into());
    }
    let (mut window, limits) = (Window::new(file.source()), file.limits());
    for number in 0..file.len() {
        check_whole(&Message::read(&mut window, file.span(number)?, limits, &mut |_, _| {})?)?;
    }
    Ok(file.source().check_unchanged()?)
}

/// Copies messages that have a matching object, byte for byte, to the outputs of a template.
/// Messages with the same output name go to one file, in their order.
///
/// # Errors
///
/// Returns the fault of a damaged file, or of metadata that is needed;
/// [`Error::Key`](crate::Error::Key) when a name cannot be made; [`Error::Io`](crate::Error::Io).
pub fn copy(
    file: &TensogramFile,
    filter: &Filter,
    template: &Template,
) -> Result<Vec<(String, Image)>> {
    check_sound(file)?;
    let mut outputs = Outputs::default();
    let is_simple = filter.is_empty() && template.is_plain();
    for number in 0..file.len() {
        let rows;
        let name = if is_simple {
            template.text()
        } else {
            rows = Rows::of(file, number)?;
            let Some(row) = rows.iter().find(|row| filter.matches(row)) else { continue };
            template.fill(&row, outputs.count)?
        };
        outputs.with(name, |image| image.copy(file, number))?;
        outputs.count = outputs.count.saturating_add(1);
    }
    Ok(outputs.images)
}

/// Changes the metadata of the matching objects, or of their messages. Returns the number of
/// changed messages; the others are copied byte for byte.
///
/// # Errors
///
/// Returns what [`Draft::of`] and [`Draft::set`] return, and the fault of a damaged file.
pub fn set(
    file: &TensogramFile,
    filter: &Filter,
    assignments: &[Assignment],
    provenance: Provenance,
) -> Result<(Image, usize)> {
    check_sound(file)?;
    assignments.iter().try_for_each(|it| it.key.check_settable())?;
    let (mut image, mut changed) = (Image::of(file), 0_usize);
    for number in 0..file.len() {
        let rows = Rows::of(file, number)?;
        let meant: Vec<Row<'_>> = rows.iter().filter(|row| filter.matches(row)).collect();
        if meant.is_empty() {
            image.copy(file, number)?;
            continue;
        }
        let mut draft = Draft::of(file, number)?;
        for Assignment { key, value } in assignments {
            for row in &meant {
                match value {
                    Some(value) => draft.set(row.object(), key, value)?,
                    None => {
                        draft.unset(row.object(), key)?;
                    }
                }
            }
        }
        if draft.metadata() == rows.metadata() {
            image.copy(file, number)?;
            continue;
        }
        draft.sign(provenance)?;
        image.push_before(&draft, next_start(file, number))?;
        changed = changed.saturating_add(1);
    }
    Ok((image, changed))
}

/// Merges all messages of the files into one message.
///
/// # Errors
///
/// Returns what [`Draft::of`] and [`Draft::append`] return, and the fault of a damaged file.
pub fn merge(files: &[TensogramFile], clash: Clash, provenance: Provenance) -> Result<Image> {
    let mut merged: Option<Draft> = None;
    for file in files {
        check_sound(file)?;
        for number in 0..file.len() {
            let draft = Draft::of(file, number)?;
            match &mut merged {
                None => merged = Some(draft),
                Some(merged) => merged.append(draft, clash)?,
            }
        }
    }
    let mut image = Image::new();
    if let Some(mut draft) = merged {
        draft.sign(provenance)?;
        image.push(&draft)?;
    }
    Ok(image)
}

/// Writes every object as its own message. Each gets its own file, unless the template gives
/// several the same name. Messages of at most one object are copied byte for byte.
///
/// # Errors
///
/// Returns what [`Draft::of`] returns, the fault of a damaged file, and
/// [`Error::Key`](crate::Error::Key) when a name cannot be made.
pub fn split(
    file: &TensogramFile,
    template: &Template,
    provenance: Provenance,
) -> Result<Vec<(String, Image)>> {
    check_sound(file)?;
    let mut outputs = Outputs::default();
    for number in 0..file.len() {
        let rows = Rows::of(file, number)?;
        let draft = Draft::of(file, number)?;
        for row in rows.iter() {
            let name = template.fill(&row, outputs.count)?;
            outputs.with(name, |image| match row.object().filter(|_| 1 < draft.len()) {
                None => image.copy(file, number),
                Some(object) => {
                    let mut draft = draft.pick(object);
                    draft.sign(provenance)?;
                    image.push(&draft)
                }
            })?;
            outputs.count = outputs.count.saturating_add(1);
        }
    }
    Ok(outputs.images)
}

/// Moves metadata, index and hashes of every message into its header. Returns the number of changed
/// messages. Those that need no change are copied byte for byte.
///
/// # Errors
///
/// Returns what [`Draft::of`] returns, and the fault of a damaged file.
pub fn reshuffle(file: &TensogramFile, provenance: Provenance) -> Result<(Image, usize)> {
    check_sound(file)?;
    let (mut image, mut changed) = (Image::of(file), 0_usize);
    for number in 0..file.len() {
        if is_settled(&*file.message(number)?) && is_signed(file, number, provenance)? {
            image.copy(file, number)?;
            continue;
        }
        let mut draft = Draft::of(file, number)?;
        draft.sign(provenance)?;
        image.push_before(&draft, next_start(file, number))?;
        changed = changed.saturating_add(1);
    }
    Ok((image, changed))
}

/// Whether an index precedes the tensors, and no metadata follows or separates them.
fn is_settled(message: &Message) -> bool {
    let has = |kind| message.frames_of(kind).next().is_some();
    let mut frames = message.frames().iter();
    let is_out = frames.any(|frame| {
        frame.kind().phase() == Some(Phase::Footer) || frame.kind() == FrameKind::Preceder
    });
    let is_known = |len| message.span().len() == len;
    message.fault().is_none()
        && !is_out
        && has(FrameKind::HeaderMetadata)
        && (message.is_empty() || has(FrameKind::HeaderIndex))
        && is_known(message.preamble().total_len)
        && message.postamble().is_some_and(|postamble| is_known(postamble.total_len))
}

/// Whether a message already has the requested provenance.
fn is_signed(file: &TensogramFile, number: usize, provenance: Provenance) -> Result<bool> {
    Ok(match provenance {
        Provenance::Kept => true,
        Provenance::New(_) => false,
        Provenance::Absent => file.metadata(number)?.reserved.is_empty(),
    })
}

/// The offset of the next message.
fn next_start(file: &TensogramFile, number: usize) -> Option<u64> {
    Some(file.span(number.checked_add(1)?).ok()?.start())
}

/// Images by their names, in the order of first use.
#[derive(Default)]
struct Outputs {
    images: Vec<(String, Image)>,
    places: HashMap<String, usize>,
    /// The number of messages written.
    count: usize,
}

impl Outputs {
    /// Calls `change` with the image of a name.
    fn with(&mut self, name: String, change: impl FnOnce(&mut Image) -> Result<()>) -> Result<()> {
        let next = self.images.len();
        let at = *self.places.entry(name.clone()).or_insert(next);
        if at == next {
            self.images.push((name, Image::new()));
        }
        self.images.get_mut(at).map_or(Ok(()), |(_, image)| change(image))
    }
}
