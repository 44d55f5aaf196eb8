//! The corpus that is kept: a file for each target, an input a line, in hexadecimal digits; `(20)` stands for 20
//! zeros.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::run;

/// No kept input is longer.
pub(super) const INPUT_LEN_MAX: usize = 4096;
/// Runs of as many zeros are written as their number.
const RUN_LEN: usize = 8;
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
        lines.push(text(&input));
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

fn text(mut input: &[u8]) -> String {
    let mut text = String::new();
    while let Some((byte, rest)) = input.split_first() {
        let zeros = input.iter().take_while(|byte| **byte == 0).count();
        if RUN_LEN <= zeros {
            text.push_str(&format!("({zeros})"));
            input = &input[zeros..];
        } else {
            text.push_str(&format!("{byte:02x}"));
            input = rest;
        }
    }
    text
}

fn bytes(line: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    // Each part but the first begins with the number of zeros.
    for (nth, part) in line.split('(').enumerate() {
        let (zeros, digits) = if nth == 0 { ("0", part) } else { part.split_once(')')? };
        bytes.resize(bytes.len() + zeros.parse::<u16>().ok().map(usize::from)?, 0);
        let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
        for pair in pairs {
            bytes.push(u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?);
        }
        rest.is_empty().then_some(())?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{bytes, text};

    #[test]
    fn a_line_becomes_the_bytes_that_it_was_made_of() {
        for input in [vec![], vec![0; 9], vec![7; 3], [vec![1], vec![0; 300], vec![2]].concat()] {
            assert_eq!(bytes(&text(&input)), Some(input));
        }
        assert_eq!(text(&[0, 0]), "0000");
        for wrong in ["0", "(3", "3)", "(x)", "zz"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }
}
