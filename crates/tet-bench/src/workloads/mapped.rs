//! A file on a map that is kept, compared with a scan of its pages.

use std::hint::black_box;
use std::path::Path;

use anyhow::{Context, Result};
use tet_query::{Catalog, Execution, Hyperslab, Reduction};

use super::{Measured, without_digests};
use crate::data::{self, Io};
use crate::limit::Scan;
use crate::measure::{Rounds, paired};

/// An open file and the fastest scan of it.
pub(super) struct MappedCatalog {
    catalog: Catalog,
    scan: Scan,
}

impl MappedCatalog {
    /// Opens the file and tries the scans.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let catalog = data::catalog(path, Io::Mapped)?;
        let scan = Scan::fastest(catalog.source().view().context("the lease was broken")?.whole());
        Ok(Self { catalog, scan })
    }

    /// Reduces all of the first dataset.
    pub(super) fn reduce(&self, reduction: &Reduction) -> Result<()> {
        reduce(&self.catalog, reduction)
    }

    /// The reduction of everything, compared with the scan.
    pub(super) fn beside_scan(&self, run: Measured<'_>, reduction: &Reduction) -> Result<Rounds> {
        let view = self.catalog.source().view().context("the lease was broken")?;
        let limit = || {
            self.scan.run(view.whole());
            Ok(())
        };
        paired(run.rounds, limit, || self.reduce(reduction))
    }
}

/// Reduces all of the first dataset; what comparing digests adds is D1.
pub(super) fn reduce(catalog: &Catalog, reduction: &Reduction) -> Result<()> {
    reduce_with(catalog, reduction, &without_digests())
}

/// Reduces with other settings of execution.
pub(super) fn reduce_with(catalog: &Catalog, reduction: &Reduction, how: &Execution) -> Result<()> {
    let dataset = data::first(catalog)?;
    let slab = Hyperslab::whole(dataset.shape());
    black_box(dataset.reduce(&slab, reduction, how)?);
    Ok(())
}
