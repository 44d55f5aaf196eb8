//! Repairs of containers whose edits rest on each other: all are made or none.

use std::path::PathBuf;

use tet_io::{Output, Publish};

use super::target;
use crate::args::RepairArgs;
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::open;

/// What messages call a container, and what becomes of what it has lost.
pub(super) struct Words {
    /// As in "a zTensor file".
    pub(super) file: &'static str,
    /// What is done instead of filling.
    pub(super) unfilled: &'static str,
    /// What `--salvage` does.
    pub(super) salvage: &'static str,
}

/// Refuses options that a container has no use for.
pub(super) fn check(args: &RepairArgs, words: &Words) -> Result<()> {
    let Words { file, unfilled, salvage } = words;
    let text = if args.from.is_some() {
        format!("{file} takes no bytes from another one")
    } else if args.fill.is_some() {
        (*unfilled).to_owned()
    } else if args.output.is_some() && !args.all && args.apply.is_empty() {
        "--output says where to write, but nothing is to be written".to_owned()
    } else {
        return Ok(());
    };
    Err(Failure::usage("repair", text).hint(format!("add --all; {salvage}")))
}

/// Refuses codes that leave out an edit of these.
pub(super) fn check_codes(
    args: &RepairArgs,
    mut ids: impl Iterator<Item = &'static str>,
) -> Result<()> {
    let has = |id: &str| args.apply.iter().any(|asked| asked.eq_ignore_ascii_case(id));
    match ids.find(|id| !args.apply.is_empty() && !has(id)) {
        None => Ok(()),
        Some(id) => {
            let text = format!("the edit {id} is made with the others or not at all");
            Err(Failure::usage("code", text).hint("add its code, or use --all"))
        }
    }
}

/// Makes the new file by `apply`, where the arguments say.
pub(super) fn make<T, E>(
    args: &RepairArgs,
    context: &Context<'_>,
    apply: impl FnOnce(Output<'_>, &Publish) -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    let (force, sync) = open::publish_options(args.write);
    let publish = Publish { force, sync, inputs: Vec::new() };
    let path = context.world().at(&args.file);
    let output: Option<PathBuf> = args.output.as_ref().map(|output| context.world().at(output));
    apply(output.as_deref().map_or(Output::InPlace(&path), Output::Beside), &publish)
}

/// Says what is left, what was written, or that nothing was.
pub(super) fn write_end(
    args: &RepairArgs,
    (is_made, has_edits): (bool, bool),
    advice: Option<&str>,
    context: &mut Context<'_>,
) -> Result<()> {
    if let Some(advice) = advice.filter(|_| !is_made && !args.salvage) {
        context.line(context.paint.advice(advice))?;
    }
    if is_made {
        context.note(format!("wrote {}", tet_io::shown(target(args))));
    } else if has_edits {
        context.line(context.paint.advice("nothing is changed yet: --all makes these edits"))?;
    }
    Ok(())
}

/// How it ended: whether edits are made, whether there are some, and whether all is healed.
pub(super) const fn exit(is_made: bool, has_edits: bool, is_healed: bool) -> Exit {
    match (is_made, has_edits, is_healed) {
        (true, _, true) | (false, false, true) => Exit::Done,
        (false, false, false) => Exit::Format,
        _ => Exit::No,
    }
}
