//! `tet cat`: values of a dataset or a slice of it, printed or saved.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use tet_convert::Note;
use tet_convert::export::{self, Encoding, ExportOptions};
use tet_document::{Ask, Resolved};
use tet_io::{Publish, Publisher, Step};
use tet_plot::{Depth, PlotMedium};
use tet_query::{Catalog, Choice, Dataset, Execution, Hyperslab, Integrity, LazyArray};

use crate::args::{CatArgs, CatFormat, MeaningArgs};
use crate::bar::Bar;
use crate::context::Context;
use crate::escape::Escaped;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::preview::{self, Preview};
use crate::target::{self, Target};

/// The most columns of a line, also on a wider terminal.
const LINE_MAX: usize = 100;

/// Runs the command.
///
/// # Errors
///
/// The file cannot be read, the slice is invalid, or the output cannot be written.
pub(crate) fn run(args: &CatArgs, context: &mut Context<'_>) -> Result<Exit> {
    let about = |failure: Failure| failure.about(&args.file);
    let format = format(args)?;
    let asked = args.dataset.as_deref().unwrap_or_default();
    let opened = open::open_for(&args.file, asked, &args.read, context)?;
    let raw_values = !args.decoded;
    let opened = open::decode(opened, MeaningArgs { raw_values, ..MeaningArgs::default() });
    let catalog = &opened.catalog;
    let how = open::execution(&args.read, &opened, context);
    let target = target::find(catalog, args.dataset.as_deref(), args.select.as_deref(), &how);
    let target = target.map_err(&about)?;
    let bytes = tet_convert::as_bytes(target.dataset).filter(|_| format == CatFormat::Raw);
    let target = match &bytes {
        Some(bytes) => of_bytes(&target, bytes).map_err(&about)?,
        None => target,
    };
    open::check_readable(target.dataset).map_err(&about)?;
    let integrity = match args.output.as_deref().filter(|path| path.as_os_str() != "-") {
        None => emit(catalog, &target, &how, args, format, context).map_err(&about)?,
        Some(path) => match stream(&context.env().at(path)) {
            Some(out) => {
                let out = out.map_err(|error| of_stream(path, error))?;
                context.streams.out = Box::new(BufWriter::new(out));
                context.streams.env.out_terminal = false;
                let integrity =
                    emit(catalog, &target, &how, args, format, context).map_err(&about)?;
                context.out().flush().map_err(|error| of_stream(path, error))?;
                integrity
            }
            None => save(path, catalog, &target, &how, args, context)?,
        },
    };
    let integrity = integrity.unwrap_or_else(|| open::integrity(&opened));
    let doubts = open::warnings(&opened, &args.read).into_iter();
    for doubt in doubts.chain(open::doubt(&opened, integrity)) {
        context.warn(doubt);
    }
    if args.output.is_some() && integrity == Integrity::Unchecked {
        context.warn(Note::Unchecked);
    }
    Ok(Exit::Done)
}

/// Replaces a part of elements that are smaller than a byte by the bytes that contain them.
fn of_bytes<'a>(target: &Target<'a>, bytes: &'a Dataset) -> Result<Target<'a>> {
    let Target { dataset, slab } = target;
    if dataset.shape() == bytes.shape() {
        return Ok(Target { dataset: bytes, slab: slab.clone() });
    }
    if *slab == Hyperslab::whole(dataset.shape()) {
        return Ok(Target { dataset: bytes, slab: Hyperslab::whole(bytes.shape()) });
    }
    if let Some(slab) = slab_of_bytes(slab, dataset, bytes) {
        return Ok(Target { dataset: bytes, slab });
    }
    let text = format!("these elements of {} do not start and end at a byte", dataset.dtype_name);
    let hint = "start and end the slice of the last axis at a byte, or write all elements";
    Err(Failure::usage("part-of-bytes", text).hint(hint))
}

