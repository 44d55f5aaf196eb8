//! `tet info`: lists the contents of a file without reading values.

mod axes;
mod chunks;
mod family;
mod files;
mod keys;
mod layout;
mod listing;
mod metadata;
mod tree;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use tet_convert::{Format, Opened, SparseTensor, sparse_tensors};
use tet_file::{FooterMode, Protection, TetFile};
use tet_format::Shape;
use tet_query::{AxisList, Dataset};

use crate::args::{InfoArgs, IoName};
use crate::context::Context;
use crate::escape::Escaped;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::render::json::{DatasetInfo, Info, MemoryHint, SparseEntry};
use crate::render::table::{Side, Table};
use crate::size::{Size, counted, grouped};
use crate::target;
use chunks::Stored;
use keys::Keys;

pub(crate) use keys::has_key;
pub(crate) use metadata::{attr, text};

/// A file and what is listed of it.
struct Contents {
    path: PathBuf,
    opened: Opened,
    /// Datasets of the file, listed or not.
    dataset_count: usize,
    stored: Vec<Stored>,
    axes: AxisList,
}

/// Runs the command: lists all files, and returns the worst exit code.
///
/// # Errors
///
/// The only file cannot be opened, or its index cannot be read; writing to standard output fails.
pub(crate) fn run(args: &InfoArgs, context: &mut Context<'_>) -> Result<Exit> {
    let files::Inputs { files, datasets } = files::inputs(args, context)?;
    let mut keys = Keys::new(&args.keys);
    let mut worst = Exit::Done;
    for (at, path) in files.iter().enumerate() {
        context.check_cancelled()?;
        if 0 < at && !args.json {
            context.line("")?;
        }
        let listed = contents(path, &datasets, args, context)
            .and_then(|it| list(&it, args, &mut keys, files.len(), context));
        let exit = match listed {
            Ok(exit) => exit,
            Err(failure) if failure.exit == Exit::Interrupted || files.len() == 1 => {
                return Err(failure);
            }
            Err(failure) => {
                context.fail(&failure, args.json);
                failure.exit
            }
        };
        if worst.code() < exit.code() {
            worst = exit;
        }
    }
    keys.check()?;
    Ok(worst)
}

/// Lists a file.
fn list(
    contents: &Contents,
    args: &InfoArgs,
    keys: &mut Keys<'_>,
    file_count: usize,
    context: &mut Context<'_>,
) -> Result<Exit> {
    let values = keys.values(contents);
    if file_count == 1 {
        keys.check()?;
    }
    let opened = &contents.opened;
    let fault = opened.tet.as_ref().and_then(TetFile::footer_fault).copied();
    if args.json {
        let mut info = shape(args, contents, context)?;
        for (dataset, values) in info.datasets.iter_mut().zip(values) {
            dataset.keys = keys.named(values);
        }
        context.json(&info)?;
    } else if keys.is_empty() {
        write(args, contents, context)?;
    } else {
        write_title(contents, context)?;
        keys.write(&values, context)?;
        write_faults(contents, context)?;
        warn(opened, context);
    }
    let Some(fault) = fault else {
        let is_all = open::is_complete(opened) && !has_lost_chunks(opened);
        return Ok(if is_all { Exit::Done } else { Exit::Format });
    };
    // The rest was printed; the exit code reports that something is missing.
    let fault = tet_file::Error::from(fault);
    if args.json {
        return Err(Failure::from(fault).about(&contents.path));
    }
    context.warn(format!("the footer cannot be read: {fault}"));
    Ok(Exit::from(fault.kind()))
}

/// Opens a file, and finds out what is listed of it.
fn contents(
    path: &Path,
    datasets: &[String],
    args: &InfoArgs,
    context: &Context<'_>,
) -> Result<Contents> {
    let footer = if args.no_footer { FooterMode::Ignore } else { FooterMode::Lenient };
    let opened = open::open_with(path, IoName::Auto, None, footer, context)?;
    let all = opened.catalog.clone();
    let opened = selected(datasets, opened).map_err(|failure| failure.about(path))?;
    let stored = stored(args, &opened, context).map_err(|failure| failure.about(path))?;
    let axes = all.axes(opened.catalog.datasets(), &open::unflagged(context));
    opened.catalog.check_unchanged()?;
    let dataset_count = all.datasets().len();
    Ok(Contents { path: path.to_owned(), opened, dataset_count, stored, axes })
}

