//! What is wrong with a Tensogram file, all of it, as findings.

use std::sync::Arc;

use tet_io::Source;
use tet_tensogram::{
    Error as Theirs, Fault, Level as Closeness, Limits, Metadata, TensogramFile, rule,
};
use tet_verify::{
    Finding, ForeignFindings, ForeignFound, ForeignSeen, Level, Report, VerifyOptions,
};

use super::catalog::name;
use crate::Result;

/// Looks a file over.
pub(crate) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut how = tet_tensogram::VerifyOptions::default();
    how.level = match options.level {
        Level::Deep => Closeness::Fidelity,
        _ => Closeness::Metadata,
    };
    how.findings_max = options.findings_max;
    how.threads = options.threads;
    how.decoded_max = options.decoded_max;
    how.cancel.clone_from(&options.cancel);
    how.progress.clone_from(&options.progress);
    let seen = tet_tensogram::verify(source, &how)?;
    let mut findings = ForeignFindings::new(options);
    let mut objects = Objects { source, opened: None };
    for it in &seen.findings {
        let dataset = match it.message.zip(it.object) {
            Some((message, object)) => objects.dataset(message, object)?,
            None => None,
        };
        // What cannot be read is not called ok, whoever else may have its codec.
        let is_unbuilt = it.fault.rule == &rule::NOTE_NOT_BUILT;
        let rule = if is_unbuilt { &rule::CODEC_BUILT } else { it.fault.rule };
        findings.take(ForeignFound {
            fault: Fault { rule, ..it.fault },
            field: it.fault.rule.region,
            len: it.len,
            dataset,
        });
    }
    for omitted in &seen.omitted {
        findings.leave_out(omitted.rule, omitted.count);
    }
    let bare_count = seen.unverified_count;
    let integrity = findings.integrity(&rule::HASH, (bare_count, seen.object_count));
    Ok(findings.report(&ForeignSeen {
        file_len: seen.file_len,
        integrity,
        dataset_count: seen.object_count,
        chunk_count: seen.object_count,
        stored_len: seen.file_len,
        decoded_len: seen.file_len,
        payload_len: seen.checked_len.min(seen.file_len),
    }))
}

/// A fault of a file as a finding.
#[must_use]
pub fn finding(fault: Fault) -> Finding {
    ForeignFound { fault, field: fault.rule.region, len: 0, dataset: None }.into()
}

/// The objects of a file as the datasets that a catalog makes of them; nothing is looked at before
/// one is asked for.
struct Objects<'s> {
    source: &'s Source,
    opened: Option<Opened>,
}

struct Opened {
    file: TensogramFile,
    /// How many objects stand before each message that was asked for, or before one.
    first: Vec<u64>,
    /// What was said of the message that was asked for last.
    said: Option<(usize, Arc<Metadata>)>,
}

impl Objects<'_> {
    /// The position and the name of an object's dataset; `None` where the file has no catalog.
    fn dataset(&mut self, message: usize, object: usize) -> Result<Option<(u64, String)>, Theirs> {
        let opened = match &mut self.opened {
            Some(opened) => opened,
            slot => match readable(TensogramFile::open(self.source.clone(), &Limits::default()))? {
                Some(file) => slot.insert(Opened { file, first: vec![0], said: None }),
                None => return Ok(None),
            },
        };
        let (first, said) = (opened.first(message)?, opened.said(message)?);
        let position = first.saturating_add(u64::try_from(object).unwrap_or(u64::MAX));
        Ok(Some((position, name(&said, message, object))))
    }
}

impl Opened {
    /// How many objects stand before a message.
    fn first(&mut self, message: usize) -> Result<u64, Theirs> {
        while self.first.len() <= message {
            let number = self.first.len().saturating_sub(1);
            let count = readable(self.file.message(number))?.map_or(0, |it| it.len());
            let before = self.first.last().copied().unwrap_or_default();
            self.first.push(before.saturating_add(u64::try_from(count).unwrap_or(u64::MAX)));
        }
        Ok(self.first.get(message).copied().unwrap_or_default())
    }

    fn said(&mut self, message: usize) -> Result<Arc<Metadata>, Theirs> {
        if let Some((number, said)) = &self.said
            && *number == message
        {
            return Ok(Arc::clone(said));
        }
        let said = Arc::new(readable(self.file.metadata(message))?.unwrap_or_default());
        self.said = Some((message, Arc::clone(&said)));
        Ok(said)
    }
}

/// What is there, if no rule keeps it from being read.
fn readable<T>(part: Result<T, Theirs>) -> Result<Option<T>, Theirs> {
    match part {
        Ok(part) => Ok(Some(part)),
        Err(Theirs::Format(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
