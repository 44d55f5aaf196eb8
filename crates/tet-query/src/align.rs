//! How the axes of two datasets compare: extents, names, labels.

use crate::catalog::Dataset;

/// The axes of two datasets, compared pair by pair.
#[derive(Clone, Debug)]
pub struct Alignment<'a> {
    /// The other dataset.
    pub with: &'a Dataset,
    /// The pairs, in the order they were asked for.
    pub axes: Vec<AxisAlignment>,
}

impl Alignment<'_> {
    /// Whether every pair agrees in extent, name and labels.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.axes.iter().all(AxisAlignment::agrees)
    }
}

/// One axis of each dataset. What stands first is the queried dataset's, then the other's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisAlignment {
    /// Which axes.
    pub axes: [usize; 2],
    /// How long they are.
    pub extents: [u64; 2],
    /// What they are called.
    pub names: [Option<String>; 2],
    /// How their labels compare.
    pub labels: LabelAlignment,
}

impl AxisAlignment {
    /// Whether extent, name and labels agree.
    #[must_use]
    pub fn agrees(&self) -> bool {
        let AxisAlignment { axes: _, extents, names, labels } = self;
        extents[0] == extents[1] && names[0] == names[1] && labels.agree()
    }
}

/// How the labels of two axes compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelAlignment {
    /// Neither has labels.
    Absent,
    /// All are equal.
    Equal,
    /// Only the first, or only the second, has labels.
    OneSided {
        /// Whether each has labels.
        labeled: [bool; 2],
    },
    /// The first position where they differ; a label is absent past the end of its axis.
    Differ {
        /// The position.
        position: u64,
        /// The labels there.
        labels: [Option<String>; 2],
    },
}

impl LabelAlignment {
    /// Whether the labels agree; without any on both sides they do.
    #[must_use]
    pub const fn agree(&self) -> bool {
        matches!(self, LabelAlignment::Absent | LabelAlignment::Equal)
    }
}
