//! What the output will hold: names, chunk shapes, dimension names, attributes. Pure.

use std::collections::{BTreeMap, BTreeSet};

use tet_file::metadata::{AttrValue, DatasetMetadata, Metadata};
use tet_format::write::DatasetSpec;
use tet_format::{DType, Shape};

use super::descr::Descr;
use super::fault::NpyFault;
use super::npy::Header;
use super::options::{ChunkChoice, ImportOptions, Imported, position};
use super::{Error, Input, Labels, Result};
use crate::carry::logical::{DTYPE_KEY, PARTS_DIM};
use crate::labels::{check_axes, check_dims, of_dataset};
use crate::{Note, chunking};

/// `.tet` holds arrays of at most this rank.
const RANK_MAX: usize = 8;

/// The attribute of a dataset that was an array of rank 0.
pub(crate) const SCALAR_KEY: &str = "tet:scalar";
/// The attribute that says what the integers of times count.
pub(crate) const UNITS_KEY: &str = "units";
/// The attribute that says which value is none.
pub(crate) const FILL_KEY: &str = "_FillValue";
/// The integer of NumPy's "not a time".
pub(crate) const NOT_A_TIME: &str = "-9223372036854775808";

/// The datasets of the output, with the inputs they come from.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) datasets: Vec<(Input, DatasetSpec)>,
    pub(crate) metadata: Metadata,
}

impl Declared {
    pub(crate) fn new(
        inputs: Vec<Input>,
        labels: &Labels,
        options: &ImportOptions,
        notes: &mut Vec<Note>,
    ) -> Result<Self> {
        check_names(&inputs, options)?;
        let mut datasets = Vec::new();
        let mut metadata = Metadata::default();
        for input in inputs {
            let is_scalar = input.header.shape.is_empty();
            let shape = if is_scalar { vec![1] } else { input.header.shape.clone() };
            note(&input.name, &input.header, notes);
            let chunk_shape = chunk_shape(&input, &shape, &options.chunks)?;
            check_memory(&input, &shape, &chunk_shape)?;
            let descr = &input.header.descr;
            let (mut shape, mut chunk_shape) = (shape, chunk_shape);
            let mut about = about(&input.name, shape.len(), is_scalar, options);
            if descr.part().is_some() {
                shape.push(2);
                chunk_shape.push(2);
                let names = &mut about.dim_names;
                names.extend((!names.is_empty()).then(|| PARTS_DIM.to_owned()));
            }
            if RANK_MAX < shape.len() {
                let fault = NpyFault::Rank { rank: shape.len() };
                return Err(Error::Array { array: input.name, fault });
            }
            say(descr, &mut about);
            if !about.is_empty() {
                metadata.datasets.insert(input.name.clone(), about);
            }
            let spec = DatasetSpec {
                name: input.name.clone(),
                dtype: descr.part().unwrap_or(descr.dtype),
                shape: Shape::from(shape),
                chunk_shape: Shape::from(chunk_shape),
            };
            datasets.push((input, spec));
        }
        let ranks =
            datasets.iter().map(|(input, _)| (&*input.name, input.header.shape.len().max(1)));
        check_dims(options, ranks, notes)?;
        label(&datasets, labels, options, &mut metadata)?;
        Ok(Self { datasets, metadata })
    }

    pub(crate) fn imported(&self) -> Vec<Imported> {
        let imported = self.datasets.iter().map(|(_, spec)| Imported {
            name: spec.name.clone(),
            dtype: spec.dtype.name().to_owned(),
            shape: spec.shape.to_vec(),
            chunk_shape: spec.chunk_shape.to_vec(),
        });
        imported.collect()
    }

    /// Bytes of all elements in the output, decoded.
    pub(crate) fn decoded_len(&self) -> u64 {
        let lens = self.datasets.iter().map(|(_, spec)| {
            let count = spec.shape.element_count().unwrap_or(u64::MAX);
            count.saturating_mul(spec.dtype.size().unwrap_or(1))
        });
        lens.fold(0, u64::saturating_add)
    }
}

