//! `tet info`: lists the contents of a file without reading values.

mod chunks;
mod layout;
mod metadata;
mod tree;

use std::path::Path;

use tet_convert::{Format, Opened, SparseTensor, sparse_tensors};
use tet_file::{FooterMode, Protection, TetFile};
use tet_format::Shape;
use tet_query::Dataset;
use tet_verify::{Finding, Severity};

use crate::args::{InfoArgs, IoName};
use crate::context::Context;
use crate::escape::Escaped;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::render::dtype::brief_dtype;
use crate::render::json::{DatasetInfo, Info, MemoryHint, SparseEntry};
use crate::render::table::{Side, Table};
use crate::size::{Size, counted, grouped};
use chunks::Stored;

pub(crate) use metadata::{attr, text};

/// Runs the command.
///
/// # Errors
///
/// The file cannot be opened, or its index cannot be read.
pub(crate) fn run(args: &InfoArgs, context: &mut Context<'_>) -> Result<Exit> {
    let footer = if args.no_footer { FooterMode::Ignore } else { FooterMode::Lenient };
    let opened = open::open_with(&args.file, (IoName::Auto, None), footer, context)?;
    let fault = opened.tet.as_ref().and_then(TetFile::footer_fault).copied();
    let stored = stored(&opened, context).map_err(|failure| failure.about(&args.file))?;
    opened.catalog.check_unchanged()?;
    if args.json {
        let info = shape(args, &opened, &stored, context)?;
        context.json(&info)?;
    } else {
        write(args, &opened, &stored, context)?;
    }
    let Some(fault) = fault else {
        let is_all = open::loss(&opened).is_none() && !has_lost_chunks(&opened);
        return Ok(if is_all { Exit::Done } else { Exit::Format });
    };
    // The rest was printed; the exit code reports that something is missing.
    let fault = tet_file::Error::from(fault);
    if args.json {
        return Err(Failure::from(fault).about(&args.file));
    }
    context.warn(format!("the footer cannot be read: {fault}"));
    Ok(Exit::from(fault.kind()))
}

/// Whether chunks of a dataset are missing, as in a truncated file.
fn has_lost_chunks(opened: &Opened) -> bool {
    let is_chunk = |error: &tet_query::Error| {
        matches!(error, tet_query::Error::Chunk { .. } | tet_query::Error::MissingChunk { .. })
    };
    opened.catalog.datasets().iter().filter_map(Dataset::why).any(is_chunk)
}

fn stored(opened: &Opened, context: &Context<'_>) -> Result<Vec<Stored>> {
    let datasets = opened.catalog.datasets().iter();
    datasets
        .map(|dataset| {
            context.check_cancelled()?;
            Ok(chunks::stored(dataset))
        })
        .collect()
}

fn write(
    args: &InfoArgs,
    opened: &Opened,
    stored: &[Stored],
    context: &mut Context<'_>,
) -> Result<()> {
    let file_len = file_len(args, opened, stored, context);
    let count = counted(u64::try_from(stored.len()).unwrap_or(u64::MAX), "dataset");
    let name = Message(&args.file);
    let version = version(opened);
    let format = opened.catalog.format();
    let title = context.paint.strong(name);
    let size = Size(file_len);
    let digests = digests(opened);
    let shards = match opened.catalog.shards().len() {
        0 => String::new(),
        count => format!(", {}", counted(u64::try_from(count).unwrap_or(u64::MAX), "shard")),
    };
    context.line(format!("{title}  {format}{version}{shards}, {size}, {count}{digests}"))?;
    if args.tree {
        context.line("")?;
        tree::write(opened, context)?;
    } else {
        write_table(opened.catalog.datasets(), stored, context)?;
    }
    for (dataset, stored) in opened.catalog.datasets().iter().zip(stored) {
        let why = dataset.why().map(ToString::to_string).or_else(|| stored.fault.clone());
        if let Some(tet_query::Error::Compound { members, .. }) = dataset.why() {
            let shown: Vec<&str> = members.iter().take(MEMBERS_SHOWN).map(String::as_str).collect();
            let more = if MEMBERS_SHOWN < members.len() { ", ..." } else { "" };
            let text = format!("members: {}{more}", shown.join(", "));
            context.line(format!("  {}", context.paint.faint(Escaped(&text))))?;
        } else if let Some(why) = why {
            let mark = context.paint.wrong("!");
            context.line(format!("  {mark} {}", crate::escape::Message(&why)))?;
        }
    }
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
    for warning in warnings(opened) {
        context.warn(warning.strip_prefix("warning ").unwrap_or(&warning));
    }
    Ok(())
}

