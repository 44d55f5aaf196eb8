//! The data of a file without some of its variables: those of fixed lengths, each as it is, then the records, of which the
//! parts of other variables are left out.

use std::collections::{BTreeMap, BTreeSet};

use tet_format::Span;
use tet_io::{Image, Source};

use crate::header::{Header, Variable};
use tet_container::Result;
use tet_container::edited::unfit;

/// The most parts of records that are copied one by one.
const PART_COUNT_MAX: u64 = 1 << 20;

/// Where the data of the variables that stay go.
pub(super) struct NewData {
    /// The new first byte of each variable, by its position in the old header.
    pub(super) begins: BTreeMap<usize, u64>,
    /// Spans of the old file, each with its place in the new one.
    spans: Vec<(u64, Span)>,
    len: u64,
}

impl NewData {
    /// The data behind a header that ends at `start`, without these variables.
    ///
    /// # Errors
    /// A variable of the file cannot be read, or the records are too many to be copied one by one.
    pub(super) fn new(
        header: &Header,
        dropped: &BTreeSet<usize>,
        source: &Source,
        start: u64,
    ) -> Result<NewData> {
        let Some(record_len) = header.record_len else {
            return Err(unfit(
                "a variable of it cannot be read, and where the others are is not known",
            ));
        };
        let variables = header.variables.iter().enumerate();
        let mut kept: Vec<(usize, &Variable)> =
            variables.filter(|(position, _)| !dropped.contains(position)).collect();
        kept.sort_by_key(|(_, variable)| variable.begin);
        let (records, fixed): (Vec<_>, Vec<_>) = kept.into_iter().partition(|it| it.1.is_record);
        let mut data = NewData { begins: BTreeMap::new(), spans: Vec::new(), len: start };
        for (position, variable) in fixed {
            data.align();
            data.begins.insert(position, data.len);
            data.push(variable.begin, variable.part_len, source);
        }
        data.align();
        let parts = u64::try_from(records.len()).unwrap_or(u64::MAX);
        if PART_COUNT_MAX < parts.saturating_mul(header.record_count) {
            return Err(unfit(
                "it has too many records for that: `tet convert --exclude NAME` writes a copy without variables",
            ));
        }
        // The parts of one variable alone follow each other without a gap.
        let is_one = records.len() == 1;
        // Without variables that have records their number is that of no bytes.
        let count = if records.is_empty() { 0 } else { header.record_count };
        for record in 0..count {
            for (position, variable) in &records {
                data.begins.entry(*position).or_insert(data.len);
                let begin = record.saturating_mul(record_len).saturating_add(variable.begin);
                data.push(begin, variable.part_len, source);
                if !is_one {
                    data.align();
                }
            }
        }
        for (position, _) in records {
            data.begins.entry(position).or_insert(data.len);
        }
        Ok(data)
    }

    fn align(&mut self) {
        self.len = self.len.next_multiple_of(4);
    }

    /// Adds bytes of the old file; those that follow the last ones in both files are one span with them.
    fn push(&mut self, begin: u64, len: u64, source: &Source) {
        let span = Span::new(begin, len).filter(|it| it.end() <= source.len());
        let Some(span) = span.filter(|it| !it.is_empty()) else { return };
        let at = self.len;
        self.len = self.len.saturating_add(len);
        if let Some((first, last)) = self.spans.last_mut()
            && at.checked_sub(*first) == span.start().checked_sub(last.start())
            && span.start().saturating_sub(last.end()) < 4
            && let Some(longer) = Span::from_range(last.start()..span.end())
        {
            *last = longer;
            return;
        }
        self.spans.push((at, span));
    }

    /// The new file, with a header in front.
    pub(super) fn image(self, header: Vec<u8>, source: &Source) -> Image {
        let mut image = Image::default();
        image.append(header);
        for (at, span) in self.spans {
            image.resize(at);
            image.append_span(source, span);
        }
        image.resize(self.len);
        image
    }
}
