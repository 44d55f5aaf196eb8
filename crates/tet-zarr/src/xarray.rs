//! Missing values as xarray stores them in attributes of version 3: a float is the base64 of its
//! eight bytes as a `float64`, so that NaN and infinities are JSON.

use crate::base64;

/// The text of a float in the attribute `_FillValue`.
///
/// ```
/// assert_eq!(tet_zarr::fill_attribute(f64::NAN), "AAAAAAAA+H8=");
/// ```
#[must_use]
pub fn fill_attribute(value: f64) -> String {
    base64::encode(&value.to_le_bytes())
}
