//! The masks of a descriptor (section 5.3): which elements are not finite, and where masks are.

use std::fmt;

use super::Descriptor;
use crate::Value;
use crate::error::Fault;
use crate::rule;

/// The value of the elements under a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MaskKind {
    /// Not a number.
    Nan,
    /// Positive infinity.
    PosInf,
    /// Negative infinity.
    NegInf,
}

impl MaskKind {
    /// Every kind, in the order of the wire.
    pub const ALL: [MaskKind; 3] = [MaskKind::Nan, MaskKind::PosInf, MaskKind::NegInf];

    /// The key of the kind.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            MaskKind::Nan => "nan",
            MaskKind::PosInf => "inf+",
            MaskKind::NegInf => "inf-",
        }
    }
}

impl fmt::Display for MaskKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.key())
    }
}

/// The entry of a mask in a descriptor.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskEntry {
    /// The value of its elements; `None` if unknown.
    pub kind: Option<MaskKind>,
    /// The name of its encoding.
    pub method: String,
    /// The offset of its blob in the region.
    pub offset: u64,
    /// The length of its blob.
    pub len: u64,
    /// The offset of the entry in the file.
    pub at: u64,
}

/// The entries of the masks that can be read.
pub(super) fn entries(descriptor: &Descriptor, faults: &mut Vec<Fault>) -> Vec<MaskEntry> {
    let at = descriptor.place("masks");
    let mut fault = |rule, at| faults.push(Fault { rule, at, found: 0, wanted: 0 });
    let pairs = match descriptor.value("masks") {
        None | Some(Value::Null | Value::Undefined) => return Vec::new(),
        Some(Value::Map(pairs)) => pairs,
        Some(_) => {
            fault(&rule::MASK_ENTRY, at);
            return Vec::new();
        }
    };
    let (mut entries, mut seen) = (Vec::new(), [false; 3]);
    let (mut has_others, mut is_broken) = (false, false);
    for (key, value) in pairs {
        let kind = MaskKind::ALL.into_iter().find(|kind| key.as_text() == Some(kind.key()));
        has_others |= kind.is_none();
        let slot = kind.and_then(|kind| seen.get_mut(kind as usize));
        let is_twice = slot.is_some_and(|seen| std::mem::replace(seen, true));
        match entry(kind, value, at).filter(|_| !is_twice) {
            Some(entry) => entries.push(entry),
            None => is_broken = true,
        }
    }
    if has_others {
        fault(&rule::NOTE_MASK_KIND, at);
    }
    if is_broken {
        fault(&rule::MASK_ENTRY, at);
    }
    if !entries.is_empty() {
        let dtype = descriptor.dtype;
        if dtype == Some(tet_format::DType::Bitmask) {
            fault(&rule::MASK_DTYPE, at);
        } else if dtype.is_some_and(tet_format::DType::is_integer) {
            fault(&rule::NOTE_MASK_INTEGER, at);
        }
    }
    entries.sort_by_key(|entry| (entry.kind.is_none(), entry.kind));
    entries
}

fn entry(kind: Option<MaskKind>, value: &Value, at: u64) -> Option<MaskEntry> {
    let Value::Map(pairs) = value else { return None };
    let find = |wanted: &str| {
        let mut found = pairs.iter().filter(|(key, _)| key.as_text() == Some(wanted));
        found.next().map(|(_, value)| value).filter(|_| found.next().is_none())
    };
    let method = find("method")?.as_text()?.to_owned();
    let (offset, len) = (find("offset")?.as_u64()?, find("length")?.as_u64()?);
    Some(MaskEntry { kind, method, offset, len, at })
}
