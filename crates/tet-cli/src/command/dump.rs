//! `tet dump`: the bytes of a file with their meaning, field by field.

mod at;
mod told;
mod walk;
mod window;

use tet_convert::Format;
use tet_format::{Error as Fault, Limits};
use tet_io::Source;
use tet_verify::Severity;
use tet_verify::anatomy::{Anatomy, Remark, Stretch};

use crate::args::DumpArgs;
use crate::context::Context;
use crate::escape::Message;
use crate::exit::{Exit, Failure, Result};
use crate::failure::broken_rule;
use crate::render::hex;
use crate::render::json::{self, AskedByte};
use told::{Fill, Owner, SHOWN_MAX, Told};
use window::Window;

/// The most bytes of a gap that are looked at for being zero.
const LOOKED_AT_MAX: u64 = 64 << 20;

/// The column of hex, and that of names.
const HEX_WIDTH: usize = 3 * hex::LINE_LEN - 1;
const FIELD_WIDTH: usize = 17;

/// Runs the command.
///
/// # Errors
///
/// The file cannot be read, breaks a rule, or has no byte or dataset that was asked for.
pub(crate) fn run(args: &DumpArgs, context: &mut Context<'_>) -> Result<Exit> {
    dump(args, context).map_err(|failure| failure.about(&args.file))
}

fn dump(args: &DumpArgs, context: &mut Context<'_>) -> Result<Exit> {
    let source = Source::open(context.world().at(&args.file))?;
    match tet_convert::sniff(&source)? {
        // Whatever else has lost its first bytes may be a `.tet` file.
        Format::TET | Format::EMPTY | Format::UNKNOWN => {}
        format => {
            let text = format!(
                "{} is {format}, and only .tet files are taken apart",
                tet_io::shown(&args.file)
            );
            let hint =
                "`tet info --layout` tells its regions, `tet info --chunks` where elements lie";
            return Err(Failure::usage("not-dumpable", text).hint(hint));
        }
    }
    let anatomy = Anatomy::read(&source, &Limits::default())?;
    let offset_width = format!("{:x}", source.len()).len().max(8);
    let window = Window::new(&source);
    let faults = Faults::default();
    let (anatomy, file_len) = (&anatomy, source.len());
    let mut dump = Dump { args, anatomy, window, file_len, offset_width, faults, context };
    match args.at {
        Some(offset) => at::tell(&mut dump, offset)?,
        None => walk::walk(&mut dump)?,
    }
    let faults = dump.faults;
    source.check_unchanged()?;
    faults.end(anatomy.remarks())
}

/// A dump at work.
struct Dump<'a, 'c, 's> {
    args: &'a DumpArgs,
    anatomy: &'a Anatomy<'a>,
    window: Window<'a>,
    file_len: u64,
    /// Digits of an offset.
    offset_width: usize,
    faults: Faults,
    context: &'c mut Context<'s>,
}

/// The broken rules that were told.
#[derive(Debug, Default)]
struct Faults {
    first: Option<Fault>,
    count: u64,
}

impl Faults {
    fn take(&mut self, remarks: &[Remark]) {
        for fault in remarks.iter().filter_map(Remark::fault) {
            self.first.get_or_insert(fault);
            self.count += 1;
        }
    }

    /// How it went: done, or the first broken rule. `remarks` are those of the parts in memory,
    /// told or not.
    fn end(&self, remarks: &[Remark]) -> Result<Exit> {
        let mut all = Faults::default();
        all.take(remarks);
        let Some(fault) = all.first.or(self.first) else { return Ok(Exit::Done) };
        let failure = broken_rule(&fault, fault.to_string());
        let failure = match all.count.max(self.count) {
            0 | 1 => failure,
            _ => failure.note("more than one rule is broken: `tet verify` tells all of them"),
        };
        Err(failure)
    }
}

impl Dump<'_, '_, '_> {
    /// Tells one field: its lines and what is wrong with it, or an object.
    fn field(&mut self, stretch: &Stretch, owner: &Owner, at: Option<AskedByte>) -> Result<()> {
        let fill = self.fill(stretch)?;
        let len = stretch.place.len.min(SHOWN_MAX);
        let bytes = self.window.bytes(stretch.place.offset, len)?.to_vec();
        let told = Told { stretch, owner, bytes: &bytes, fill };
        if self.args.json {
            self.faults.take(&stretch.remarks);
            let out = self.context.streams.out.as_mut();
            return Ok(json::write_line(out, &told.shape(at))?);
        }
        for (offset, bytes, field, says) in told.lines() {
            let line = self.line(offset, &hex::spaced(bytes), &field, &says);
            self.context.line(line)?;
        }
        self.remarks(&stretch.remarks)
    }

    /// Tells what is wrong with what was told before.
    fn remarks(&mut self, remarks: &[Remark]) -> Result<()> {
        self.faults.take(remarks);
        for remark in remarks {
            let (severity, paint) = (remark.code.severity(), self.context.paint);
            let text = remark.to_string();
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
    fn line(&self, offset: u64, hex: &str, field: &str, says: &str) -> String {
        let width = self.offset_width;
        let text = format!("  {hex:<HEX_WIDTH$}  {field:<FIELD_WIDTH$}  {says}");
        let offset = self.context.paint.faint(format!("{offset:0width$x}"));
        format!("    {offset}{}", text.trim_end())
    }

    /// A line of text.
    fn text_line(&self, offset: u64, text: &str) -> String {
        let width = self.offset_width;
        format!("    {}  {text}", self.context.paint.faint(format!("{offset:0width$x}")))
    }

    /// Says that not all is shown.
    fn more(&mut self) -> Result<()> {
        if self.args.json {
            return Ok(());
        }
        let line = self.context.paint.faint("    ... more: -n 0 shows all").to_string();
        self.context.line(line)
    }

    /// Looks whether a stretch that should be zero is.
    fn fill(&mut self, stretch: &Stretch) -> Result<Fill> {
        let place = &stretch.place;
        if !matches!(place.field, "name_padding" | "padding" | "unused") {
            return Ok(Fill::Unknown);
        }
        let end = place.offset.saturating_add(place.len.min(LOOKED_AT_MAX));
        Ok(match self.window.first_nonzero(place.offset, end)? {
            Some(at) => Fill::NotZeroAt(at),
            None if end < place.end() => Fill::ZeroSoFar,
            None => Fill::Zero,
        })
    }

    /// A line that names a part of the file.
    fn heading(&mut self, text: &str) -> Result<()> {
        if self.args.json {
            return Ok(());
        }
        let line = self.context.paint.strong(text).to_string();
        self.context.line(line)
    }
}

/// What no part of the file has: a wrong question.
fn usage(code: &str, text: String) -> Failure {
    Failure::usage(code, text)
}
