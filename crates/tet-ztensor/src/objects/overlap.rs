//! Finds blobs that overlap without being the same, in the file and in each of its shards.

use tet_format::Span;

use super::object::ManifestObject;
use super::rule;
use crate::error::Fault;

/// A blob, or the manifest, in the order of their places.
type Placed = (Option<usize>, Span, Option<usize>);

/// Sets the fault of every object with a blob that overlaps another one, or the manifest.
pub(super) fn find(objects: &mut [ManifestObject], manifest: Span) {
    let mut placed: Vec<Placed> = vec![(None, manifest, None)];
    for (at, object) in objects.iter().enumerate() {
        let parts = object.parts.iter().filter(|part| !part.stored.is_empty());
        placed.extend(parts.map(|part| (part.shard, part.stored, Some(at))));
    }
    placed.sort_unstable();
    let mut before: Option<Placed> = None;
    for &(shard, span, owner) in &placed {
        let Some((_, reached, reaching)) = before.filter(|(it, ..)| *it == shard) else {
            before = Some((shard, span, owner));
            continue;
        };
        let is_manifest = owner.is_none() || reaching.is_none();
        if span.start() < reached.end() && (span != reached || is_manifest) {
            for at in [owner, reaching].into_iter().flatten() {
                if let Some(object) = objects.get_mut(at) {
                    let (rule, at) = (&rule::BLOB_OVERLAP, object.at);
                    let fault = Fault { rule, at, found: span.start(), wanted: reached.end() };
                    object.fault.get_or_insert(fault);
                }
            }
        }
        if reached.end() <= span.end() {
            before = Some((shard, span, owner));
        }
    }
}
