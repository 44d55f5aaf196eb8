//! `tet repair` of a Tensogram file.

use std::path::Path;
use std::sync::Arc;

use tet_format::Losses;
use tet_io::Source;
use tet_tensogram::Error;
use tet_tensogram::repair::{Applied, Edit, Kept, Loss, Plan, RepairOptions, Salvage, apply, plan};

use super::super::verify::finding;
use super::together::{self, Words};
use super::{target, write_verdict};
use crate::args::RepairArgs;
use crate::context::Context;
use crate::escape::Message;
use crate::exit::{Exit, Failure, Result};
use crate::progress::Progress;
use crate::render::json::{EditShape, KeptShape, LostShape, Repaired};
use crate::size::counted;

/// What is said of Tensogram files.
const WORDS: Words = Words {
    file: "a Tensogram file",
    unfilled: "damaged objects of a Tensogram file are taken out, not filled",
    salvage: "--salvage takes damaged objects out",
};

/// Plans the repair of a file, and makes it where that is asked for.
///
/// # Errors
///
/// The file cannot be read, an option is wrong, or the new file cannot be written.
pub(super) fn run(args: &RepairArgs, source: &Source, context: &mut Context<'_>) -> Result<Exit> {
    let about = |error: Error| Failure::from(error).about(&args.file);
    together::check(args, &WORDS)?;
    let plan = planned(args, source, context).map_err(about)?;
    // What no edit heals is told by `verify`, and is no success here.
    let is_healed = plan.is_whole() && plan.error_count == 0;
    let is_asked = args.all || !args.apply.is_empty();
    together::check_codes(args, plan.edits.iter().map(|edit| edit.rule.id))?;
    let has_losses = plan.edits.iter().any(Edit::is_lossy);
    let is_made = is_asked && !plan.edits.is_empty();
    let backup = together::back_up(args, source, is_made && has_losses, context)?;
    if is_made {
        make(args, &plan, context)?;
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

fn planned(
    args: &RepairArgs,
    source: &Source,
    context: &Context<'_>,
) -> tet_tensogram::Result<Plan> {
    let progress = Progress::new(context, "examining", source.len().saturating_mul(2));
    let mut options = RepairOptions::default();
    if args.salvage {
        (options.salvage, options.losses) = (Salvage::Objects, Losses::Allowed);
    }
    options.decoded_max = args.max_decoded;
    options.cancel = Some(Arc::clone(&context.world().cancel));
    let bar = progress.clone();
    options.progress = Some(Arc::new(move |done, all| bar.tell(done, all)));
    let plan = plan(source, &options);
    progress.finish();
    plan
}

fn make(args: &RepairArgs, plan: &Plan, context: &Context<'_>) -> Result<Applied> {
    let made = together::make(args, context, |output, how| apply(plan, output, how));
    made.map_err(|error| match error {
        Error::Io(tet_io::Error::Exists { .. }) => Failure::from(error).about(target(args)),
        error => Failure::from(error).about(&args.file),
    })
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
    if !plan.kept.is_empty() {
        context.line(format!("  kept: {}", kept(&plan.kept)))?;
    }
    for loss in &plan.lost {
        let text = loss.to_string();
        context.line(format!("  {} {}", paint.wrong("lost:"), Message(&text)))?;
    }
    if let Some(left) = plan.remaining {
        context.line(format!("  left: {}", Message(&left.to_string())))?;
    }
    let advice = (!plan.lost.is_empty()).then_some("--salvage takes damaged objects out");
    together::write_end(args, &shape.edits, (advice, backup), context)
}

/// The objects of damaged messages that are in the new file.
fn kept(kept: &[Kept]) -> String {
    let verified = kept.iter().filter(|it| it.is_verified).count();
    let all = counted(u64::try_from(kept.len()).unwrap_or(u64::MAX), "object");
    match kept.len() - verified {
        0 => format!("{all} of damaged messages, which match their hashes"),
        bare => format!("{all} of damaged messages, {bare} without a hash that tells"),
    }
}

fn shape(args: &RepairArgs, plan: &Plan, is_made: bool) -> Repaired {
    let edit = |edit: &Edit, withheld: bool| EditShape {
        code: edit.rule.id,
        message: edit.rule.text,
        action: edit.action.to_string(),
        region: edit.action.region(),
        offset: edit.offset,
        len: edit.len,
        proof: edit.proof.name(),
        losses: edit.losses.iter().map(ToString::to_string).collect(),
        applied: is_made && !withheld,
        withheld,
    };
    let made = plan.edits.iter().map(|it| edit(it, false));
    let withheld = plan.withheld.iter().map(|it| edit(it, true));
    let lost = |loss: &Loss| LostShape { dataset: loss.to_string(), chunk: Vec::new(), len: 0 };
    let kept = |it: &Kept| KeptShape { offset: it.offset, verified: it.is_verified };
    let remaining = plan.remaining.iter();
    Repaired {
        schema: "tet.repair/1",
        file: args.file.to_string_lossy().into_owned(),
        output: is_made.then(|| target(args).to_string_lossy().into_owned()),
        backup: None,
        whole: plan.is_whole(),
        edits: made.chain(withheld).collect(),
        kept: plan.kept.iter().map(kept).collect(),
        lost: plan.lost.iter().map(lost).collect(),
        remaining: remaining.map(|it| finding(&tet_convert::tensogram_finding(*it))).collect(),
    }
}
