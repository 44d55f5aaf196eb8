//! What is asked, by flags: the same document for hands in a hurry.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::op::OpArgs;

/// The file and the document, in either order.
#[derive(Debug, Args)]
pub struct QuestionArgs {
    /// The file (the document, with -t)
    #[arg(value_name = "FILE")]
    pub first: Option<String>,
    /// A document (path, text, or -), or the name of a dataset
    ///
    /// It is a document if it is -, starts with {, contains = or a line break, or ends in .json
    /// or .toml; else it names a dataset. --doc and --dataset settle what is odd.
    #[arg(value_name = "DOCUMENT|DATASET")]
    pub second: Option<String>,
    /// The file, when the document comes first
    #[arg(short = 't', long, value_name = "FILE")]
    pub tensor: Option<PathBuf>,
    /// Accepted for compatibility; `tet query` always executes, `tet explain` never does
    #[arg(short = 'x', long)]
    pub execute: bool,
    /// The document, by its path
    #[arg(long, value_name = "PATH", conflicts_with = "dataset")]
    pub doc: Option<PathBuf>,
    /// Print the document instead of executing it
    #[arg(long)]
    pub print_doc: bool,
    /// The question, by flags.
    #[command(flatten)]
    pub ask: AskArgs,
}

/// The question, by flags.
#[derive(Debug, Args)]
pub struct AskArgs {
    /// Of what.
    #[command(flatten)]
    pub part: PartArgs,
    /// Which reduction.
    #[command(flatten)]
    pub op: OpArgs,
    /// Numbers beside it.
    #[command(flatten)]
    pub params: ParamArgs,
    /// In which groups or windows.
    #[command(flatten)]
    pub cells: CellArgs,
    /// Arrays instead.
    #[command(flatten)]
    pub other: OtherArgs,
}

/// Which elements.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which elements")]
pub struct PartArgs {
    /// The dataset, by its name or #N
    #[arg(long, value_name = "NAME")]
    pub dataset: Option<String>,
    /// What part of it: '0:10, :, -1' or 'time="Jan":"Apr", lat=5'
    #[arg(short, long, value_name = "SLICE", allow_hyphen_values = true)]
    pub select: Option<String>,
    /// Elements that pass: 'gt 273.15', 'ge 0, lt 40', not-null; several must all hold
    ///
    /// Tests are eq, ne, lt, le, gt, ge (or =, !=, <, <=, >, >=) with a number, null and not-null.
    /// A reduction leaves out what fails; an array shows NaN in its place, integers the fill value.
    #[arg(long = "where", value_name = "TEST")]
    pub tests: Vec<String>,
    /// Positions whose label on an axis equals: 'station=nyc'
    #[arg(long, value_name = "AXIS=LABEL")]
    pub label_filter: Option<String>,
    /// What a NaN does to a result
    #[arg(long, value_name = "WHAT")]
    pub nan: Option<NanName>,
}

/// Numbers beside a reduction.
#[derive(Debug, Args)]
#[command(next_help_heading = "Beside a reduction")]
pub struct ParamArgs {
    /// The axes of the reduction or transform: --quantile 0.9 --over time
    #[arg(long, value_name = "AXES", allow_negative_numbers = true)]
    pub over: Option<String>,
    /// Delta degrees of freedom: --var, --std and --covariance divide by N - ddof [default: 0]
    #[arg(long, value_name = "N")]
    pub ddof: Option<u32>,
    /// The fill value: of --null-count
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    pub fill: Option<String>,
    /// The first and the last edge: of --histogram; else the range of all selected values
    #[arg(long, value_name = "MIN:MAX", allow_hyphen_values = true)]
    pub range: Option<String>,
}

/// Groups and windows.
#[derive(Debug, Args)]
#[command(next_help_heading = "Groups and windows")]
pub struct CellArgs {
    /// One result for each position along these axes; the others are folded
    #[arg(long, value_name = "AXES", group = "cells", allow_negative_numbers = true)]
    pub group_by: Option<String>,
    /// One result for each distinct label of these axes
    #[arg(long, value_name = "AXES", group = "cells", allow_negative_numbers = true)]
    pub group_by_labels: Option<String>,
    /// One result for each window, side by side: 'time:24'
    #[arg(long, value_name = "AXIS:SIZE", group = "cells", allow_hyphen_values = true)]
    pub window: Option<String>,
    /// One result for each window, rolling over the axis: 'time:3'
    #[arg(long, value_name = "AXIS:SIZE", group = "cells", allow_hyphen_values = true)]
    pub rolling: Option<String>,
    /// Positions between the starts of two rolling windows
    #[arg(long, value_name = "N", requires = "rolling")]
    pub step: Option<u64>,
    /// What stands in where a window reaches past an end
    #[arg(long, value_name = "WHAT", requires = "cells")]
    pub pad: Option<PadName>,
    /// Which end of the axis windows keep to
    #[arg(long, value_name = "END", requires = "cells")]
    pub window_align: Option<EndName>,
    /// Elements a window needs for a result
    #[arg(long, value_name = "N", requires = "cells")]
    pub min_count: Option<u64>,
}

/// What is no reduction.
#[derive(Debug, Args)]
#[command(next_help_heading = "Instead of a reduction")]
pub struct OtherArgs {
    /// Every value by itself, with the statistics of --over or of all
    #[arg(long, value_name = "METHOD", group = super::op::GROUP, value_parser = methods())]
    pub transform: Option<String>,
    /// Whether extents, names and labels of some axes are those of another dataset
    #[arg(long, value_name = "OTHER:AXES", group = super::op::GROUP)]
    pub align: Option<String>,
}

fn methods() -> clap::builder::PossibleValuesParser {
    tet_query::Method::ALL.iter().map(|method| method.name()).collect::<Vec<_>>().into()
}

/// What a NaN does to a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NanName {
    /// The result is NaN.
    Propagate,
    /// It is left out.
    Skip,
}

/// What stands in where a window reaches past an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PadName {
    /// Nothing: no window reaches past an end.
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
