//! Datasets as a Tensogram file: one message, an object each.

pub(super) mod metadata;

use std::borrow::Cow;
use std::io::{Seek, Write};
use std::path::Path;

use crate::{
    Compressing, Descriptor, Encoded, Error as Theirs, HeadedWriter, Maker, MaskMethod, NonFinite,
    NonFiniteSeen, Recipe, Value, encode_in_passes, encode_seen,
};
use tet_format::DType;
use tet_io::Publisher;
use tet_query::{AttrText, Dataset, Execution, LazyArray};

use super::Tensogram;
use super::options::{self, UNIVERSAL, compression, recipe, write_options};
use tet_container::model::attribute_types::AttrTypes;
use tet_container::model::attributes::shape_of_text;
use tet_container::model::logical::{DTYPE_KEY, Physical, SHAPE_KEY};
use tet_container::model::notes;
use tet_container::write::conversion::{Conversion, ConvertOptions};
use tet_container::write::storage::PayloadCodec;
use tet_container::write::stream::{self, shape_of};
use tet_container::write::write_option::WriteOption;
use tet_container::{Capabilities, FaultCause, Output};
use tet_container::{Error, Note, Result};

/// Positions in a mask of this many elements are past what a roaring bitmap holds.
const ROARING_COUNT: u64 = 1 << 32;

/// A dataset as an object.
pub(super) struct Object {
    lazy: LazyArray,
    dtype: DType,
    shape: Vec<u64>,
    recipe: Recipe,
}

impl Object {
    /// An object of these elements, whose recipe is that for their number.
    pub(super) fn new(lazy: LazyArray, dtype: DType, shape: Vec<u64>, mut recipe: Recipe) -> Self {
        let count = stream::len_of(&lazy) / lazy.dtype().size().unwrap_or(1);
        if count == 0 {
            // Nothing is stored, in whatever way.
            (recipe.compression, recipe.packing, recipe.shuffle) = (Compressing::None, None, None);
        }
        if ROARING_COUNT <= count && recipe.mask_method == MaskMethod::Roaring {
            recipe.mask_method = MaskMethod::Rle;
        }
        Object { lazy, dtype, shape, recipe }
    }

    /// Its elements.
    pub(super) const fn lazy(&self) -> &LazyArray {
        &self.lazy
    }

    /// How they are stored.
    pub(super) const fn recipe(&self) -> &Recipe {
        &self.recipe
    }
}

