//! `tet repair` of a zTensor file.

use std::path::Path;
use std::sync::Arc;

use tet_convert::Format;
use tet_format::Losses;
use tet_io::Source;
use tet_ztensor::repair::{Edit, Loss, Plan, RepairOptions, Salvage, apply, plan};
use tet_ztensor::rule::OTHER_VERSION;

use super::super::verify::finding;
use super::together::{self, Words};
use super::{target, write_verdict};
use crate::args::RepairArgs;
use crate::context::Context;
use crate::escape::Message;
use crate::exit::{Exit, Failure, Result};
use crate::progress::Progress;
use crate::render::json::{EditShape, LostShape, Repaired};

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
    let plan = planned(args, source, context).map_err(|error| about(error.into()))?;
    // A file of another version is sound, and none of ours.
    if let Some(fault) = plan.remaining.filter(|it| it.rule == &OTHER_VERSION) {
        let (path, format) = (args.file.clone(), Format::ZTENSOR);
        let error = tet_convert::Error::Foreign { path, format, fault: fault.into() };
        return Err(about(error.into()));
    }
    // What no edit heals is told by `verify`, and is no success here.
    let is_healed = plan.is_whole() && plan.error_count == 0;
    if plan.edits.is_empty() && plan.is_whole() && !is_healed {
        let text = "it has errors that no edit heals";
        let failure = Failure::new(Exit::Format, "not-healed", text);
        return Err(about(failure.hint("`tet verify` tells them")));
    }
    let is_asked = args.all || !args.apply.is_empty();
    together::check_codes(args, plan.edits.iter().map(|edit| edit.rule.id))?;
    let has_losses = plan.edits.iter().any(|edit| !edit.losses.is_empty());
    let is_made = is_asked && !plan.edits.is_empty();
    let backup = together::back_up(args, source, is_made && has_losses, context)?;
    if is_made {
        let progress = Progress::new(context, "repairing", source.len().saturating_mul(2));
        let made = together::make(args, context, |output, how| apply(&plan, output, how));
        progress.finish();
        made.map_err(|error| about(error.into()))?;
    }
    let shape = Repaired {
        backup: backup.as_ref().map(|it| it.to_string_lossy().into_owned()),
        ..shape(args, &plan, is_made)
    };
    if args.json {
        context.json(&shape)?;
    } else if !context.quiet {
        write(args, &plan, (&shape, backup.as_deref()), context)?;
        if plan.is_whole() && !is_healed {
            context.line(context.paint.advice("errors are left: `tet verify` tells them"))?;
        }
    }
    Ok(together::exit(&shape.edits, is_healed))
}

fn planned(args: &RepairArgs, source: &Source, context: &Context<'_>) -> tet_ztensor::Result<Plan> {
    let progress = Progress::new(context, "examining", source.len());
    let mut options = RepairOptions::default();
    if args.salvage {
        (options.salvage, options.losses) = (Salvage::Blobs, Losses::Allowed);
    }
    options.memory_budget = args.memory;
    options.decoded_max = args.max_decoded;
    options.cancel = Some(Arc::clone(&context.world().cancel));
    let bar = progress.clone();
    options.progress = Some(Arc::new(move |done, all| bar.tell(done, all)));
    let plan = plan(source, &options);
    progress.finish();
    plan
}

fn write(
    args: &RepairArgs,
    plan: &Plan,
    (shape, backup): (&Repaired, Option<&Path>),
    context: &mut Context<'_>,
) -> Result<()> {
    let paint = context.paint;
    write_verdict(args, &shape.edits, plan.is_whole(), context)?;
    together::write_edits(&shape.edits, context)?;
    for loss in &plan.lost {
        let text = loss.to_string();
        context.line(format!("  {} {}", paint.wrong("lost:"), Message(&text)))?;
    }
    if let Some(left) = plan.remaining {
        context.line(format!("  left: {}", Message(&left.to_string())))?;
    }
    let advice = (!plan.lost.is_empty()).then_some("--salvage takes lost tensors out of the index");
    together::write_end(args, &shape.edits, (advice, backup), context)
}

fn shape(args: &RepairArgs, plan: &Plan, is_made: bool) -> Repaired {
    let edit = |edit: &Edit, withheld: bool| EditShape {
        code: edit.rule.id,
        message: edit.rule.text,
        action: edit.action.to_string(),
        region: edit.region(),
        offset: edit.offset,
        len: edit.len,
        proof: edit.proof.name(),
        losses: edit.losses.iter().map(ToString::to_string).collect(),
        applied: is_made && !withheld,
        withheld,
    };
    let made = plan.edits.iter().map(|it| edit(it, false));
    let withheld = plan.withheld.iter().map(|it| edit(it, true));
    let lost = |loss: &Loss| match loss {
        Loss::Tensor { name, .. } => LostShape { dataset: name.clone(), chunk: Vec::new(), len: 0 },
        other => LostShape { dataset: other.to_string(), chunk: Vec::new(), len: 0 },
    };
    Repaired {
        schema: "tet.repair/1",
        file: args.file.to_string_lossy().into_owned(),
        output: is_made.then(|| target(args).to_string_lossy().into_owned()),
        backup: None,
        whole: plan.is_whole(),
        edits: made.chain(withheld).collect(),
        kept: Vec::new(),
        lost: plan.lost.iter().map(lost).collect(),
        remaining: plan
            .remaining
            .iter()
            .map(|fault| finding(&tet_convert::ztensor_finding(*fault)))
            .collect(),
    }
}
