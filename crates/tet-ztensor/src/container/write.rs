//! Datasets as a zTensor file.

mod from_dense;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

use crate::{Check, DTYPES, Declaration, Limits, Sparse, Value, Writer, ZTensorFile};
use tet_format::DType;
use tet_query::{AttrText, Catalog, Dataset, DigestPolicy, LazyArray};

use self::from_dense::from_dense;
use super::ZTensor;
use super::attrs::escaped;
use super::options::{V01X, is_v01x, of_tensor, write_options};
use super::sparse::check_budget;
use super::ties::ties;
use tet_container::model::attribute_types::AttrTypes;
use tet_container::model::attributes::{self, SCALAR_KEY};
use tet_container::model::axes::{COORDS_KEY, DIMS_KEY, coords_field, dims_field};
use tet_container::model::item::field;
use tet_container::model::logical::Physical;
use tet_container::model::notes;
use tet_container::model::origin::{HEADER_KEY, INDEX_KEY};
use tet_container::model::sparse::{
    FORMAT_KEY, OF_KEY, PART_KEY, SparseStorage, SparseTensor, sparse_tensors, text,
};
use tet_container::write::conversion::{Conversion, ConvertOptions, DenseOutput, SparseOutput};
use tet_container::write::joined::{Joined, joined};
use tet_container::write::storage::{self, Checksum, PayloadCodec, SparseLayout};
use tet_container::write::stream::{self, shape_of};
use tet_container::write::write_option::WriteOption;
use tet_container::{Capabilities, Output};
use tet_container::{Error, Format, Note, Result};

impl tet_container::Writer for ZTensor {
    fn can(&self) -> Capabilities {
        Capabilities {
            metadata: true,
            keeps_header: true,
            decodes: true,
            attr_types: AttrTypes::Cbor,
            sparse: true,
            options: &[
                WriteOption::Dims,
                WriteOption::Labels,
                WriteOption::Attrs,
                WriteOption::Codec(PayloadCodec::Raw),
                WriteOption::Codec(PayloadCodec::Zstd),
                WriteOption::Level,
                WriteOption::Align(64),
                WriteOption::Align(4096),
                WriteOption::Align(65_536),
                WriteOption::AlignAbove,
                WriteOption::Checksum(Checksum::None),
                WriteOption::Checksum(Checksum::Crc32c),
                WriteOption::Checksum(Checksum::Sha256),
                WriteOption::Variant(Cow::Borrowed(V01X)),
                WriteOption::NativeSparse,
            ],
            ..Capabilities::ARRAYS
        }
    }

