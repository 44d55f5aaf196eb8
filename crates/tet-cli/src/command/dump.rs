//! `tet dump`: the bytes of a file with their meaning, field by field.

mod at;
mod field;
mod walk;
mod window;

use tet_format::{Error as Fault, Limits};
use tet_io::Source;
use tet_verify::Severity;
use tet_verify::file_map::{Annotation, FileMap, Segment};

use crate::args::DumpArgs;
use crate::context::Context;
use crate::escape::Message;
use crate::exit::{Exit, Failure, Result};
use crate::failure::broken_rule;
use crate::render::hex;
use crate::render::json::{self, AskedByte};
use field::{Fill, Owner, SHOWN_MAX, ShownField};
use window::Window;

/// The most bytes of padding that are checked for zeros.
const CHECKED_LEN_MAX: u64 = 64 << 20;

/// The widths of the columns of hex and of names.
const HEX_WIDTH: usize = 3 * hex::LINE_LEN - 1;
const FIELD_WIDTH: usize = 17;

/// Runs the command.
///
/// # Errors
///
/// The file cannot be read, breaks a rule, or lacks the requested byte or dataset.
pub(crate) fn run(args: &DumpArgs, context: &mut Context<'_>) -> Result<Exit> {
    dump(args, context).map_err(|failure| failure.about(&args.file))
}

fn dump(args: &DumpArgs, context: &mut Context<'_>) -> Result<Exit> {
    let source = Source::open(context.env().at(&args.file))?;
    let format = tet_convert::sniff(&source)?;
    if !format.may_be_tet() {
        let text =
            format!("{} is {format}, and `tet dump` is for .tet files", tet_io::shown(&args.file));
        let hint = "`tet info --layout` lists its regions, --chunks the offsets of its data";
        return Err(Failure::usage("not-dumpable", text).hint(hint));
    }
    let file_map = FileMap::read(&source, &Limits::default())?;
    let offset_width = format!("{:x}", source.len()).len().max(8);
    let window = Window::new(&source);
    let faults = Faults::default();
    let (file_map, file_len) = (&file_map, source.len());
    let mut dump = Dump { args, file_map, window, file_len, offset_width, faults, context };
    match args.at {
        Some(offset) => at::print_byte(&mut dump, offset)?,
        None => walk::walk(&mut dump)?,
    }
    let faults = dump.faults;
    source.check_unchanged()?;
    faults.end(file_map.annotations())
}

/// The state of a dump.
struct Dump<'a, 'c, 's> {
    args: &'a DumpArgs,
    file_map: &'a FileMap<'a>,
    window: Window<'a>,
    file_len: u64,
    /// Digits of an offset.
    offset_width: usize,
    faults: Faults,
    context: &'c mut Context<'s>,
}

/// The broken rules that were printed.
#[derive(Debug, Default)]
struct Faults {
    first: Option<Fault>,
    count: u64,
}

impl Faults {
    fn take(&mut self, annotations: &[Annotation]) {
        for fault in annotations.iter().filter_map(Annotation::fault) {
            self.first.get_or_insert(fault);
            self.count += 1;
        }
    }

    /// The result of the command: the first broken rule is a failure. `annotations` are those of the regions
    /// in memory, printed or not.
    fn end(&self, annotations: &[Annotation]) -> Result<Exit> {
        let mut all = Faults::default();
        all.take(annotations);
        let Some(fault) = all.first.or(self.first) else { return Ok(Exit::Done) };
        let failure = broken_rule(&fault, fault.to_string());
        let failure = match all.count.max(self.count) {
            0 | 1 => failure,
            _ => failure.note("more than one rule is broken: `tet verify` lists all of them"),
        };
        Err(failure)
    }
}

impl Dump<'_, '_, '_> {
    /// Prints one field: its lines and its annotations, or one JSON object.
    fn print(&mut self, segment: &Segment, owner: &Owner, at: Option<AskedByte>) -> Result<()> {
        let fill = self.fill(segment)?;
        let len = segment.place.len.min(SHOWN_MAX);
        let bytes = self.window.bytes(segment.place.offset, len)?.to_vec();
        let shown = ShownField { segment, owner, bytes: &bytes, fill };
        if self.args.json {
            self.faults.take(&segment.annotations);
            let out = self.context.streams.out.as_mut();
            return Ok(json::write_line(out, &shown.shape(at))?);
        }
        for (offset, bytes, field, value) in shown.lines() {
            let line = self.line(offset, &hex::spaced(bytes), &field, &value);
            self.context.line(line)?;
        }
        self.print_annotations(&segment.annotations)
    }

    /// Prints the annotations on the field above.
    fn print_annotations(&mut self, annotations: &[Annotation]) -> Result<()> {
        self.faults.take(annotations);
        for annotation in annotations {
            let (severity, paint) = (annotation.code.severity(), self.context.paint);
            let text = annotation.to_string();
            let text = Message(&text);
            let line = match severity {
                Severity::Error => format!("    {} {text}", paint.wrong(severity)),
                Severity::Warning => format!("    {} {text}", paint.warning(severity)),
                Severity::Note => format!("    {severity} {text}"),
            };
            self.context.line(line)?;
        }
        Ok(())
    }

    /// `00000000  54 45 54 52  magic  "TETR"`, indented.
    fn line(&self, offset: u64, hex: &str, field: &str, value: &str) -> String {
        let width = self.offset_width;
        let text = format!("  {hex:<HEX_WIDTH$}  {field:<FIELD_WIDTH$}  {value}");
        let offset = self.context.paint.faint(format!("{offset:0width$x}"));
        format!("    {offset}{}", text.trim_end())
    }

    /// A line of text.
    fn text_line(&self, offset: u64, text: &str) -> String {
        let width = self.offset_width;
        format!("    {}  {text}", self.context.paint.faint(format!("{offset:0width$x}")))
    }

    /// Prints that more lines follow.
    fn print_more(&mut self) -> Result<()> {
        if self.args.json {
            return Ok(());
        }
        let line = self.context.paint.faint("    ... more: -n 0 shows all").to_string();
        self.context.line(line)
    }

    /// Checks whether padding is zero.
    fn fill(&mut self, segment: &Segment) -> Result<Fill> {
        let place = &segment.place;
        if !matches!(place.field, "name_padding" | "padding" | "unused") {
            return Ok(Fill::Unknown);
        }
        let end = place.offset.saturating_add(place.len.min(CHECKED_LEN_MAX));
        Ok(match self.window.first_nonzero(place.offset, end)? {
            Some(at) => Fill::NotZeroAt(at),
            None if end < place.end() => Fill::ZeroSoFar,
            None => Fill::Zero,
        })
    }

    /// Prints a heading.
    fn print_heading(&mut self, text: &str) -> Result<()> {
        if self.args.json {
            return Ok(());
        }
        let line = self.context.paint.strong(text).to_string();
        self.context.line(line)
    }
}

fn usage(code: &str, text: String) -> Failure {
    Failure::usage(code, text)
}
