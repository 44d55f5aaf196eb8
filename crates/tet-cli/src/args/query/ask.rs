//! The options of a query; they build a query document.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::op::OpArgs;
use crate::args::meaning::MeaningArgs;

/// The heading of options for a query that is a document.
const DOCUMENT: &str = "A query as a document";
/// The heading of reductions and their options.
pub(super) const REDUCTIONS: &str = "Reductions";
/// The heading of groups, windows and their options.
const CELLS: &str = "Groups and windows";
/// The heading of operations that are not reductions.
const OTHER: &str = "Instead of a reduction";

/// An option of `tet query` without a line in the help of a command that takes the same queries: a paragraph has it.
pub(in crate::args) fn folded_query(arg: clap::Arg) -> clap::Arg {
    let headings = [DOCUMENT, REDUCTIONS, CELLS, OTHER];
    let is_folded = arg.get_help_heading().is_some_and(|it| headings.contains(&it));
    if is_folded { crate::help::folded(arg) } else { arg }
}

/// The file and the document, in either order.
#[derive(Debug, Args)]
pub struct QuestionArgs {
    /// The file (the document, with -t)
    #[arg(value_name = "FILE", help_heading = None::<&str>)]
    pub first: Option<String>,
    /// The name of a dataset, or a document: its path, its text, or -
    ///
    /// It is a document if it is -, an object in braces, contains = or a line break, or ends in .json
    /// or .toml; otherwise it is the name of a dataset. --doc and --dataset remove any doubt. A pattern of names, such
    /// as `layers.*.weight[0:4]`, asks about each dataset whose name matches.
    #[arg(value_name = "DOCUMENT|DATASET", help_heading = None::<&str>)]
    pub second: Option<String>,
    /// The query, as options.
    #[command(flatten)]
    pub ask: AskArgs,
    /// Packed and masked values.
    #[command(flatten)]
    pub meaning: MeaningArgs,
    /// The file, when the document comes first
    #[arg(short = 't', long, value_name = "FILE", help_heading = DOCUMENT, hide_short_help = true)]
    pub tensor: Option<PathBuf>,
    /// Accepted for compatibility: queries are always executed
    ///
    /// `tet explain` executes none.
    #[arg(short = 'x', long, help_heading = DOCUMENT, hide_short_help = true)]
    pub execute: bool,
    /// Read the document from this path
    #[arg(long, value_name = "PATH", conflicts_with = "dataset", help_heading = DOCUMENT, hide_short_help = true)]
    pub doc: Option<PathBuf>,
    /// Print the document instead of executing it
    #[arg(long, help_heading = DOCUMENT, hide_short_help = true)]
    pub print_doc: bool,
}

/// The query, as options.
#[derive(Debug, Args)]
pub struct AskArgs {
    /// The selected elements.
    #[command(flatten)]
    pub part: PartArgs,
    /// The reduction.
    #[command(flatten)]
    pub op: OpArgs,
    /// Parameters of the reduction.
    #[command(flatten)]
    pub params: ParamArgs,
    /// The groups or windows.
    #[command(flatten)]
    pub cells: CellArgs,
    /// Operations that are not reductions.
    #[command(flatten)]
    pub other: OtherArgs,
}

/// The selected elements.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which elements")]
pub struct PartArgs {
    /// Select the dataset, by name or #N
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub dataset: Option<String>,
    /// Select a part: '0:10, :, -1' by position, 'lat=40:60' by label
    ///
    /// `tet cat --help` has all forms, such as 'time=2001-06:2001-08'.
    #[arg(short, long, value_name = "SLICE", allow_hyphen_values = true, help_heading = None::<&str>)]
    pub select: Option<String>,
    /// Use only elements that pass: 'gt 273.15', 'ge 0, lt 40', not-null
    ///
    /// All tests must hold. They are eq, ne, lt, le, gt, ge (or =, !=, <, <=, >, >=) with a number, null and not-null.
    /// A reduction ignores elements that fail; an array shows NaN in their place, or the fill value
    /// for integers.
    #[arg(long = "where", value_name = "TEST")]
    pub tests: Vec<String>,
    /// Use only positions with this label on an axis, or with this value of a dataset along it: 'state=run'
    #[arg(long, value_name = "AXIS=LABEL", hide_short_help = true)]
    pub label_filter: Option<String>,
    /// Let NaN propagate, or skip them as --nan-sum, --nan-mean, --nan-var, --nan-std, --nan-min and --nan-max do
    ///
    /// Without it NaN make a result NaN. These six are --sum, --mean and so on with --nan skip, under the names of NumPy.
    /// Masked elements are skipped unless `--nan propagate` is given.
    #[arg(long, value_name = "WHAT")]
    pub nan: Option<NanName>,
}

