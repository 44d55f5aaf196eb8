//! Reports a repair plan, and makes it if requested, for all containers.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use tet_format::{NoteCode, Rule, Span};
use tet_io::{Output, Publish, Source};
use tet_report::{Applied, Code, Edit, Finding, Plan};
use tet_verify::repair::Chosen;

use super::super::verify::finding;
use crate::args::RepairArgs;
use crate::context::Context;
use crate::escape::Message;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::render::json::{EditShape, LostShape, Repaired};
use crate::size::counted;

/// Operations that differ between containers.
pub(super) struct How<T> {
    /// The edits to make; `None` to print the plan only.
    pub(super) chosen: Option<Chosen>,
    /// How to restore or drop what is lost.
    pub(super) advice: Vec<&'static str>,
    /// The JSON of a loss.
    pub(super) lost: fn(&T) -> LostShape,
}

/// The edits to make; `None` to print the plan only.
///
/// # Errors
///
/// A code is unknown, or a new file is requested without edits.
pub(super) fn chosen(args: &RepairArgs) -> Result<Option<Chosen>> {
    if args.all {
        return Ok(Some(Chosen::All));
    }
    if args.apply.is_empty() {
        return match &args.output {
            None => Ok(None),
            Some(_) => {
                let text = "--output is given, but no edits are selected";
                Err(Failure::usage("no-edits", text).hint("add --all, or --apply CODE"))
            }
        };
    }
    let codes: Result<Vec<Code>> = args.apply.iter().map(|id| code(id)).collect();
    Ok(Some(Chosen::Codes(codes?)))
}

fn code(id: &str) -> Result<Code> {
    let upper = id.to_ascii_uppercase();
    let rule = Rule::from_id(&upper).map(Code::Rule);
    let note = || NoteCode::ALL.iter().copied().find(|note| note.id() == upper).map(Code::Note);
    let foreign = || {
        let rules = tet_convert::foreign_rules().into_iter().flat_map(|(_, rules)| rules);
        rules.copied().find(|rule| rule.id == upper).map(Code::Foreign)
    };
    rule.or_else(note).or_else(foreign).ok_or_else(|| {
        let text = format!("{id:?} is not the code of a rule");
        Failure::usage("code", text).hint("`tet repair FILE` prints the codes of its edits")
    })
}

