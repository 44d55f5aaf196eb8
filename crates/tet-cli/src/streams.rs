//! The standard streams and the environment of the process.
//!
//! Only [`Streams::process`] reads the environment. Tests and embedders use [`Streams::captured`], whose
//! streams are in memory.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::process::{Resource, getrlimit};
pub use tet_plot::Depth;

use crate::args::ColorWhen;
use crate::exit::Exit;

/// The width of text if the width of the terminal is unknown, or there is none.
const WIDTH_DEFAULT: usize = 80;

/// The height of the terminal if it is unknown.
const ROWS_DEFAULT: usize = 24;

/// Pager if `PAGER` is not set.
const PAGER_DEFAULT: &str = "if command -v less >/dev/null; then exec less; else exec cat; fi";

/// Standard input, output and error, and the environment.
pub struct Streams {
    /// The document or the file named `-` is read from here.
    pub input: Box<dyn Read>,
    /// Results, and nothing else.
    pub out: Box<dyn Write>,
    /// Errors, notes and progress.
    pub err: Box<dyn Write>,
    /// The environment.
    pub env: Environment,
}

impl std::fmt::Debug for Streams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Streams").field("env", &self.env).finish_non_exhaustive()
    }
}

/// The environment, read once.
#[derive(Debug, Clone)]
pub struct Environment {
    /// Whether standard input is a terminal.
    pub input_terminal: bool,
    /// Whether standard output is a terminal.
    pub out_terminal: bool,
    /// Whether standard error is a terminal.
    pub err_terminal: bool,
    /// Columns of the terminal.
    pub width: usize,
    /// Lines of the terminal.
    pub rows: usize,
    /// The command that shows what is longer than the terminal, for a shell; `None` for none.
    pub pager: Option<OsString>,
    /// Whether standard output is colored by default.
    pub out_color: bool,
    /// Whether standard error is colored by default.
    pub err_color: bool,
    /// The number of colors if colors are on.
    pub depth: Depth,
    /// `SOURCE_DATE_EPOCH`, when it is a number.
    pub source_date_epoch: Option<u64>,
    /// Set on Ctrl-C.
    pub cancel: Arc<AtomicBool>,
    /// The directory of relative paths; empty for the working directory.
    pub base: PathBuf,
    /// The copy of the file on standard input, which is named `-`.
    pub piped: Option<PathBuf>,
    /// The directory for temporary files.
    pub temp_dir: PathBuf,
    /// Bytes of memory of this machine.
    pub memory_len: u64,
    /// The variables that files on servers are read with, such as `AWS_REGION`.
    #[cfg(feature = "net")]
    pub lookup: tet_net::Lookup,
}

impl Environment {
    /// An environment without terminals, colors and variables.
    #[must_use]
    pub fn plain() -> Environment {
        Environment {
            input_terminal: false,
            out_terminal: false,
            err_terminal: false,
            width: WIDTH_DEFAULT,
            rows: ROWS_DEFAULT,
            pager: None,
            out_color: false,
            err_color: false,
            depth: Depth::Indexed,
            source_date_epoch: None,
            cancel: Arc::new(AtomicBool::new(false)),
            base: PathBuf::new(),
            piped: None,
            temp_dir: std::env::temp_dir(),
            memory_len: 1 << 32,
            #[cfg(feature = "net")]
            lookup: tet_net::Lookup::default(),
        }
    }

