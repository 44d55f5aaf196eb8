//! Which outputs have a use for an option, and levels of codecs.

use std::collections::BTreeSet;
use std::path::Path;

use tet_convert::{PayloadCodec, WriteOption};

use crate::args::{CodecName, Named, StoreArgs};
use crate::exit::{Failure, Result};

/// The failure of an option that an output has no use for.
pub(crate) fn no_option(output: &Path, option: &WriteOption) -> Failure {
    let flag = flag(option);
    let text = format!("{} does not support {flag}", tet_io::shown(output));
    let hint = format!("{flag} is for {} outputs", outputs(option));
    Failure::usage("output-format", text).hint(hint)
}

/// The options of `tet convert` that a writer with these has a use for, as `--codec gzip`.
///
/// ```
/// use tet_convert::WriteOption;
///
/// let flags = tet_cli::convert_flags(&[WriteOption::Dims, WriteOption::Align(8)]);
/// assert!(flags.contains("--dims") && flags.contains("--align 8"));
/// ```
#[must_use]
pub fn convert_flags(options: &[WriteOption]) -> BTreeSet<String> {
    // The alignment that all files have unless another is asked for is no choice of the command line.
    let chosen = options.iter().filter(|option| **option != WriteOption::Align(64));
    chosen.map(flag).collect()
}

/// The option of the command line.
fn flag(option: &WriteOption) -> String {
    let flag = match option {
        WriteOption::Chunks => "--chunks",
        WriteOption::Dims => "--dims",
        WriteOption::Labels => "--labels",
        WriteOption::Attrs => "--attr",
        WriteOption::Name => "--name",
        WriteOption::Digests => "--no-digests",
        WriteOption::Statistics => "--no-stats",
        WriteOption::History => "--no-history",
        WriteOption::ReservedRows => "--reserve-rows",
        WriteOption::Codec(PayloadCodec::Raw | PayloadCodec::Zstd) => "--codec",
        WriteOption::Codec(codec) => return format!("--codec {}", codec.name()),
        WriteOption::Level => "--level",
        WriteOption::Filter => "--filter",
        WriteOption::Checksum(checksum) => return format!("--checksum {}", checksum.name()),
        WriteOption::Packing => "--encoding",
        WriteOption::Masks => "--masks",
        WriteOption::Align(align) => return format!("--align {align}"),
        WriteOption::AlignAbove => "--align-above",
        WriteOption::Shards => "--shards",
        WriteOption::ShardLen => "--shard-size",
        WriteOption::NativeSparse => "--sparse native",
        WriteOption::Variant(name) if name == "universal" => "--profile",
        WriteOption::Variant(name) if name == "0.1.x" => "--dialect",
        WriteOption::Variant(_) => "--zarr",
        other => return other.to_string(),
    };
    flag.to_owned()
}

/// The suffixes of the outputs that have a use for an option.
fn outputs(option: &WriteOption) -> String {
    let containers = tet_convert::containers().into_iter();
    let fitting = containers.filter(|container| {
        container.writer().is_some_and(|writer| writer.can().options.contains(option))
    });
    let suffixes = fitting.flat_map(|container| container.usual_suffixes());
    let suffixes: Vec<String> = suffixes.map(|suffix| format!(".{suffix}")).collect();
    match suffixes.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => "no".to_owned(),
    }
}

/// Checks the level of zstd or gzip.
///
/// # Errors
///
/// The codec does not have this level, or has no levels.
pub(crate) fn check_level(store: &StoreArgs) -> Result<()> {
    check_levels(&store.level)?;
    let codec = Named::general(&store.codec);
    let Some(level) = Named::general(&store.level) else { return Ok(()) };
    if codec == Some(CodecName::Gzip) {
        let text = format!("gzip has no level {level}");
        let is_level = (0..=9).contains(&level);
        return if is_level {
            Ok(())
        } else {
            Err(Failure::usage("level", text).hint("--level takes 0 to 9 with --codec gzip"))
        };
    }
    if !(1..=22).contains(&level) {
        let text = format!("zstd has no level {level}");
        return Err(Failure::usage("level", text).hint("--level takes 1 to 22"));
    }
    if !matches!(codec, Some(CodecName::Zstd) | None) {
        let text = "--level is for --codec zstd";
        return Err(Failure::usage("options", text).hint("omit one of them"));
    }
    Ok(())
}

/// Checks that some codec has these levels.
///
/// # Errors
///
/// None has one of them.
pub(crate) fn check_levels(levels: &[Named<i32>]) -> Result<()> {
    match levels.iter().find(|it| !(0..=22).contains(&it.value)) {
        Some(wrong) => {
            let text = format!("zstd has no level {}", wrong.value);
            Err(Failure::usage("level", text).hint("--level takes 1 to 22"))
        }
        None => Ok(()),
    }
}
