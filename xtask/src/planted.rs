//! Plants bugs that people make, one at a time, and asks the suites whether they notice.
//!
//! ```text
//! build    every suite once more, our crates with `--cfg planted`
//! sound    the suites of the list, with no bug: all pass
//! bug      its suite, with the bug that TET_PLANTED names: it fails, or the bug goes unnoticed
//! ```

mod suites;

use std::time::Instant;

use anyhow::{Result, bail, ensure};

use suites::{Suites, Verdict};

/// What to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only the bugs whose name contains this
    #[arg(long, value_name = "WORD")]
    only: Option<String>,
}

/// A bug, and the suite that must notice it.
struct Bug {
    /// What the site in the product asks for.
    name: &'static str,
    /// What it does.
    does: &'static str,
    /// The source file of the suite, and a part of the names of its tests.
    suite: (&'static str, &'static str),
}

/// All of them, in the order of the layers.
const BUGS: [Bug; 26] = [
    Bug {
        name: "payload_end",
        does: "the end of a payload is not compared with that of the file",
        suite: ("tests/conformance.rs", ""),
    },
    Bug {
        name: "raw_len",
        does: "what a chunk decodes to is not compared with the grid",
        suite: ("tests/conformance.rs", ""),
    },
    Bug {
        name: "frame_checksum",
        does: "zstd frames are written without a checksum",
        suite: ("crates/tet-codec/src/lib.rs", "zstd"),
    },
    Bug {
        name: "piece_digest",
        does: "raw chunks that several tasks read are not compared",
        suite: ("tests/integrity.rs", ""),
    },
    Bug {
        name: "file_sync",
        does: "the file is not synced before it takes its name",
        suite: ("tests/simfs.rs", "every_state"),
    },
    Bug {
        name: "folder_sync",
        does: "the folder is not synced",
        suite: ("tests/simfs.rs", "every_state"),
    },
    Bug {
        name: "sync_again",
        does: "a sync that fails is tried again",
        suite: ("crates/tet-io/src/lib.rs", "publish"),
    },
    Bug {
        name: "edit_state",
        does: "an edit does not look whether the file is still what was read",
        suite: ("crates/tet-io/src/lib.rs", "edit"),
    },
    Bug {
        name: "changed_stamp",
        does: "the stamp is not compared before an answer leaves",
        suite: ("tests/shake.rs", ""),
    },
    Bug {
        name: "row_count",
        does: "the rows of a dataset are not counted",
        suite: ("tests/conformance.rs", ""),
    },
    Bug {
        name: "spill_limit",
        does: "the limit on spills is not applied",
        suite: ("tests/conformance.rs", ""),
    },
    Bug {
        name: "self_digest",
        does: "footer JSON and tail are not compared with their digest",
        suite: ("crates/tet-file/src/lib.rs", "integrity"),
    },
    Bug {
        name: "stale",
        does: "stale digests are not told",
        suite: ("crates/tet-file/src/lib.rs", "integrity"),
    },
    Bug {
        name: "chunk_digest",
        does: "payloads are not compared with their digests",
        suite: ("tests/damage.rs", "rot"),
    },
    Bug {
        name: "duplicate_row",
        does: "of two rows of one chunk the first is taken",
        suite: ("crates/tet-query/src/lib.rs", "catalog"),
    },
    Bug {
        name: "nan_skipped",
        does: "NaN is skipped where it should go on",
        suite: ("tests/oracle.rs", ""),
    },
    Bug {
        name: "sum_in_f64",
        does: "sums of integers go through float64",
        suite: ("tests/oracle.rs", ""),
    },
    Bug {
        name: "merge_order",
        does: "threads merge in the order in which they are done",
        suite: ("crates/tet-query/src/lib.rs", "board"),
    },
    Bug {
        name: "part_unchecked",
        does: "answers from chunks that are read in part are called verified",
        suite: ("tests/integrity.rs", ""),
    },
    Bug {
        name: "small_cancel",
        does: "reads of one task go on after the caller asked to stop",
        suite: ("crates/tet-query/src/lib.rs", "scatter"),
    },
    Bug {
        name: "blob_checksum",
        does: "blobs of zTensor files are not compared with their checksums",
        suite: ("crates/tet-ztensor/src/lib.rs", ""),
    },
    Bug {
        name: "shared_bit",
        does: "a bit of a blob is flipped back that is right for another tensor",
        suite: ("crates/tet-ztensor/src/lib.rs", "repair"),
    },
    Bug {
        name: "object_hash",
        does: "frames of Tensogram files are not compared with their hashes",
        suite: ("crates/tet-tensogram/src/lib.rs", ""),
    },
    Bug {
        name: "deep_digest",
        does: "a deep look does not compare payloads with their digests",
        suite: ("crates/tet-verify/src/lib.rs", "integrity"),
    },
    Bug {
        name: "column_order",
        does: "a .npy in column order is read as if it were in row order",
        suite: ("crates/tet-convert/tests/export.rs", "in_place"),
    },
    Bug {
        name: "raw_name",
        does: "names of a file are printed as they are",
        suite: ("tests/commands.rs", "zoo"),
    },
];

/// Builds, looks whether the suites pass without a bug, then plants each.
pub(crate) fn run(options: &Options) -> Result<()> {
    let start = Instant::now();
    let chosen = |bug: &&Bug| options.only.as_deref().is_none_or(|word| bug.name.contains(word));
    let bugs: Vec<&Bug> = BUGS.iter().filter(chosen).collect();
    ensure!(!bugs.is_empty(), "no bug has that word in its name");
    let suites = Suites::build()?;
    let mut sound: Vec<(&str, &str)> = bugs.iter().map(|bug| bug.suite).collect();
    sound.sort_unstable();
    sound.dedup();
    for suite in sound {
        let Verdict::Passes = suites.run(suite, "")? else {
            bail!("{} {} fails without a bug", suite.0, suite.1);
        };
    }
    let mut unnoticed = Vec::new();
    for bug in &bugs {
        let since = Instant::now();
        let verdict = suites.run(bug.suite, bug.name)?;
        let seconds = since.elapsed().as_secs_f64();
        let by = match &verdict {
            Verdict::Fails(test) => format!("{} {test}", bug.suite.0),
            Verdict::Passes => "NOBODY".to_owned(),
            Verdict::Hangs => "NOBODY: the suite does not end".to_owned(),
        };
        println!("{:<15} {seconds:>6.1} s  {by}\n{:26}{}", bug.name, "", bug.does);
        if !matches!(verdict, Verdict::Fails(_)) {
            unnoticed.push(bug.name);
        }
    }
    println!("{} bugs, {} unnoticed, {:.0?}", bugs.len(), unnoticed.len(), start.elapsed());
    ensure!(unnoticed.is_empty(), "not noticed: {}", unnoticed.join(", "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::BUGS;
    use crate::run;

    /// The bugs that the sources of a folder ask for.
    fn sites(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sites(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let names =
                    text.split("planted::is(\"").skip(1).filter_map(|rest| rest.split_once('"'));
                found.extend(names.map(|(name, _)| name.to_owned()));
            }
        }
    }

    #[test]
    fn every_site_has_its_bug_and_every_bug_its_site() {
        let mut found = BTreeSet::new();
        sites(&run::root().join("crates"), &mut found);
        assert_eq!(found, BUGS.iter().map(|bug| bug.name.to_owned()).collect());
    }

    #[test]
    fn every_suite_is_there() {
        for bug in BUGS {
            assert!(run::root().join(bug.suite.0).is_file(), "{}", bug.suite.0);
        }
    }
}