/// The bytes that contain a part of elements, if one byte holds several elements of the last axis;
/// `None` if the part starts or ends within a byte.
fn slab_of_bytes(slab: &Hyperslab, dataset: &Dataset, bytes: &Dataset) -> Option<Hyperslab> {
    let (last, head) = slab.axes().split_last()?;
    let (&extent, outer) = dataset.shape().split_last()?;
    let (&len, outer_of_bytes) = bytes.shape().split_last()?;
    let is_plain = outer == outer_of_bytes && last.step == 1 && last.is_kept();
    let place = |at: u64| {
        let scaled = at.checked_mul(len)?;
        let is_whole = extent != 0 && scaled.is_multiple_of(extent);
        is_whole.then(|| scaled / extent)
    };
    let (start, stop) = place(last.start).zip(place(last.stop)).filter(|_| is_plain)?;
    let last = tet_query::AxisSlice { start, stop, ..*last };
    Hyperslab::new(head.iter().copied().chain([last]).collect(), bytes.shape())
}

/// The format of the option, else of the output's suffix, else text; `-o -` is raw.
fn format(args: &CatArgs) -> Result<CatFormat> {
    let Some(path) = &args.output else { return Ok(args.format.unwrap_or(CatFormat::Text)) };
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let named = match extension.to_ascii_lowercase().as_str() {
        _ if path.as_os_str() == "-" => return Ok(args.format.unwrap_or(CatFormat::Raw)),
        "npy" => Some(CatFormat::Npy),
        "raw" | "bin" => Some(CatFormat::Raw),
        "csv" => Some(CatFormat::Csv),
        "json" => Some(CatFormat::Json),
        "txt" => Some(CatFormat::Text),
        _ => None,
    };
    // A .txt file may contain a heatmap or CSV rows too.
    let is_other = |(format, named)| format != named && named != CatFormat::Text;
    if args.format.zip(named).is_some_and(is_other) {
        let text = format!("--format contradicts the suffix of {}", tet_io::shown(path));
        return Err(Failure::usage("output-format", text).hint("omit --format, or rename OUT"));
    }
    args.format.or(named).ok_or_else(|| {
        let text = format!("the suffix of {} is not an output format", tet_io::shown(path));
        let failure = Failure::usage("output-format", text);
        failure.hint("name it .npy, .raw, .csv, .json or .txt, or give --format")
    })
}

/// Opens an output that is a stream: a pipe, or a device such as /dev/null.
fn stream(at: &Path) -> Option<std::io::Result<File>> {
    use std::os::unix::fs::FileTypeExt;
    let kind = std::fs::metadata(at).ok()?.file_type();
    let is_stream = kind.is_fifo() || kind.is_char_device();
    is_stream.then(|| File::options().write(true).open(at))
}

fn of_stream(path: &Path, error: std::io::Error) -> Failure {
    tet_io::Error::io(Step::Write, path, error).into()
}

/// Writes to a file atomically. Returns the integrity, if any bytes were read.
fn save(
    path: &Path,
    catalog: &Catalog,
    target: &Target<'_>,
    how: &Execution,
    args: &CatArgs,
    context: &mut Context<'_>,
) -> Result<Option<Integrity>> {
    let format = format(args)?;
    let at = context.env().at(path);
    let (overwrite, sync) = open::publish_options(args.write);
    let integrity = if let Some(encoding) = text_encoding(target, format) {
        let options =
            ExportOptions { overwrite, sync, execution: how.clone(), ..Default::default() };
        let selected = (target.dataset, &target.slab, encoding);
        Some(export::write_texts_file(catalog, selected, &at, &options)?.1)
    } else if let Some(encoding) = encoding(format) {
        let bar = Bar::new(context, "writing", stored_len(target));
        let execution = how.with_progress(bar.progress(context));
        let options = ExportOptions { overwrite, sync, execution, ..Default::default() };
        let lazy = LazyArray::values(target.dataset, &target.slab)?;
        let written = export::write_lazy_file(catalog, &lazy, encoding, &at, &options);
        bar.finish();
        for note in written?.notes {
            context.warn(note);
        }
        Some(lazy.integrity())
    } else {
        let inputs = catalog.stamps();
        let mut publisher = Publisher::begin(&at, &Publish { force: overwrite, sync, inputs })?;
        let (text, integrity) = text_of(catalog, target, how, args, format, context)?;
        publisher.write_all(text.as_bytes()).map_err(|error| publisher.write_fault(error))?;
        publisher.commit()?;
        integrity
    };
    let shape = target.slab.kept_shape();
    context.note(format!("wrote {} {shape} to {}", target.dataset.dtype_name, tet_io::shown(path)));
    Ok(integrity)
}

