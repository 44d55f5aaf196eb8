//! Sparse tensors that a file has as dense parts, put together.

use std::sync::Arc;

use tet_format::{DType, ForeignRule};
use tet_query::{Dataset, Execution, Hyperslab};
use tet_sparse::{Places, Scattered, Sparse, rule};

use crate::model::logical;
use crate::model::sparse::{
    FORMAT_KEY, OF_KEY, PART_KEY, SHAPE_KEY, SparseStorage, SparseTensor, VALUES, parts, tensor,
    text,
};
use crate::read::bands::{Bands, Stored};
use crate::read::slabs::no_bytes;
use crate::{Error, Result};

/// A sparse tensor that was made of its parts again.
#[derive(Debug)]
pub struct Joined {
    /// All its elements. Its position is that of no dataset of the file.
    pub dataset: Dataset,
    /// Those that are stored.
    pub stored: Arc<Scattered>,
    /// The positions of its parts.
    parts: Vec<usize>,
}

impl Joined {
    /// The positions of its parts.
    pub fn parts(&self) -> &[usize] {
        &self.parts
    }
}

/// The sparse tensors whose parts are all among `datasets`, put together.
///
/// # Errors
/// Parts do not fit together, memory may not hold them, or they cannot be read.
pub fn joined(datasets: &[&Dataset], how: &Execution) -> Result<Vec<Joined>> {
    let parts = parts(datasets.iter().copied());
    let values = datasets.iter().filter(|it| text(it, PART_KEY) == Some(VALUES));
    let mut all = Vec::new();
    let mut held = 0_u64;
    for values in values {
        let Some(fitted) = tensor(&parts, values, SparseStorage::Split) else { continue };
        let name = text(values, OF_KEY).unwrap_or_default();
        let broken = |rule| Error::Parts { dataset: name.to_owned(), rule };
        let (tensor, parts) = fitted.map_err(broken)?;
        let lens = parts.iter().map(|it| logical::byte_len(it));
        held = lens.fold(held, u64::saturating_add);
        // Bytes and the numbers made of them are held at once.
        let (wanted, budget) = (held.saturating_mul(2), how.memory_budget);
        if budget < wanted {
            return Err(tet_query::Error::Budget { wanted, budget }.into());
        }
        let physical = logical::to_physical(values, "ztensor", is_real)?;
        // Values of several numbers each are none of a sparse tensor.
        if physical.view.shape() == values.shape() {
            let position = usize::MAX - all.len();
            all.push(join(&tensor, &parts, physical.view, position, how)?.map_err(broken)?);
        }
    }
    Ok(all)
}

/// The dtypes of values.
const fn is_real(dtype: DType) -> bool {
    !matches!(dtype, DType::Complex64 | DType::Complex128 | DType::Bitmask)
}

fn join(
    tensor: &SparseTensor,
    parts: &[&Dataset],
    values: Dataset,
    position: usize,
    how: &Execution,
) -> Result<std::result::Result<Joined, &'static ForeignRule>> {
    let read = |dataset: &Dataset| -> Result<Vec<u8>> {
        let slab = Hyperslab::whole(dataset.shape());
        Ok(dataset.read(&slab, how)?.bytes().to_vec())
    };
    let words = |at: usize| -> Result<Option<Vec<u64>>> {
        let Some(dataset) = parts.get(at).filter(|it| it.dtype == Some(DType::UInt64)) else {
            return Ok(None);
        };
        let bytes = read(dataset)?;
        Ok(Some(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()))
    };
    let places = match tensor.format {
        "csr" => words(0)?.zip(words(1)?).map(|(indptr, indices)| Places::Csr { indptr, indices }),
        _ => words(0)?.map(|coords| Places::Coo { coords }),
    };
    let facts = places.zip(values.dtype).and_then(|(places, dtype)| {
        let size = dtype.size()?;
        let count = tet_format::Shape::from(&*tensor.shape).element_count()?;
        let is_small = count.checked_mul(size).is_some_and(|len| len < 1 << 63);
        is_small.then_some((places, dtype, size))
    });
    let Some((places, dtype, size)) = facts else { return Ok(Err(&rule::PART_FIT)) };
    let sparse = match Sparse::of_parts(tensor.shape.clone(), size, places, read(&values)?) {
        Ok(sparse) => sparse,
        Err(rule) => return Ok(Err(rule)),
    };
    let stored = Arc::new(Scattered::new(sparse));
    let of = Arc::new(Stored::Held(Arc::clone(&stored)));
    let bands = Bands::new(&tensor.shape, size, no_bytes(), &of, u64::MAX);
    let mut attrs = values.attrs;
    [OF_KEY, PART_KEY, FORMAT_KEY, SHAPE_KEY].iter().for_each(|key| drop(attrs.remove(*key)));
    let (source, grid) = (values.source, bands.grid().clone());
    let dataset = Dataset {
        index: position,
        attrs,
        ..Dataset::new(source, &tensor.name, dtype, grid, Arc::new(bands))
    };
    Ok(Ok(Joined { dataset, stored, parts: parts.iter().map(|it| it.index).collect() }))
}
