//! The elements of an array as datasets: numbers, texts, or structures whose fields are parts.

use std::sync::Arc;

use crate::{ArrayMeta, Hierarchy, ZarrElement, ZarrField, ZarrOrder};
use tet_codec::{FillValue, MemberStage};
use tet_format::{DType, Shape};
use tet_io::Source;
use tet_query::{ChunkTable, Dataset, Error as QueryError, FixedText};

use super::chunks::{Chunks, LastPipelines, Made};
use super::texts::TextTable;
use tet_container::model::dtype::untyped_advice;
use tet_container::read::slabs::{too_deep, unread};
use tet_container::read::touched::Touched;

/// The last word of the name of the part that has the bytes of texts.
const BYTES: &str = "bytes";

/// An array in its hierarchy.
pub(super) struct Stored<'a> {
    pub(super) source: &'a Source,
    pub(super) hierarchy: &'a Hierarchy,
    pub(super) array: &'a Arc<ArrayMeta>,
    pub(super) last: &'a LastPipelines,
    /// The names of its axes.
    pub(super) dims: Vec<String>,
}

impl Stored<'_> {
    /// The array as a dataset of this name, and its parts.
    pub(super) fn read(&self, name: String) -> (Dataset, Vec<Dataset>) {
        let array = self.array;
        let order = array.byte_order;
        let all = |axes: Vec<u64>, dtype| Elements { dtype, order, axes, member: None };
        match &array.element {
            ZarrElement::FixedText { size, is_points } => {
                let bytes = self.numbers(name.clone(), &all(vec![*size], DType::UInt8));
                let texts = Dataset::of_texts(bytes.clone(), Arc::new(fixed(*is_points, order)));
                let name = format!("{name}.{BYTES}");
                let parts = texts.is_text().then(|| Dataset { name, dims: Vec::new(), ..bytes });
                (texts, parts.into_iter().collect())
            }
            ZarrElement::Text => (self.texts(name), Vec::new()),
            ZarrElement::Structure { size, fields } => {
                let mut parts = Vec::new();
                self.fields(&name, fields, 0, &mut parts);
                let bytes = self.numbers(name.clone(), &all(vec![*size], DType::UInt8));
                let whole = Dataset::of_bytes(bytes);
                let dtype_name = structure_name(fields);
                let members = parts.iter().map(|part| part.name.clone()).collect();
                let compound = QueryError::Compound { dataset: name, members };
                let fault = whole.fault.clone().or_else(|| Some(Arc::new(compound)));
                (Dataset { dtype_name, fault, ..whole }, parts)
            }
            ZarrElement::Raw { size } => {
                let bytes = self.numbers(name.clone(), &all(vec![*size], DType::UInt8));
                let whole = Dataset::of_bytes(bytes);
                let advice = untyped_advice(*size);
                let what =
                    format!("elements of {size} bytes without a type are not supported: {advice}");
                let fault = whole.fault.clone().or_else(|| Some(Arc::new(refused(&name, &what))));
                (Dataset { fault, ..whole }, Vec::new())
            }
            element => match element.dtype() {
                Some(dtype) => (self.numbers(name, &all(Vec::new(), dtype)), Vec::new()),
                None => (self.opaque(name, element), Vec::new()),
            },
        }
    }

    /// The array as elements of a known type.
    fn numbers(&self, name: String, elements: &Elements) -> Dataset {
        let longer =
            |extents: &Shape| extents.iter().chain(&elements.axes).copied().collect::<Shape>();
        let (grid, shape) = (&self.array.grid, longer(self.array.grid.shape()));
        let longer_grid = grid.reshaped(shape.clone(), longer(grid.chunk_shape()));
        let uncounted = || malformed(&name, "its chunks cannot be counted");
        let read = match (too_deep(&shape), longer_grid) {
            (Some(fault), _) => Err(fault),
            (None, None) => Err(uncounted()),
            (None, Some(grid)) => self.chunks(&name, elements).map(|chunks| (grid, chunks)),
        };
        let (fault, fill, (grid, chunks)) = match read {
            Ok((grid, chunks)) => (None, self.own_fill(elements, &chunks), (grid, chunks as _)),
            Err(fault) => (Some(Arc::new(fault)), None, unread(&shape, None)),
        };
        let dims = if elements.axes.is_empty() || elements.dtype == DType::UInt8 {
            self.dims.clone()
        } else {
            Vec::new()
        };
        let read = Dataset::new(self.source.clone(), name, elements.dtype, grid, chunks);
        Dataset { dims, fault, fill, ..read }
    }

    /// The fill value of the array for one element of the dataset; `None` where those of an array in an element differ.
    fn own_fill(&self, elements: &Elements, chunks: &Chunks) -> Option<Vec<u8>> {
        self.array.fill.as_ref()?;
        let size = usize::try_from(elements.dtype.size()?).ok()?;
        chunks.fill.repeated(size)
    }

    fn chunks(&self, name: &str, elements: &Elements) -> Result<Arc<Chunks>, QueryError> {
        let array = &**self.array;
        let uncounted = || malformed(name, "its chunks cannot be counted");
        let size = elements.dtype.size().unwrap_or(1);
        let size = elements.axes.iter().try_fold(size, |size, &extent| size.checked_mul(extent));
        let size = size.filter(|&size| size != 0).ok_or_else(uncounted)?;
        let numbers = Some((elements.dtype, elements.order));
        let member = elements.member;
        let made = self.last.pipelines(&Made { size, member, numbers, array });
        let pipelines = made.map_err(|why| refused(name, &why))?;
        let stored = array.fill.as_deref().unwrap_or_default();
        let mut fill = member.map_or(stored, |member| member.member(stored)).to_vec();
        // The fill value of a structure has its bytes as they are stored.
        if member.is_some() && elements.order == ZarrOrder::Big {
            let width = usize::try_from(super::chunks::number_width(elements.dtype)).unwrap_or(1);
            fill.resize(fill.len().next_multiple_of(width), 0);
            fill.chunks_exact_mut(width).for_each(<[u8]>::reverse);
        }
        let fill = FillValue::padded(&fill, size);
        let fill = fill.ok_or_else(|| refused(name, "its fill value has no bytes"))?;
        let count = array.grid.chunk_shape().element_count();
        let chunk_len = count.and_then(|count| count.checked_mul(size)).ok_or_else(uncounted)?;
        let finder = self.hierarchy.finder(self.array);
        let name = name.to_owned();
        Ok(Arc::new(Chunks {
            name,
            finder,
            chunk_len,
            pipelines,
            fill,
            touched: Touched::default(),
        }))
    }

    /// The array as texts of any length.
    fn texts(&self, name: String) -> Dataset {
        let array = self.array;
        let made = match too_deep(&array.shape) {
            Some(fault) => Err(fault),
            None => TextTable::new(&name, self.source, self.hierarchy, array)
                .map_err(|why| refused(&name, &why)),
        };
        let source = self.source.clone();
        match made {
            Ok(table) => {
                let (grid, table) = (array.grid.clone(), Arc::new(table));
                let chunks: Arc<dyn ChunkTable> = Arc::<TextTable>::clone(&table);
                let whole = Dataset::unknown(source, name, "", grid, chunks);
                Dataset { dims: self.dims.clone(), ..whole.with_text_chunks(table) }
            }
            Err(fault) => {
                let (grid, chunks) = unread(&array.shape, None);
                let whole = Dataset::unknown(source, name, "string", grid, chunks);
                Dataset { dims: self.dims.clone(), fault: Some(Arc::new(fault)), ..whole }
            }
        }
    }

    /// An array of elements that are not read.
    fn opaque(&self, name: String, element: &ZarrElement) -> Dataset {
        let dtype_name = type_name(element);
        let why = || refused(&name, &format!("elements of type {dtype_name} are not supported"));
        let fault = too_deep(&self.array.shape).unwrap_or_else(why);
        let (grid, chunks) = unread(&self.array.shape, None);
        let whole = Dataset::unknown(self.source.clone(), name, dtype_name, grid, chunks);
        Dataset { dims: self.dims.clone(), fault: Some(Arc::new(fault)), ..whole }
    }

    /// Appends the fields of structures that begin at byte `start` of an element.
    fn fields(&self, name: &str, fields: &[ZarrField], start: u64, parts: &mut Vec<Dataset>) {
        for field in fields {
            let name = format!("{name}.{}", field.name);
            let at = start.saturating_add(field.start);
            match &field.element {
                ZarrElement::Structure { fields, .. } if field.axes.is_empty() => {
                    self.fields(&name, fields, at, parts);
                }
                _ => parts.push(self.field(name, at, field)),
            }
        }
    }

    /// A field that begins at byte `at` of an element.
    fn field(&self, name: String, at: u64, field: &ZarrField) -> Dataset {
        let (size, whole) = (field.size().unwrap_or(0), self.array.element.size().unwrap_or(0));
        let Some(member) = MemberStage::new(at, size, whole) else {
            return self.opaque(name, &field.element);
        };
        let (order, member) = (field.order, Some(member));
        match &field.element {
            ZarrElement::FixedText { size, is_points } => {
                let axes = field.axes.iter().copied().chain([*size]).collect();
                let elements = Elements { dtype: DType::UInt8, order, axes, member };
                let bytes = self.numbers(name, &elements);
                Dataset::of_texts(bytes, Arc::new(fixed(*is_points, order)))
            }
            element => match element.dtype() {
                Some(dtype) => {
                    let axes = field.axes.clone();
                    self.numbers(name, &Elements { dtype, order, axes, member })
                }
                None => self.opaque(name, element),
            },
        }
    }
}

