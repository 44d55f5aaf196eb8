//! Checks sparse tensors stored as dense parts (section 6): whether the parts belong together.

use std::collections::{BTreeMap, HashMap};

use tet_format::{DType, ForeignRule};

use super::collect::{Collector, FieldFault};
use crate::entry::{Field, element_count};
use crate::error::Fault;
use crate::index::Index;
use crate::rule;
use crate::tensor::Tensor;
use crate::words::Layout;
use tet_cbor::Value;
use tet_sparse::parts::{FORMAT_KEY, OF_KEY, PART_KEY, SHAPE_KEY, VALUES, of_places};

/// Requirements on the numbers of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Row starts: from 0 to this number of values.
    Indptr(u64),
    /// Each number must be below one of these extents, in turn.
    Within(Vec<u64>),
}

/// The parts that name the same sparse tensor, each with its part name.
type Group<'a> = Vec<(String, Tensor<'a>)>;

/// Notes parts that do not fit together. For the others, returns what their numbers must be.
pub(super) fn check(index: &Index, out: &mut Collector) -> BTreeMap<usize, Role> {
    let (mut roles, mut faults) = (BTreeMap::new(), Vec::new());
    for group in groups(index) {
        // Faults of an entry are reported for that entry.
        if group.iter().any(|(_, tensor)| tensor.fault().is_some()) {
            continue;
        }
        match judge(&group) {
            Ok(found) => roles.extend(found),
            Err(found) => faults.push(found),
        }
    }
    faults.sort_unstable_by_key(|found| found.position);
    faults.into_iter().for_each(|found| out.push(found));
    roles
}

/// The parts of each sparse tensor, in the order of the index.
fn groups(index: &Index) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for tensor in index.tensors().filter(|tensor| tensor.entry().has_custom()) {
        let Some(of) = text(&tensor, OF_KEY) else { continue };
        let Some(part) = text(&tensor, PART_KEY) else { continue };
        let next = groups.len();
        let at = *places.entry(of).or_insert(next);
        if at == next {
            groups.push(Vec::new());
        }
        if let Some(group) = groups.get_mut(at) {
            group.push((part, tensor));
        }
    }
    groups
}

/// Roles of the parts of one tensor, if all are present with the right shapes.
fn judge(group: &Group<'_>) -> Result<Vec<(usize, Role)>, FieldFault> {
    let mut parts: BTreeMap<&str, Tensor<'_>> = BTreeMap::new();
    for (part, tensor) in group {
        if parts.insert(part, *tensor).is_some() {
            return Err(misfit(tensor, PART_KEY, 2, 1));
        }
    }
    let is_coo = parts.contains_key("coords");
    let needed: &[&str] =
        if is_coo { &["coords", "values"] } else { &["indptr", "indices", "values"] };
    let there = needed.iter().filter(|part| parts.contains_key(*part)).count();
    let (Some(values), true) = (parts.get(VALUES), there == needed.len()) else {
        let missing = |(_, tensor): &(String, Tensor<'_>)| {
            found(&rule::PART_MISSING, tensor, PART_KEY, there as u64, needed.len() as u64)
        };
        return group.first().map_or(Ok(Vec::new()), |first| Err(missing(first)));
    };
    let format = if is_coo { "coo" } else { "csr" };
    if text(values, FORMAT_KEY).as_deref() != Some(format) {
        return Err(misfit(values, FORMAT_KEY, 0, 1));
    }
    let shape = shape_of(values)?;
    let count = *extents(values, &[None])?.first().unwrap_or(&0);
    let Some(places) = of_places(format, &shape, count) else {
        return Err(misfit(values, SHAPE_KEY, shape.len() as u64, if is_coo { 1 } else { 2 }));
    };
    let role = |part: &str| match part {
        "indptr" => Role::Indptr(count),
        "indices" => Role::Within(shape.get(1..).unwrap_or_default().to_vec()),
        _ => Role::Within(shape.clone()),
    };
    let place = |(part, wanted): (&str, Vec<u64>)| match parts.get(part) {
        Some(tensor) => numbers(tensor, &wanted).map(|()| (tensor.position(), role(part))),
        None => Err(misfit(values, PART_KEY, 0, 1)),
    };
    places.into_iter().map(place).collect()
}

/// The extents of the sparse tensor, stated in the entry of its values.
fn shape_of(values: &Tensor<'_>) -> Result<Vec<u64>, FieldFault> {
    let stated = match values.custom_value(SHAPE_KEY) {
        Ok(Some(Value::Array(items))) => items.iter().map(Value::as_u64).collect(),
        _ => None,
    };
    let shape: Vec<u64> = stated.ok_or_else(|| misfit(values, SHAPE_KEY, 0, 1))?;
    match element_count(&shape) {
        Some(_) => Ok(shape),
        None => Err(misfit(values, SHAPE_KEY, u64::MAX, (1 << 63) - 1)),
    }
}

/// Checks that a part is dense and numeric, and has the wanted shape.
fn numbers(tensor: &Tensor<'_>, wanted: &[u64]) -> Result<(), FieldFault> {
    if tensor.dtype() != Some(DType::UInt64) {
        let size = tensor.dtype().and_then(DType::size).unwrap_or(0);
        return Err(misfit(tensor, Field::Dtype.key(), size, 8));
    }
    let wanted: Vec<Option<u64>> = wanted.iter().copied().map(Some).collect();
    extents(tensor, &wanted).map(|_| ())
}

/// The extents of a dense part, checked against those that are known.
fn extents<'a>(tensor: &Tensor<'a>, wanted: &[Option<u64>]) -> Result<&'a [u64], FieldFault> {
    let shape = tensor.shape();
    if tensor.layout() != Some(Layout::Dense) {
        return Err(misfit(tensor, Field::Layout.key(), 0, 1));
    }
    let other = shape.iter().zip(wanted).find_map(|(found, wanted)| {
        let wanted = (*wanted)?;
        (*found != wanted).then_some((*found, wanted))
    });
    let (found, wanted) = match other {
        Some(numbers) => numbers,
        None if shape.len() == wanted.len() => return Ok(shape),
        None => (shape.len() as u64, wanted.len() as u64),
    };
    Err(misfit(tensor, Field::Shape.key(), found, wanted))
}

fn text(tensor: &Tensor<'_>, key: &str) -> Option<String> {
    match tensor.custom_value(key) {
        Ok(Some(Value::Text(text))) => Some(text),
        _ => None,
    }
}

fn misfit(tensor: &Tensor<'_>, key: &'static str, number: u64, wanted: u64) -> FieldFault {
    found(&rule::PART_FIT, tensor, key, number, wanted)
}

fn found(
    rule: &'static ForeignRule,
    tensor: &Tensor<'_>,
    field: &'static str,
    found: u64,
    wanted: u64,
) -> FieldFault {
    let at = tensor.field_at(field).unwrap_or(tensor.entry_at());
    let fault = Fault { rule, at, found, wanted };
    FieldFault { fault, position: Some(tensor.position()), field }
}
