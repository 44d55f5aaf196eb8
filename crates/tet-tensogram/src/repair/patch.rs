//! Repairs a message in place: flips bits back and rewrites its ends; all else stays byte for byte.

use std::ops::Range;

use tet_format::Span;
use tet_io::{Image, Source};

use super::RepairOptions;
use super::context::RepairContext;
use super::fragment::{Fragment, IntactFrame};
use super::message::Parsed;
use crate::check::first_error;
use crate::error::Result;
use crate::fields::Fields;
use crate::frame::FrameKind;
use crate::postamble::{POSTAMBLE_LEN, Postamble};
use crate::preamble::{Flags, MAGIC, PREAMBLE_LEN, Preamble};
use crate::walk::padding_len;
use crate::window::Window;

/// The repaired message, if nothing is wrong with it then, and the span of the message if its
/// preamble or postamble is rewritten.
pub(super) fn patched(
    context: &mut RepairContext<'_>,
    fragment: &Fragment,
    parsed: &Parsed,
    options: &RepairOptions,
) -> Result<Option<(Image, Option<Span>)>> {
    let last_end = fragment.last_end();
    let behind = last_end.saturating_add(padding_len(last_end.saturating_sub(fragment.start)));
    let end_at = fragment.postamble.map_or(behind, |(at, _)| at);
    let len = fragment.end.saturating_sub(fragment.start);
    if !parsed.is_sound() || fragment.end.checked_sub(end_at) != Some(POSTAMBLE_LEN) {
        return Ok(None);
    }
    if fragment.preamble.is_none() && !has_start(context, fragment)? {
        return Ok(None);
    }
    let [head, tail] = ends(context, fragment, end_at)?;
    let is_same = context.window.near(fragment.start, PREAMBLE_LEN)? == head
        && context.window.near(end_at, POSTAMBLE_LEN)? == tail;
    let written = Span::new(fragment.start, len).filter(|_| !is_same);
    let (source, mut image) = (context.source, Image::default());
    image.append(head);
    let mut at = fragment.start.saturating_add(PREAMBLE_LEN);
    let mut tensors = parsed.tensors.iter().map(|it| &it.intact).peekable();
    for found in &fragment.frames {
        let intact = tensors.next_if(|it| it.frame.at() == found.frame.at()).unwrap_or(found);
        padding(source, fragment, at..intact.frame.at(), &mut image);
        old(source, intact, &mut image);
        at = intact.frame.span.end();
    }
    padding(source, fragment, at..end_at, &mut image);
    image.append(tail);
    let Some(span) = Span::new(0, len).filter(|span| span.len() == image.len()) else {
        return Ok(None);
    };
    let how = options.verify();
    let rebuilt = image.to_source();
    let fault =
        first_error(&mut Window::new(&rebuilt), span, &how, context.progress(), context.total())?;
    Ok(fault.is_none().then_some((image, written)))
}

/// Copies bytes between frames, except bits that are set in padding.
fn padding(source: &Source, fragment: &Fragment, between: Range<u64>, image: &mut Image) {
    let mut at = between.start;
    for odd_at in fragment.odd.iter().filter(|odd_at| between.contains(odd_at)) {
        image.append_span(source, Span::from_range(at..*odd_at));
        image.append([0]);
        at = odd_at.saturating_add(1);
    }
    image.append_span(source, Span::from_range(at..between.end));
}

/// Whether there is a preamble at the start, damaged or not.
fn has_start(context: &mut RepairContext<'_>, fragment: &Fragment) -> Result<bool> {
    let bytes = context.window.near(fragment.start, PREAMBLE_LEN)?;
    let same = bytes.iter().zip(MAGIC).filter(|(found, wanted)| **found == *wanted);
    Ok(fragment.is_placed && MAGIC_LETTERS_MIN <= same.count())
}

/// At least this number of matching letters is taken for a damaged magic.
const MAGIC_LETTERS_MIN: usize = 5;

/// Preamble and postamble, with only the wrong fields changed.
fn ends(context: &mut RepairContext<'_>, fragment: &Fragment, end_at: u64) -> Result<[Vec<u8>; 2]> {
    let mut fields = Fields::new(context.window.near(fragment.start, PREAMBLE_LEN)?);
    let (_, bits, reserved) = (fields.bytes::<10>(), fields.u16(), fields.u32());
    let first_len = fields.u64();
    let mut fields = Fields::new(context.window.near(end_at, POSTAMBLE_LEN)?);
    let (_, last_len) = (fields.u64(), fields.u64());
    let len = fragment.end.saturating_sub(fragment.start);
    let is_len = |stated: &u64| [0, len].contains(stated);
    let other = |stated: u64, other: u64| [stated, other].into_iter().find(is_len).unwrap_or(len);
    let kinds = fragment.frames.iter().map(|it| it.frame.kind());
    let flags = kinds.map(FrameKind::flag).fold(Flags::from_bits(bits), Flags::with);
    let footer_at = fragment.footer_at().unwrap_or(end_at);
    let first_footer_offset = footer_at.saturating_sub(fragment.start);
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    Preamble { flags, reserved, total_len: other(first_len, last_len) }.write(&mut head);
    Postamble { first_footer_offset, total_len: other(last_len, first_len) }.write(&mut tail);
    Ok([head, tail])
}

/// Copies a frame of the old file, with its corrections.
pub(super) fn old(source: &Source, intact: &IntactFrame, out: &mut Image) {
    let (frame, body) = (intact.frame, intact.frame.body());
    if !intact.is_repaired {
        out.append_span(source, frame.span);
        return;
    }
    let mut bytes = Vec::new();
    frame.header.write(&mut bytes);
    out.append(bytes);
    match intact.patch {
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
