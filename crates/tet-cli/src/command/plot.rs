//! `tet plot`: a picture of a selection or of the answer of a query.

mod output;
mod points;
mod style;

use std::path::Path;

use tet_convert::Opened;
use tet_document::{Ask, Query, Resolved, WriteTarget};
use tet_plot::{Picture, PlotAxis, PlotMedium, Scale, Shown};
use tet_query::{AxisRef, Catalog, Execution, Integrity, Op, find_axis};

use crate::args::{PlotArgs, PlotKind};
use crate::bar::Bar;
use crate::command::query::answer::Subject;
use crate::command::query::{self, question};
use crate::context::Context;
use crate::escape::Escaped;
use crate::exit::{Exit, Failure, Result};
use crate::open;
use output::Output;
use style::Style;

/// The columns of a terminal beside the bars of a histogram.
const BESIDE_BARS: usize = 12;
/// The bins of a histogram, where there is room for them.
const BINS: usize = 50;

/// Runs the command.
///
/// # Errors
///
/// The query is invalid, the file cannot be read, there is no picture of the answer, or it cannot be written.
pub(crate) fn run(mut args: PlotArgs, context: &mut Context<'_>) -> Result<Exit> {
    let ask = &mut args.question.ask;
    let is_histogram = ask.op.asked.as_ref().is_some_and(|(op, _)| *op == Op::Histogram);
    // The range of a reduction to a histogram belongs to the query.
    let range = if is_histogram { None } else { ask.params.range.take() };
    let style = Style::parse(&args.picture, range.as_deref())?;
    let question = question::parse(&args.question, context)?;
    if args.question.print_doc {
        context.line(question.query.to_json())?;
        return Ok(Exit::Done);
    }
    let drawn = draw(&args, &style, &question.file, question.query, context);
    drawn.map_err(|failure| failure.about(&question.file))?;
    Ok(Exit::Done)
}

fn draw(
    args: &PlotArgs,
    style: &Style,
    file: &Path,
    query: Query,
    context: &mut Context<'_>,
) -> Result<()> {
    if query.write.as_ref().is_some_and(|write| write.target != WriteTarget::Memory) {
        let failure = Failure::usage("two-outputs", "the document writes its answer to a file");
        return Err(failure.hint("remove \"write\", or run the document with `tet query`"));
    }
    let (opened, query) = query::open_for(file, query, args.question.meaning, &args.read, context)?;
    for query in query::each(&opened, query, args.picture.output.is_some())? {
        one(args, style, &opened, &query, context)?;
    }
    Ok(())
}

/// Draws a query about one dataset.
fn one(
    args: &PlotArgs,
    style: &Style,
    opened: &Opened,
    query: &Query,
    context: &mut Context<'_>,
) -> Result<()> {
    let how = query::execution(&args.read, query, opened, context);
    let resolved = query::resolve(query, &opened.catalog, &how)?;
    context.selection_notes(&resolved.notes);
    let output = Output::begin(args, &opened.catalog, context)?;
    let medium = match output {
        Output::Terminal => {
            PlotMedium::Terminal { width: context.env().width, depth: context.depth }
        }
        _ => PlotMedium::File(style.size),
    };
    let bar = Bar::new(context, "reading", 0);
    let how = Execution { progress: bar.progress(context), ..how };
    let drawn = picture(&resolved.catalog, &resolved, style, medium, &how);
    bar.finish();
    let Drawn { picture, integrity, note } = drawn?;
    output.write(&picture, style.size, context)?;
    note.into_iter().for_each(|note| context.assumed(note));
    let doubts = open::warnings(opened, &args.read).into_iter();
    for doubt in doubts.chain(open::doubt(opened, integrity)) {
        context.warn(doubt);
    }
    open::report_unchecked(integrity, context);
    Ok(())
}

/// A picture, the integrity of what was read for it, and what it takes for granted.
pub(super) struct Drawn {
    pub(super) picture: Picture,
    pub(super) integrity: Integrity,
    pub(super) note: Option<String>,
}

/// Draws a heatmap of the values of a selection for `tet cat`.
///
/// # Errors
///
/// The selection does not have one or two axes, or cannot be read.
pub(super) fn heatmap(
    catalog: &Catalog,
    resolved: &Resolved,
    medium: PlotMedium,
    how: &Execution,
) -> Result<Drawn> {
    picture(catalog, resolved, &Style::of_heatmap(), medium, how)
}

/// The picture of an answer.
fn picture(
    catalog: &Catalog,
    resolved: &Resolved,
    style: &Style,
    medium: PlotMedium,
    how: &Execution,
) -> Result<Drawn> {
    if resolved.dataset.is_text() && matches!(resolved.ask, Ask::Values(_)) {
        let text = format!(
            "\"{}\" contains texts, which have no picture",
            Escaped(&resolved.dataset.name)
        );
        return Err(
            Failure::new(Exit::Unsupported, "no-picture", text).hint("`tet cat` prints texts")
        );
    }
    let subject = Subject::new(catalog, resolved, how)?;
    check(&subject)?;
    let kind = style.kind_of(subject.axes.len(), subject.bins.is_some());
    style.check(kind)?;
    let (shown, note) = match kind {
        PlotKind::Histogram => (histogram(&subject, style, medium, how)?, None),
        PlotKind::Line => (line(&subject, medium, how)?, None),
        _ => match points::map(&subject, catalog, resolved, style, medium, how)? {
            Some((shown, note)) => (shown, Some(note)),
            None => (field(&subject, resolved, style, medium, how)?, None),
        },
    };
    let is_counted = matches!(shown, Shown::Histogram(_));
    let title = match (&style.title, is_counted) {
        (Some(title), _) => title.clone(),
        (None, true) if subject.bins.is_none() => format!("histogram of {}", subject.title),
        (None, _) => subject.title.clone(),
    };
    let picture = Picture::new(shown).titled(&title).with_value(&subject.name, &subject.unit);
    let picture = match style.range.filter(|_| !is_counted) {
        Some((low, high)) => picture.with_scale(Scale::given(low, high)),
        None if style.is_diverging => picture.around_zero(),
        None => picture,
    };
    let picture = if style.has_coastlines { picture } else { picture.without_coastlines() };
    let picture = picture.with_palette(style.palette);
    Ok(Drawn { picture, integrity: subject.integrity(), note })
}

