//! The catalog of a table: its columns, or one matrix; and what is wrong with it.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use tet_format::{ForeignFault, Grid, Shape, Span};
use tet_io::Source;
use tet_query::{Catalog, Dataset};
use tet_verify::{
    ForeignFindings, ForeignFound, ForeignSeen, Integrity, Level, Report, VerifyOptions,
};

use super::blocks::Blocks;
use super::chunks::{Chunks, Fields};
use super::rule;
use super::survey::Survey;
use tet_container::read::opened::{FileRegion, OpenOptions, Opened};
use tet_container::{Error, Format, Result};

/// The axis of rows that have no labels.
pub(super) const ROW_AXIS: &str = "row";

/// Opens the file at `path`.
pub(super) fn open(path: &Path, source: Source, options: &OpenOptions) -> Result<Opened> {
    let survey = match Survey::scan(&source, &options.progress)? {
        Ok(survey) => Arc::new(survey),
        Err(fault) => {
            let line = line_of(&source, fault.at)?;
            return Err(Error::Line { path: path.to_path_buf(), format: Format::CSV, fault, line });
        }
    };
    let verify = VerifyOptions::default();
    let mut findings = ForeignFindings::new(&verify);
    names(&survey, &mut |found| findings.take(found));
    let region = |name, span: Option<Span>, holds: &str| {
        let span = span.filter(|span| !span.is_empty())?;
        Some(FileRegion { name, span, holds: holds.to_owned() })
    };
    let begin = survey.dialect.begin;
    let regions = [
        region("header", Span::from_range(0..begin), "names and comments"),
        region("rows", Span::from_range(begin..survey.end), "values"),
    ];
    let datasets = match survey.matrix() {
        Some(_) => vec![matrix(path, &source, &survey)],
        None => columns(&source, &survey),
    };
    let catalog = Catalog::new(source, Format::CSV.name(), datasets);
    let findings = findings.report(&ForeignSeen::default()).findings;
    let regions = regions.into_iter().flatten().collect();
    Ok(Opened { findings, regions, ..Opened::new(Format::CSV, catalog) })
}

/// All values of a table without names: along one axis if there is one column.
fn matrix(path: &Path, source: &Source, survey: &Arc<Survey>) -> Dataset {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    dataset(name, source, survey, None, Fields::All)
}

fn columns(source: &Source, survey: &Arc<Survey>) -> Vec<Dataset> {
    let named = |nth: usize| (nth, column_name(survey, nth));
    let blocks = Blocks::from_survey(source, survey).map(Arc::new);
    let axis = if survey.is_ordered { column_name(survey, 0) } else { ROW_AXIS.to_owned() };
    let column = |(nth, name): (usize, String)| {
        let dims = vec![axis.clone()];
        Dataset { dims, ..dataset(name, source, survey, blocks.as_ref(), Fields::One(nth)) }
    };
    (0..survey.columns.len()).map(named).map(column).collect()
}

/// The name of a column; one without a name has its number.
fn column_name(survey: &Survey, nth: usize) -> String {
    let name = survey.dialect.names.as_ref().and_then(|names| names.get(nth));
    let name =
        name.map(|name| String::from_utf8_lossy(&name.bytes)).filter(|name| !name.is_empty());
    name.map_or_else(|| format!("column_{nth}"), std::borrow::Cow::into_owned)
}

fn dataset(
    name: String,
    source: &Source,
    survey: &Arc<Survey>,
    blocks: Option<&Arc<Blocks>>,
    fields: Fields,
) -> Dataset {
    let (dtype, width) = match fields {
        Fields::All => {
            let width = u64::try_from(survey.columns.len()).unwrap_or(u64::MAX);
            (survey.matrix(), (width != 1).then_some(width))
        }
        Fields::One(nth) => (survey.columns.get(nth).and_then(|kinds| kinds.dtype()), None),
    };
    let shape: Shape = [survey.row_count].into_iter().chain(width).collect();
    let rows = survey.chunk_rows.min(survey.row_count).max(1);
    let chunk: Shape = [rows].into_iter().chain(width).collect();
    let grid = Grid::new(shape, chunk).expect("chunks of rows can be counted");
    let chunks = Arc::new(Chunks {
        name: name.clone(),
        source: source.clone(),
        survey: Arc::clone(survey),
        grid: grid.clone(),
        fields,
        dtype,
        blocks: blocks.cloned(),
    });
    match dtype {
        Some(dtype) => Dataset::new(source.clone(), name, dtype, grid, chunks),
        None => {
            let texts = Arc::clone(&chunks);
            Dataset::unknown(source.clone(), name, "string", grid, chunks).with_text_chunks(texts)
        }
    }
}

/// Reports names of columns that are odd.
fn names(survey: &Survey, found: &mut dyn FnMut(ForeignFound)) {
    let mut seen = HashSet::new();
    for (name, number) in survey.dialect.names.iter().flatten().zip(0_u64..) {
        let (at, name) = (name.at, &name.bytes);
        let len = u64::try_from(name.len()).unwrap_or(u64::MAX);
        let is_text = str::from_utf8(name).is_ok();
        let is_new = name.is_empty() || seen.insert(name.as_slice());
        let odd = [(is_text, &rule::NAME_UTF8), (is_new, &rule::NAME_TWICE)];
        for (_, rule) in odd.into_iter().filter(|(is_sound, _)| !is_sound) {
            let fault = ForeignFault { rule, at, found: 0, wanted: 0 };
            let dataset = Some((number, String::from_utf8_lossy(name).into_owned()));
            found(ForeignFound { fault, field: "name", len, dataset });
        }
    }
}

/// The number of the line that this byte is in, counted from 1.
fn line_of(source: &Source, at: u64) -> Result<u64> {
    const PIECE_LEN: u64 = 1 << 20;
    let (mut start, mut line, mut last) = (0, 1_u64, 0);
    let end = at.min(source.len());
    while start < end {
        let piece = source.read_vec(start, PIECE_LEN.min(end - start))?;
        for byte in &piece {
            // Both together end one line.
            let is_end = *byte == b'\r' || *byte == b'\n' && last != b'\r';
            line = line.saturating_add(u64::from(is_end));
            last = *byte;
        }
        start = start.saturating_add(PIECE_LEN);
    }
    Ok(line)
}

/// Checks a file: every row is read, and every field is of the type of its column.
pub(super) fn verify(source: &Source, options: &VerifyOptions) -> Result<Report> {
    let mut findings = ForeignFindings::new(options);
    let (file_len, integrity) = (source.len(), Integrity::Unprotected);
    let mut seen = ForeignSeen { file_len, integrity, ..ForeignSeen::default() };
    match Survey::scan(source, &options.progress)? {
        Err(fault) => {
            let field = fault.rule.region;
            let found = ForeignFound { fault, field, len: 0, dataset: None };
            findings.take_in_line(line_of(source, fault.at)?, found);
        }
        Ok(survey) => {
            names(&survey, &mut |found| findings.take(found));
            let count = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
            let width = if survey.matrix().is_some() { 1 } else { count(survey.columns.len()) };
            seen.dataset_count = width;
            seen.chunk_count = width.saturating_mul(count(survey.places.len()));
            seen.stored_len = survey.end.saturating_sub(survey.dialect.begin);
            seen.decoded_len = seen.stored_len;
            seen.payload_len = if options.level == Level::Deep { seen.stored_len } else { 0 };
        }
    }
    source.check_unchanged()?;
    Ok(findings.report(&seen))
}
