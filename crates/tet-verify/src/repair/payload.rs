//! Repairs damaged or missing payloads: flips a bit, copies from another file, or fills.

use tet_codec::{Encode as _, ZstdEncoder, decoder};
use tet_file::{DatasetEntry, FooterMode, OpenOptions, RowOrder, TetFile};
use tet_format::index::{IndexRow, RowContext, check_payload, check_row};
use tet_format::{Codec, DType, Digest, Error as Fault, Region, Rule, Span};
use tet_io::Source;
use tet_report::{Code, Proof};

use super::block::Mismatch;
use super::context::RepairContext;
use super::edit::{Action, Change, Edit, Loss, Lost, Need, put_edit, put_len};
use super::rows;
use super::{RepairOptions, Trust};
use crate::error::Result;

/// The zstd level for filled chunks, which are mostly one value.
const FILL_LEVEL: i32 = 1;
/// The longest payload in which a flipped bit is searched.
const FLIP_LEN_MAX: u64 = 16 << 20;

/// A damaged or missing payload.
#[derive(Clone, Copy, Debug)]
pub(super) struct Damaged {
    pub(super) row: u64,
    pub(super) wire: IndexRow,
    /// The rule that it breaks.
    pub(super) rule: Rule,
    /// Its expected digest.
    pub(super) wanted: Option<Digest>,
}

/// Corrects flipped bits. Returns the payloads that are still damaged.
pub(super) fn flip(context: &mut RepairContext<'_>, wrong: Vec<Mismatch>) -> Result<Vec<Damaged>> {
    let mut left = Vec::new();
    for Mismatch { row, wire, found, wanted } in wrong {
        let rule = if found.is_some() { Rule::ChunkDigest } else { Rule::PayloadBounds };
        if found.is_some() && wire.stored_len <= FLIP_LEN_MAX {
            let mut bytes = context.source().read_vec(wire.payload_offset, wire.stored_len)?;
            if context.flip(rule, Region::Payload, wire.payload_offset, &mut bytes, wanted)? {
                continue;
            }
        }
        left.push(Damaged { row, wire, rule, wanted: Some(wanted) });
    }
    Ok(left)
}

/// The payloads that cannot be read, in a file without digests.
pub(super) fn unreadable(context: &mut RepairContext<'_>, file: &TetFile) -> Result<Vec<Damaged>> {
    let source = context.source();
    let progress = context.options.progress.begin(file.index().stored_len()?);
    let (memory, mut left) = (context.options.memory_budget, Vec::new());
    let mut next = 0_u64;
    let mut rows = Vec::new();
    while next < file.index().row_count() {
        rows.clear();
        file.index().rows(next..next.saturating_add(1024), &mut rows)?;
        for wire in &rows {
            if let Some(rule) = fault(file, &source, next, wire, memory)? {
                left.push(Damaged { row: next, wire: *wire, rule, wanted: None });
            }
            next = next.saturating_add(1);
            progress.advance(wire.stored_len)?;
        }
    }
    Ok(left)
}

/// The rule that makes a payload unreadable.
fn fault(
    file: &TetFile,
    source: &Source,
    row: u64,
    wire: &IndexRow,
    memory: u64,
) -> Result<Option<Rule>> {
    let mut faults: Vec<Fault> = Vec::new();
    let at = file.index().row_at(row);
    // A list accepts every fault, so these checks never stop early.
    let _ = check_payload(wire, at, file.index_end(), source.len(), &mut faults);
    if let Some(entry) = entry(file, wire) {
        let element_size = entry.dtype.and_then(DType::size);
        let context = RowContext { record_at: entry.at, grid: &entry.grid, element_size };
        let _ = check_row(wire, at, &context, &mut faults);
    }
    if let Some(fault) = faults.first() {
        return Ok(Some(fault.rule));
    }
    let codec = Codec::from_tag(wire.codec);
    let Some(decoder) = decoder(codec).filter(|it| !it.is_identity()) else { return Ok(None) };
    if memory < wire.raw_len.saturating_add(wire.stored_len) {
        return Ok(None);
    }
    let stored = source.read_vec(wire.payload_offset, wire.stored_len)?;
    let mut decoded = vec![0; usize::try_from(wire.raw_len).unwrap_or(0)];
    Ok(decoder.decode(&stored, &mut decoded).err().map(|fault| fault.rule()))
}

