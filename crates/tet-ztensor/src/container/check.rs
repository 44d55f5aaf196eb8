//! Checks a zTensor file: its faults as findings.

use crate::{Fault, Limits, Tensor};
use tet_io::Source;
use tet_verify::{ForeignFound, Report, VerifyOptions};

use tet_container::Result;

/// Checks a file.
pub(crate) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    Ok(crate::verify(source, &options.with_limits(Limits::default()))?)
}

/// A fault of an entry as a finding.
pub(super) fn found(tensor: &Tensor<'_>, fault: Fault) -> ForeignFound {
    let position = u64::try_from(tensor.position()).unwrap_or(u64::MAX);
    let dataset = Some((position, tensor.name().to_owned()));
    ForeignFound { fault: fault.into(), field: "entry", len: 1, dataset }
}
