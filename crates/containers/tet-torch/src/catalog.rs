//! The catalog of a checkpoint: its tensors, read in place.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use tet_codec::Swapped;
use tet_format::{DType, ForeignFault, ForeignRule, Grid, Span};
use tet_io::Source;
use tet_query::{Catalog, ChunkTable, Dataset};
use tet_verify::{ForeignFindings, ForeignFound, ForeignSeen, VerifyOptions};

use super::checkpoint::{Checkpoint, Member, Stop};
use super::pickle::{Rebuilt, Value, View};
use super::strided::{Elements, Strided, reach};
use super::tree::{self, Item, Tree};
use super::{archive, element, legacy, rule};
use tet_container::entry::{ByteOrder, byte_len};
use tet_container::model::dtype::bits_of;
use tet_container::read::opened::{OpenOptions, Opened, path_of};
use tet_container::read::slabs::{Slabs, grid, no_bytes, unread};
use tet_container::read::spool::SourceReader;
use tet_container::read::zip::ZipFault;
use tet_container::{Error, Format, Note, Result};
use tet_numpy::npy;

/// Opens the file at `path`.
pub(super) fn open(path: &Path, source: Source, opening: &OpenOptions) -> Result<Opened> {
    let broken = |fault| Error::Foreign { path: path.to_path_buf(), format: Format::TORCH, fault };
    let checkpoint = read(&source, opening)?.map_err(broken)?;
    let tree = tree(&checkpoint, &source).map_err(broken)?;
    let options = VerifyOptions::default();
    let mut findings = ForeignFindings::new(&options);
    check_names(&tree, &mut |found| findings.take(found));
    let mut notes = Vec::from_iter(left_out(&tree, &checkpoint));
    let (mut datasets, mut parts) = (Vec::new(), Vec::new());
    for (name, item) in tree.items {
        datasets.push(match item {
            Item::Tensor(tensor) => dataset(&name, &tensor, &checkpoint, &source),
            Item::Array(Err(why)) => unlisted(&source, name, &why),
            Item::Array(Ok(file)) => {
                let (dataset, of_it, of_types) = array(name, file, opening);
                notes.extend(of_types);
                parts.extend(of_it);
                dataset
            }
        });
    }
    let catalog = Catalog::new(source, Format::TORCH.name(), datasets);
    let catalog = catalog.with_attrs(tree.attrs).with_parts(parts);
    let findings = findings.report(&ForeignSeen::default()).findings;
    Ok(Opened { findings, notes, ..Opened::new(Format::TORCH, catalog) })
}

/// The members of a file; the inner error is the rule that it breaks.
pub(super) fn read(
    source: &Source,
    options: &OpenOptions,
) -> Result<std::result::Result<Checkpoint, ForeignFault>> {
    let head = source.read_vec(0, source.len().min(16))?;
    let is_legacy = legacy::MAGICS.iter().any(|magic| head.starts_with(magic));
    match if is_legacy { legacy::read(source) } else { archive::read(source, options) } {
        Ok(checkpoint) => Ok(Ok(checkpoint)),
        Err(Stop::Fault(fault)) => Ok(Err(fault)),
        Err(Stop::Source(error)) => Err(error.into()),
        Err(Stop::Io(error)) => Err(Error::Archive {
            path: path_of(source),
            member: None,
            fault: ZipFault::Read(error),
        }),
    }
}

/// Contents of the pickle; a tensor that is all of it has the name of the file.
pub(super) fn tree<'a>(
    checkpoint: &'a Checkpoint,
    source: &Source,
) -> std::result::Result<Tree<'a>, ForeignFault> {
    let path = path_of(source);
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    tree::list(&checkpoint.pickle, &name).map_err(|fault| ForeignFault {
        at: checkpoint.pickle_at.saturating_add(fault.at),
        ..fault
    })
}

