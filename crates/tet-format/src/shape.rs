//! The extents of a dataset or a chunk.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;

/// The extents of a dataset or a chunk, slowest axis first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape(Vec<u64>);

impl Shape {
    /// The number of axes.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The product of the extents: 0 if any is 0, 1 for rank 0, `None` on overflow.
    #[must_use]
    pub fn element_count(&self) -> Option<u64> {
        product(self.0.iter().copied())
    }

    /// The extents.
    #[must_use]
    pub fn as_slice(&self) -> &[u64] {
        &self.0
    }

    /// The extents, owned.
    #[must_use]
    pub fn into_vec(self) -> Vec<u64> {
        self.0
    }
}

/// The product of `extents`; a zero anywhere makes it 0, whatever the others are.
pub(crate) fn product(extents: impl Iterator<Item = u64>) -> Option<u64> {
    let mut product = Some(1_u64);
    for extent in extents {
        if extent == 0 {
            return Some(0);
        }
        product = product.and_then(|product| product.checked_mul(extent));
    }
    product
}

impl Deref for Shape {
    type Target = [u64];
    fn deref(&self) -> &[u64] {
        &self.0
    }
}

impl AsRef<[u64]> for Shape {
    fn as_ref(&self) -> &[u64] {
        &self.0
    }
}

impl From<Vec<u64>> for Shape {
    fn from(extents: Vec<u64>) -> Shape {
        Shape(extents)
    }
}

impl From<&[u64]> for Shape {
    fn from(extents: &[u64]) -> Shape {
        Shape(extents.to_vec())
    }
}

impl<const N: usize> From<[u64; N]> for Shape {
    fn from(extents: [u64; N]) -> Shape {
        Shape(extents.to_vec())
    }
}

impl FromIterator<u64> for Shape {
    fn from_iter<I: IntoIterator<Item = u64>>(extents: I) -> Shape {
        Shape(extents.into_iter().collect())
    }
}

impl fmt::Display for Shape {
    /// In NumPy notation: `(3, 4)`, and `(3,)` for one axis.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (axis, extent) in self.0.iter().enumerate() {
            if axis != 0 {
                f.write_str(", ")?;
            }
            write!(f, "{extent}")?;
        }
        f.write_str(if self.0.len() == 1 { ",)" } else { ")" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn element_count_is_checked_and_zero_wins() {
        let cases: [(&[u64], Option<u64>); 7] = [
            (&[], Some(1)),
            (&[3, 4], Some(12)),
            (&[1 << 32, 1 << 31], Some(1 << 63)),
            (&[1 << 32, 1 << 32], None),
            (&[(1 << 63) + 2, 2], None),
            (&[0, 1 << 32, 1 << 32], Some(0)),
            (&[1 << 32, 1 << 32, 0], Some(0)),
        ];
        for (extents, wanted) in cases {
            assert_eq!(Shape::from(extents).element_count(), wanted, "{extents:?}");
        }
    }

    #[test]
    fn prints_as_numpy_does() {
        assert_eq!(Shape::from([3, 4]).to_string(), "(3, 4)");
        assert_eq!(Shape::from([3]).to_string(), "(3,)");
        assert_eq!(Shape::default().to_string(), "()");
    }
}
