//! Datasets as a Zarr hierarchy: a folder, or one zip file.
//!
//! ```text
//!   datasets -> names, axes, attributes, fill values: Draft -> documents
//!   bands of elements -> objects, encoded in parallel -> keys of the folder or members of the zip file
//! ```
//!
//! Documents come first, so that what follows has all that is needed to be understood.

pub(super) mod attributes;
mod chunk;
mod draft;
mod labels;
pub(super) mod names;
mod objects;
pub(crate) mod options;
mod shape;
mod store;
mod texts;

use std::borrow::Cow;
use std::path::Path;

use tet_format::DType;

pub use self::chunk::Cut;
pub use self::draft::{Elements, prepare as draft};

use self::chunk::ChunkEncoder;
use self::options::{ENCODING, ZARR_2, ZARR_3};
use super::Zarr;
use tet_container::Result;
use tet_container::model::attribute_types::AttrTypes;
use tet_container::model::logical::{self, Physical};
use tet_container::model::notes;
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::write::storage::{Checksum, PayloadCodec};
use tet_container::write::stream;
use tet_container::write::texts::outline;
use tet_container::write::write_option::WriteOption;
use tet_container::{Capabilities, Output};

/// The capabilities of the writer of hierarchies.
pub fn capabilities() -> Capabilities {
    tet_container::Writer::can(&Zarr)
}

impl tet_container::Writer for Zarr {
    fn can(&self) -> Capabilities {
        Capabilities {
            metadata: true,
            decodes: true,
            attr_types: AttrTypes::Json,
            text: true,
            options: &[
                WriteOption::Name,
                WriteOption::Chunks,
                WriteOption::Dims,
                WriteOption::Labels,
                WriteOption::Attrs,
                WriteOption::Codec(PayloadCodec::Raw),
                WriteOption::Codec(PayloadCodec::Zstd),
                WriteOption::Codec(PayloadCodec::Gzip),
                WriteOption::Level,
                WriteOption::Checksum(Checksum::None),
                WriteOption::Checksum(Checksum::Crc32c),
                WriteOption::Variant(Cow::Borrowed(ZARR_2)),
                WriteOption::Variant(Cow::Borrowed(ZARR_3)),
                WriteOption::Shards,
            ],
            ..Capabilities::ARRAYS
        }
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Output> {
        // Few readers know bfloat16, and one array that is not understood hides the others.
        let has = |dtype| !matches!(dtype, DType::BFloat16 | DType::Bitmask);
        let mut arrays = Vec::new();
        for dataset in &conversion.datasets {
            if dataset.is_text() {
                arrays.push(stream::whole(&outline(dataset))?);
                continue;
            }
            let physical = logical::to_physical(dataset, ENCODING, has)?;
            conversion.notes.extend(Physical::note(&physical));
            arrays.push(stream::whole(&physical.view)?);
        }
        let draft = draft(conversion, &arrays, options)?;
        let format = options::format(options);
        let encoders = draft.hierarchy.arrays.iter().map(|array| ChunkEncoder::new(array, format));
        let encoders = encoders.collect::<Result<Vec<_>>>()?;
        let execution = options.execution.begin(stream::total_len(&arrays));
        let (datasets, mut of_texts) = (conversion.datasets.clone(), Vec::new());
        let target = store::HierarchyOutput::for_output(output, options.output_name(output));
        let len = store::publish(conversion.catalog, target, format, &options.export(), |store| {
            for (key, document) in draft.hierarchy.documents() {
                store.put(&key, &document)?;
            }
            let arrays_of = draft.hierarchy.arrays.iter().zip(&draft.parts).zip(&encoders);
            for ((array, part), encoder) in arrays_of {
                match &part.elements {
                    Elements::Bytes(bytes) => objects::write_one(array, bytes, encoder, store)?,
                    Elements::Texts(number) => {
                        let dataset = *datasets.get(*number).expect("parts are made of datasets");
                        let execution = &execution;
                        let of = texts::TextArray { array, dataset, encoder, execution };
                        of_texts.extend(of.write(store)?);
                    }
                    Elements::Array(number) => {
                        let lazy = arrays.get(*number).expect("parts are made of arrays");
                        let of = objects::Written { array, part, lazy, encoder };
                        objects::write(&of, options, &execution, store)?;
                    }
                }
            }
            options.execution.progress.check()?;
            Ok(())
        })?;
        conversion.notes.extend(notes::unchecked(&arrays).into_iter().chain(of_texts));
        Ok(Output { len, chunk_shapes: draft.chunk_shapes(), ..Output::default() })
    }
}
