//! Checks which output formats support which options.

use std::path::Path;

use tet_convert::Capabilities;

use crate::args::{ALIGN, ChecksumName, CodecName, ConvertArgs, Named, SparseName, StoreArgs};
use crate::exit::{Failure, Result};

/// Checks that the output format supports all given options.
///
/// # Errors
///
/// An option is for other formats, or out of its bounds.
pub(super) fn check(args: &ConvertArgs, can: Capabilities) -> Result<()> {
    let ConvertArgs { store, zt, tgm, .. } = args;
    let is_codec = |codec| store.codec.iter().any(|it| it.value == codec);
    let asked = [
        ("--name", args.name.is_some()),
        ("--chunks", args.chunks.iter().any(|it| it != "auto")),
        ("--dims", !args.dims.is_empty()),
        ("--labels", !args.labels.is_empty()),
        ("--attr", !args.attr.is_empty()),
        ("--no-digests", args.no_digests),
        ("--no-stats", args.no_stats),
        ("--no-history", args.no_history),
        ("--codec", !store.codec.is_empty()),
        ("--level", !store.level.is_empty()),
        ("--align", store.align != ALIGN),
        ("--codec gzip", is_codec(CodecName::Gzip)),
        ("--codec lz4", is_codec(CodecName::Lz4)),
        ("--codec szip", is_codec(CodecName::Szip)),
        ("--align 8", store.align == "8"),
        ("--align 65536", store.align == "65536"),
        ("--align-above", zt.align_above != 0),
        ("--checksum", zt.checksum.is_some()),
        ("--checksum sha256", zt.checksum == Some(ChecksumName::Sha256)),
        ("--dialect", zt.dialect.is_some()),
        ("--encoding", tgm.encoding.is_some()),
        ("--bits", tgm.bits.is_some()),
        ("--max-error", tgm.max_error.is_some()),
        ("--filter", tgm.filter.is_some()),
        ("--masks", tgm.masks.is_some()),
        ("--profile", tgm.profile.is_some()),
        ("--sparse native", zt.sparse == Some(SparseName::Native)),
        ("--shard-size", args.shard_size.is_some()),
        ("--zarr", args.zarr.is_some()),
        ("--shards", args.shards.is_some()),
        ("--reserve-rows", args.reserve.reserve_rows != 0),
    ];
    for (option, is_asked) in asked {
        if is_asked {
            check_option(option, &args.output, can)?;
        }
    }
    if args.shard_size == Some(0) {
        let failure = Failure::usage("shard-size", "the shard size must not be 0");
        return Err(failure.hint("omit --shard-size to write one file"));
    }
    check_level(store)
}

/// Checks that the format of an output supports an option.
///
/// # Errors
///
/// It does not.
fn check_option(option: &str, output: &Path, can: Capabilities) -> Result<()> {
    if can.options.contains(&option) {
        return Ok(());
    }
    let text = format!("{} does not support {option}", tet_io::shown(output));
    let hint = format!("{option} is for {} outputs", outputs(option));
    Err(Failure::usage("output-format", text).hint(hint))
}

/// The suffixes of the outputs that an option applies to.
fn outputs(option: &str) -> String {
    let containers = tet_convert::containers().into_iter();
    let fitting = containers.filter(|container| {
        container.writer().is_some_and(|writer| writer.can().options.contains(&option))
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
