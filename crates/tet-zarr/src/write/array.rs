//! The documents of a new array: `zarr.json` of version 3, `.zarray` of version 2.

use serde_json::{Map, Value, json};
use tet_codec::NumcodecsPipeline;
use tet_format::{DType, Shape};

use super::stored;
use crate::array::{ZarrFormat, join};
use crate::key::{KeyEncoding, KeyStyle};

/// Element type of a new array.
///
/// ```
/// use tet_format::DType;
/// use tet_zarr::NewElement;
///
/// assert_ne!(NewElement::Number(DType::Int8), NewElement::Text);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewElement {
    /// A number, or a boolean value; not bfloat16 and not single bits, which few readers have.
    Number(DType),
    /// Text of any length, which `vlen-utf8` makes bytes of.
    Text,
}

/// How chunks are compressed.
///
/// ```
/// assert_ne!(tet_zarr::ZarrCompression::None, tet_zarr::ZarrCompression::Zstd { level: 3 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZarrCompression {
    /// They are not.
    None,
    /// By zstd, as frames with a checksum.
    Zstd {
        /// The level.
        level: i32,
    },
    /// By deflate: `gzip` in version 3, `zlib` in version 2.
    Deflate {
        /// The level, 0 to 9.
        level: u32,
    },
}

/// An array that is to be written.
///
/// # Examples
///
/// ```
/// use tet_format::{DType, Shape};
/// use tet_zarr::{ZarrCompression, NewArray, NewElement, ZarrFormat};
///
/// let array = NewArray {
///     path: "temp".to_owned(),
///     element: NewElement::Number(DType::Float32),
///     shape: Shape::from([10, 20]),
///     chunk_shape: Shape::from([5, 20]),
///     shard_shape: None,
///     fill: None,
///     compression: ZarrCompression::Zstd { level: 3 },
///     has_checksums: false,
///     stored: None,
///     dimension_names: None,
///     attributes: Default::default(),
/// };
/// assert_eq!(array.object_key(ZarrFormat::V3, &[1, 0]), "temp/c/1/0");
/// assert_eq!(array.object_key(ZarrFormat::V2, &[1, 0]), "temp/1.0");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NewArray {
    /// The path in the hierarchy, without a first `/`.
    pub path: String,
    /// The type of the elements.
    pub element: NewElement,
    /// The extents.
    pub shape: Shape,
    /// The extents of a chunk, each at least 1.
    pub chunk_shape: Shape,
    /// The extents of a shard, whole multiples of those of a chunk. Version 2 has none.
    pub shard_shape: Option<Shape>,
    /// The fill value; without one it is zero in version 3 and undefined in version 2.
    pub fill: Option<Value>,
    /// How chunks are compressed.
    pub compression: ZarrCompression,
    /// Whether a CRC-32C is behind each chunk. Version 2 has none.
    pub has_checksums: bool,
    /// How chunks are decoded that another file has already, in place of `compression` and `has_checksums`.
    pub stored: Option<NumcodecsPipeline>,
    /// The names of the axes.
    pub dimension_names: Option<Vec<String>>,
    /// The attributes.
    pub attributes: Map<String, Value>,
}

impl NewArray {
    /// The extents of an object: a shard, or a chunk.
    #[must_use]
    pub fn object_shape(&self) -> &Shape {
        self.shard_shape.as_ref().unwrap_or(&self.chunk_shape)
    }

    /// The key of the object at a coordinate of objects.
    #[must_use]
    pub fn object_key(&self, format: ZarrFormat, coordinate: &[u64]) -> String {
        let keys = match format {
            ZarrFormat::V2 => KeyEncoding { style: KeyStyle::V2, separator: '.' },
            ZarrFormat::V3 => KeyEncoding { style: KeyStyle::Default, separator: '/' },
        };
        join(&self.path, &keys.key(coordinate))
    }

