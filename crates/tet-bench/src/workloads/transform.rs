//! Q2, a transform that is written.

use std::sync::Arc;

use anyhow::Result;
use tet_convert::{ResultCatalog, ResultOptions};
use tet_format::DType;
use tet_io::Overwrite;
use tet_query::{Axes, Choice, Hyperslab, LazyArray, Method, NanPolicy, Transform};

use super::{Measured, all_threads};
use crate::data::{self, Io, TILED};
use crate::limit;
use crate::measure::paired;
use crate::report::{Figure, ReportRow};

/// Q2: standard scores of everything as raw elements, durable.
pub(super) fn scores(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let (work, plain) = (run.folder.scratch("q2.raw"), run.folder.scratch("q2.bin"));
    let score = Transform { method: Method::ZScore, axes: Axes::All, nan: NanPolicy::Propagate };
    let options = ResultOptions {
        overwrite: Overwrite::Replace,
        execution: all_threads(),
        ..ResultOptions::default()
    };
    let path = run.folder.array(DType::Float32, "tiled", TILED)?;
    let catalog = data::catalog(&path, Io::Mapped)?;
    let dataset = data::first(&catalog)?;
    let slab = Hyperslab::whole(dataset.shape());
    let bytes = dataset.read(&slab, &all_threads())?;
    let write = || -> Result<()> {
        let _ = std::fs::remove_file(&work);
        let (choice, how) = (Choice::default(), &options.execution);
        let lazy = LazyArray::new(dataset, &slab, choice, Some(score.clone()), how)?;
        ResultCatalog::of_array(&catalog, &Arc::new(lazy), &options)?.write(&work, &options)?;
        Ok(())
    };
    let plainly = || {
        let _ = std::fs::remove_file(&plain);
        limit::write(&plain, [bytes.bytes()])
    };
    let rounds = paired(run.rounds, plainly, write);
    let _ = (std::fs::remove_file(&work), std::fs::remove_file(&plain));
    let work = "zscore of float32 tiled to a raw file, synced";
    Ok(vec![ReportRow::new("Q2", work, "write", Figure::Ratio, rounds?, 0.7)])
}
