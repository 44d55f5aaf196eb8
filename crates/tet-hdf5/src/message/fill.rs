//! Fill values (section IV.A.2.e and IV.A.2.f).

use crate::error::Result;
use crate::reader::Fields;

/// The fill value of the newer message: its bytes; `None` for the default, which is zeros.
pub(crate) fn read(fields: &mut Fields<'_>) -> Result<Option<Vec<u8>>> {
    let version = fields.byte()?;
    let is_defined = if version < 3 {
        fields.take(2)?;
        // Version 1 has a length in any case.
        fields.byte()? != 0 || version == 1
    } else {
        fields.byte()? & 0x20 != 0
    };
    if !is_defined {
        return Ok(None);
    }
    old(fields)
}

/// The fill value of the older message.
pub(crate) fn old(fields: &mut Fields<'_>) -> Result<Option<Vec<u8>>> {
    if fields.left() == 0 {
        return Ok(None);
    }
    let len = usize::try_from(fields.u32()?).unwrap_or(usize::MAX);
    // A length of all ones says that the value is undefined.
    if len == 0 || len == usize::try_from(u32::MAX).unwrap_or(0) {
        return Ok(None);
    }
    Ok(Some(fields.take(len)?.to_vec()))
}