/// Reports names that several tensors have, and values that are too deep.
fn check_names(tree: &Tree<'_>, found: &mut dyn FnMut(ForeignFound)) {
    let mut names = HashSet::new();
    for ((name, _), number) in tree.items.iter().zip(0_u64..) {
        if !names.insert(name.as_str()) {
            found(odd(&rule::NAME_TWICE, 0, Some((number, name.clone()))));
        }
    }
    if tree.is_deep {
        found(odd(&rule::DEEP, 0, None));
    }
}

/// Reports what is odd about the values of a file: [`check_names`], and all that is not listed or not read.
pub(super) fn check_tree(
    tree: &Tree<'_>,
    checkpoint: &Checkpoint,
    found: &mut dyn FnMut(ForeignFound),
) {
    check_names(tree, found);
    for name in &tree.left {
        found(odd(&rule::LEFT_OUT, 1, Some((0, name.clone()))));
    }
    let more = tree.left_count.saturating_sub(tree.left.len());
    if more != 0 {
        found(odd(&rule::LEFT_OUT, more, None));
    }
    let count = unused(tree, checkpoint);
    if count != 0 {
        found(odd(&rule::STORAGE_UNUSED, count, None));
    }
    for ((name, item), number) in tree.items.iter().zip(0_u64..) {
        let is_other = match item {
            Item::Tensor(tensor) => matches!(why(tensor, checkpoint), Some(Unread::Other(_))),
            Item::Array(file) => file.is_err(),
        };
        if is_other {
            found(odd(&rule::UNREAD, 0, Some((number, name.clone()))));
        }
    }
}

fn odd(rule: &'static ForeignRule, count: usize, dataset: Option<(u64, String)>) -> ForeignFound {
    let found = u64::try_from(count).unwrap_or(u64::MAX);
    let fault = ForeignFault { rule, at: 0, found, wanted: 0 };
    ForeignFound { fault, field: "pickle", len: 0, dataset }
}

/// The number of storages that no tensor of the list uses.
fn unused(tree: &Tree<'_>, checkpoint: &Checkpoint) -> usize {
    let pickle = &checkpoint.pickle;
    let mut used = HashSet::new();
    for (_, item) in &tree.items {
        let Item::Tensor(tensor) = item else { continue };
        used.extend(tensor.view.as_ref().map(|view| pickle.text(&view.storage.key)));
        let arguments = tensor.arguments.filter(|_| tensor.view.is_none());
        let arguments = arguments.and_then(|id| pickle.items(id)).unwrap_or_default();
        used.extend(arguments.iter().take(STORAGES_MAX).filter_map(|id| match pickle.value(*id) {
            Value::Storage(storage) => Some(pickle.text(&storage.key)),
            _ => None,
        }));
    }
    checkpoint.storages.keys().filter(|key| !used.contains(key.as_str())).count()
}

/// Arguments of a call in which storages are looked for.
const STORAGES_MAX: usize = 8;

/// The note on values and storages that are not listed.
fn left_out(tree: &Tree<'_>, checkpoint: &Checkpoint) -> Option<Note> {
    let (mut names, mut count) = (tree.left.clone(), tree.left_count);
    for (number, what) in [
        (unused(tree, checkpoint), "storages that no listed tensor uses"),
        (checkpoint.constant_count, "constants of TorchScript"),
    ] {
        if number != 0 {
            names.push(format!("{number} {what}"));
            count = count.saturating_add(number);
        }
    }
    let what = "values that are no tensors, arrays, numbers or short texts";
    (count != 0).then_some(Note::NotListed { what, names, count })
}

/// A tensor or array of which only the name is known.
fn unlisted(source: &Source, name: String, why: &str) -> Dataset {
    let why = format!("{name:?} is not read: {why}");
    Dataset::unreadable(source.clone(), name, tet_query::Error::Unsupported { why })
}