/// Parameters of a reduction.
#[derive(Debug, Args)]
#[command(next_help_heading = REDUCTIONS)]
pub struct ParamArgs {
    /// Set the axes of a reduction or transform: --quantile 0.9 --over time
    #[arg(long, value_name = "AXES", allow_negative_numbers = true)]
    pub over: Option<String>,
    /// Divide --var, --std and --covariance by N - ddof [default: 0]
    ///
    /// The delta degrees of freedom of NumPy.
    #[arg(long, value_name = "N")]
    pub ddof: Option<u32>,
    /// Set the fill value of --null-count
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, hide_short_help = true)]
    pub fill: Option<String>,
    /// Set the first and the last edge of --histogram
    ///
    /// The default is the range of the selected values.
    #[arg(long, value_name = "MIN:MAX", allow_hyphen_values = true)]
    pub range: Option<String>,
}

/// Groups and windows.
#[derive(Debug, Args)]
#[command(next_help_heading = CELLS)]
pub struct CellArgs {
    /// Compute one result for each position along these axes, or for each value of a dataset along one: state
    ///
    /// The other axes are reduced.
    #[arg(long, value_name = "AXES", group = "cells", allow_negative_numbers = true)]
    pub group_by: Option<String>,
    /// Compute one result for each distinct label of these axes
    #[arg(long, value_name = "AXES", group = "cells", allow_negative_numbers = true)]
    pub group_by_labels: Option<String>,
    /// Compute one result for each SIZE positions: 'time:24'
    #[arg(long, value_name = "AXIS:SIZE", group = "cells", allow_hyphen_values = true)]
    pub window: Option<String>,
    /// Compute one result for each rolling window: 'time:3'
    #[arg(long, value_name = "AXIS:SIZE", group = "cells", allow_hyphen_values = true)]
    pub rolling: Option<String>,
    /// Set the distance between the starts of two rolling windows
    #[arg(long, value_name = "N", requires = "rolling", hide_short_help = true)]
    pub step: Option<u64>,
    /// Pad windows that extend past the axis
    #[arg(long, value_name = "WHAT", requires = "cells", hide_short_help = true)]
    pub pad: Option<PadName>,
    /// Align windows to an end of the axis
    #[arg(long, value_name = "END", requires = "cells", hide_short_help = true)]
    pub window_align: Option<EndName>,
    /// Require this many elements in a window for a result
    #[arg(long, value_name = "N", requires = "cells", hide_short_help = true)]
    pub min_count: Option<u64>,
}

/// Operations that are not reductions.
#[derive(Debug, Args)]
#[command(next_help_heading = OTHER)]
pub struct OtherArgs {
    /// Transform every value, with statistics along --over or of all
    #[arg(long, value_name = "METHOD", group = super::op::GROUP, value_parser = methods())]
    pub transform: Option<String>,
    /// Compare axes with those of another dataset
    ///
    /// Their extents, names and labels.
    #[arg(long, value_name = "OTHER:AXES", hide_short_help = true, group = super::op::GROUP)]
    pub align: Option<String>,
}

fn methods() -> clap::builder::PossibleValuesParser {
    tet_query::Method::ALL.iter().map(|method| method.name()).collect::<Vec<_>>().into()
}

/// How NaN are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NanName {
    /// The result is NaN.
    Propagate,
    /// NaN are ignored.
    Skip,
}

/// How windows that extend past the axis are padded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PadName {
    /// No padding: no window extends past the axis.
    None,
    /// Zero.
    #[value(name = "0", alias = "zero")]
    Zero,
    /// NaN, for floats.
    Nan,
    /// The fill value.
    Fill,
}

/// An end of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EndName {
    /// The first position.
    Start,
    /// The last position.
    End,
}
