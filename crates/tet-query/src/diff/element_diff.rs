//! Differences between the elements of two datasets.

use super::change::DiffNorms;
use crate::scalar::Scalar;

/// Differences between the elements of two datasets.
///
/// # Examples
///
/// ```
/// use tet_query::{ElementDiff, Scalar};
///
/// let found = ElementDiff { count: 100, differing: 2, max_abs: Some(Scalar::Int(7)), ..Default::default() };
/// assert!(found.differing > 0 && found.first.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ElementDiff {
    /// Elements of each.
    pub count: u64,
    /// Those that differ.
    pub differing: u64,
    /// Those of which one alone is NaN.
    pub nan_count: u64,
    /// Elements that were not read, because the digests of their chunks are equal.
    pub skipped: u64,
    /// The largest |a - b| of elements that differ, exact for integers; none where all of these are NaN or infinite.
    pub max_abs: Option<Scalar>,
    /// The largest |a - b| / |b| of elements that differ, infinite where b is 0.
    pub max_rel: Option<f64>,
    /// The first element that differs, row-major.
    pub first: Option<DifferingElement>,
    /// The first element of the largest difference.
    pub worst: Option<DifferingElement>,
    /// How far all elements are apart; `None` where none differ, where they are texts or were compared as bytes, and where
    /// elements were skipped.
    pub change: Option<DiffNorms>,
    /// The blocks that were compared as bytes, of which `differing` counts those that differ; `None` where elements were.
    pub block: Option<DiffBlock>,
}

/// Elements that are stored together.
///
/// # Examples
///
/// ```
/// use tet_query::DiffBlock;
///
/// let q4_k = DiffBlock { count: 256, len: 144 };
/// assert_eq!(q4_k.len * 8 * 2, q4_k.count * 9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffBlock {
    /// Elements of a block.
    pub count: u64,
    /// Bytes of a block.
    pub len: u64,
}

/// An element that differs.
///
/// # Examples
///
/// ```
/// use tet_query::{DiffValue, DifferingElement};
///
/// let values = ["one", "two"].map(|text| DiffValue::Text(text.to_owned()));
/// assert_eq!(DifferingElement { position: vec![3, 0], values }.position, [3, 0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DifferingElement {
    /// Its position along each axis of the first dataset.
    pub position: Vec<u64>,
    /// The elements of both.
    pub values: [DiffValue; 2],
}

impl DifferingElement {
    /// Names the integers that stand for missing times in each dataset.
    pub(super) fn name_missing_times(&mut self, masked: [Option<i64>; 2]) {
        for (value, masked) in self.values.iter_mut().zip(masked) {
            let missing = masked.map(|it| DiffValue::Number(Scalar::Int(it.into())));
            if missing.as_ref() == Some(value) {
                *value = DiffValue::NotATime;
            }
        }
    }
}

/// An element of any dataset.
///
/// # Examples
///
/// ```
/// use tet_query::{DiffValue, Scalar};
///
/// assert_ne!(DiffValue::Number(Scalar::Int(1)), DiffValue::Text("1".to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum DiffValue {
    /// A number or a truth; of floats or integers of different types one of the wider type.
    Number(Scalar),
    /// A missing time, among times that are integers.
    NotATime,
    /// A string.
    Text(String),
    /// The bytes of a block.
    Bytes(Vec<u8>),
}