/// An array of NumPy, whose bytes are in memory.
fn array(name: String, file: Vec<u8>, options: &OpenOptions) -> (Dataset, Vec<Dataset>, Vec<Note>) {
    let len = u64::try_from(file.len()).unwrap_or(u64::MAX);
    let source = Source::from_bytes(file);
    let header = npy::Header::read(&mut SourceReader::new(&source, 0));
    let header = header.and_then(|header| header.check_len(len).map(|()| header));
    let place = npy::Place { source, at: 0, seal: None };
    match header {
        Ok(header) => {
            let notes = npy::notes(&name, &header);
            let (dataset, parts) = npy::dataset(name, &header, place, options);
            (dataset, parts, notes)
        }
        Err(fault) => (npy::unreadable(name, &fault, place), Vec::new(), Vec::new()),
    }
}

/// A tensor of a known type, and where it is.
struct Placed<'a> {
    view: &'a View,
    dtype_name: &'static str,
    element_size: u64,
    /// The bytes from its first element to its last one.
    stored: Span,
    member: Option<&'a Member>,
}

/// Why a tensor is not read.
pub(super) enum Unread {
    /// It breaks a rule.
    Broken(ForeignFault),
    /// It is sound, and of another kind.
    Other(String),
}

/// Whether a tensor is not read, and why.
pub(super) fn why(tensor: &Rebuilt, checkpoint: &Checkpoint) -> Option<Unread> {
    placed(tensor, checkpoint).err()
}

/// Bytes of the elements of a tensor that is read.
pub(super) fn len(item: &Item<'_>, checkpoint: &Checkpoint) -> u64 {
    let tensor = match item {
        Item::Tensor(tensor) => tensor,
        Item::Array(file) => {
            let len = file.as_ref().map_or(0, Vec::len);
            return u64::try_from(len).unwrap_or(u64::MAX);
        }
    };
    let placed = placed(tensor, checkpoint).ok();
    placed.and_then(|it| byte_len(&it.view.shape, 1, it.element_size)).unwrap_or(0)
}

fn placed<'a>(
    tensor: &'a Rebuilt,
    checkpoint: &'a Checkpoint,
) -> std::result::Result<Placed<'a>, Unread> {
    let pickle = &checkpoint.pickle;
    let Some(view) = &tensor.view else {
        let function = pickle.shown(tensor.function);
        return Err(Unread::Other(format!(
            "it is rebuilt by {function}, which is not supported: save its dense form, or its parts, with torch.save"
        )));
    };
    if view.is_lazy {
        let why = "it is stored as its conjugate or negative: save it with torch.resolve_conj or torch.resolve_neg";
        return Err(Unread::Other(why.to_owned()));
    }
    let class = pickle.text(&view.storage.class);
    let dtype_name = match &view.dtype {
        Some(name) => element::of_name(&pickle.text(name)),
        None => element::of_class(&class),
    };
    let Some(dtype_name) = dtype_name else {
        let name = view.dtype.as_ref().map_or(class, |name| pickle.text(name));
        return Err(Unread::Other(format!(
            "its elements are of the type {name}, which is not read"
        )));
    };
    let element_size = bits_of(dtype_name).unwrap_or(8) / 8;
    let at = u64::try_from(tensor.at).unwrap_or(u64::MAX).saturating_add(checkpoint.pickle_at);
    let fault = |rule, found, wanted| Err(Unread::Broken(ForeignFault { rule, at, found, wanted }));
    let Some(len) = byte_len(&view.shape, 1, element_size) else {
        return fault(&rule::SHAPE_PRODUCT, u64::MAX, 1 << 63);
    };
    if len == 0 {
        return Ok(Placed { view, dtype_name, element_size, stored: no_bytes(), member: None });
    }
    let member = checkpoint.storages.get(pickle.text(&view.storage.key).as_ref());
    let Some(member) = member else { return fault(&rule::STORAGE_MISSING, 0, 0) };
    let Some(member) = member else { return fault(&rule::STORAGE_PACKED, 0, 0) };
    // The storage of a type has elements; one without a type has bytes.
    let unit = if view.dtype.is_some() { 1 } else { element_size };
    let storage_len = view.storage.count.saturating_mul(unit).min(member.span.len());
    let strides = view.strides.iter().map(|stride| stride.checked_mul(element_size));
    let reach = strides
        .collect::<Option<Vec<u64>>>()
        .and_then(|strides| reach(&view.shape, &strides, element_size));
    let offset = view.offset.checked_mul(element_size);
    let end = offset.zip(reach).and_then(|(offset, reach)| offset.checked_add(reach));
    match (offset, reach, end) {
        (Some(offset), Some(reach), Some(end)) if end <= storage_len => {
            let stored = Span::new(member.span.start().saturating_add(offset), reach);
            let stored = stored.unwrap_or(no_bytes());
            Ok(Placed { view, dtype_name, element_size, stored, member: Some(member) })
        }
        _ => fault(&rule::STORAGE_BOUNDS, storage_len, end.unwrap_or(u64::MAX)),
    }
}

