//! The layout of a new message.
//!
//! ```text
//!   preamble | metadata, index, [hashes] | tensor ... | zeros | postamble
//! ```

use tet_format::Span;
use tet_io::Image;

use super::draft::{Draft, TensorCopy};
use crate::error::{Error, Result};
use crate::frame::FRAME_HEADER_LEN;
use crate::index::IndexEntry;
use crate::message::HashRule;
use crate::metadata::Metadata;
use crate::postamble::{POSTAMBLE_LEN, Postamble};
use crate::preamble::Flags;
use crate::write::{Header, metadata_bytes};

/// The offset of a message in its file, and what follows it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Site {
    /// Where it starts in the new file.
    pub(crate) start: u64,
    /// The old file offset of the message that follows. Padding keeps its offset modulo 64, and so
    /// the alignment of its payloads.
    pub(crate) next_start: Option<u64>,
}

/// Lays out a new message.
pub(crate) fn lay(draft: &Draft, site: Site) -> Result<Image> {
    let frame_count = (draft.tensors.len() as u64).saturating_add(3);
    if draft.limits.frame_count_max < frame_count {
        let (what, found) = ("frames of a message", frame_count);
        return Err(Error::Usage { what, found, wanted: draft.limits.frame_count_max });
    }
    let metadata = metadata_bytes(&draft.metadata, draft.version_key)?;
    // Nothing is written that this crate would not read.
    Metadata::read(&metadata, 0, &draft.limits)?;
    let list = list(draft);
    let header = Header::new(draft.rule, &metadata, list.as_deref());
    let (entries, end) = header.place(|at| places(draft, at, site.start).ok_or(TOO_LONG))?;
    let postamble_at = tail_at(end, site).ok_or(TOO_LONG)?;
    let total_len = postamble_at.checked_add(POSTAMBLE_LEN).ok_or(TOO_LONG)?;
    // The flag promises a hash of every object.
    let is_hashed =
        draft.rule != HashRule::Unhashed && draft.tensors.iter().all(|tensor| tensor.is_hashed);
    let flags = if is_hashed { Flags::HASHED } else { Flags::default() };
    let mut image = Image::default();
    image.append(header.bytes(&entries, flags, total_len));
    for (tensor, entry) in draft.tensors.iter().zip(&entries) {
        image.resize(entry.offset);
        copy_frame(tensor, draft.rule, &mut image);
    }
    image.resize(postamble_at);
    let mut bytes = Vec::new();
    Postamble { first_footer_offset: postamble_at, total_len }.write(&mut bytes);
    image.append(bytes);
    Ok(image)
}

const TOO_LONG: Error = Error::Unwritable { why: "a message is longer than a length can say" };

/// The hashes of all tensors, if the message gets a list of them.
fn list(draft: &Draft) -> Option<Vec<u64>> {
    let hashes: Option<Vec<u64>> = draft.tensors.iter().map(|tensor| tensor.hash).collect();
    hashes.filter(|hashes| draft.is_listed && !hashes.is_empty())
}

/// The offsets of the tensors from `at` of a message on, and the end of the last one.
fn places(draft: &Draft, mut at: u64, start: u64) -> Option<(Vec<IndexEntry>, u64)> {
    let mut entries = Vec::new();
    for tensor in &draft.tensors {
        let offset = place(tensor, at, start)?;
        let len = tensor.frame.header.len;
        entries.push(IndexEntry { offset, len });
        at = offset.checked_add(len)?;
    }
    Some((entries, at))
}

/// The first offset at or after `at` where a frame may start: its payload is aligned in the file,
/// the frame itself in the message.
fn place(tensor: &TensorCopy, at: u64, start: u64) -> Option<u64> {
    let ahead = tensor.payload_offset.checked_add(start)?;
    if !tensor.payload_offset.is_multiple_of(8) || !start.is_multiple_of(8) {
        return at.checked_next_multiple_of(8);
    }
    let payload = at.checked_add(ahead)?.checked_next_multiple_of(tensor.align)?;
    payload.checked_sub(ahead)
}

/// The offset of the postamble.
fn tail_at(end: u64, site: Site) -> Option<u64> {
    let at = end.checked_next_multiple_of(8)?;
    let Some(next_start) = site.next_start.filter(|next| next.is_multiple_of(8)) else {
        return Some(at);
    };
    if !site.start.is_multiple_of(8) {
        return Some(at);
    }
    let next = site.start.checked_add(at)?.checked_add(POSTAMBLE_LEN)?;
    at.checked_add(next_start.wrapping_sub(next) % 64)
}

/// Appends a tensor frame unchanged, except that an old frame may need a flag.
fn copy_frame(tensor: &TensorCopy, rule: HashRule, image: &mut Image) {
    let (span, mut start) = (tensor.frame.span, tensor.frame.span.start());
    if let Some(header) = tensor.header(rule) {
        image.append(header);
        start = start.saturating_add(FRAME_HEADER_LEN);
    }
    image.append_span(&tensor.source, Span::from_range(start..span.end()));
}
