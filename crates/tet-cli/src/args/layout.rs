//! How an array is laid out as text.

use clap::{Args, ValueEnum};

use super::OUTPUT;

/// The layout of CSV, TSV and JSON.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = OUTPUT)]
pub struct LayoutArgs {
    /// Lay out CSV, TSV and JSON [default: tidy]
    ///
    /// tidy has one line per element, wide one line per row of the last axis, bare only the values.
    #[arg(long, value_name = "LAYOUT", hide_short_help = true)]
    pub layout: Option<LayoutName>,
}

/// A layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LayoutName {
    /// A header and a line for each element: a label for each axis, then the value. JSON is one object.
    Tidy,
    /// A header with the labels of the last axis, and a line for each row of it.
    Wide,
    /// The values without header and labels: lines, or lists of JSON.
    Bare,
}
