//! `tet repair` of a `.tet` file.

use tet_format::Losses;
use tet_io::Source;
use tet_verify::repair::{Action, Lost, Need, Plan, RepairOptions, Salvage, Trust, apply, plan};

use super::flow::{self, How};
use crate::args::RepairArgs;
use crate::bar::Bar;
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::render::json::LostShape;

/// Plans the repair of a file, and makes it if requested.
///
/// # Errors
///
/// The file cannot be read, an option is wrong, or the new file cannot be written.
pub(super) fn run(args: &RepairArgs, source: &Source, context: &mut Context<'_>) -> Result<Exit> {
    let chosen = flow::chosen(args)?;
    let bar = Bar::new(context, "examining", source.len());
    let options = RepairOptions { progress: bar.progress(context), ..options(args, context)? };
    let plan = plan(source, &options);
    bar.finish();
    let plan = plan.map_err(|error| Failure::from(error).about(&args.file))?;
    let is_gain = !args.salvage || plan.edits.iter().any(|edit| edit.action != Action::ClearFlag);
    let how = How { chosen: chosen.filter(|_| is_gain), advice: advice(args, &plan), lost };
    flow::finish(args, &plan, &how, context, |chosen, output, publish| {
        bar.next("repairing", 0);
        apply(&plan, chosen, output, publish).map_err(Failure::from)
    })
}

fn options(args: &RepairArgs, context: &Context<'_>) -> Result<RepairOptions> {
    let mut options = RepairOptions::default();
    if let Some(path) = &args.from {
        let other = Source::open(context.env().at(path));
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
    Ok(options)
}

/// The advice how to restore lost chunks, or fill them.
fn advice(args: &RepairArgs, plan: &Plan) -> Vec<&'static str> {
    let needs = |need: Need| plan.lost.iter().any(|lost| lost.need == need);
    let mut advice = Vec::new();
    if needs(Need::Trust) {
        advice.push(
            "the file has no usable digests: --trust-other takes chunks of the same place from --from",
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

fn lost(lost: &Lost) -> LostShape {
    LostShape { dataset: lost.name.clone(), chunk: lost.coord.clone(), len: lost.len }
}
