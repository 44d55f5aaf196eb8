//! Options of files that are given as URLs.

use clap::Args;

/// How files on servers are read.
///
/// ```
/// use clap::Parser;
/// use tet_cli::args::Cli;
///
/// let cli = Cli::try_parse_from(["tet", "info", "--cache", "blocks", "a.tet"])?;
/// assert_eq!((cli.net.cache.as_deref(), cli.net.io_depth), (Some("blocks"), 8));
/// # Ok::<(), clap::Error>(())
/// ```
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = super::GLOBAL)]
pub struct NetArgs {
    /// Make this many requests to a server at the same time [default: 8]
    ///
    /// Only for files that are given as URLs.
    #[arg(
        long,
        global = true,
        value_name = "N",
        default_value = "8",
        hide_default_value = true,
        hide_short_help = true,
        value_parser = crate::size::parse_depth
    )]
    pub io_depth: usize,
    /// Cache remote reads in this folder, for later commands [default: TET_CACHE]
    ///
    /// Blocks of files that are given as URLs are taken from it while the server still has the same
    /// version (a strong ETag). Several commands may use it at the same time. An empty value disables
    /// the cache.
    #[arg(long, global = true, value_name = "DIR", hide_short_help = true)]
    pub cache: Option<String>,
    /// Limit the size of the cache [default: TET_CACHE_SIZE, or 10 GiB]
    ///
    /// Blocks that were least recently used are removed first.
    #[arg(long, global = true, value_name = "SIZE", hide_short_help = true, value_parser = crate::size::parse)]
    pub cache_size: Option<u64>,
    /// Download files up to SIZE if the server has no range requests
    ///
    /// They are downloaded whole [default: TET_DOWNLOAD]. The file goes to the folder for temporary files (TMPDIR) and is removed at the end; with
    /// --cache it is kept there. 0 downloads none.
    #[arg(long, global = true, value_name = "SIZE", hide_short_help = true, value_parser = crate::size::parse)]
    pub download: Option<u64>,
}
