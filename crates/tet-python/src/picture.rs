//! The colors of a plane as a PNG file, by the pictures of the engine.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tet_plot::{FieldFold, Picture, PlotAxis, Shown};

/// The most cells of a picture, along each axis.
const CELLS_MAX: usize = 4096;

/// The values of rows and columns in colors, as a PNG file with a pixel for each; NaN has a color of its own.
#[pyfunction]
pub(crate) fn picture(
    py: Python<'_>,
    values: Vec<f64>,
    rows: u64,
    columns: u64,
) -> PyResult<Bound<'_, PyBytes>> {
    let wrong = || PyValueError::new_err("a picture has a value for each row and column");
    let count = rows.checked_mul(columns).filter(|&count| count == values.len() as u64);
    count.ok_or_else(wrong)?;
    let mut fold = FieldFold::new([rows, columns], [CELLS_MAX; 2]);
    fold.extend(&values);
    let axis = |extent| PlotAxis::positions("", extent, 0, 1);
    let shown = Shown::Heatmap { field: fold.finish(), y: axis(rows), x: axis(columns) };
    let png = Picture::new(shown).cells_png().ok_or_else(wrong)?;
    let png = png.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, &png))
}
