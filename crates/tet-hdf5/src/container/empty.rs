//! Empty matrices of MATLAB 7.3: their elements are their extents, and an attribute says so.

use std::sync::Arc;

use tet_format::{DType, Grid, Shape};
use tet_query::{AttrText, Dataset, Execution, Hyperslab};

use super::chunks::Absent;
use tet_container::read::slabs::too_deep;

/// The attribute of a dataset whose elements are the extents of a matrix without elements.
const EMPTY_KEY: &str = "MATLAB_empty";
/// The attribute of the class of a matrix.
const CLASS_KEY: &str = "MATLAB_class";
/// The most extents.
const RANK_MAX: u64 = 32;

/// A dataset as the empty matrix that it stands for; as it is where it stands for none.
pub(super) fn matrix(dataset: Dataset) -> Dataset {
    let is_empty =
        dataset.attrs.get(EMPTY_KEY).is_some_and(|it| !["0", "false"].contains(&it.text()));
    match extents(&dataset).filter(|_| is_empty) {
        Some(extents) => of_extents(dataset, &extents),
        None => dataset,
    }
}

/// The elements of a short dataset, of which one is 0.
fn extents(dataset: &Dataset) -> Option<Vec<u64>> {
    let is_short = dataset.shape().len() == 1 && dataset.shape().iter().all(|it| *it <= RANK_MAX);
    if !is_short || !dataset.attrs.contains_key(EMPTY_KEY) || dataset.why().is_some() {
        return None;
    }
    let array = dataset.read(&Hyperslab::whole(dataset.shape()), &Execution::default()).ok()?.value;
    let number = |at| match array.get(at)? {
        tet_query::Scalar::Int(number) => u64::try_from(number).ok(),
        _ => None,
    };
    let extents: Vec<u64> = (0..array.len()).map(number).collect::<Option<_>>()?;
    (extents.contains(&0) && too_deep(&extents).is_none()).then_some(extents)
}

fn of_extents(dataset: Dataset, extents: &[u64]) -> Dataset {
    let class = dataset.attrs.get(CLASS_KEY).map(AttrText::text);
    let dtype = match class {
        Some("double") => Some(DType::Float64),
        Some("single") => Some(DType::Float32),
        Some("logical") => Some(DType::UInt8),
        Some("char") => Some(DType::UInt16),
        Some(class) => DType::from_name(class).filter(|it| it.is_integer()),
        None => None,
    };
    let dtype = dtype.or(dataset.dtype).unwrap_or(DType::Float64);
    let size = dtype.size().unwrap_or(1);
    let Some(fill) =
        usize::try_from(size).ok().and_then(|len| tet_codec::FillValue::new(&vec![0; len]))
    else {
        return dataset;
    };
    let chunk_shape: Shape = extents.iter().map(|extent| (*extent).max(1)).collect();
    let Some(grid) = Grid::new(Shape::from(extents), chunk_shape) else { return dataset };
    let chunks = Arc::new(Absent { fill, grid: grid.clone(), element_size: size });
    let (name, source) = (dataset.name.clone(), dataset.source.clone());
    let mut attrs = dataset.attrs;
    // The elements are those of the matrix now.
    attrs.remove(EMPTY_KEY);
    Dataset { attrs, ..Dataset::new(source, name, dtype, grid, chunks) }
}
