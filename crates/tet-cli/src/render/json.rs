//! JSON output: its types, which are a stable interface, and a writer that escapes control characters.

mod convert;
mod diff;
mod dump;
mod edit;
mod explain;
mod info;
mod query;
#[cfg(feature = "zarr")]
mod refs;
mod repair;
mod stats;
mod verify;

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter};

use crate::escape::acts;

pub(crate) use convert::{Converted, ConvertedDataset};
pub(crate) use diff::{
    ChangeShape, DatasetDiffShape, DiffBlockShape, DiffReport, DifferingAttr, DifferingLabels,
    DifferingPlace, DifferingValue, ElementDiffShape, NotCompared,
};
pub(crate) use dump::{AskedByte, DumpedField, FieldValue, RemarkShape};
pub(crate) use edit::{EditLine, Edited};
pub(crate) use explain::{AdviceShape, AxisCostShape, Explained};
pub(crate) use info::{
    Attr, AxisEntry, ChunkEntry, DatasetInfo, HistoryEntry, Info, LayoutEntry, MemoryHint,
    SparseEntry,
};
pub(crate) use query::{
    AlignmentShape, AnswerShape, AxisPairShape, ChunkPlan, DatasetShape, DecodedShape, EdgesShape,
    GroupShape, OneOrMany, PlanShape, QueryAnswer, SelectionShape, StatisticsShape, ValuesShape,
    WindowShape, WrittenShape,
};
#[cfg(feature = "zarr")]
pub(crate) use refs::{Referenced, Sidecar};
pub(crate) use repair::{ChangedPartShape, DigestShape, EditShape, LostShape, Repaired, SpanShape};
pub(crate) use stats::{BinsShape, DatasetStats, OnlyShape, QuartilesShape, Stats};
pub(crate) use verify::{FindingShape, OmittedShape, Verified};

/// Writes a value on one line.
///
/// # Errors
///
/// Writing to the stream fails.
pub(crate) fn write_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    write_with(out, value, CompactFormatter)
}

/// Writes a value over several lines: one line for each member, arrays on one line.
///
/// # Errors
///
/// Writing to the stream fails.
pub(crate) fn write_pretty(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    write_with(out, value, Indented::default())
}

fn write_with(
    mut out: &mut dyn Write,
    value: &impl Serialize,
    inner: impl Formatter,
) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, Escaping(inner));
    value.serialize(&mut serializer).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

/// Writes each member on its own line, indented by two, and each array on one line.
#[derive(Default)]
struct Indented {
    depth: usize,
    has_members: bool,
}

impl Indented {
    fn line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        write!(writer, "\n{:1$}", "", 2 * self.depth)
    }
}

impl Formatter for Indented {
    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.has_members = false;
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.has_members {
            self.line(writer)?;
        }
        self.has_members = true;
        writer.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        self.line(writer)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.has_members = true;
        Ok(())
    }
}

/// Escapes characters that JSON allows but that control a terminal: C1, bidi, line separators.
struct Escaping<F>(F);

macro_rules! delegate {
    ($($name:ident($($arg:ident: $kind:ty),*);)*) => {$(
        fn $name<W: ?Sized + Write>(&mut self, writer: &mut W $(, $arg: $kind)*) -> io::Result<()> {
            self.0.$name(writer $(, $arg)*)
        }
    )*};
}

impl<F: Formatter> Formatter for Escaping<F> {
    delegate! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|&(_, c)| acts(c)) {
            let (before, after) = rest.split_at(at);
            writer.write_all(before.as_bytes())?;
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = after.get(c.len_utf8()..).unwrap_or_default();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h13_json_text_is_harmless_and_reads_back() {
        let text = "a\u{202e}b\u{9b}c\u{2028}d\u{7f}e\u{e0001}f\n\u{1b}\"\\";
        for pretty in [false, true] {
            let mut out = Vec::new();
            let written =
                if pretty { write_pretty(&mut out, &text) } else { write_line(&mut out, &text) };
            written.expect("a vector takes all");
            let json = String::from_utf8(out).expect("text");
            assert!(!json.trim_end().chars().any(acts), "{json:?}");
            let back: String = serde_json::from_str(&json).expect("is JSON");
            assert_eq!(back, text);
        }
    }

    #[test]
    fn members_have_lines_and_elements_stand_side_by_side() {
        let value = serde_json::json!({"a": [1, 2], "b": {}, "c": [{"d": []}, {"e": null}]});
        let mut out = Vec::new();
        write_pretty(&mut out, &value).expect("a vector takes all");
        let want = r#"{
  "a": [1, 2],
  "b": {},
  "c": [{
    "d": []
  }, {
    "e": null
  }]
}
"#;
        assert_eq!(String::from_utf8(out).expect("text"), want);
    }
}
