//! Notes entries that are unusual but break no rule, and finds repeated names.

use tet_format::{DType, ForeignRule};

use super::collect::{Collector, FieldFault};
use crate::checksum::Checksum;
use crate::entry::Field;
use crate::error::Fault;
use crate::index::Index;
use crate::rule;
use crate::tensor::Tensor;
use crate::words::{ByteOrder, Encoding};

/// The most axes of a tensor that a catalog of datasets reads.
const AXES_MAX: u64 = 64;

/// Checks every entry, then all names together.
pub(super) fn check(index: &Index, out: &mut Collector) {
    for tensor in index.tensors() {
        let axis_count = tensor.shape().len() as u64;
        if AXES_MAX < axis_count {
            out.push(found(&tensor, &rule::LIMIT_AXES, Field::Shape.key(), axis_count, AXES_MAX));
        }
        for (rule, field) in notes(&tensor) {
            let key = field.key();
            out.push(found(&tensor, rule, key, 0, 0));
        }
    }
    let mut named: Vec<(&str, usize)> = index
        .tensors()
        .filter(|tensor| tensor.entry().holds(Field::Name))
        .map(|tensor| (tensor.name(), tensor.position()))
        .collect();
    named.sort_unstable();
    let mut twins: Vec<(usize, usize)> = Vec::new();
    for twin in named.chunk_by(|a, b| a.0 == b.0).filter(|twins| twins.len() > 1) {
        let first = twin.first().map_or(0, |(_, position)| *position);
        twins.extend(twin.iter().skip(1).map(|(_, position)| (*position, first)));
    }
    twins.sort_unstable();
    for (position, first) in twins {
        if let Some(tensor) = index.tensor(position) {
            out.push(found(
                &tensor,
                &rule::NAME_TWICE,
                Field::Name.key(),
                position as u64,
                first as u64,
            ));
        }
    }
}

fn found(
    tensor: &Tensor<'_>,
    rule: &'static ForeignRule,
    key: &'static str,
    found: u64,
    wanted: u64,
) -> FieldFault {
    let at = tensor.field_at(key).unwrap_or(tensor.entry_at());
    let fault = Fault { rule, at, found, wanted };
    FieldFault { fault, position: Some(tensor.position()), field: key }
}

/// The notes of an entry.
fn notes(tensor: &Tensor<'_>) -> impl Iterator<Item = (&'static ForeignRule, Field)> {
    let entry = tensor.entry();
    let name = entry.holds(Field::Name).then(|| tensor.name());
    let is_big = tensor.byte_order() == ByteOrder::Big;
    let is_zstd = tensor.encoding() == Some(Encoding::Zstd);
    let is_single = tensor.dtype().and_then(DType::size) == Some(1) && !tensor.is_sparse();
    let notes = [
        (name == Some(""), &rule::NAME_EMPTY, Field::Name),
        (name.is_some_and(is_odd), &rule::NAME_ODD, Field::Name),
        (
            entry.byte_order.is_some() && (is_zstd || is_single),
            &rule::BYTE_ORDER_MOOT,
            Field::ByteOrder,
        ),
        (entry.has_unread(), &rule::KEY_UNREAD, Field::Name),
        (is_big, &rule::BYTE_ORDER_BIG, Field::ByteOrder),
        (tensor.checksum() == Some(Checksum::Unknown), &rule::CHECKSUM_UNKNOWN, Field::Checksum),
        (
            tensor.fault().is_none() && !entry.holds(Field::Layout),
            &rule::LAYOUT_MISSING,
            Field::Layout,
        ),
    ];
    notes.into_iter().filter(|(is_so, ..)| *is_so).map(|(_, rule, field)| (rule, field))
}

/// Whether a name acts on a terminal when printed, or is a path elsewhere.
fn is_odd(name: &str) -> bool {
    let acts = |character: char| {
        character.is_control()
            || matches!(character, '\\' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    name.contains(acts)
        || name.starts_with('/')
        || name.split('/').any(|part| part == ".." || part == ".")
}