    /// The `zarr.json`.
    pub(super) fn of_v3(&self) -> Value {
        let mut codecs = self.chunk_codecs();
        if self.shard_shape.is_some() {
            let index_codecs = [little_endian(), json!({ "name": "crc32c" })];
            let configuration = json!({
                "chunk_shape": &*self.chunk_shape,
                "codecs": codecs,
                "index_codecs": index_codecs,
                "index_location": "end",
            });
            codecs = vec![json!({ "name": "sharding_indexed", "configuration": configuration })];
        }
        let chunk_shape = self.object_shape();
        let mut document = json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": &*self.shape,
            "data_type": self.data_type(),
            "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": &**chunk_shape } },
            "chunk_key_encoding": { "name": "default", "configuration": { "separator": "/" } },
            "fill_value": self.fill.clone().unwrap_or_else(|| self.zero()),
            "codecs": codecs,
            "attributes": self.attributes,
            "storage_transformers": [],
        });
        if let Some(names) = &self.dimension_names {
            document["dimension_names"] = json!(names);
        }
        document
    }

    /// The codecs of a chunk in version 3.
    fn chunk_codecs(&self) -> Vec<Value> {
        if let Some(stored) = &self.stored {
            return stored::codecs_of_v3(stored, self.shape.rank());
        }
        let mut codecs = vec![match self.element {
            NewElement::Text => json!({ "name": "vlen-utf8", "configuration": {} }),
            NewElement::Number(_) => little_endian(),
        }];
        match self.compression {
            ZarrCompression::None => {}
            ZarrCompression::Zstd { level } => {
                let configuration = json!({ "level": level, "checksum": true });
                codecs.push(json!({ "name": "zstd", "configuration": configuration }));
            }
            ZarrCompression::Deflate { level } => {
                codecs.push(json!({ "name": "gzip", "configuration": { "level": level } }));
            }
        }
        if self.has_checksums {
            codecs.push(json!({ "name": "crc32c" }));
        }
        codecs
    }

    fn data_type(&self) -> &'static str {
        match self.element {
            NewElement::Number(dtype) => dtype.name(),
            NewElement::Text => "string",
        }
    }

    /// The fill value of version 3 that stands for no other one.
    fn zero(&self) -> Value {
        match self.element {
            NewElement::Text => json!(""),
            NewElement::Number(DType::Bool) => json!(false),
            NewElement::Number(DType::Complex64 | DType::Complex128) => json!([0.0, 0.0]),
            NewElement::Number(dtype) if dtype.is_float() => json!(0.0),
            NewElement::Number(_) => json!(0),
        }
    }

    /// The `.zarray`.
    pub(super) fn of_v2(&self) -> Value {
        let (filters, compressor) = self.codecs_of_v2();
        let is_column_major = self.stored.as_ref().is_some_and(|it| it.is_column_major);
        json!({
            "zarr_format": 2,
            "shape": &*self.shape,
            "chunks": &*self.chunk_shape,
            "dtype": self.type_string(),
            "compressor": compressor,
            "fill_value": self.fill,
            "order": if is_column_major { "F" } else { "C" },
            "filters": filters,
            "dimension_separator": ".",
        })
    }

    /// The filters and the compressor of version 2.
    fn codecs_of_v2(&self) -> (Value, Value) {
        if let Some(stored) = &self.stored {
            return stored::codecs_of_v2(stored);
        }
        let compressor = match self.compression {
            ZarrCompression::None => Value::Null,
            // Older readers do not know the key `checksum`, and need not: a frame describes itself.
            ZarrCompression::Zstd { level } => json!({ "id": "zstd", "level": level }),
            ZarrCompression::Deflate { level } => json!({ "id": "zlib", "level": level }),
        };
        let filters = match self.element {
            NewElement::Text => json!([{ "id": "vlen-utf8" }]),
            NewElement::Number(_) => Value::Null,
        };
        (filters, compressor)
    }

    /// The `.zattrs`, with the names of the axes as xarray has them.
    pub(super) fn attributes_of_v2(&self) -> Map<String, Value> {
        let mut attributes = self.attributes.clone();
        if let Some(names) = &self.dimension_names {
            attributes.insert("_ARRAY_DIMENSIONS".to_owned(), json!(names));
        }
        attributes
    }

    fn type_string(&self) -> String {
        let dtype = match self.element {
            NewElement::Number(dtype) => dtype,
            NewElement::Text => return "|O".to_owned(),
        };
        let kind = match dtype {
            DType::Bool => 'b',
            DType::Complex64 | DType::Complex128 => 'c',
            dtype if dtype.is_float() => 'f',
            dtype if dtype.is_unsigned_integer() => 'u',
            _ => 'i',
        };
        let size = dtype.size().unwrap_or(1);
        let is_big_endian = self.stored.as_ref().is_some_and(|it| it.is_big_endian);
        let order = match (size, is_big_endian) {
            (1, _) => '|',
            (_, true) => '>',
            (_, false) => '<',
        };
        format!("{order}{kind}{size}")
    }
}

