//! Small files of every container, changed a little: whatever becomes of them, nothing is gone without a word.
//!
//! ```text
//! a file --> one byte changed, or one field of its JSON replaced, removed or added --> info, stats, convert, diff
//!
//! refused    an error, or a message that names what is lost
//! same       the answers are those of the file before
//! values     other elements: nothing in the file says that they are not those that were meant
//! attrs      other attributes, as many as before
//! described  another type, shape or axis
//! renamed    another name, and as many datasets
//! stripped   fewer attributes, and not a word
//! vanished   fewer datasets, and not a word
//! overlooked `diff` says that it is the file before, and not a word
//! panicked   never
//! ```
//!
//! A change is silent where a user would want a message. `cargo xtask vanish` makes all changes; `cargo test` makes
//! some of them.

#![allow(clippy::print_stdout, reason = "the figures of the suite")]

mod changes;
mod files;
mod judge;

use std::collections::BTreeMap;
use std::path::Path;

use self::changes::{Change, changes};
use self::files::{Sample, Seal};
use self::judge::{Fate, Judge};

/// The variable that asks for all changes.
const ALL: &str = "TET_VANISH_ALL";
/// The variable that asks for the containers whose names have this text, and shows what became of each change.
const ONLY: &str = "TET_VANISH_ONLY";
/// Silent changes that are shown, of each container.
const SHOWN_MAX: usize = 20;

#[test]
fn nothing_is_gone_without_a_word() {
    let is_full = std::env::var_os(ALL).is_some();
    let only = std::env::var(ONLY).ok();
    let folder = tempfile::tempdir().unwrap();
    let (mut all, mut silent) = (0, Vec::new());
    let words = Fate::ALL.map(|fate| format!("{:>11}", format!("{fate:?}").to_lowercase()));
    println!("{:14}{:>8}{}{:>10}", "", "tried", words.concat(), "silent");
    for sample in files::samples(folder.path()) {
        if only.as_ref().is_some_and(|only| !sample.name.contains(only.as_str())) {
            continue;
        }
        let fates = fates(&sample, &folder.path().join("work"), is_full);
        all += fates.len();
        silent.extend(printed(&sample, &fates, only.is_some()));
    }
    println!("{all} changes");
    assert!(silent.is_empty(), "without a word:\n  {}", silent.join("\n  "));
    assert!(!is_full || only.is_some() || all >= 10_000, "{all}");
}

/// Outcomes of each change, or of some of them.
fn fates(sample: &Sample, folder: &Path, is_full: bool) -> Vec<(Change, Fate)> {
    let judge = Judge::new(sample, folder);
    let changes = changes(sample);
    let step = if is_full { 1 } else { (changes.len() / 25).max(1) };
    let chosen = changes.into_iter().step_by(step);
    chosen
        .map(|change| (judge.fate(sample, &change), change))
        .map(|(fate, it)| (it, fate))
        .collect()
}

/// Prints the figures of a container, and gives what is silent.
fn printed(sample: &Sample, fates: &[(Change, Fate)], is_shown: bool) -> Vec<String> {
    let mut counts: BTreeMap<Fate, u64> = BTreeMap::new();
    let mut silent = Vec::new();
    for (change, fate) in fates {
        *counts.entry(*fate).or_default() += 1;
        let (path, _) = &sample.files[change.file];
        let text = format!("{}: {fate:?}: {}: {}", sample.name, path.display(), change.what);
        let is_silent = is_silent(sample, change, *fate);
        if is_shown {
            println!("{} {text}", if is_silent { "silent" } else { "      " });
        }
        silent.extend(is_silent.then_some(text));
    }
    let counts = Fate::ALL.map(|fate| format!("{:>11}", counts.get(&fate).unwrap_or(&0)));
    println!("{:14}{:>8}{}{:>10}", sample.name, fates.len(), counts.concat(), silent.len());
    silent.truncate(SHOWN_MAX);
    silent
}

/// Whether this must not become of a change.
fn is_silent(sample: &Sample, change: &Change, fate: Fate) -> bool {
    let is_sealed = sample.seal == Seal::Whole;
    match fate {
        Fate::Refused | Fate::Same => false,
        Fate::Values | Fate::Attrs | Fate::Described => is_sealed,
        Fate::Renamed => is_sealed || sample.seal == Seal::Names,
        Fate::Stripped => is_sealed || !change.is_taken,
        Fate::Vanished => sample.seal != Seal::Table,
        Fate::Overlooked | Fate::Panicked => true,
    }
}
