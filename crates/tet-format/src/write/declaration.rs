//! The content of a new file.

use super::WriteError;
use crate::dtype::DType;
use crate::layout::{Align, RANK_MAX};
use crate::limits::Limits;
use crate::shape::Shape;
use alloc::string::String;
use alloc::vec::Vec;

/// A dataset of a new file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetSpec {
    /// The name: not empty and not repeated.
    pub name: String,
    /// The type of the elements; one with a [`tet_tag`](DType::tet_tag).
    pub dtype: DType,
    /// The extents of the dataset.
    pub shape: Shape,
    /// The extents of a chunk. They need not divide the shape and may exceed it.
    pub chunk_shape: Shape,
}

impl DatasetSpec {
    /// A dataset of a new file.
    pub fn new(
        name: impl Into<String>,
        dtype: DType,
        shape: impl Into<Shape>,
        chunk_shape: impl Into<Shape>,
    ) -> DatasetSpec {
        let [shape, chunk_shape] = [shape.into(), chunk_shape.into()];
        DatasetSpec { name: name.into(), dtype, shape, chunk_shape }
    }
}

/// Whether a dataset may have an extent of 0. Readers accept it; other writers refuse it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZeroExtents {
    /// Refuse it.
    #[default]
    Refuse,
    /// Write it as a dataset without chunks.
    Allow,
}

/// The content of a new file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declaration {
    /// The datasets, in the order of their ids.
    pub datasets: Vec<DatasetSpec>,
    /// The alignment of the payloads of each dataset.
    pub align: Align,
    /// For how many more rows there is room behind the index, so that the file can grow and its payloads stay.
    pub reserved_rows: u64,
}

impl Declaration {
    /// These datasets, at the default alignment and without room for more rows.
    pub fn new(datasets: impl Into<Vec<DatasetSpec>>) -> Declaration {
        Declaration { datasets: datasets.into(), ..Declaration::default() }
    }
}

/// Checks that v1 supports a dataset, and other readers read it.
pub(super) fn check_spec(
    dataset: usize,
    spec: &DatasetSpec,
    zeros: ZeroExtents,
) -> Result<(), WriteError> {
    let name_len = crate::wire::len_of(spec.name.as_bytes());
    if name_len == 0 || name_len > Limits::default().name_len_max {
        return Err(WriteError::NameLen { dataset, name_len });
    }
    let [rank, chunk_rank] = [spec.shape.rank(), spec.chunk_shape.rank()];
    let fits = u32::try_from(rank).is_ok_and(|rank| 0 < rank && rank <= RANK_MAX);
    if rank != chunk_rank || !fits {
        return Err(WriteError::Rank { dataset, rank, chunk_rank });
    }
    if let Some(axis) = spec.chunk_shape.iter().position(|&extent| extent == 0) {
        return Err(WriteError::ChunkExtent { dataset, axis });
    }
    match (zeros, spec.shape.iter().position(|&extent| extent == 0)) {
        (ZeroExtents::Refuse, Some(axis)) => Err(WriteError::ExtentZero { dataset, axis }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec;

    fn error_of(shape: &[u64], chunk_shape: &[u64]) -> String {
        let spec = DatasetSpec::new("a", DType::Float64, shape, chunk_shape);
        Declaration::new([spec]).layout().map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn shapes_that_v1_cannot_hold_are_refused() {
        let big = 1 << 32;
        for (shape, chunk_shape, word) in [
            (&[][..], &[][..], "1 to 8 axes"),
            (&[1; 9], &[1; 9], "1 to 8 axes"),
            (&[2, 3], &[2], "found 2 and 1"),
            (&[2, 3], &[2, 0], "chunk extent of axis 1"),
            (&[2, 0], &[2, 1], "extent of axis 1 is 0"),
            (&[big, big], &[1, 1], "64 bits"),
            (&[big, big], &[big, big], "64 bits"),
        ] {
            let text = error_of(shape, chunk_shape);
            assert!(text.contains(word), "{shape:?} {chunk_shape:?}: {text}");
        }
    }

    #[test]
    fn names_and_types_that_v1_cannot_hold_are_refused() {
        let spec = |name: &str, dtype| DatasetSpec::new(name, dtype, [2], [2]);
        let error = |specs: Vec<DatasetSpec>| Declaration::new(specs).layout().unwrap_err();
        let [float, bool] = [DType::Float32, DType::Bool];
        assert!(matches!(error(vec![spec("", float)]), WriteError::NameLen { dataset: 0, .. }));
        assert!(matches!(error(vec![spec("a", bool)]), WriteError::NoTag { dataset: 0, .. }));
        let long = "n".repeat(4097);
        assert!(matches!(error(vec![spec(&long, float)]), WriteError::NameLen { .. }));
        assert!(Declaration::new([spec(&long[1..], float)]).layout().is_ok());
        let twins = vec![spec("a", float), spec("b", float), spec("a", float)];
        assert!(matches!(error(twins), WriteError::NameTwice { dataset: 2, first: 0 }));
    }

    #[test]
    fn empty_datasets_are_written_when_asked_for() {
        let declaration = Declaration::new([DatasetSpec::new("a", DType::UInt8, [0, 3], [1, 3])]);
        assert_eq!(declaration.layout_with(ZeroExtents::Allow).unwrap().row_count(), 0);
    }
}