/// The version of the container, if it has one.
fn version(opened: &Opened) -> String {
    match (opened.tet.as_ref().map(TetFile::version), opened.format) {
        (Some(version), _) => format!(" version {version}"),
        (None, Format::NPY) => " version 1".to_owned(),
        (None, _) => String::new(),
    }
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

const COLUMNS: [(&str, Side); 10] = [
    ("#", Side::Right),
    ("name", Side::Left),
    ("dtype", Side::Left),
    ("shape", Side::Left),
    ("chunks", Side::Left),
    ("codec", Side::Left),
    ("stored", Side::Right),
    ("logical", Side::Right),
    ("ratio", Side::Right),
    ("axes", Side::Left),
];

/// Prints the table of datasets; names of axes that do not fit are printed under their dataset.
fn write_table(datasets: &[Dataset], stored: &[Stored], context: &mut Context<'_>) -> Result<()> {
    if datasets.is_empty() {
        return Ok(());
    }
    let numbered = needs_numbers(datasets);
    let rows: Vec<Vec<String>> = datasets
        .iter()
        .zip(stored)
        .map(|(dataset, stored)| row(dataset, stored, numbered))
        .collect();
    let lines = |with_axes: bool, width: Option<usize>| {
        let mut table = Table::new(&COLUMNS);
        for row in &rows {
            let last = if with_axes { row.len() } else { row.len() - 1 };
            table.row(&row[..last]);
        }
        table.lines(width, crate::render::paint::Paint::Plain)
    };
    let width = context.table_width().unwrap_or(usize::MAX);
    let mut all = lines(true, None);
    let fits = all.iter().all(|line| line.chars().count() <= width);
    let narrow = lines(false, None);
    let narrow_fits = narrow.iter().all(|line| line.chars().count() <= width);
    context.line("")?;
    if !fits && !narrow_fits {
        all = lines(true, Some(width));
    }
    if fits || !narrow_fits {
        for (at, line) in all.iter().enumerate() {
            let paint = context.paint;
            if at == 0 { context.line(paint.faint(line))? } else { context.line(line)? }
        }
        return Ok(());
    }
    for (at, line) in narrow.iter().enumerate() {
        let paint = context.paint;
        let Some(row) = at.checked_sub(1).and_then(|at| rows.get(at)) else {
            context.line(paint.faint(line))?;
            continue;
        };
        context.line(line)?;
        if let Some(axes) = row.last().filter(|axes| !axes.is_empty()) {
            context.line(paint.faint(format!("    axes {}", Escaped(axes))))?;
        }
    }
    Ok(())
}

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

/// Whether positions are printed because names are empty or not unique.
fn needs_numbers(datasets: &[Dataset]) -> bool {
    let mut names: Vec<&str> = datasets.iter().map(|dataset| dataset.name.as_str()).collect();
    names.sort_unstable();
    names.windows(2).any(|pair| pair[0] == pair[1])
        || names.iter().any(|name| name.is_empty() || name.chars().any(crate::escape::acts))
}

fn row(dataset: &Dataset, stored: &Stored, numbered: bool) -> Vec<String> {
    let chunk_shape = dataset.grid.chunk_shape();
    let chunks = if stored.chunk_count <= 1 { "one".to_owned() } else { chunk_shape.to_string() };
    let unknown = || "?".to_owned();
    vec![
        if numbered { format!("#{}", dataset.index) } else { String::new() },
        if dataset.name.is_empty() { "\"\"".to_owned() } else { dataset.name.clone() },
        // Its members are printed below.
        brief_dtype(&dataset.dtype_name).to_owned(),
        dataset.grid.shape().to_string(),
        chunks,
        stored.codecs.join("+"),
        stored.stored_len.map_or_else(unknown, |len| Size(len).brief()),
        stored.decoded_len.map_or_else(unknown, |len| Size(len).brief()),
        stored.ratio(),
        metadata::axes(dataset),
    ]
}

fn warnings(opened: &Opened) -> Vec<String> {
    let warnings = opened.tet.as_ref().map(TetFile::warnings).unwrap_or_default();
    // Other errors are printed with their dataset.
    let is_own = |it: &&Finding| it.severity == Severity::Warning || open::is_unlisted(opened, it);
    let odd = opened.findings.iter().filter(is_own);
    let text = |it: &Finding| match opened.malformed() {
        Some(malformed) if std::ptr::eq(malformed, it) => open::malformation(it),
        _ => it.to_string(),
    };
    warnings.iter().map(ToString::to_string).chain(odd.map(text)).collect()
}

fn shape(
    args: &InfoArgs,
    opened: &Opened,
    stored: &[Stored],
    context: &Context<'_>,
) -> Result<Info> {
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
            shape: dataset.shape().to_vec(),
            chunk_shape: dataset.grid.chunk_shape().to_vec(),
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
            chunks: if with_chunks { Some(chunks::list(dataset, args.chunks_max)?) } else { None },
        });
    }
    let tet = opened.tet.as_ref();
    let fault = tet.and_then(TetFile::footer_fault);
    let fault = fault.map(|fault| format!("the footer cannot be read: {fault}"));
    Ok(Info {
        schema: "tet.info/1",
        file: args.file.to_string_lossy().into_owned(),
        format: opened.catalog.format(),
        version: tet.map_or(foreign_version(opened.format), TetFile::version),
        file_len: file_len(args, opened, stored, context),
        datasets: infos,
        sparse: sparse_tensors(&opened.catalog).into_iter().map(sparse_entry).collect(),
        attrs: metadata::file_attrs(opened),
        history: metadata::history(opened),
        integrity: open::integrity(opened).name(),
        memory_hint: tet.and_then(memory_hint),
        layout: (args.layout || args.all).then(|| layout::regions(opened)),
        warnings: fault.into_iter().chain(warnings(opened)).collect(),
    })
}

/// Bytes of the file; of a folder, bytes of its document and of all chunks.
fn file_len(args: &InfoArgs, opened: &Opened, stored: &[Stored], context: &Context<'_>) -> u64 {
    let is_folder = context.env().at(&args.file).is_dir();
    let chunks = stored.iter().filter(|_| is_folder).filter_map(|it| it.stored_len);
    chunks.fold(opened.catalog.file_len(), u64::saturating_add)
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