/// Writes to standard output. Returns the integrity, if any bytes were read.
fn emit(
    catalog: &Catalog,
    target: &Target<'_>,
    how: &Execution,
    args: &CatArgs,
    format: CatFormat,
    context: &mut Context<'_>,
) -> Result<Option<Integrity>> {
    if let Some(encoding) = text_encoding(target, format) {
        let out = context.streams.out.as_mut();
        let written = export::write_texts(target.dataset, &target.slab, encoding, how, out)?;
        return Ok(Some(written));
    }
    let Some(encoding) = encoding(format) else {
        let (text, integrity) = text_of(catalog, target, how, args, format, context)?;
        context.out().write_all(text.as_bytes())?;
        if format == CatFormat::Text {
            describe(target, context);
        }
        return Ok(integrity);
    };
    if context.env().out_terminal && !encoding.has_text() {
        let failure = Failure::usage("binary-output", "cannot print binary values to a terminal");
        return Err(failure.hint("use -o FILE, or a pipe"));
    }
    let lazy = LazyArray::values(target.dataset, &target.slab)?;
    let bar = Bar::new(context, "reading", stored_len(target));
    let how = how.with_progress(bar.progress(context));
    let out = context.streams.out.as_mut();
    let notes = export::write_lazy(&lazy, encoding, &how, out);
    bar.finish();
    for note in notes? {
        context.warn(note);
    }
    Ok(Some(lazy.integrity()))
}

/// The encoding of the export; `None` for text and heatmaps, which this command prints itself.
fn encoding(format: CatFormat) -> Option<Encoding> {
    match format {
        CatFormat::Npy => Some(Encoding::Npy),
        CatFormat::Raw => Some(Encoding::Raw),
        CatFormat::Csv => Some(Encoding::Csv),
        CatFormat::Json => Some(Encoding::Json),
        CatFormat::Text | CatFormat::Heatmap => None,
    }
}

/// How texts are written, where the target is of texts and this command does not print them itself.
fn text_encoding(target: &Target<'_>, format: CatFormat) -> Option<Encoding> {
    encoding(format).filter(|encoding| target.dataset.is_text() && encoding.has_text())
}

/// Bytes of the selected elements, for the progress bar.
fn stored_len(target: &Target<'_>) -> u64 {
    let size = target.dataset.dtype.and_then(|dtype| dtype.size()).unwrap_or(1);
    target.slab.element_count().unwrap_or(u64::MAX).saturating_mul(size)
}

fn text_of(
    catalog: &Catalog,
    target: &Target<'_>,
    how: &Execution,
    args: &CatArgs,
    format: CatFormat,
    context: &mut Context<'_>,
) -> Result<(String, Option<Integrity>)> {
    let width = context.env().width;
    if format == CatFormat::Heatmap {
        let depth = if args.output.is_some() { Depth::Plain } else { context.depth };
        let (dataset, slab) = (target.dataset.clone(), target.slab.clone());
        let resolved = Resolved { dataset, slab, ask: Ask::Values(Choice::default()) };
        let medium = PlotMedium::Terminal { width, depth };
        let (picture, integrity) = super::plot::heatmap(catalog, &resolved, medium, how)?;
        return Ok((picture.terminal(width, depth), Some(integrity)));
    }
    if target.dataset.is_text() {
        let width = width.min(LINE_MAX);
        let (text, integrity) = preview::texts(target, how, args.full, width)?;
        return Ok((text + "\n", integrity));
    }
    let (preview, integrity) = Preview::read(target, how, args.full)?;
    Ok((preview.lay_out(width.min(LINE_MAX)) + "\n", integrity))
}

/// Prints a note about the printed selection, only on a terminal.
fn describe(target: &Target<'_>, context: &mut Context<'_>) {
    let dataset = target.dataset;
    let kept = target.slab.axes().iter().enumerate().filter(|(_, slice)| slice.is_kept());
    let dims: Vec<String> = kept
        .filter_map(|(axis, _)| dataset.dims.get(axis))
        .map(|name| Escaped(name).to_string())
        .collect();
    let axes = if dims.is_empty() { String::new() } else { format!(", axes {}", dims.join(", ")) };
    let shape = target.slab.kept_shape();
    context.note(format!("{} {} {shape}{axes}", Escaped(&dataset.name), dataset.dtype_name));
}
