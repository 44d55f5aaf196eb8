//! `tet repair`: a plan for a damaged file, and the file that comes of it.

mod tensogram;
mod together;
mod ztensor;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tet_convert::Format;
use tet_format::{NoteCode, Rule};
use tet_io::{Publish, Source};
use tet_verify::Code;
use tet_verify::repair::{
    Applied, Chosen, Lost, Output, Plan, RepairOptions, Salvage, Trust, apply, plan,
};

use super::verify::finding;
use crate::args::RepairArgs;
use crate::context::Context;
use crate::escape::Message;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::progress::Progress;
use crate::render::json::{EditShape, LostShape, Repaired};
use crate::size::counted;

/// Runs the command.
///
/// # Errors
///
/// The file cannot be read, an option is wrong, or the new file cannot be written.
pub(crate) fn run(args: &RepairArgs, context: &mut Context<'_>) -> Result<Exit> {
    let about = |failure: Failure| failure.about(&args.file);
    let path = context.world().at(&args.file);
    let source = Source::open(&path).map_err(|error| about(error.into()))?;
    match tet_convert::sniff(&source).map_err(|error| about(error.into()))? {
        Format::ZTensor => return ztensor::run(args, &source, context),
        Format::Tensogram => return tensogram::run(args, &source, context),
        // Whatever else has lost its first bytes may be a `.tet` file.
        Format::Tet | Format::Empty | Format::Unknown => {}
        format => {
            let text = format!(
                "{} is {format}, and only .tet, .zt and .tgm files are repaired",
                tet_io::shown(&args.file)
            );
            return Err(
                Failure::usage("not-repairable", text).hint("`tet verify` tells what is wrong")
            );
        }
    }
    let chosen = chosen(args)?;
    let options = options(args, context)?;
    let plan = {
        let mut watch = watch(context, "examining");
        plan(&source, &options, &mut watch).map_err(|error| about(error.into()))?
    };
    let applied = match &chosen {
        Some(chosen) if !plan.edits.is_empty() => {
            Some(make(&plan, chosen, args, &path, context).map_err(about)?)
        }
        _ => None,
    };
    let made = applied.as_ref().filter(|it| it.edit_count != 0);
    if args.json {
        context.json(&shape(args, &plan, chosen.as_ref(), made))?;
    } else if !context.quiet {
        write(args, &plan, chosen.as_ref(), made, context)?;
    }
    Ok(exit(&plan, applied.as_ref()))
}

fn exit(plan: &Plan, applied: Option<&Applied>) -> Exit {
    match applied {
        Some(applied) if applied.edit_count < plan.edits.len() => Exit::No,
        Some(applied) if applied.remaining.is_empty() && plan.lost.is_empty() => Exit::Done,
        Some(_) => Exit::No,
        None if !plan.edits.is_empty() => Exit::No,
        None if plan.is_whole() => Exit::Done,
        None => Exit::Format,
    }
}

/// The edits that are to be made; `None` when the plan is all that is wanted.
fn chosen(args: &RepairArgs) -> Result<Option<Chosen>> {
    if args.all {
        return Ok(Some(Chosen::All));
    }
    if args.apply.is_empty() {
        return match &args.output {
            None => Ok(None),
            Some(_) => {
                let text = "--output says where to write, but nothing is to be written";
                Err(Failure::usage("no-edits", text).hint("add --all, or --apply CODE"))
            }
        };
    }
    let codes: Result<Vec<Code>> = args.apply.iter().map(|id| code(id)).collect();
    Ok(Some(Chosen::Codes(codes?)))
}

fn code(id: &str) -> Result<Code> {
    let upper = id.to_ascii_uppercase();
    let note = || NoteCode::ALL.iter().copied().find(|note| note.id() == upper).map(Code::Note);
    Rule::from_id(&upper).map(Code::Rule).or_else(note).ok_or_else(|| {
        let text = format!("{id:?} is not the code of a rule");
        Failure::usage("code", text).hint("`tet repair FILE` prints the codes of its edits")
    })
}

fn options(args: &RepairArgs, context: &Context<'_>) -> Result<RepairOptions> {
    let mut options = RepairOptions::default();
    if let Some(path) = &args.from {
        let other = Source::open(context.world().at(path));
        options.from = Some(other.map_err(|error| Failure::from(error).about(path))?);
    }
    options.trust = if args.trust_other { Trust::Other } else { Trust::Digest };
    options.salvage = args.salvage.then_some(Salvage { fill: args.fill });
    Ok(options)
}

