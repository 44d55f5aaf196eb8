//! Checks one payload: reads it piece by piece, and digests and decodes it meanwhile.

use std::sync::{Mutex, PoisonError};

use tet_codec::{
    Digester, Error as Refused, Scanned, StatisticsCounter, Strength, WINDOW_LOG_MAX, ZstdScan,
};
use tet_format::{ChunkStatistics, Codec, DType, Digest, NoteCode, Rule, Span};
use tet_io::{Progress, Source};
use tet_report::Code;

use super::super::statistics::Statistics;
use crate::error::{Error, Result};

/// Frames with windows up to 8 MiB, which all usual levels use, are decoded on all threads in
/// parallel; frames with windows up to the format's limit, one at a time.
const WINDOW_LOG_USUAL: u32 = 23;

/// A payload to check, with the rows that refer to it.
#[derive(Debug)]
pub(super) struct PayloadCheck {
    pub(super) span: Span,
    pub(super) codec: Codec,
    pub(super) asks: Vec<RowRequirement>,
}

/// Requirements of a row on its payload.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowRequirement {
    pub(super) row: u64,
    pub(super) raw_len: u64,
    pub(super) wanted: Option<Digest>,
    /// Statistics in the file for the elements of a dtype.
    pub(super) stated: Option<(Statistics, DType, ChunkStatistics)>,
}

/// A finding about a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PayloadFinding {
    pub(super) code: Code,
    pub(super) row: u64,
    pub(super) at: u64,
    pub(super) found: u64,
    pub(super) wanted: Option<u64>,
}

/// Buffers that a thread reuses from payload to payload.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    zstd: Option<ZstdScan>,
    piece: Vec<u8>,
}

pub(super) fn run_job(
    source: &Source,
    progress: &Progress,
    job: &PayloadCheck,
    scratch: &mut Scratch,
) -> Result<Vec<PayloadFinding>> {
    let pass = read(source, progress, job, scratch, WINDOW_LOG_USUAL)?;
    let pass = match pass.decoded {
        Err(Refused::Window { found, .. }) if found <= 1 << WINDOW_LOG_MAX => {
            static WIDE: Mutex<()> = Mutex::new(());
            let _alone = WIDE.lock().unwrap_or_else(PoisonError::into_inner);
            let mut scratch = Scratch::default();
            read(source, progress, job, &mut scratch, WINDOW_LOG_MAX)?
        }
        decoded => Pass { decoded, ..pass },
    };
    if let Err(Refused::Memory { .. }) = pass.decoded {
        return Err(Error::Memory);
    }
    let hole = source.first_hole(job.span);
    let find = |ask| finding(job, ask, &pass).or_else(|| Some(hole_finding(ask, hole?)));
    Ok(job.asks.iter().filter_map(find).collect())
}

/// The finding that the payload of a row has a hole.
fn hole_finding(ask: &RowRequirement, hole: u64) -> PayloadFinding {
    let code = Code::Note(NoteCode::PayloadHole);
    PayloadFinding { code, row: ask.row, at: hole, found: hole, wanted: None }
}

/// The result of one pass over a payload.
struct Pass {
    digest: Option<Digest>,
    decoded: Result<Scanned, Refused>,
    /// The number of stored bytes that were decoded.
    reach: u64,
    /// The statistics of the elements, for each dtype that they are read as.
    counters: Vec<(DType, StatisticsCounter)>,
}

/// The counters of all dtypes that the rows of a payload have.
fn counters(job: &PayloadCheck) -> Vec<(DType, StatisticsCounter)> {
    let mut counters: Vec<(DType, StatisticsCounter)> = Vec::new();
    for (_, dtype, _) in job.asks.iter().filter_map(|ask| ask.stated) {
        if counters.iter().all(|(known, _)| *known != dtype) {
            counters.extend(StatisticsCounter::new(dtype).map(|counter| (dtype, counter)));
        }
    }
    counters
}

