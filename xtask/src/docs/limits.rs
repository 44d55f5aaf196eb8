//! `docs/limits.md`: the facts that a user meets, and tables of formats, types, codecs and bounds, which come from the code.

mod bounds;
mod formats;
mod types;

use std::collections::BTreeMap;

use anyhow::Result;
use tet_container::others;

/// The page, from the root of the project.
pub(super) const PATH: &str = "docs/limits.md";

/// The facts, which are written by hand; `tet-cli/tests/it/denied.rs` runs what they deny.
const HEAD: &str = include_str!("../../limits_head.md");

const FORMATS: &str = "
## Formats

What cannot be read in such a file is listed with the reason, and the rest is read. Edits and outputs that are not here are refused
with exit code 2, and so are repairs. [outputs.md](reference/outputs.md) lists the options of each output,
[formats](formats/README.md) has a page for each family.

";

const REFUSED: &str = "
These are recognized, and refused with the nearest way to a file that is read or written (exit code 6; as an output, 2): ";

const TYPES: &str = "
## Types of elements

As what each output stores elements: *yes* as they are, a type of the same bits or a wider one with the attribute `logical_dtype`, by which
the elements come back as what they were (`.npy`, `.npz` and `.raw` have no attributes), or - not at all.

";

const CODECS: &str = "
## Codecs

Those that are decoded, and those that `tet convert` writes. A dataset with another one is listed with its name.

";

const BOUNDS: &str = "
## Bounds

A command that needs more is refused with exit code 4, a file with more by the rule that says so. Longer lists of attributes are listed by
their length, and no more parts are open at a time.

";

/// The text of the page.
pub(super) fn page() -> Result<String> {
    let refused: BTreeMap<String, ()> =
        others::formats().map(|format| (noun(&format.to_string()).to_owned(), ())).collect();
    let refused: Vec<String> = refused.into_keys().collect();
    Ok([
        HEAD,
        FORMATS,
        &formats::table(),
        REFUSED,
        &format!("{}.\n", refused.join("; ")),
        TYPES,
        &types::table()?,
        CODECS,
        &formats::codecs(),
        BOUNDS,
        &bounds::table(),
    ]
    .concat())
}

/// A title without its article.
fn noun(title: &str) -> &str {
    let rest = title.split_once(' ').filter(|(article, _)| ["a", "an"].contains(article));
    rest.map_or(title, |(_, rest)| rest)
}

/// Suffixes in code marks: `` `.h5` `.nc` ``.
fn suffixes(all: &[&str]) -> String {
    all.iter().map(|suffix| format!("`.{suffix}`")).collect::<Vec<_>>().join(" ")
}
