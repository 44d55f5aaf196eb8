//! The most lines of Rust that a crate may have, its tests included: a crate that grows past its ceiling is cut, or says
//! in its commit why the ceiling is lifted.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Findings;

/// A folder of the workspace, and its ceiling in lines.
const CEILINGS: [(&str, usize); 33] = [
    ("crates/containers/tet-fits", 3_800),
    ("crates/containers/tet-gguf", 1_000),
    ("crates/containers/tet-netcdf", 2_500),
    ("crates/containers/tet-numpy", 3_000),
    ("crates/containers/tet-safetensors", 2_900),
    ("crates/containers/tet-text", 3_200),
    ("crates/containers/tet-torch", 3_200),
    ("crates/tet", 1_200),
    ("crates/tet-bench", 4_000),
    ("crates/tet-cbor", 1_100),
    ("crates/tet-cli", 29_000),
    ("crates/tet-codec", 13_200),
    ("crates/tet-container", 14_700),
    ("crates/tet-convert", 26_600),
    ("crates/tet-document", 5_000),
    ("crates/tet-file", 10_400),
    ("crates/tet-format", 7_200),
    ("crates/tet-hdf5", 11_700),
    ("crates/tet-io", 8_300),
    ("crates/tet-net", 7_400),
    ("crates/tet-plot", 5_800),
    ("crates/tet-python", 4_900),
    ("crates/tet-query", 38_900),
    ("crates/tet-report", 1_400),
    ("crates/tet-sparse", 300),
    ("crates/tet-tensogram", 19_000),
    ("crates/tet-verify", 7_100),
    ("crates/tet-zarr", 10_000),
    ("crates/tet-ztensor", 14_500),
    ("examples", 200),
    ("fuzz", 100),
    ("tests", 20_600),
    ("xtask", 8_800),
];
/// All Rust files together.
const ALL: usize = 289_500;
/// A ceiling is lowered when a crate is this much below it: a tenth.
const SLACK: usize = 10;

/// Counts, and compares with the ceilings.
pub(super) fn check(root: &Path, files: &[PathBuf], findings: &mut Findings) -> Result<()> {
    let mut counts = vec![0; CEILINGS.len()];
    let mut all = 0;
    for path in files.iter().filter(|path| path.extension().is_some_and(|it| it == "rs")) {
        let name = path.strip_prefix(root).unwrap_or(path);
        let lines = std::fs::read_to_string(path)?.lines().count();
        all += lines;
        let folder = CEILINGS.iter().position(|(folder, _)| name.starts_with(folder));
        match folder.and_then(|at| counts.get_mut(at)) {
            Some(count) => *count += lines,
            None => findings.fault(name.display(), "is in no folder that has a ceiling"),
        }
    }
    let crates = CEILINGS.iter().zip(counts);
    for (folder, count, ceiling) in
        crates.map(|((folder, most), count)| (*folder, count, *most)).chain([("all", all, ALL)])
    {
        if ceiling < count {
            findings.fault(folder, format!("{count} lines of Rust; its ceiling is {ceiling}"));
        } else if count < ceiling - ceiling / SLACK {
            findings.warn(folder, format!("{count} lines of Rust; lower its ceiling of {ceiling}"));
        }
    }
    Ok(())
}
