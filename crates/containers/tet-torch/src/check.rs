//! Checks of a whole checkpoint: its archive, its pickle, its tensors, and the CRC-32 of its members.

use tet_format::{ForeignFault, Span, usual_decoded_max};
use tet_io::Source;
use tet_query::Execution;
use tet_verify::{
    ForeignFindings, ForeignFound, ForeignSeen, Integrity, Level, Report, VerifyOptions,
};

use super::catalog::{self, Unread};
use super::checkpoint::{Checkpoint, Member};
use super::rule;
use super::tree::Item;
use tet_container::read::opened::OpenOptions;
use tet_container::{Error, Result};

/// Checks a file.
pub(super) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut findings = ForeignFindings::new(options);
    let file_len = source.len();
    let integrity = Integrity::Unprotected;
    let mut seen = ForeignSeen { file_len, integrity, ..ForeignSeen::default() };
    let checkpoint = catalog::read(source, &OpenOptions::default())?;
    let tree = checkpoint.as_ref().map_err(|fault| *fault);
    let tree = tree.and_then(|it| Ok((it, catalog::tree(it, source)?)));
    match tree {
        Err(fault) => {
            findings.take(ForeignFound { fault, field: fault.rule.region, len: 0, dataset: None });
        }
        Ok((checkpoint, tree)) => {
            let count = u64::try_from(tree.items.len()).unwrap_or(u64::MAX);
            (seen.dataset_count, seen.chunk_count) = (count, count);
            let stored = |len: u64, span: u64| len.saturating_add(span);
            let lens = checkpoint.storages.values().flatten().map(|it| it.span.len());
            seen.stored_len = lens.fold(0, stored);
            let lens = tree.items.iter().map(|(_, it)| catalog::len(it, checkpoint));
            seen.decoded_len = lens.fold(0, stored);
            catalog::check_tree(&tree, checkpoint, &mut |found| findings.take(found));
            for ((name, item), number) in tree.items.iter().zip(0_u64..) {
                let Item::Tensor(tensor) = item else { continue };
                if let Some(Unread::Broken(fault)) = catalog::why(tensor, checkpoint) {
                    let dataset = Some((number, name.clone()));
                    findings.take(ForeignFound {
                        fault,
                        field: fault.rule.region,
                        len: 0,
                        dataset,
                    });
                }
            }
            // Files of before version 1.6 have no checksums.
            let has_sums = !checkpoint.members.is_empty();
            seen.integrity = if has_sums { Integrity::Unchecked } else { Integrity::Unprotected };
            if let (Level::Deep, false, Some(all)) =
                (options.level, has_sums, Span::new(0, file_len))
            {
                let progress = options.progress.begin(file_len);
                progress.pieces::<Error>(source, all, &mut Vec::new(), |_, _| true)?;
                seen.payload_len = seen.stored_len;
            } else if options.level == Level::Deep {
                seen.integrity = sums(source, checkpoint, options, &mut |it| findings.take(it))?;
                seen.payload_len = seen.stored_len;
            }
        }
    }
    source.check_unchanged()?;
    Ok(findings.report(&seen))
}

/// Compares all members with the CRC-32 that the archive lists.
fn sums(
    source: &Source,
    checkpoint: &Checkpoint,
    options: &VerifyOptions,
    found: &mut dyn FnMut(ForeignFound),
) -> Result<Integrity> {
    let sum = |members: &mut dyn Iterator<Item = &Member>| {
        members.fold(0_u64, |len, it| len.saturating_add(it.span.len()))
    };
    let all = sum(&mut checkpoint.members.iter());
    let wanted = sum(&mut checkpoint.members.iter().filter(|it| it.unpacked.is_some()));
    let limit = options.decoded_max.unwrap_or_else(|| usual_decoded_max(source.len()));
    if limit < wanted {
        let what = "bytes that the members unpack to";
        return Err(tet_query::Error::Limit { what, wanted, limit }.into());
    }
    let progress = options.progress.begin(all);
    let how = Execution { progress: progress.clone(), ..Execution::default() };
    let mut integrity = Integrity::Verified;
    for member in &checkpoint.members {
        let Some(sealed) = &member.sealed else { continue };
        let fault: Option<ForeignFault> = match &member.unpacked {
            None => sealed.compare(source, &how)?,
            Some(unpacked) => match sealed.compare(unpacked, &how) {
                Err(tet_query::Error::Io(error)) if error.kind() == tet_io::Kind::Format => {
                    let rule = &rule::MEMBER_DATA;
                    Some(ForeignFault { rule, at: 0, found: 0, wanted: member.span.len() })
                }
                fault => fault?,
            },
        };
        progress.advance(member.span.len()).map_err(tet_verify::Error::from)?;
        if let Some(fault) = fault {
            integrity = Integrity::Mismatch;
            found(ForeignFound { fault, field: "member", len: member.span.len(), dataset: None });
        }
    }
    Ok(integrity)
}
