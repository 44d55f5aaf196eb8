//! Which outputs have a place for which options.

use tet_convert::Target;

use crate::args::{ALIGN, CodecName, ConvertArgs, SparseName, StoreArgs};
use crate::exit::{Failure, Result};

/// Outputs that an option is for, and their name.
type Outputs = (&'static [Target], &'static str);

const TET: Outputs = (&[Target::Tet], ".tet");
const ZTENSOR: Outputs = (&[Target::ZTensor], ".zt");
const TENSOGRAM: Outputs = (&[Target::Tensogram], ".tgm");
const TOLD: Outputs = (&[Target::Tet, Target::Tensogram], ".tet and .tgm");
const LARGE: Outputs = (&[Target::ZTensor, Target::Tensogram], ".zt and .tgm");
const STORED: Outputs = (&[Target::Tet, Target::ZTensor, Target::Tensogram], ".tet, .zt and .tgm");
const WHOLE: Outputs = (
    &[
        Target::Tet,
        Target::ZTensor,
        Target::Tensogram,
        Target::SafeTensors,
        Target::SafeTensorsIndex,
        Target::Npz,
        Target::Npy,
        Target::Raw,
        Target::Csv,
    ],
    "all",
);
const SHARDED: Outputs = (&[Target::SafeTensors, Target::SafeTensorsIndex], ".safetensors");

/// Nothing is asked for that the output has no place for.
///
/// # Errors
///
/// An option is for other outputs, or out of its bounds.
pub(super) fn check(args: &ConvertArgs, target: Target) -> Result<()> {
    let ConvertArgs { store, zt, tgm, .. } = args;
    let is_codec = |codec| store.codec == Some(codec);
    let asked = [
        ("--name", args.name.is_some(), TET),
        ("--chunks", args.chunks != "auto", TET),
        ("--dims", !args.dims.is_empty(), STORED),
        ("--labels", !args.labels.is_empty(), STORED),
        ("--attr", !args.attr.is_empty(), STORED),
        ("--no-digests", args.no_digests, TOLD),
        ("--no-history", args.no_history, TOLD),
        ("--codec", store.codec.is_some(), STORED),
        ("--level", store.level.is_some(), STORED),
        ("--align", store.align != ALIGN, STORED),
        ("--codec lz4", is_codec(CodecName::Lz4), TENSOGRAM),
        ("--codec szip", is_codec(CodecName::Szip), TENSOGRAM),
        ("--align 8", store.align == "8", TOLD),
        ("--align 65536", store.align == "65536", LARGE),
        ("--align-above", zt.align_above != 0, ZTENSOR),
        ("--checksum", zt.checksum.is_some(), ZTENSOR),
        ("--dialect", zt.dialect.is_some(), ZTENSOR),
        ("--encoding", tgm.encoding.is_some(), TENSOGRAM),
        ("--bits", tgm.bits.is_some(), TENSOGRAM),
        ("--max-error", tgm.max_error.is_some(), TENSOGRAM),
        ("--filter", tgm.filter.is_some(), TENSOGRAM),
        ("--masks", tgm.masks.is_some(), TENSOGRAM),
        ("--profile", tgm.profile.is_some(), TENSOGRAM),
        ("--sparse native", zt.sparse == Some(SparseName::Native), ZTENSOR),
        ("--sparse dense", zt.sparse == Some(SparseName::Dense), WHOLE),
        ("--shard-size", args.shard_size.is_some(), SHARDED),
    ];
    for (option, is_asked, (targets, outputs)) in asked {
        if is_asked && !targets.contains(&target) {
            let text = format!("{} has no place for {option}", tet_io::shown(&args.output));
            let hint = format!("{option} is for {outputs} outputs");
            return Err(Failure::usage("output-format", text).hint(hint));
        }
    }
    if args.shard_size == Some(0) {
        let failure = Failure::usage("shard-size", "a shard of 0 bytes holds nothing");
        return Err(failure.hint("leave --shard-size out for one file"));
    }
    check_level(store)
}

/// zstd has these levels.
///
/// # Errors
///
/// Another one is asked for.
pub(crate) fn check_level(store: &StoreArgs) -> Result<()> {
    let Some(level) = store.level else { return Ok(()) };
    if !(1..=22).contains(&level) {
        let text = format!("zstd has no level {level}");
        return Err(Failure::usage("level", text).hint("--level takes 1 to 22"));
    }
    if !matches!(store.codec, Some(CodecName::Zstd) | None) {
        let text = "--level is for --codec zstd";
        return Err(Failure::usage("options", text).hint("leave one of them out"));
    }
    Ok(())
}
