//! Parts of elements that nothing computes with, as the bytes that contain them.

use tet_query::{AxisSlice, Dataset, Hyperslab};

use super::attributes::shape_text;
use super::logical::SHAPE_KEY;
use crate::{Error, Result};

/// The part of `bytes`, which hold the elements of `dataset`, with the selected elements.
///
/// # Errors
/// These do not start and end at a byte.
pub fn selected(dataset: &Dataset, bytes: &Dataset, slab: &Hyperslab) -> Result<Hyperslab> {
    if dataset.shape() == bytes.shape() {
        return Ok(slab.clone());
    }
    if *slab == Hyperslab::whole(dataset.shape()) {
        return Ok(Hyperslab::whole(bytes.shape()));
    }
    let part = || {
        let (last, head) = slab.axes().split_last()?;
        let (&extent, outer) = dataset.shape().split_last()?;
        let (&len, outer_of_bytes) = bytes.shape().split_last()?;
        let is_plain = outer == outer_of_bytes && last.step == 1 && last.is_kept();
        let place = |at: u64| {
            let scaled = at.checked_mul(len)?;
            let is_whole = extent != 0 && scaled.is_multiple_of(extent);
            is_whole.then(|| scaled / extent)
        };
        let (start, stop) = place(last.start).zip(place(last.stop)).filter(|_| is_plain)?;
        let last = AxisSlice { start, stop, ..*last };
        Hyperslab::new(head.iter().copied().chain([last]).collect(), bytes.shape())
    };
    let (name, dtype) = (dataset.name.clone(), dataset.dtype_name.clone());
    part().ok_or(Error::PartOfBytes { dataset: name, dtype })
}

/// Sets the shape of the selected elements, where that of their bytes is another.
pub fn set_shape(bytes: &mut Dataset, slab: &Hyperslab) {
    let shape = slab.kept_shape();
    if bytes.attrs.remove(SHAPE_KEY).is_some() || *bytes.grid.shape() != shape {
        bytes.attrs.insert(SHAPE_KEY.to_owned(), shape_text(&shape));
    }
}
