//! `tet series`: the parts of a folder, and the files in it that are not used.

use std::path::Path;

use tet_io::Leftover;

use crate::args::{SeriesGcArgs, SeriesListArgs, SeriesVerb};
use crate::context::Context;
use crate::escape::Escaped;
use crate::exit::{Exit, Failure, Result};
use crate::size::{Size, counted};

/// Runs the command.
///
/// # Errors
///
/// There is no such folder, its manifest is damaged, or another process is appending to it.
pub(crate) fn run(verb: &SeriesVerb, context: &mut Context<'_>) -> Result<Exit> {
    match verb {
        SeriesVerb::List(args) => list(args, context),
        SeriesVerb::Gc(args) => gc(args, context),
    }
}

fn list(args: &SeriesListArgs, context: &mut Context<'_>) -> Result<Exit> {
    let parts = tet_convert::series_parts(&context.env().at(&args.folder));
    for part in parts.map_err(|error| about(error, &args.folder))? {
        let rows = part
            .rows
            .iter()
            .map(|(dataset, [start, end])| format!("{}[{start}:{end}]", Escaped(dataset)));
        let rows = rows.collect::<Vec<_>>().join(" ");
        context.line(format!("{}  {}  {rows}", Escaped(&part.file), Size(part.len)).trim_end())?;
    }
    Ok(Exit::Done)
}

fn gc(args: &SeriesGcArgs, context: &mut Context<'_>) -> Result<Exit> {
    let path = context.env().at(&args.folder);
    if path.is_dir() && !path.join("series.json").exists() {
        return gc_leftovers(args, &path, context);
    }
    let unused = match args.apply {
        true => tet_convert::remove_unused_parts(&path),
        false => tet_convert::unused_parts(&path),
    };
    let unused = unused.map_err(|error| about(error, &args.folder))?;
    for file in &unused {
        let name = Escaped(&file.file);
        match &file.upload {
            Some(_) => context.line(format!("{name}  an upload that was not ended"))?,
            None => context.line(format!("{name}  {}", Size(file.len)))?,
        }
    }
    let files = counted(u64::try_from(unused.len()).unwrap_or(u64::MAX), "file");
    let len = Size(unused.iter().map(|file| file.len).fold(0, u64::saturating_add));
    let done = if args.apply { "removed" } else { "not used:" };
    context.note(format!("{done} {files}, {len}"));
    Ok(Exit::Done)
}

/// Lists or removes what killed programs left in a folder of any files.
fn gc_leftovers(args: &SeriesGcArgs, path: &Path, context: &mut Context<'_>) -> Result<Exit> {
    let about = |error: tet_io::Error| Failure::from(error).about(&args.folder);
    let leftovers = Leftover::list(path).map_err(about)?;
    for leftover in &leftovers {
        if args.apply {
            leftover.remove().map_err(about)?;
        }
        let name = tet_io::file_name(&leftover.path);
        context.line(format!("{}  {}", Escaped(&name), Size(leftover.len)))?;
    }
    let count = counted(u64::try_from(leftovers.len()).unwrap_or(u64::MAX), "leftover");
    let len = Size(leftovers.iter().map(|it| it.len).fold(0, u64::saturating_add));
    let done = if args.apply { "removed" } else { "not used:" };
    context.note(format!("{done} {count}, {len}"));
    Ok(Exit::Done)
}

fn about(error: tet_convert::Error, folder: &Path) -> Failure {
    Failure::from(error).about(folder)
}
