//! Checks the fields of a descriptor against each other, and reports which rules they break.

use tet_format::{DType, ForeignRule};

use super::{ByteOrder, Descriptor, NTENSOR, decoded_len, element_count, masks, row_major};
use crate::Value;
use crate::error::Fault;
use crate::rule;

/// The keys that a descriptor must have.
const NEEDED: [&str; 8] =
    ["type", "ndim", "shape", "strides", "dtype", "encoding", "filter", "compression"];

/// Whether the format defines a key, so that it is not a codec parameter.
pub(super) fn is_own(key: &str) -> bool {
    NEEDED.contains(&key) || matches!(key, "byte_order" | "masks")
}

/// Sets the typed fields of a descriptor and notes its faults.
pub(super) fn judge(descriptor: &mut Descriptor) {
    let mut faults = Vec::new();
    keys(descriptor, &mut faults);
    let numbers = ["shape", "strides"].map(|key| numbers(descriptor, key, &mut faults));
    [descriptor.shape, descriptor.strides] = numbers;
    dtype(descriptor, &mut faults);
    byte_order(descriptor, &mut faults);
    counts(descriptor, &mut faults);
    descriptor.masks = masks::entries(descriptor, &mut faults);
    descriptor.faults = faults;
}

fn note(descriptor: &Descriptor, rule: &'static ForeignRule, key: &str) -> Fault {
    Fault { rule, at: descriptor.place(key), found: 0, wanted: 0 }
}

fn keys(descriptor: &Descriptor, faults: &mut Vec<Fault>) {
    let mut keys: Vec<(&str, u64)> =
        descriptor.fields.iter().map(|field| (field.key.as_str(), field.at)).collect();
    keys.sort_unstable();
    let twice = keys.windows(2).find(|pair| matches!(pair, [one, next] if one.0 == next.0));
    if let Some([_, (_, at)]) = twice {
        let rule = &rule::DESCRIPTOR_KEY_TWICE;
        faults.push(Fault { rule, at: *at, found: 0, wanted: 0 });
    }
    for key in NEEDED {
        let is_right = match (key, descriptor.value(key)) {
            (_, None) => {
                faults.push(note(descriptor, &rule::DESCRIPTOR_KEY_MISSING, key));
                continue;
            }
            // Checked separately.
            ("shape" | "strides", _) => true,
            ("ndim", Some(value)) => value.as_u64().is_some(),
            (_, Some(value)) => value.as_text().is_some(),
        };
        if !is_right {
            faults.push(note(descriptor, &rule::DESCRIPTOR_FIELD_TYPE, key));
        }
    }
}

/// The value of a key that must be an array of unsigned numbers.
fn numbers(descriptor: &Descriptor, key: &str, faults: &mut Vec<Fault>) -> Vec<u64> {
    let numbers = match descriptor.value(key) {
        None => return Vec::new(),
        Some(Value::Array(items)) => items.iter().map(Value::as_u64).collect(),
        Some(_) => None,
    };
    numbers.unwrap_or_else(|| {
        faults.push(note(descriptor, &rule::DESCRIPTOR_FIELD_TYPE, key));
        Vec::new()
    })
}

fn dtype(descriptor: &mut Descriptor, faults: &mut Vec<Fault>) {
    let Some(word) = descriptor.text("dtype") else { return };
    // The format has no bool.
    let dtype = DType::from_name(word).filter(|dtype| *dtype != DType::Bool);
    if dtype.is_none() {
        faults.push(note(descriptor, &rule::DESCRIPTOR_DTYPE, "dtype"));
    }
    descriptor.dtype = dtype;
}

fn byte_order(descriptor: &mut Descriptor, faults: &mut Vec<Fault>) {
    let Some(value) = descriptor.value("byte_order") else {
        let size = descriptor.dtype.and_then(DType::size);
        if size.is_some_and(|size| 1 < size) {
            faults.push(note(descriptor, &rule::NOTE_BYTE_ORDER, "byte_order"));
        }
        return;
    };
    let order = value.as_text().and_then(ByteOrder::from_word);
    if order.is_none() {
        faults.push(note(descriptor, &rule::DESCRIPTOR_BYTE_ORDER, "byte_order"));
    }
    descriptor.byte_order = order;
}

fn counts(descriptor: &Descriptor, faults: &mut Vec<Fault>) {
    let Descriptor { shape, strides, .. } = descriptor;
    if descriptor.offsets("shape").is_none() {
        return;
    }
    let count = element_count(shape);
    let len = descriptor.dtype.zip(count).map(|(dtype, count)| decoded_len(dtype, count));
    if count.is_none() || len == Some(None) {
        let (rule, at) = (&rule::DESCRIPTOR_COUNT, descriptor.place("shape"));
        let found = shape.iter().fold(1_u64, |count, extent| count.saturating_mul(*extent));
        faults.push(Fault { rule, at, found, wanted: (1 << 63) - 1 });
    }
    let (found, wanted) = (descriptor.ndim().unwrap_or_default(), shape.len() as u64);
    if found != wanted && descriptor.ndim().is_some() {
        let (rule, at) = (&rule::NOTE_NDIM, descriptor.place("ndim"));
        faults.push(Fault { rule, at, found, wanted });
    }
    if descriptor.kind() != NTENSOR && descriptor.text("type").is_some() {
        faults.push(note(descriptor, &rule::NOTE_TYPE, "type"));
    }
    if !is_row_major(shape, strides) && descriptor.value("strides").is_some() {
        faults.push(note(descriptor, &rule::NOTE_STRIDES, "strides"));
    }
}

/// Whether strides give the row-major position of every element. Axes with an extent of 1 do not
/// matter, and no strides do if there are no elements.
fn is_row_major(shape: &[u64], strides: &[u64]) -> bool {
    if shape.len() != strides.len() {
        return false;
    }
    let wanted = row_major(shape);
    let mut axes = shape.iter().zip(strides).zip(&wanted);
    shape.contains(&0) || axes.all(|((extent, found), wanted)| *extent == 1 || found == wanted)
}