/// The file with the datasets that were asked for, or all.
fn selected(datasets: &[String], mut opened: Opened) -> Result<Opened> {
    if datasets.is_empty() {
        return Ok(opened);
    }
    let mut kept = HashSet::new();
    for asked in datasets {
        let (_, slice) = target::split(asked, |name| {
            opened.catalog.matching(name).is_ok_and(|it| !it.is_empty())
        });
        if slice.is_some() {
            let text = format!("{asked:?} has a slice, and info lists whole datasets");
            return Err(Failure::usage("slice", text).hint("`tet cat` prints slices"));
        }
        kept.extend(opened.catalog.find_all(asked)?.into_iter().map(|dataset| dataset.index));
    }
    opened.catalog = opened.catalog.filtered(|dataset| kept.contains(&dataset.index));
    Ok(opened)
}

/// Whether chunks of a dataset are missing, as in a truncated file.
fn has_lost_chunks(opened: &Opened) -> bool {
    use tet_query::Error;
    let len = opened.catalog.source().len();
    let is_lost = |error: &Error| match error {
        Error::Chunk { .. } | Error::MissingChunk { .. } => true,
        Error::Foreign { fault, .. } => fault.found == len && len < fault.wanted,
        _ => false,
    };
    opened.catalog.datasets().iter().filter_map(Dataset::why).any(is_lost)
}

fn stored(args: &InfoArgs, opened: &Opened, context: &Context<'_>) -> Result<Vec<Stored>> {
    let is_asked = (args.chunks || args.all) && args.chunks_max == 0;
    let datasets = opened.catalog.datasets().iter();
    datasets
        .map(|dataset| {
            context.check_cancelled()?;
            Ok(chunks::stored(dataset, is_asked))
        })
        .collect()
}

fn write(args: &InfoArgs, contents: &Contents, context: &mut Context<'_>) -> Result<()> {
    let Contents { opened, stored, .. } = contents;
    write_title(contents, context)?;
    if args.tree {
        context.line("")?;
        tree::write(opened, context)?;
    } else {
        let format = opened.format;
        listing::write(opened.catalog.datasets(), stored, args, format, context)?;
    }
    axes::write(&contents.axes, context)?;
    write_faults(contents, context)?;
    write_sparse(opened, context)?;
    if args.layout || args.all {
        layout::write(opened, context)?;
    }
    if args.metadata || args.all {
        metadata::write(opened, context)?;
    }
    if args.history || args.all {
        metadata::write_history(opened, context)?;
    }
    if args.chunks || args.all {
        chunks::write(opened.catalog.datasets(), args.chunks_max, context)?;
    }
    warn(opened, context);
    Ok(())
}

fn warn(opened: &Opened, context: &mut Context<'_>) {
    for warning in warnings(opened) {
        context.warn(warning.strip_prefix("warning ").unwrap_or(&warning));
    }
}

/// Prints the line about the file.
fn write_title(contents: &Contents, context: &mut Context<'_>) -> Result<()> {
    let Contents { path, opened, stored, dataset_count: all, .. } = contents;
    let count = counted(u64::try_from(*all).unwrap_or(u64::MAX), "dataset");
    let part = if stored.len() == *all { String::new() } else { format!("{} of ", stored.len()) };
    let version = version(opened);
    let format = opened.catalog.format();
    let size = Size(file_len(contents, context));
    let title = context.paint.strong(Message(path));
    let digests = digests(opened);
    let files = match opened.catalog.shard_count() {
        0 => String::new(),
        others => {
            // An index has no datasets of its own; the first part of a model has.
            let is_here = |it: &Dataset| it.why().is_none() && it.listed_in.is_none();
            let is_part = opened.catalog.datasets().iter().any(is_here);
            let count = others.saturating_add(usize::from(is_part));
            format!(", {}", counted(u64::try_from(count).unwrap_or(u64::MAX), "file"))
        }
    };
    // Of a hierarchy whose chunks are files on a server they are not looked up.
    let is_part = is_far(opened) && stored.iter().any(|it| it.stored_len.is_none());
    let of = if is_part { " of metadata" } else { "" };
    let facts = format!("{format}{version}{files}, {size}{of}, {part}{count}{digests}");
    context.line(format!("{title}  {facts}"))
}