fn entry<'a>(file: &'a TetFile, wire: &IndexRow) -> Option<&'a DatasetEntry> {
    file.datasets().get(usize::try_from(wire.dataset_id).ok()?)
}

/// Copies payloads from another file. Returns those that it does not have.
pub(super) fn take(context: &mut RepairContext<'_>, damaged: Vec<Damaged>) -> Result<Vec<Damaged>> {
    let Some(other) = &context.options.from else { return Ok(damaged) };
    if damaged.is_empty() {
        return Ok(damaged);
    }
    let options = OpenOptions { limits: *context.limits(), footer: FooterMode::Required };
    let other = TetFile::open(other.clone(), &options)?;
    let file = rows::open(context)?;
    let mut left = Vec::new();
    for it in damaged {
        let Some(payload) = taken(&file, &other, &it, context.options)? else {
            left.push(it);
            continue;
        };
        let proof = if it.wanted.is_some() { Proof::Digest } else { Proof::None };
        let (code, at) = (Code::Rule(it.rule), it.wire.payload_offset);
        let edit = put_edit(code, Region::Payload, at, &payload, Action::TakePayload);
        context.apply(edit.proof(proof))?;
    }
    Ok(left)
}

/// The payload of the same chunk in another file, encoded as required here.
fn taken(
    file: &TetFile,
    other: &TetFile,
    it: &Damaged,
    options: &RepairOptions,
) -> Result<Option<Vec<u8>>> {
    let (trust, memory) = (options.trust, options.memory_budget);
    let Some(ours) = entry(file, &it.wire) else { return Ok(None) };
    let mut same = other.datasets().iter().enumerate().filter(|(_, theirs)| {
        theirs.name == ours.name
            && theirs.dtype_tag == ours.dtype_tag
            && theirs.grid.shape() == ours.grid.shape()
            && theirs.grid.chunk_shape() == ours.grid.chunk_shape()
            && theirs.fault.is_none()
    });
    let (Some((id, theirs)), None) = (same.next(), same.next()) else { return Ok(None) };
    let coord = it.wire.coord.get(..ours.grid.rank()).unwrap_or_default();
    let Some(row) = find(other, id as u64, theirs, coord)? else { return Ok(None) };
    if fault(other, other.source(), 0, &row, memory)?.is_some() {
        return Ok(None);
    }
    let stored = other.source().read_vec(row.payload_offset, row.stored_len)?;
    let is_wanted = |bytes: &[u8]| match it.wanted {
        Some(wanted) => tet_codec::digest(bytes) == wanted,
        None => trust == Trust::Other && bytes.len() as u64 == it.wire.stored_len,
    };
    if is_wanted(&stored) && (it.wanted.is_some() || row.codec == it.wire.codec) {
        return Ok(Some(stored));
    }
    let is_raw = Codec::from_tag(it.wire.codec) == Codec::Raw && row.raw_len <= memory;
    let Some(decoder) = decoder(Codec::from_tag(row.codec)).filter(|_| is_raw) else {
        return Ok(None);
    };
    let mut decoded = vec![0; usize::try_from(row.raw_len).unwrap_or(0)];
    let is_decoded = decoder.decode(&stored, &mut decoded).is_ok();
    Ok((is_decoded && is_wanted(&decoded)).then_some(decoded))
}

/// The row of a chunk.
fn find(file: &TetFile, id: u64, entry: &DatasetEntry, coord: &[u64]) -> Result<Option<IndexRow>> {
    let mut rows = Vec::new();
    if entry.order == RowOrder::RowMajor {
        let Some(linear) = entry.grid.linear(coord) else { return Ok(None) };
        let at = entry.rows.start.saturating_add(linear);
        file.index().rows(at..at.saturating_add(1), &mut rows)?;
        rows.retain(|row| row.is_chunk(id, coord));
    }
    if rows.is_empty() {
        file.index().for_blocks(0..file.index().row_count(), |_, block| {
            let chunk = block.iter().map(IndexRow::decode).find(|row| row.is_chunk(id, coord));
            rows.extend(chunk);
        })?;
    }
    Ok(rows.into_iter().next())
}

