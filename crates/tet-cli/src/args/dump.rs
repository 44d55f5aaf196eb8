//! `tet dump`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `tet dump`.
#[derive(Debug, Args)]
#[command(
    after_long_help = EXAMPLES
)]
pub struct DumpArgs {
    /// The file to take apart
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Say what one byte is: its place from the file's start, as 1000 or 0x3e8
    #[arg(long, value_name = "OFFSET", value_parser = offset,
          conflicts_with_all = ["only", "dataset", "count_max"])]
    pub at: Option<u64>,
    /// Only these parts of the file
    #[arg(long, value_name = "REGION", value_delimiter = ',')]
    pub only: Vec<RegionName>,
    /// Only the record, the rows and the payloads of one dataset, by name or as '#0'
    #[arg(short, long, value_name = "DATASET")]
    pub dataset: Option<String>,
    /// How many records, rows, payloads and lines of JSON to show, 0 for all
    #[arg(
        short = 'n',
        long = "limit",
        value_name = "N",
        default_value = "0",
        hide_default_value = true
    )]
    pub count_max: u64,
    /// One `tet.dump/1` object a field, each on a line of its own, for programs
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
    /// The rows that say where chunks are stored.
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
  0 no rule is broken in what was looked at, 3 one is: what can be told is told all the same";

/// What it does, at length.
pub(super) const LONG_ABOUT: &str = "\
Show the bytes of a .tet file with their meaning, in file order: offset, bytes in hex, name \
of the field, value.\n\nEvery byte of the structure is shown: superblock, directory, index, \
footer. A payload takes one line with its chunk, codec and length, and so does a gap. Rules \
that a field breaks stand under it. Damaged files are taken apart as far as they go; \
`tet verify` also checks what takes all rows together.";

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
