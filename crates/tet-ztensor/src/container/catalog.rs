//! The catalog of a zTensor file: its tensors, read in place.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::{
    ByteOrder, Check, Encoding, Error as Theirs, FOOTER_LEN, Fault, Limits, MAGIC_LEN, Tensor,
    ZTensorFile,
};
use tet_codec::Swapped;
use tet_format::{Grid, Span};
use tet_io::Source;
use tet_query::{Catalog, ChunkTable, Dataset};
use tet_verify::{ForeignFindings, ForeignSeen, VerifyOptions};

use super::error::{of_error, of_file};
use super::framed::Framed;
use super::sparse::{cache, decoded_max};
use super::{attrs, check, seal};
use tet_container::model::axes::{take_coords, take_dims};
use tet_container::read::bands::{Bands, Stored};
use tet_container::read::opened::{FileRegion, Opened};
use tet_container::read::slabs::{Slabs, grid, too_deep, unread};
use tet_container::{Format, Result};

/// Shorter tensors are decoded at once, however many frames they have.
const FRAMED_LEN_MIN: u64 = 2 << 20;

/// A file with more damaged entries is not opened: each takes memory, and few bytes of the file.
const DAMAGED_MAX: u64 = 50_000;

/// Bands of all sparse tensors of one file, at most: further tensors have one.
const BANDS_MAX: u64 = 1 << 18;

/// Parts of all sparse tensors of one file, at most: further tensors are offered without.
const PARTS_MAX: usize = 100_000;

/// Bytes of tensors without elements that are read when a file is opened, at most.
const EMPTY_LEN_MAX: u64 = 16 << 20;

/// Opens the file at `path`; `budget` bounds the memory of a sparse tensor.
pub(crate) fn open(path: &Path, source: Source, budget: u64) -> Result<Opened> {
    let limits = Limits { sparse_len_max: decoded_max(budget), ..Limits::default() };
    let file = ZTensorFile::open(source.clone(), &limits);
    let file = Arc::new(file.map_err(|error| of_file(path, error))?);
    let cache = cache(&file, budget);
    let mut empty_left = EMPTY_LEN_MAX;
    let options = VerifyOptions::default();
    let mut findings = ForeignFindings::new(&options);
    let (mut datasets, mut parts) = (Vec::new(), Vec::new());
    let (mut damaged, mut bands_left) = (0_u64, BANDS_MAX);
    for tensor in file.tensors() {
        if let Some(fault) = tensor.fault() {
            findings.take(check::found(&tensor, *fault));
            damaged += 1;
            if DAMAGED_MAX < damaged {
                let what = "damaged entries of one file";
                let (wanted, limit) = (damaged, DAMAGED_MAX);
                return Err(Theirs::Limit { what, wanted, limit }.into());
            }
        }
        if let Some(fault) = tensor.unread() {
            findings.take(check::found(&tensor, fault));
        }
        let stored = tensor.is_sparse().then(|| Stored::new(&cache, tensor.position()));
        let sparse = stored.as_ref().map(|stored| (stored, bands_left));
        let dataset = dataset(&file, tensor, sparse, &mut |fault| {
            findings.take(check::found(&tensor, fault));
        });
        let mut dataset = dataset.map_err(|error| of_file(path, error))?;
        if dataset.fault.is_none() && tensor.shape().contains(&0) {
            let fault = empty(&file, tensor, stored.as_deref(), &mut empty_left);
            dataset.fault = fault.map(Arc::new);
        }
        if let Some(stored) = stored.filter(|_| dataset.fault.is_none()) {
            bands_left = bands_left.saturating_sub(dataset.grid.chunk_count());
            if parts.len() < PARTS_MAX {
                parts.extend(super::parts::datasets(&file, tensor, &dataset, &stored));
            }
            // The fields of places are no attributes of the elements.
            super::parts::keys(&tensor).iter().for_each(|key| drop(dataset.attrs.remove(*key)));
        }
        datasets.push(dataset);
    }
    let attrs = attrs::of_file(&file, &datasets);
    let catalog = Catalog::new(source, Format::ZTENSOR.name(), datasets).with_attrs(attrs);
    let catalog = catalog.with_parts(parts);
    let findings = findings.report(&ForeignSeen::default()).findings;
    Ok(Opened { findings, regions: regions(&file), ..Opened::new(Format::ZTENSOR, catalog) })
}

