//! The `tet` program, for suites that run it.

use std::path::{Path, PathBuf};

/// The program, which stands beside the tests when the workspace is built.
pub fn tet() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().and_then(Path::parent).unwrap().join("tet");
    assert!(program.is_file(), "{} is not built: cargo build -p tet-cli", program.display());
    program
}