fn little_endian() -> Value {
    json!({ "name": "bytes", "configuration": { "endian": "little" } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::ArrayMeta;
    use crate::element::ZarrElement;

    fn array(dtype: DType) -> NewArray {
        NewArray {
            path: "a".to_owned(),
            element: NewElement::Number(dtype),
            shape: Shape::from([10, 7]),
            chunk_shape: Shape::from([2, 3]),
            shard_shape: None,
            fill: None,
            compression: ZarrCompression::None,
            has_checksums: false,
            stored: None,
            dimension_names: Some(vec!["y".to_owned(), "x".to_owned()]),
            attributes: Map::new(),
        }
    }

    fn object(value: Value) -> crate::json::Object {
        let Value::Object(object) = value else { panic!("a document is an object") };
        object
    }

    #[test]
    fn documents_are_read_as_they_were_meant() {
        for &dtype in DType::ALL {
            if matches!(dtype, DType::BFloat16 | DType::Bitmask) {
                continue;
            }
            let mut new = array(dtype);
            new.compression = ZarrCompression::Zstd { level: 3 };
            let v3 = ArrayMeta::of_v3("a", &object(new.of_v3())).unwrap();
            let v2 = ArrayMeta::of_v2("a", &object(new.of_v2()), new.attributes_of_v2()).unwrap();
            let size = usize::try_from(dtype.size().unwrap()).unwrap();
            assert_eq!((v3.fill.clone(), v2.fill.clone()), (Some(vec![0; size]), None));
            for meta in [&v3, &v2] {
                assert_eq!(meta.element, ZarrElement::Number(dtype));
                assert_eq!((&meta.shape, meta.grid.chunk_shape()), (&new.shape, &new.chunk_shape));
                let names = meta.dimension_names.as_ref().unwrap().iter().flatten();
                assert_eq!(names.collect::<Vec<_>>(), ["y", "x"]);
                let codecs: Vec<&str> = meta.codecs.iter().map(|it| it.name.as_str()).collect();
                assert_eq!(codecs, ["bytes", "zstd"]);
                assert!(meta.notes.is_empty());
            }
        }
    }

    #[test]
    fn shards_and_checksums_are_codecs() {
        let mut new = array(DType::Int16);
        new.shard_shape = Some(Shape::from([4, 9]));
        new.has_checksums = true;
        new.fill = Some(json!(-5));
        let meta = ArrayMeta::of_v3("a", &object(new.of_v3())).unwrap();
        assert_eq!(meta.object_shape, Shape::from([4, 9]));
        assert_eq!(meta.shards[0].counts, [2, 3]);
        assert!(meta.shards[0].has_checksum);
        assert_eq!(meta.fill, Some(vec![251, 255]));
        let codecs: Vec<&str> = meta.codecs.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(codecs, ["bytes", "crc32c"]);
    }
}
