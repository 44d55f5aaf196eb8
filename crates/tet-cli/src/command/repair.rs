//! `tet repair`: plans the repair of a damaged file, and makes it.

mod checked;
mod flow;
mod tet;

use std::collections::BTreeSet;

use tet_convert::Format;
use tet_io::Source;
use tet_verify::{Level, Severity, VerifyOptions};

use crate::args::RepairArgs;
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};

/// Runs the command.
///
/// # Errors
///
/// The file cannot be read, an option is wrong, or the new file cannot be written.
pub(crate) fn run(args: &RepairArgs, context: &mut Context<'_>) -> Result<Exit> {
    let about = |failure: Failure| failure.about(&args.file);
    let path = context.env().at(&args.file);
    if let Some(failure) = of_parts(args, context) {
        return Err(failure);
    }
    let source = Source::open(tet_convert::document_of(&path));
    let source = source.map_err(|error| about(error.into()))?;
    let format = tet_convert::sniff(&source).map_err(|error| about(error.into()))?;
    if tet_convert::container(format).is_some_and(|container| container.repairer().is_some()) {
        return checked::run(args, &source, context);
    }
    if format.may_be_tet() {
        return tet::run(args, &source, context);
    }
    let file = tet_io::shown(&args.file);
    let text = format!("{file} is {format}, which has no checksums to repair by");
    Err(Failure::usage("not-repairable", text).hint("`tet verify` lists its errors"))
}

/// The most parts of a folder that are named.
const PARTS_MAX: usize = 5;

/// The failure for a folder of parts, which are repaired one by one: it names the damaged ones.
fn of_parts(args: &RepairArgs, context: &Context<'_>) -> Option<Failure> {
    let path = context.env().at(&args.file);
    let document = tet_convert::document_of(&path);
    if !path.is_dir() || document == path {
        return None;
    }
    let source = Source::open(&document).ok()?;
    if tet_convert::sniff(&source).ok()? != Format::TETS {
        return None;
    }
    // Elements too: the structure of a part with a flipped bit in them is sound.
    let options = VerifyOptions { level: Level::Deep, ..VerifyOptions::default() };
    let report = tet_convert::verify(&source, &options);
    let report = match report {
        Ok(report) => report,
        Err(error) => return Some(Failure::from(error).about(&args.file)),
    };
    let errors = report.findings.iter().filter(|it| it.severity == Severity::Error);
    let parts: BTreeSet<String> = errors.filter_map(|it| it.place.shard.clone()).collect();
    let shown = tet_io::shown(&args.file);
    let text = format!("{shown} is a folder of parts, which are repaired one by one");
    let command = |part: &String| format!("`tet repair {}`", tet_io::shown(&args.file.join(part)));
    let commands: Vec<String> = parts.iter().take(PARTS_MAX).map(command).collect();
    let hint = match commands.len() {
        0 => "none of them has an error that `tet verify` finds".to_owned(),
        _ => format!("run {}", commands.join(", ")),
    };
    Some(Failure::usage("folder-of-parts", text).hint(hint))
}
