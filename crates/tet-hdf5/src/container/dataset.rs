//! A dataset of an HDF5 file: numbers, texts, or structures whose members are parts.

mod members;

use std::sync::Arc;

use crate::{Class, Datatype, Described, ExternalPart, Hdf5File, StoredIndex, StoredLayout};
use tet_codec::{ElementLayout, FillValue, Pipeline, Stage, Swapped, Unsupported};
use tet_format::{Grid, Shape, Span};
use tet_io::Source;
use tet_query::{ChunkTable, Dataset, Error as QueryError};

use super::chunks::{Absent, Chunks, compression, stages};
use super::element::{self, Element};
use super::external;
use super::texts::HeapTexts;
use tet_container::model::blocks::BlockChunks;
use tet_container::model::dtype::untyped_advice;
use tet_container::read::pieces::{Pieces, StoredElements};
use tet_container::read::slabs::{Slabs, grid, grid_of_one, no_bytes, too_deep, unread};

/// What the name of the part ends with that has the bytes of texts.
const BYTES: &str = "bytes";
/// The type of the characters of texts of NetCDF.
const CHAR: &str = "char";
/// The most members of all datasets of a file: many datasets may share one type of many members.
pub(crate) const MEMBERS_MAX: usize = 1 << 20;

/// A dataset, and its parts, which are found by name and not listed.
pub(super) struct Read {
    pub(super) whole: Dataset,
    pub(super) parts: Vec<Dataset>,
}

/// A dataset of this name, with a fault where it cannot be read; `dims` are the names of its axes, and there is `room` for
/// as many parts.
pub(super) fn read(
    file: &Hdf5File,
    name: String,
    described: &Described,
    (dims, is_netcdf): (Vec<String>, bool),
    room: usize,
) -> Read {
    let stored = Stored { file, described, dims: &dims };
    if let Some((datatype, axes)) = element::texts(&described.datatype) {
        let is_char = is_netcdf && described.datatype.size == 1 && axes.is_empty();
        return stored.texts(name, (datatype, axes, None), is_char);
    }
    if let Some(element) = element::element(&described.datatype) {
        let enumeration = element::enumeration(&described.datatype, &element).map(Arc::new);
        let whole = Dataset { enumeration, ..stored.numbers(name, &element) };
        return Read { whole, parts: Vec::new() };
    }
    let Class::Compound(fields) = &described.datatype.class else {
        let whole = stored.other(name, &described.datatype, None);
        return Read { whole, parts: Vec::new() };
    };
    let parts = members::parts(&stored, &name, fields, room);
    let bytes = element::bytes(vec![described.datatype.size.into()]);
    let whole = Dataset::of_bytes(stored.numbers(name.clone(), &bytes));
    let dtype_name = element::name(&described.datatype);
    let compound = match &parts {
        Some(parts) => {
            let members = parts.iter().map(|part| part.name.clone()).collect();
            QueryError::Compound { dataset: name, members }
        }
        None => {
            let what = "it has structures, and those of this file have more members than";
            unsupported(&name, &format!("{what} the {MEMBERS_MAX} that are read"))
        }
    };
    let parts = parts.unwrap_or_default();
    let fault = whole.fault.clone().or_else(|| Some(Arc::new(compound)));
    Read { whole: Dataset { dtype_name, fault, ..whole }, parts }
}

/// A dataset as its file describes it.
pub(super) struct Stored<'a> {
    pub(super) file: &'a Hdf5File,
    pub(super) described: &'a Described,
    dims: &'a [String],
}

