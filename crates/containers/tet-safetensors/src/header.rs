//! The header: which tensors there are, and where they are.
//!
//! Every rule is written once. What is found goes to a judge: a reader asks it for the first breach
//! that concerns the whole file, `verify` takes all of them.

use std::borrow::Cow;
use std::collections::HashSet;

use tet_format::directory::{is_path_like, is_unprintable};
use tet_format::{ForeignFault, ForeignRule, Severity, Span};
use tet_io::Source;
use tet_verify::ForeignFound;

use super::dtype::StoredType;
use super::rule;
use tet_container::Result;
use tet_container::read::json::{Scanner, Unfit};
use tet_container::read::room::check_datasets;

/// Bytes before the header.
pub(crate) const PREFIX_LEN: u64 = 8;
/// Bytes of a header, at most.
pub(crate) const LEN_MAX: u64 = 100_000_000;
/// Axes of a tensor, at most: as many as a selection has.
const RANK_MAX: usize = tet_query::AXES_MAX;
/// The key that is no tensor.
pub(crate) const METADATA_KEY: &str = "__metadata__";

/// Contents of a file.
#[derive(Debug)]
pub(crate) struct Header {
    /// The elements.
    pub(crate) buffer: Span,
    /// The tensors, in the order of the header.
    pub(crate) tensors: Vec<Tensor>,
    /// The metadata of the file, in the order of the header.
    pub(crate) metadata: Vec<(String, String)>,
}

/// One tensor.
#[derive(Debug)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    /// The dtype as the header has it.
    pub(crate) dtype: String,
    pub(crate) shape: Vec<u64>,
    /// Begin and end, as the header has them.
    pub(crate) offsets: [u64; 2],
    /// Its bytes in the file, saturated.
    pub(crate) stored: Span,
    /// Where in the file its key is.
    pub(crate) at: u64,
    /// Why it cannot be read, when the others can.
    pub(crate) fault: Option<ForeignFault>,
}

impl Tensor {
    pub(crate) fn stored_type(&self) -> Option<StoredType> {
        StoredType::from_name(&self.dtype)
    }
}

/// Whether a file of `file_len` bytes that begins with `head` is one of these: the length of a JSON
/// object, and the object. One that is cut short within the object is known by what a name begins with.
pub(crate) fn is_likely(head: &[u8], file_len: u64) -> bool {
    let Some((length, json)) = head.split_first_chunk() else { return false };
    let len = u64::from_le_bytes(*length);
    let fits = 2 <= len && len <= file_len.saturating_sub(PREFIX_LEN);
    let is_cut = (2..=LEN_MAX).contains(&len) && json.starts_with(b"{\"");
    json.starts_with(b"{") && (fits || is_cut)
}

/// Takes what is found, and remembers the first breach that leaves no tensor readable.
pub(super) struct Judge<'a> {
    pub(super) found: &'a mut dyn FnMut(ForeignFound),
    pub(super) broken: Option<ForeignFault>,
}

/// Where a breach is: the byte, and what the bytes there are.
#[derive(Clone)]
pub(super) struct Spot {
    pub(super) at: u64,
    pub(super) field: &'static str,
    pub(super) len: u64,
    pub(super) tensor: Option<(u64, String)>,
}

impl Judge<'_> {
    /// A breach or an oddity that leaves tensors readable.
    pub(super) fn take(
        &mut self,
        rule: &'static ForeignRule,
        spot: Spot,
        found: u64,
        wanted: u64,
    ) -> ForeignFault {
        let Spot { at, field, len, tensor: dataset } = spot;
        let fault = ForeignFault { rule, at, found, wanted };
        (self.found)(ForeignFound { fault, field, len, dataset });
        fault
    }

    /// A breach that leaves none.
    pub(super) fn refuse(&mut self, rule: &'static ForeignRule, at: Spot, found: u64, wanted: u64) {
        let fault = self.take(rule, at, found, wanted);
        self.broken.get_or_insert(fault);
    }
}

