//! Whether the body of a frame has valid content.

use tet_format::{ForeignRule, Severity, Span};

use super::context::RepairContext;
use crate::descriptor::Descriptor;
use crate::error::{Error, Fault, Result};
use crate::frame::{Frame, FrameKind};
use crate::hashes::HashList;
use crate::index::Index;
use crate::item::read_cbor;
use crate::metadata::{Metadata, preceding};
use crate::parts::{self, Object};
use crate::region::Region;
use crate::rule;

/// The rule that a frame breaks. The content of frames of unknown types is not checked.
pub(super) type Broken = Option<&'static ForeignRule>;

/// The first rule that the content of a frame breaks.
pub(super) fn broken(context: &mut RepairContext<'_>, frame: &Frame) -> Result<Broken> {
    let (body, limits) = (frame.body(), context.limits);
    match frame.kind() {
        FrameKind::Unknown(_) => return Ok(Some(&rule::KIND_UNKNOWN)),
        FrameKind::Obsolete => return Ok(Some(&rule::OBSOLETE)),
        FrameKind::Tensor => return tensor(context, frame),
        _ => {}
    }
    if !context.spend(body.len()) {
        return Ok(Some(&rule::CBOR_SYNTAX));
    }
    let read = |frame: &Frame| -> Result<()> {
        let (bytes, at) = (read_cbor(context.source, body, limits)?, body.start());
        let metadata = Metadata::read(&bytes, at, limits)?;
        let has = |key: &str| metadata.extra.iter().any(|(found, _)| found == key);
        let (index, list) = (has("offsets") && has("lengths"), has("hashes"));
        let is_kind = match frame.kind() {
            FrameKind::HeaderIndex | FrameKind::FooterIndex => {
                Index::read(&bytes, at, limits)?;
                index
            }
            FrameKind::HeaderHashes | FrameKind::FooterHashes => {
                HashList::read(&bytes, at, limits)?;
                list
            }
            FrameKind::Preceder => {
                preceding(metadata, frame)?;
                true
            }
            _ => metadata.extra.len() != 2 || !(index || list && has("algorithm")),
        };
        // A changed frame type shows when the content is that of another type.
        let fault = Fault { rule: &rule::KIND_UNKNOWN, at, found: 0, wanted: 0 };
        if is_kind { Ok(()) } else { Err(fault.into()) }
    };
    rule_of(read(frame))
}

fn rule_of<T>(read: Result<T>) -> Result<Broken> {
    match read {
        Ok(_) | Err(Error::NotBuilt { .. }) => Ok(None),
        Err(Error::Format(fault)) => Ok(Some(fault.rule)),
        Err(error) => Err(error),
    }
}

/// The same for a tensor: its descriptor, and whether the region fits it.
fn tensor(context: &mut RepairContext<'_>, frame: &Frame) -> Result<Broken> {
    let object = object(context, frame)?;
    if let Some(fault) = object.fault {
        return Ok(Some(fault.rule));
    }
    if !context.spend(object.descriptor.len()) {
        return Ok(Some(&rule::DESCRIPTOR_SYNTAX));
    }
    rule_of(described(context, object.region, object.descriptor))
}

/// Whether the elements of an intact tensor frame have an unknown dtype.
pub(super) fn is_unknown(context: &mut RepairContext<'_>, frame: &Frame) -> Result<bool> {
    let Object { descriptor, .. } = object(context, frame)?;
    let bytes = read_cbor(context.source, descriptor, context.limits)?;
    let described = Descriptor::read(&bytes, descriptor.start(), context.limits);
    Ok(described.is_ok_and(|it| it.dtype().is_none()))
}

/// The parts of a tensor frame.
pub(super) fn object(context: &mut RepairContext<'_>, frame: &Frame) -> Result<Object> {
    parts::object(&mut context.window, frame, 0, None, context.limits)
}

fn described(context: &RepairContext<'_>, region: Span, descriptor: Span) -> Result<()> {
    let (at, limits) = (descriptor.start(), context.limits);
    let bytes = read_cbor(context.source, descriptor, limits)?;
    let described = Descriptor::read(&bytes, at, limits)?;
    if described.stored_len() != descriptor.len() {
        let (found, wanted) = (described.stored_len(), descriptor.len());
        return Err(Fault { rule: &rule::DESCRIPTOR_TRAILING, at, found, wanted }.into());
    }
    let errors = described.faults().iter().filter(|it| it.rule.severity == Severity::Error);
    // An unknown dtype may be one of a newer program.
    let mut errors = errors.filter(|it| it.rule.id != rule::DESCRIPTOR_DTYPE.id);
    if let Some(fault) = errors.next() {
        return Err((*fault).into());
    }
    if described.dtype().is_some() {
        Region::new(&described, region.start(), region.len(), limits)?;
    }
    Ok(())
}
