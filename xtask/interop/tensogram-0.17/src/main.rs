//! Files of the crate `tensogram` 0.17.0, and files that it is to read.
//!
//! ```text
//! tensogram-peer write FOLDER SEED COUNT   writes one of all kinds of objects, so many drawn by lot
//! tensogram-peer read FOLDER               reads every file of a folder, each against its sheet
//! ```
//!
//! Beside `X.tgm`, `X.json` says what its messages hold, and `X.bin` has the elements of all
//! objects; `tgm_files.py` does the same for the packages. Which zstd is asked, that of C or that of
//! Rust, the library takes from `TENSOGRAM_COMPRESSION_BACKEND`.

#![forbid(unsafe_code)]

mod lot;
mod object;
mod read;
mod write;

use std::path::Path;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["read", folder] => println!("{}", read::all(Path::new(folder))?),
        ["write", folder, seed, count] => {
            println!("{}", write::all(Path::new(folder), seed.parse()?, count.parse()?)?);
        }
        _ => bail!("read FOLDER, or write FOLDER SEED COUNT"),
    }
    Ok(())
}