fn read(
    source: &Source,
    progress: &Progress,
    job: &PayloadCheck,
    scratch: &mut Scratch,
    window_log_max: u32,
) -> Result<Pass> {
    let wants_digest = job.asks.iter().any(|ask| ask.wanted.is_some());
    let mut digester = wants_digest.then(|| Digester::new(Strength::Full));
    let is_zstd = job.codec == Codec::Zstd;
    let raw_len_max = job.asks.iter().map(|ask| ask.raw_len).max().unwrap_or(0);
    let raw = Scanned { decoded_len: job.span.len(), skipped_len: 0 };
    let mut decoded = Ok(raw);
    if is_zstd && scratch.zstd.is_none() {
        scratch.zstd = Some(ZstdScan::new().map_err(|_| Error::Memory)?);
    }
    let mut zstd = scratch.zstd.as_mut().filter(|_| is_zstd);
    if let Some(zstd) = &mut zstd {
        zstd.begin(raw_len_max, window_log_max).map_err(|_| Error::Memory)?;
    }
    let mut reach = 0;
    let mut counters = counters(job);
    let mut count = |elements: &[u8]| {
        counters.iter_mut().for_each(|(_, counter)| counter.update(elements));
    };
    progress.pieces::<Error>(source, job.span, &mut scratch.piece, |_, bytes| {
        if let Some(digester) = &mut digester {
            digester.update(bytes);
        }
        if let (Some(zstd), true) = (&mut zstd, decoded.is_ok()) {
            decoded = zstd.update_with(bytes, &mut count).map(|()| raw);
            reach = zstd.position();
        }
        if job.codec == Codec::Raw {
            count(bytes);
        }
        // Without a digest, stop reading at the first decoding error.
        digester.is_some() || decoded.is_ok()
    })?;
    if let (Some(zstd), true) = (zstd, decoded.is_ok()) {
        decoded = zstd.finish_with(&mut count);
        reach = zstd.position();
    }
    Ok(Pass { digest: digester.map(|digester| digester.finish()), decoded, reach, counters })
}

/// The finding for one row. Bytes that do not match their digest need not decode.
fn finding(job: &PayloadCheck, ask: &RowRequirement, pass: &Pass) -> Option<PayloadFinding> {
    let (row, at) = (ask.row, job.span.start());
    let found_at = |code, found, wanted| Some(PayloadFinding { code, row, at, found, wanted });
    let broken = |rule, found, wanted| found_at(Code::Rule(rule), found, Some(wanted));
    let differing = ask.wanted.zip(pass.digest).and_then(|(wanted, found)| found.differs(wanted));
    if let Some((found, wanted)) = differing {
        return broken(Rule::ChunkDigest, found, wanted);
    }
    match &pass.decoded {
        Ok(scanned) if scanned.decoded_len != ask.raw_len => {
            broken(Rule::ZstdLen, scanned.decoded_len, ask.raw_len)
        }
        Ok(scanned) if scanned.skipped_len != 0 => {
            found_at(Code::Note(NoteCode::ZstdSkippable), scanned.skipped_len, None)
        }
        Ok(_) => {
            let (statistics, dtype, stated) = ask.stated?;
            let (_, counter) = pass.counters.iter().find(|(known, _)| *known == dtype)?;
            let fault = statistics.differing(row, &stated, &counter.finish())?;
            let (at, code) = (fault.at, Code::Rule(fault.rule));
            let wanted = Some(fault.wanted);
            Some(PayloadFinding { code, row, at, found: fault.found, wanted })
        }
        Err(Refused::TooLong { decoded_len, .. }) => {
            broken(Rule::ZstdLen, decoded_len.saturating_add(1), ask.raw_len)
        }
        Err(Refused::Dictionary { id, .. }) => broken(Rule::ZstdWindow, u64::from(*id), 0),
        Err(Refused::Window { found, wanted, .. }) => broken(Rule::ZstdWindow, *found, *wanted),
        Err(_) => broken(Rule::ZstdFrames, pass.reach, job.span.len()),
    }
}