    /// The time written into histories: `SOURCE_DATE_EPOCH`, else now, in Unix seconds.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.source_date_epoch.unwrap_or_else(|| {
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
        })
    }

    /// Resolves a path, as the user wrote it, from the base directory; `-` is the copy of the file on standard
    /// input, if there is one. A URL stays one; that of a file of this machine becomes its path.
    #[must_use]
    pub fn at(&self, path: &Path) -> PathBuf {
        let path = tet_io::local_path(path);
        match &self.piped {
            Some(piped) if path.as_os_str() == "-" => piped.clone(),
            _ if tet_io::is_url(&path) => path,
            _ => self.base.join(path),
        }
    }

    /// Whether the user pressed Ctrl-C.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// The colors of standard output under a `--color` flag.
    #[must_use]
    pub fn out_depth(&self, when: ColorWhen) -> Depth {
        let shown = match when {
            ColorWhen::Auto => self.out_color,
            ColorWhen::Always => true,
            ColorWhen::Never => false,
        };
        if shown { self.depth } else { Depth::Plain }
    }

    /// Whether standard error is colored under a `--color` flag.
    #[must_use]
    pub fn err_is_colored(&self, when: ColorWhen) -> bool {
        match when {
            ColorWhen::Auto => self.err_color,
            ColorWhen::Always => true,
            ColorWhen::Never => false,
        }
    }
}

/// The most files open at once: the index of a model may name 4096 shards.
const FILE_COUNT_MAX: u64 = 1 << 16;

/// Raises the limit of open files to the most that the system allows this process.
fn allow_many_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.unwrap_or(FILE_COUNT_MAX).min(FILE_COUNT_MAX);
    if current.is_some_and(|current| current < wanted) {
        // If this fails, commands that open many files fail with the name of a file.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
}

impl Streams {
    /// The streams and the environment of this process; takes over Ctrl-C.
    #[must_use]
    pub fn process() -> Streams {
        let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
        let cancel = Arc::new(AtomicBool::new(false));
        take_signals(&cancel);
        allow_many_files();
        let colored = |choice| choice != anstream::ColorChoice::Never;
        let env = Environment {
            input_terminal: stdin.is_terminal(),
            out_terminal: stdout.is_terminal(),
            err_terminal: stderr.is_terminal(),
            width: terminal_width(&stdout),
            rows: terminal_rows(&stdout),
            pager: stdout.is_terminal().then(pager).flatten(),
            out_color: colored(anstream::AutoStream::choice(&stdout)),
            err_color: colored(anstream::AutoStream::choice(&stderr)),
            depth: depth_of(
                std::env::var_os("COLORTERM").as_deref(),
                std::env::var_os("TERM").as_deref(),
            ),
            source_date_epoch: std::env::var("SOURCE_DATE_EPOCH")
                .ok()
                .and_then(|text| text.trim().parse().ok()),
            cancel,
            base: PathBuf::new(),
            piped: None,
            temp_dir: std::env::temp_dir(),
            memory_len: memory_len(),
            #[cfg(feature = "net")]
            lookup: tet_net::Lookup::new(|name| std::env::var(name).ok()),
        };
        let out = io::BufWriter::with_capacity(1 << 16, stdout);
        Streams { input: Box::new(stdin), out: Box::new(out), err: Box::new(stderr), env }
    }

    /// Streams over memory in a plain environment; the sinks contain what is written.
    #[must_use]
    pub fn captured(input: &[u8]) -> (Streams, Sink, Sink) {
        let (out, err) = (Sink::default(), Sink::default());
        let streams = Streams {
            input: Box::new(io::Cursor::new(input.to_vec())),
            out: Box::new(out.clone()),
            err: Box::new(err.clone()),
            env: Environment::plain(),
        };
        (streams, out, err)
    }
}

/// A stream in memory; clones share what was written.
#[derive(Debug, Clone, Default)]
pub struct Sink(Arc<std::sync::Mutex<Vec<u8>>>);

impl Sink {
    /// Bytes written so far.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().map(|bytes| bytes.clone()).unwrap_or_default()
    }

    /// Text written so far.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Ok(mut all) = self.0.lock() {
            all.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The first Ctrl-C sets the flag, the second one ends the process. A file past the size limit of the
