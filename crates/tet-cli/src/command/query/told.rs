//! Everything that can be told about a question and its answer, in the form that is asked for.

use std::path::Path;

use tet_convert::Opened;
use tet_document::Resolved;
use tet_query::{Execution, Integrity, ReadPlan};

use super::answer::Answer;
use super::plan::{self, Reads};
use crate::args::{QueryFormat, ShowArgs};
use crate::context::Context;
use crate::exit::Result;
use crate::render::json::{DatasetShape, QueryAnswer, SelectionShape};

/// A question, its plan, and its answer when there is one.
pub(super) struct Told<'a> {
    /// The file, as the user wrote it.
    pub(super) file: &'a Path,
    /// The same, open.
    pub(super) opened: &'a Opened,
    /// The question.
    pub(super) resolved: &'a Resolved,
    /// What is read.
    pub(super) plan: ReadPlan,
    /// How it is read.
    pub(super) how: &'a Execution,
    /// What should be known about the answer.
    pub(super) warnings: Vec<String>,
    /// How it is shown.
    pub(super) show: &'a ShowArgs,
    /// How far digests stand behind it.
    pub(super) integrity: Integrity,
    /// The answer; none when only the plan was asked for.
    pub(super) answer: Option<Answer>,
}

impl Told<'_> {
    /// Tells it.
    ///
    /// # Errors
    ///
    /// Standard output does not take it.
    pub(super) fn tell(self, format: QueryFormat, context: &mut Context<'_>) -> Result<()> {
        if format != QueryFormat::Json {
            for warning in &self.warnings {
                context.warn(warning);
            }
        }
        let (with_chunks, preview) = (self.show.plan_chunks, self.show.preview());
        match (&self.answer, format) {
            (Some(answer), _) if answer.is_printed() => return Ok(()),
            (_, QueryFormat::Json) => return context.json(&self.into_shape()?),
            (Some(answer), QueryFormat::Quiet) => return answer.write_quiet(context),
            (Some(answer), QueryFormat::Table) => return answer.write_table(context),
            (Some(answer), format) => {
                answer.write_text(context, preview)?;
                if self.integrity == Integrity::Unchecked {
                    let line =
                        "  unchecked: not all bytes of this answer were compared with a checksum";
                    context.line(context.paint.faint(line))?;
                }
                if format == QueryFormat::Text && !with_chunks {
                    return Ok(());
                }
            }
            (None, _) => {}
        }
        plan::write_text(&self.plan, &self.reads()?, self.resolved, context)
    }

    /// What the plan reads.
    fn reads(&self) -> Result<Reads> {
        Reads::of(self.resolved, &self.plan, self.how, self.show.plan_chunks)
    }

    fn into_shape(self) -> Result<QueryAnswer> {
        let plan = plan::shape(&self.plan, &self.reads()?, self.resolved);
        Ok(QueryAnswer {
            schema: "tet.query/1",
            file: self.file.to_string_lossy().into_owned(),
            format: self.opened.catalog.format(),
            dataset: dataset(self.resolved),
            selection: selection(self.resolved),
            plan,
            result: self.answer.map(Answer::into_shape),
            integrity: self.integrity.name(),
            warnings: self.warnings,
        })
    }
}

/// The dataset for programs.
pub(crate) fn dataset(resolved: &Resolved) -> DatasetShape {
    let dataset = &resolved.dataset;
    DatasetShape {
        name: dataset.name.clone(),
        dtype: dataset.dtype_name.clone(),
        shape: dataset.shape().to_vec(),
        chunk_shape: dataset.grid.chunk_shape().to_vec(),
        dims: dataset.dims.clone(),
    }
}

/// The selection for programs.
pub(crate) fn selection(resolved: &Resolved) -> SelectionShape {
    let slab = &resolved.slab;
    let axes = slab.axes();
    SelectionShape {
        start: axes.iter().map(|slice| slice.start).collect(),
        stop: axes.iter().map(|slice| slice.stop).collect(),
        step: axes.iter().map(|slice| slice.step).collect(),
        shape: slab.counts(),
        dropped_axes: slab.dropped_axes(),
    }
}
