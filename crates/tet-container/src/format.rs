//! Kinds of files, by their names.

use std::fmt;

/// A kind of file, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    name: &'static str,
    title: &'static str,
}

impl Format {
    /// `.tet` version 1.
    pub const TET: Format = Format::new("tet", "a .tet file");
    /// A folder of `.tet` files that grows.
    pub const TETS: Format = Format::new("tets", "a folder of .tet parts");
    /// One NumPy array.
    pub const NPY: Format = Format::new("npy", "a NumPy .npy array");
    /// A zip archive, which NumPy calls `.npz`.
    pub const NPZ: Format = Format::new("npz", "a zip archive (.npz)");
    /// zTensor 0.1.
    pub const ZTENSOR: Format = Format::new("ztensor", "a zTensor file");
    /// zTensor 1.
    pub const ZTENSOR1: Format = Format::new("ztensor1", "a zTensor 1 file");
    /// zTensor 2.
    pub const ZTENSOR2: Format = Format::new("ztensor2", "a zTensor 2 file");
    /// Tensogram.
    pub const TENSOGRAM: Format = Format::new("tensogram", "a Tensogram file");
    /// Safetensors.
    pub const SAFETENSORS: Format = Format::new("safetensors", "a safetensors file");
    /// The index of a model in several safetensors files.
    pub const SAFETENSORS_INDEX: Format =
        Format::new("safetensors-index", "an index of safetensors files");
    /// NetCDF before HDF5: CDF-1, CDF-2 and CDF-5.
    pub const NETCDF3: Format = Format::new("netcdf3", "a NetCDF classic file");
    /// Zarr 2 and 3.
    pub const ZARR: Format = Format::new("zarr", "a Zarr hierarchy");
    /// HDF5, and NetCDF-4 on top of it.
    pub const HDF5: Format = Format::new("hdf5", "an HDF5 file");
    /// Model files of llama.cpp and ggml.
    pub const GGUF: Format = Format::new("gguf", "a GGUF file");
    /// Images of astronomy.
    pub const FITS: Format = Format::new("fits", "a FITS file");
    /// Checkpoints of PyTorch.
    pub const TORCH: Format = Format::new("torch", "a PyTorch checkpoint");
    /// The index of a checkpoint of PyTorch in several files.
    pub const TORCH_INDEX: Format = Format::new("torch-index", "an index of PyTorch checkpoints");
    /// The elements of one array, little endian and row-major.
    pub const RAW: Format = Format::new("raw", "a file of raw elements");
    /// One array as text.
    pub const CSV: Format = Format::new("csv", "a CSV file");
    /// One array as JSON.
    pub const JSON: Format = Format::new("json", "a JSON file");
    /// A file of no bytes.
    pub const EMPTY: Format = Format::new("empty", "an empty file");
    /// A file of no known kind.
    pub const UNKNOWN: Format = Format::new("unknown", "a file of no known format");

    /// A kind of file; `title` is its name in a sentence, with an article.
    #[must_use]
    pub const fn new(name: &'static str, title: &'static str) -> Format {
        Format { name, title }
    }

    /// Whether the file may be a `.tet` file, though one whose first bytes are damaged.
    #[must_use]
    pub fn may_be_tet(self) -> bool {
        [Format::TET, Format::EMPTY, Format::UNKNOWN].contains(&self)
    }

    /// The name used in messages and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title)
    }
}
