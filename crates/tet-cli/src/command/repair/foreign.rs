//! `tet repair` of zTensor and Tensogram files; their edits are made together or not at all.

use std::fmt::Display;

use tet_format::Losses;
use tet_io::Source;
use tet_tensogram::repair as tgm;
use tet_verify::repair::Chosen;
use tet_ztensor::repair as zt;

use super::flow::{self, How};
use crate::args::RepairArgs;
use crate::bar::Bar;
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::render::json::LostShape;

/// The words for a container and its losses in messages.
struct Words {
    /// As in "a zTensor file".
    file: &'static str,
    /// What is done instead of filling lost data.
    unfilled: &'static str,
    /// What `--salvage` does.
    salvage: &'static str,
}

const ZTENSOR: Words = Words {
    file: "a zTensor file",
    unfilled: "lost tensors of a zTensor file are removed from its index, not filled",
    salvage: "--salvage removes lost tensors",
};

const TENSOGRAM: Words = Words {
    file: "a Tensogram file",
    unfilled: "damaged objects of a Tensogram file are removed, not filled",
    salvage: "--salvage removes damaged objects",
};

/// Plans the repair of a zTensor file, and makes it if requested.
///
/// # Errors
///
/// The file cannot be read, an option is wrong, or the new file cannot be written.
pub(super) fn ztensor(
    args: &RepairArgs,
    source: &Source,
    context: &mut Context<'_>,
) -> Result<Exit> {
    let about = |failure: Failure| failure.about(&args.file);
    check(args, &ZTENSOR)?;
    let mut options = zt::RepairOptions::default();
    if args.salvage {
        (options.salvage, options.losses) = (zt::Salvage::Blobs, Losses::Allowed);
    }
    options.memory_budget = args.memory.unwrap_or(options.memory_budget);
    options.decoded_max = args.max_decoded;
    let bar = Bar::new(context, "examining", source.len());
    options.progress = bar.progress(context);
    let plan = zt::plan(source, &options);
    bar.finish();
    let plan = plan.map_err(|error| about(error.into()))?;
    if plan.is_sound() && plan.error_count != 0 {
        let text = "it has errors that no edit repairs";
        let failure = Failure::new(Exit::Format, "not-repaired", text);
        return Err(about(failure.hint("`tet verify` lists them")));
    }
    check_codes(args, plan.edits.iter().map(|edit| edit.code.id()))?;
    let lost = |loss: &zt::Loss| match loss {
        zt::Loss::Tensor { name, .. } => named(name),
        other => named(other),
    };
    let advice = "--salvage removes lost tensors from the index";
    let how = How { chosen: chosen(args), advice: advised(args, &plan.lost, advice), lost };
    flow::finish(args, &plan, &how, context, |_, output, publish| {
        bar.next("repairing", 0);
        zt::apply(&plan, output, publish).map_err(Failure::from)
    })
}

/// Plans the repair of a Tensogram file, and makes it if requested.
///
/// # Errors
///
/// The file cannot be read, an option is wrong, or the new file cannot be written.
pub(super) fn tensogram(
    args: &RepairArgs,
    source: &Source,
    context: &mut Context<'_>,
) -> Result<Exit> {
    check(args, &TENSOGRAM)?;
    let mut options = tgm::RepairOptions::default();
    if args.salvage {
        (options.salvage, options.losses) = (tgm::Salvage::Objects, Losses::Allowed);
    }
    options.decoded_max = args.max_decoded;
    let bar = Bar::new(context, "examining", source.len().saturating_mul(2));
    options.progress = bar.progress(context);
    let plan = tgm::plan(source, &options);
    bar.finish();
    let plan = plan.map_err(|error| Failure::from(error).about(&args.file))?;
    check_codes(args, plan.edits.iter().map(|edit| edit.code.id()))?;
    let advice = advised(args, &plan.lost, TENSOGRAM.salvage);
    let how = How { chosen: chosen(args), advice, lost: named::<tgm::Loss> };
    flow::finish(args, &plan, &how, context, |_, output, publish| {
        bar.next("repairing", 0);
        tgm::apply(&plan, output, publish).map_err(Failure::from)
    })
}

fn chosen(args: &RepairArgs) -> Option<Chosen> {
    (args.all || !args.apply.is_empty()).then_some(Chosen::All)
}

/// The advice about losses, unless --salvage is given.
fn advised<L>(args: &RepairArgs, lost: &[L], advice: &'static str) -> Vec<&'static str> {
    if lost.is_empty() || args.salvage { Vec::new() } else { vec![advice] }
}

fn named<T: Display + ?Sized>(lost: &T) -> LostShape {
    LostShape { dataset: lost.to_string(), chunk: Vec::new(), len: 0 }
}

/// Refuses options that a container does not support.
fn check(args: &RepairArgs, words: &Words) -> Result<()> {
    let Words { file, unfilled, salvage } = words;
    let text = if args.from.is_some() {
        format!("{file} cannot be repaired from another one")
    } else if args.fill.is_some() {
        (*unfilled).to_owned()
    } else if args.output.is_some() && !args.all && args.apply.is_empty() {
        "--output is given, but no edits are selected".to_owned()
    } else {
        return Ok(());
    };
    Err(Failure::usage("repair", text).hint(format!("add --all; {salvage}")))
}

/// Refuses codes that select only some of these edits.
fn check_codes(args: &RepairArgs, mut ids: impl Iterator<Item = &'static str>) -> Result<()> {
    let has = |id: &str| args.apply.iter().any(|asked| asked.eq_ignore_ascii_case(id));
    match ids.find(|id| !args.apply.is_empty() && !has(id)) {
        None => Ok(()),
        Some(id) => {
            let text = format!("the edit {id} must be made with the others");
            Err(Failure::usage("code", text).hint("add its code, or use --all"))
        }
    }
}
