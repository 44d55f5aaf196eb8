//! An array of structures: its fields are parts, as members of structures are in other containers.

use std::collections::BTreeMap;
use std::sync::Arc;

use tet_codec::{ElementLayout, MemberStage, Stage};
use tet_format::{DType, Shape, Span};
use tet_io::Source;
use tet_query::{AttrText, Dataset, Error as QueryError, Sealed};

use super::structure::{Field, FieldKind, Structure};
use tet_container::model::attributes::{FILL_KEY, UNITS_KEY, not_a_time};
use tet_container::read::pieces::{Pieces, StoredElements};
use tet_container::read::slabs::{too_deep, unread};

/// Elements of an array of structures.
pub(super) struct Stored<'a> {
    pub(super) source: Source,
    pub(super) shape: &'a [u64],
    /// Where they are.
    pub(super) span: Span,
    /// Bytes of each.
    pub(super) size: u64,
    pub(super) sealed: Option<Arc<Sealed>>,
}

/// Which bytes of a structure are read, and what they are.
struct Bytes<'a> {
    start: u64,
    len: u64,
    dtype: DType,
    /// Bytes that are turned around together; 1 where none are.
    swapped: u64,
    /// The extents of an array in each structure.
    axes: &'a [u64],
}

impl Stored<'_> {
    /// The dataset of the structures, whose elements are bytes of no known type, and its fields as parts.
    pub(super) fn read(&self, name: String, structure: &Structure) -> (Dataset, Vec<Dataset>) {
        let mut parts = Vec::new();
        self.take(&name, structure, 0, &mut parts);
        let all =
            Bytes { start: 0, len: self.size, dtype: DType::UInt8, swapped: 1, axes: &[self.size] };
        let whole = Dataset::of_bytes(self.numbers(name.clone(), &all));
        let members = parts.iter().map(|part| part.name.clone()).collect();
        let compound = QueryError::Compound { dataset: name, members };
        let fault = whole.fault.clone().or_else(|| Some(Arc::new(compound)));
        (Dataset { dtype_name: structure.type_name(), fault, ..whole }, parts)
    }

    /// Appends the fields of a structure that begins at byte `start` of an element.
    fn take(&self, name: &str, structure: &Structure, start: u64, parts: &mut Vec<Dataset>) {
        for field in &structure.fields {
            let name = format!("{name}.{}", field.name);
            let at = start.saturating_add(field.start);
            match &field.kind {
                FieldKind::Structure(inner) if field.axes.is_empty() => {
                    self.take(&name, inner, at, parts);
                }
                _ => parts.push(self.field(name, field, at)),
            }
        }
    }

    /// A field that begins at byte `start` of an element.
    fn field(&self, name: String, field: &Field, start: u64) -> Dataset {
        let count = field.axes.iter().fold(1_u64, |count, &extent| count.saturating_mul(extent));
        let len = field.size.saturating_mul(count);
        let bytes = Bytes { start, len, dtype: DType::UInt8, swapped: 1, axes: &field.axes };
        match &field.kind {
            FieldKind::Number(descr) => {
                let swapped = descr.width_swapped();
                let bytes = Bytes { dtype: descr.dtype, swapped, ..bytes };
                Dataset { attrs: times(descr.units), ..self.numbers(name, &bytes) }
            }
            FieldKind::Text(text) => {
                let axes: Vec<u64> = field.axes.iter().copied().chain([text.size]).collect();
                let texts = self.numbers(name, &Bytes { axes: &axes, ..bytes });
                Dataset::of_texts(texts, Arc::new(text.kind))
            }
            FieldKind::Structure(inner) => {
                self.other(name, &inner.type_name(), "arrays of structures in structures")
            }
            FieldKind::Other(kind, advice) => self.other(name, kind, advice),
        }
    }

    /// A field that is not read, and why.
    fn other(&self, name: String, kind: &str, advice: &str) -> Dataset {
        let why = format!("{name:?} cannot be read: dtype {kind} is not supported: {advice}");
        let (grid, chunks) = unread(self.shape, None);
        let whole = Dataset::unknown(self.source.clone(), name, kind, grid, chunks);
        Dataset { fault: Some(Arc::new(QueryError::Unsupported { why })), ..whole }
    }

    /// A part of each structure as elements of a known type.
    fn numbers(&self, name: String, bytes: &Bytes<'_>) -> Dataset {
        let shape: Vec<u64> = self.shape.iter().chain(bytes.axes).copied().collect();
        let table = too_deep(&shape).map_or_else(|| Ok(self.pieces(bytes)), Err);
        let uncounted = || QueryError::Malformed {
            why: format!("{name:?} cannot be read: its elements cannot be counted"),
        };
        let source = self.source.clone();
        match table.and_then(|pieces| pieces.ok_or_else(uncounted)) {
            Ok(pieces) => {
                Dataset::new(source, name, bytes.dtype, pieces.grid().clone(), Arc::new(pieces))
            }
            Err(fault) => {
                let (grid, chunks) = unread(&shape, None);
                let whole = Dataset::new(source, name, bytes.dtype, grid, chunks);
                Dataset { fault: Some(Arc::new(fault)), ..whole }
            }
        }
    }

    fn pieces(&self, bytes: &Bytes<'_>) -> Option<Pieces> {
        let member = MemberStage::new(bytes.start, bytes.len, self.size)?;
        let is_whole = bytes.len == self.size;
        let stages = (!is_whole).then(|| Arc::new(member) as Arc<dyn Stage>);
        let size = bytes.dtype.size()?;
        let elements = StoredElements {
            shape: self.shape,
            axes: bytes.axes,
            stored: self.span,
            size: self.size,
            stages: stages.into_iter().collect(),
            layout: ElementLayout::new(size).with_width(bytes.swapped)?,
            sealed: self.sealed.clone(),
        };
        let shape: Shape = self.shape.iter().chain(bytes.axes).copied().collect();
        shape.element_count()?;
        Pieces::new(elements, size)
    }
}

/// The unit of integers that are times, and the one that is no time.
pub(super) fn times(units: Option<&str>) -> BTreeMap<String, AttrText> {
    let Some(units) = units else { return BTreeMap::new() };
    let units = (UNITS_KEY.to_owned(), AttrText::Text(units.to_owned()));
    BTreeMap::from([units, (FILL_KEY.to_owned(), not_a_time())])
}
