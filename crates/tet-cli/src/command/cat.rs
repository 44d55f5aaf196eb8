//! `tet cat`: values of a dataset or a slice of it, printed or saved.

mod rows;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use clap::ValueEnum;
use tet_convert::{
    Combining, ConvertOptions, DTypeRule, Note, Origin, ResultCatalog, ResultOptions,
};
use tet_document::{Ask, Resolved};
use tet_io::{Operation, Publish, Publisher};
use tet_plot::{Depth, PlotMedium};
use tet_query::{Catalog, Choice, Dataset, Execution, Integrity};

use super::stats::is_of_dataset;
use super::{convert, query};
use crate::args::{CatArgs, CatFormat, WriteArgs};
use crate::bar::Bar;
use crate::context::Context;
use crate::escape::Escaped;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use crate::output;
use crate::piped;
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
    let form = form(args)?;
    let asked = args.dataset.as_deref().unwrap_or_default();
    let opened = open::open_for(&args.file, asked, &args.read, context)?;
    let how = open::execution(&args.read, &opened, context);
    let all = &opened.catalog;
    let (dataset, select) = (args.dataset.as_deref(), args.select.as_deref());
    if let (Form::Values(word), true) = (&form, rows::is_structure(all, dataset).map_err(&about)?) {
        return write_rows(all, args, word.as_deref(), how, context);
    }
    let columns = match form {
        Form::Text => rows::columns(all, dataset, select, &how).map_err(&about)?,
        _ => None,
    };
    let targets = columns.map_or_else(|| target::find_all(all, dataset, select, &how), Ok);
    let targets = targets.map_err(&about)?;
    if args.output.is_some() {
        let notes = targets.iter().flat_map(|target| &target.notes);
        target::check_written(notes, args.allow_empty).map_err(&about)?;
    }
    context.selection_notes(targets.iter().flat_map(|target| &target.notes));
    let catalog = catalog_for(&form, args, opened.catalog.clone(), &how)?;
    let indices: Vec<usize> = targets.iter().map(|target| target.dataset.index).collect();
    let catalog = match args.dtype {
        Some(dtype) => tet_convert::with_dtype(catalog, &indices, dtype, &how)
            .map_err(|it| about(it.into()))?,
        None => catalog,
    };
    let within = |it: Target<'_>| it.within(&catalog, &how);
    let targets: Vec<Target<'_>> = targets.into_iter().map(within).collect::<Result<_>>()?;
    let rendering = Rendering { args, form: &form, how: &how };
    let integrity = write_all(&targets, &rendering, context)?;
    let integrity = integrity.unwrap_or_else(|| open::integrity(&opened));
    let doubts = open::warnings(&opened, &args.read).into_iter();
    for doubt in doubts.chain(open::doubt(&opened, integrity)) {
        context.warn(doubt);
    }
    open::report_unchecked(integrity, context);
    Ok(Exit::Done)
}

/// Writes the members of a structure, as the columns of a table where the format is one.
fn write_rows(
    all: &Catalog,
    args: &CatArgs,
    word: Option<&str>,
    how: Execution,
    context: &mut Context<'_>,
) -> Result<Exit> {
    let asked = args.dataset.as_deref().unwrap_or_default();
    let (name, bracket) = target::split(asked, |name| all.has(name));
    let mut options = ConvertOptions::default();
    options.tet.include.extend((!name.is_empty()).then(|| name.to_owned()));
    (options.tet.overwrite, options.tet.sync) = open::publish_options(args.write);
    options.select = bracket.or(args.select.as_deref()).map(str::to_owned);
    options.decoding = args.values.decoding();
    options.allow_empty = args.allow_empty;
    options.to = word.map(output::named).transpose()?;
    options.open = open::options(&args.read);
    options.execution = how;
    if let Some(dtype) = args.dtype {
        options.dtypes = vec![DTypeRule { dataset: None, dtype }];
    }
    let inputs = std::slice::from_ref(&args.file);
    let output = args.output.as_deref().unwrap_or(Path::new("-"));
    let report = convert::write(inputs, Combining::Merge, output, options, context)?;
    convert::print_report(inputs, output, &report, false, context)
}

/// How selected values are printed or written.
struct Rendering<'a> {
    /// The options of the command.
    args: &'a CatArgs,
    /// The form of the output.
    form: &'a Form,
    /// How the values are read.
    how: &'a Execution,
}

