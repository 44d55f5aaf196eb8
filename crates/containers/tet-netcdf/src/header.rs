//! The header of a NetCDF classic file: dimensions, attributes and variables.
//!
//! A header that breaks a rule of form is refused. A variable whose dimensions, type or place break a rule
//! has a fault, and leaves the others readable.

#![allow(clippy::big_endian_bytes, reason = "the numbers of NetCDF are big-endian")]

use std::collections::{BTreeMap, HashSet};

use tet_format::{ForeignFault, ForeignRule};
use tet_io::Source;
use tet_query::AttrText;
use tet_verify::ForeignFound;

use super::cursor::Cursor;
use super::rule;
use super::value::Type;
use tet_container::Result;
use tet_container::read::header::{HeaderError, Parsed, judged};

pub(super) const DIMENSIONS: u32 = 10;
pub(super) const VARIABLES: u32 = 11;
pub(super) const ATTRIBUTES: u32 = 12;

/// Contents of a header.
#[derive(Debug)]
pub(super) struct Header {
    /// Bytes of the header.
    pub(super) len: u64,
    /// Records of each variable that has the record dimension.
    pub(super) record_count: u64,
    /// Bytes from one record to the next; `None` if a variable is not sound.
    pub(super) record_len: Option<u64>,
    pub(super) dims: Vec<Dimension>,
    pub(super) attrs: BTreeMap<String, AttrText>,
    pub(super) variables: Vec<Variable>,
}

#[derive(Debug)]
pub(super) struct Dimension {
    pub(super) name: String,
    /// `None` for the record dimension.
    pub(super) len: Option<u64>,
}

#[derive(Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    /// The offset of its entry in the header.
    pub(super) at: u64,
    /// The numbers of its dimensions; none of them is past the last if there is no fault.
    pub(super) dims: Vec<u64>,
    pub(super) attrs: BTreeMap<String, AttrText>,
    /// The type of the elements; `None` for one that is unknown.
    pub(super) stored: Option<Type>,
    /// The offset of its first byte.
    pub(super) begin: u64,
    /// Whether its first dimension is the record dimension.
    pub(super) is_record: bool,
    /// The extents; that of records is known when the whole header is.
    pub(super) shape: Vec<u64>,
    /// Bytes of the elements, or of those of one record.
    pub(super) part_len: u64,
    pub(super) fault: Option<ForeignFault>,
}

/// Callback for findings that leave the header readable.
pub(super) type OnFinding<'f> = &'f mut dyn FnMut(ForeignFound);

/// Reads a header; the inner error is the rule that it breaks.
pub(super) fn read(source: &Source, found: OnFinding<'_>) -> Result<Result<Header, ForeignFault>> {
    judged(parse(source, found))
}

fn parse(source: &Source, found: OnFinding<'_>) -> Parsed<Header> {
    let mut cursor = Cursor::new(source);
    let [.., version] = cursor.array::<4>()?;
    cursor.is_wide = version == 5;
    cursor.has_wide_offsets = version != 1;
    let record_count = count(&mut cursor)?;
    let dims = dimensions(&mut cursor, found)?;
    let attrs = attributes(&mut cursor, found)?;
    let mut variables = Vec::new();
    for _ in 0..list(&mut cursor, VARIABLES)? {
        variables.push(variable(&mut cursor, &dims, found)?);
    }
    let record_len = record_len(&variables);
    let len = cursor.at();
    let record_count = match record_count {
        Some(count) => count,
        None => records_in(&variables, record_len, source.len()),
    };
    let mut header = Header { len, record_count, record_len, dims, attrs, variables };
    header.place(source.len());
    header.check_names(found);
    if header.variables.is_empty() && len < source.len() {
        let fault = ForeignFault {
            rule: &rule::DATA_OF_NOTHING,
            at: len,
            found: source.len(),
            wanted: len,
        };
        found(ForeignFound { fault, field: fault.rule.region, len: 0, dataset: None });
    }
    Ok(header)
}

impl Header {
    /// Gives variables with records their number, and finds those that are not in the data of the file.
    fn place(&mut self, file_len: u64) {
        for variable in &mut self.variables {
            if variable.is_record
                && let Some(extent) = variable.shape.first_mut()
            {
                *extent = self.record_count;
            }
            variable.fault = variable.fault.or_else(|| {
                variable.misplaced(self.len, self.record_count, self.record_len, file_len)
            });
        }
    }

