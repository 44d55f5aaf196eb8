//! Checks of a whole safetensors file.

use tet_format::{DType, ForeignFault};
use tet_io::{Progress, Source};
use tet_verify::{
    ForeignFindings, ForeignFound, ForeignSeen, Integrity, Level, Report, VerifyOptions,
};

use super::header::{self, Tensor};
use super::rule;
use tet_container::Result;

/// Checks a file.
pub(crate) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut findings = ForeignFindings::new(options);
    let header = header::read(source, &mut |found| findings.take(found))?;
    let mut seen = ForeignSeen {
        file_len: source.len(),
        integrity: Integrity::Unprotected,
        ..ForeignSeen::default()
    };
    if let Ok(header) = header {
        let count = u64::try_from(header.tensors.len()).unwrap_or(u64::MAX);
        (seen.dataset_count, seen.chunk_count) = (count, count);
        (seen.stored_len, seen.decoded_len) = (header.buffer.len(), header.buffer.len());
        if options.level == Level::Deep {
            let progress = options.progress.begin(seen.stored_len);
            for (tensor, index) in header.tensors.iter().zip(0..) {
                elements(source, tensor, index, &progress, &mut |it| findings.take(it))?;
                seen.payload_len = seen.payload_len.saturating_add(tensor.stored.len());
            }
        }
    }
    source.check_unchanged()?;
    Ok(findings.report(&seen))
}

/// Reads a tensor's bytes; of a bool each is looked at.
pub(super) fn elements(
    source: &Source,
    tensor: &Tensor,
    index: u64,
    progress: &Progress,
    found: &mut dyn FnMut(ForeignFound),
) -> Result<()> {
    let is_bool = tensor.stored_type().and_then(|it| it.dtype()) == Some(DType::Bool);
    let (mut window, mut is_reported) = (Vec::new(), !is_bool);
    progress.pieces(source, tensor.stored, &mut window, |at, bytes| {
        let odd = if is_reported { None } else { bytes.iter().position(|&byte| 1 < byte) };
        if let Some(odd) = odd {
            let byte = u64::from(bytes[odd]);
            let at = at.saturating_add(u64::try_from(odd).unwrap_or(u64::MAX));
            let fault = ForeignFault { rule: &rule::BOOL_BYTE, at, found: byte, wanted: 1 };
            let dataset = Some((index, tensor.name.clone()));
            found(ForeignFound { fault, field: "stored", len: 1, dataset });
            is_reported = true;
        }
        true
    })
}
