//! The corpus that is kept: a file for each target, an input a line, in hexadecimal digits.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::run;

/// No kept input is longer.
pub(super) const INPUT_LEN_MAX: usize = 1024;
/// The file of a target stays one that can be kept: the longest inputs are left out.
const KEPT_LEN_MAX: usize = 200_000;

fn path(name: &str) -> PathBuf {
    run::root().join("fuzz/corpus").join(format!("{name}.hex"))
}

/// Makes files of the inputs of a target.
pub(super) fn unpack(name: &str, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let Ok(text) = fs::read_to_string(path(name)) else { return Ok(()) };
    for (nth, line) in text.lines().enumerate() {
        let input = bytes(line).with_context(|| format!("{name}.hex, line {}", nth + 1))?;
        fs::write(folder.join(format!("kept-{nth:04}")), input)?;
    }
    Ok(())
}

/// Makes the inputs of a target of files.
pub(super) fn pack(name: &str, folder: &Path) -> Result<()> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(folder)? {
        let input = fs::read(entry?.path())?;
        lines.push(input.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    }
    lines.sort_by_key(|line| (line.len(), line.clone()));
    let mut len = 0;
    lines.retain(|line| {
        len += line.len() + 1;
        len <= KEPT_LEN_MAX
    });
    fs::create_dir_all(run::root().join("fuzz/corpus"))?;
    fs::write(path(name), lines.iter().map(|line| format!("{line}\n")).collect::<String>())?;
    eprintln!("   {name}: {} inputs are kept", lines.len());
    Ok(())
}

/// Puts the files of one folder into another.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

fn bytes(line: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = line.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}