impl Stored<'_> {
    /// The dataset as elements of a known type.
    pub(super) fn numbers(&self, name: String, element: &Element) -> Dataset {
        let shape: Vec<u64> =
            self.described.space.shape.iter().chain(&element.axes).copied().collect();
        let own = || self.file.source().clone();
        let read = match (too_deep(&shape), &self.described.layout) {
            (Some(fault), _) => Err(fault),
            (None, _) if self.described.space.is_null => Err(no_elements(&name)),
            (None, StoredLayout::External(parts)) => self.external(&name, element, &shape, parts),
            _ => chunks(&name, self.described, (element, &shape)).map(|table| (own(), table)),
        };
        let (fault, (source, (grid, chunks))) = match read {
            Ok(read) => (None, read),
            Err(fault) => (Some(Arc::new(fault)), (own(), unread(&shape, None))),
        };
        // An array in each element has axes without names.
        let dims = if self.dims.len() == shape.len() { self.dims.to_vec() } else { Vec::new() };
        let unlimited = self.described.space.max_shape.iter().map(Option::is_none).collect();
        Dataset {
            fault,
            dims,
            unlimited,
            fill: own_fill(self.described, element),
            ..Dataset::new(source, name, element.dtype, grid, chunks)
        }
    }

    /// Elements in other files, which are read as one.
    fn external(
        &self,
        name: &str,
        element: &Element,
        shape: &[u64],
        parts: &[ExternalPart],
    ) -> Result<(Source, Table), QueryError> {
        let size = u64::from(self.described.datatype.size);
        let count = self.described.space.element_count();
        let stored = count.and_then(|count| Span::new(0, count.checked_mul(size)?));
        let too_large = || malformed(name, "its elements cannot be counted");
        let stored = stored.ok_or_else(too_large)?;
        let source = external::open(self.file.source(), parts, stored.len());
        let source = source.map_err(|why| malformed(name, &why))?;
        let table = contiguous(self.described, (element, shape), stored).ok_or_else(too_large)?;
        Ok((source, table))
    }

    /// The dataset as texts of this type, in arrays of these extents; `is_char` is whether the last axis is
    /// that of the characters of a text.
    pub(super) fn texts(
        &self,
        name: String,
        (datatype, axes, member): (&Datatype, Vec<u64>, Option<tet_codec::MemberStage>),
        is_char: bool,
    ) -> Read {
        let is_one = self.described.space.shape.is_empty() && axes.is_empty();
        let axes = match is_char && !is_one {
            true => axes,
            false => axes.into_iter().chain([datatype.size.into()]).collect(),
        };
        let rank = self.described.space.shape.len() + axes.len();
        let element = Element { member, ..element::bytes(axes) };
        let mut bytes = self.numbers(name.clone(), &element);
        if self.dims.len() + 1 == rank {
            // The axis of the bytes has no name.
            bytes.dims = self.dims.to_vec();
        }
        if is_char {
            CHAR.clone_into(&mut bytes.dtype_name);
        }
        let whole = if is_char {
            Dataset::of_texts(bytes.clone(), Arc::new(tet_query::FixedText::Bytes))
        } else {
            let (file, datatype) = (self.file.clone(), datatype.clone());
            Dataset::of_texts(bytes.clone(), Arc::new(HeapTexts { file, datatype, name }))
        };
        let has_bytes = whole.is_text() && matches!(datatype.class, Class::Text { .. });
        let name = format!("{}.{BYTES}", whole.name);
        if bytes.dims.len() != bytes.shape().len() {
            bytes.dims = Vec::new();
        }
        let parts = has_bytes.then(|| Dataset { name, ..bytes }).into_iter().collect();
        Read { whole, parts }
    }

    /// A dataset of elements that are not read; their bytes are known, where these are all that there is of them.
    pub(super) fn other(
        &self,
        name: String,
        datatype: &Datatype,
        member: Option<tet_codec::MemberStage>,
    ) -> Dataset {
        let dtype_name = element::name(datatype);
        let fault = match self.described.space.is_null {
            true => no_elements(&name),
            false if matches!(datatype.class, Class::Opaque) => {
                let advice = untyped_advice(datatype.size.into());
                unsupported(
                    &name,
                    &format!("elements of the type {dtype_name} are not supported: {advice}"),
                )
            }
            false => no_numbers(&name, &dtype_name),
        };
        let shape = &self.described.space.shape;
        let dims = if self.dims.len() == shape.len() { self.dims.to_vec() } else { Vec::new() };
        let blocks = self.blocks(&name, datatype, member);
        let (source, grid, chunks) = blocks.unwrap_or_else(|| {
            let (grid, chunks) = unread(shape, None);
            (self.file.source().clone(), grid, chunks)
        });
        let whole = Dataset::unknown(source, name, dtype_name, grid, chunks);
        Dataset { fault: Some(Arc::new(fault)), dims, ..whole }
    }

    /// Elements as blocks of bytes.
    fn blocks(
        &self,
        name: &str,
        datatype: &Datatype,
        member: Option<tet_codec::MemberStage>,
    ) -> Option<(Source, Grid, Arc<dyn ChunkTable>)> {
        let size = u64::from(datatype.size);
        let bytes = element::is_whole(datatype).then(|| element::bytes(vec![size]))?;
        let bytes = self.numbers(name.to_owned(), &Element { member, ..bytes });
        let ([shape @ .., _], [chunk @ .., _]) =
            (bytes.shape(), bytes.grid.chunk_shape().as_slice())
        else {
            return None;
        };
        let grid = bytes.grid.reshaped(shape.into(), chunk.into())?;
        let chunks = bytes.fault.is_none().then(|| BlockChunks::opaque(bytes.chunks, 1, size))?;
        Some((bytes.source, grid, Arc::new(chunks)))
    }
}

/// The error for elements of a type that is not read.
pub(super) fn no_numbers(name: &str, dtype_name: &str) -> QueryError {
    unsupported(name, &format!("elements of the type {dtype_name} are not supported"))
}

fn no_elements(name: &str) -> QueryError {
    unsupported(name, "it has a null dataspace, and no elements")
}

fn unsupported(name: &str, why: &str) -> QueryError {
    QueryError::Unsupported { why: format!("dataset {name:?} cannot be read: {why}") }
}

fn malformed(name: &str, why: &str) -> QueryError {
    QueryError::Malformed { why: format!("dataset {name:?} cannot be read: {why}") }
}

