//! `tet completions`: a script for a shell, made of the definition of the command line.

use crate::args::CompletionsArgs;
use crate::context::Context;
use crate::exit::{Exit, Result};

/// Runs the command.
///
/// # Errors
///
/// Standard output does not take it.
pub(crate) fn run(args: &CompletionsArgs, context: &mut Context<'_>) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::command(), "tet", &mut script);
    context.out().write_all(&script)?;
    Ok(Exit::Done)
}