/// Prints or writes what was selected. Returns the integrity, if any bytes were read.
fn write_all(
    targets: &[Target<'_>],
    rendering: &Rendering<'_>,
    context: &mut Context<'_>,
) -> Result<Option<Integrity>> {
    let Rendering { args, form, how } = *rendering;
    let about = |failure: Failure| failure.about(&args.file);
    if args.output.is_none() && matches!(form, Form::Text) && rows::are_columns(targets) {
        return rows::print(targets, how, args.full, context).map_err(about);
    }
    if args.output.is_none() && matches!(form, Form::Text) && targets.len() > 1 {
        return print_all(targets, rendering, context).map_err(about);
    }
    for target in targets {
        // Elements that nothing computes with are written, and not printed.
        if !matches!(form, Form::Values(_)) || !tet_convert::is_opaque(&target.dataset) {
            open::check_readable(&target.dataset).map_err(about)?;
        }
    }
    match (args.output.as_deref(), targets) {
        (None, [target]) => emit(target, rendering, context).map_err(about),
        (Some(path), [target]) => write(path, target, rendering, context),
        (_, targets) => {
            let matching: Vec<&Dataset> = targets.iter().map(|target| &*target.dataset).collect();
            let asked = args.dataset.as_deref().unwrap_or_default();
            let text = format!("{asked:?} matches {} datasets, and one is written", matching.len());
            let hint = "name one, or write several with `tet convert --dataset PATTERN`";
            Err(about(target::several(text, &matching).hint(hint)))
        }
    }
}

/// The datasets with the values that are written in a form.
fn catalog_for(form: &Form, args: &CatArgs, catalog: Catalog, how: &Execution) -> Result<Catalog> {
    let decoding = args.values.decoding();
    Ok(match form {
        // Dates have no other type than that of their numbers.
        Form::Text if args.dtype.is_none() => decoding.printed(catalog, how),
        Form::Text => decoding.shown(catalog),
        Form::Heatmap => decoding.shown(catalog),
        Form::Values(word) => {
            let to = word.as_deref().map(output::named).transpose()?;
            let name = to.as_deref().or(args.output.as_deref()).unwrap_or(Path::new(""));
            output::capabilities(name)?.view(catalog, decoding, how)
        }
    })
}

/// Prints several datasets, each under its name. Returns the integrity, if any bytes were read; datasets that cannot be
/// printed are an error after the others.
fn print_all(
    targets: &[Target<'_>],
    rendering: &Rendering<'_>,
    context: &mut Context<'_>,
) -> Result<Option<Integrity>> {
    let mut all: Option<Integrity> = None;
    let (mut printed, mut faults) = (0, Vec::new());
    for target in targets {
        let fault = open::check_readable(&target.dataset).err();
        if let Some(fault) = fault {
            faults.push(fault);
            continue;
        }
        if printed > 0 {
            context.line("")?;
        }
        printed += 1;
        let heading = context.paint.strong(Escaped(&target.dataset.name));
        context.line(heading)?;
        let integrity = match emit(target, rendering, context) {
            Ok(integrity) => integrity,
            Err(fault) if is_of_dataset(&fault) => {
                faults.push(fault);
                continue;
            }
            Err(fault) => return Err(fault),
        };
        all = all.map_or(integrity, |all| Some(integrity.map_or(all, |it| all.and(it))));
    }
    query::check_all(faults, targets.len(), ["is not printed", "are not printed"])?;
    Ok(all)
}

/// Writes to a file, or to a pipe or device. Returns the integrity, if any bytes were read.
fn write(
    path: &Path,
    target: &Target<'_>,
    rendering: &Rendering<'_>,
    context: &mut Context<'_>,
) -> Result<Option<Integrity>> {
    let about = |failure: Failure| failure.about(&rendering.args.file);
    if path.as_os_str() == "-" {
        return emit(target, rendering, context).map_err(about);
    }
    let Some(out) = stream(&context.env().at(path)) else {
        return save(path, target, rendering, context);
    };
    let out = out.map_err(|error| of_stream(path, error))?;
    context.streams.out = Box::new(BufWriter::new(out));
    context.streams.env.out_terminal = false;
    let integrity = emit(target, rendering, context).map_err(about)?;
    context.out().flush().map_err(|error| of_stream(path, error))?;
    Ok(integrity)
}

/// Form of the output.
enum Form {
    /// Text as NumPy prints it.
    Text,
    /// A map.
    Heatmap,
    /// Values in the format of this name or suffix; `None` is that of the output's suffix.
    Values(Option<String>),
}

/// The form that `--to` or `--format` names, else that of the output's suffix, else text; `-o -` is raw.
fn form(args: &CatArgs) -> Result<Form> {
    let suffix = |path: &Path| path.extension().is_some_and(|it| it.eq_ignore_ascii_case("txt"));
    let word = match (&args.to, args.format, args.output.as_deref()) {
        (Some(to), ..) => Some(to.clone()),
        (None, Some(CatFormat::Text), _) | (None, None, None) => return Ok(Form::Text),
        (None, Some(CatFormat::Heatmap), _) => return Ok(Form::Heatmap),
        (None, Some(format), path) => {
            let word = format.to_possible_value().map(|it| it.get_name().to_owned());
            check_suffix(word.as_deref().unwrap_or_default(), path)?;
            word
        }
        (None, None, Some(path)) if path.as_os_str() == "-" => Some("raw".to_owned()),
        (None, None, Some(path)) if suffix(path) => return Ok(Form::Text),
        (None, None, Some(_)) => None,
    };
    Ok(Form::Values(word))
}

/// Checks that the suffix of an output is not that of another format than `--format` names.
fn check_suffix(word: &str, path: Option<&Path>) -> Result<()> {
    let Some(path) = path.filter(|path| path.extension().is_some()) else { return Ok(()) };
    let named = output::format(&output::named(word)?)?;
    match output::format(path) {
        Ok(other) if other != named => {
            let text = format!("--format contradicts the suffix of {}", tet_io::shown(path));
            let hint = "omit --format, rename OUT, or give --to instead";
            Err(Failure::usage("output-format", text).hint(hint))
        }
        _ => Ok(()),
    }
}

/// Opens an output that is a stream: a pipe, or a device such as /dev/null.
fn stream(at: &Path) -> Option<std::io::Result<File>> {
    use std::os::unix::fs::FileTypeExt;
    let kind = std::fs::metadata(at).ok()?.file_type();
    let is_stream = kind.is_fifo() || kind.is_char_device();
    is_stream.then(|| File::options().write(true).open(at))
}

fn of_stream(path: &Path, error: std::io::Error) -> Failure {
    tet_io::Error::io(Operation::Write, path, error).into()
}

/// Writes to a file atomically. Returns the integrity, if any bytes were read.
fn save(
    path: &Path,
    target: &Target<'_>,
    rendering: &Rendering<'_>,
    context: &mut Context<'_>,
) -> Result<Option<Integrity>> {
    let Rendering { args, form, how } = *rendering;
    let at = context.env().at(path);
    let integrity = if let Form::Values(word) = form {
        let to = word.as_deref().map(output::named).transpose()?;
        let format = output::format(to.as_deref().unwrap_or(path))?;
        let layout = output::layout(args.layout, Some(format))?;
        let options =
            ResultOptions { to, layout, execution: how.clone(), ..ResultOptions::default() };
        Some(write_values(&at, target, options, args.write, context)?)
    } else {
        output::layout(args.layout, None)?;
        let (overwrite, sync) = open::publish_options(args.write);
        let inputs = target.catalog.stamps();
        let mut publisher = Publisher::begin(
            &at,
            &Publish { force: overwrite, sync, inputs, ..Publish::default() },
        )?;
        let (text, integrity) = text_of(target, rendering, context)?;
        publisher.write_all(text.as_bytes()).map_err(|error| publisher.write_fault(error))?;
        publisher.commit()?;
        integrity
    };
    let shape = target.slab.kept_shape();
    context.note(format!("wrote {} {shape} to {}", target.dataset.dtype_name, tet_io::shown(path)));
    Ok(integrity)
}

/// Writes the selection to the file `at`. Returns the integrity.
fn write_values(
    at: &Path,
    target: &Target<'_>,
    mut options: ResultOptions,
    args: WriteArgs,
    context: &mut Context<'_>,
) -> Result<Integrity> {
    (options.overwrite, options.sync) = open::publish_options(args);
    let bar = Bar::new(context, "writing", stored_len(target));
    options.execution.progress = bar.progress(context);
    options.history = Some(Origin { at: context.env().now() });
    let result =
        ResultCatalog::of_selection(&target.catalog, &target.dataset, &target.slab, &options)?;
    let written = result.write(at, &options);
    bar.finish();
    warn(written?.notes, context);
    Ok(result.integrity())
}

/// Prints the notes but for the one that comes with the integrity.
fn warn(notes: Vec<Note>, context: &mut Context<'_>) {
    for note in notes.into_iter().filter(|note| *note != Note::Unchecked) {
        context.warn(note);
    }
}

/// Writes to standard output. Returns the integrity, if any bytes were read.
fn emit(
    target: &Target<'_>,
    rendering: &Rendering<'_>,
    context: &mut Context<'_>,
) -> Result<Option<Integrity>> {
    let Rendering { args, form, how } = *rendering;
    let Form::Values(word) = form else {
        output::layout(args.layout, None)?;
        let (text, integrity) = text_of(target, rendering, context)?;
        context.out().write_all(text.as_bytes())?;
        if matches!(form, Form::Text) {
            describe(target, context);
        }
        return Ok(integrity);
    };
    let suffix = || args.output.as_deref().and_then(Path::extension).unwrap_or_default();
    let word = word.clone().unwrap_or_else(|| suffix().to_string_lossy().into_owned());
    let to = output::named(&word)?;
    let layout = output::layout(args.layout, Some(output::format(&to)?))?;
    let Some(encoding) = output::streamed(&word) else {
        let to_file = |path: &Path, context: &mut Context<'_>| {
            let options =
                ResultOptions { layout, execution: how.clone(), ..ResultOptions::default() };
            write_values(path, target, options, args.write, context)
        };
        return piped::output(&to, context, to_file).map(Some);
    };
    output::check_terminal(Some(encoding), context)?;
    let bar = Bar::new(context, "reading", stored_len(target));
    let how = how.with_progress(bar.progress(context));
    let options = ResultOptions { execution: how.clone(), ..ResultOptions::default() };
    let result =
        ResultCatalog::of_selection(&target.catalog, &target.dataset, &target.slab, &options)?;
    let out = context.streams.out.as_mut();
    let notes = result.stream(encoding, layout, &how, out);
    bar.finish();
    warn(notes?, context);
    Ok(Some(result.integrity()))
}

/// Bytes of the selected elements, for the progress bar.
fn stored_len(target: &Target<'_>) -> u64 {
    let size = target.dataset.dtype.and_then(|dtype| dtype.size()).unwrap_or(1);
    target.slab.element_count().unwrap_or(u64::MAX).saturating_mul(size)
}

fn text_of(
    target: &Target<'_>,
    rendering: &Rendering<'_>,
    context: &mut Context<'_>,
) -> Result<(String, Option<Integrity>)> {
    let Rendering { args, form, how } = *rendering;
    let width = context.env().width;
    if matches!(form, Form::Heatmap) {
        let depth = if args.output.is_some() { Depth::Plain } else { context.depth };
        let Target { catalog, dataset, slab, notes, .. } = target.clone();
        let (catalog, dataset) = (catalog.into_owned(), dataset.into_owned());
        let ask = Ask::Values(Choice::default());
        let positions = slab.axes().iter().map(|slice| (*slice).into()).collect();
        let resolved = Resolved { catalog, dataset, slab, positions, notes, ask };
        let medium = PlotMedium::Terminal { width, depth };
        let drawn = super::plot::heatmap(&resolved.catalog, &resolved, medium, how)?;
        drawn.note.into_iter().for_each(|note| context.assumed(note));
        return Ok((drawn.picture.terminal(width, depth), Some(drawn.integrity)));
    }
    if target.dataset.is_text() {
        let width = width.min(LINE_MAX);
        let (text, integrity) = preview::texts(target, how, args.full, width)?;
        return Ok((text + "\n", integrity));
    }
    let (preview, integrity) = Preview::read(target, how, args.full)?;
    let mut text = preview.lay_out(width.min(LINE_MAX)) + "\n";
    if let Some(more) = preview.more_line() {
        text += &(more + "\n");
    }
    Ok((text, integrity))
}

/// Prints a note about the printed selection, only on a terminal.
fn describe(target: &Target<'_>, context: &mut Context<'_>) {
    let dataset = &target.dataset;
    let kept = target.slab.axes().iter().enumerate().filter(|(_, slice)| slice.is_kept());
    let dims: Vec<String> = kept
        .filter_map(|(axis, _)| dataset.dims.get(axis))
        .map(|name| Escaped(name).to_string())
        .collect();
    let axes = if dims.is_empty() { String::new() } else { format!(", axes {}", dims.join(", ")) };
    let shape = target.slab.kept_shape();
    context.note(format!("{} {} {shape}{axes}", Escaped(&dataset.name), dataset.dtype_name));
}