/// Fills lost payloads. Returns those that may not be filled.
pub(super) fn fill(context: &mut RepairContext<'_>, damaged: Vec<Damaged>) -> Result<Vec<Damaged>> {
    let Some(salvage) = context.options.salvage else { return Ok(damaged) };
    let file = rows::open(context)?;
    let bound = packed_end(&file)?;
    let mut end = 0;
    file.index().for_blocks(0..file.index().row_count(), |_, rows| {
        let spans = rows.iter().filter_map(|row| IndexRow::decode(row).payload());
        let ends = spans.map(|span| span.end()).filter(|&end| end <= bound);
        end = ends.fold(end, u64::max);
    })?;
    let fillable = |it: &Damaged| {
        let dtype = entry(&file, &it.wire).and_then(|it| it.dtype);
        // Bytes of other payloads are not overwritten.
        let is_gone = it.wire.payload().is_some_and(|span| span.end() <= bound)
            && matches!(
                it.rule,
                Rule::PayloadBounds
                    | Rule::ChunkDigest
                    | Rule::ZstdFrames
                    | Rule::ZstdLen
                    | Rule::ZstdWindow
            );
        dtype.and_then(|dtype| element_of(dtype, salvage.fill)).filter(|_| is_gone)
    };
    let memory = context.options.memory_budget;
    let fill_len = damaged.iter().map(|it| it.wire.raw_len).fold(0, u64::saturating_add);
    // New digests must not hide a chunk that stays damaged.
    let is_whole = fill_len <= memory && damaged.iter().all(|it| fillable(it).is_some());
    if !is_whole && damaged.iter().any(|it| it.wanted.is_some()) {
        return Ok(damaged);
    }
    let is_cut = |it: &Damaged| it.rule == Rule::PayloadBounds;
    // Truncated chunks must stay past the new end, or they would be read as zeros.
    let end_max = damaged.iter().filter(|it| is_cut(it) && fillable(it).is_none());
    let end_max = end_max.filter_map(|it| Some(it.wire.payload()?.end())).min();
    let is_short = end_max.is_some() || memory < fill_len;
    if is_short {
        end = context.image.len();
    }
    let (mut left, mut kept_len) = (Vec::new(), 0_u64);
    for it in damaged {
        let element = fillable(&it).filter(|_| it.wire.raw_len <= memory);
        let Some(element) = element else {
            left.push(it);
            continue;
        };
        let form = if is_short { Form::Zstd } else { Form::Raw };
        let Filled { edit, end: new_end } = filled(context, &file, &it, &element, end, form)?;
        let put_len = put_len(&edit);
        let is_room = end_max.is_none_or(|end_max| new_end < end_max);
        if !is_room || memory < kept_len.saturating_add(put_len) {
            left.push(it);
            continue;
        }
        kept_len = kept_len.saturating_add(put_len);
        if context.apply(edit)? {
            end = new_end;
        } else {
            left.push(it);
        }
    }
    Ok(left)
}

/// The largest end of payloads in a file whose gaps are only for alignment.
fn packed_end(file: &TetFile) -> Result<u64> {
    let mut end = file.index_end().max(file.file_len());
    file.index().for_blocks(0..file.index().row_count(), |_, rows| {
        for row in rows.iter().map(IndexRow::decode) {
            // No encoding makes data much longer.
            let len_max = row.raw_len.saturating_add(row.raw_len / 128).saturating_add(1024);
            end = end.saturating_add(row.stored_len.min(len_max));
        }
    })?;
    Ok(end.saturating_add(4096 * (file.datasets().len() as u64 + 1)))
}

/// How a filled chunk is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Uncompressed, at its old offset.
    Raw,
    /// Compressed, at the end of the file, which grows by a few bytes.
    Zstd,
}

/// A filled chunk, and the end of the payloads after it.
struct Filled {
    edit: Edit,
    end: u64,
}

