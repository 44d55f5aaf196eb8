//! A message that stays byte for byte, but for bits that are flipped back and its ends.

use std::ops::Range;

use tet_format::Span;
use tet_io::{Image, Source};

use super::RepairOptions;
use super::context::RepairContext;
use super::message::Said;
use super::remains::{Remains, Whole};
use crate::check::first_error;
use crate::error::Result;
use crate::fields::Fields;
use crate::frame::FrameKind;
use crate::postamble::{POSTAMBLE_LEN, Postamble};
use crate::preamble::{Flags, MAGIC, PREAMBLE_LEN, Preamble};
use crate::walk::padding_len;
use crate::window::Window;

/// The message with what is mended of it, if nothing is wrong with it then, and the span of the message
/// if its ends are mended.
pub(super) fn patched(
    context: &mut RepairContext<'_>,
    remains: &Remains,
    said: &Said,
    options: &RepairOptions,
) -> Result<Option<(Image, Option<Span>)>> {
    let last_end = remains.last_end();
    let behind = last_end.saturating_add(padding_len(last_end.saturating_sub(remains.start)));
    let end_at = remains.postamble.map_or(behind, |(at, _)| at);
    let len = remains.end.saturating_sub(remains.start);
    if !said.is_sound() || remains.end.checked_sub(end_at) != Some(POSTAMBLE_LEN) {
        return Ok(None);
    }
    if remains.preamble.is_none() && !has_start(context, remains)? {
        return Ok(None);
    }
    let [head, tail] = ends(context, remains, end_at)?;
    let is_same = context.window.near(remains.start, PREAMBLE_LEN)? == head
        && context.window.near(end_at, POSTAMBLE_LEN)? == tail;
    let written = Span::new(remains.start, len).filter(|_| !is_same);
    let (source, mut image) = (context.source, Image::default());
    image.append(head);
    let mut at = remains.start.saturating_add(PREAMBLE_LEN);
    let mut things = said.things.iter().map(|it| &it.whole).peekable();
    for found in &remains.frames {
        let whole = things.next_if(|it| it.frame.at() == found.frame.at()).unwrap_or(found);
        padding(source, remains, at..whole.frame.at(), &mut image);
        old(source, whole, &mut image);
        at = whole.frame.span.end();
    }
    padding(source, remains, at..end_at, &mut image);
    image.append(tail);
    let Some(span) = Span::new(0, len).filter(|span| span.len() == image.len()) else {
        return Ok(None);
    };
    let how = options.verify();
    let made = image.to_source();
    let fault =
        first_error(&mut Window::new(&made), span, &how, (context.progress(), context.total()))?;
    Ok(fault.is_none().then_some((image, written)))
}

/// Bytes between frames as they are, but for bits that are set in padding.
fn padding(source: &Source, remains: &Remains, between: Range<u64>, image: &mut Image) {
    let mut at = between.start;
    for odd_at in remains.odd.iter().filter(|odd_at| between.contains(odd_at)) {
        image.append_span(source, Span::from_range(at..*odd_at));
        image.append([0]);
        at = odd_at.saturating_add(1);
    }
    image.append_span(source, Span::from_range(at..between.end));
}

/// Whether a preamble stands at the start, damaged or not.
fn has_start(context: &mut RepairContext<'_>, remains: &Remains) -> Result<bool> {
    let bytes = context.window.near(remains.start, PREAMBLE_LEN)?;
    let same = bytes.iter().zip(MAGIC).filter(|(found, wanted)| **found == *wanted);
    Ok(remains.is_placed && MAGIC_LETTERS_MIN <= same.count())
}

/// So many letters of the magic are one that is damaged.
const MAGIC_LETTERS_MIN: usize = 5;

/// Preamble and postamble, of which only what cannot be so is another than in the old file.
fn ends(context: &mut RepairContext<'_>, remains: &Remains, end_at: u64) -> Result<[Vec<u8>; 2]> {
    let mut fields = Fields::new(context.window.near(remains.start, PREAMBLE_LEN)?);
    let (_, bits, reserved) = (fields.bytes::<10>(), fields.u16(), fields.u32());
    let first_len = fields.u64();
    let mut fields = Fields::new(context.window.near(end_at, POSTAMBLE_LEN)?);
    let (_, last_len) = (fields.u64(), fields.u64());
    let len = remains.end.saturating_sub(remains.start);
    let is_len = |stated: &u64| [0, len].contains(stated);
    let other = |stated: u64, other: u64| [stated, other].into_iter().find(is_len).unwrap_or(len);
    let kinds = remains.frames.iter().map(|it| it.frame.kind());
    let flags = kinds.map(FrameKind::flag).fold(Flags::from_bits(bits), Flags::with);
    let footer_at = remains.footer_at().unwrap_or(end_at);
    let first_footer_offset = footer_at.saturating_sub(remains.start);
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    Preamble { flags, reserved, total_len: other(first_len, last_len) }.write(&mut head);
    Postamble { first_footer_offset, total_len: other(last_len, first_len) }.write(&mut tail);
    Ok([head, tail])
}

/// A frame of the old file, with what is mended of it.
pub(super) fn old(source: &Source, whole: &Whole, out: &mut Image) {
    let (frame, body) = (whole.frame, whole.frame.body());
    if !whole.is_mended {
        out.append_span(source, frame.span);
        return;
    }
    let mut bytes = Vec::new();
    frame.header.write(&mut bytes);
    out.append(bytes);
    match whole.patch {
        Some((at, byte)) => {
            let behind = at.saturating_add(1);
            out.append_span(source, Span::from_range(body.start()..at));
            out.append([byte]);
            out.append_span(source, Span::from_range(behind..body.end()));
        }
        None => out.append_span(source, body),
    }
    let mut bytes = Vec::new();
    frame.tail.write(&mut bytes);
    out.append(bytes);
}
