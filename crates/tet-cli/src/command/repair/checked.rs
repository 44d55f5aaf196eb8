//! `tet repair` of files of containers with checksums: flipped bits of stored bytes are put back.

use tet_convert::{RepairOptions, Unrepaired};
use tet_io::Source;

use super::flow::{self, How};
use crate::args::RepairArgs;
use crate::bar::Bar;
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::render::json::LostShape;

/// The way out where a file cannot be repaired.
const SALVAGE: &str = "`tet convert --salvage FILE OUT` writes all that can be read";

/// Plans the repair of a file or a folder, and makes it if requested.
///
/// # Errors
///
/// The file cannot be read, an option is wrong, or the new file cannot be written.
pub(super) fn run(args: &RepairArgs, source: &Source, context: &mut Context<'_>) -> Result<Exit> {
    let about = |failure: Failure| failure.about(&args.file);
    check(args, context)?;
    let bar = Bar::new(context, "examining", source.len());
    let usual = RepairOptions::default();
    let options = RepairOptions {
        memory_budget: args.memory.unwrap_or(usual.memory_budget),
        decoded_max: args.max_decoded,
        progress: bar.progress(context),
        ..usual
    };
    let chosen = flow::chosen(args)?;
    let plan = tet_convert::plan_repair(source, &options);
    bar.finish();
    let plan = plan.map_err(|error| about(error.into()))?;
    let advice = if plan.plan.is_whole() { Vec::new() } else { vec![SALVAGE] };
    let how = How { chosen, advice, lost };
    flow::finish(args, &plan.plan, &how, context, |chosen, output, publish| {
        bar.next("repairing", 0);
        let mut made = plan.clone();
        let chosen = made.retain(|edit| chosen.has(edit.code));
        chosen.and_then(|()| made.apply(output, publish)).map_err(Failure::from)
    })
}

/// Refuses options of `.tet` files, whose lost chunks have other sources, and another place for a folder.
fn check(args: &RepairArgs, context: &Context<'_>) -> Result<()> {
    let path = context.env().at(&args.file);
    if let Some(output) = args.output.as_ref().filter(|_| tet_convert::document_of(&path) != path) {
        return Err(tet_convert::folder_refusal(output).into());
    }
    let option = if args.from.is_some() {
        "--from"
    } else if args.salvage {
        "--salvage"
    } else {
        return Ok(());
    };
    let text = format!("{option} is for .tet files: in others flipped bits are repaired");
    Err(Failure::usage("repair", text).hint(SALVAGE))
}

fn lost(lost: &Unrepaired) -> LostShape {
    LostShape { dataset: lost.to_string(), chunk: lost.chunk.clone(), len: lost.len }
}
