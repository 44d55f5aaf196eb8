//! Options for packed and masked values.

use clap::Args;
use tet_convert::{Decoding, ValidRange, ValueChoice};

use super::VALUES;

/// Interpretation of the values of a dataset by its attributes.
///
/// ```
/// assert!(!tet_cli::args::MeaningArgs::default().raw_values);
/// ```
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = VALUES)]
pub struct MeaningArgs {
    /// Use values as they are stored: neither unpacked nor masked
    ///
    /// Without scale_factor, add_offset, _FillValue, missing_value and _Unsigned. By default values are decoded as xarray does: masked values become NaN, which reductions
    /// skip unless --nan is given, and packed values are scaled.
    #[arg(long)]
    pub raw_values: bool,
    /// Mask values outside of valid_range, or of valid_min and valid_max
    #[arg(long, conflicts_with = "raw_values", hide_short_help = true)]
    pub valid_range: bool,
}

impl MeaningArgs {
    /// How values are used.
    pub(crate) const fn decoding(self) -> Decoding {
        let values = if self.raw_values { ValueChoice::Raw } else { ValueChoice::Auto };
        let range = if self.valid_range { ValidRange::Masked } else { ValidRange::Ignored };
        Decoding { values, range }
    }
}

/// Which values are written to files.
///
/// ```
/// assert!(!tet_cli::args::WrittenValuesArgs::default().decoded);
/// ```
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = VALUES)]
pub struct WrittenValuesArgs {
    /// Use values as they are stored: neither unpacked nor masked
    ///
    /// Without scale_factor, add_offset, _FillValue, missing_value and _Unsigned. By default values are decoded as xarray does: masked values become NaN, packed values are scaled, and numbers
    /// of CF units of time are dates in text. Formats whose readers decode (.nc, .h5, .zarr, .tet, .tets, .zt, .tgm) get
    /// the stored values with their attributes.
    #[arg(long)]
    pub raw_values: bool,
    /// Write decoded values to every format
    ///
    /// The attributes that decode them are left out.
    #[arg(long, conflicts_with = "raw_values")]
    pub decoded: bool,
    /// Mask values outside of valid_range, or of valid_min and valid_max
    ///
    /// Where values are decoded.
    #[arg(long, conflicts_with = "raw_values", hide_short_help = true)]
    pub valid_range: bool,
}

impl WrittenValuesArgs {
    /// How values are used.
    pub(crate) const fn decoding(self) -> Decoding {
        let Self { raw_values, decoded, valid_range } = self;
        let decoding = MeaningArgs { raw_values, valid_range }.decoding();
        if decoded { Decoding { values: ValueChoice::Decoded, ..decoding } } else { decoding }
    }
}