impl Spot {
    pub(super) const fn new(at: u64, field: &'static str, len: u64) -> Spot {
        Spot { at, field, len, tensor: None }
    }
}

/// Reads and checks the header, and passes to `found` all that is wrong or odd; the error is the first
/// breach that leaves no tensor readable.
pub(super) fn read(
    source: &Source,
    found: &mut dyn FnMut(ForeignFound),
) -> Result<std::result::Result<Header, ForeignFault>> {
    let mut judge = Judge { found, broken: None };
    let text = text(source, &mut judge)?;
    let header = text.and_then(|text| {
        let mut header = entries(&text, &mut judge)?;
        header.buffer = Span::from_range(place(text.len())..source.len())?;
        lay(&mut header, &mut judge);
        header.tensors.iter_mut().zip(0..).for_each(|(it, at)| check(it, at, &mut judge));
        Some(header)
    });
    // Without a header something was refused.
    let unread = ForeignFault { rule: &rule::HEADER_JSON, at: PREFIX_LEN, found: 0, wanted: 0 };
    Ok(match (judge.broken, header) {
        (Some(fault), _) => Err(fault),
        (None, Some(header)) => Ok(header),
        (None, None) => Err(unread),
    })
}

/// The header as it is in the file, its padding included.
pub(super) fn read_text(source: &Source) -> Result<Option<String>> {
    text(source, &mut Judge { found: &mut |_| {}, broken: None })
}

/// A header that was kept apart from its file; `None` when it is none of a file with a buffer of
/// `buffer_len` bytes.
pub(crate) fn of_text(text: &str, buffer_len: u64) -> Option<Header> {
    let mut is_faulty = false;
    let mut found = |it: ForeignFound| is_faulty |= it.fault.rule.severity == Severity::Error;
    let mut judge = Judge { found: &mut found, broken: None };
    let mut header = entries(text, &mut judge)?;
    header.buffer = Span::new(place(text.len()), buffer_len)?;
    lay(&mut header, &mut judge);
    header.tensors.iter_mut().zip(0..).for_each(|(it, at)| check(it, at, &mut judge));
    (!is_faulty).then_some(header)
}

/// The bytes of the header, as text.
fn text(source: &Source, judge: &mut Judge<'_>) -> Result<Option<String>> {
    let file_len = source.len();
    let mut prefix = [0; 8];
    if file_len < PREFIX_LEN {
        judge.refuse(&rule::HEADER_CUT, Spot::new(0, "length", file_len), file_len, PREFIX_LEN);
        return Ok(None);
    }
    source.read_exact_at(0, &mut prefix)?;
    let header_len = u64::from_le_bytes(prefix);
    let length = Spot::new(0, "length", PREFIX_LEN);
    let room = file_len - PREFIX_LEN;
    if room < header_len {
        judge.refuse(&rule::HEADER_BOUNDS, length, header_len, room);
        return Ok(None);
    }
    if LEN_MAX < header_len {
        judge.refuse(&rule::LIMIT_HEADER, length, header_len, LEN_MAX);
        return Ok(None);
    }
    let bytes = source.read_vec(PREFIX_LEN, header_len)?;
    // A tensor is an object.
    check_datasets(bytes.iter().filter(|byte| **byte == b'{').count())?;
    let first = bytes.first().copied().unwrap_or(0);
    if first != b'{' {
        let spot = Spot::new(PREFIX_LEN, "JSON", 1);
        judge.refuse(&rule::HEADER_START, spot, u64::from(first), u64::from(b'{'));
        return Ok(None);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let at = PREFIX_LEN + len(error.utf8_error().valid_up_to());
            judge.refuse(&rule::HEADER_UTF8, Spot::new(at, "JSON", 1), 0, 0);
            Ok(None)
        }
    }
}

