//! Objects of one name, message by message, as one dataset with an axis more.
//!
//! ```text
//!   message 0: t (lat, lon)   message 1: t (lat, lon)   ...   t (time, lat, lon)
//! ```
//!
//! Nothing is copied: the chunks of the stack are those of its objects.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use crate::{Descriptor, Limits, ObjectAt, Region, TensogramFile};
use serde_json::Value as Json;
use tet_codec::Raw;
use tet_format::{Grid, Integrity, Shape, Span};
use tet_query::{AttrText, Catalog, ChunkPlace, ChunkTable, Dataset, Decoder, Sealed};

use super::error::of_file;
use super::seal;
use tet_container::model::kinds::differing_kind;
use tet_container::model::logical::DTYPE_KEY;
use tet_container::read::slabs::{grid_of_one, locate};
use tet_container::{Error, Note, Result};

/// The longest lists of differing attributes, in bytes of all.
const LIST_LEN_MAX: usize = 16 << 20;

/// The catalog in which datasets that share a name are one, along a new axis of this name.
///
/// # Errors
/// Those that share a name are of several types or shapes; the file cannot be read again.
pub(super) fn stacked(path: &Path, catalog: &Catalog, axis: &str) -> Result<(Catalog, Vec<Note>)> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<Vec<&Dataset>> = Vec::new();
    for dataset in catalog.datasets() {
        let place = *places.entry(&dataset.name).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(dataset),
            None => groups.push(vec![dataset]),
        }
    }
    let (mut datasets, mut notes, mut objects) = (Vec::new(), Vec::new(), None);
    for group in groups {
        let [first, rest @ ..] = group.as_slice() else { continue };
        if rest.is_empty() {
            datasets.push((*first).clone());
            continue;
        }
        check(&group, axis)?;
        let has_one_grid = group.iter().all(|it| it.grid == first.grid);
        let tables = if has_one_grid {
            group.iter().map(|it| Arc::clone(&it.chunks)).collect()
        } else {
            let objects = match &mut objects {
                Some(objects) => objects,
                None => objects.insert(Objects::open(path, catalog)?),
            };
            group.iter().map(|it| objects.single(path, it)).collect::<Result<_>>()?
        };
        let grid = if has_one_grid { first.grid.clone() } else { grid_of_one(first.shape()) };
        datasets.push(stack(first, &group, tables, &grid, axis, &mut notes)?);
    }
    let attrs = catalog.attrs().clone();
    let stacked = Catalog::new(catalog.source().clone(), catalog.format(), datasets);
    Ok((stacked.with_attrs(attrs), notes))
}

/// Checks that datasets can be parts of one.
fn check(group: &[&Dataset], axis: &str) -> Result<()> {
    let Some(first) = group.first() else { return Ok(()) };
    let refuse = |why: String| Err(Error::Stack { dataset: first.name.clone(), why });
    if first.attrs.contains_key(DTYPE_KEY) {
        return refuse("its elements are bits, which do not lie one row behind the other".into());
    }
    if first.dims.iter().any(|name| name == axis) {
        return refuse(format!("it has an axis {axis:?} already"));
    }
    // Of what is lost nothing is known, and the stack cannot be read.
    let known = group.iter().enumerate().filter(|(_, it)| !it.dtype_name.is_empty());
    for (at, other) in known {
        if let Some(detail) = differing_kind(first, other) {
            return refuse(format!("{detail}, in the first one and that of number {at}"));
        }
    }
    Ok(())
}

fn stack(
    first: &Dataset,
    group: &[&Dataset],
    tables: Vec<Arc<dyn ChunkTable>>,
    part: &Grid,
    axis: &str,
    notes: &mut Vec<Note>,
) -> Result<Dataset> {
    let longer = |extents: &Shape, outer: usize| {
        [u64::try_from(outer).unwrap_or(u64::MAX)]
            .into_iter()
            .chain(extents.iter().copied())
            .collect()
    };
    let grid = Grid::new(longer(part.shape(), group.len()), longer(part.chunk_shape(), 1));
    let (what, wanted, limit) = ("elements of a stack", u64::MAX, i64::MAX.unsigned_abs());
    let grid = grid.ok_or(tet_query::Error::Limit { what, wanted, limit })?;
    let chunks = Stacked { tables, chunk_count: part.chunk_count() };
    let mut attrs = merged_attrs(group, notes);
    let mut coords: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    if let Some(labels) = labels(group, axis) {
        attrs.remove(axis);
        coords.insert(0, labels);
    }
    let mut dims = vec![axis.to_owned()];
    if group.iter().all(|it| it.dims == first.dims) && first.dims.len() == first.shape().len() {
        dims.extend(first.dims.iter().cloned());
        let inner =
            first.coords.iter().filter(|_| group.iter().all(|it| it.coords == first.coords));
        coords.extend(inner.map(|(axis, labels)| (axis.saturating_add(1), labels.clone())));
    } else {
        dims.extend((1..=first.shape().len()).map(|axis| format!("dim_{axis}")));
    }
    let fault = group.iter().find_map(|it| it.fault.clone());
    let chunks = Arc::new(chunks);
    Ok(Dataset { grid, dims, coords, attrs, fault, chunks, ..first.clone() })
}

