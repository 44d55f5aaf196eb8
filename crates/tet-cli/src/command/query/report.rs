//! Prints a query, its plan and its answer in the requested format.

use std::path::Path;

use tet_convert::Opened;
use tet_document::Resolved;
use tet_format::DType;
use tet_query::{Execution, Integrity, ReadPlan};

use super::answer::Answer;
use super::plan::{self, Reads};
use crate::args::{QueryFormat, ShowArgs};
use crate::context::Context;
use crate::exit::Result;
use crate::open;
use crate::render::json::{DatasetShape, DecodedShape, QueryAnswer, SelectionShape};

/// A query, its plan and its answer.
pub(super) struct QueryReport<'a> {
    /// The file, as the user wrote it.
    pub(super) file: &'a Path,
    /// The open file.
    pub(super) opened: &'a Opened,
    /// The query.
    pub(super) resolved: &'a Resolved,
    /// The plan.
    pub(super) plan: ReadPlan,
    /// How it is read.
    pub(super) how: &'a Execution,
    /// Warnings about the answer.
    pub(super) warnings: Vec<String>,
    /// The options of the output.
    pub(super) show: &'a ShowArgs,
    /// Whether it is the only one that is printed.
    pub(super) is_one: bool,
    /// The integrity state of the answer.
    pub(super) integrity: Integrity,
    /// The answer.
    pub(super) answer: Answer,
}

impl QueryReport<'_> {
    /// Prints the report.
    ///
    /// # Errors
    ///
    /// Writing to standard output fails.
    pub(super) fn print(self, format: QueryFormat, context: &mut Context<'_>) -> Result<()> {
        if format != QueryFormat::Json {
            for warning in &self.warnings {
                context.warn(warning);
            }
            context.selection_notes(&self.resolved.notes);
        }
        let answer = &self.answer;
        // The notes on what was written have it, and are not printed with --quiet.
        let is_unsaid = match answer.is_printed() {
            true => context.quiet,
            false => matches!(format, QueryFormat::Quiet | QueryFormat::Table),
        };
        if is_unsaid {
            open::report_unchecked(self.integrity, context);
        }
        match format {
            _ if answer.is_printed() => return Ok(()),
            QueryFormat::Json if self.is_one => return context.json(&self.into_shape()?),
            QueryFormat::Json => return context.json_line(&self.into_shape()?),
            QueryFormat::Quiet => return answer.write_quiet(context),
            QueryFormat::Table => return answer.write_table(context),
            QueryFormat::Text | QueryFormat::Stats => {}
        }
        // The values are in the file, unless they are to be printed too.
        let is_asked = self.show.preview.is_some() || self.show.full;
        let is_in_file = answer.is_written() && !is_asked;
        answer.write_text(context, if is_in_file { 0 } else { self.show.preview() })?;
        if let Some(text) = answer.statistics_text() {
            context.line(context.paint.faint(format!("  {text}")))?;
        }
        if self.integrity == Integrity::Unchecked {
            let line = "  unchecked: not all bytes of this answer were compared with a checksum";
            context.line(context.paint.faint(line))?;
        }
        match format {
            QueryFormat::Stats => {
                let reads = Reads::new(self.resolved, self.plan, self.how, false)?;
                plan::write_text(&reads, self.resolved, context)
            }
            _ => Ok(()),
        }
    }

    fn into_shape(self) -> Result<QueryAnswer> {
        let reads = Reads::new(self.resolved, self.plan, self.how, false)?;
        let notes = self.resolved.notes.iter().map(ToString::to_string);
        Ok(QueryAnswer {
            schema: "tet.query/1",
            file: tet_io::without_secrets(self.file).into_owned(),
            format: self.opened.catalog.format(),
            dataset: dataset(self.resolved),
            selection: selection(self.resolved),
            plan: plan::shape(&reads, self.resolved),
            result: self.answer.into_shape(),
            integrity: self.integrity.name(),
            warnings: self.warnings.into_iter().chain(notes).collect(),
        })
    }
}

/// The dataset as JSON.
pub(crate) fn dataset(resolved: &Resolved) -> DatasetShape {
    let dataset = &resolved.dataset;
    DatasetShape {
        name: dataset.name.clone(),
        dtype: dataset.dtype_name.clone(),
        shape: dataset.shape().to_vec(),
        chunk_shape: dataset.grid.chunk_shape().to_vec(),
        dims: dataset.dims.clone(),
        decoded: dataset.meaning.as_ref().map(|meaning| DecodedShape {
            stored: meaning.stored.dtype.map_or("", DType::name),
            scale: meaning.scale,
            offset: meaning.offset,
            masked: meaning.masked.clone(),
        }),
    }
}

/// The selection as JSON.
pub(crate) fn selection(resolved: &Resolved) -> SelectionShape {
    let slab = &resolved.slab;
    let axes = slab.axes();
    SelectionShape {
        start: axes.iter().map(|slice| slice.start).collect(),
        stop: axes.iter().map(|slice| slice.stop).collect(),
        step: axes.iter().map(|slice| slice.step).collect(),
        shape: plan::counts(resolved),
        dropped_axes: slab.dropped_axes(),
    }
}