/// The content of the text, not compared with anything.
fn entries(text: &str, judge: &mut Judge<'_>) -> Option<Header> {
    let buffer = Span::from_range(0..0)?;
    let mut header = Header { buffer, tensors: Vec::new(), metadata: Vec::new() };
    let mut metadata_count = 0;
    let mut scanner = Scanner::new(text);
    let read = scanner.object(|scanner, key_at, key| {
        let before = scanner.clone();
        let is_metadata = key == METADATA_KEY;
        let read = if is_metadata {
            metadata_count += 1;
            if metadata_count > 1 {
                twice(key_at, judge);
            }
            metadata(scanner, judge).map(|read| header.metadata = read)
        } else {
            tensor(scanner, key_at, key, judge).map(|read| header.tensors.extend(read))
        };
        let Err(Unfit::Type(at)) = read else { return read };
        let spot = Spot::new(place(at), "value", 1);
        if is_metadata {
            judge.take(&rule::METADATA, spot, 0, 0);
        } else {
            judge.refuse(&rule::ENTRY, spot, 0, 0);
        }
        *scanner = before;
        scanner.skip()
    });
    if let Err(Unfit::Syntax(at) | Unfit::Type(at)) = read.and_then(|()| scanner.end()) {
        judge.refuse(&rule::HEADER_JSON, Spot::new(place(at), "JSON", 1), 0, 0);
        return None;
    }
    let mut names = HashSet::with_capacity(header.tensors.len());
    for tensor in &header.tensors {
        if !names.insert(tensor.name.as_str()) {
            judge.refuse(&rule::KEY_TWICE, Spot::new(tensor.at, "key", 1), 0, 0);
        }
    }
    Some(header)
}

/// The strings of `__metadata__`; the reference library takes `null` for none.
fn metadata<'a>(
    scanner: &mut Scanner<'a>,
    judge: &mut Judge<'_>,
) -> Result<Vec<(String, String)>, Unfit> {
    let mut read: Vec<(String, String)> = Vec::new();
    let mut keys: HashSet<Cow<'a, str>> = HashSet::new();
    if scanner.null() {
        return Ok(read);
    }
    scanner.object(|scanner, at, key| {
        let before = scanner.clone();
        match scanner.string() {
            Ok(value) => read.push((key.to_string(), value.into_owned())),
            Err(Unfit::Type(at)) => {
                judge.take(&rule::METADATA, Spot::new(place(at), "value", 1), 0, 0);
                *scanner = before;
                scanner.skip()?;
            }
            Err(error) => return Err(error),
        }
        if !keys.insert(key) {
            twice(at, judge);
        }
        Ok::<(), Unfit>(())
    })?;
    Ok(read)
}

/// One tensor; `None` when something is missing in it.
fn tensor(
    scanner: &mut Scanner<'_>,
    key_at: usize,
    name: Cow<'_, str>,
    judge: &mut Judge<'_>,
) -> Result<Option<Tensor>, Unfit> {
    let (mut dtype, mut shape, mut offsets) = (None, None, None);
    let at = scanner.place();
    scanner.object(|scanner, at, key| {
        let is_twice = match key.as_ref() {
            "dtype" => dtype.replace(scanner.string()?.into_owned()).is_some(),
            "shape" => shape.replace(scanner.numbers()?).is_some(),
            "data_offsets" => {
                let at = scanner.place();
                let pair = <[u64; 2]>::try_from(scanner.numbers()?);
                offsets.replace(pair.map_err(|_| Unfit::Type(at))?).is_some()
            }
            _ => {
                judge.take(&rule::KEY_UNKNOWN, Spot::new(place(at), "key", 1), 0, 0);
                return scanner.skip();
            }
        };
        if is_twice {
            twice(at, judge);
        }
        Ok(())
    })?;
    let (Some(dtype), Some(shape), Some(offsets)) = (dtype, shape, offsets) else {
        judge.refuse(&rule::ENTRY, Spot::new(place(at), "value", 1), 0, 0);
        return Ok(None);
    };
    let name = name.into_owned();
    let stored = Span::from_range(0..0).ok_or(Unfit::Type(at))?;
    Ok(Some(Tensor { name, dtype, shape, offsets, stored, at: place(key_at), fault: None }))
}