/// The attributes of all, once where they are the same and else as a list.
fn merged_attrs(group: &[&Dataset], notes: &mut Vec<Note>) -> BTreeMap<String, AttrText> {
    let mut all = BTreeMap::new();
    let (mut left, count, mut len) = (0, group.len(), 0_usize);
    let mut keys: BTreeMap<&String, Vec<&AttrText>> = BTreeMap::new();
    for (key, value) in group.iter().flat_map(|it| &it.attrs) {
        keys.entry(key).or_default().push(value);
    }
    for (key, values) in keys {
        if let [value, others @ ..] = values.as_slice()
            && values.len() == count
            && others.iter().all(|other| other == value)
        {
            all.insert(key.clone(), (*value).clone());
            continue;
        }
        // The lists of all keys: each may be of another object.
        let texts = values.iter().map(|value| value.text().len());
        let with_list = texts.fold(len.saturating_add(count), usize::saturating_add);
        if LIST_LEN_MAX < with_list {
            left += 1;
            continue;
        }
        len = with_list;
        let values = group.iter().map(|it| it.attrs.get(key));
        let list: Vec<Json> = values.map(|value| value.map_or(Json::Null, json_of)).collect();
        all.insert(key.clone(), AttrText::Json(Json::Array(list).to_string()));
    }
    if left != 0 {
        let dataset = group.first().map(|it| it.name.clone()).unwrap_or_default();
        notes.push(Note::LeftBehind {
            dataset,
            what: "attributes that differ too much",
            count: left,
        });
    }
    all
}

fn json_of(value: &AttrText) -> Json {
    match value {
        AttrText::Text(text) => Json::String(text.clone()),
        AttrText::Json(text) | AttrText::Numbers { json: text, .. } => {
            serde_json::from_str(text).unwrap_or_else(|_| Json::String(text.clone()))
        }
    }
}

/// The labels of the axis: the attribute of its name, where each part has one and no two the same.
fn labels(group: &[&Dataset], axis: &str) -> Option<Vec<String>> {
    let label = |it: &&Dataset| match it.attrs.get(axis)? {
        AttrText::Text(text) => Some(text.clone()),
        AttrText::Json(text) | AttrText::Numbers { json: text, .. } => {
            match serde_json::from_str(text).ok()? {
                Json::Number(number) => Some(number.to_string()),
                _ => None,
            }
        }
    };
    let labels = group.iter().map(label).collect::<Option<Vec<String>>>()?;
    let mut sorted: Vec<&String> = labels.iter().collect();
    sorted.sort_unstable();
    let is_unique = sorted.iter().zip(sorted.iter().skip(1)).all(|(one, next)| one != next);
    is_unique.then_some(labels)
}

/// The chunks of several tables, one behind the other.
struct Stacked {
    tables: Vec<Arc<dyn ChunkTable>>,
    /// Chunks of each.
    chunk_count: u64,
}

impl Stacked {
    /// The table of a chunk, and the index of the chunk there.
    fn table(&self, linear: u64) -> Option<(&dyn ChunkTable, u64)> {
        let at = usize::try_from(linear.checked_div(self.chunk_count)?).ok()?;
        Some((self.tables.get(at)?.as_ref(), linear.checked_rem(self.chunk_count)?))
    }
}

