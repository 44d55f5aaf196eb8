//! `tet man`: manual pages, generated from the definition of the command line.

use std::io::Write;
use std::path::Path;

use clap_mangen::Man;
use tet_io::publish::Sync;
use tet_io::{Overwrite, Publish, Publisher};

use crate::args::ManArgs;
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};

/// Runs the command.
///
/// # Errors
///
/// A page cannot be written.
pub(crate) fn run(args: &ManArgs, context: &mut Context<'_>) -> Result<Exit> {
    let mut command = crate::command();
    command.build();
    let Some(dir) = &args.dir else {
        Man::new(command).render(&mut context.streams.out)?;
        return Ok(Exit::Done);
    };
    let dir = context.env().at(dir);
    std::fs::create_dir_all(&dir).map_err(|error| cannot_write(&dir, &error))?;
    for command in with_nested(command) {
        let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
        let mut page = Vec::new();
        Man::new(command.name(name.clone())).render(&mut page)?;
        let path = dir.join(format!("{name}.1"));
        let options = Publish { force: Overwrite::Replace, sync: Sync::None, ..Publish::default() };
        let mut publisher = Publisher::begin(&path, &options)?;
        publisher.write_all(&page).map_err(|error| publisher.write_fault(error))?;
        publisher.commit()?;
    }
    Ok(Exit::Done)
}

/// A command, followed by its subcommands: `digest`, `digest create`.
fn with_nested(command: clap::Command) -> Vec<clap::Command> {
    let nested: Vec<clap::Command> =
        command.get_subcommands().cloned().flat_map(with_nested).collect();
    std::iter::once(command).chain(nested).collect()
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Exit::Environment, "io", format!("cannot write {}: {error}", tet_io::shown(path)))
}