/// Prints the members of structures, and why datasets cannot be read.
fn write_faults(contents: &Contents, context: &mut Context<'_>) -> Result<()> {
    let Contents { opened, stored, .. } = contents;
    let (mut reasons, mut structures) = (Vec::new(), Vec::new());
    for (dataset, stored) in opened.catalog.datasets().iter().zip(stored) {
        if let Some(tet_query::Error::Compound { members, .. }) = dataset.why() {
            let shown: Vec<&str> = members.iter().take(MEMBERS_SHOWN).map(String::as_str).collect();
            let more = if MEMBERS_SHOWN < members.len() { ", ..." } else { "" };
            structures.push((&dataset.name, shown, more));
            continue;
        }
        let why = dataset.why().map(ToString::to_string).or_else(|| stored.fault.clone());
        reasons.extend(why);
    }
    let is_few = structures.len() <= STRUCTURES_SHOWN;
    let lines = structures.iter().map(|(name, members, more)| match is_few {
        true => format!("members: {}{more}", members.join(", ")),
        false => {
            let members: Vec<String> = members.iter().map(|it| format!("{it:?}")).collect();
            format!("{name:?} has the members {}{more}", members.join(", "))
        }
    });
    let lines = if is_few { lines.collect() } else { crate::warning::aggregated(lines) };
    for line in lines {
        context.line(format!("  {}", context.paint.faint(Escaped(&line))))?;
    }
    for why in crate::warning::aggregated(reasons) {
        let mark = context.paint.wrong("!");
        context.line(format!("  {mark} {}", crate::escape::Message(&why)))?;
    }
    Ok(())
}

/// The version of a `.tet` file.
fn version(opened: &Opened) -> String {
    let version = opened.tet.as_ref().map(TetFile::version);
    version.map(|version| format!(" version {version}")).unwrap_or_default()
}

/// The version of another container; 1 if it has none.
fn foreign_version(format: Format) -> u32 {
    tet_convert::container(format).and_then(|container| container.version()).unwrap_or(1)
}

/// The state of the digests of a `.tet` file.
fn digests(opened: &Opened) -> &'static str {
    match opened.tet.as_ref().map(TetFile::protection) {
        None | Some(Protection::Unknown) => "",
        Some(Protection::None) => ", no digests",
        Some(Protection::Stale) => ", stale digests",
        Some(Protection::Broken(_)) => ", digests do not match",
        Some(Protection::Digests(_)) => ", with digests",
    }
}

/// A path as the user wrote it, escaped.
struct Message<'a>(&'a Path);

impl std::fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        crate::escape::Message(&tet_io::shown(self.0)).fmt(f)
    }
}

/// Members of structures that are printed without `--tree`.
const MEMBERS_SHOWN: usize = 12;
/// Of more structures, those with the same members share a line.
const STRUCTURES_SHOWN: usize = 3;

/// Prints the sparse tensors, each with its components.
fn write_sparse(opened: &Opened, context: &mut Context<'_>) -> Result<()> {
    let tensors = sparse_tensors(&opened.catalog);
    if tensors.is_empty() {
        return Ok(());
    }
    let left = |name| (name, Side::Left);
    let columns = ["name", "format", "shape", "values", "storage", "parts"].map(left);
    let mut table = Table::new(&columns);
    for tensor in tensors {
        let extents: Shape = tensor.shape.iter().copied().collect();
        let count = grouped(tensor.value_count);
        let (format, storage) = (tensor.format.to_owned(), tensor.storage.name().to_owned());
        let parts = tensor.parts.join(", ");
        table.row([tensor.name, format, extents.to_string(), count, storage, parts]);
    }
    context.line(format!("\n{}", context.paint.strong("sparse")))?;
    for line in table.lines(None, context.paint) {
        context.line(line)?;
    }
    Ok(())
}