impl ChunkTable for Stacked {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        for &chunk in linear {
            let Some((table, within)) = self.table(chunk) else {
                let (what, limit) = ("chunks of a stack", self.chunk_count);
                return Err(tet_query::Error::Limit { what, wanted: chunk, limit });
            };
            table.locate(&[within], out)?;
        }
        Ok(())
    }

    fn seals(&self) -> Vec<&Sealed> {
        self.tables.iter().flat_map(|table| table.seals()).collect()
    }

    fn integrity(&self) -> Integrity {
        let each = self.tables.iter().map(|table| table.integrity());
        each.reduce(Integrity::and).unwrap_or(Integrity::Unprotected)
    }

    fn decoder(&self, linear: u64, place: &ChunkPlace) -> Decoder<'_> {
        let table = self.table(linear);
        table.map_or(Decoder::Shared(&Raw), |(table, within)| table.decoder(within, place))
    }
}

/// An object that is one chunk: all its region.
struct Single {
    stored: Span,
    region: Region,
    sealed: Option<Sealed>,
}

impl ChunkTable for Single {
    fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
        let (stored, decoded_len) = (self.stored, self.region.decoded_len());
        locate(linear, stored, out, |_| Some(ChunkPlace::new(stored, decoded_len)))
    }

    fn seals(&self) -> Vec<&Sealed> {
        self.sealed.iter().collect()
    }

    fn decoder(&self, _linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
        Decoder::Shared(&self.region)
    }
}

/// The objects of the file, to be read as one chunk each where their own chunks differ.
struct Objects {
    file: TensogramFile,
    objects: Vec<ObjectAt>,
}

impl Objects {
    fn open(path: &Path, catalog: &Catalog) -> Result<Self> {
        let refused = |error| of_file(path, error);
        let file =
            TensogramFile::open(catalog.source().clone(), &Limits::default()).map_err(refused)?;
        let mut objects = Vec::new();
        for message in 0..file.len() {
            // Objects that cannot be found have no dataset either.
            objects.extend(file.objects(message).unwrap_or_default());
        }
        Ok(Objects { file, objects })
    }

    fn single(&self, path: &Path, dataset: &Dataset) -> Result<Arc<dyn ChunkTable>> {
        let Some(object) = self.objects.get(dataset.index).filter(|_| dataset.fault.is_none())
        else {
            return Ok(Arc::clone(&dataset.chunks));
        };
        let refused = |error| of_file(path, error);
        let bytes = self.file.read_descriptor(object).map_err(refused)?;
        let limits = self.file.limits();
        let descriptor =
            Descriptor::read(&bytes, object.descriptor.start(), limits).map_err(refused)?;
        let stored = object.region;
        let region =
            Region::new(&descriptor, stored.start(), stored.len(), limits).map_err(refused)?;
        Ok(Arc::new(Single { stored, region, sealed: seal::sealed(object) }))
    }
}

#[cfg(test)]
mod tests {
    use tet_codec::Decode;

    use super::*;

    /// A table of three chunks, each with a decoder of its own that fills it with a number.
    struct Three(u8);

    #[derive(Debug)]
    struct Fill(u8);

    impl Decode for Fill {
        fn name(&self) -> &'static str {
            "fill"
        }

        fn decode(&self, _stored: &[u8], out: &mut [u8]) -> tet_codec::Result<()> {
            out.fill(self.0);
            Ok(())
        }

        fn check_len(&self, _stored_len: u64, _decoded_len: u64) -> tet_codec::Result<()> {
            Ok(())
        }
    }

    impl ChunkTable for Three {
        fn locate(&self, linear: &[u64], out: &mut Vec<ChunkPlace>) -> tet_query::Result<()> {
            let stored = Span::new(0, 8).expect("eight bytes");
            out.extend(linear.iter().map(|_| ChunkPlace::new(stored, 8)));
            Ok(())
        }

        fn decoder(&self, linear: u64, _place: &ChunkPlace) -> Decoder<'_> {
            let chunk = u8::try_from(linear).expect("one of three");
            Decoder::Own(Box::new(Fill(self.0 * 3 + chunk)))
        }
    }

    #[test]
    fn every_chunk_of_a_stack_has_the_decoder_of_its_table() {
        let tables = (0..50).map(|at| Arc::new(Three(at)) as Arc<dyn ChunkTable>).collect();
        let stacked = Stacked { tables, chunk_count: 3 };
        let linear: Vec<u64> = (0..150).collect();
        let mut places = Vec::new();
        stacked.locate(&linear, &mut places).expect("they are there");
        for (at, place) in linear.iter().zip(&places) {
            let mut out = [0; 8];
            stacked.decoder(*at, place).decode(&[], &mut out).expect("it fills");
            assert_eq!(u64::from(out[7]), *at);
        }
        assert!(stacked.locate(&[150], &mut places).is_err());
    }
}