type Table = (Grid, Arc<dyn ChunkTable>);

/// Where the elements of a dataset are.
fn chunks(
    name: &str,
    described: &Described,
    (element, shape): (&Element, &[u64]),
) -> std::result::Result<Table, QueryError> {
    let size = element.dtype.size().unwrap_or(1);
    let too_large = || malformed(name, "its chunks cannot be counted");
    let fill = fill(described, element, size).ok_or_else(too_large)?;
    match &described.layout {
        StoredLayout::Contiguous(Some(stored)) => {
            contiguous(described, (element, shape), *stored).ok_or_else(too_large)
        }
        StoredLayout::Contiguous(None) => {
            let grid = grid_of_one(shape);
            let absent = Absent { fill, grid: grid.clone(), element_size: size };
            Ok((grid, Arc::new(absent)))
        }
        StoredLayout::Chunked(index) => chunked(name, described, (element, shape), (index, fill)),
        StoredLayout::Virtual => Err(unsupported(name, "it is virtual: parts of other datasets")),
        _ => Err(unsupported(name, "its layout is not supported by this build")),
    }
}

/// The stages that make elements of stored ones, in the order in which a writer would apply them.
fn element_stages(element: &Element) -> Vec<Arc<dyn Stage>> {
    let bits = element.bits.map(|bits| Arc::new(bits) as Arc<dyn Stage>);
    let member = element.member.map(|member| Arc::new(member) as Arc<dyn Stage>);
    bits.into_iter().chain(member).collect()
}

/// Elements in one piece; `None` where they cannot be counted.
fn contiguous(
    described: &Described,
    (element, shape): (&Element, &[u64]),
    stored: Span,
) -> Option<Table> {
    let size = element.dtype.size().unwrap_or(1);
    let stages = element_stages(element);
    let stored = if shape.contains(&0) { no_bytes() } else { stored };
    // The bytes of a text or of a structure stay together.
    let is_whole = element.dtype == tet_format::DType::UInt8 && !element.axes.is_empty();
    if stages.is_empty() && !is_whole {
        let grid = grid(shape, size * 8)?;
        let slabs = Slabs::new(grid.clone(), size * 8, stored);
        return Some((grid, Arc::new(slabs.swapped(Swapped::new(element.swapped)))));
    }
    let elements = StoredElements {
        shape: &described.space.shape,
        axes: &element.axes,
        stored,
        size: described.datatype.size.into(),
        stages,
        layout: ElementLayout::new(size).with_width(element.swapped)?,
        sealed: None,
    };
    let pieces = Pieces::new(elements, size)?;
    Some((pieces.grid().clone(), Arc::new(pieces)))
}

/// Elements in chunks.
fn chunked(
    name: &str,
    described: &Described,
    (element, shape): (&Element, &[u64]),
    (index, fill): (&StoredIndex, FillValue),
) -> std::result::Result<Table, QueryError> {
    let size = element.dtype.size().unwrap_or(1);
    let too_large = || malformed(name, "its chunks cannot be counted");
    let layout = ElementLayout::new(size).with_width(element.swapped).ok_or_else(too_large)?;
    let extents = index.shape().iter().chain(&element.axes).copied();
    let chunk_shape: Shape = extents.collect();
    let chunk_len = chunk_shape.element_count().and_then(|count| count.checked_mul(size));
    let chunk_len = chunk_len.ok_or_else(too_large)?;
    let grid = Grid::padded(Shape::from(shape), chunk_shape).ok_or_else(too_large)?;
    let filters = stages(&described.filters, described.datatype.size.into());
    let refused = |refused: Unsupported| unsupported(name, &refused.to_string());
    let own = element_stages(element);
    let element_stages = own.len();
    let stages = own.into_iter().chain(filters.map_err(refused)?);
    let chunks = Chunks {
        name: name.to_owned(),
        grid: grid.clone(),
        index: index.clone(),
        shape: described.space.shape.clone(),
        element_stages,
        chunk_len,
        pipeline: Pipeline::new(stages, layout),
        compression: compression(&described.filters),
        fill,
    };
    Ok((grid, Arc::new(chunks)))
}

/// The fill value that the file sets for one element; `None` where those of an array in an element differ.
fn own_fill(described: &Described, element: &Element) -> Option<Vec<u8>> {
    described.fill.as_ref()?;
    let size = element.dtype.size()?;
    fill(described, element, size)?.repeated(usize::try_from(size).ok()?)
}

/// The decoder of elements that are not stored.
fn fill(described: &Described, element: &Element, size: u64) -> Option<FillValue> {
    let stored = described.fill.as_deref();
    let member = element.member;
    let stored = stored.map(|fill| member.map_or(fill, |member| member.member(fill)));
    // The value of an array in each element is repeated as a whole.
    let mut bytes = stored.unwrap_or_default().to_vec();
    element.decode(&mut bytes);
    FillValue::padded(&bytes, if bytes.is_empty() { size } else { bytes.len() as u64 })
}