/// process becomes an I/O error instead of a fatal signal.
fn take_signals(cancel: &Arc<AtomicBool>) {
    use signal_hook::consts::signal::{SIGABRT, SIGINT, SIGXFSZ};
    // If a handler cannot be set, the default of the system stays: Ctrl-C ends the process.
    let _ = signal_hook::flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(cancel));
    let _ = signal_hook::flag::register(SIGINT, Arc::clone(cancel));
    // The standard library says how much memory the system did not give, and stops the process by this signal.
    let (is_set, limit) = (Arc::new(AtomicBool::new(true)), Exit::Limit.code().into());
    let _ = signal_hook::flag::register_conditional_shutdown(SIGABRT, limit, is_set);
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

fn terminal_width(stdout: &io::Stdout) -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|text| text.parse::<usize>().ok());
    let shown = || rustix::termios::tcgetwinsize(stdout).ok().map(|size| usize::from(size.ws_col));
    asked.or_else(shown).filter(|&width| width >= 20).unwrap_or(WIDTH_DEFAULT)
}

fn terminal_rows(stdout: &io::Stdout) -> usize {
    let shown = rustix::termios::tcgetwinsize(stdout).map(|size| usize::from(size.ws_row));
    shown.ok().filter(|&rows| rows > 1).unwrap_or(ROWS_DEFAULT)
}

/// The pager that the environment asks for.
fn pager() -> Option<OsString> {
    if std::env::var_os("TERM").is_none_or(|term| term == "dumb") {
        return None;
    }
    let asked = std::env::var_os("PAGER").unwrap_or_else(|| PAGER_DEFAULT.into());
    (!asked.is_empty() && asked != "cat").then_some(asked)
}

/// The memory of this machine, or the limit of this process if that is less.
#[allow(clippy::useless_conversion, reason = "the number is narrower on other machines")]
fn memory_len() -> u64 {
    let facts = rustix::system::sysinfo();
    let machine = u64::from(facts.totalram).saturating_mul(u64::from(facts.mem_unit));
    let limits = [Resource::As, Resource::Data].map(|limit| getrlimit(limit).current);
    limits.into_iter().flatten().fold(machine, u64::min)
}

/// The number of colors of the terminal, by `COLORTERM` and `TERM`.
fn depth_of(colorterm: Option<&OsStr>, term: Option<&OsStr>) -> Depth {
    let has = |value: Option<&OsStr>, word: &str| {
        value.and_then(OsStr::to_str).is_some_and(|value| value.contains(word))
    };
    if has(colorterm, "truecolor") || has(colorterm, "24bit") || has(term, "-direct") {
        Depth::True
    } else {
        Depth::Indexed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_follows_the_terminal() {
        let cases = [
            (Some("truecolor"), Some("xterm-256color"), Depth::True),
            (Some("24bit"), None, Depth::True),
            (None, Some("xterm-direct"), Depth::True),
            (None, Some("xterm-256color"), Depth::Indexed),
            (None, None, Depth::Indexed),
        ];
        for (colorterm, term, want) in cases {
            assert_eq!(depth_of(colorterm.map(OsStr::new), term.map(OsStr::new)), want);
        }
    }

    #[test]
    fn the_flag_wins_over_the_environment() {
        let mut env = Environment::plain();
        assert_eq!(env.out_depth(ColorWhen::Auto), Depth::Plain);
        assert_eq!(env.out_depth(ColorWhen::Always), Depth::Indexed);
        env.out_color = true;
        assert_eq!(env.out_depth(ColorWhen::Auto), Depth::Indexed);
        assert_eq!(env.out_depth(ColorWhen::Never), Depth::Plain);
    }

    #[test]
    fn relative_paths_start_from_the_base() {
        let mut env = Environment::plain();
        assert_eq!(env.at(Path::new("a/b.tet")), Path::new("a/b.tet"));
        env.base = PathBuf::from("/data");
        assert_eq!(env.at(Path::new("b.tet")), Path::new("/data/b.tet"));
        assert_eq!(env.at(Path::new("/b.tet")), Path::new("/b.tet"));
        assert_eq!(env.at(Path::new("file:///b.tet")), Path::new("/b.tet"));
        assert_eq!(env.at(Path::new("s3://a/b.tet")), Path::new("s3://a/b.tet"));
    }
}
