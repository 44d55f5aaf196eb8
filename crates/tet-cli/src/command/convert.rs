//! `tet convert`: the arrays of a file become another file.

mod tensogram;

use std::path::Path;
use std::sync::Arc;

use tet_convert::{
    Attribute, ChunkChoice, ConvertOptions, DimNames, ImportOptions, ImportReport, NpyFault,
    Origin, SparseCarry, Target, export,
};
use tet_file::write::{CodecChoice, DigestChoice};
use tet_format::write::Align;
use tet_ztensor as zt;

use crate::args::{
    ALIGN, ChecksumName, CodecName, ConvertArgs, DialectName, ExportArgs, ReadArgs, SparseName,
    StoreArgs, ZtArgs,
};
use crate::context::Context;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::progress::Progress;
use crate::render::json::{Converted, ConvertedDataset};
use crate::size::{Size, counted};

/// The level of zstd in `.tet` unless another is asked for.
pub(super) const TET_LEVEL: i32 = 3;

/// Runs the command.
///
/// # Errors
///
/// The input, an option, or the output.
pub(crate) fn run(args: &ConvertArgs, context: &mut Context<'_>) -> Result<Exit> {
    let target = Target::from_path(&args.output).ok();
    check(args, target)?;
    if target.is_none() && export::is_export(&args.output) {
        return super::export::run(&exported(args), context);
    }
    let options = options(args, context)?;
    write(&args.input, &args.output, &options, args.json, context)
}

/// The same for `tet export`, whose outputs of one array have no place for some of it.
fn exported(args: &ConvertArgs) -> ExportArgs {
    let ConvertArgs { input, output, dataset, exclude, write, json, .. } = args;
    ExportArgs {
        input: input.clone(),
        output: output.clone(),
        dataset: dataset.clone(),
        exclude: exclude.clone(),
        write: *write,
        read: ReadArgs { threads: args.threads, ..ReadArgs::default() },
        json: *json,
    }
}

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
    ],
    ".tet, .zt, .tgm, .safetensors and .npz",
);
const SHARDED: Outputs = (&[Target::SafeTensors, Target::SafeTensorsIndex], ".safetensors");

