//! Long output on a terminal goes through a pager: `PAGER`, or less.
//!
//! Output is held until it is longer than the terminal; what fits is printed as it is. Once a pager runs, it shows
//! errors and notes too, since it has the terminal.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Child, Command as Process, Stdio};
use std::rc::Rc;

use crate::args::Command;
use crate::streams::Streams;

/// A line that is longer goes to the pager, however few lines there are.
const HELD_MAX: usize = 1 << 20;

/// Sends the streams of a command through the pager, if it prints a report for people on a terminal.
pub(crate) fn begin(command: &Command, streams: &mut Streams) {
    let Some(pager) = streams.env.pager.clone().filter(|_| command.is_report()) else { return };
    let rows = streams.env.rows;
    let out = std::mem::replace(&mut streams.out, Box::new(io::sink()));
    let err = std::mem::replace(&mut streams.err, Box::new(io::sink()));
    let paged = Paged { out, err, pager, rows, line_count: 0, state: PagerState::Held(Vec::new()) };
    let paged = Rc::new(RefCell::new(paged));
    streams.out = Box::new(PagedOut(Rc::clone(&paged)));
    streams.err = Box::new(PagedErr(paged));
}

impl Command {
    /// Whether the command prints a report for people.
    fn is_report(&self) -> bool {
        let is_report = match self {
            Command::Cat(args) => args.output.is_none(),
            Command::Query(args) => args.save.output.is_none(),
            Command::Info(_)
            | Command::Explain(_)
            | Command::Stats(_)
            | Command::Diff(_)
            | Command::Verify(_)
            | Command::Dump(_) => true,
            _ => false,
        };
        is_report && !self.wants_json()
    }
}

/// The streams of the process, and the pager before them.
struct Paged {
    out: Box<dyn Write>,
    err: Box<dyn Write>,
    pager: OsString,
    /// The lines of the terminal.
    rows: usize,
    line_count: usize,
    state: PagerState,
}

enum PagerState {
    /// Printed bytes, which may fit the terminal.
    Held(Vec<u8>),
    /// There is no pager.
    Direct,
    /// The pager runs.
    Running(Child),
}

impl Paged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.state {
            PagerState::Direct => self.out.write_all(bytes),
            PagerState::Running(child) => to_pager(child, bytes),
            PagerState::Held(held) => {
                held.extend_from_slice(bytes);
                self.line_count += bytes.iter().filter(|byte| **byte == b'\n').count();
                if self.line_count < self.rows && held.len() < HELD_MAX {
                    return Ok(());
                }
                self.start()
            }
        }
    }

    /// Starts the pager, or prints what was held if it cannot be started.
    fn start(&mut self) -> io::Result<()> {
        let mut script = OsString::from("LESS=\"${LESS-FRX}\"; export LESS; ");
        script.push(&self.pager);
        self.err.flush()?;
        let child = Process::new("sh").arg("-c").arg(script).stdin(Stdio::piped()).spawn();
        let Ok(mut child) = child else { return self.release() };
        let PagerState::Held(held) = std::mem::replace(&mut self.state, PagerState::Direct) else {
            return Ok(());
        };
        let written = to_pager(&mut child, &held);
        self.state = PagerState::Running(child);
        written
    }

    /// Prints what was held: the rest is printed too.
    fn release(&mut self) -> io::Result<()> {
        if let PagerState::Held(held) = &mut self.state {
            let held = std::mem::take(held);
            self.state = PagerState::Direct;
            self.out.write_all(&held)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.release()?;
        match &mut self.state {
            PagerState::Running(child) => child.stdin.as_mut().map_or(Ok(()), Write::flush),
            _ => self.out.flush(),
        }
    }
}

fn to_pager(child: &mut Child, bytes: &[u8]) -> io::Result<()> {
    let ended = || io::Error::from(io::ErrorKind::BrokenPipe);
    child.stdin.as_mut().ok_or_else(ended)?.write_all(bytes)
}

impl Drop for Paged {
    /// Waits for the reader.
    fn drop(&mut self) {
        let _ = self.flush();
        if let PagerState::Running(child) = &mut self.state {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}

/// Standard output.
struct PagedOut(Rc<RefCell<Paged>>);

impl Write for PagedOut {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

/// Standard error.
struct PagedErr(Rc<RefCell<Paged>>);

impl Write for PagedErr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let paged = &mut *self.0.borrow_mut();
        match &mut paged.state {
            PagerState::Running(child) => to_pager(child, bytes)?,
            _ => paged.err.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().err.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    /// Output of the streams and the pager for `count` lines, on a terminal of five.
    fn printed(words: &[&str], count: usize) -> (String, String, Option<String>) {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("paged");
        let (mut streams, out, err) = Streams::captured(b"");
        streams.env.rows = 5;
        let mut pager = OsString::from("cat > ");
        pager.push(&there);
        streams.env.pager = Some(pager);
        let cli = crate::args::Cli::try_parse_from(words).unwrap();
        begin(&cli.command, &mut streams);
        for line in 0..count {
            writeln!(streams.out, "{line}").unwrap();
        }
        writeln!(streams.err, "note").unwrap();
        drop(streams);
        (out.text(), err.text(), std::fs::read_to_string(there).ok())
    }

    #[test]
    fn what_is_longer_than_the_terminal_is_paged() {
        let short = ("0\n1\n2\n".to_owned(), "note\n".to_owned(), None);
        assert_eq!(printed(&["tet", "info", "a.tet"], 3), short);
        let paged = Some("0\n1\n2\n3\n4\n5\nnote\n".to_owned());
        assert_eq!(printed(&["tet", "info", "a.tet"], 6), (String::new(), String::new(), paged));
    }

    #[test]
    fn what_programs_read_is_not_paged() {
        for words in [
            &["tet", "info", "a.tet", "--json"][..],
            &["tet", "convert", "a.tet", "b.npz"],
            &["tet", "cat", "a.tet", "x", "-o", "-"],
        ] {
            let (out, err, paged) = printed(words, 6);
            assert_eq!((out.as_str(), err.as_str(), paged), ("0\n1\n2\n3\n4\n5\n", "note\n", None));
        }
    }

    #[test]
    fn a_pager_that_ends_early_ends_the_output() {
        let (mut streams, _, _) = Streams::captured(b"");
        (streams.env.rows, streams.env.pager) = (2, Some("exit 0".into()));
        let cli = crate::args::Cli::try_parse_from(["tet", "info", "a.tet"]).unwrap();
        begin(&cli.command, &mut streams);
        let block = [b'\n'; 1 << 16];
        let ended = (0..64).find_map(|_| streams.out.write_all(&block).err());
        assert_eq!(ended.map(|error| error.kind()), Some(io::ErrorKind::BrokenPipe));
    }
}