/// Refuses what is nothing, or one value.
fn check(subject: &Subject) -> Result<()> {
    if subject.axes.iter().any(|axis| axis.extent() == 0) {
        return Err(Failure::usage(
            "no-picture",
            "the selection is empty: there is nothing to draw",
        ));
    }
    if subject.axes.is_empty() {
        let failure =
            Failure::usage("no-picture", "the answer is one value: there is nothing to draw");
        return Err(failure.hint("keep an axis; `tet query` and `tet cat` print the value"));
    }
    Ok(())
}

fn histogram(
    subject: &Subject,
    style: &Style,
    medium: PlotMedium,
    how: &Execution,
) -> Result<Shown> {
    if let Some(bins) = &subject.bins {
        return match style.bins {
            None => Ok(Shown::Histogram(bins.clone())),
            Some(_) => {
                Err(Failure::usage("no-effect", "--bins has no effect on the bins of --histogram"))
            }
        };
    }
    let room = match medium {
        PlotMedium::Terminal { width, .. } => width.saturating_sub(BESIDE_BARS).max(1),
        PlotMedium::File(_) => BINS,
    };
    let bins = style.bins.unwrap_or(BINS.min(room));
    Ok(Shown::Histogram(subject.source().bins(style.range, bins, how)?))
}

fn line(subject: &Subject, medium: PlotMedium, how: &Execution) -> Result<Shown> {
    let [x] = &subject.axes[..] else { return Err(wrong_rank(subject, "a line has one axis")) };
    let series = subject.source().series(x.extent(), medium.columns(), how)?;
    Ok(Shown::Line { series, x: x.clone() })
}

fn field(
    subject: &Subject,
    resolved: &Resolved,
    style: &Style,
    medium: PlotMedium,
    how: &Execution,
) -> Result<Shown> {
    // One axis is a strip, which has nothing to say beside it.
    let strip = PlotAxis::labeled("", vec![String::new()]);
    let (y, x) = match &subject.axes[..] {
        [x] => (&strip, x),
        [y, x] => (y, x),
        _ => return Err(wrong_rank(subject, "a picture has one or two axes")),
    };
    let is_transposed = is_transposed(subject, resolved, style)?;
    let extents = [y.extent(), x.extent()];
    let room = if is_transposed {
        let [rows, columns] = medium.room(x, y);
        [columns, rows]
    } else {
        medium.room(y, x)
    };
    let field = subject.source().field(extents, room, how)?;
    let (y, x) = (y.clone(), x.clone());
    let (field, y, x) = if is_transposed { (field.transposed(), x, y) } else { (field, y, x) };
    let y = if style.is_inverted { y.inverted() } else { y };
    Ok(Shown::Heatmap { field, y, x })
}

/// Whether the first axis goes to the right: as `--x` or `--y` say, else where the other goes up or down in the world.
fn is_transposed(subject: &Subject, resolved: &Resolved, style: &Style) -> Result<bool> {
    let dataset = &resolved.dataset;
    let place = |asked: &Option<String>| {
        let Some(name) = asked else { return Ok(None) };
        let found = find_axis(&AxisRef::from(name.as_str()), &dataset.dims, dataset.shape().len());
        let place =
            found.ok().and_then(|axis| subject.numbers.iter().position(|it| *it == Some(axis)));
        match place {
            Some(place) => Ok(Some(place)),
            None => {
                let text = format!("\"{}\" is no axis of this picture", Escaped(name));
                Err(Failure::usage("no-such-axis", text)
                    .hint(format!("its axes are {}", axes_text(subject))))
            }
        }
    };
    match (place(&style.x)?, place(&style.y)?) {
        (Some(x), Some(y)) if x == y => {
            Err(Failure::usage("axis-twice", "--x and --y name the same axis"))
        }
        (None, None) => Ok(matches!(&subject.axes[..], [y, x] if PlotAxis::are_sideways(y, x))),
        (x, y) => Ok(x == Some(0) && subject.axes.len() == 2 || y == Some(1)),
    }
}

fn wrong_rank(subject: &Subject, rule: &str) -> Failure {
    let text = format!("{rule}, and this has {}: {}", subject.axes.len(), axes_text(subject));
    let hint = "select one position of an axis, as in 'temp[0]', or reduce it, as in \
                `tet plot FILE temp --mean time`";
    Failure::usage("picture-axes", text).hint(hint)
}

/// The axes, as `month 12, lat 30`.
fn axes_text(subject: &Subject) -> String {
    let text = |axis: &PlotAxis| format!("{} {}", axis.name(), axis.extent());
    subject.axes.iter().map(text).collect::<Vec<_>>().join(", ")
}
