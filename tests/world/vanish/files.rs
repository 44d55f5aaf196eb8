//! A small file of every container that is written here, and files of other programs.

use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use tet_convert::{
    Attribute, ConvertOptions, DimNames, RefsAddress, RefsOptions, convert, write_references,
};
use tet_file::AttrValue;
use tet_file::write::CodecChoice;
use tet_format::DType;
use tet_format::write::DatasetSpec;
use tet_tests::fuzz::read_only;
use tet_tests::written::{self, Written};

/// A file, or the files of a folder.
pub(crate) struct Sample {
    /// The container, and who wrote it.
    pub(crate) name: &'static str,
    /// The path that is opened.
    pub(crate) root: PathBuf,
    /// The files and their bytes.
    pub(crate) files: Vec<(PathBuf, Vec<u8>)>,
    /// Coverage of its checksums.
    pub(crate) seal: Seal,
}

/// Coverage of the checksums of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seal {
    /// Everything that is read.
    Whole,
    /// Names, and elements where all of them are read.
    Names,
    /// Nothing, or some of it.
    None,
    /// Nothing, and every text is such a file: without quotes, names or line ends it is another table.
    Table,
}

/// The containers that are written: their names, and the names of their files.
const WRITTEN: [(&str, &str); 15] = [
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
    ("zarr.zip", "x.zarr.zip"),
    ("csv", "x.csv"),
];

/// The files of other programs in `data/vanish/`: what they are called here, and their names there.
const FOREIGN: [(&str, &str); 14] = [
    ("h5 earliest", "earliest.h5"),
    ("h5 latest", "latest.h5"),
    ("h5 dense", "dense.h5"),
    ("nc four", "four.nc"),
    ("nc classic", "classic.nc"),
    ("nc data", "data.nc"),
    ("zip v2", "v2.zarr.zip"),
    ("zip v3", "v3.zarr.zip"),
    ("fits images", "images.fits"),
    ("gguf tensors", "tensors.gguf"),
    ("npz stored", "arrays.npz"),
    ("npz deflated", "deflated.npz"),
    ("npy array", "array.npy"),
    ("st tensors", "tensors.safetensors"),
];

/// A small file of each container, made in a folder.
pub(crate) fn samples(folder: &Path) -> Vec<Sample> {
    let base = base(folder);
    let made = WRITTEN.map(|(name, file)| {
        let own = folder.join(name);
        fs::create_dir(&own).unwrap();
        convert(&base, &own.join(file), &options(name)).unwrap();
        of_folder(name, &own, file)
    });
    let read = read_only().into_iter().filter(|(suffix, _)| *suffix != "gguf");
    let read = read.map(|(suffix, bytes)| of_file(suffix, &format!("x.{suffix}"), bytes));
    let foreign = FOREIGN.map(|(name, file)| of_file(name, file, data(file)));
    let unpacked =
        [("v2", "v2.zarr.zip"), ("v3", "v3.zarr.zip")].map(|(name, file)| unpacked(name, file));
    made.into_iter()
        .chain(read)
        .chain(foreign)
        .chain(unpacked)
        .chain([references(folder)])
        .collect()
}

fn seal(name: &str) -> Seal {
    match name {
        "tet" | "tets" => Seal::Whole,
        "zip v2" | "zip v3" | "zarr.zip" => Seal::Whole,
        "npz" | "npz stored" | "npz deflated" => Seal::Names,
        "csv" => Seal::Table,
        _ => Seal::None,
    }
}

fn data(file: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/vanish").join(file)).unwrap()
}

fn of_file(name: &'static str, file: &str, bytes: Vec<u8>) -> Sample {
    let files = vec![(PathBuf::from(file), bytes)];
    Sample { name, root: PathBuf::from(file), files, seal: seal(name) }
}

fn of_folder(name: &'static str, folder: &Path, root: &str) -> Sample {
    let mut files = Vec::new();
    collect(folder, Path::new(""), &mut files);
    Sample { name, root: PathBuf::from(root), files, seal: seal(name) }
}

/// A hierarchy of Zarr as the folder of its members.
fn unpacked(name: &'static str, file: &str) -> Sample {
    let mut archive = zip::ZipArchive::new(Cursor::new(data(file))).unwrap();
    let mut files = Vec::new();
    for at in 0..archive.len() {
        let mut member = archive.by_index(at).unwrap();
        let mut bytes = Vec::new();
        member.read_to_end(&mut bytes).unwrap();
        files.push((Path::new("x.zarr").join(&*member.name().unwrap()), bytes));
    }
    files.sort();
    Sample { name, root: PathBuf::from("x.zarr"), files, seal: seal(name) }
}

/// References to the chunks of a file beside them.
fn references(folder: &Path) -> Sample {
    let own = folder.join("references");
    fs::create_dir(&own).unwrap();
    fs::write(own.join("x.h5"), data("latest.h5")).unwrap();
    let document = own.join("x.json");
    let options = RefsOptions {
        inline_len: 16,
        address: RefsAddress::Prefix(".".to_owned()),
        ..RefsOptions::default()
    };
    write_references(&[own.join("x.h5")], &document, &options).unwrap();
    of_folder("references", &own, "x.json")
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
    options.shard_len = (name == "shards").then_some(32);
    if ["npy", "npz", "csv", "safetensors", "shards"].contains(&name) {
        return options;
    }
    let names = ["row", "column"].map(str::to_owned).to_vec();
    options.tet.dims = vec![DimNames { dataset: Some("alpha".to_owned()), names }];
    options.tet.attrs = vec![
        attr(Some("alpha"), "units", AttrValue::Text("K".to_owned())),
        attr(Some("beta"), "range", AttrValue::Json("[1,2]".to_owned())),
    ];
    options.storage.variant = ["zarr2", "zarr3"].contains(&name).then(|| name[4..].to_owned());
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