/// The type of the elements of a dataset, and their place in the stored ones.
struct Elements {
    dtype: DType,
    order: ZarrOrder,
    /// The extents of an array in each element, which become the last axes.
    axes: Vec<u64>,
    /// Which bytes of a stored element they are made of, where these are not all.
    member: Option<MemberStage>,
}

fn refused(name: &str, why: &str) -> QueryError {
    QueryError::Unsupported { why: format!("dataset {name:?} cannot be read: {why}") }
}

fn malformed(name: &str, why: &str) -> QueryError {
    QueryError::Malformed { why: format!("dataset {name:?} cannot be read: {why}") }
}

fn fixed(is_points: bool, order: ZarrOrder) -> FixedText {
    match is_points {
        true => FixedText::Points { is_big: order == ZarrOrder::Big },
        false => FixedText::Bytes,
    }
}

fn type_name(element: &ZarrElement) -> String {
    match element {
        ZarrElement::Raw { size } => format!("{size} bytes"),
        ZarrElement::FixedText { .. } | ZarrElement::Text => "string".to_owned(),
        ZarrElement::Structure { fields, .. } => structure_name(fields),
        ZarrElement::Unsupported { name } => name.clone(),
        element => element.dtype().map_or("unknown", DType::name).to_owned(),
    }
}

fn structure_name(fields: &[ZarrField]) -> String {
    let field = |it: &ZarrField| format!("{}: {}", it.name, type_name(&it.element));
    let names: Vec<String> = fields.iter().take(8).map(field).collect();
    let more = if fields.len() > 8 { ", ..." } else { "" };
    format!("compound of {}{more}", names.join(", "))
}
