//! Checks the chunks of a dataset: each is looked up, and read where elements are checked.

use std::collections::HashSet;

use tet_format::{ForeignFault, ForeignRule, usual_decoded_max};
use tet_query::{ChunkPlace, Dataset, Error as QueryError, Execution, Hyperslab, Texts};
use tet_verify::{ForeignFindings, ForeignFound, ForeignSeen, Level, VerifyOptions};

use crate::Result;

/// Chunks that are looked up between two reports of progress.
const BATCH: u64 = 8192;
/// Of more chunks, those that are stored are looked up, where the table lists them.
pub const COUNT_MAX: u64 = 1 << 16;

/// How the chunks of a container are checked.
#[derive(Clone, Copy, Debug)]
pub struct ChunkRules<'a> {
    /// Options of the check.
    pub options: &'a VerifyOptions,
    /// The rule that a chunk breaks that does not decode.
    pub decodes: &'static ForeignRule,
    /// The rule that a chunk breaks that is longer than the memory limit.
    pub too_long: &'static ForeignRule,
}

/// The decoded bytes of the payloads of a file that is checked; each payload is counted before it is decoded.
#[derive(Debug)]
pub struct DecodedTotal {
    sum: u64,
    /// The limit, if one was given.
    max: Option<u64>,
    /// Bytes of the files of the payloads, each once.
    file_len: u64,
    objects: HashSet<(usize, u32)>,
}

impl DecodedTotal {
    /// The total of a file of this length.
    pub fn new(options: &VerifyOptions, file_len: u64) -> DecodedTotal {
        DecodedTotal { sum: 0, max: options.decoded_max, file_len, objects: HashSet::new() }
    }

    /// Counts a payload that decodes to `len` bytes.
    ///
    /// # Errors
    /// The payloads counted decode to more bytes than the caller allows.
    pub fn add(&mut self, len: u64) -> Result<()> {
        self.sum = self.sum.saturating_add(len);
        let limit = self.max.unwrap_or_else(|| usual_decoded_max(self.file_len));
        let wanted = self.sum;
        if wanted <= limit { Ok(()) } else { Err(QueryError::Expansion { wanted, limit }.into()) }
    }

    /// Counts a chunk, and the file that it is in.
    fn add_chunk(&mut self, dataset: &Dataset, place: &ChunkPlace) -> Result<()> {
        if place.object != 0 && self.objects.insert((dataset.index, place.object)) {
            let len = dataset.object(place)?.map_or(0, |object| object.len());
            self.file_len = self.file_len.saturating_add(len);
        }
        self.add(place.decoded_len)
    }
}

