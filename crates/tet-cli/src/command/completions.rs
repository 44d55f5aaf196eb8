//! `tet completions`: a script for a shell, which asks this program what can be completed.

use clap_complete::env::Shells;

use crate::args::CompletionsArgs;
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};

/// The variable by which the script asks.
const VARIABLE: &str = "COMPLETE";

/// Runs the command.
///
/// # Errors
///
/// Writing to standard output fails.
pub(crate) fn run(args: &CompletionsArgs, context: &mut Context<'_>) -> Result<Exit> {
    let name = args.shell.to_string();
    let shells = Shells::builtins();
    let shell = shells
        .completer(&name)
        .ok_or_else(|| Failure::usage("shell", format!("there are no completions for {name}")))?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "tet", "tet", "tet", &mut script)?;
    context.out().write_all(&script)?;
    Ok(Exit::Done)
}
