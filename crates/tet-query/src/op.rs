//! Operations on the selected elements.

/// A reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// How many elements; without NaN when they are skipped.
    Count,
    /// The sum: exact for integers, `f64` for floats.
    Sum,
    /// The product: exact for integers, `f64` for floats.
    Product,
    /// The arithmetic mean, `f64`.
    Mean,
    /// The smallest element, in the dataset's own type.
    Min,
    /// The largest element, in the dataset's own type.
    Max,
    /// Where the first smallest element is, along the folded axes.
    ArgMin,
    /// Where the first largest element is, along the folded axes.
    ArgMax,
    /// The variance, `f64`.
    Var,
    /// The standard deviation, `f64`.
    Std,
    /// The sum of magnitudes, `f64`.
    NormL1,
    /// The root of the sum of squares, `f64`.
    NormL2,
    /// Whether no element is NaN or infinite.
    AllFinite,
    /// Whether an element is NaN.
    AnyNan,
    /// Whether an element is infinite.
    AnyInf,
    /// How many elements are NaN.
    NanCount,
    /// How many elements are infinite.
    InfCount,
    /// How many elements are the fill value; NaN are counted when it is NaN.
    NullCount,
    /// [`Op::Sum`] without NaN.
    NanSum,
    /// [`Op::Mean`] without NaN.
    NanMean,
    /// [`Op::Var`] without NaN.
    NanVar,
    /// [`Op::Std`] without NaN.
    NanStd,
    /// [`Op::Min`] without NaN.
    NanMin,
    /// [`Op::Max`] without NaN.
    NanMax,
    /// The median, `f64`.
    Median,
    /// Quantiles with linear interpolation, `f64`.
    Quantile,
    /// How many elements lie in each of some bins.
    Histogram,
    /// The covariances of variables, observed along one axis.
    Covariance,
    /// The correlations of variables, observed along one axis.
    Correlation,
}

impl Op {
    /// All operations.
    pub const ALL: &[Op] = &[
        Op::Count,
        Op::Sum,
        Op::Product,
        Op::Mean,
        Op::Min,
        Op::Max,
        Op::ArgMin,
        Op::ArgMax,
        Op::Var,
        Op::Std,
        Op::NormL1,
        Op::NormL2,
        Op::AllFinite,
        Op::AnyNan,
        Op::AnyInf,
        Op::NanCount,
        Op::InfCount,
        Op::NullCount,
        Op::NanSum,
        Op::NanMean,
        Op::NanVar,
        Op::NanStd,
        Op::NanMin,
        Op::NanMax,
        Op::Median,
        Op::Quantile,
        Op::Histogram,
        Op::Covariance,
        Op::Correlation,
    ];

    /// The name in documents and flags.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Op::Count => "count",
            Op::Sum => "sum",
            Op::Product => "product",
            Op::Mean => "mean",
            Op::Min => "min",
            Op::Max => "max",
            Op::ArgMin => "arg_min",
            Op::ArgMax => "arg_max",
            Op::Var => "var",
            Op::Std => "std",
            Op::NormL1 => "norm_l1",
            Op::NormL2 => "norm_l2",
            Op::AllFinite => "all_finite",
            Op::AnyNan => "any_nan",
            Op::AnyInf => "any_inf",
            Op::NanCount => "nan_count",
            Op::InfCount => "inf_count",
            Op::NullCount => "null_count",
            Op::NanSum => "nan_sum",
            Op::NanMean => "nan_mean",
            Op::NanVar => "nan_var",
            Op::NanStd => "nan_std",
            Op::NanMin => "nan_min",
            Op::NanMax => "nan_max",
            Op::Median => "median",
            Op::Quantile => "quantile",
            Op::Histogram => "histogram",
            Op::Covariance => "covariance",
            Op::Correlation => "correlation",
        }
    }

    /// The operation that is computed, whatever happens with NaN.
    #[must_use]
    pub const fn plain(self) -> Op {
        match self {
            Op::NanSum => Op::Sum,
            Op::NanMean => Op::Mean,
            Op::NanVar => Op::Var,
            Op::NanStd => Op::Std,
            Op::NanMin => Op::Min,
            Op::NanMax => Op::Max,
            op => op,
        }
    }

    /// Whether the operation skips NaN by its name.
    #[must_use]
    pub fn skips_nan(self) -> bool {
        self.plain() != self
    }
}

/// Treatment of NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NanPolicy {
    /// A NaN makes the result NaN.
    #[default]
    Propagate,
    /// A NaN counts as not there.
    Skip,
}
