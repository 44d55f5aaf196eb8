//! The header of a `.npy` file as NumPy writes it.

use tet_format::{DType, Shape};

/// Elements start on a multiple of this.
const ALIGN: usize = 64;

/// The bytes before the elements: format 1.0, or 2.0 when that is too short.
///
/// bfloat16 becomes `uint16`, since NumPy has no name for it; a dtype without whole bytes has no
/// header.
///
/// ```
/// use tet_format::{DType, Shape};
/// let header = tet_container::write::npy::header(DType::Float32, &Shape::from(vec![3, 4]));
/// let header = header.ok_or("float32 is known")?;
/// assert!(header.starts_with(b"\x93NUMPY\x01\x00"));
/// assert_eq!(header.len() % 64, 0);
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn header(dtype: DType, shape: &Shape) -> Option<Vec<u8>> {
    header_of(descr(dtype)?, shape)
}

/// The bytes before the elements of an array with this type string.
pub fn header_of(descr: &str, shape: &[u64]) -> Option<Vec<u8>> {
    let extents = shape.iter().map(u64::to_string).collect::<Vec<_>>();
    let extents = match &extents[..] {
        [one] => format!("{one},"),
        more => more.join(", "),
    };
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}");
    let short = padded_len(10, &dict);
    let mut header = b"\x93NUMPY".to_vec();
    let len = match u16::try_from(short - 10) {
        Ok(text_len) => {
            header.extend([1, 0]);
            header.extend(text_len.to_le_bytes());
            short
        }
        Err(_) => {
            let long = padded_len(12, &dict);
            header.extend([2, 0]);
            header.extend(u32::try_from(long - 12).ok()?.to_le_bytes());
            long
        }
    };
    header.extend(dict.as_bytes());
    header.resize(len - 1, b' ');
    header.push(b'\n');
    Some(header)
}

/// Where the elements start: after the prefix, the dict and a line end, aligned.
fn padded_len(prefix_len: usize, dict: &str) -> usize {
    (prefix_len + dict.len() + 1).next_multiple_of(ALIGN)
}

/// NumPy's dtype string.
fn descr(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::Float16 => "<f2",
        DType::Float32 => "<f4",
        DType::Float64 => "<f8",
        DType::Int8 => "|i1",
        DType::Int16 => "<i2",
        DType::Int32 => "<i4",
        DType::Int64 => "<i8",
        DType::UInt8 => "|u1",
        DType::UInt16 | DType::BFloat16 => "<u2",
        DType::UInt32 => "<u4",
        DType::UInt64 => "<u8",
        DType::Bool => "|b1",
        DType::Complex64 => "<c8",
        DType::Complex128 => "<c16",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_numpys_own_byte_for_byte() {
        let dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
        let header = header(DType::Float32, &Shape::from(vec![3, 4])).unwrap();
        assert_eq!(&header[..10], b"\x93NUMPY\x01\x00\x76\x00");
        let text = std::str::from_utf8(&header[10..]).unwrap();
        assert_eq!(text, format!("{dict:<117}\n"));
    }

    #[test]
    fn shapes_are_python_tuples() {
        for (shape, text) in [(&[][..], "()"), (&[3], "(3,)"), (&[3, 4], "(3, 4)")] {
            let header = header(DType::UInt8, &Shape::from(shape)).unwrap();
            let found = String::from_utf8_lossy(&header).into_owned();
            assert!(found.contains(&format!("'shape': {text}, }}")), "{found}");
            assert_eq!(header.len() % ALIGN, 0);
        }
    }

    #[test]
    fn every_dtype_of_whole_bytes_has_a_header() {
        for &dtype in DType::ALL {
            let has = header(dtype, &Shape::from(vec![1])).is_some();
            assert_eq!(has, dtype != DType::Bitmask, "{}", dtype.name());
        }
    }
}
