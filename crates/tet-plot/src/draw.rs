//! Pictures as files and as text, and how many cells they need for that.

use crate::axis::PlotAxis;
use crate::drawing::Drawing;
use crate::error::Result;
use crate::layout;
use crate::medium::{Depth, PlotMedium, PlotSize};
use crate::picture::{Picture, Shown};
use crate::raster;
use crate::svg;
use crate::terminal::{self, Screen};

impl PlotMedium {
    /// The most cells of a heatmap with these axes, rows first.
    #[must_use]
    pub fn room(&self, y: &PlotAxis, x: &PlotAxis) -> [usize; 2] {
        match *self {
            PlotMedium::File(size) => {
                let area = layout::area_of_heatmap(size, y, x);
                [area.height as usize, area.width as usize]
            }
            PlotMedium::Terminal { width, depth } => terminal::room(y, x, Screen { width, depth }),
        }
    }

    /// The most columns of a line.
    #[must_use]
    pub fn columns(&self) -> usize {
        match *self {
            PlotMedium::File(size) => layout::columns_of_line(size) as usize,
            PlotMedium::Terminal { width, .. } => terminal::columns(width),
        }
    }
}

impl Picture {
    /// Lines of text of at most `width` columns.
    #[must_use]
    pub fn terminal(&self, width: usize, depth: Depth) -> String {
        terminal::draw(self, Screen { width, depth })
    }

    /// An SVG document.
    #[must_use]
    pub fn svg(&self, size: PlotSize) -> String {
        svg::write(&self.drawing(size))
    }

    /// A PNG file.
    ///
    /// # Errors
    ///
    /// There is no memory for the pixels.
    pub fn png(&self, size: PlotSize) -> Result<Vec<u8>> {
        raster::png(&self.drawing(size))
    }

    /// The cells of a heatmap alone, as a PNG file with a pixel for each; `None` of another picture.
    ///
    /// # Errors
    ///
    /// There is no cell, or no memory for the pixels.
    pub fn cells_png(&self) -> Option<Result<Vec<u8>>> {
        let Shown::Heatmap { field, y, x } = &self.shown else { return None };
        let cells = self.colors(field, y, x);
        Some(raster::png_of_cells(field.row_count, field.column_count, &cells))
    }

    fn drawing(&self, size: PlotSize) -> Drawing {
        layout::draw(self, size)
    }
}
