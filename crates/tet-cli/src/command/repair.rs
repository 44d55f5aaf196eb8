//! `tet repair`: a plan for a damaged file, and the file that comes of it.

mod tensogram;
mod together;
mod ztensor;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tet_convert::Format;
use tet_format::{Losses, NoteCode, Rule};
use tet_io::{Publish, Source};
use tet_verify::repair::{
    Action, Applied, Chosen, Edit, Lost, Need, Output, Plan, RepairOptions, Salvage, Trust, apply,
    plan,
};
use tet_verify::{Code, Finding};

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
        Format::ZTENSOR => return ztensor::run(args, &source, context),
        Format::TENSOGRAM => return tensogram::run(args, &source, context),
        Format::UNKNOWN if is_near_ztensor(&source).map_err(|error| about(error.into()))? => {
            return ztensor::run(args, &source, context);
        }
        // Whatever else has lost its first bytes may be a `.tet` file.
        Format::TET | Format::EMPTY | Format::UNKNOWN => {}
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
    let made = |edit: &Edit| chosen.as_ref().is_some_and(|chosen| chosen.has(edit.code));
    let has_losses = plan.edits.iter().any(|edit| made(edit) && edit.is_lossy());
    let is_gain = !args.salvage || plan.edits.iter().any(|edit| edit.action != Action::ClearFlag);
    let mut backup = None;
    let applied = match &chosen {
        Some(chosen) if is_gain && plan.edits.iter().any(&made) => {
            backup = together::back_up(args, &source, has_losses, context)?;
            Some(make(&plan, chosen, args, &path, context).map_err(about)?)
        }
        _ => None,
    };
    let shape = Repaired {
        backup: backup.as_ref().map(|it| it.to_string_lossy().into_owned()),
        ..shape(args, &plan, chosen.as_ref(), applied.as_ref())
    };
    if args.json {
        context.json(&shape)?;
    } else if !context.quiet {
        write(args, &plan, applied.as_ref(), (&shape, backup.as_deref()), context)?;
    }
    let remaining = applied.as_ref().map_or(&plan.remaining, |applied| &applied.remaining);
    let is_healed = remaining.is_empty() && plan.lost.is_empty() && plan.withheld.is_empty();
    Ok(together::exit(&shape.edits, is_healed))
}

/// Whether the file begins as a zTensor file does, but for a bit or two.
fn is_near_ztensor(source: &Source) -> tet_io::Result<bool> {
    let magic = tet_ztensor::MAGIC;
    let head = source.read_vec(0, source.len().min(magic.len() as u64))?;
    let bits = head.iter().zip(magic).map(|(found, wanted)| (found ^ wanted).count_ones());
    Ok(head.len() == magic.len() && bits.sum::<u32>() <= 2)
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
    if args.salvage {
        options.salvage = Some(Salvage { fill: args.fill });
        options.losses = Losses::Allowed;
    }
    if let Some(memory) = args.memory {
        options.memory_budget = memory;
    }
    options.decoded_max = args.max_decoded;
    options.cancel = Some(Arc::clone(&context.world().cancel));
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
    made: Option<&Applied>,
    (shape, backup): (&Repaired, Option<&Path>),
    context: &mut Context<'_>,
) -> Result<()> {
    let paint = context.paint;
    write_verdict(args, &shape.edits, plan.is_whole(), context)?;
    together::write_edits(&shape.edits, context)?;
    for lost in &plan.lost {
        let text = lost.to_string();
        context.line(format!("  {} {}", paint.wrong("lost:"), Message(&text)))?;
    }
    let remaining = made.map_or(&plan.remaining, |made| &made.remaining);
    for (finding, count) in alike(remaining) {
        let text = finding.to_string();
        let more = if count == 0 { String::new() } else { format!(" (and {count} more)") };
        context.line(format!("  left: {}{more}", Message(&text)))?;
    }
    for advice in advice(args, plan) {
        context.line(paint.advice(advice))?;
    }
    if made.is_none() && args.all && !plan.edits.is_empty() {
        context.line(paint.advice("nothing would be gained: nothing is written"))?;
    }
    together::write_end(args, &shape.edits, (None, backup), context)
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

/// What brings lost chunks back, or fills them.
fn advice(args: &RepairArgs, plan: &Plan) -> Vec<&'static str> {
    let needs = |need: Need| plan.lost.iter().any(|lost| lost.need == need);
    let mut advice = Vec::new();
    if needs(Need::Trust) {
        advice.push(
            "the file has no digests: --trust-other takes chunks of the same place from --from",
        );
    }
    if needs(Need::Salvage) || needs(Need::Fill) && !args.salvage {
        advice.push("--from COPY takes chunks from a copy; --salvage fills them with NaN");
    }
    if needs(Need::Fill) {
        advice.push("lost integers also need --fill VALUE");
    }
    if needs(Need::Copy) {
        advice.push("--from COPY takes chunks from a copy of the file");
    }
    advice
}

/// The line of a file, of these edits.
fn write_verdict(
    args: &RepairArgs,
    edits: &[EditShape],
    is_whole: bool,
    context: &mut Context<'_>,
) -> Result<()> {
    let (paint, count) = (context.paint, counted(edits.len() as u64, "edit"));
    let is_left = |edit: &EditShape| edit.withheld;
    let verdict = match (edits, is_whole) {
        ([], true) => paint.good("nothing to repair").to_string(),
        ([], false) => paint.wrong("damaged, and nothing can be done").to_string(),
        (_, true) => paint.warning(count).to_string(),
        (edits, false) if edits.iter().all(is_left) => {
            paint.wrong("damaged, and nothing can be done without losses").to_string()
        }
        (_, false) => format!("{}, and not all is healed", paint.warning(count)),
    };
    context.line(format!("{}: {verdict}", Message(&args.file.to_string_lossy())))
}

/// The file that has the repaired bytes.
fn target(args: &RepairArgs) -> &Path {
    args.output.as_ref().unwrap_or(&args.file)
}

fn shape(
    args: &RepairArgs,
    plan: &Plan,
    chosen: Option<&Chosen>,
    made: Option<&Applied>,
) -> Repaired {
    let remaining = made.map_or(&plan.remaining, |made| &made.remaining);
    let edit = |edit: &Edit, withheld: bool| EditShape {
        code: edit.code.id(),
        message: edit.code.text(),
        action: edit.action.to_string(),
        region: edit.region.name(),
        offset: edit.offset,
        len: edit.len,
        proof: edit.proof.name(),
        losses: edit.losses.iter().map(ToString::to_string).collect(),
        applied: !withheld && made.is_some() && chosen.is_some_and(|it| it.has(edit.code)),
        withheld,
    };
    let edits = plan.edits.iter().map(|it| edit(it, false));
    let withheld = plan.withheld.iter().map(|it| edit(it, true));
    Repaired {
        schema: "tet.repair/1",
        file: args.file.to_string_lossy().into_owned(),
        output: made.map(|_| target(args).to_string_lossy().into_owned()),
        backup: None,
        whole: plan.is_whole(),
        edits: edits.chain(withheld).collect(),
        kept: Vec::new(),
        lost: plan.lost.iter().map(lost).collect(),
        remaining: remaining.iter().map(finding).collect(),
    }
}

fn lost(lost: &Lost) -> LostShape {
    LostShape { dataset: lost.name.clone(), chunk: lost.coord.clone(), len: lost.len }
}