    fn keeps_shared_bytes(&self, options: &ConvertOptions) -> bool {
        !is_v01x(options)
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Output> {
        let physical = to_physical(conversion, options)?;
        let file = of_file(conversion, options)?;
        let how = write_options(options)?;
        let publish = options.export().publish(conversion.catalog);
        let (note, written) = crate::publish(output, &how, &publish, |writer| {
            let note = put(conversion.catalog, conversion.joined, &physical, writer, options)?;
            // Behind the others, which keep their numbers.
            if !file.is_empty() {
                writer.metadata(file)?;
            }
            Ok::<_, Error>(note)
        })?;
        conversion.notes.extend(note);
        Ok(Output { len: written.file_len, ..Output::default() })
    }
}

/// The datasets as the format stores them, with notes of those whose type it lacks and of those that
/// are written in parts.
fn to_physical(conversion: &mut Conversion<'_>, options: &ConvertOptions) -> Result<Vec<Physical>> {
    let has = |dtype: DType| DTYPES.contains(&dtype);
    let physical = conversion.to_physical("ztensor", has)?;
    conversion.notes.extend(physical.iter().filter_map(Physical::note));
    let is_split = options.storage.sparse == SparseLayout::Parts;
    if options.sparse == SparseOutput::Sparse && is_split {
        let native = sparse_tensors(conversion.catalog).into_iter();
        let native = native.filter(|it| it.storage == SparseStorage::Native);
        let written: BTreeSet<&str> = physical.iter().map(|it| it.view.name.as_str()).collect();
        let is_written = |it: &SparseTensor| written.contains(it.name.as_str());
        let notes = native.filter(is_written).map(|it| {
            let (dataset, parts) = (it.name, it.parts);
            Note::InParts { dataset, parts }
        });
        conversion.notes.extend(notes);
    }
    Ok(physical)
}

/// Writes the tensors one after the other; gives the note that some were not compared.
fn put<W: Write + Send>(
    catalog: &Catalog,
    split: &[Joined],
    physical: &[Physical],
    writer: &mut Writer<W>,
    options: &ConvertOptions,
) -> Result<Option<Note>> {
    let arrays = physical.iter().map(|it| stream::whole(&it.view));
    let arrays = arrays.collect::<Result<Vec<_>>>()?;
    let how = options.execution.begin(stream::total_len(&arrays));
    let stored = sparse_of(catalog, options)?;
    let datasets: Vec<&Dataset> = arrays.iter().map(LazyArray::dataset).collect();
    let firsts = ties(catalog, &datasets)?;
    let makes_sparse = options.dense == DenseOutput::Sparse && sparse_tensors(catalog).is_empty();
    let native = native_of(catalog, &datasets, options)?;
    let joined_as = |it: &Dataset| {
        let split = split.iter().find(|tensor| tensor.dataset.index == it.index);
        split.or_else(|| native.get(&it.name))
    };
    let is_joined = |it: &Dataset| joined_as(it).is_some();
    let is_stored = |it: &Dataset| {
        let tensor = stored.as_ref().and_then(|file| file.tensor(it.index));
        tensor.is_some_and(|tensor| tensor.is_sparse())
    };
    check_codecs(physical, |it| makes_sparse || is_joined(it) || is_stored(it), options)?;
    for ((lazy, physical), first) in arrays.iter().zip(physical).zip(firsts) {
        let first = first.filter(|_| !is_v01x(options));
        if let Some(first) = first.and_then(|first| datasets.get(first)) {
            writer.alias(declaration(lazy, options), &first.name)?;
            how.progress.advance(stream::len_of(lazy))?;
            continue;
        }
        if let Some(file) = &stored
            && let Some(tensor) = file.tensor(lazy.dataset().index).filter(|it| it.is_sparse())
        {
            let check = of_policy(how.digests);
            check_budget(file, tensor, how.memory_budget)?;
            let sparse = file.read_sparse(tensor, check)?;
            writer.sparse(declaration(lazy, options), &sparse.places, &sparse.values)?;
            continue;
        }
        let tensor = joined_as(lazy.dataset());
        if let Some(Joined { stored, .. }) =
            tensor.filter(|_| options.sparse == SparseOutput::Sparse)
        {
            let Sparse { places, values, .. } = stored.sparse();
            writer.sparse(declaration(lazy, options), places, values)?;
            continue;
        }
        let is_plain = physical.note().is_none() && !shape_of(lazy).is_empty();
        if makes_sparse && is_plain && !lazy.shape().contains(&0) {
            let (places, values) = from_dense(lazy, &how)?;
            writer.sparse(declaration(lazy, options), &places, &values)?;
            continue;
        }
        let how_stored = of_tensor(&lazy.dataset().name, options)?;
        let mut tensor = writer.tensor_as(declaration(lazy, options), &how_stored)?;
        stream::for_each(lazy, &how, &mut |elements| Ok(tensor.write(elements)?))?;
        tensor.finish()?;
    }
    catalog.check_unchanged()?;
    options.execution.progress.check()?;
    Ok(notes::unchecked(&arrays))
}

/// Checks the codecs of all datasets before anything is written. Sparse tensors have that of the file.
fn check_codecs(
    physical: &[Physical],
    sparse: impl Fn(&Dataset) -> bool,
    options: &ConvertOptions,
) -> Result<()> {
    for dataset in physical.iter().map(|it| &it.view) {
        of_tensor(&dataset.name, options)?;
        if sparse(dataset) && !storage::codec_rules(&options.codecs, &dataset.name).is_empty() {
            let why = "a sparse tensor has the codec of the file: leave out the one for it";
            return Err(Error::Unfit { dataset: dataset.name.clone(), encoding: "zTensor", why });
        }
    }
    Ok(())
}

/// The file itself, where sparse tensors are taken out of it as they are.
fn sparse_of(catalog: &Catalog, options: &ConvertOptions) -> Result<Option<ZTensorFile>> {
    let is_asked = options.sparse == SparseOutput::Sparse;
    if !is_asked || catalog.format() != Format::ZTENSOR.name() {
        return Ok(None);
    }
    Ok(Some(ZTensorFile::open(catalog.source().clone(), &Limits::default())?))
}

/// The sparse tensors of several files that have them as such, by name.
fn native_of(
    catalog: &Catalog,
    datasets: &[&Dataset],
    options: &ConvertOptions,
) -> Result<BTreeMap<String, Joined>> {
    // Those of one file are taken out of it, or written dense where it is of an older version.
    let of_one = [Format::ZTENSOR, Format::ZTENSOR1, Format::ZTENSOR2].map(Format::name);
    if options.sparse != SparseOutput::Sparse || of_one.contains(&catalog.format()) {
        return Ok(BTreeMap::new());
    }
    let names: BTreeSet<&str> = datasets.iter().map(|it| it.name.as_str()).collect();
    let is_of = |it: &&Dataset| text(it, OF_KEY).is_some_and(|of| names.contains(of));
    let parts: Vec<&Dataset> = catalog.parts().iter().filter(is_of).collect();
    let tensors = joined(&parts, &options.execution.silent())?.into_iter();
    Ok(tensors.map(|tensor| (tensor.dataset.name.clone(), tensor)).collect())
}

const fn of_policy(policy: DigestPolicy) -> Check {
    match policy {
        DigestPolicy::Never => Check::Never,
        DigestPolicy::Auto | DigestPolicy::Always => Check::Always,
    }
}

/// The metadata of the whole file, unless the dialect has no place for it.
fn of_file(
    conversion: &mut Conversion<'_>,
    options: &ConvertOptions,
) -> Result<Vec<(String, Value)>> {
    let attrs = conversion.catalog.attrs();
    // The index of a model is to come back verbatim.
    let item = |key: &str, value: &AttrText| match value {
        AttrText::Json(text) if key == INDEX_KEY => Value::Text(text.clone()),
        value => field(value),
    };
    let mut fields: Vec<(String, Value)> =
        attrs.iter().map(|(key, value)| (escaped(key), item(key, value))).collect();
    let header = conversion.header.clone().map(Value::Text);
    fields.extend(header.map(|header| (HEADER_KEY.to_owned(), header)));
    if is_v01x(options) {
        conversion.notes.extend(Note::left_behind("", "attributes of the file", fields.len()));
        fields.clear();
    }
    Ok(fields)
}

fn declaration(lazy: &LazyArray, options: &ConvertOptions) -> Declaration {
    let dataset = lazy.dataset();
    let shape = shape_of(lazy);
    let mut tensor = Declaration::new(dataset.name.clone(), lazy.dtype(), shape.clone());
    let asked = attributes::given(&dataset.name, shape.rank(), &options.tet);
    let dims = if asked.dim_names.is_empty() { dataset.dims.clone() } else { asked.dim_names };
    // Parts of sparse tensors name their format in the field that sparse tensors have for it.
    let is_part = text(dataset, PART_KEY).is_some();
    let key_of = |key: &str| {
        if is_part && key == FORMAT_KEY { key.to_owned() } else { escaped(key) }
    };
    for (key, value) in dataset.attrs.iter().filter(|(key, _)| *key != SCALAR_KEY) {
        if !asked.attrs.contains_key(key) {
            tensor.custom.push((key_of(key), field(value)));
        }
    }
    for (key, value) in &asked.attrs {
        let (tet_file::AttrValue::Text(text) | tet_file::AttrValue::Json(text)) = value;
        tensor.custom.push((escaped(key), Value::Text(text.clone())));
    }
    if !dims.is_empty() && !shape.is_empty() {
        tensor.custom.push((DIMS_KEY.to_owned(), dims_field(&dims)));
    }
    if !dataset.coords.is_empty() {
        tensor.custom.push((COORDS_KEY.to_owned(), coords_field(dataset)));
    }
    tensor
}
