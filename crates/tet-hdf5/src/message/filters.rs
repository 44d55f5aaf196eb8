//! Filter pipelines (section IV.A.2.l).

use crate::error::{Result, fault};
use crate::reader::Fields;
use crate::rule;

/// A filter that chunks went through when they were written.
///
/// # Examples
///
/// ```
/// use tet_hdf5::StoredFilter;
///
/// let deflate = StoredFilter { id: 1, name: "deflate".to_owned(), is_optional: false, values: vec![4] };
/// assert_eq!(deflate.values[0], 4, "the level");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFilter {
    /// Its registered number.
    pub id: u16,
    /// Its name; empty where the file has none.
    pub name: String,
    /// Whether a chunk may leave it out.
    pub is_optional: bool,
    /// Its parameters.
    pub values: Vec<u32>,
}

/// Reads a pipeline.
pub(crate) fn read(fields: &mut Fields<'_>) -> Result<Vec<StoredFilter>> {
    let at = fields.at();
    let version = fields.byte()?;
    let count = fields.byte()?;
    match version {
        1 => {
            fields.take(6)?;
        }
        2 => {}
        _ => return Err(fault(&rule::MESSAGE_VERSION, at, version.into(), 2)),
    }
    let mut filters = Vec::new();
    for _ in 0..count {
        let id = fields.u16()?;
        let has_name = version == 1 || 256 <= id;
        let name_len = if has_name { usize::from(fields.u16()?) } else { 0 };
        let flags = fields.u16()?;
        let value_count = fields.u16()?;
        let name = String::from_utf8_lossy(fields.take(name_len)?);
        let name = name.split('\0').next().unwrap_or_default().to_owned();
        let mut values = Vec::new();
        for _ in 0..value_count {
            values.push(fields.u32()?);
        }
        if version == 1 && value_count % 2 == 1 {
            fields.take(4)?;
        }
        filters.push(StoredFilter { id, name, is_optional: flags & 1 != 0, values });
    }
    Ok(filters)
}
