//! Small files of every container, changed a little: whatever becomes of them, no dataset is gone without a word.
//!
//! ```text
//! a file --> one byte changed, or one field of its JSON replaced, removed or added --> info, convert
//!
//! refused    an error, or a message that names what is lost
//! same       the answers are those of the file before
//! values     other elements or attributes: nothing in the file says that they are not those that were meant
//! described  another type, shape or axis
//! renamed    another name, and as many datasets
//! vanished   fewer datasets than before, and not a word: never, but for the columns of a table of text
//! ```
//!
//! Containers whose bytes are all behind checksums must have none of the others either. `cargo xtask vanish` makes all
//! changes; `cargo test` makes some of them.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

#[path = "vanish/changes.rs"]
mod changes;
#[path = "vanish/files.rs"]
mod files;
#[path = "vanish/judge.rs"]
mod judge;

use std::collections::BTreeMap;

use self::changes::{Change, changes};
use self::files::Sample;
use self::judge::{Fate, Judge};

/// The containers in which a changed byte always breaks a checksum.
const SEALED: [&str; 2] = ["tet", "tets"];
/// The variable that asks for all changes.
const ALL: &str = "TET_VANISH_ALL";

#[test]
fn no_dataset_is_gone_without_a_word() {
    let is_full = std::env::var_os(ALL).is_some();
    let folder = tempfile::tempdir().unwrap();
    let mut all = 0;
    for sample in files::samples(folder.path()) {
        let work = folder.path().join("work");
        let judge = Judge::new(&sample, &work);
        let changes = changes(&sample);
        let step = if is_full { 1 } else { (changes.len() / 25).max(1) };
        let mut counts: BTreeMap<Fate, u64> = BTreeMap::new();
        let mut silent = Vec::new();
        for change in changes.iter().step_by(step) {
            let fate = judge.fate(&change.files(&sample));
            *counts.entry(fate).or_default() += 1;
            if is_silent(&sample, fate) {
                silent.push(format!("{fate:?}: {}", text_of(change, &sample)));
            }
        }
        let tried: u64 = counts.values().sum();
        all += tried;
        println!("{:12} {tried:6} tried, {:3} silent; {counts:?}", sample.name, silent.len());
        let shown = silent.iter().take(20).cloned().collect::<Vec<_>>().join("\n  ");
        assert!(silent.is_empty(), "{}:\n  {shown}", sample.name);
    }
    println!("{all} changes");
    assert!(!is_full || all >= 10_000, "{all}");
}

/// Whether this must not become of a change.
fn is_silent(sample: &Sample, fate: Fate) -> bool {
    match fate {
        Fate::Refused | Fate::Same => false,
        Fate::Values | Fate::Described | Fate::Renamed => SEALED.contains(&sample.name),
        // Every text is a table: without quotes, names or line ends it is another one.
        Fate::Vanished => sample.name != "csv",
    }
}

fn text_of(change: &Change, sample: &Sample) -> String {
    let (path, _) = &sample.files[change.file];
    format!("{}: {}", path.display(), change.what)
}