/// The fault of the blob of a tensor without elements, which is read for this check alone.
fn empty(
    file: &ZTensorFile,
    tensor: Tensor<'_>,
    sparse: Option<&Stored>,
    left: &mut u64,
) -> Option<tet_query::Error> {
    let (len, name) = (tensor.stored().map_or(0, Span::len), tensor.name());
    if *left < len {
        let what = "bytes of blobs of tensors without elements";
        return Some(tet_query::Error::Limit { what, wanted: len, limit: *left });
    }
    *left = left.saturating_sub(len);
    match sparse {
        Some(stored) => stored.load().err(),
        None => file.read(tensor, Check::Always).err().map(|error| of_error(name, error)),
    }
}

/// The regions of a file, in order.
fn regions(file: &ZTensorFile) -> Vec<FileRegion> {
    let region = |name, span: Option<Span>, holds: &str| {
        span.map(|span| FileRegion { name, span, holds: holds.to_owned() })
    };
    let index = file.index().span();
    let index = index.or(Span::new(file.file_len().saturating_sub(FOOTER_LEN), 0));
    let start = index.map_or(MAGIC_LEN, Span::start);
    let regions = [
        region("magic", Span::new(0, MAGIC_LEN), "the format and its version"),
        region("blobs", Span::from_range(MAGIC_LEN..start), "elements"),
        region("index", index, "CBOR"),
        region(
            "footer",
            index.and_then(|it| Span::new(it.end(), FOOTER_LEN)),
            "length of the index",
        ),
    ];
    regions.into_iter().flatten().collect()
}

fn dataset(
    file: &Arc<ZTensorFile>,
    tensor: Tensor<'_>,
    sparse: Option<(&Arc<Stored>, u64)>,
    report: &mut dyn FnMut(Fault),
) -> Result<Dataset, Theirs> {
    let name = tensor.name().to_owned();
    let foreign = |fault| tet_query::Error::Foreign { dataset: name.clone(), fault };
    let shape = tensor.shape();
    // A shape of more axes is not shown either.
    let deep = too_deep(shape);
    let shape = if deep.is_some() { &[] } else { shape };
    let fault = tensor.fault().map(|fault| foreign((*fault).into()));
    let fault = fault.or(deep);
    let chunks = if fault.is_none() { chunks(file, tensor, sparse)? } else { None };
    let (grid, chunks) = chunks.unwrap_or_else(|| unread(shape, None));
    let mut attrs = match attrs::of_tensor(&tensor) {
        Ok(attrs) => attrs,
        Err(Theirs::Tensor { fault, .. }) => {
            report(fault);
            BTreeMap::new()
        }
        Err(error) => return Err(error),
    };
    if attrs::is_of_file(&tensor) {
        attrs.clear();
    }
    let dims = take_dims(&mut attrs, shape.len());
    let dtype_name = tensor.dtype_word().into_owned();
    Ok(Dataset {
        index: tensor.position(),
        dtype: tensor.dtype(),
        coords: take_coords(&mut attrs, &dims, shape),
        dims,
        attrs,
        fault: fault.map(Arc::new),
        ..Dataset::unknown(file.source().clone(), name, dtype_name, grid, chunks)
    })
}

type Chunks = (Grid, Arc<dyn ChunkTable>);

/// How a sound tensor is cut; `None` where its elements cannot be counted.
fn chunks(
    file: &Arc<ZTensorFile>,
    tensor: Tensor<'_>,
    sparse: Option<(&Arc<Stored>, u64)>,
) -> Result<Option<Chunks>, Theirs> {
    let (shape, sealed) = (tensor.shape(), seal::sealed(&tensor));
    let size = tensor.dtype().and_then(tet_format::DType::size);
    let parts = (size, tensor.stored(), tensor.decoded_len());
    let (Some(size), Some(stored), Some(decoded_len)) = parts else { return Ok(None) };
    if let Some((sparse, bands_max)) = sparse {
        let bands = Bands::new(shape, size, stored, sparse, bands_max).sealed(sealed);
        return Ok(Some((bands.grid().clone(), Arc::new(bands))));
    }
    if tensor.encoding() == Some(Encoding::Zstd) {
        let is_long = FRAMED_LEN_MIN <= decoded_len && file.has_seek_table(tensor)?;
        let frames = if is_long { file.frames(tensor)? } else { None };
        let framed = Framed::new(shape, size, stored, frames, crate::zstd_rule);
        return Ok(framed.map(|(grid, it)| (grid, Arc::new(it.sealed(sealed)) as _)));
    }
    let Some(grid) = grid(shape, size.saturating_mul(8)) else { return Ok(None) };
    let slabs = Slabs::new(grid.clone(), size.saturating_mul(8), stored).sealed(sealed);
    let swapped = Swapped::new(size).filter(|_| tensor.byte_order() == ByteOrder::Big);
    Ok(Some((grid, Arc::new(slabs.swapped(swapped)))))
}