impl tet_container::Writer for Tensogram {
    fn can(&self) -> Capabilities {
        Capabilities {
            metadata: true,
            keeps_header: true,
            decodes: true,
            attr_types: AttrTypes::Cbor,
            same_names: true,
            options: &[
                WriteOption::Dims,
                WriteOption::Labels,
                WriteOption::Attrs,
                WriteOption::Digests,
                WriteOption::History,
                WriteOption::Codec(PayloadCodec::Raw),
                WriteOption::Codec(PayloadCodec::Zstd),
                WriteOption::Codec(PayloadCodec::Lz4),
                WriteOption::Codec(PayloadCodec::Szip),
                WriteOption::Level,
                WriteOption::Align(8),
                WriteOption::Align(64),
                WriteOption::Align(4096),
                WriteOption::Align(65_536),
                WriteOption::Packing,
                WriteOption::Filter,
                WriteOption::Masks,
                WriteOption::Variant(Cow::Borrowed(UNIVERSAL)),
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
        options::check(options)?;
        let catalog = conversion.catalog;
        let has = |dtype: DType| dtype != DType::Bool;
        let physical = conversion.to_physical("tensogram", has)?;
        conversion.notes.extend(physical.iter().filter_map(Physical::note));
        let views: Vec<Bits> = physical.into_iter().map(|it| Bits::new(it.view, options)).collect();
        let mut objects = Vec::new();
        for view in &views {
            objects.push(object(view, options)?);
        }
        let metadata = metadata::collect(conversion, &objects, options)?;
        metadata::note_lost(conversion)?;
        let mut publisher = Publisher::begin(output, &options.export().publish(catalog))?;
        let (name, version) = ("tet", env!("CARGO_PKG_VERSION"));
        let maker = options.tet.history.map(|origin| Maker { name, version, time: origin.at });
        let put = || {
            let how = write_options(options);
            let mut writer =
                HeadedWriter::new(publisher.file(), metadata, maker, objects.len(), &how)?;
            let reading =
                options.execution.begin(stream::total_len(objects.iter().map(|it| &it.lazy)));
            for object in &objects {
                let start = writer.sink().1;
                conversion.notes.extend(put(object, &mut writer, &reading)?);
                let (file, end) = writer.sink();
                file.mark_final(start..end);
            }
            Ok(writer.finish()?.1)
        };
        let len = put().map_err(|error| match error {
            Error::Io(tet_io::Error::Io { path, source, .. }) if path == Path::new("(output)") => {
                Error::Io(publisher.write_fault(source))
            }
            other => other,
        })?;
        conversion.notes.extend(notes::unchecked(objects.iter().map(|it| &it.lazy)));
        catalog.check_unchanged()?;
        options.execution.progress.check()?;
        publisher.commit()?;
        Ok(Output { len, ..Output::default() })
    }
}

/// A dataset, and what its bits are if it is one of bits.
struct Bits {
    view: Dataset,
    shape: Option<Vec<u64>>,
}

impl Bits {
    /// Bytes that are the bits of a bitmask are that again, unless the codec takes none.
    fn new(mut view: Dataset, options: &ConvertOptions) -> Self {
        let text = |key| view.attrs.get(key).map(AttrText::text);
        let is_bits = text(DTYPE_KEY) == Some(DType::Bitmask.name())
            && view.dtype == Some(DType::UInt8)
            && !matches!(compression(&view.name, options), Ok(Compressing::Szip(_)));
        let shape = text(SHAPE_KEY).filter(|_| is_bits);
        let shape = shape.and_then(shape_of_text).filter(|shape| {
            let described = Descriptor::new(DType::Bitmask, shape);
            let len = described.ok().and_then(|it| it.decoded_len());
            matches!(view.shape(), [bytes] if Some(*bytes) == len)
        });
        if shape.is_some() {
            view.attrs.remove(DTYPE_KEY);
            view.attrs.remove(SHAPE_KEY);
        }
        Bits { view, shape }
    }
}

fn object(bits: &Bits, options: &ConvertOptions) -> Result<Object> {
    let view = &bits.view;
    let lazy = stream::whole(view)?;
    let (dtype, shape) = match &bits.shape {
        Some(shape) => (DType::Bitmask, shape.clone()),
        None => (lazy.dtype(), shape_of(&lazy).to_vec()),
    };
    let recipe = recipe(&view.name, dtype.size().unwrap_or(1), options)?;
    Ok(Object::new(lazy, dtype, shape, recipe))
}

/// Notes on elements that are stored differently.
fn notes(dataset: &str, descriptor: &Descriptor, seen: NonFiniteSeen) -> Vec<Note> {
    let mut notes = Vec::new();
    let dataset = || dataset.to_owned();
    let integer = |key| match descriptor.value(key) {
        Some(Value::Int(number)) => Some(*number),
        _ => None,
    };
    if let Some(bits) = integer("sp_bits_per_value") {
        let power = |base: f64, key, sign: i32| {
            let exponent = integer(key).and_then(|it| i32::try_from(it).ok()).unwrap_or_default();
            base.powi(exponent.saturating_mul(sign))
        };
        let step =
            power(2.0, "sp_binary_scale_factor", 1) * power(10.0, "sp_decimal_scale_factor", -1);
        let bits = u32::try_from(bits).unwrap_or_default();
        notes.push(Note::Packed { dataset: dataset(), bits, step: step.to_string() });
    }
    match seen {
        NonFiniteSeen { changed: 0, kept: 0, .. } => {}
        NonFiniteSeen { changed: 0, kept: count, .. } => {
            notes.push(Note::Unmasked { dataset: dataset(), count });
        }
        NonFiniteSeen { changed: count, .. } => {
            notes.push(Note::PlainNan { dataset: dataset(), count });
        }
    }
    notes
}

/// Writes the tensor of an object, whole from memory where it is small or needs to be, else piece by
/// piece.
pub(super) fn put<W: Write + Seek>(
    object: &Object,
    writer: &mut HeadedWriter<W>,
    reading: &Execution,
) -> Result<Vec<Note>> {
    let Object { lazy, dtype, recipe, .. } = object;
    let dataset = &lazy.dataset().name;
    let len = stream::len_of(lazy);
    let needs_all = recipe.compression == Compressing::Lz4;
    let limit = reading.memory_budget / if needs_all { 2 } else { 4 };
    if needs_all && limit < len {
        return Err(Error::Budget { dataset: dataset.clone(), wanted: len, limit });
    }
    let is_plain = recipe.packing.is_none() && recipe.shuffle.is_none();
    let has_others = dtype.is_float() || dtype.is_complex();
    let is_unmasked = (recipe.nan, recipe.infinity) == (NonFinite::Kept, NonFinite::Kept);
    let is_read_once = is_plain && (is_unmasked || !has_others);
    let (descriptor, seen) = if limit < len || is_read_once && !needs_all {
        in_pieces(object, writer, reading)?
    } else {
        at_once(object, writer, reading)?
    };
    Ok(notes(dataset, &descriptor, seen))
}

/// Writes a tensor whose elements are held in memory.
fn at_once<W: Write + Seek>(
    object: &Object,
    writer: &mut HeadedWriter<W>,
    reading: &Execution,
) -> Result<(Descriptor, NonFiniteSeen)> {
    let Object { lazy, dtype, shape, recipe } = object;
    let mut elements = Vec::new();
    let wanted = usize::try_from(stream::len_of(lazy)).unwrap_or(usize::MAX);
    let memory = |_| Error::Memory { dataset: lazy.dataset().name.clone() };
    elements.try_reserve_exact(wanted).map_err(memory)?;
    stream::for_each(lazy, reading, &mut |block| {
        elements.extend_from_slice(block);
        Ok(())
    })?;
    let encoded = encode_seen(*dtype, shape, &elements, recipe);
    let (Encoded { descriptor, region }, seen) = encoded.map_err(|error| of_object(lazy, error))?;
    let bytes = descriptor.encode()?;
    let mut tensor = writer.tensor((region.len() as u64).saturating_add(bytes.len() as u64))?;
    tensor.write(&region)?;
    tensor.finish(&bytes)?;
    Ok((descriptor, seen))
}

/// Writes a tensor whose elements are gone through as often as is needed.
fn in_pieces<W: Write + Seek>(
    object: &Object,
    writer: &mut HeadedWriter<W>,
    reading: &Execution,
) -> Result<(Descriptor, NonFiniteSeen)> {
    let Object { lazy, dtype, shape, recipe } = object;
    let is_raw = recipe.shuffle.is_none() && recipe.compression == Compressing::None;
    let body_len = match recipe.packing {
        None if is_raw => {
            let descriptor = Descriptor::new(*dtype, shape);
            let descriptor = descriptor.map_err(|error| of_object(lazy, error))?.encode()?;
            stream::len_of(lazy).saturating_add(descriptor.len() as u64)
        }
        _ => 0,
    };
    let mut tensor = writer.tensor(body_len)?;
    // Elements are counted when they are read for the first time.
    let (mut furthest, silent) = (0, reading.silent());
    let mut elements = |visit: &mut dyn FnMut(&[u8]) -> Result<(), Failed>| {
        let mut at = 0_u64;
        let read = stream::for_each(lazy, &silent, &mut |block| {
            at = at.saturating_add(block.len() as u64);
            reading.progress.advance(at.saturating_sub(furthest))?;
            furthest = at.max(furthest);
            visit(block).map_err(|Failed(error)| error)
        });
        read.map_err(Failed)
    };
    let mut put = |bytes: &[u8]| tensor.write(bytes).map_err(Failed::from);
    let encoded = encode_in_passes(*dtype, shape, &mut elements, recipe, &mut put);
    let (descriptor, seen) = encoded.map_err(|Failed(error)| of_object(lazy, error))?;
    tensor.finish(&descriptor.encode()?)?;
    Ok((descriptor, seen))
}

/// Whatever goes wrong between reading and writing.
struct Failed(Error);

impl From<Theirs> for Failed {
    fn from(error: Theirs) -> Self {
        Failed(error.into())
    }
}

/// Why a dataset cannot be stored as was asked.
fn of_object(lazy: &LazyArray, error: impl Into<Error>) -> Error {
    use FaultCause::{NotFinite, Unwritable};
    match error.into() {
        Error::Container(fault) if matches!(fault.cause(), NotFinite | Unwritable) => {
            fault.in_dataset(&lazy.dataset().name).into()
        }
        other => other,
    }
}

/// The strides of an object, as its descriptor has them.
fn strides(object: &Object) -> Result<Value> {
    let descriptor = Descriptor::new(object.dtype, &object.shape);
    let descriptor = descriptor.map_err(|error| of_object(&object.lazy, error))?;
    Ok(descriptor.value("strides").cloned().unwrap_or(Value::Null))
}
