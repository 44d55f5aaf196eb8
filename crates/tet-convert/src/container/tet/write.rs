//! Datasets as a `.tet` file.

use std::path::Path;

use tet_file::metadata::{AttrValue, HistoryRow, Metadata};
use tet_file::parts::{FilePlan, publish};
use tet_file::write::{CodecChoice, WriteOptions, Writer, Written, ZeroExtents};
use tet_format::write::{Align, DatasetSpec};
use tet_format::{DType, Shape};
use tet_query::{Dataset, LazyArray};

use super::stored::StoredChunks;
use super::{Tet, chunks, metadata};
use crate::{Error, Note, Result, chunking};
use tet_container::model::attribute_types::AttrTypes;
use tet_container::model::logical::{Physical, to_physical};
use tet_container::model::origin::HEADER_KEY;
use tet_container::model::{attributes, notes};
use tet_container::no_codec;
use tet_container::write::chunk_shape::{self, AskedChunks, chunks_of};
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::write::storage::{self, PayloadCodec, Storage};
use tet_container::write::stream::{self, shape_of};
use tet_container::write::write_option::WriteOption;
use tet_container::{Capabilities, Output};

/// The level of zstd where none is asked for.
const LEVEL: i32 = 3;

impl tet_container::Writer for Tet {
    fn can(&self) -> Capabilities {
        Capabilities {
            metadata: true,
            keeps_header: true,
            decodes: true,
            attr_types: AttrTypes::Json,
            history: true,
            options: &[
                WriteOption::Name,
                WriteOption::Chunks,
                WriteOption::Dims,
                WriteOption::Labels,
                WriteOption::Attrs,
                WriteOption::Digests,
                WriteOption::Statistics,
                WriteOption::History,
                WriteOption::Codec(PayloadCodec::Raw),
                WriteOption::Codec(PayloadCodec::Zstd),
                WriteOption::Level,
                WriteOption::Align(8),
                WriteOption::Align(64),
                WriteOption::Align(4096),
                WriteOption::ReservedRows,
            ],
            ..Capabilities::ARRAYS
        }
    }