fn dataset(name: &str, tensor: &Rebuilt, checkpoint: &Checkpoint, source: &Source) -> Dataset {
    let Some(View { shape, .. }) = &tensor.view else {
        let why = match why(tensor, checkpoint) {
            Some(Unread::Other(why)) => why,
            _ => String::new(),
        };
        return unlisted(source, name.to_owned(), &why);
    };
    let mut source = source.clone();
    let (dtype_name, chunks, fault) = match placed(tensor, checkpoint) {
        Ok(placed) => {
            let unpacked = placed.member.and_then(|member| member.unpacked.clone());
            source = unpacked.unwrap_or(source);
            let dtype_name = placed.dtype_name;
            let is_opaque = DType::from_name(dtype_name).is_none();
            let (dataset, dtype) = (name.to_owned(), dtype_name.to_owned());
            let opaque = is_opaque.then_some(tet_query::Error::Opaque { dataset, dtype });
            (dtype_name, chunks(&placed, checkpoint.order), opaque)
        }
        Err(Unread::Broken(fault)) => {
            let dataset = name.to_owned();
            ("unknown", None, Some(tet_query::Error::Foreign { dataset, fault }))
        }
        Err(Unread::Other(why)) => {
            let why = format!("{name:?} is not read: {why}");
            ("unknown", None, Some(tet_query::Error::Unsupported { why }))
        }
    };
    let (grid, chunks) = chunks.unwrap_or_else(|| unread(shape, None));
    let (fault, attrs) = (fault.map(Arc::new), BTreeMap::new());
    let dtype = DType::from_name(dtype_name);
    let (name, dtype_name) = (name.to_owned(), dtype_name.to_owned());
    Dataset { dtype, attrs, fault, ..Dataset::unknown(source, name, dtype_name, grid, chunks) }
}

/// Where the elements of a tensor are.
fn chunks(placed: &Placed<'_>, order: ByteOrder) -> Option<(Grid, Arc<dyn ChunkTable>)> {
    let Placed { view, element_size, stored, .. } = *placed;
    if view.shape.contains(&0) {
        return Some(unread(&view.shape, None));
    }
    // Both parts of a complex number are swapped.
    let width =
        if placed.dtype_name.starts_with("complex") { element_size / 2 } else { element_size };
    let swapped = if order == ByteOrder::Big { Swapped::new(width) } else { None };
    let sealed = placed.member.and_then(|member| member.sealed.clone());
    if is_row_major(view) {
        let bits = element_size.checked_mul(8)?;
        let grid = grid(&view.shape, bits)?;
        let slabs = Slabs::new(grid.clone(), bits, stored).swapped(swapped).sharing(sealed);
        return Some((grid, Arc::new(slabs)));
    }
    let strides = view.strides.iter().map(|stride| stride.saturating_mul(element_size));
    let elements = Elements { size: element_size, swapped, sealed };
    let table = Strided::new(&view.shape, strides.collect(), stored, elements)?;
    Some((table.grid().clone(), Arc::new(table)))
}

/// Whether the elements follow one another in row-major order; the stride of an axis of one position does not matter.
fn is_row_major(view: &View) -> bool {
    let mut count = 1_u64;
    view.shape.iter().zip(&view.strides).rev().all(|(extent, stride)| {
        let is_next = *extent == 1 || *stride == count;
        count = count.saturating_mul(*extent);
        is_next
    })
}