/// Nothing is asked for that the output has no place for.
fn check(args: &ConvertArgs, target: Option<Target>) -> Result<()> {
    let ConvertArgs { store, zt, tgm, .. } = args;
    let is_codec = |codec| store.codec == Some(codec);
    let asked = [
        ("--name", args.name.is_some(), TET),
        ("--chunks", args.chunks != "auto", TET),
        ("--dims", !args.dims.is_empty(), STORED),
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
        ("--sparse native", zt.sparse == SparseName::Native, ZTENSOR),
        ("--sparse dense", zt.sparse == SparseName::Dense, WHOLE),
        ("--shard-size", args.shard_size.is_some(), SHARDED),
    ];
    for (option, is_asked, (targets, outputs)) in asked {
        if is_asked && target.is_none_or(|target| !targets.contains(&target)) {
            let text = format!("{} has no place for {option}", args.output.display());
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
pub(super) fn check_level(store: &StoreArgs) -> Result<()> {
    match store.level.filter(|level| !(1..=22).contains(level)) {
        Some(level) => {
            let text = format!("zstd has no level {level}");
            Err(Failure::usage("level", text).hint("--level takes 1 to 22"))
        }
        None => Ok(()),
    }
}

/// Converts, and tells what was written.
///
/// # Errors
///
/// The input, an option, or the output.
pub(super) fn write(
    input: &Path,
    output: &Path,
    options: &ConvertOptions,
    is_json: bool,
    context: &mut Context<'_>,
) -> Result<Exit> {
    let (from, to) = (context.world().at(input), context.world().at(output));
    let mut progress: Option<Progress> = None;
    let report = tet_convert::convert(&from, &to, options, &mut |done, all| {
        progress.get_or_insert_with(|| Progress::new(context, "converting", all)).set(done);
    });
    if let Some(progress) = progress {
        progress.finish();
    }
    let report = report.map_err(|error| output_hint(failure(error), input, output))?;
    tell(input, output, &report, is_json, context)
}

/// Tells what was written.
///
/// # Errors
///
/// The stream does not take it.
pub(super) fn tell(
    input: &Path,
    output: &Path,
    report: &ImportReport,
    is_json: bool,
    context: &mut Context<'_>,
) -> Result<Exit> {
    for note in &report.notes {
        context.warn(note);
    }
    let index = (report.shard_count != 0).then(|| export::index_path(output));
    let output = index.as_deref().unwrap_or(output);
    if is_json {
        context.json(&shape(input, output, report))?;
    } else {
        let ratio = ratio(report.output_len, report.decoded_len);
        let shards = match report.shard_count {
            0 => String::new(),
            count => format!(" and {}", counted(u64::try_from(count).unwrap_or(0), "shard")),
        };
        context.note(format!(
            "wrote {}{shards}: {}, {} in {}{ratio}",
            output.display(),
            counted(u64::try_from(report.datasets.len()).unwrap_or(0), "dataset"),
            Size(report.decoded_len),
            Size(report.output_len),
        ));
    }
    Ok(Exit::Done)
}

fn options(args: &ConvertArgs, context: &Context<'_>) -> Result<ConvertOptions> {
    let mut options = ConvertOptions::default();
    options.tet = tet_options(args, context)?;
    if !matches!(args.store.codec, Some(CodecName::Lz4 | CodecName::Szip)) {
        options.ztensor = ztensor_options(&args.store, &args.zt)?;
    }
    options.sparse = sparse_carry(&args.zt);
    if Target::from_path(&args.output).is_ok_and(|target| target == Target::Tensogram) {
        options.tensogram = tensogram::options(args)?;
    }
    options.stack.clone_from(&args.stack);
    options.shard_len = args.shard_size;
    options.execution.threads = args.threads;
    options.scratch = context.world().temp_dir.clone();
    Ok(options)
}

/// How sparse tensors are written.
pub(super) const fn sparse_carry(zt: &ZtArgs) -> SparseCarry {
    match zt.sparse {
        SparseName::Dense => SparseCarry::Dense,
        SparseName::Split | SparseName::Native => SparseCarry::Sparse,
    }
}

/// How a zTensor file is written.
///
/// # Errors
///
/// The codec is none of a zTensor file.
pub(super) fn ztensor_options(store: &StoreArgs, zt: &ZtArgs) -> Result<zt::WriteOptions> {
    let mut options = match zt.dialect {
        Some(DialectName::V01x) => zt::WriteOptions::v01x(),
        None => zt::WriteOptions::default(),
    };
    options.encoding = match (store.codec, store.level) {
        (Some(CodecName::Zstd), None) => zt::EncodingChoice::zstd(),
        (Some(CodecName::Zstd), Some(level)) => zt::EncodingChoice::Zstd { level },
        (Some(CodecName::Lz4 | CodecName::Szip), _) => {
            let text = "a .zt file has no place for this codec";
            return Err(Failure::usage("output-format", text).hint("give --codec raw or zstd"));
        }
        _ => zt::EncodingChoice::Raw,
    };
    options.checksum = match zt.checksum {
        None => options.checksum,
        Some(ChecksumName::Crc32c) => zt::ChecksumChoice::Crc32c,
        Some(ChecksumName::Sha256) => zt::ChecksumChoice::Sha256,
        Some(ChecksumName::None) => zt::ChecksumChoice::Left,
    };
    options.align = match store.align.as_str() {
        "4096" => zt::Align::Page,
        "65536" => zt::Align::LargePage,
        _ => zt::Align::Line,
    };
    options.align_len_min = zt.align_above;
    options.sparse = match zt.sparse {
        SparseName::Native => zt::SparseChoice::Native,
        _ => zt::SparseChoice::Split,
    };
    Ok(options)
}

fn tet_options(args: &ConvertArgs, context: &Context<'_>) -> Result<ImportOptions> {
    let (overwrite, sync) = open::publish_options(args.write);
    let mut options = ImportOptions::default();
    options.chunks = chunks(&args.chunks)?;
    options.codec = match args.store.codec {
        Some(CodecName::Raw) => CodecChoice::Raw,
        _ => CodecChoice::Zstd { level: args.store.level.unwrap_or(TET_LEVEL) },
    };
    options.threads = args.threads;
    options.align = align(&args.store.align);
    options.dims = args.dims.iter().map(|text| dims(text)).collect();
    options.attrs = args.attr.iter().map(|text| attr(text)).collect::<Result<_>>()?;
    options.include.clone_from(&args.dataset);
    options.exclude.clone_from(&args.exclude);
    options.name.clone_from(&args.name);
    options.history = (!args.no_history).then(|| Origin { at: context.world().now() });
    options.overwrite = overwrite;
    options.sync = sync;
    if args.no_digests {
        options.digests = DigestChoice::Left;
    }
    options.cancel = Some(Arc::clone(&context.world().cancel));
    Ok(options)
}

fn chunks(text: &str) -> Result<ChunkChoice> {
    if text == "auto" {
        return Ok(ChunkChoice::Auto);
    }
    let extents = text.trim_matches(['(', ')', '[', ']']);
    let extents = extents.strip_suffix(',').unwrap_or(extents).split([',', 'x']);
    let shape: std::result::Result<Vec<u64>, _> = extents.map(str::trim).map(str::parse).collect();
    match shape {
        Ok(shape) if !shape.is_empty() && !shape.contains(&0) => Ok(ChunkChoice::Shape(shape)),
        _ => {
            let text = format!("{text:?} is not a chunk shape");
            Err(Failure::usage("chunk-shape", text).hint("write auto, or extents as 1,30,60"))
        }
    }
}

fn align(text: &str) -> Align {
    match text {
        "8" => Align::A8,
        "4096" => Align::A4096,
        _ => Align::A64,
    }
}

/// `time,lat` or `temp=time,lat`.
fn dims(text: &str) -> DimNames {
    let (dataset, names) = match text.split_once('=') {
        Some((dataset, names)) => (Some(dataset.to_owned()), names),
        None => (None, text),
    };
    DimNames { dataset, names: names.split(',').map(|name| name.trim().to_owned()).collect() }
}

/// `title=Climate` or `temp:units=degC`.
fn attr(text: &str) -> Result<Attribute> {
    let Some((key, value)) = text.split_once('=').filter(|(key, _)| !key.is_empty()) else {
        let text = format!("{text:?} is not an attribute");
        return Err(Failure::usage("attribute", text).hint("write KEY=VALUE or DATASET:KEY=VALUE"));
    };
    let (dataset, key) = match key.split_once(':') {
        // A key such as `tet:scalar` has its colon after a prefix that is no dataset.
        Some((dataset, key)) if dataset != "tet" => (Some(dataset.to_owned()), key),
        _ => (None, key),
    };
    Ok(Attribute { dataset, key: key.to_owned(), value: value.to_owned() })
}

/// A dataset that cannot be read is told with what leaves it out.
pub(super) fn failure(error: tet_convert::Error) -> Failure {
    let hint = match &error {
        tet_convert::Error::Query(tet_query::Error::Unreadable { dataset, .. }) => {
            Some(format!("--exclude {dataset:?} leaves it out"))
        }
        tet_convert::Error::Object { dataset, source } => Some(tensogram::hint(dataset, source)),
        tet_convert::Error::Stack { dataset, .. } => {
            Some(format!("--exclude {dataset:?} leaves them out"))
        }
        tet_convert::Error::Array { array, fault: NpyFault::NoElements { .. } } => {
            Some(format!("--exclude {array:?} leaves it out; .zt, .safetensors and .npz take it"))
        }
        tet_convert::Error::ZTensor(zt::Error::Unwritable { name, why })
            if *why == zt::NAME_TAKEN && is_part(name) =>
        {
            Some("--sparse native or dense writes sparse tensors whole, without parts".to_owned())
        }
        _ => None,
    };
    let mut failure = Failure::from(error);
    failure.hint = hint.or(failure.hint.take());
    failure
}

/// Whether a name is one that a part of a sparse tensor would have.
fn is_part(name: &str) -> bool {
    let part = name.rsplit_once('.').map(|(_, part)| part);
    part.is_some_and(|part| ["indptr", "indices", "coords", "values"].contains(&part))
}

/// An existing output or one that is the input is told with what to do.
fn output_hint(mut failure: Failure, input: &Path, output: &Path) -> Failure {
    if failure.code == "exists" {
        failure.file = None;
        let text = format!("{} exists", output.display());
        return failure.saying(text).about(output);
    }
    failure.about(input)
}

/// `, 43 %` of the elements' bytes.
fn ratio(output_len: u64, decoded_len: u64) -> String {
    match (u128::from(output_len) * 100).checked_div(u128::from(decoded_len)) {
        Some(percent) => format!(" ({percent} %)"),
        None => String::new(),
    }
}

fn shape(input: &Path, output: &Path, report: &ImportReport) -> Converted {
    Converted {
        schema: "tet.convert/1",
        input: input.to_string_lossy().into_owned(),
        output: output.to_string_lossy().into_owned(),
        input_len: report.input_len,
        decoded_len: report.decoded_len,
        output_len: report.output_len,
        datasets: report
            .datasets
            .iter()
            .map(|dataset| ConvertedDataset {
                name: dataset.name.clone(),
                dtype: dataset.dtype.clone(),
                shape: dataset.shape.clone(),
                chunk_shape: dataset.chunk_shape.clone(),
            })
            .collect(),
        notes: report.notes.iter().map(ToString::to_string).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_shapes_are_read_as_people_write_them() {
        for text in ["1,30,60", "(1, 30, 60)", "1x30x60", "[1,30,60]"] {
            assert_eq!(chunks(text), Ok(ChunkChoice::Shape(vec![1, 30, 60])), "{text}");
        }
        assert_eq!(chunks("(12,)"), Ok(ChunkChoice::Shape(vec![12])));
        assert_eq!(chunks("auto"), Ok(ChunkChoice::Auto));
        for text in ["", "0", "1,,x", "-1", "big"] {
            assert!(chunks(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_and_attributes_may_be_for_one_dataset() {
        let all = dims("time, lat");
        assert_eq!((all.dataset, all.names.join("|")), (None, "time|lat".to_owned()));
        assert_eq!(dims("temp=time,lat").dataset.as_deref(), Some("temp"));
        let cases = [
            ("title=A=B", (None, "title", "A=B")),
            ("temp:units=degC", (Some("temp"), "units", "degC")),
            ("tet:scalar=1", (None, "tet:scalar", "1")),
        ];
        for (text, (dataset, key, value)) in cases {
            let attr = attr(text).expect("an attribute");
            assert_eq!(attr.dataset.as_deref(), dataset);
            assert_eq!((attr.key.as_str(), attr.value.as_str()), (key, value));
        }
        assert!(attr("novalue").is_err());
        assert!(attr("=x").is_err());
    }
}
