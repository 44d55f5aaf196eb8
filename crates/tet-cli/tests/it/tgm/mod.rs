//! Shared by the tests of `.tgm` files: test files, and functions that read them.

mod lost;
mod stack;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tet_cli::Exit;
use tet_convert::{OpenOptions, as_bytes, open};
use tet_format::DType;
use tet_io::Source;
use tet_query::{Execution, Hyperslab};
use tet_tensogram as tg;

use crate::fixtures::tet_in;

/// Runs a command that must succeed; returns its output.
pub(crate) fn done(folder: &Path, args: &[&str]) -> String {
    let (exit, out, err) = tet_in(folder, args);
    assert_eq!(exit, Exit::Done, "{args:?}: {err}");
    out + &err
}

/// A dataset of any file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReadDataset {
    pub(crate) name: String,
    pub(crate) dtype: String,
    pub(crate) shape: Vec<u64>,
    pub(crate) dims: Vec<String>,
    pub(crate) coords: BTreeMap<usize, Vec<String>>,
    pub(crate) attrs: BTreeMap<String, String>,
    pub(crate) elements: Vec<u8>,
}

/// All datasets of a file.
pub(crate) fn held(path: &Path) -> Vec<ReadDataset> {
    let opened = open(path, &OpenOptions::default()).expect("a test file");
    let datasets = opened.catalog.datasets().iter().filter(|it| it.name != "__metadata__");
    let held = datasets.map(|dataset| {
        let bytes = as_bytes(dataset);
        let view = bytes.as_ref().unwrap_or(dataset);
        let slab = Hyperslab::whole(view.shape());
        let array = view.read(&slab, &Execution::default()).expect("a test file");
        let is_scalar = dataset.attrs.contains_key("tet:scalar");
        let attrs = dataset.attrs.iter().filter(|(key, _)| *key != "tet:scalar");
        ReadDataset {
            name: dataset.name.clone(),
            dtype: dataset.dtype_name.clone(),
            shape: if is_scalar { Vec::new() } else { dataset.shape().to_vec() },
            dims: dataset.dims.clone(),
            coords: dataset.coords.clone(),
            attrs: attrs.map(|(key, value)| (key.clone(), format!("{value:?}"))).collect(),
            elements: array.bytes().to_vec(),
        }
    });
    held.collect()
}

/// Elements of a dtype; some are not finite if the dtype allows it.
pub(crate) fn values(dtype: DType, shape: &[u64]) -> Vec<u8> {
    let count = shape.iter().product::<u64>();
    if dtype == DType::Bitmask {
        return (0..count.div_ceil(8))
            .map(|at| if at + 1 == count.div_ceil(8) { 0 } else { 0xA5 })
            .collect();
    }
    let size = dtype.size().expect("a test file");
    let mut out: Vec<u8> = (0..count * size).map(|at| (at * 37 % 101) as u8).collect();
    let nan: Option<Vec<u8>> = match dtype {
        DType::Float16 => Some(0x7E00_u16.to_le_bytes().into()),
        DType::BFloat16 => Some(0x7FC0_u16.to_le_bytes().into()),
        DType::Float32 => Some(f32::NAN.to_le_bytes().into()),
        DType::Float64 => Some(f64::NEG_INFINITY.to_le_bytes().into()),
        DType::Complex64 => Some([f32::NAN.to_le_bytes(), 1.0_f32.to_le_bytes()].concat()),
        DType::Complex128 => Some([f64::INFINITY.to_le_bytes(); 2].concat()),
        _ => None,
    };
    if let Some(nan) = nan {
        out.chunks_exact_mut(size as usize)
            .skip(2)
            .step_by(5)
            .for_each(|it| it.copy_from_slice(&nan));
    }
    out
}

/// Doubles as bytes.
pub(crate) fn bits_of(doubles: &[f64]) -> Vec<u8> {
    doubles.iter().flat_map(|it| it.to_le_bytes()).collect()
}

/// An object that owns its bytes.
pub(crate) fn owned(encoded: tg::Encoded<'_>) -> tg::Encoded<'static> {
    let region = encoded.region.into_owned().into();
    tg::Encoded { descriptor: encoded.descriptor, region }
}

/// One message of objects, with their names, unless these are empty, and their metadata.
pub(crate) fn message(
    objects: Vec<(String, tg::Encoded<'_>, tg::Pairs)>,
    extra: &[(String, tg::Value)],
) -> Vec<u8> {
    let mut base = Vec::new();
    let mut written = Vec::new();
    for (name, encoded, mut metadata) in objects {
        if !name.is_empty() {
            metadata.push(("name".to_owned(), tg::Value::Text(name)));
        }
        base.push(metadata);
        written
            .push((encoded.descriptor.encode().expect("a test file"), encoded.region.into_owned()));
    }
    let tensors = written.iter().map(|(descriptor, region)| tg::Tensor {
        descriptor,
        region: tg::RegionSource::from(&region[..]),
    });
    let metadata = tg::Metadata { base, extra: extra.to_vec(), ..tg::Metadata::default() };
    tg::encode_message(&metadata, tensors.collect(), &tg::WriteOptions::default())
        .expect("a test file")
}

fn opened(path: &Path) -> tg::TensogramFile {
    let source = Source::from_bytes(fs::read(path).expect("a test file"));
    tg::TensogramFile::open(source, &tg::Limits::default()).expect("a test file")
}

/// The metadata of the first message, keys in order, without the entries that libraries add.
pub(crate) fn metadata(path: &Path) -> tg::Metadata {
    let mut metadata = opened(path).metadata(0).expect("a test file");
    for entry in &mut metadata.base {
        entry.retain(|(key, _)| key != "_reserved_");
        entry.sort_by(|one, next| one.0.cmp(&next.0));
    }
    metadata.extra.sort_by(|one, next| one.0.cmp(&next.0));
    metadata
}

/// The descriptors of the first message.
pub(crate) fn descriptors(path: &Path) -> Vec<tg::Descriptor> {
    let file = opened(path);
    let objects = file.objects(0).expect("a test file");
    let read = objects.iter().map(|object| {
        let bytes = file.read_descriptor(object).expect("a test file");
        tg::Descriptor::read(&bytes, object.descriptor.start(), file.limits()).expect("a test file")
    });
    read.collect()
}

/// Files that other programs wrote.
pub(crate) fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rivals/tgm");
    let paths =
        fs::read_dir(folder).expect("a test file").map(|it| it.expect("a test file").path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|it| it.extension().is_some_and(|it| it == "tgm")).collect();
    paths.sort();
    assert!(paths.len() >= 22);
    paths
}
