//! `tet repair`: plans the repair of a damaged file, and makes it.

mod flow;
mod foreign;
mod tet;

use tet_convert::Format;
use tet_io::Source;

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

/// Whether the first bytes are those of a zTensor file, except for at most two bits.
fn is_near_ztensor(source: &Source) -> tet_io::Result<bool> {
    let magic = tet_ztensor::MAGIC;
    let head = source.read_vec(0, source.len().min(magic.len() as u64))?;
    let bits = head.iter().zip(magic).map(|(found, wanted)| (found ^ wanted).count_ones());
    Ok(head.len() == magic.len() && bits.sum::<u32>() <= 2)
}
