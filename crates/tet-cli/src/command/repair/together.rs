//! What the repairs of all containers have in common, and of those whose edits are made all or none.

use std::path::{Path, PathBuf};

use tet_format::Span;
use tet_io::{Output, Publish, Source};

use super::target;
use crate::args::RepairArgs;
use crate::context::Context;
use crate::escape::Message;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::render::json::EditShape;
use crate::size::counted;

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

/// So many copies of damaged files are kept beside a file.
const BACKUPS_MAX: usize = 1000;

/// Copies the damaged file to `FILE.bak`, or `FILE.bak.1` and so on where that exists, when it is going
/// to be replaced by one that has lost something.
pub(super) fn back_up(
    args: &RepairArgs,
    source: &Source,
    has_losses: bool,
    context: &Context<'_>,
) -> Result<Option<PathBuf>> {
    if args.no_backup || args.output.is_some() || !has_losses {
        return Ok(None);
    }
    let (_, sync) = open::publish_options(args.write);
    let publish = Publish { force: tet_io::Overwrite::Refuse, sync, inputs: Vec::new() };
    for number in 0..BACKUPS_MAX {
        let mut name = args.file.clone().into_os_string();
        name.push(if number == 0 { ".bak".to_owned() } else { format!(".bak.{number}") });
        let name = PathBuf::from(name);
        match copy(source, &context.world().at(&name), &publish) {
            Ok(()) => return Ok(Some(name)),
            Err(tet_io::Error::Exists { .. }) => {}
            Err(error) => return Err(Failure::from(error).about(&name)),
        }
    }
    let text = format!("{}.bak exists {BACKUPS_MAX} times", tet_io::shown(&args.file));
    Err(Failure::usage("backup", text).hint("remove old copies, or use --no-backup"))
}

fn copy(source: &Source, path: &Path, publish: &Publish) -> tet_io::Result<()> {
    let mut publisher = Output::Beside(path).begin(source, publish)?;
    if let Some(all) = Span::new(0, source.len()) {
        publisher.copy_from(source, all)?;
    }
    source.check_unchanged()?;
    publisher.commit()
}

/// Writes a line for every edit, and one for all that it loses.
pub(super) fn write_edits(edits: &[EditShape], context: &mut Context<'_>) -> Result<()> {
    let paint = context.paint;
    for edit in edits {
        let mark = match edit {
            EditShape { applied: true, .. } => "made",
            EditShape { withheld: true, .. } => "left",
            _ => "edit",
        };
        let (code, action, region) = (paint.strong(edit.code), &edit.action, edit.region);
        let (offset, len, why) = (edit.offset, counted(edit.len, "byte"), why(edit.proof));
        context
            .line(format!("  {mark} {code}: {action}, {region} at byte {offset}, {len}{why}"))?;
        let lost = if edit.withheld { "would lose:" } else { "lost:" };
        // What a digest proves to be wrong is no loss.
        for loss in edit.losses.iter().filter(|_| edit.proof != "digest") {
            context.line(format!("    {} {}", paint.wrong(lost), Message(loss)))?;
        }
    }
    Ok(())
}

/// Why an edit is right, by the name of its proof.
fn why(proof: &str) -> &'static str {
    match proof {
        "digest" => " (proven by its digest)",
        "rest" => " (follows from the rest of the file)",
        _ => "",
    }
}

/// Says what is left, what was written, or that nothing was.
pub(super) fn write_end(
    args: &RepairArgs,
    edits: &[EditShape],
    (advice, backup): (Option<&str>, Option<&Path>),
    context: &mut Context<'_>,
) -> Result<()> {
    let is_made = edits.iter().any(|edit| edit.applied);
    if let Some(advice) = advice.filter(|_| !args.salvage) {
        context.line(context.paint.advice(advice))?;
    }
    if edits.iter().any(|edit| edit.withheld) {
        let advice = "--salvage also makes the edits that lose something";
        context.line(context.paint.advice(advice))?;
    }
    if let Some(backup) = backup {
        context.note(format!("kept the damaged file as {}", tet_io::shown(backup)));
    }
    if is_made {
        context.note(format!("wrote {}", tet_io::shown(target(args))));
    } else if args.apply.is_empty() && edits.iter().any(|edit| !edit.withheld) && !args.all {
        context.line(context.paint.advice("nothing is changed yet: --all makes these edits"))?;
    }
    Ok(())
}

/// How it ended, of a plan whose edits were made or not.
pub(super) fn exit(edits: &[EditShape], is_healed: bool) -> Exit {
    let is_made = |edit: &EditShape| edit.applied;
    let is_lossy = |edit: &EditShape| !edit.losses.is_empty() && edit.proof != "digest";
    match edits {
        [] if is_healed => Exit::Done,
        [] => Exit::Format,
        edits if is_healed && edits.iter().all(is_made) && !edits.iter().any(is_lossy) => {
            Exit::Done
        }
        _ => Exit::No,
    }
}