fn warnings(opened: &Opened) -> Vec<String> {
    let warnings = opened.tet.as_ref().map(TetFile::warnings).unwrap_or_default();
    let left = opened.left_out().map(ToString::to_string);
    warnings.iter().map(ToString::to_string).chain(open::findings(opened)).chain(left).collect()
}

fn shape(args: &InfoArgs, contents: &Contents, context: &Context<'_>) -> Result<Info> {
    let Contents { path, opened, stored, axes, .. } = contents;
    let datasets = opened.catalog.datasets().iter().zip(stored);
    let mut infos = Vec::new();
    for (dataset, stored) in datasets {
        context.check_cancelled()?;
        let why = dataset.why().map(ToString::to_string).or_else(|| stored.fault.clone());
        let with_chunks = (args.chunks || args.all) && why.is_none();
        infos.push(DatasetInfo {
            index: dataset.index,
            name: dataset.name.clone(),
            dtype: dataset.dtype_name.clone(),
            shape: dataset.has_shape.then(|| dataset.shape().to_vec()),
            chunk_shape: dataset.has_shape.then(|| dataset.grid.chunk_shape().to_vec()),
            chunk_count: stored.chunk_count,
            codecs: stored.codecs.clone(),
            stored_len: stored.stored_len,
            decoded_len: stored.decoded_len,
            dims: dataset.dims.clone(),
            unlimited: metadata::unlimited(dataset),
            coords: metadata::coords(dataset),
            attrs: metadata::attrs(dataset),
            readable: why.is_none(),
            why,
            keys: BTreeMap::new(),
            chunks: if with_chunks { Some(chunks::list(dataset, args.chunks_max)?) } else { None },
        });
    }
    let tet = opened.tet.as_ref();
    let fault = tet.and_then(TetFile::footer_fault);
    let fault = fault.map(|fault| format!("the footer cannot be read: {fault}"));
    Ok(Info {
        schema: "tet.info/1",
        file: tet_io::without_secrets(path).into_owned(),
        format: opened.catalog.format(),
        version: tet.map_or(foreign_version(opened.format), TetFile::version),
        file_len: file_len(contents, context),
        datasets: infos,
        axes: axes.axes.iter().map(axes::entry).collect(),
        axes_left_out: axes.more,
        sparse: sparse_tensors(&opened.catalog).into_iter().map(sparse_entry).collect(),
        attrs: metadata::file_attrs(opened),
        history: metadata::history(opened),
        integrity: open::integrity(opened).name(),
        memory_hint: tet.and_then(memory_hint),
        layout: (args.layout || args.all).then(|| layout::regions(opened)),
        warnings: fault.into_iter().chain(warnings(opened)).collect(),
    })
}

/// Bytes of all files; of a folder whose files are not known, bytes of its document and of all chunks.
fn file_len(contents: &Contents, context: &Context<'_>) -> u64 {
    let Contents { path, opened, stored, .. } = contents;
    // The file of a folder is a document in it.
    let at = context.env().at(path);
    let document = opened.catalog.source().path();
    let is_dir = document.is_some_and(|it| it != at && it.starts_with(&at));
    let is_dir = is_dir && !tet_io::is_url(path) && opened.catalog.shards().is_empty();
    let is_folder = is_dir || is_far(opened);
    let chunks = stored.iter().filter(|_| is_folder).filter_map(|it| it.stored_len);
    chunks.fold(opened.catalog.file_len(), u64::saturating_add)
}

/// Whether chunks are files on a server whose lengths the container does not have.
fn is_far(opened: &Opened) -> bool {
    let is_far = |dataset: &Dataset| dataset.chunks.codecs_of_objects().is_some();
    opened.catalog.shard_count() == 0 && opened.catalog.datasets().iter().any(is_far)
}

fn memory_hint(tet: &TetFile) -> Option<MemoryHint> {
    let header = tet.index().header();
    let hint =
        MemoryHint { percent_bps: header.memory_budget_bps, bytes: header.memory_budget_len };
    (hint.percent_bps != 0 || hint.bytes != 0).then_some(hint)
}

fn sparse_entry(tensor: SparseTensor) -> SparseEntry {
    let (format, kept) = (tensor.format, tensor.storage.name());
    let SparseTensor { name, shape, value_count, parts, .. } = tensor;
    SparseEntry { name, format, kept, shape, value_count, parts }
}
