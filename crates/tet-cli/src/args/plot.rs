//! `tet plot`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::query::{QUERIES, folded_query};
use super::{QuestionArgs, ReadArgs, WriteArgs};

/// Arguments of `tet plot`.
///
/// ```
/// assert!(tet_cli::command().find_subcommand("plot").is_some());
/// ```
#[derive(Debug, Args)]
#[command(
    override_usage = "tet plot [OPTIONS] FILE DATASET[SLICE] [--mean AXES ...]\n       tet plot [OPTIONS] FILE DOCUMENT\n       tet plot [OPTIONS] DOCUMENT -t FILE",
    after_help = QUERIES,
    after_long_help = format!("{QUERIES}\n\n{EXAMPLES}"),
    mut_arg("range", |range| range.help(RANGE).help_heading("The picture")),
    mut_args(folded_query)
)]
pub struct PlotArgs {
    /// How it is drawn.
    #[command(flatten)]
    pub picture: PictureArgs,
    /// The selection or answer that is drawn, as `tet query` takes it.
    #[command(flatten)]
    pub question: QuestionArgs,
    /// How the file is written.
    #[command(flatten)]
    pub write: WriteArgs,
    /// How the file is read.
    #[command(flatten)]
    pub read: ReadArgs,
}

const RANGE: &str = "Set the lowest and the highest value of colors, line or bins";

/// How values are drawn.
///
/// ```
/// let names: Vec<String> = tet_cli::command().find_subcommand("plot").into_iter()
///     .flat_map(|plot| plot.get_arguments().map(|arg| arg.get_id().to_string()))
///     .collect();
/// assert!(names.contains(&"palette".to_owned()));
/// ```
#[derive(Debug, Args)]
#[command(next_help_heading = "The picture")]
pub struct PictureArgs {
    /// Write a .png or .svg file; - is standard output [default: the terminal]
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Set the format of OUT, whatever its suffix
    #[arg(long, value_name = "FORMAT", requires = "output", hide_short_help = true)]
    pub to: Option<ImageName>,
    /// Choose what is drawn
    #[arg(long, value_name = "KIND", default_value = "auto", hide_default_value = true)]
    pub kind: PlotKind,
    /// Set the colors of a heatmap, as viridis, magma or rdbu_r
    ///
    /// The default is viridis, and rdbu_r with --diverging. The names are matplotlib's; _r reverses a palette. NaN has a color that is not in the palette.
    #[arg(long, value_name = "NAME")]
    pub palette: Option<String>,
    /// Put 0 in the middle of the colors
    #[arg(long)]
    pub diverging: bool,
    /// Set the size of OUT in pixels [default: 800x500, a map less high]
    #[arg(long, value_name = "WxH", requires = "output")]
    pub size: Option<String>,
    /// Set the title [default: what is drawn]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Set the number of bins of a histogram [default: 50]
    #[arg(long, value_name = "N")]
    pub bins: Option<usize>,
    /// Choose the axis to the right in a heatmap [default: the last]
    #[arg(long, value_name = "AXIS", allow_negative_numbers = true)]
    pub x: Option<String>,
    /// Choose the axis upwards in a heatmap [default: the first]
    #[arg(long, value_name = "AXIS", allow_negative_numbers = true)]
    pub y: Option<String>,
    /// Turn a heatmap upside down
    ///
    /// Numbers and times grow upwards, but for depths and pressures, which grow downwards.
    #[arg(long)]
    pub invert_y: bool,
    /// Draw a map in OUT without coastlines
    #[arg(long)]
    pub no_coastlines: bool,
}

/// Kind of plot.
///
/// ```
/// assert_eq!(tet_cli::args::PlotKind::default(), tet_cli::args::PlotKind::Auto);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum PlotKind {
    /// A line for one axis, a heatmap for two.
    #[default]
    Auto,
    /// Colors for two axes, or for one as a strip.
    Heatmap,
    /// A line along one axis.
    Line,
    /// Counts of the values in bins, whatever their axes.
    Histogram,
}

/// The format of a picture in a file.
///
/// ```
/// use clap::ValueEnum;
/// assert_eq!(tet_cli::args::ImageName::from_str("svg", false), Ok(tet_cli::args::ImageName::Svg));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImageName {
    /// Pixels.
    Png,
    /// Lines and texts that stay sharp at any size.
    Svg,
}

const EXAMPLES: &str = "\
WHAT IS DRAWN
  One axis is a line, two axes are a heatmap; axes of one position do not count.
  For more axes select one position of some, or reduce them.

  A large heatmap is drawn in cells: a cell is the mean of its elements, and NaN
  if one of them is NaN. A long line is drawn from the lowest to the highest
  element of each column of pixels, and columns with a NaN are marked. The file
  is read in parts, within --memory.

  Labels that are rising or falling numbers grow to the right and upwards, so
  that north is up, but depths and pressures grow downwards; any other axis goes
  downwards, as `tet cat` prints it.

EXAMPLES
  tet plot climate.tet 'temp[month=7]'               a map in the terminal
  tet plot climate.tet temp --mean month -o mean.png the map of a mean, as PNG
  tet plot climate.tet temp --mean lat,lon           a line
  tet plot climate.tet temp --kind histogram --bins 20
  tet plot climate.tet 'temp[0]' --diverging --range -40:40 -o january.svg
  tet plot climate.tet 'temp[:, 5]' --x month --palette magma
  tet plot model.safetensors model.layers.0.weight -o weight.png --size 1200x1200
  tet plot climate.tet 'temp[0]' -o - --to svg > january.svg";

/// The long help text.
pub(super) const LONG_ABOUT: &str = "\
Draw a selection or the answer of a query: a heatmap, a line or a histogram.\n\nWithout -o the picture is \
drawn in the terminal, in colors where there are any; with -o it is a PNG or SVG file with title, axes and \
a bar of colors. NaN is drawn in a color of its own and is visible however large the selection is.";
