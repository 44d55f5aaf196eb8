//! Writes sparse tensors: as dense tensors that refer to each other, or as one blob (section 6).
//!
//! ```text
//!   csr   indptr, rows + 1 | indices | values
//!   coo   coordinates, value | coordinates, value | ...
//! ```

use std::io::Write;

use tet_cbor::Value;
use tet_format::DType;

use super::declaration::Declaration;
use super::options::{Dialect, SparseChoice};
use super::tensor::TensorWriter;
use super::writer::Writer;
use crate::error::Result;
use crate::words::Layout;
use tet_sparse::Places;
use tet_sparse::parts::{FORMAT_KEY, OF_KEY, PART_KEY, SHAPE_KEY, VALUES, of_places};

/// The number of numbers that are encoded at a time.
const WORD_COUNT: usize = 8 << 10;

#[derive(Clone, Copy)]
struct Parts<'a> {
    places: &'a Places,
    values: &'a [u8],
    /// The number of values.
    count: usize,
}

impl<'a> Parts<'a> {
    /// Checks the parts against each other and against the shape.
    fn new(declaration: &Declaration, places: &'a Places, values: &'a [u8]) -> Result<Self> {
        let width = declaration.dtype.size().and_then(|width| usize::try_from(width).ok());
        let width = width.unwrap_or(1);
        let count = values.len() / width;
        let sound = values.len().is_multiple_of(width)
            && places.check(&declaration.shape, count as u64).is_ok();
        let parts = Parts { places, values, count };
        if sound { Ok(parts) } else { Err(declaration.unwritable("its parts do not fit together")) }
    }

    /// The word of the sparse format.
    const fn format(self) -> &'static str {
        match self.places {
            Places::Csr { .. } => "csr",
            Places::Coo { .. } => "coo",
        }
    }

    /// The layout in files of 0.1.x.
    const fn old_layout(self) -> Layout {
        match self.places {
            Places::Csr { .. } => Layout::SparseCsr,
            Places::Coo { .. } => Layout::SparseCoo,
        }
    }

    /// The length of positions and values in bytes.
    fn blob_len(self) -> u64 {
        let word_count = match self.places {
            Places::Csr { indptr, indices } => indptr.len() + indices.len(),
            Places::Coo { coords } => coords.len(),
        };
        (word_count as u64).saturating_mul(8).saturating_add(self.values.len() as u64)
    }
}

impl<W: Write + Send> Writer<W> {
    /// Writes a sparse tensor; `declaration` has its dense shape and the dtype of its values, which
    /// are little-endian.
    ///
    /// # Errors
    ///
    /// Returns what [`Writer::tensor`] returns, and [`Error::Unwritable`](crate::Error::Unwritable)
    /// when the parts do not match each other, or the dialect does not support the tensor.
    pub fn sparse(
        &mut self,
        declaration: Declaration,
        places: &Places,
        values: &[u8],
    ) -> Result<()> {
        let dense_len = declaration.decoded_len()?;
        let parts = Parts::new(&declaration, places, values)?;
        match self.options.sparse {
            SparseChoice::Split => self.split(declaration, parts),
            SparseChoice::Native => self.native(declaration, parts, dense_len),
        }
    }

    fn native(
        &mut self,
        mut declaration: Declaration,
        parts: Parts<'_>,
        dense_len: u64,
    ) -> Result<()> {
        let blob_len = parts.blob_len();
        let layout = match self.options.dialect {
            Dialect::Common => {
                let format = Value::Text(parts.format().to_owned());
                declaration.custom.push(("sparse_format".to_owned(), format));
                declaration.custom.push(("nnz".to_owned(), Value::Int(parts.count as i128)));
                Layout::Csr.word()
            }
            Dialect::V01x if blob_len == dense_len => parts.old_layout().word(),
            Dialect::V01x => {
                let why = "programs of 0.1.x write it only if it is as long as its dense form";
                return Err(declaration.unwritable(why));
            }
        };
        let options = self.options;
        let declared = self.declare(declaration, layout, blob_len, &options)?;
        let rank = declared.declaration.shape.len();
        let mut tensor = TensorWriter::new(self, declared, &options)?;
        match parts.places {
            Places::Csr { indptr, indices } => {
                words(&mut tensor, indptr)?;
                words(&mut tensor, indices)?;
                tensor.write(parts.values)?;
            }
            Places::Coo { coords } => records(&mut tensor, coords, rank, parts)?,
        }
        tensor.finish().map(|_| ())
    }

    fn split(&mut self, declaration: Declaration, parts: Parts<'_>) -> Result<()> {
        let Declaration { name, dtype, shape, custom } = declaration;
        let count = parts.count as u64;
        let part = |part: &str, dtype: DType, shape: Vec<u64>| {
            Declaration::new(format!("{name}.{part}"), dtype, shape)
                .with(OF_KEY, Value::Text(name.clone()))
                .with(PART_KEY, Value::Text(part.to_owned()))
        };
        let numbers: &[&[u64]] = match parts.places {
            Places::Csr { indptr, indices } => &[indptr, indices],
            Places::Coo { coords } => &[coords],
        };
        let places = of_places(parts.format(), &shape, count).unwrap_or_default();
        for ((name, extents), numbers) in places.into_iter().zip(numbers) {
            let mut tensor = self.tensor(part(name, DType::UInt64, extents))?;
            words(&mut tensor, numbers)?;
            tensor.finish()?;
        }
        let extents = shape.iter().map(|&extent| Value::Int(extent.into())).collect();
        let mut values = part(VALUES, dtype, vec![count])
            .with(FORMAT_KEY, Value::Text(parts.format().to_owned()))
            .with(SHAPE_KEY, Value::Array(extents));
        values.custom.extend(custom);
        self.whole(values, parts.values)
    }
}

fn words<W: Write + Send>(tensor: &mut TensorWriter<'_, W>, numbers: &[u64]) -> Result<()> {
    let mut bytes = Vec::with_capacity(8 * WORD_COUNT.min(numbers.len()));
    numbers.chunks(WORD_COUNT).try_for_each(|numbers| {
        bytes.clear();
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        tensor.write(&bytes)
    })
}

/// Writes each value after its coordinates.
fn records<W: Write + Send>(
    tensor: &mut TensorWriter<'_, W>,
    coords: &[u64],
    rank: usize,
    Parts { values, count, .. }: Parts<'_>,
) -> Result<()> {
    let width = values.len().checked_div(count).unwrap_or(0).max(1);
    let mut bytes = Vec::new();
    for (place, value) in coords.chunks_exact(rank.max(1)).zip(values.chunks_exact(width)) {
        place.iter().for_each(|at| bytes.extend(at.to_le_bytes()));
        bytes.extend_from_slice(value);
        if 8 * WORD_COUNT <= bytes.len() {
            tensor.write(&bytes)?;
            bytes.clear();
        }
    }
    tensor.write(&bytes)
}
