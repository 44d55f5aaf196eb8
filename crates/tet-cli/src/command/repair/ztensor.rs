//! `tet repair` of a zTensor file.

use tet_convert::Format;
use tet_io::Source;
use tet_ztensor::repair::{Applied, Edit, Loss, Plan, RepairOptions, Salvage, apply, plan};
use tet_ztensor::rule::OTHER_VERSION;
use tet_ztensor::{Depth, VerifyOptions, verify};

use super::super::verify::finding;
use super::together::{self, Words};
use super::{target, why, write_verdict};
use crate::args::RepairArgs;
use crate::context::Context;
use crate::escape::Message;
use crate::exit::{Exit, Failure, Result};
use crate::render::json::{EditShape, LostShape, Repaired};
use crate::size::counted;

/// What is said of zTensor files.
const WORDS: Words = Words {
    file: "a zTensor file",
    unfilled: "lost tensors of a zTensor file are taken out of its index, not filled",
    salvage: "--salvage takes lost tensors out",
};

/// Plans the repair of a file, and makes it where that is asked for.
///
/// # Errors
///
/// The file cannot be read, an option is wrong, or the new file cannot be written.
pub(super) fn run(args: &RepairArgs, source: &Source, context: &mut Context<'_>) -> Result<Exit> {
    let about = |failure: Failure| failure.about(&args.file);
    together::check(args, &WORDS)?;
    let mut options = RepairOptions::default();
    if args.salvage {
        options.salvage = Salvage::Blobs;
    }
    let plan = plan(source, &options).map_err(|error| about(error.into()))?;
    // A file of another version is sound, and none of ours.
    if let Some(fault) = plan.remaining.filter(|it| it.rule == &OTHER_VERSION) {
        let (path, format) = (args.file.clone(), Format::ZTensor);
        let error = tet_convert::Error::Foreign { path, format, fault: fault.into() };
        return Err(about(error.into()));
    }
    // What no edit heals is told by `verify`, and is no success here.
    let is_healed = plan.is_whole() && is_ok(&plan.repaired()).map_err(about)?;
    if plan.edits.is_empty() && plan.is_whole() && !is_healed {
        let text = "it has errors that no edit heals";
        let failure = Failure::new(Exit::Format, "not-healed", text);
        let salvage = if args.salvage { "" } else { "; --salvage takes lost tensors out" };
        return Err(about(failure.hint(format!("`tet verify --deep` tells them{salvage}"))));
    }
    let is_asked = args.all || !args.apply.is_empty();
    together::check_codes(args, plan.edits.iter().map(|edit| edit.rule.id))?;
    let made = match is_asked && !plan.edits.is_empty() {
        true => {
            let made = together::make(args, context, |output, how| apply(&plan, output, how));
            Some(made.map_err(|error| about(error.into()))?)
        }
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
    Ok(together::exit(made.is_some(), !plan.edits.is_empty(), is_healed))
}

/// Whether a file has no errors, its blobs among them.
fn is_ok(source: &Source) -> Result<bool> {
    let mut options = VerifyOptions::default();
    options.depth = Depth::Deep;
    Ok(verify(source, &options)?.is_ok())
}

fn write(
    args: &RepairArgs,
    plan: &Plan,
    made: Option<Applied>,
    context: &mut Context<'_>,
) -> Result<()> {
    let paint = context.paint;
    write_verdict(args, plan.edits.len(), plan.is_whole(), context)?;
    for edit in &plan.edits {
        let mark = if made.is_some() { "made" } else { "edit" };
        let (code, action, region) = (paint.strong(edit.rule.id), edit.action, edit.region());
        let (offset, len) = (edit.offset, counted(edit.len, "byte"));
        let why = why(edit.proof.name());
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
    let advice = (!plan.lost.is_empty()).then_some("--salvage takes lost tensors out of the index");
    together::write_end(args, (made.is_some(), !plan.edits.is_empty()), advice, context)
}

fn shape(args: &RepairArgs, plan: &Plan, made: Option<Applied>) -> Repaired {
    let edit = |edit: &Edit| EditShape {
        code: edit.rule.id,
        message: edit.rule.text,
        action: edit.action.to_string(),
        region: edit.region(),
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
