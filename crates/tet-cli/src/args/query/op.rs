//! One option for every reduction, generated from the list of reductions.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use tet_query::Op;

use crate::help::folded;

/// The group of options that exclude each other: reductions, transforms, comparisons.
pub(super) const GROUP: &str = "made";

/// The reduction that an option requests, and the value of the option.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpArgs {
    /// The reduction and its text: axes, quantiles or a number of bins.
    pub asked: Option<(Op, String)>,
}

/// The value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Axes,
    Quantiles,
    Bins,
    Axis,
}

impl Takes {
    const fn for_op(op: Op) -> Takes {
        match op {
            Op::Quantile => Takes::Quantiles,
            Op::Histogram => Takes::Bins,
            Op::Covariance | Op::Correlation => Takes::Axis,
            _ => Takes::Axes,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Takes::Axes => "AXES",
            Takes::Quantiles => "Q[,Q...]",
            Takes::Bins => "BINS",
            Takes::Axis => "AXIS",
        }
    }
}

/// The option of a reduction, without its dashes.
#[must_use]
pub fn flag(op: Op) -> String {
    op.name().replace('_', "-")
}

/// The id of the option in the matches.
fn id(op: Op) -> String {
    format!("op-{}", op.name())
}

fn arg(op: Op) -> Arg {
    let takes = Takes::for_op(op);
    let arg = Arg::new(id(op))
        .long(flag(op))
        .value_name(takes.name())
        .help(help(op))
        .group(GROUP)
        .hide_short_help(is_rare(op))
        .allow_negative_numbers(true);
    let arg = if is_folded(op) { folded(arg) } else { arg };
    match takes {
        Takes::Axes => arg.num_args(0..=1).default_missing_value(""),
        Takes::Quantiles | Takes::Bins | Takes::Axis => arg.num_args(1),
    }
}

/// Whether the text of --nan has the option: what it does, `--nan skip` does to every reduction.
fn is_folded(op: Op) -> bool {
    op.name().starts_with("nan_") && op != Op::NanCount
}

/// Whether `-h` leaves the option to `--help`.
const fn is_rare(op: Op) -> bool {
    matches!(
        op,
        Op::Product
            | Op::NormL1
            | Op::NormL2
            | Op::AllFinite
            | Op::AnyInf
            | Op::InfCount
            | Op::NullCount
            | Op::Covariance
            | Op::Correlation
    )
}

const fn help(op: Op) -> &'static str {
    match op {
        Op::Count => "Number of elements: of all, or along axes, as --count time,lat",
        Op::Sum => "Sum, exact for integers",
        Op::Product => "Product, exact for integers",
        Op::Mean => "Mean",
        Op::Min => "Smallest value",
        Op::Max => "Largest value",
        Op::ArgMin => "Position of the first smallest value",
        Op::ArgMax => "Position of the first largest value",
        Op::Var => "Variance (--ddof)",
        Op::Std => "Standard deviation (--ddof)",
        Op::NormL1 => "Sum of magnitudes",
        Op::NormL2 => "Square root of the sum of squares",
        Op::AllFinite => "Whether no value is NaN or infinite",
        Op::AnyNan => "Whether a value is NaN",
        Op::AnyInf => "Whether a value is infinite",
        Op::NanCount => "Number of NaN",
        Op::InfCount => "Number of infinite values",
        Op::NullCount => "Number of fill values: of --fill, else of an attribute",
        Op::NanSum => "Sum without NaN",
        Op::NanMean => "Mean without NaN",
        Op::NanVar => "Variance without NaN",
        Op::NanStd => "Standard deviation without NaN",
        Op::NanMin => "Smallest value without NaN",
        Op::NanMax => "Largest value without NaN",
        Op::Median => "Median, exact",
        Op::Quantile => "Quantiles from 0 to 1, exact: --quantile 0.1,0.9 --over time",
        Op::Histogram => "Histogram with this many bins (--range, --over)",
        Op::Covariance => "Covariance matrix of one axis, with observations along AXIS (--ddof)",
        Op::Correlation => "Correlation matrix of one axis, with observations along AXIS",
    }
}

impl Args for OpArgs {
    fn augment_args(command: Command) -> Command {
        Op::ALL
            .iter()
            .fold(command.next_help_heading(super::ask::REDUCTIONS), |all, &op| all.arg(arg(op)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OpArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let text = |op: Op| matches.get_one::<String>(&id(op)).cloned();
        let asked = Op::ALL.iter().find_map(|&op| Some((op, text(op)?)));
        Ok(OpArgs { asked })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(args: &[&str]) -> Option<(Op, String)> {
        let command = OpArgs::augment_args(Command::new("test").no_binary_name(true));
        let matches = command.try_get_matches_from(args).ok()?;
        OpArgs::from_arg_matches(&matches).ok()?.asked
    }

    #[test]
    fn every_reduction_has_its_flag() {
        for &op in Op::ALL {
            let text = match Takes::for_op(op) {
                Takes::Quantiles => "0.5",
                Takes::Bins => "10",
                Takes::Axes | Takes::Axis => "-1",
            };
            let flag = format!("--{}", flag(op));
            assert_eq!(asked(&[&flag, text]), Some((op, text.to_owned())), "{flag}");
            let bare = (Takes::for_op(op) == Takes::Axes).then(|| (op, String::new()));
            assert_eq!(asked(&[&flag]), bare, "{flag}");
        }
    }

    #[test]
    fn two_reductions_at_once_are_refused() {
        assert_eq!(asked(&["--mean", "a", "--arg-min"]), None);
    }
}
