//! `.tet` files of ours, and the reference program, `tetration`.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Options;
use crate::{fixtures, reference, run};

/// Installs the reference if needed and lets it read what we write.
pub(super) fn run(options: &Options) -> Result<()> {
    let reference = match &options.reference {
        Some(path) => path.clone(),
        None => reference::tetration()?,
    };
    let folder = run::target().join("interop/files");
    let mut files = fixtures::write_small(&folder)?;
    files.extend(options.files.iter().cloned());
    let ours = run::program()?;
    let mut queries = 0;
    for path in &files {
        let name = path.display();
        run::output(Command::new(&reference).arg("info").arg(path))
            .with_context(|| format!("the reference does not open {name}"))?;
        run::output(Command::new(&reference).args(["verify", "--deep"]).arg(path))
            .with_context(|| format!("the reference does not verify {name}"))?;
        queries += compare(&reference, &ours, path)
            .with_context(|| format!("the answers about {name} differ"))?;
    }
    println!("{} files verified by the reference, {queries} answers agree", files.len());
    Ok(())
}

/// Puts the same questions to both programs; returns how many.
fn compare(reference: &Path, ours: &Path, path: &Path) -> Result<usize> {
    let listing: Value =
        serde_json::from_str(&run::output(Command::new(ours).args(["info", "--json"]).arg(path))?)?;
    let datasets = listing["datasets"].as_array().context("our listing has no datasets")?;
    let mut count = 0;
    for dataset in datasets {
        // The reference reads a name of blanks, and has no question about it.
        let Some(name) = dataset["name"].as_str().filter(|name| !name.trim().is_empty()) else {
            continue;
        };
        for op in ["sum", "mean", "min", "max"] {
            let question = serde_json::json!({ "dataset": name, op: [] }).to_string();
            let theirs = run::output(
                Command::new(reference)
                    .args(["query", &question, "-t"])
                    .arg(path)
                    .args(["-x", "--format", "json"]),
            )?;
            let ours = run::output(
                Command::new(ours).arg("query").arg(path).args([&question, "--format", "json"]),
            )?;
            let wanted = number(&theirs, &format!("/execution/operation_{op}"))?;
            let found = number(&ours, "/result/values")?;
            ensure!(agree(found, wanted), "{op} of {name}: ours {found}, the reference {wanted}");
            count += 1;
        }
    }
    Ok(count)
}

/// The number at this place in a document; infinities and NaN are strings there.
fn number(json: &str, place: &str) -> Result<f64> {
    let document: Value = serde_json::from_str(json).context("the answer is not JSON")?;
    let number = match document.pointer(place) {
        Some(Value::String(text)) => text.parse().ok(),
        Some(value) => value.as_f64(),
        None => None,
    };
    number.with_context(|| format!("no number at {place} in {json}"))
}

/// The reference folds in float64 by another order; integers past 2^53 lose their end there.
fn agree(ours: f64, theirs: f64) -> bool {
    let both_nan = ours.is_nan() && theirs.is_nan();
    both_nan || ours == theirs || (ours - theirs).abs() <= 1e-9 * ours.abs().max(theirs.abs())
}
