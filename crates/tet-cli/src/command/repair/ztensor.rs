//! `tet repair` of a zTensor file.

use std::path::Path;

use tet_io::{Publish, Source};
use tet_ztensor::edit::Output;
use tet_ztensor::repair::{Applied, Edit, Loss, Plan, RepairOptions, Salvage, apply, plan};
use tet_ztensor::{Depth, VerifyOptions, verify};

use super::super::verify::finding;
use crate::args::RepairArgs;
use crate::context::Context;
use crate::escape::Message;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::render::json::{EditShape, LostShape, Repaired};
use crate::size::counted;

/// Plans the repair of a file, and makes it where that is asked for.
///
/// # Errors
///
/// The file cannot be read, an option is wrong, or the new file cannot be written.
pub(super) fn run(args: &RepairArgs, source: &Source, context: &mut Context<'_>) -> Result<Exit> {
    let about = |failure: Failure| failure.about(&args.file);
    check(args)?;
    let mut options = RepairOptions::default();
    if args.salvage {
        options.salvage = Salvage::Blobs;
    }
    let plan = plan(source, &options).map_err(|error| about(error.into()))?;
    // What no edit heals is told by `verify`, and is no success here.
    let is_healed = plan.is_whole() && is_ok(&plan.repaired()).map_err(about)?;
    if plan.edits.is_empty() && plan.is_whole() && !is_healed {
        let text = "it has errors that no edit heals";
        let failure = Failure::new(Exit::Format, "not-healed", text);
        let salvage = if args.salvage { "" } else { "; --salvage takes lost tensors out" };
        return Err(about(failure.hint(format!("`tet verify --deep` tells them{salvage}"))));
    }
    let is_asked = args.all || !args.apply.is_empty();
    check_codes(args, &plan)?;
    let made = match is_asked && !plan.edits.is_empty() {
        true => Some(make(args, &plan, context).map_err(about)?),
        false => None,
    };
    if args.json {
        context.json(&shape(args, &plan, made))?;
    } else if !context.quiet {
        write(args, &plan, made, context)?;
        if plan.is_whole() && !is_healed {
            context
                .line(context.paint.advice("errors are left: `tet verify --deep` tells them"))?;
        }
    }
    Ok(match (made, plan.edits.is_empty(), is_healed) {
        (Some(_), _, true) | (None, true, true) => Exit::Done,
        (None, true, false) => Exit::Format,
        _ => Exit::No,
    })
}

/// Whether a file has no errors, its blobs among them.
fn is_ok(source: &Source) -> Result<bool> {
    let mut options = VerifyOptions::default();
    options.depth = Depth::Deep;
    Ok(verify(source, &options)?.is_ok())
}

/// Options that a zTensor file has no use for.
fn check(args: &RepairArgs) -> Result<()> {
    let text = if args.from.is_some() {
        "a zTensor file takes no bytes from another one"
    } else if args.fill.is_some() {
        "lost tensors of a zTensor file are taken out of its index, not filled"
    } else if args.output.is_some() && !args.all && args.apply.is_empty() {
        "--output says where to write, but nothing is to be written"
    } else {
        return Ok(());
    };
    Err(Failure::usage("repair", text).hint("add --all; --salvage takes lost tensors out"))
}

/// The edits of a plan rest on each other: all are made or none.
fn check_codes(args: &RepairArgs, plan: &Plan) -> Result<()> {
    let has = |edit: &Edit| args.apply.iter().any(|id| id.eq_ignore_ascii_case(edit.rule.id()));
    match plan.edits.iter().find(|edit| !args.apply.is_empty() && !has(edit)) {
        None => Ok(()),
        Some(edit) => {
            let text = format!("the edit {} is made with the others or not at all", edit.rule);
            Err(Failure::usage("code", text).hint("add its code, or use --all"))
        }
    }
}

fn make(args: &RepairArgs, plan: &Plan, context: &Context<'_>) -> Result<Applied> {
    let (force, sync) = open::publish_options(args.write);
    let publish = Publish { force, sync, inputs: Vec::new() };
    let path = context.world().at(&args.file);
    let output = args.output.as_ref().map(|output| context.world().at(output));
    let output = output.as_deref().map_or(Output::InPlace(&path), Output::Beside);
    Ok(apply(plan, output, &publish)?)
}

fn write(
    args: &RepairArgs,
    plan: &Plan,
    made: Option<Applied>,
    context: &mut Context<'_>,
) -> Result<()> {
    let paint = context.paint;
    let count = u64::try_from(plan.edits.len()).unwrap_or(u64::MAX);
    let verdict = match (count, plan.is_whole()) {
        (0, true) => paint.good("nothing to repair").to_string(),
        (0, false) => paint.wrong("damaged, and nothing can be done").to_string(),
        (_, true) => paint.warning(counted(count, "edit")).to_string(),
        (_, false) => format!("{}, and not all is healed", paint.warning(counted(count, "edit"))),
    };
    context.line(format!("{}: {verdict}", Message(&args.file.to_string_lossy())))?;
    for edit in &plan.edits {
        let mark = if made.is_some() { "made" } else { "edit" };
        let (code, action, region) = (paint.strong(edit.rule), edit.action, edit.region());
        let (offset, len) = (edit.offset, counted(edit.len, "byte"));
        let why =
            if edit.proof.name() == "rest" { " (follows from the rest of the file)" } else { "" };
        context
            .line(format!("  {mark} {code}: {action}, {region} at byte {offset}, {len}{why}"))?;
    }
    for loss in plan.losses() {
        let text = loss.to_string();
        context.line(format!("  {} {}", paint.wrong("lost:"), Message(&text)))?;
    }
    if let Some(left) = plan.remaining {
        context.line(format!("  left: {}", Message(&left.to_string())))?;
    }
    if made.is_none() && !plan.lost.is_empty() && !args.salvage {
        context.line(paint.advice("--salvage takes lost tensors out of the index"))?;
    }
    match made {
        Some(_) => context.note(format!("wrote {}", target(args).display())),
        None if count != 0 => {
            context.line(paint.advice("nothing is changed yet: --all makes these edits"))?;
        }
        None => {}
    }
    Ok(())
}

fn target(args: &RepairArgs) -> &Path {
    args.output.as_ref().unwrap_or(&args.file)
}

fn shape(args: &RepairArgs, plan: &Plan, made: Option<Applied>) -> Repaired {
    let edit = |edit: &Edit| EditShape {
        code: edit.rule.id(),
        message: edit.rule.text(),
        action: edit.action.to_string(),
        region: edit.region().name(),
        offset: edit.offset,
        len: edit.len,
        proof: edit.proof.name(),
        losses: edit.losses.iter().map(ToString::to_string).collect(),
        applied: made.is_some(),
    };
    let lost = |loss: &Loss| match loss {
        Loss::Tensor { name, .. } => LostShape { dataset: name.clone(), chunk: Vec::new(), len: 0 },
        other => LostShape { dataset: other.to_string(), chunk: Vec::new(), len: 0 },
    };
    Repaired {
        schema: "tet.repair/1",
        file: args.file.to_string_lossy().into_owned(),
        output: made.map(|_| target(args).to_string_lossy().into_owned()),
        whole: plan.is_whole(),
        edits: plan.edits.iter().map(edit).collect(),
        kept: Vec::new(),
        lost: plan.lost.iter().map(lost).collect(),
        remaining: plan
            .remaining
            .iter()
            .map(|fault| finding(&tet_convert::ztensor_finding(*fault)))
            .collect(),
    }
}