    /// Names that several variables have.
    fn check_names(&self, found: OnFinding<'_>) {
        let mut seen = HashSet::new();
        for (variable, number) in self.variables.iter().zip(0..) {
            if !seen.insert(&variable.name) {
                let fault =
                    ForeignFault { rule: &rule::NAME_TWICE, at: variable.at, found: 0, wanted: 0 };
                let dataset = Some((number, variable.name.clone()));
                found(ForeignFound { fault, field: "name", len: 0, dataset });
            }
        }
    }

    /// The end of the last byte that a variable has.
    pub(super) fn end_of(&self, variable: &Variable) -> Option<u64> {
        variable.end(self.record_count, self.record_len)
    }
}

impl Variable {
    fn misplaced(
        &self,
        header_len: u64,
        record_count: u64,
        record_len: Option<u64>,
        file_len: u64,
    ) -> Option<ForeignFault> {
        let fault = |rule, at, found, wanted| Some(ForeignFault { rule, at, found, wanted });
        if self.is_record && record_len.is_none() {
            return fault(&rule::RECORD_UNKNOWN, self.at, 0, 0);
        }
        if self.shape.contains(&0) {
            return None;
        }
        if self.begin < header_len {
            return fault(&rule::DATA_HEADER, self.begin, self.begin, header_len);
        }
        let elements = self.shape.iter().try_fold(8_u64, |len, extent| len.checked_mul(*extent));
        let end = self.end(record_count, record_len).filter(|_| elements.is_some());
        match end {
            Some(end) if end <= file_len => None,
            end => fault(&rule::DATA_BOUNDS, self.begin, file_len, end.unwrap_or(u64::MAX)),
        }
    }

    /// The end of its last byte.
    fn end(&self, record_count: u64, record_len: Option<u64>) -> Option<u64> {
        let last = match (self.is_record, record_count.checked_sub(1)) {
            (false, _) => 0,
            (true, None) => return Some(self.begin),
            (true, Some(last)) => last.checked_mul(record_len?)?,
        };
        self.begin.checked_add(last)?.checked_add(self.part_len)
    }
}

/// The number of records; `None` for a file that was not closed, or came as a stream.
fn count(cursor: &mut Cursor<'_>) -> Parsed<Option<u64>> {
    if cursor.is_wide {
        let count = cursor.array().map(u64::from_be_bytes)?;
        return Ok((count < 1 << 63).then_some(count));
    }
    let count = cursor.word()?;
    Ok((count != u32::MAX).then_some(u64::from(count)))
}

/// The number of items of a list.
fn list(cursor: &mut Cursor<'_>, tag: u32) -> Parsed<u64> {
    let at = cursor.at();
    let (found, count) = (cursor.word()?, cursor.number()?);
    if found == tag || found == 0 && count == 0 {
        return Ok(count);
    }
    let (found, wanted) = (u64::from(found), u64::from(tag));
    Err(HeaderError::Fault(ForeignFault { rule: &rule::TAG, at, found, wanted }))
}

fn name(cursor: &mut Cursor<'_>, found: OnFinding<'_>) -> Parsed<String> {
    let len = cursor.number()?;
    let at = cursor.at();
    let bytes = cursor.take_padded(len)?;
    if let Ok(name) = str::from_utf8(bytes) {
        return Ok(name.to_owned());
    }
    let name = String::from_utf8_lossy(bytes).into_owned();
    let fault = ForeignFault { rule: &rule::NAME_UTF8, at, found: 0, wanted: 0 };
    found(ForeignFound { fault, field: "name", len, dataset: None });
    Ok(name)
}

fn dimensions(cursor: &mut Cursor<'_>, found: OnFinding<'_>) -> Parsed<Vec<Dimension>> {
    let mut dims: Vec<Dimension> = Vec::new();
    for _ in 0..list(cursor, DIMENSIONS)? {
        let name = name(cursor, found)?;
        let at = cursor.at();
        let len = Some(cursor.number()?).filter(|&len| len != 0);
        if len.is_none() && dims.iter().any(|dim| dim.len.is_none()) {
            let fault = ForeignFault { rule: &rule::RECORD_TWICE, at, found: 2, wanted: 1 };
            return Err(HeaderError::Fault(fault));
        }
        dims.push(Dimension { name, len });
    }
    Ok(dims)
}

