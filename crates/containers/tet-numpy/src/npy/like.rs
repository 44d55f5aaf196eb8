//! An array as a `.npy` file of the type of another one: the same type string, and so the same order of bytes.

use std::io::Write;

use tet_codec::Swapped;
use tet_query::{Execution, LazyArray};

use super::header::{Elements, Header};
use tet_container::write::npy::header_of;
use tet_container::write::stream;
use tet_container::{Error, Result};

/// Bytes of such a file of all elements of a lazy array.
pub(crate) fn len_like(header: &Header, lazy: &LazyArray) -> u64 {
    header.header_len.saturating_add(stream::len_of(lazy)).saturating_add(u64::from(u16::MAX))
}

/// Writes all elements of a lazy array, in row-major order, to a `.npy` file of the type that a header has.
///
/// # Errors
/// The lazy array has another type, cannot be read, or `out` refuses the bytes.
pub(crate) fn write_like(
    header: &Header,
    lazy: &LazyArray,
    execution: &Execution,
    out: &mut dyn Write,
) -> Result<()> {
    let name = &lazy.dataset().name;
    let other = || Error::NoDType { dataset: name.clone(), dtype: lazy.dtype(), encoding: "npy" };
    let Elements::Numbers(descr) = header.elements else { return Err(other()) };
    let bytes = header_of(&header.descr, lazy.shape()).filter(|_| descr.dtype == lazy.dtype());
    out.write_all(&bytes.ok_or_else(other)?).map_err(Error::Write)?;
    let (swapped, mut turned): (Option<Swapped>, Vec<u8>) = (descr.swapped(), Vec::new());
    stream::for_each(lazy, execution, &mut |elements| {
        let Some(swapped) = &swapped else { return out.write_all(elements).map_err(Error::Write) };
        turned.clear();
        turned.extend_from_slice(elements);
        swapped.in_place(&mut turned);
        out.write_all(&turned).map_err(Error::Write)
    })
}