/// Makes the chosen edits with `apply`, and reports them.
///
/// # Errors
///
/// The new file cannot be written.
pub(super) fn finish<A: Display, L: Display, C, T: Display, O>(
    args: &RepairArgs,
    plan: &Plan<Edit<A, L, C>, T, O>,
    how: &How<T>,
    context: &mut Context<'_>,
    apply: impl FnOnce(&Chosen, Output<'_>, &Publish) -> Result<Applied>,
) -> Result<Exit> {
    let is_chosen = |edit: &Edit<A, L, C>| how.chosen.as_ref().is_some_and(|it| it.has(edit.code));
    let has_losses = plan.edits.iter().any(|edit| is_chosen(edit) && edit.is_lossy());
    let (mut backup, mut applied) = (None, None);
    if let Some(chosen) = how.chosen.as_ref().filter(|_| plan.edits.iter().any(is_chosen)) {
        backup = back_up(args, &plan.source, has_losses, context)?;
        let made = make(args, context, |output, publish| apply(chosen, output, publish))?;
        applied = Some(made);
    }
    // Errors that no edit repairs are not a success, although only `tet verify` lists them.
    let is_repaired = |remaining: &[Finding]| {
        let is_lost = !plan.lost.is_empty() || !plan.withheld.is_empty();
        remaining.is_empty() && !is_lost && plan.error_count == 0
    };
    let is_sound = plan.edits.is_empty() && is_repaired(&plan.remaining);
    if is_sound && args.output.is_some() {
        make(args, context, |output, publish| Ok(copy(&plan.source, output, publish)?))?;
        let (file_len, remaining) = (plan.source.len(), Vec::new());
        applied = Some(Applied { edit_count: 0, file_len, remaining });
    }
    let remaining = applied.as_ref().map_or(&plan.remaining, |applied| &applied.remaining);
    let is_made = |edit: &Edit<A, L, C>| applied.is_some() && is_chosen(edit);
    let made = plan.edits.iter().map(|edit| shape(edit, is_made(edit), false));
    let withheld = plan.withheld.iter().map(|edit| shape(edit, false, true));
    let shown = |path: &Path| tet_io::without_secrets(path).into_owned();
    let shape = Repaired {
        schema: "tet.repair/1",
        file: shown(&args.file),
        output: applied.as_ref().map(|_| shown(target(args))),
        backup: backup.as_deref().map(shown),
        whole: plan.is_whole(),
        edits: made.chain(withheld).collect(),
        lost: plan.lost.iter().map(how.lost).collect(),
        remaining: remaining.iter().map(finding).collect(),
    };
    let is_repaired = is_repaired(remaining);
    if args.json {
        context.json(&shape)?;
    } else if !context.quiet {
        write_verdict(args, &shape.edits, plan.is_whole(), context)?;
        write_edits(&shape.edits, context)?;
        write_losses(&plan.lost, remaining, context)?;
        write_advice(args, plan, &how.advice, &shape.edits, context)?;
        write_end(args, &shape, backup.as_deref(), context)?;
        if plan.is_whole() && plan.error_count != 0 {
            context.line(context.paint.advice("errors remain: `tet verify` lists them"))?;
        }
    }
    Ok(exit(&shape.edits, is_repaired))
}

fn shape<A: Display, L: Display, C>(
    edit: &Edit<A, L, C>,
    applied: bool,
    withheld: bool,
) -> EditShape {
    EditShape {
        code: edit.code.id(),
        message: edit.code.text(),
        action: edit.action.to_string(),
        region: edit.region,
        offset: edit.offset,
        len: edit.len,
        proof: edit.proof.name(),
        losses: edit.losses.iter().map(ToString::to_string).collect(),
        applied,
        withheld,
    }
}

/// Prints a line for everything that is lost, and for the errors that remain.
fn write_losses<T: Display>(
    lost: &[T],
    remaining: &[Finding],
    context: &mut Context<'_>,
) -> Result<()> {
    for lost in lost {
        let text = lost.to_string();
        context.line(format!("  {} {}", context.paint.wrong("lost:"), Message(&text)))?;
    }
    for (finding, count) in alike(remaining) {
        let text = finding.to_string();
        let more = if count == 0 { String::new() } else { format!(" (and {count} more)") };
        context.line(format!("  remaining: {}{more}", Message(&text)))?;
    }
    Ok(())
}

/// Prints how to restore or drop what is lost, and why nothing is written.
fn write_advice<E, T, O>(
    args: &RepairArgs,
    plan: &Plan<E, T, O>,
    advice: &[&str],
    edits: &[EditShape],
    context: &mut Context<'_>,
) -> Result<()> {
    let paint = context.paint;
    for advice in advice {
        context.line(paint.advice(advice))?;
    }
    if args.all && !plan.edits.is_empty() && !edits.iter().any(|edit| edit.applied) {
        context.line(paint.advice("the edits would not improve the file: nothing is written"))?;
    }
    Ok(())
}

/// The first finding of each code, and how many more there are.
fn alike(findings: &[Finding]) -> Vec<(&Finding, u64)> {
    let mut firsts: Vec<(&Finding, u64)> = Vec::new();
    for finding in findings {
        match firsts.iter_mut().find(|(first, _)| first.code == finding.code) {
            Some((_, count)) => *count += 1,
            None => firsts.push((finding, 0)),
        }
    }
    firsts
}

/// Prints the verdict on the file.
fn write_verdict(
    args: &RepairArgs,
    edits: &[EditShape],
    is_whole: bool,
    context: &mut Context<'_>,
) -> Result<()> {
    let (paint, count) = (context.paint, counted(edits.len() as u64, "edit"));
    let is_withheld = |edit: &EditShape| edit.withheld;
    let verdict = match (edits, is_whole) {
        ([], true) => paint.good("nothing to repair").to_string(),
        ([], false) => paint.wrong("damaged, cannot be repaired").to_string(),
        (_, true) => paint.warning(count).to_string(),
        (edits, false) if edits.iter().all(is_withheld) => {
            paint.wrong("damaged, cannot be repaired without losses").to_string()
        }
        (_, false) => format!("{}, and errors remain", paint.warning(count)),
    };
    context.line(format!("{}: {verdict}", Message(&tet_io::without_secrets(&args.file))))
}

/// Prints a line for every edit, and one for each loss.
fn write_edits(edits: &[EditShape], context: &mut Context<'_>) -> Result<()> {
    let paint = context.paint;
    for edit in edits {
        let mark = match edit {
            EditShape { applied: true, .. } => "made",
            EditShape { withheld: true, .. } => "skip",
            _ => "edit",
        };
        let (code, action, region) = (paint.strong(edit.code), &edit.action, edit.region);
        let (offset, len, why) = (edit.offset, counted(edit.len, "byte"), why(edit.proof));
        context
            .line(format!("  {mark} {code}: {action}, {region} at byte {offset}, {len}{why}"))?;
        let lost = if edit.withheld { "would lose:" } else { "lost:" };
        // Data that a digest proves to be wrong is not a loss.
        for loss in edit.losses.iter().filter(|_| edit.proof != "digest") {
            context.line(format!("    {} {}", paint.wrong(lost), Message(loss)))?;
        }
    }
    Ok(())
}

/// The reason why an edit is right, by the name of its proof.
fn why(proof: &str) -> &'static str {
    match proof {
        "digest" => " (proven by its digest)",
        "rest" => " (follows from the rest of the file)",
        _ => "",
    }
}