fn filled(
    context: &RepairContext<'_>,
    file: &TetFile,
    it: &Damaged,
    element: &[u8],
    end: u64,
    form: Form,
) -> Result<Filled> {
    let (source, wire) = (context.source(), it.wire);
    let count = usize::try_from(wire.raw_len).unwrap_or(0) / element.len().max(1);
    let mut payload = element.repeat(count);
    let is_raw = Codec::from_tag(wire.codec) == Codec::Raw && wire.stored_len == wire.raw_len;
    // The part of a raw chunk that a truncated file still has is copied.
    let mut kept = 0;
    if is_raw && it.wanted.is_none() && it.rule == Rule::PayloadBounds {
        let there = source.len().saturating_sub(wire.payload_offset).min(wire.stored_len);
        let whole = there - there % element.len().max(1) as u64;
        let bytes = source.read_vec(wire.payload_offset.min(source.len()), whole)?;
        if let Some(part) = payload.get_mut(..bytes.len()) {
            part.copy_from_slice(&bytes);
            kept = whole;
        }
    }
    let code = Code::Rule(it.rule);
    let mut lost = lost(file, it, context.options);
    lost.len = wire.raw_len.saturating_sub(kept);
    let stays = is_raw && (form == Form::Raw || it.rule != Rule::PayloadBounds);
    let at = if stays { wire.payload_offset } else { end.next_multiple_of(8) };
    let mut codec = Codec::Raw;
    if !stays && form == Form::Zstd {
        let mut packed = Vec::new();
        let encoder = ZstdEncoder::new(FILL_LEVEL).map_err(tet_file::Error::from)?;
        encoder.encode(&payload, &mut packed).map_err(tet_file::Error::from)?;
        (payload, codec) = (packed, Codec::Zstd);
    }
    let stored_len = payload.len() as u64;
    let mut edit = put_edit(code, Region::Payload, at, &payload, Action::Fill);
    if !stays {
        let new = IndexRow { payload_offset: at, stored_len, codec: codec.tag(), ..wire };
        let old = wire.payload().map_or(0..0, |it| it.start()..it.end().min(source.len()));
        let old = Span::from_range(old).filter(|span| !span.is_empty());
        edit.changes.extend(old.map(Change::Zero));
        edit.changes.push(Change::Put(file.index().row_at(it.row), new.encode().to_vec()));
    }
    let end = if stays { end } else { at.saturating_add(stored_len) };
    Ok(Filled { edit: edit.lose(Loss::Chunk(lost)).proof(Proof::None), end })
}

/// One element of the fill: NaN for floats, the value of the caller for integers.
fn element_of(dtype: DType, fill: Option<i128>) -> Option<Vec<u8>> {
    let integer = |is_signed: bool, size: usize| {
        let bits = 8 * size as u32;
        let value = fill?;
        let (min, max) = if is_signed {
            (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
        } else {
            (0, (1_i128 << bits) - 1)
        };
        let bytes = value.to_le_bytes();
        (min <= value && value <= max).then(|| bytes.into_iter().take(size).collect())
    };
    match dtype {
        DType::Float16 => Some(vec![0x00, 0x7e]),
        DType::Float32 => Some(f32::NAN.to_le_bytes().to_vec()),
        DType::Float64 => Some(f64::NAN.to_le_bytes().to_vec()),
        DType::Int16 => integer(true, 2),
        DType::Int32 => integer(true, 4),
        DType::Int64 => integer(true, 8),
        DType::UInt8 => integer(false, 1),
        DType::UInt16 => integer(false, 2),
        DType::UInt32 => integer(false, 4),
        DType::UInt64 => integer(false, 8),
        _ => None,
    }
}

/// Elements that are lost with a payload.
pub(super) fn lost(file: &TetFile, it: &Damaged, options: &RepairOptions) -> Lost {
    let entry = entry(file, &it.wire);
    let rank = entry.map_or(0, |entry| entry.grid.rank());
    let fill = options.salvage.and_then(|salvage| salvage.fill);
    let is_integer =
        entry.and_then(|entry| entry.dtype).is_some_and(|it| element_of(it, None).is_none());
    let need = if options.from.is_some() && options.trust == Trust::Digest && it.wanted.is_none() {
        Need::Trust
    } else if is_integer && fill.is_none() {
        Need::Fill
    } else if options.salvage.is_none() {
        Need::Salvage
    } else {
        Need::Copy
    };
    Lost {
        dataset: it.wire.dataset_id,
        name: entry.map(|entry| entry.name.clone()).unwrap_or_default(),
        coord: it.wire.coord.get(..rank).unwrap_or_default().to_vec(),
        len: it.wire.raw_len,
        need,
    }
}
