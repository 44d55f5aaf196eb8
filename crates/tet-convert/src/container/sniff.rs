//! The kind of a file, which follows from its first bytes.

use tet_io::Source;

use super::left_out;
use super::table::containers;
use crate::{Format, Result};
use tet_container::Head;
use tet_container::others::{OTHER_DOCUMENT, OTHER_HEAD_LEN, of_bytes, of_suffix, of_suffix_alone};

/// Bytes of a [`Head`], and more than any magic.
const HEAD_LEN: u64 = 16;

/// The kind of file that `source` holds.
///
/// # Errors
/// The source cannot be read.
pub fn sniff(source: &Source) -> Result<Format> {
    let bytes = source.read_vec(0, source.len().min(HEAD_LEN))?;
    if bytes.is_empty() {
        return Ok(Format::EMPTY);
    }
    let containers = containers();
    let begins = |magics: &[&[u8]]| magics.iter().any(|magic| bytes.starts_with(magic));
    let head = Head { bytes: &bytes, source };
    let begun: Vec<_> = containers.iter().filter(|it| begins(it.magics())).collect();
    // The last of those that share a magic is the one whose files need nothing else.
    if let Some((last, others)) = begun.split_last() {
        for container in others {
            if container.matches(&head)? {
                return Ok(container.format());
            }
        }
        // The one whose files need nothing else may be left out of the build.
        return match left_out::of_archive(source, &bytes) {
            Some(other) if !last.matches(&head)? => Ok(other),
            _ => Ok(last.format()),
        };
    }
    if let Some(format) = left_out::of_file(source, &bytes) {
        return Ok(format);
    }
    for container in containers.into_iter().rev() {
        if container.matches(&head)? {
            return Ok(container.format());
        }
    }
    // Last, for the first bytes of a safetensors file are a length: any bytes.
    let bytes = source.read_vec(0, source.len().min(OTHER_HEAD_LEN))?;
    if let Some(format) = of_document(source) {
        return Ok(format);
    }
    Ok(of_bytes(&bytes).or_else(|| by_name(source)).unwrap_or(Format::UNKNOWN))
}

/// The format of a folder that is not read, by its document.
fn of_document(source: &Source) -> Option<Format> {
    let is_named = source.path()?.file_name()?.to_str()? == OTHER_DOCUMENT;
    if is_named { of_suffix("distcp") } else { None }
}

/// The format of a file whose bytes are of no known kind, where files of that format have no magic.
fn by_name(source: &Source) -> Option<Format> {
    let path = source.path()?;
    let suffix = path.extension()?.to_str()?;
    let has = |suffixes: &[&str]| suffixes.iter().any(|known| known.eq_ignore_ascii_case(suffix));
    let named = containers().into_iter().find(|it| has(it.known_by()));
    named.map(|it| it.format()).or_else(|| of_suffix_alone(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_follows_from_the_first_bytes() {
        let of_100 = |head: &[u8]| [head, &vec![b' '; 100 - head.len()]].concat();
        for (head, format) in [
            (&b""[..], Format::EMPTY),
            (b"TETR\x01\0\0\0", Format::TET),
            (b"\x93NUMPY\x01\0", Format::NPY),
            (b"\x93NUMP", Format::UNKNOWN),
            (b"PK\x03\x04", Format::NPZ),
            (b"PK\x05\x06\0\0", Format::NPZ),
            (b"ZTEN0001", Format::ZTENSOR),
            (b"TENSOGRM\0\x03", Format::TENSOGRAM),
            (b"CDF\x01\0\0\0\0", Format::NETCDF3),
            (b"CDF\x03\0\0\0\0", Format::UNKNOWN),
            (b"\x89HDF\r\n\x1a\n", Format::HDF5),
            (b"hello", Format::UNKNOWN),
            (b"\x02\0\0\0\0\0\0\0{}", Format::SAFETENSORS),
            (b"\x01\0\0\0\0\0\0\0{}", Format::UNKNOWN),
            (b"\x5c\0\0\0\0\0\0\0{ ", Format::SAFETENSORS),
            (b"\x5d\0\0\0\0\0\0\0{ ", Format::UNKNOWN),
            (b"\x5d\0\0\0\0\0\0\0{\"", Format::SAFETENSORS),
            (b"\0\0\0\0\0\0\0\x01{\"", Format::UNKNOWN),
            (b"\x1f\x8b\x08\0\0\0\0\0\x02\xff", of_bytes(b"\x1f\x8b\x08").unwrap()),
            (b"\x10\0\0\0\0\0\0\0[]", Format::UNKNOWN),
            (b"{\"metadata\": {}, \"weight_map\": {}}", Format::SAFETENSORS_INDEX),
            (b" \n{\"weight_map\"", Format::SAFETENSORS_INDEX),
            (b"{\"weight_maps\": {}}", Format::UNKNOWN),
            (b"[\"weight_map\"]", Format::UNKNOWN),
        ] {
            let bytes = if head.is_empty() { Vec::new() } else { of_100(head) };
            assert_eq!(sniff(&Source::from_bytes(bytes)).unwrap(), format, "{head:?}");
        }
    }
}