fn twice(at: usize, judge: &mut Judge<'_>) {
    judge.refuse(&rule::KEY_TWICE, Spot::new(place(at), "key", 1), 0, 0);
}

/// Lays the tensors into the buffer, which they must fill without a gap.
fn lay(header: &mut Header, judge: &mut Judge<'_>) {
    let (start, room) = (header.buffer.start(), header.buffer.len());
    let mut order: Vec<usize> = (0..header.tensors.len()).collect();
    order.sort_by_key(|&at| header.tensors[at].offsets);
    let (mut end_before, mut end_last) = (0, 0);
    for at in order {
        let tensor = &mut header.tensors[at];
        let [begin, end] = tensor.offsets;
        let dataset = Some((len(at), tensor.name.clone()));
        let spot = |at: u64, len: u64| Spot { at, field: "stored", len, tensor: dataset.clone() };
        let stored_at = start.saturating_add(begin);
        if end < begin {
            let spot = Spot { field: "data_offsets", ..spot(tensor.at, 1) };
            judge.refuse(&rule::OFFSETS_ORDER, spot, begin, end);
            continue;
        }
        end_last = end.max(end_last);
        if room < end {
            // However many tensors are behind the end, the file is cut short once.
        } else if end_before < begin {
            // Bytes of no tensor: a part of the file is not listed, and the tensors are.
            let gap = Spot::new(start.saturating_add(end_before), "stored", begin - end_before);
            judge.take(&rule::BUFFER_GAPLESS, gap, begin, end_before);
        } else if begin != end_before {
            judge.refuse(&rule::BUFFER_GAPLESS, spot(stored_at, end - begin), begin, end_before);
        }
        tensor.stored = Span::new(stored_at, end - begin).unwrap_or(tensor.stored);
        end_before = end;
    }
    if room < end_last {
        let (file_len, wanted) = (start.saturating_add(room), start.saturating_add(end_last));
        judge.refuse(&rule::BUFFER_BOUNDS, Spot::new(file_len, "end", 1), file_len, wanted);
    }
    if end_before < room && judge.broken.is_none() {
        let spot = Spot::new(start.saturating_add(end_before), "end", room - end_before);
        judge.take(&rule::BUFFER_END, spot, room, end_before);
    }
    if !start.is_multiple_of(8) && !header.buffer.is_empty() {
        judge.take(&rule::BUFFER_ALIGNED, Spot::new(start, "start", 1), start, 8);
    }
}

/// Whether the elements of a tensor fill its bytes, and how its name reads.
fn check(tensor: &mut Tensor, index: u64, judge: &mut Judge<'_>) {
    let Tensor { name, shape, offsets: [begin, end], at, .. } = &*tensor;
    let spot = |field| Spot { at: *at, field, len: 1, tensor: Some((index, name.clone())) };
    if name.is_empty() {
        judge.take(&rule::NAME_EMPTY, spot("key"), 0, 0);
    } else if name.chars().any(is_unprintable) || is_path_like(name) {
        judge.take(&rule::NAME_ODD, spot("key"), 0, 0);
    }
    let stored_len = end.saturating_sub(*begin);
    let fault = match tensor.stored_type().map(|it| it.byte_len(shape)) {
        None => Some((&rule::DTYPE, "dtype", 0, 0)),
        Some(None) => Some((&rule::SHAPE_PRODUCT, "shape", stored_len, (1 << 63) - 1)),
        Some(Some(len)) if len != stored_len => {
            Some((&rule::BUFFER_LEN, "data_offsets", stored_len, len))
        }
        Some(Some(_)) if RANK_MAX < shape.len() => {
            Some((&rule::LIMIT_AXES, "shape", len(shape.len()), len(RANK_MAX)))
        }
        Some(Some(_)) => None,
    };
    tensor.fault =
        fault.map(|(rule, field, found, wanted)| judge.take(rule, spot(field), found, wanted));
}

/// Where in the file a byte of the header is.
fn place(at: usize) -> u64 {
    PREFIX_LEN.saturating_add(len(at))
}

fn len(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}
