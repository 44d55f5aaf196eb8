//! `tet verify`, `tet demo`, `tet completions`, `tet man`.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `tet verify`.
#[derive(Debug, Args)]
#[command(
    after_long_help = VERIFY_EXAMPLES
)]
pub struct VerifyArgs {
    /// The files to check
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Check the structure only: no data is read, so damaged data is not found
    #[arg(long, conflicts_with = "deep")]
    pub quick: bool,
    /// Check every byte, which is the default
    #[arg(long, hide = true)]
    pub deep: bool,
    /// Treat warnings as errors
    #[arg(long)]
    pub strict: bool,
    /// Print one `tet.verify/1` object for each file
    #[arg(long)]
    pub json: bool,
    /// Number of threads that check data, 0 for all
    #[arg(long, value_name = "N", default_value = "0", hide_default_value = true, value_parser = crate::size::parse_threads)]
    pub threads: usize,
    /// Limit the memory of decoders, as 256MiB or 2G
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
    pub memory: Option<u64>,
    /// Limit the bytes that the data may decode to, as 64GiB
    ///
    /// The default is 16 GiB, or 65,536 times the file length if that is more: a small file can
    /// declare any number of elements.
    #[arg(long, value_name = "SIZE", value_parser = crate::size::parse)]
    pub max_decoded: Option<u64>,
}

const VERIFY_EXAMPLES: &str = "\
EXAMPLES
  tet verify climate.tet
  tet verify --quick climate.tet          its structure only
  tet verify --strict -q *.tet || echo 'at least one has errors or warnings'
  tet verify model.safetensors            names the tensor and the byte of each error
  tet verify climate.tet --json | jq '.findings[].code'

EXIT STATUS
  0 no errors (warnings do not count without --strict), 1 errors in a file of
  a known format, 3 no known format";

/// Arguments of `tet demo`.
#[derive(Debug, Args)]
#[command(
    after_long_help = DEMO_EXAMPLES
)]
pub struct DemoArgs {
    /// Write the files to this directory; it is created if missing [default: a new temporary
    /// directory]
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Replace the files of an earlier demo
    #[arg(short, long)]
    pub force: bool,
}

const DEMO_EXAMPLES: &str = "\
EXAMPLES
  tet demo                  run the demo
  tet demo tour             keep the files in ./tour
  tet demo tour --force     run it again
  tet demo -q tour          make the files only";

/// Arguments of `tet completions`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
EXAMPLES
  tet completions bash > ~/.local/share/bash-completion/completions/tet
  tet completions zsh  > ~/.zfunc/_tet
  tet completions fish > ~/.config/fish/completions/tet.fish

The shell then completes commands, options, and the names of datasets, axes and labels of the file that is
on the line already: tet cat year.nc t2m[la<Tab>")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// Arguments of `tet man`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
EXAMPLES
  tet man | man -l -        read it
  tet man ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Write tet.1, tet-info.1 and so on to this directory; without it tet.1 goes to standard
    /// output
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// The long help text.
pub(super) const VERIFY_LONG_ABOUT: &str = "\
Check every byte of files and report every error: its rule, its place, what was found, what was \
expected, what to do. docs/reference/verify.md lists all codes.\n\nThe structure is checked first: superblock, \
directory, chunk index, places of the payloads, footer. Then every payload is read, decoded, and \
compared with its checksum, where a file has any. --quick stops after the structure; it reports \
`structure ok, data not checked`, since damaged data is found only when the data is read.\n\nThe line \
of a file contains its integrity: `verified` when every byte was compared with a checksum, `unchecked` \
when some were not, `mismatch`, `unprotected` when there are no checksums, `stale` when the file \
was changed by a program that writes no checksums. Checksums that are stale, or of an unknown version, are an error: \
they cannot be compared.\n\nThe rules of other containers have codes of their own: ST for safetensors, \
ZT for zTensor, TGM for Tensogram, H5 for HDF5, NC for NetCDF classic, ZR for Zarr, GG for GGUF, CSV, FITS, PT for PyTorch, NPY and \
NPZ for NumPy.";

/// The long help text.
pub(super) const DEMO_LONG_ABOUT: &str = "\
Make a small data set, a year of monthly temperatures on a map of the world, and run seven commands \
on it.\n\nEvery step prints the command and its output. The files go to DIR, or to a new \
temporary directory, which the demo prints.";
