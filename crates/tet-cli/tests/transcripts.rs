//! Runs the transcripts in `tests/cmd/` and the commands in `README.md` and `docs/`.
//!
//! Each transcript runs in its own directory with the files of [`fixtures`]. With `BLESS=1` the
//! transcripts are rewritten to the output of the program; read the difference in review.

mod fixtures;

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn transcripts_hold() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd");
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("transcripts");
    let _ = fs::remove_dir_all(&work);
    fs::create_dir_all(&work).expect("a folder for the transcripts");
    let transcripts = transcripts_of(&source);
    assert!(!transcripts.is_empty(), "there are transcripts");
    for transcript in &transcripts {
        let name = name(transcript);
        fs::copy(transcript, work.join(format!("{name}.md"))).expect("a copy");
        fixtures::make(&work.join(format!("{name}.in")));
        // An `.out` folder makes every transcript run in a copy of its files.
        let out = work.join(format!("{name}.out"));
        fs::create_dir_all(&out).expect("a folder");
        fs::write(out.join(".keep"), "").expect("a file");
    }
    let bless = std::env::var_os("BLESS").is_some();
    let cases = trycmd::TestCases::new();
    cases.case(work.join("*.md"));
    cases.env("SOURCE_DATE_EPOCH", "1700000000");
    cases.env("NO_COLOR", "1");
    let held = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        if bless {
            overwrite(&cases, &work, &transcripts);
        } else {
            cases.run();
        }
    }));
    assert!(held.is_ok(), "run with BLESS=1 to rewrite the transcripts, then read the difference");
}

/// Pages, and directories of pages, whose examples are commands, from the root of the workspace.
const PAGES: [&str; 2] = ["README.md", "docs"];

/// The unique name of a transcript: `reference-query` for `docs/reference/query.md`.
fn name(transcript: &Path) -> String {
    let stem = transcript.file_stem().expect("a name").to_string_lossy().into_owned();
    let folder = transcript.parent().and_then(Path::file_name).unwrap_or_default();
    format!("{}-{stem}", folder.to_string_lossy())
}

/// The transcripts in `folder`, and the pages that contain examples.
fn transcripts_of(folder: &Path) -> Vec<PathBuf> {
    let mut paths = pages_of(folder);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().expect("the workspace");
    for page in PAGES.map(|page| root.join(page)) {
        if page.is_dir() { paths.extend(pages_of(&page)) } else { paths.push(page) }
    }
    paths.retain(|path| fs::read_to_string(path).expect("a page").contains("\n```console\n"));
    paths
}

/// The pages of a folder and its subfolders, sorted.
fn pages_of(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of pages") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            paths.extend(pages_of(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            paths.push(path);
        }
    }
    paths.sort();
    paths
}

/// Runs the cases in their own process with `TRYCMD=overwrite`, then copies the results.
fn overwrite(cases: &trycmd::TestCases, work: &Path, transcripts: &[PathBuf]) {
    if std::env::var_os("TRYCMD").is_some() {
        cases.run();
        return;
    }
    let this = std::env::current_exe().expect("this program");
    let status = std::process::Command::new(this)
        .args(["--exact", "transcripts_hold"])
        .env("TRYCMD", "overwrite")
        .status()
        .expect("runs itself");
    assert!(status.success());
    for transcript in transcripts {
        let blessed = work.join(format!("{}.md", name(transcript)));
        fs::copy(blessed, transcript).expect("a copy");
    }
}