/// Shows how far the work is, and stops when the user asks for it.
pub(super) fn watch(
    context: &Context<'_>,
    what: &'static str,
) -> impl FnMut(u64, u64) -> ControlFlow<()> + use<> {
    let progress = Progress::new(context, what, 0);
    let cancel = Arc::clone(&context.world().cancel);
    let mut shown = 0;
    move |done, all| {
        if shown != all {
            progress.next(what, all);
            shown = all;
        }
        progress.set(done);
        if cancel.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

fn make(
    plan: &Plan,
    chosen: &Chosen,
    args: &RepairArgs,
    path: &Path,
    context: &Context<'_>,
) -> Result<Applied> {
    let (force, sync) = open::publish_options(args.write);
    let publish = Publish { force, sync, inputs: Vec::new() };
    let output = args.output.as_ref().map(|output| context.world().at(output));
    let output = output.as_deref().map_or(Output::InPlace(path), Output::Beside);
    let mut watch = watch(context, "repairing");
    let applied = apply(plan, chosen, output, &publish, &mut watch);
    applied.map_err(|error| match &error {
        tet_verify::Error::Io(tet_io::Error::Exists { .. }) => {
            let output = args.output.as_deref().unwrap_or(path);
            Failure::from(error).about(output)
        }
        _ => Failure::from(error),
    })
}

fn write(
    args: &RepairArgs,
    plan: &Plan,
    chosen: Option<&Chosen>,
    made: Option<&Applied>,
    context: &mut Context<'_>,
) -> Result<()> {
    let paint = context.paint;
    write_verdict(args, plan.edits.len(), plan.is_whole(), context)?;
    for edit in &plan.edits {
        let is_made = made.is_some() && chosen.is_some_and(|chosen| chosen.has(edit.code));
        let mark = if is_made { "made" } else { "edit" };
        let (code, what) = (paint.strong(edit.code), &edit.action);
        let (region, offset, len) = (edit.region, edit.offset, counted(edit.len, "byte"));
        let why = why(edit.proof.name());
        context.line(format!("  {mark} {code}: {what}, {region} at byte {offset}, {len}{why}"))?;
        for loss in &edit.losses {
            let text = loss.to_string();
            context.line(format!("    {} {}", paint.wrong("lost:"), Message(&text)))?;
        }
    }
    for lost in &plan.lost {
        let text = lost.to_string();
        context.line(format!("  {} {}", paint.wrong("lost:"), Message(&text)))?;
    }
    let remaining = made.map_or(&plan.remaining, |made| &made.remaining);
    for finding in remaining {
        let text = finding.to_string();
        context.line(format!("  left: {}", Message(&text)))?;
    }
    if made.is_none() && !plan.lost.is_empty() && !args.salvage {
        let advice = "a chunk comes back from a copy with --from; --salvage keeps the others";
        context.line(paint.advice(advice))?;
    }
    match made {
        Some(_) => {
            context.note(format!("wrote {}", tet_io::shown(target(args))));
        }
        None if !plan.edits.is_empty() && chosen.is_none() => {
            context.line(paint.advice("nothing is changed yet: --all makes these edits"))?;
        }
        None => {}
    }
    Ok(())
}

/// The line of a file, of so many edits.
fn write_verdict(
    args: &RepairArgs,
    count: usize,
    is_whole: bool,
    context: &mut Context<'_>,
) -> Result<()> {
    let (paint, edits) = (context.paint, counted(count as u64, "edit"));
    let verdict = match (count, is_whole) {
        (0, true) => paint.good("nothing to repair").to_string(),
        (0, false) => paint.wrong("damaged, and nothing can be done").to_string(),
        (_, true) => paint.warning(edits).to_string(),
        (_, false) => format!("{}, and not all is healed", paint.warning(edits)),
    };
    context.line(format!("{}: {verdict}", Message(&args.file.to_string_lossy())))
}

/// The file that has the repaired bytes.
fn target(args: &RepairArgs) -> &Path {
    args.output.as_ref().unwrap_or(&args.file)
}

/// Why an edit is right, by the name of its proof.
fn why(proof: &str) -> &'static str {
    match proof {
        "digest" => " (proven by its digest)",
        "rest" => " (follows from the rest of the file)",
        _ => "",
    }
}

fn shape(
    args: &RepairArgs,
    plan: &Plan,
    chosen: Option<&Chosen>,
    made: Option<&Applied>,
) -> Repaired {
    let remaining = made.map_or(&plan.remaining, |made| &made.remaining);
    Repaired {
        schema: "tet.repair/1",
        file: args.file.to_string_lossy().into_owned(),
        output: made.map(|_| target(args).to_string_lossy().into_owned()),
        whole: plan.is_whole(),
        edits: plan
            .edits
            .iter()
            .map(|edit| EditShape {
                code: edit.code.id(),
                message: edit.code.text(),
                action: edit.action.to_string(),
                region: edit.region.name(),
                offset: edit.offset,
                len: edit.len,
                proof: edit.proof.name(),
                losses: edit.losses.iter().map(ToString::to_string).collect(),
                applied: made.is_some() && chosen.is_some_and(|chosen| chosen.has(edit.code)),
            })
            .collect(),
        kept: Vec::new(),
        lost: plan.lost.iter().map(lost).collect(),
        remaining: remaining.iter().map(finding).collect(),
    }
}

fn lost(lost: &Lost) -> LostShape {
    LostShape { dataset: lost.name.clone(), chunk: lost.coord.clone(), len: lost.len }
}
