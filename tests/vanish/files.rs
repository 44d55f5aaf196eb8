//! A small file of every container that is written, and of those that are only read.

use std::fs;
use std::path::{Path, PathBuf};

use tet_convert::{Attribute, ConvertOptions, DimNames, ZarrFormat, convert};
use tet_file::AttrValue;
use tet_file::write::CodecChoice;
use tet_format::DType;
use tet_format::write::DatasetSpec;
use tet_tests::fuzz::read_only;
use tet_tests::written::{self, Written};

/// A file, or the files of a folder.
pub(crate) struct Sample {
    /// The container.
    pub(crate) name: &'static str,
    /// The path that is opened.
    pub(crate) root: PathBuf,
    /// The files and their bytes.
    pub(crate) files: Vec<(PathBuf, Vec<u8>)>,
}

/// The containers that are written: their names, and the names of their files.
const WRITTEN: [(&str, &str); 14] = [
    ("tet", "x.tet"),
    ("tets", "x.tets"),
    ("ztensor", "x.zt"),
    ("tensogram", "x.tgm"),
    ("safetensors", "x.safetensors"),
    ("shards", "x.safetensors.index.json"),
    ("npz", "x.npz"),
    ("npy", "x.npy"),
    ("hdf5", "x.h5"),
    ("netcdf4", "x.nc"),
    ("netcdf3", "x.nc3"),
    ("zarr2", "x2.zarr"),
    ("zarr3", "x3.zarr"),
    ("csv", "x.csv"),
];

/// A small file of each container, made in a folder.
pub(crate) fn samples(folder: &Path) -> Vec<Sample> {
    let base = base(folder);
    let made = WRITTEN.map(|(name, file)| {
        let own = folder.join(name);
        fs::create_dir(&own).unwrap();
        convert(&base, &own.join(file), &options(name)).unwrap();
        let mut files = Vec::new();
        collect(&own, Path::new(""), &mut files);
        Sample { name, root: PathBuf::from(file), files }
    });
    let read = read_only().map(|(suffix, bytes)| {
        let root = PathBuf::from(format!("x.{suffix}"));
        Sample { name: suffix, files: vec![(root.clone(), bytes)], root }
    });
    made.into_iter().chain(read).collect()
}

/// Three datasets with attributes and names of axes.
fn base(folder: &Path) -> PathBuf {
    let dataset = |name: &str, dtype, shape: &[u64], elements: Vec<u8>| Written {
        spec: DatasetSpec::new(name, dtype, shape.to_vec(), shape.to_vec()),
        elements,
    };
    let doubles = (0_u8..6).flat_map(|it| f64::from(it).to_le_bytes()).collect();
    let words = (1_i32..5).flat_map(i32::to_le_bytes).collect();
    let datasets = [
        dataset("alpha", DType::Float64, &[2, 3], doubles),
        dataset("beta", DType::Int32, &[4], words),
        dataset("gamma", DType::UInt8, &[4], vec![1, 2, 3, 4]),
    ];
    written::write(folder, "base.tet", &datasets, CodecChoice::Raw)
}

fn options(name: &str) -> ConvertOptions {
    let mut options = ConvertOptions::default();
    options.tet.sync = tet_io::publish::Sync::None;
    let attr = |dataset: Option<&str>, key: &str, value: AttrValue| Attribute {
        dataset: dataset.map(str::to_owned),
        key: key.to_owned(),
        value,
    };
    options.tet.include = match name {
        "npy" => vec!["alpha".to_owned()],
        "csv" => vec!["beta".to_owned(), "gamma".to_owned()],
        _ => Vec::new(),
    };
    if ["npy", "npz", "csv"].contains(&name) {
        return options;
    }
    let names = ["row", "column"].map(str::to_owned).to_vec();
    options.tet.dims = vec![DimNames { dataset: Some("alpha".to_owned()), names }];
    options.tet.attrs = vec![
        attr(Some("alpha"), "units", AttrValue::Text("K".to_owned())),
        attr(Some("beta"), "range", AttrValue::Json("[1,2]".to_owned())),
    ];
    options.shard_len = (name == "shards").then_some(32);
    options.zarr.format = if name == "zarr2" { ZarrFormat::V2 } else { ZarrFormat::V3 };
    options
}

/// The files of a folder, in the order of their names.
fn collect(root: &Path, folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    let entries = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = entries.collect();
    names.sort();
    for name in names {
        let path = folder.join(name);
        if root.join(&path).is_dir() {
            collect(root, &path, files);
        } else {
            let bytes = fs::read(root.join(&path)).unwrap();
            files.push((path, bytes));
        }
    }
}
