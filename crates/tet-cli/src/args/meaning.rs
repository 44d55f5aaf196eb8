//! Options for packed and masked values.

use clap::Args;

/// What the attributes of a dataset say of its values.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Packed and masked values")]
pub struct MeaningArgs {
    /// Use values as they are stored: without scale_factor, add_offset, _FillValue, missing_value
    /// and _Unsigned
    ///
    /// By default values are decoded as xarray does: masked values become NaN, which reductions
    /// skip unless --nan is given, and packed values are scaled.
    #[arg(long)]
    pub raw_values: bool,
    /// Mask values outside of valid_range, or of valid_min and valid_max
    #[arg(long, conflicts_with = "raw_values")]
    pub valid_range: bool,
}
