//! A folder of files that become one another, and options in few words.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use tet_convert::{
    Attribute, AxisLabels, Checksum, ChunkChoice, ConvertOptions, DimNames, Filter, ImportReport,
    LabelSource, Note, Opened, PayloadCodec, Result, ShardChoice, Storage, ZarrFormat, convert,
    document_of, verify,
};
use tet_file::AttrValue;
use tet_io::publish::Sync;
use tet_io::{Overwrite, Source};

use super::{deep, npy, opened, read};

/// A folder, and the options of its conversions: outputs are replaced and not synced.
pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) options: ConvertOptions,
}

impl World {
    /// A folder with an archive `in.npz` of these arrays: names, and `.npy` files.
    pub(crate) fn new(arrays: &[(&str, Vec<u8>)]) -> World {
        let folder = tempfile::tempdir().expect("a folder");
        if !arrays.is_empty() {
            archive(&folder.path().join("in.npz"), arrays);
        }
        World { folder, options: options() }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        fs::write(self.path(name), bytes).expect("a file");
        self.path(name)
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("a file")
    }

    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&self.bytes(name)).expect("JSON")
    }

    /// Converts one file into another.
    pub(crate) fn try_go(&self, from: &str, to: &str) -> Result<ImportReport> {
        convert(&self.path(from), &self.path(to), &self.options)
    }

    /// The notes of a conversion that succeeds.
    pub(crate) fn go(&self, from: &str, to: &str) -> Vec<Note> {
        let report = self.try_go(from, to);
        report.unwrap_or_else(|error| panic!("{from} to {to}: {error}")).notes
    }

    pub(crate) fn opened(&self, name: &str) -> Opened {
        opened(&self.path(name))
    }

    /// All elements of a dataset of a file.
    pub(crate) fn read(&self, file: &str, name: &str) -> Vec<u8> {
        read(&self.opened(file), name).bytes().to_vec()
    }

    pub(crate) fn shape(&self, file: &str, name: &str) -> Vec<u64> {
        self.opened(file).catalog.find(name).expect("it is there").shape().to_vec()
    }

    pub(crate) fn dims(&self, file: &str, name: &str) -> Vec<String> {
        self.opened(file).catalog.find(name).expect("it is there").dims.clone()
    }

    /// Checks that nothing is wrong with any byte of a file or folder.
    pub(crate) fn check(&self, name: &str) {
        let source = Source::open(document_of(&self.path(name))).expect("it opens");
        let report = verify(&source, &deep()).expect("it is checked");
        assert_eq!(report.findings, [], "{name}");
    }

    /// The names in the folder, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("a folder");
        let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<_> = entries.map(|it| name(it).into_string().expect("text")).collect();
        names.sort();
        names
    }

    /// The bytes of a file, or of all files below a folder, by path.
    pub(crate) fn tree(&self, name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let (mut files, mut left) = (BTreeMap::new(), vec![self.path(name)]);
        while let Some(path) = left.pop() {
            if path.is_dir() {
                let entries = fs::read_dir(path).expect("a folder");
                left.extend(entries.map(|entry| entry.expect("an entry").path()));
            } else {
                files.insert(path.clone(), fs::read(path).expect("a file"));
            }
        }
        files
    }
}

/// Outputs are replaced and not synced.
pub(crate) fn options() -> ConvertOptions {
    let mut options = ConvertOptions::default();
    options.tet.overwrite = Overwrite::Replace;
    options.tet.sync = Sync::None;
    options
}

/// A codec and its level.
pub(crate) type Codec = (PayloadCodec, Option<i32>);

/// How an HDF5 or NetCDF-4 file stores its chunks.
pub(crate) fn hdf5(options: &mut ConvertOptions, (codec, level): Codec, filter: Filter) {
    let (codec, filter) = (Some(codec), Some(filter));
    options.storage = Storage { codec, level, filter, ..Storage::default() };
}

/// The version of a Zarr hierarchy, and how it stores its chunks.
pub(crate) struct Zarr {
    pub(crate) format: ZarrFormat,
    pub(crate) compression: Codec,
    pub(crate) shards: Option<Vec<u64>>,
    pub(crate) checksum: Checksum,
}

impl Zarr {
    pub(crate) fn set(self, options: &mut ConvertOptions) {
        let (codec, level) = self.compression;
        options.storage = Storage {
            codec: Some(codec),
            level,
            checksum: Some(self.checksum),
            shards: self.shards.map_or(ShardChoice::None, ShardChoice::Shape),
            ..Storage::default()
        };
        zarr_format(options, self.format);
    }
}

/// The version of a Zarr hierarchy.
pub(crate) fn zarr_format(options: &mut ConvertOptions, format: ZarrFormat) {
    let variant = if format == ZarrFormat::V2 { "2" } else { "3" };
    options.storage.variant = Some(variant.to_owned());
}

/// Chunks of this shape.
pub(crate) fn chunks(shape: &[u64]) -> Vec<tet_convert::ChunkRule> {
    ChunkChoice::Shape(shape.to_vec()).into()
}

/// An archive of stored members: names without the suffix, and `.npy` files.
pub(crate) fn archive<N: std::fmt::Display>(path: &Path, arrays: &[(N, Vec<u8>)]) {
    let members = arrays.iter().map(|(name, bytes)| (format!("{name}.npy"), &bytes[..]));
    zip(path, &members.collect::<Vec<_>>());
}

/// A zip file of stored members.
pub(crate) fn zip<N: AsRef<str>>(path: &Path, members: &[(N, &[u8])]) {
    let mut zip = zip::ZipWriter::new(fs::File::create(path).expect("a file"));
    let how =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in members {
        zip.start_file(name.as_ref(), how).expect("a member");
        zip.write_all(bytes).expect("room");
    }
    zip.finish().expect("an archive");
}

pub(crate) fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

pub(crate) fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A `.npy` file of float32 along one axis.
pub(crate) fn row(values: &[f32]) -> Vec<u8> {
    float_npy(&format!("({},)", values.len()), values)
}

/// A `.npy` file of float32.
pub(crate) fn float_npy(shape: &str, values: &[f32]) -> Vec<u8> {
    npy("<f4", "False", shape, &floats(values))
}

/// A `.npy` file of float32 that count, from -0.5 on.
pub(crate) fn counting_npy(shape: &str, count: u16) -> Vec<u8> {
    let values: Vec<f32> = (0..count).map(|value| f32::from(value) - 0.5).collect();
    float_npy(shape, &values)
}

/// Bytes without a pattern, of which some are NaN with a payload.
pub(crate) fn noise(count: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u8::try_from(state >> 56).expect("eight bits")
    };
    (0..count).map(next).collect()
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// The names of the axes of a dataset.
pub(crate) fn dims(dataset: &str, names: &[&str]) -> DimNames {
    DimNames { dataset: Some(dataset.to_owned()), names: owned(names) }
}

/// Labels of an axis, of one dataset or of all.
pub(crate) fn labels(dataset: Option<&str>, axis: &str, labels: &[&str]) -> AxisLabels {
    let (dataset, from) = (dataset.map(str::to_owned), LabelSource::Texts(owned(labels)));
    AxisLabels { dataset, axis: axis.to_owned(), from }
}

/// An attribute of one dataset or of all: JSON, or a text in quotes.
pub(crate) fn attr(dataset: Option<&str>, key: &str, json: &str) -> Attribute {
    let text = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let value = text.map_or_else(|| AttrValue::Json(json.to_owned()), AttrValue::from);
    Attribute { dataset: dataset.map(str::to_owned), key: key.to_owned(), value }
}