    fn check(&self, dataset: &Dataset, encoding: &'static str) -> Result<()> {
        let physical = to_physical(dataset, encoding, |_| true)?;
        check_rank(&physical.view)
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Output> {
        let catalog = conversion.catalog;
        let has = |dtype: DType| dtype.tet_tag().is_some();
        let physical = conversion.to_physical("tet", has)?;
        let arrays =
            physical.iter().map(|it| stream::whole(&it.view)).collect::<Result<Vec<_>>>()?;
        let mut specs = Vec::new();
        for (physical, lazy) in physical.iter().zip(&arrays) {
            let spec = spec(physical, lazy, options)?;
            note(physical, lazy, &mut conversion.notes);
            specs.push(spec);
        }
        // A codec that there is not is found before anything is written.
        specs.iter().try_for_each(|spec| codec_of(&spec.name, options).map(drop))?;
        let tet = &options.tet;
        let how = WriteOptions {
            threads: tet.threads,
            memory: Some(options.execution.memory_budget / 4),
            align: align(&options.storage),
            reserved_rows: tet.reserved_rows,
            digests: tet.digests,
            statistics: tet.statistics,
            zero_extents: ZeroExtents::Allow,
            sync: tet.sync,
            overwrite: tet.overwrite,
            inputs: catalog.stamps(),
            version: None,
            ..WriteOptions::default()
        };
        if tet.keep_stored
            && let Some(stored) = StoredChunks::from_arrays(&arrays, &specs)?
        {
            let metadata = metadata(conversion, &arrays, options)?;
            let plan = FilePlan::of_datasets(specs.clone(), metadata, CodecChoice::Raw)?;
            let (parts, base) = (stored.into_parts(), None);
            let history = history(conversion, options);
            let progress = options.execution.progress.begin(stream::total_len(&arrays));
            let history = history.as_slice();
            let published = publish(&plan, &parts, base, output, &how, history, &progress)?;
            return Ok(output_of(published.written, specs));
        }
        let mut writer = Writer::create(output, specs.clone(), &how)?;
        let reading = options.execution.begin(stream::total_len(&arrays));
        for (id, (lazy, spec)) in arrays.iter().zip(&specs).enumerate() {
            writer.set_codec(codec_of(&spec.name, options)?)?;
            let bands = chunks::bands(lazy, spec, &reading, options.open.scratch.as_deref())?;
            chunks::write(bands, id, &mut writer, &reading.progress)?;
        }
        conversion.notes.extend(notes::unchecked(&arrays));
        catalog.check_unchanged()?;
        options.execution.progress.check()?;
        let metadata = metadata(conversion, &arrays, options)?;
        let history = history(conversion, options);
        Ok(output_of(writer.finish(&metadata, history.as_slice())?, specs))
    }
}

/// How the file was made, where that is recorded.
fn history(conversion: &mut Conversion<'_>, options: &ConvertOptions) -> Option<HistoryRow> {
    let converted = options.tet.history.map(|origin| {
        let path = conversion.catalog.source().path();
        let name = path.map(tet_io::file_name).unwrap_or_default();
        let mut row = HistoryRow::new("convert", &name, &origin.at.to_string());
        row.params.extend(options.select.clone().map(|text| ("select".to_owned(), text)));
        let dtypes: Vec<String> = options.dtypes.iter().map(ToString::to_string).collect();
        let dtypes = Some(dtypes.join(" ")).filter(|text| !text.is_empty());
        row.params.extend(dtypes.map(|text| ("dtype".to_owned(), text)));
        row
    });
    conversion.history.take().or(converted)
}

fn output_of(written: Written, specs: Vec<DatasetSpec>) -> Output {
    let chunk_shapes = specs.into_iter().map(|spec| spec.chunk_shape.into_vec()).collect();
    Output { len: written.file_len, chunk_shapes, ..Output::default() }
}

/// Where the payloads of datasets start.
fn align(storage: &Storage) -> Align {
    match storage.align {
        Some(8) => Align::A8,
        Some(4096) => Align::A4096,
        _ => Align::A64,
    }
}

/// How the chunks of a dataset are stored.
pub(super) fn codec_of(dataset: &str, options: &ConvertOptions) -> Result<CodecChoice> {
    let usual = options.storage.codec_or(PayloadCodec::Zstd);
    let asked = storage::codec_of(dataset, usual, &options.codecs);
    match (asked.codec, asked.level) {
        (PayloadCodec::Raw, None) => Ok(CodecChoice::Raw),
        (PayloadCodec::Zstd, level) => Ok(CodecChoice::Zstd { level: level.unwrap_or(LEVEL) }),
        _ => Err(no_codec(dataset, "tet", asked)),
    }
}

fn check_rank(view: &Dataset) -> Result<()> {
    let (dataset, rank) = (view.name.clone(), view.shape().len());
    if tet_format::layout::RANK_MAX < u32::try_from(rank).unwrap_or(u32::MAX) {
        return Err(Error::Rank { dataset, rank });
    }
    Ok(())
}

fn spec(physical: &Physical, lazy: &LazyArray, options: &ConvertOptions) -> Result<DatasetSpec> {
    let name = physical.view.name.clone();
    check_rank(&physical.view)?;
    let shape = if shape_of(lazy).is_empty() { Shape::from([1]) } else { lazy.shape().clone() };
    // Bytes of one element stay together.
    let (outer, inner) = shape.split_at(shape.rank() - physical.inner);
    let size = physical.stored.size().unwrap_or(1);
    let size = inner.iter().copied().fold(size, u64::saturating_mul);
    let mut chunk_shape = match chunks_of(lazy.dataset(), outer, size, options)? {
        AskedChunks::Kept => chunk_shape::chosen(lazy.dataset(), outer, size, options),
        AskedChunks::Auto => chunking::auto(outer, size),
        AskedChunks::Shape(chunk_shape) => chunk_shape,
    };
    chunk_shape.extend(inner);
    check_memory(&name, &shape, &chunk_shape, physical.stored)?;
    Ok(DatasetSpec { name, dtype: physical.stored, shape, chunk_shape: chunk_shape.into() })
}

/// Memory can hold a chunk.
fn check_memory(name: &str, shape: &[u64], chunk_shape: &[u64], dtype: DType) -> Result<()> {
    let extents = shape.iter().zip(chunk_shape).map(|(&extent, &chunk)| extent.min(chunk));
    let len = extents.fold(dtype.size().unwrap_or(1), u64::saturating_mul);
    let fits = usize::try_from(len).is_ok_and(|len| Vec::<u8>::new().try_reserve(len).is_ok());
    if fits { Ok(()) } else { Err(Error::Memory { dataset: name.to_owned() }) }
}

/// Differences in the file.
fn note(physical: &Physical, lazy: &LazyArray, notes: &mut Vec<Note>) {
    let dataset = || physical.view.name.clone();
    if shape_of(lazy).is_empty() {
        notes.push(Note::Scalar { dataset: dataset() });
    }
    if physical.view.shape().contains(&0) {
        notes.push(Note::NoElements { dataset: dataset() });
    }
    notes.extend(physical.note());
}

fn metadata(
    conversion: &Conversion<'_>,
    arrays: &[LazyArray],
    options: &ConvertOptions,
) -> Result<Metadata> {
    let catalog = conversion.catalog;
    let mut metadata = Metadata::new();
    for (key, value) in catalog.attrs() {
        metadata.file.insert(key.clone(), metadata::attr_value(value));
    }
    // Another program that wrote the input is not the writer of this file.
    for (key, value) in [("tool", "tet"), ("library_version", env!("CARGO_PKG_VERSION"))] {
        metadata.file.entry(key.to_owned()).and_modify(|old| *old = AttrValue::from(value));
    }
    if let Some(header) = &conversion.header {
        metadata.file.insert(HEADER_KEY.to_owned(), AttrValue::Text(header.clone()));
    }
    for lazy in arrays {
        let is_scalar = shape_of(lazy).is_empty();
        metadata::dataset(lazy, is_scalar, &mut metadata);
        let name = &lazy.dataset().name;
        let asked = attributes::given(name, lazy.shape().rank(), &options.tet);
        let about = metadata.datasets.entry(name.clone()).or_default();
        if !asked.dim_names.is_empty() {
            about.dim_names = asked.dim_names;
        }
        about.attrs.extend(asked.attrs);
        if about.is_empty() {
            metadata.datasets.remove(name);
        }
    }
    Ok(metadata)
}
