//! Files on standard input and output, both named `-`: formats are read and written by position, so such a file is a
//! temporary one, which is copied.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use tempfile::TempDir;
use tet_io::Operation;

use crate::args::{Command, QuestionArgs};
use crate::bar::Bar;
use crate::context::Context;
use crate::exit::{Failure, Result};
use crate::output;

/// The name of the copy, which a dataset without a name takes.
const NAME: &str = "input";

/// Bytes that are copied at once.
const BLOCK_LEN: usize = 1 << 18;

/// Copies standard input to a temporary file where a file of this command is named `-`. The copy is there as
/// long as what is returned.
///
/// # Errors
///
/// Two files are named so, standard input is a terminal, or the copy cannot be written.
pub(crate) fn copy(command: &Command, context: &mut Context<'_>) -> Result<Option<TempDir>> {
    let count = command.files().into_iter().filter(|file| *file == "-").count();
    if count == 0 {
        return Ok(None);
    }
    if 1 < count {
        let failure = Failure::usage("two-inputs", "standard input, -, is one file, not several");
        return Err(failure.hint("give the path of the other file"));
    }
    if context.env().input_terminal {
        let failure = Failure::usage("terminal", "- reads a file from standard input, a terminal");
        return Err(failure.hint("pipe a file into the command, or give a path"));
    }
    let dir = temp_dir(context)?;
    let path = dir.path().join(NAME);
    write(&path, context)?;
    context.streams.env.piped = Some(path);
    Ok(Some(dir))
}

/// Writes a file to standard output: `make` writes it to the path that it is given, which ends in `name`, and it is
/// copied from there.
///
/// # Errors
///
/// The error of `make`; standard output is a terminal; the output is not one file; the copy cannot be written.
pub(crate) fn output<'c, T>(
    name: &Path,
    context: &mut Context<'c>,
    make: impl FnOnce(&Path, &mut Context<'c>) -> Result<T>,
) -> Result<T> {
    output::check_terminal(None, context)?;
    text_output(name, context, make)
}

/// Writes a file of text, which a terminal takes too.
///
/// # Errors
///
/// As [`output`].
pub(crate) fn text_output<'c, T>(
    name: &Path,
    context: &mut Context<'c>,
    make: impl FnOnce(&Path, &mut Context<'c>) -> Result<T>,
) -> Result<T> {
    let dir = temp_dir(context)?;
    let path = dir.path().join(name);
    let made = make(&path, context)?;
    let of_read = |error| Failure::from(tet_io::Error::io(Operation::Read, &path, error));
    if !path.is_file() || std::fs::read_dir(dir.path()).map_err(of_read)?.count() != 1 {
        let text = "this format is several files, and standard output takes one";
        return Err(Failure::usage("output-format", text).hint("write to a path instead"));
    }
    let mut file = File::open(&path).map_err(of_read)?;
    std::io::copy(&mut file, context.streams.out.as_mut())?;
    Ok(made)
}

/// A folder for a temporary file, which is removed when it is dropped.
fn temp_dir(context: &Context<'_>) -> Result<TempDir> {
    let temp_dir = &context.env().temp_dir;
    let made = tempfile::Builder::new().prefix("tet-").tempdir_in(temp_dir);
    made.map_err(|error| tet_io::Error::io(Operation::Create, temp_dir, error).into())
}

fn write(path: &Path, context: &mut Context<'_>) -> Result<()> {
    let of_write = |error| Failure::from(tet_io::Error::io(Operation::Write, path, error));
    let of_read = |error| {
        Failure::from(tet_io::Error::io(Operation::Read, Path::new("standard input"), error))
    };
    let bar = Bar::new(context, "reading standard input", 0);
    let progress = bar.progress(context);
    let mut file = File::create_new(path).map_err(of_write)?;
    let mut block = vec![0; BLOCK_LEN];
    loop {
        let len = match context.streams.input.read(&mut block) {
            Ok(0) => break,
            Ok(len) => len,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(of_read(error)),
        };
        std::io::Write::write_all(&mut file, &block[..len]).map_err(of_write)?;
        let len = u64::try_from(len).unwrap_or(u64::MAX);
        progress.advance(len).map_err(|_| Failure::interrupted())?;
    }
    bar.finish();
    Ok(())
}

impl Command {
    /// The files that this command reads whole, as the user named them.
    fn files(&self) -> Vec<&OsStr> {
        match self {
            Command::Info(args) => vec![args.file.as_os_str()],
            Command::Cat(args) => vec![args.file.as_os_str()],
            Command::Query(args) => args.question.file().into_iter().collect(),
            Command::Explain(args) => args.question.file().into_iter().collect(),
            Command::Plot(args) => args.question.file().into_iter().collect(),
            Command::Stats(args) => vec![args.file.as_os_str()],
            Command::Diff(args) => vec![args.left.as_os_str(), args.right.as_os_str()],
            Command::Convert(args) => args.inputs.iter().map(|path| path.as_os_str()).collect(),
            #[cfg(feature = "zarr")]
            Command::Refs(args) => args.files.iter().map(|path| path.as_os_str()).collect(),
            Command::Verify(args) => args.files.iter().map(|path| path.as_os_str()).collect(),
            Command::Dump(_)
            | Command::Edit(_)
            | Command::Series(_)
            | Command::Repair(_)
            | Command::Digest(_)
            | Command::Demo(_)
            | Command::Completions(_)
            | Command::Man(_) => Vec::new(),
        }
    }
}

impl QuestionArgs {
    /// The file of a question; with -t the first argument is its document.
    fn file(&self) -> Option<&OsStr> {
        let first = self.first.as_deref().map(OsStr::new);
        self.tensor.as_deref().map_or(first, |path| Some(path.as_os_str()))
    }
}
