//! Checks a Tensogram file; findings name the datasets that a catalog makes of its objects.

use std::sync::Arc;

use crate::{Error as Theirs, Limits, Metadata, TensogramFile, rule};
use tet_io::Source;
use tet_verify::{Code, Report, VerifyOptions};

use super::keys::name;
use tet_container::Result;

/// Checks a file.
pub(crate) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let how = options.with_limits(Limits::default());
    let mut report = crate::verify(source, &how)?;
    let mut objects = Objects { source, opened: None };
    for finding in &mut report.findings {
        if let Some((message, object)) = finding.place.message.zip(finding.place.object) {
            let dataset = objects.dataset(message, object)?;
            (finding.place.dataset, finding.place.dataset_name) = dataset.unzip();
        }
        // A dataset that this build cannot read is not called ok, even where another program has its codec.
        if finding.code == Code::Foreign(&rule::NOTE_NOT_BUILT) {
            let rule = &rule::CODEC_BUILT;
            (finding.code, finding.severity) = (Code::Foreign(rule), rule.severity);
            (finding.place.region, finding.wanted) = (rule.region, Some(0));
        }
    }
    Ok(report)
}

/// The objects of a file as the datasets that a catalog makes of them; nothing is looked at before
/// one is asked for.
struct Objects<'s> {
    source: &'s Source,
    opened: Option<Opened>,
}

struct Opened {
    file: TensogramFile,
    /// How many objects are before each message that was asked for, or before one.
    first: Vec<u64>,
    /// The metadata of the message that was asked for last.
    metadata: Option<(usize, Arc<Metadata>)>,
}

impl Objects<'_> {
    /// The position and the name of an object's dataset; `None` where the file has no catalog.
    fn dataset(&mut self, message: usize, object: usize) -> Result<Option<(u64, String)>, Theirs> {
        let opened = match &mut self.opened {
            Some(opened) => opened,
            slot => match readable(TensogramFile::open(self.source.clone(), &Limits::default()))? {
                Some(file) => slot.insert(Opened { file, first: vec![0], metadata: None }),
                None => return Ok(None),
            },
        };
        let (first, metadata) = (opened.first(message)?, opened.metadata(message)?);
        let position = first.saturating_add(u64::try_from(object).unwrap_or(u64::MAX));
        Ok(Some((position, name(&metadata, message, object))))
    }
}

impl Opened {
    /// How many objects are before a message.
    fn first(&mut self, message: usize) -> Result<u64, Theirs> {
        while self.first.len() <= message {
            let number = self.first.len().saturating_sub(1);
            let count = readable(self.file.message(number))?.map_or(0, |it| it.len());
            let before = self.first.last().copied().unwrap_or_default();
            self.first.push(before.saturating_add(u64::try_from(count).unwrap_or(u64::MAX)));
        }
        Ok(self.first.get(message).copied().unwrap_or_default())
    }

    fn metadata(&mut self, message: usize) -> Result<Arc<Metadata>, Theirs> {
        if let Some((number, metadata)) = &self.metadata
            && *number == message
        {
            return Ok(Arc::clone(metadata));
        }
        let metadata = Arc::new(readable(self.file.metadata(message))?.unwrap_or_default());
        self.metadata = Some((message, Arc::clone(&metadata)));
        Ok(metadata)
    }
}

/// A part of the file; `None` where it breaks a rule.
fn readable<T>(part: Result<T, Theirs>) -> Result<Option<T>, Theirs> {
    match part {
        Ok(part) => Ok(Some(part)),
        Err(Theirs::Format(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
