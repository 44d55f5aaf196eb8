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
use super::pickle::{Rebuilt, View};
use super::strided::{Elements, Strided, reach};
use super::tree::{self, Tree};
use super::{archive, element, legacy, rule};
use crate::container::entry::{ByteOrder, byte_len};
use crate::container::npz::NpzFault;
use crate::model::dtype::bits_of;
use crate::read::opened::{Opened, path_of};
use crate::read::slabs::{Slabs, grid, no_bytes, unread};
use crate::{Error, Format, Note, Result};

/// Opens the file at `path`.
pub(super) fn open(path: &Path, source: Source) -> Result<Opened> {
    let broken = |fault| Error::Foreign { path: path.to_path_buf(), format: Format::TORCH, fault };
    let checkpoint = read(&source)?.map_err(broken)?;
    let tree = tree(&checkpoint, &source).map_err(broken)?;
    let options = VerifyOptions::default();
    let mut findings = ForeignFindings::new(&options);
    check_tree(&tree, &mut |found| findings.take(found));
    let tensors = tree.tensors.iter();
    let datasets = tensors.map(|(name, it)| dataset(name, it, &checkpoint, &source)).collect();
    let (what, count) = ("values that are no tensors, numbers or short texts", tree.hidden_count);
    let left = Note::LeftBehind { dataset: String::new(), what, count };
    let notes = if count == 0 { Vec::new() } else { vec![left] };
    let attrs = tree.attrs;
    let catalog = Catalog::new(source, Format::TORCH.name(), datasets).with_attrs(attrs);
    let findings = findings.report(&ForeignSeen::default()).findings;
    Ok(Opened { findings, notes, ..Opened::new(Format::TORCH, catalog) })
}

/// The members of a file; the inner error is the rule that it breaks.
pub(super) fn read(source: &Source) -> Result<std::result::Result<Checkpoint, ForeignFault>> {
    let head = source.read_vec(0, source.len().min(16))?;
    let is_legacy = head.starts_with(legacy::MAGIC);
    match if is_legacy { legacy::read(source) } else { archive::read(source) } {
        Ok(checkpoint) => Ok(Ok(checkpoint)),
        Err(Stop::Fault(fault)) => Ok(Err(fault)),
        Err(Stop::Source(error)) => Err(error.into()),
        Err(Stop::Io(error)) => Err(Error::Archive {
            path: path_of(source),
            member: None,
            fault: NpzFault::Read(error),
        }),
    }
}

/// What the pickle contains; a tensor that is all of it has the name of the file.
pub(super) fn tree<'a>(
    checkpoint: &'a Checkpoint,
    source: &Source,
) -> std::result::Result<Tree<'a>, ForeignFault> {
    let path = path_of(source);
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    tree::of(&checkpoint.pickle, &name).map_err(|fault| ForeignFault {
        at: checkpoint.pickle_at.saturating_add(fault.at),
        ..fault
    })
}

/// Reports names that several tensors have, and values that are too deep.
pub(super) fn check_tree(tree: &Tree<'_>, found: &mut dyn FnMut(ForeignFound)) {
    let mut report = |rule: &'static ForeignRule, dataset| {
        let fault = ForeignFault { rule, at: 0, found: 0, wanted: 0 };
        found(ForeignFound { fault, field: "pickle", len: 0, dataset });
    };
    let mut names = HashSet::new();
    for ((name, _), number) in tree.tensors.iter().zip(0_u64..) {
        if !names.insert(name.as_str()) {
            report(&rule::NAME_TWICE, Some((number, name.clone())));
        }
    }
    if tree.deep.is_some() {
        report(&rule::DEEP, None);
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
pub(super) fn len(tensor: &Rebuilt, checkpoint: &Checkpoint) -> u64 {
    let placed = placed(tensor, checkpoint).ok();
    placed.and_then(|it| byte_len(&it.view.shape, 1, it.element_size)).unwrap_or(0)
}

fn placed<'a>(
    tensor: &'a Rebuilt,
    checkpoint: &'a Checkpoint,
) -> std::result::Result<Placed<'a>, Unread> {
    let pickle = &checkpoint.pickle;
    let Some(view) = &tensor.view else {
        let how = pickle.text(&tensor.how);
        return Err(Unread::Other(format!(
            "it is a tensor of {how}, which is not read: save its dense form, or its parts, with torch.save"
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
    let Some(member) = member.and_then(Option::as_ref) else {
        return fault(&rule::STORAGE_MISSING, 0, 0);
    };
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
    let shape = tensor.view.as_ref().map_or(&[][..], |view| &view.shape);
    let (dtype_name, chunks, fault) = match placed(tensor, checkpoint) {
        Ok(placed) => {
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
    Dataset {
        dtype,
        attrs,
        fault,
        ..Dataset::unknown(source.clone(), name, dtype_name, grid, chunks)
    }
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
