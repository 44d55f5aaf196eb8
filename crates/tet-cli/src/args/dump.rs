//! `tet dump`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `tet dump`.
#[derive(Debug, Args)]
#[command(
    after_long_help = EXAMPLES
)]
pub struct DumpArgs {
    /// The .tet file to print
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Describe the byte at this offset, as 1000 or 0x3e8
    #[arg(long, value_name = "OFFSET", value_parser = offset,
          conflicts_with_all = ["only", "dataset", "count_max"])]
    pub at: Option<u64>,
    /// Print only these regions of the file
    #[arg(long, value_name = "REGION", value_delimiter = ',')]
    pub only: Vec<RegionName>,
    /// Print only the record, rows and payloads of one dataset, by name or as '#0'
    #[arg(short, long, value_name = "DATASET")]
    pub dataset: Option<String>,
    /// Print at most this many records, rows, payloads and lines of JSON, 0 for all
    #[arg(
        short = 'n',
        long = "limit",
        value_name = "N",
        default_value = "0",
        hide_default_value = true
    )]
    pub count_max: u64,
    /// Print one `tet.dump/1` object per field, one per line
    #[arg(long)]
    pub json: bool,
}

/// A part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RegionName {
    /// The first 32 bytes.
    Superblock,
    /// The records of the datasets.
    Directory,
    /// The rows with the offsets of the chunks.
    Index,
    /// The payloads and the gaps between them.
    Payloads,
    /// Spills, JSON and tail.
    Footer,
}

/// Reads `1000` or `0x3e8`.
fn offset(text: &str) -> Result<u64, String> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let is_number = digits.chars().all(|c| c.is_digit(radix));
    let number = u64::from_str_radix(digits, radix).ok().filter(|_| is_number);
    number.ok_or_else(|| format!("{text:?} is not an offset: write 1000 or 0x3e8"))
}

const EXAMPLES: &str = "\
EXAMPLES
  tet dump climate.tet | less                every field of the structure
  tet dump climate.tet --at 0x3e8            what byte 1000 is
  tet dump climate.tet --only superblock,directory
  tet dump climate.tet --dataset temp -n 5   its record, five rows, five payloads
  tet dump broken.tet --json | jq -c 'select(.remarks)'

EXIT STATUS
  0 no rule is broken in what was printed, 3 a rule is broken; the rest is
  printed anyway";

/// The long help text.
pub(super) const LONG_ABOUT: &str = "\
Show the bytes of a .tet file with their meaning, in file order: offset, bytes in hex, name \
of the field, value.\n\nEvery byte of the structure is shown: superblock, directory, index, \
footer. A payload takes one line with its chunk, codec and length, and so does a gap. Broken rules \
are printed under their field. Damaged files are printed as far as possible; `tet verify` also \
checks rules that concern all rows together.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_decimal_or_hexadecimal() {
        let cases = [("0", 0), ("1000", 1000), ("0x3e8", 1000), ("0X3E8", 1000)];
        for (text, want) in cases {
            assert_eq!(offset(text), Ok(want), "{text}");
        }
        for text in ["", "0x", "-1", "+1", "0x+1", "1k", "0x10000000000000000", "1.5"] {
            assert!(offset(text).is_err(), "{text}");
        }
    }
}
