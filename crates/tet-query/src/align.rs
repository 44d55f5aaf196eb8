//! How the axes of two datasets compare: extents, names, labels.

use crate::budget::Execution;
use crate::catalog::{Catalog, Dataset};
use crate::error::Result;
use crate::labels::{CatalogLabels, LabelLookup, Labels};

/// The axes of two datasets, compared pair by pair.
#[derive(Clone, Debug)]
pub struct Alignment {
    /// The other dataset.
    pub with: Dataset,
    /// The pairs, in the requested order.
    pub axes: Vec<AxisAlignment>,
}

impl Alignment {
    /// Compares pairs of axes: the first of each is one of the first dataset, the second one of the other. Each
    /// comes with the catalog that has its labels.
    ///
    /// # Errors
    ///
    /// The labels cannot be read.
    pub fn compare(
        datasets: [(&Catalog, &Dataset); 2],
        pairs: &[[usize; 2]],
        how: &Execution,
    ) -> Result<Alignment> {
        let labels = datasets.map(|(catalog, it)| CatalogLabels::new(catalog, it, how));
        let [dataset, with] = datasets.map(|(_, dataset)| dataset);
        let axis = |&axes: &[usize; 2]| {
            let extent = |of: &Dataset, axis: usize| of.shape().get(axis).copied().unwrap_or(0);
            let extents = [extent(dataset, axes[0]), extent(with, axes[1])];
            let names = [dataset.dims.get(axes[0]).cloned(), with.dims.get(axes[1]).cloned()];
            let of = |side: usize| -> Result<Option<Labels<'_>>> {
                let first = usize::try_from(extents[side]).unwrap_or(usize::MAX);
                Ok(labels[side].labels(axes[side])?.map(|labels| labels.first(first)))
            };
            Ok(AxisAlignment { axes, extents, names, labels: compared(of(0)?, of(1)?) })
        };
        Ok(Alignment { with: with.clone(), axes: pairs.iter().map(axis).collect::<Result<_>>()? })
    }

    /// Whether every pair agrees in extent, name and labels.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.axes.iter().all(AxisAlignment::agrees)
    }
}

/// One axis of each dataset: of the queried dataset first, then of the other.
///
/// # Examples
///
/// ```
/// use tet_query::{AxisAlignment, LabelAlignment};
///
/// let names = [Some("x".to_owned()), Some("x".to_owned())];
/// let axis = AxisAlignment { axes: [0, 2], extents: [3, 3], names, labels: LabelAlignment::Absent };
/// assert!(axis.agrees());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisAlignment {
    /// Which axes.
    pub axes: [usize; 2],
    /// How long they are.
    pub extents: [u64; 2],
    /// The names of its dimensions, one per dataset.
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
    /// The first position where labels of both differ, and these labels; a label is absent past the end of its axis.
    #[must_use]
    pub fn difference(&self) -> Option<(u64, [Option<String>; 2])> {
        match self {
            LabelAlignment::Differ { position, labels } => Some((*position, labels.clone())),
            _ => None,
        }
    }

    /// Whether the labels agree; without any on both sides they do.
    #[must_use]
    pub const fn agree(&self) -> bool {
        matches!(self, LabelAlignment::Absent | LabelAlignment::Equal)
    }
}

/// The labels of two axes, position by position.
fn compared(labels: Option<Labels<'_>>, other: Option<Labels<'_>>) -> LabelAlignment {
    let (labels, other) = match (labels, other) {
        (None, None) => return LabelAlignment::Absent,
        (Some(labels), Some(other)) => (labels, other),
        (labels, other) => {
            return LabelAlignment::OneSided { labeled: [labels.is_some(), other.is_some()] };
        }
    };
    let count = labels.len().max(other.len());
    match (0..count).find(|&at| !labels.same(&other, at)) {
        None => LabelAlignment::Equal,
        Some(at) => LabelAlignment::Differ {
            position: u64::try_from(at).unwrap_or(u64::MAX),
            labels: [labels.text(at), other.text(at)],
        },
    }
}
