//! Writes every hostile and every rejected file into a folder, for those who read them in other languages.

use std::path::PathBuf;
use std::process::ExitCode;

use tet_tests::{reject, zoo};

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return ExitCode::from(2);
    };
    let hostile = zoo::animals().into_iter().map(|it| it.bytes);
    let rejected = reject::cases().into_iter().map(|it| it.bytes);
    let written = hostile.chain(rejected).enumerate().try_for_each(|(number, bytes)| {
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(format!("{number:04}.tet")), bytes)
    });
    if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