fn attributes(cursor: &mut Cursor<'_>, found: OnFinding<'_>) -> Parsed<BTreeMap<String, AttrText>> {
    let mut attrs = BTreeMap::new();
    for _ in 0..list(cursor, ATTRIBUTES)? {
        let name = name(cursor, found)?;
        let at = cursor.at();
        let tag = cursor.word()?;
        let Some(stored) = Type::from_tag(tag, cursor.is_wide) else {
            let (found, wanted) = (u64::from(tag), 6);
            return Err(HeaderError::Fault(ForeignFault {
                rule: &rule::ATTRIBUTE_TYPE,
                at,
                found,
                wanted,
            }));
        };
        let len = cursor.number()?.saturating_mul(stored.size());
        let value = stored.value(cursor.take_padded(len)?);
        attrs.insert(name, value);
    }
    Ok(attrs)
}

fn variable(
    cursor: &mut Cursor<'_>,
    known: &[Dimension],
    found: OnFinding<'_>,
) -> Parsed<Variable> {
    let at = cursor.at();
    let name = name(cursor, found)?;
    let mut dims = Vec::new();
    let dims_at = cursor.at();
    for _ in 0..cursor.number()? {
        dims.push(cursor.number()?);
    }
    let attrs = attributes(cursor, found)?;
    let type_at = cursor.at();
    let tag = cursor.word()?;
    let stored = Type::from_tag(tag, cursor.is_wide);
    // The length that the header states follows from shape and type; it is too short for 4 GiB in CDF-1 and 2.
    cursor.number()?;
    let begin = cursor.offset()?;
    let mut variable = Variable {
        name,
        at,
        dims,
        attrs,
        stored,
        begin,
        is_record: false,
        shape: Vec::new(),
        part_len: 0,
        fault: None,
    };
    let fault = |rule: &'static ForeignRule, at, found, wanted| {
        Some(ForeignFault { rule, at, found, wanted })
    };
    variable.fault = match (stored, variable.lay_over(known)) {
        (None, _) => fault(&rule::VARIABLE_TYPE, type_at, u64::from(tag), 6),
        (Some(_), Err((rule, found, wanted))) => fault(rule, dims_at, found, wanted),
        (Some(_), Ok(())) => None,
    };
    Ok(variable)
}

impl Variable {
    /// Sets shape and length by the dimensions of the file.
    fn lay_over(&mut self, known: &[Dimension]) -> Result<(), (&'static ForeignRule, u64, u64)> {
        let count = u64::try_from(known.len()).unwrap_or(u64::MAX);
        let mut len = self.stored.map_or(1, Type::size);
        for (axis, &number) in self.dims.iter().enumerate() {
            let dim = usize::try_from(number).ok().and_then(|number| known.get(number));
            let Some(dim) = dim else { return Err((&rule::DIMENSION, number, count)) };
            match dim.len {
                None if axis != 0 => {
                    return Err((&rule::RECORD_AXIS, u64::try_from(axis).unwrap_or(u64::MAX), 0));
                }
                None => self.is_record = true,
                Some(extent) => {
                    let longer = len.checked_mul(extent).filter(|len| *len < 1 << 63);
                    len = longer.ok_or((&rule::SHAPE_PRODUCT, u64::MAX, 1 << 63))?;
                }
            }
            self.shape.push(dim.len.unwrap_or(0));
        }
        self.part_len = len;
        Ok(())
    }
}

/// The length of a record: its parts, each filled up to four bytes. A part that is alone is not.
fn record_len(variables: &[Variable]) -> Option<u64> {
    if variables.iter().any(|variable| variable.fault.is_some()) {
        return None;
    }
    let mut parts = variables.iter().filter(|it| it.is_record).map(|it| it.part_len);
    let first = parts.next().unwrap_or(0);
    let Some(second) = parts.next() else { return Some(first) };
    let padded = |len: u64| len.checked_next_multiple_of(4);
    [first, second]
        .into_iter()
        .chain(parts)
        .try_fold(0_u64, |sum, len| sum.checked_add(padded(len)?))
}

/// The whole records of a file that does not say how many it has.
fn records_in(variables: &[Variable], record_len: Option<u64>, file_len: u64) -> u64 {
    let ends = variables.iter().filter(|it| it.is_record).map(|it| {
        let after_first = file_len.checked_sub(it.begin.checked_add(it.part_len)?)?;
        after_first.checked_div(record_len?)?.checked_add(1)
    });
    ends.map(Option::unwrap_or_default).min().unwrap_or(0)
}
