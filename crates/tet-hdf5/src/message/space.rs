//! Dataspaces: shape and largest shape (section IV.A.2.b).

use crate::error::{Result, fault};
use crate::reader::Fields;
use crate::rule;

/// The most axes of a dataset.
pub(crate) const RANK_MAX: usize = 32;

/// The extents of a dataset or an attribute.
///
/// # Examples
///
/// ```
/// use tet_hdf5::Space;
///
/// let space = Space { shape: vec![10, 4], max_shape: vec![None, Some(4)], is_null: false };
/// assert_eq!(space.element_count(), Some(40));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// The extents; none for one element.
    pub shape: Vec<u64>,
    /// The largest shape; `None` is unlimited.
    pub max_shape: Vec<Option<u64>>,
    /// Whether there are no elements and no axes.
    pub is_null: bool,
}

impl Space {
    /// The number of elements; `None` when it does not fit in 64 bits.
    #[must_use]
    pub fn element_count(&self) -> Option<u64> {
        if self.is_null || self.shape.contains(&0) {
            return Some(0);
        }
        self.shape.iter().try_fold(1_u64, |count, &extent| count.checked_mul(extent))
    }
}

/// Reads a dataspace.
pub(crate) fn read(fields: &mut Fields<'_>) -> Result<Space> {
    let at = fields.at();
    let version = fields.byte()?;
    let rank = usize::from(fields.byte()?);
    let flags = fields.byte()?;
    let kind = fields.byte()?;
    match version {
        1 => {
            fields.take(4)?;
        }
        2 => {}
        _ => return Err(fault(&rule::MESSAGE_VERSION, at, version.into(), 2)),
    }
    if RANK_MAX < rank {
        return Err(fault(&rule::DATASPACE, at.saturating_add(1), rank as u64, RANK_MAX as u64));
    }
    let is_null = version == 2 && kind == 2;
    let mut space = Space { is_null, ..Space::default() };
    for _ in 0..rank {
        space.shape.push(fields.length()?);
    }
    if flags & 1 == 0 {
        space.max_shape = space.shape.iter().copied().map(Some).collect();
    } else {
        for _ in 0..rank {
            space.max_shape.push(fields.length_or_none()?);
        }
    }
    match space.element_count() {
        Some(count) if count < 1 << 63 => Ok(space),
        count => Err(fault(&rule::DATASPACE, at, count.unwrap_or(u64::MAX), 1 << 63)),
    }
}
