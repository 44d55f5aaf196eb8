//! `tet completions`: a script for a shell, generated from the definition of the command line.

use crate::args::CompletionsArgs;
use crate::context::Context;
use crate::exit::{Exit, Result};

/// Runs the command.
///
/// # Errors
///
/// Writing to standard output fails.
pub(crate) fn run(args: &CompletionsArgs, context: &mut Context<'_>) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::command(), "tet", &mut script);
    context.out().write_all(&script)?;
    Ok(Exit::Done)
}
