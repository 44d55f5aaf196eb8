//! `tet repair`: plans the repair of a damaged file, and makes it.

mod flow;
mod foreign;
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
    let source = Source::open(&path).map_err(|error| about(error.into()))?;
    match tet_convert::sniff(&source).map_err(|error| about(error.into()))? {
        Format::ZTENSOR => foreign::ztensor(args, &source, context),
        Format::TENSOGRAM => foreign::tensogram(args, &source, context),
        Format::UNKNOWN if is_near_ztensor(&source).map_err(|error| about(error.into()))? => {
            foreign::ztensor(args, &source, context)
        }
        format if format.may_be_tet() => tet::run(args, &source, context),
        format => {
            let text = format!(
                "{} is {format}, and only .tet and .tgm files and .zt files of version 0.1.0 are repaired",
                tet_io::shown(&args.file)
            );
            Err(Failure::usage("not-repairable", text).hint("`tet verify` lists its errors"))
        }
    }
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

/// Whether the first bytes are those of a zTensor file, except for at most two bits.
fn is_near_ztensor(source: &Source) -> tet_io::Result<bool> {
    let magic = tet_ztensor::MAGIC;
    let head = source.read_vec(0, source.len().min(magic.len() as u64))?;
    let bits = head.iter().zip(magic).map(|(found, wanted)| (found ^ wanted).count_ones());
    Ok(head.len() == magic.len() && bits.sum::<u32>() <= 2)
}
