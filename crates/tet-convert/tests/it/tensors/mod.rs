//! A folder of files, and the contents of one, for the suites of zTensor tensors.
#![allow(dead_code, reason = "each suite uses its part")]

use std::fs;
use std::path::{Path, PathBuf};

use tet_convert::{ConvertOptions, ImportReport, Opened, Result, convert};
use tet_ztensor::Writer;

use crate::common::read;

/// A folder of files that become one another.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> World {
        World { folder: tempfile::tempdir().expect("a folder") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, writer: Writer<Vec<u8>>) -> PathBuf {
        fs::write(self.path(name), writer.finish().expect("a file").0).expect("a file");
        self.path(name)
    }

    /// Converts one file into another, which may be there already.
    pub(crate) fn go(&self, from: &Path, to: &str, options: &ConvertOptions) -> ImportReport {
        let report = self.try_go(from, to, options);
        report.unwrap_or_else(|error| panic!("{from:?} to {to}: {error}"))
    }

    pub(crate) fn try_go(
        &self,
        from: &Path,
        to: &str,
        options: &ConvertOptions,
    ) -> Result<ImportReport> {
        let _ = fs::remove_file(self.path(to));
        convert(from, &self.path(to), options)
    }
}

/// The elements of a dataset.
pub(crate) fn bytes(opened: &Opened, name: &str) -> Vec<u8> {
    read(opened, name).bytes().to_vec()
}

pub(crate) fn words(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}