/// Prints what to do next, and what was written.
fn write_end(
    args: &RepairArgs,
    shape: &Repaired,
    backup: Option<&Path>,
    context: &mut Context<'_>,
) -> Result<()> {
    let edits = &shape.edits;
    if edits.iter().any(|edit| edit.withheld) {
        let advice = "--salvage also makes the edits that lose data";
        context.line(context.paint.advice(advice))?;
    }
    if let Some(backup) = backup {
        context.note(format!("copied the damaged file to {}", tet_io::shown(backup)));
    }
    if shape.output.is_some() {
        context.note(format!("wrote {}", tet_io::shown(target(args))));
    } else if args.apply.is_empty() && edits.iter().any(|edit| !edit.withheld) && !args.all {
        context.line(context.paint.advice("nothing is changed: use --all to make these edits"))?;
    }
    Ok(())
}

/// Makes the new file with `apply`, at the path that the arguments set.
fn make<T>(
    args: &RepairArgs,
    context: &Context<'_>,
    apply: impl FnOnce(Output<'_>, &Publish) -> Result<T>,
) -> Result<T> {
    let (force, sync) = open::publish_options(args.write);
    let publish = Publish { force, sync, ..Publish::default() };
    let path = context.env().at(&args.file);
    let output: Option<PathBuf> = args.output.as_ref().map(|output| context.env().at(output));
    let applied =
        apply(output.as_deref().map_or(Output::InPlace(&path), Output::NewFile), &publish);
    applied.map_err(|failure| match failure.code.as_str() {
        "exists" => failure.about(target(args)),
        _ => failure.about(&args.file),
    })
}

/// At most this many copies of damaged files are stored next to a file.
const BACKUPS_MAX: usize = 1000;

/// Copies the damaged file to `FILE.bak`, or to `FILE.bak.1` and so on if that exists, before it is
/// replaced by a file that has lost data.
fn back_up(
    args: &RepairArgs,
    source: &Source,
    has_losses: bool,
    context: &Context<'_>,
) -> Result<Option<PathBuf>> {
    if args.no_backup || args.output.is_some() || !has_losses {
        return Ok(None);
    }
    let (_, sync) = open::publish_options(args.write);
    let publish = Publish { force: tet_io::Overwrite::Refuse, sync, ..Publish::default() };
    for number in 0..BACKUPS_MAX {
        let mut name = args.file.clone().into_os_string();
        name.push(if number == 0 { ".bak".to_owned() } else { format!(".bak.{number}") });
        let name = PathBuf::from(name);
        match copy(source, Output::NewFile(&context.env().at(&name)), &publish) {
            Ok(()) => return Ok(Some(name)),
            Err(tet_io::Error::Exists { .. }) => {}
            Err(error) => return Err(Failure::from(error).about(&name)),
        }
    }
    let text = format!("{}.bak exists {BACKUPS_MAX} times", tet_io::shown(&args.file));
    Err(Failure::usage("backup", text).hint("remove old copies, or use --no-backup"))
}

fn copy(source: &Source, output: Output<'_>, publish: &Publish) -> tet_io::Result<()> {
    let mut publisher = output.begin(source, publish)?;
    if let Some(all) = Span::new(0, source.len()) {
        publisher.copy_from(source, all)?;
    }
    source.check_unchanged()?;
    publisher.commit()
}

/// The exit code of the command.
fn exit(edits: &[EditShape], is_repaired: bool) -> Exit {
    let is_made = |edit: &EditShape| edit.applied;
    let is_lossy = |edit: &EditShape| !edit.losses.is_empty() && edit.proof != "digest";
    match edits {
        [] if is_repaired => Exit::Done,
        [] => Exit::Format,
        edits if is_repaired && edits.iter().all(is_made) && !edits.iter().any(is_lossy) => {
            Exit::Done
        }
        _ => Exit::No,
    }
}

/// The path of the repaired file.
fn target(args: &RepairArgs) -> &Path {
    args.output.as_ref().unwrap_or(&args.file)
}
