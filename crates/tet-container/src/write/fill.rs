//! Fill values that an input has of its own, which no attribute has to name.

use tet_format::DType;
use tet_query::Dataset;

use crate::model::attributes::{FILL_KEY, given};
use crate::write::options::ImportOptions;

/// The fill value of a dataset that is written with elements of this type; `None` where the input sets none, or the caller
/// sets one by an attribute.
pub fn own<'d>(dataset: &'d Dataset, dtype: DType, options: &ImportOptions) -> Option<&'d [u8]> {
    let fill = dataset.fill.as_deref()?;
    let is_given = given(&dataset.name, 0, options).attrs.iter().any(|(key, _)| key == FILL_KEY);
    let fits = dtype.size() == u64::try_from(fill.len()).ok();
    (fits && !is_given).then_some(fill)
}
