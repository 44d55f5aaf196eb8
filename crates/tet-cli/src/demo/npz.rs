//! Writes the NumPy archive of the demo, always with the same bytes.

use std::io::{self, Seek, Write};

use tet_format::{DType, Shape};
use zip::write::{SimpleFileOptions, ZipWriter};

use super::field::{Field, LATITUDES, LONGITUDES, MONTHS};

/// Writes `temp` (float32), `elevation` (int16) and the coordinates (int16) as a deflated `.npz`.
///
/// # Errors
///
/// Writing fails.
pub(crate) fn write<W: Write + Seek>(out: W, field: &Field) -> io::Result<W> {
    let extent = |extent: usize| u64::try_from(extent).unwrap_or(u64::MAX);
    let (months, rows, columns) = (extent(MONTHS), extent(LATITUDES), extent(LONGITUDES));
    let mut archive = ZipWriter::new(out);
    let temperature = field.temperature.iter().flat_map(|value| value.to_le_bytes());
    array(&mut archive, "temp", DType::Float32, &[months, rows, columns], temperature)?;
    let elevation = field.elevation.iter().flat_map(|value| value.to_le_bytes());
    array(&mut archive, "elevation", DType::Int16, &[rows, columns], elevation)?;
    let coordinates: [(&str, u64, i16, i16); 3] =
        [("month", months, 1, 1), ("lat", rows, 87, -6), ("lon", columns, -177, 6)];
    for (name, count, first, step) in coordinates {
        let values = std::iter::successors(Some(first), |value| value.checked_add(step));
        let count = usize::try_from(count).unwrap_or(0);
        let bytes = values.take(count).flat_map(i16::to_le_bytes);
        let shape = u64::try_from(count).unwrap_or(0);
        array(&mut archive, name, DType::Int16, &[shape], bytes)?;
    }
    archive.finish().map_err(io::Error::from)
}

fn array<W: Write + Seek>(
    archive: &mut ZipWriter<W>,
    name: &str,
    dtype: DType,
    shape: &[u64],
    bytes: impl Iterator<Item = u8>,
) -> io::Result<()> {
    // The default time of an entry is fixed, so the archive is the same every time.
    let options = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .last_modified_time(zip::DateTime::default());
    archive.start_file(format!("{name}.npy"), options)?;
    let header = tet_convert::export::npy::header(dtype, &Shape::from(shape));
    archive.write_all(&header.ok_or(io::ErrorKind::InvalidInput)?)?;
    archive.write_all(&bytes.collect::<Vec<u8>>())
}
