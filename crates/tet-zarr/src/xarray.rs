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

/// The float of such a text; `None` for other texts.
///
/// ```
/// assert_eq!(tet_zarr::fill_of_attribute("AAAAAAAAFsA="), Some(-5.5));
/// assert_eq!(tet_zarr::fill_of_attribute("-5.5"), None);
/// ```
#[must_use]
pub fn fill_of_attribute(text: &str) -> Option<f64> {
    let bytes = base64::decode(text.as_bytes()).filter(|_| text.len() == 12)?;
    Some(f64::from_le_bytes(bytes.try_into().ok()?))
}