/// Checks a dataset. Its files are compared by [`Catalog::check_unchanged`](tet_query::Catalog::check_unchanged), once
/// for all datasets.
///
/// # Errors
/// The file cannot be read, payloads decode to more than is allowed, or the caller canceled.
pub fn check_chunks(
    dataset: &Dataset,
    rules: ChunkRules<'_>,
    findings: &mut ForeignFindings<'_>,
    seen: &mut ForeignSeen,
    total: &mut DecodedTotal,
) -> Result<()> {
    seen.dataset_count += 1;
    match dataset.why() {
        Some(QueryError::Foreign { fault, .. } | QueryError::Shard { fault, .. }) => {
            report(dataset, *fault, findings);
            return Ok(());
        }
        Some(_) => return Ok(()),
        None => {}
    }
    check_texts(dataset, rules, findings)?;
    // Of texts the bytes are checked that they are made of.
    let (index, name) = (dataset.index, dataset.name.clone());
    let dataset = &Dataset { index, name, ..dataset.stored().clone() };
    let count = dataset.grid.chunk_count();
    let progress = rules.options.progress.begin(0);
    let mut chunks = Chunks { dataset, rules, seen, total };
    let mut checked = 0;
    let mut stopped = None;
    let mut check = |linear: u64, findings: &mut ForeignFindings<'_>| -> Result<()> {
        chunks.check(linear, findings)?;
        checked += 1;
        if checked % BATCH == 0 {
            progress.advance(0).map_err(tet_verify::Error::from)?;
        }
        Ok(())
    };
    if COUNT_MAX < count {
        let listed = dataset.chunks.each_stored(&mut |linear| {
            stopped = check(linear, findings).err();
            Ok(stopped.is_none())
        });
        if let Some(error) = stopped {
            return Err(error);
        }
        match listed {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            // The check of the structure reports what is wrong with an index.
            Err(QueryError::Foreign { .. } | QueryError::Shard { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
    dataset.check_chunk_count(count)?;
    (0..count).try_for_each(|linear| check(linear, findings))
}

/// Adds a finding of a dataset.
fn report(dataset: &Dataset, fault: ForeignFault, findings: &mut ForeignFindings<'_>) {
    let dataset = Some((dataset.index as u64, dataset.name.clone()));
    findings.take(ForeignFound { fault, field: fault.rule.region, len: 0, dataset });
}

/// Reads all texts of a dataset where elements are checked: they may be in other places than its chunks.
fn check_texts(
    dataset: &Dataset,
    rules: ChunkRules<'_>,
    findings: &mut ForeignFindings<'_>,
) -> Result<()> {
    let ChunkRules { options, decodes, .. } = rules;
    if !dataset.is_text() || options.level != Level::Deep {
        return Ok(());
    }
    let slab = Hyperslab::whole(dataset.shape());
    let progress = options.progress.silent();
    let how = Execution { progress, ..Execution::default() };
    let fault = match dataset.for_texts::<QueryError>(&slab, &how, &mut |_| Ok(())) {
        Ok(()) => return Ok(()),
        // The faults of its chunks are found when these are checked.
        Err(QueryError::Codec { .. }) if dataset.stored().text.is_none() => return Ok(()),
        Err(QueryError::Codec { at, .. }) => {
            ForeignFault { rule: decodes, at, found: 0, wanted: 0 }
        }
        Err(QueryError::Foreign { fault, .. } | QueryError::Shard { fault, .. }) => fault,
        Err(error) => return Err(error.into()),
    };
    report(dataset, fault, findings);
    Ok(())
}

/// The chunks of a dataset while they are checked.
struct Chunks<'c> {
    dataset: &'c Dataset,
    rules: ChunkRules<'c>,
    seen: &'c mut ForeignSeen,
    total: &'c mut DecodedTotal,
}

impl Chunks<'_> {
    /// Looks up a chunk; decodes it where elements are checked.
    fn check(&mut self, linear: u64, findings: &mut ForeignFindings<'_>) -> Result<()> {
        let (dataset, seen) = (self.dataset, &mut *self.seen);
        let ChunkRules { options, decodes, too_long } = self.rules;
        let mut places: Vec<ChunkPlace> = Vec::new();
        let located = dataset.chunks.locate(&[linear], &mut places);
        let mut report = |fault: ForeignFault| {
            let owner = Some((dataset.index as u64, dataset.name.clone()));
            let found = ForeignFound { fault, field: fault.rule.region, len: 0, dataset: owner };
            // A dataset in one piece has no coordinates.
            match dataset.chunks.is_chunked() && fault.rule.region == "payload" {
                true => findings.take_chunk(dataset.grid.coord_of(linear), found),
                false => findings.take(found),
            }
        };
        match located {
            Err(QueryError::Foreign { fault, .. } | QueryError::Shard { fault, .. }) => {
                report(fault);
                return Ok(());
            }
            Err(QueryError::Io(error))
                if is_no_file(&error) && !dataset.source.access().is_remote() =>
            {
                report(ForeignFault { rule: decodes, at: 0, found: 0, wanted: 0 });
                return Ok(());
            }
            Err(error) => return Err(error.into()),
            Ok(()) => {}
        }
        for place in places.iter().filter(|place| !place.is_absent()) {
            seen.chunk_count += 1;
            seen.stored_len = seen.stored_len.saturating_add(place.stored.len());
            seen.decoded_len = seen.decoded_len.saturating_add(place.decoded_len);
            if options.level != Level::Deep {
                continue;
            }
            let decoder = dataset.chunks.decoder(linear, place);
            // How many bytes texts of any length come to is in their chunk.
            let has_len = !matches!(dataset.text, Some(Texts::Chunks(_)));
            if has_len && decoder.check_len(place.stored.len(), place.decoded_len).is_err() {
                let (found, wanted) = (place.stored.len(), place.decoded_len);
                report(ForeignFault { rule: decodes, at: place.stored.start(), found, wanted });
                continue;
            }
            let (len, len_max) = (place.decoded_len, options.memory_budget);
            if len_max < len && !decoder.is_identity() {
                let at = place.stored.start();
                report(ForeignFault { rule: too_long, at, found: len, wanted: len_max });
                continue;
            }
            if !decoder.is_identity() {
                self.total.add_chunk(dataset, place)?;
            }
            seen.payload_len = seen.payload_len.saturating_add(place.stored.len());
            // The chunk names the file of a folder that it is in.
            let outcome = read(dataset, linear, place).map_err(|error| match error {
                QueryError::InFile { fault, .. } => *fault,
                error => error,
            });
            match outcome {
                Ok(()) => {}
                Err(QueryError::Foreign { fault, .. }) => report(fault),
                Err(QueryError::Codec { at, .. }) => {
                    report(ForeignFault { rule: decodes, at, found: 0, wanted: 0 });
                }
                Err(QueryError::Budget { wanted, budget }) => {
                    let at = place.stored.start();
                    report(ForeignFault { rule: too_long, at, found: wanted, wanted: budget });
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Whether the file of a chunk has a name, and is none that can be opened.
pub fn is_no_file(error: &tet_io::Error) -> bool {
    use tet_io::Error::{DeadLink, Io, LinkOutside, NotRegular};
    match error {
        DeadLink { .. } | LinkOutside { .. } | NotRegular { .. } => true,
        Io { operation, .. } => {
            matches!(operation, tet_io::Operation::Open | tet_io::Operation::Stat)
        }
        _ => false,
    }
}

/// Reads a chunk; decodes it where it is not stored as it is.
fn read(dataset: &Dataset, linear: u64, place: &ChunkPlace) -> tet_query::Result<()> {
    if dataset.text.is_some() {
        return Ok(());
    }
    if dataset.chunks.decoder(linear, place).is_identity() {
        let mut window = Vec::new();
        let object = dataset.object(place)?;
        return object.as_ref().unwrap_or(&dataset.source).for_windows(
            place.stored.range(),
            &mut window,
            |_, _| Ok::<bool, QueryError>(true),
        );
    }
    let Some(slab) = Hyperslab::of_chunk(&dataset.grid, linear) else { return Ok(()) };
    dataset.session().read(&slab, &Execution::default()).map(drop)
}