/// Which of `names` the caller wants, in their order.
pub(crate) fn select(names: &[&str], options: &ImportOptions) -> Result<Vec<bool>> {
    let at = |asked: &String| {
        let found = position(names, asked);
        found.ok_or_else(|| Error::no_such_dataset(asked, names.iter().copied()))
    };
    let taken = options.include.iter().map(at).collect::<Result<Vec<_>>>()?;
    let left = options.exclude.iter().map(at).collect::<Result<Vec<_>>>()?;
    let is_wanted = |at| (taken.is_empty() || taken.contains(&at)) && !left.contains(&at);
    Ok((0..names.len()).map(is_wanted).collect())
}

/// Every dataset that an option names is there.
fn check_names(inputs: &[Input], options: &ImportOptions) -> Result<()> {
    let known = inputs.iter().map(|input| input.name.as_str()).collect::<BTreeSet<_>>();
    let dims = options.dims.iter().filter_map(|dims| dims.dataset.as_deref());
    let attrs = options.attrs.iter().filter_map(|attr| attr.dataset.as_deref());
    let labels = options.labels.iter().filter_map(|labels| labels.dataset.as_deref());
    let attrs = attrs.chain(labels);
    match dims.chain(attrs).find(|name| !known.contains(name)) {
        Some(name) => {
            Err(Error::no_such_dataset(name, inputs.iter().map(|input| input.name.as_str())))
        }
        None => Ok(()),
    }
}

/// What the elements are, where `.tet` has no type for them.
fn say(descr: &Descr, about: &mut DatasetMetadata) {
    let mut say = |key: &str, value: &str| {
        about.attrs.entry(key.to_owned()).or_insert_with(|| AttrValue::from(value));
    };
    if descr.part().is_some() || descr.is_widened() || descr.name == DType::Bool.name() {
        say(DTYPE_KEY, descr.name);
    }
    if let Some(units) = descr.units {
        say(UNITS_KEY, units);
        say(FILL_KEY, NOT_A_TIME);
    }
}

/// Puts labels on the axes they are asked for, or whose name an array of texts has.
fn label(
    datasets: &[(Input, DatasetSpec)],
    arrays: &Labels,
    options: &ImportOptions,
    metadata: &mut Metadata,
) -> Result<()> {
    let dims = |name: &str| metadata.dataset(name).map(|it| it.dim_names.clone());
    let axes: Vec<_> = datasets
        .iter()
        .map(|(input, spec)| (input, spec, dims(&input.name).unwrap_or_default()))
        .collect();
    let named = axes.iter().map(|(input, spec, dims)| (&*input.name, &**dims, spec.shape.rank()));
    check_axes(&options.labels, named)?;
    let mut used = BTreeSet::new();
    for (input, spec, dims) in &axes {
        let mut values = |name: &str| {
            used.insert(name.to_owned());
            let found = arrays.get(name).map(|array| array.texts.clone());
            found.ok_or_else(|| Error::no_such_dataset(name, arrays.keys().map(String::as_str)))
        };
        let shape = &spec.shape[..];
        let mut coords = of_dataset(&options.labels, &input.name, (dims, shape), &mut values)?;
        for (axis, (dim, extent)) in dims.iter().zip(shape).enumerate() {
            let Some(array) = arrays.get(dim).filter(|array| array.must_be_used) else { continue };
            if u64::try_from(array.texts.len()) == Ok(*extent) && !coords.contains_key(&axis) {
                used.insert(dim.clone());
                coords.insert(axis, array.texts.clone());
            }
        }
        let about = metadata.datasets.entry(input.name.clone()).or_default();
        for (axis, labels) in coords {
            let number = axis.to_string();
            let key = dims.get(axis).filter(|dim| about.axis(dim, shape.len()) == Some(axis));
            about.coords.insert(key.cloned().unwrap_or(number), labels);
        }
        if about.is_empty() {
            metadata.datasets.remove(&input.name);
        }
    }
    let mut unused = arrays.iter().filter(|(name, it)| it.must_be_used && !used.contains(*name));
    match unused.next() {
        Some((array, _)) => Err(Error::UnusedTexts { array: array.clone() }),
        None => Ok(()),
    }
}

