//! The parts of a tensor frame (section 2.3): the payload region and the descriptor, in either order.
//!
//! ```text
//!   header | region | descriptor | tail       bit 0 of the frame's flags is set
//!   header | descriptor | region | tail       it is not
//! ```

use tet_cbor::{Broken, Reader};
use tet_format::Span;

use crate::error::{Fault, Result};
use crate::frame::{FRAME_HEADER_LEN, Frame, FrameFlags};
use crate::item::cbor_fault;
use crate::limits::Limits;
use crate::rule;
use crate::window::Window;

/// How much of a descriptor is read first if its length is unknown.
const FIRST_LEN: u64 = 1 << 10;

/// A tensor in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// The position of its frame among those of the message.
    pub frame: usize,
    /// The position of the preceder that belongs to it.
    pub preceder: Option<usize>,
    /// The bytes of payload and masks.
    pub region: Span,
    /// The CBOR that describes it.
    pub descriptor: Span,
    /// The rule that its frame breaks: region and descriptor are unknown then.
    pub fault: Option<Fault>,
}

/// The object of a tensor frame.
pub(crate) fn object(
    window: &mut Window<'_>,
    frame: &Frame,
    position: usize,
    preceder: Option<usize>,
    limits: &Limits,
) -> Result<Object> {
    let body = frame.body();
    let whole = |fault| Object {
        frame: position,
        preceder,
        region: body,
        descriptor: Span::from_range(body.end()..body.end()).unwrap_or(body),
        fault: Some(fault),
    };
    let offset = frame.tail.descriptor_offset.unwrap_or_default();
    let start = frame.at().checked_add(offset);
    let start = start.filter(|at| body.start() <= *at && *at <= body.end());
    let Some(start) = start else {
        let wanted = frame.header.len.saturating_sub(frame.kind().tail_len());
        let at = body.end();
        let fault = Fault { rule: &rule::DESCRIPTOR_OFFSET, at, found: offset, wanted };
        return Ok(whole(fault));
    };
    let span = |start, end| Span::from_range(start..end).unwrap_or(body);
    if frame.header.flags.contains(FrameFlags::DESCRIPTOR_LAST) {
        let (region, descriptor) = (span(body.start(), start), span(start, body.end()));
        return Ok(Object { frame: position, preceder, region, descriptor, fault: None });
    }
    if offset != FRAME_HEADER_LEN {
        let (at, found, wanted) = (body.end(), offset, FRAME_HEADER_LEN);
        return Ok(whole(Fault { rule: &rule::DESCRIPTOR_GAP, at, found, wanted }));
    }
    Ok(match item_end(window, span(start, body.end()), limits)? {
        Ok(end) => {
            let (region, descriptor) = (span(end, body.end()), span(start, end));
            Object { frame: position, preceder, region, descriptor, fault: None }
        }
        Err(fault) => whole(fault),
    })
}

/// The end of the item at the start of `span`; reads more as long as that may help.
fn item_end(
    window: &mut Window<'_>,
    span: Span,
    limits: &Limits,
) -> Result<Result<u64, Fault>, crate::Error> {
    let len_max = span.len().min(limits.cbor_len_max);
    let mut len = FIRST_LEN.min(len_max);
    loop {
        let bytes = window.get(span.start(), len, len)?;
        let mut reader = Reader::new(bytes, 0, span.start(), limits.depth_max);
        let fault = match reader.skip(0) {
            Ok(()) => return Ok(Ok(reader.place(reader.at()))),
            Err(fault) => fault,
        };
        let is_cut = fault.broken == Broken::Syntax && fault.wanted != 0;
        if is_cut && len < len_max {
            len = len.saturating_mul(4).min(len_max);
            continue;
        }
        if is_cut && len_max < span.len() {
            let (found, wanted) = (span.len(), len_max);
            let fault = Fault { rule: &rule::LIMIT_CBOR, at: span.start(), found, wanted };
            return Ok(Err(fault));
        }
        return Ok(Err(cbor_fault(fault)));
    }
}