fn note(name: &str, header: &Header, notes: &mut Vec<Note>) {
    let (dataset, descr) = (name.to_owned(), &header.descr);
    if header.shape.contains(&0) {
        notes.push(Note::NoElements { dataset: dataset.clone() });
    }
    if header.shape.is_empty() {
        notes.push(Note::Scalar { dataset: dataset.clone() });
    }
    if let Some(units) = descr.units {
        notes.push(Note::Times { dataset: dataset.clone(), units });
    }
    if let Some(to) = descr.part() {
        notes.push(Note::AsBits { dataset, from: descr.name.to_owned(), to });
    } else if descr.is_widened() || descr.name == DType::Bool.name() {
        notes.push(Note::Widened { dataset, from: descr.name, to: descr.dtype });
    }
}

fn chunk_shape(input: &Input, shape: &[u64], choice: &ChunkChoice) -> Result<Vec<u64>> {
    match choice {
        ChunkChoice::Auto => {
            Ok(chunking::auto(shape, input.header.descr.dtype.size().unwrap_or(1)))
        }
        ChunkChoice::Shape(chunk_shape) if chunk_shape.contains(&0) => {
            Err(Error::ChunkZero { chunk_shape: chunk_shape.clone() })
        }
        ChunkChoice::Shape(chunk_shape) if chunk_shape.len() != shape.len() => {
            Err(Error::ChunkRank {
                dataset: input.name.clone(),
                shape: shape.to_vec(),
                chunk_shape: chunk_shape.clone(),
            })
        }
        ChunkChoice::Shape(chunk_shape) => Ok(chunk_shape.clone()),
    }
}

/// Memory can hold a chunk: whoever fills it would otherwise have no way to say so.
fn check_memory(input: &Input, shape: &[u64], chunk_shape: &[u64]) -> Result<()> {
    let extents = shape.iter().zip(chunk_shape).map(|(&shape, &chunk)| shape.min(chunk));
    let size = input.header.descr.dtype.size().unwrap_or(1);
    let len = extents.fold(size, u64::saturating_mul);
    let is_held = usize::try_from(len).is_ok_and(|len| Vec::<u8>::new().try_reserve(len).is_ok());
    if is_held { Ok(()) } else { Err(Error::Memory { dataset: input.name.clone() }) }
}

/// The dimension names and attributes of one dataset; what names it comes after what names all.
pub(crate) fn about(
    name: &str,
    rank: usize,
    is_scalar: bool,
    options: &ImportOptions,
) -> DatasetMetadata {
    let mut about = DatasetMetadata::default();
    let mut attrs = BTreeMap::new();
    if is_scalar {
        attrs.insert(SCALAR_KEY, "1");
    }
    for is_named in [false, true] {
        let meant = |dataset: &Option<String>| match dataset {
            Some(dataset) => is_named && dataset == name,
            None => !is_named,
        };
        for dims in options.dims.iter().filter(|dims| meant(&dims.dataset)) {
            if dims.names.len() == rank {
                about.dim_names.clone_from(&dims.names);
            }
        }
        for attr in options.attrs.iter().filter(|attr| meant(&attr.dataset)) {
            attrs.insert(&attr.key, &attr.value);
        }
    }
    let attrs = attrs.into_iter();
    about.attrs =
        attrs.map(|(key, value)| (key.to_owned(), AttrValue::Text(value.to_owned()))).collect();
    about
}
