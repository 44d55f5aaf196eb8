//! `docs/reference/outputs.md`: what each format can hold, and which options of `tet convert` it takes.

use std::collections::BTreeSet;

use tet_convert::Capabilities;

/// The page, from the root of the project.
pub(super) const PATH: &str = "docs/reference/outputs.md";

const HEAD: &str = "\
# Outputs

The formats that `tet convert`, `tet cat -o` and `tet query -o` write. `--to` of `cat` and `query` names one by its
suffix, whatever that of the output is. This page is generated from the table of containers.

## What a format holds

What it cannot hold is left out with a warning. Types that a format lacks are stored as the bits of others, with the attribute
`logical_dtype`, and come back as what they were; `.npy` and `.npz` have no attributes, so that bfloat16 and float8 stay bits.

";

const OPTIONS: &str = "
## Options of `tet convert`

An option that does not apply is refused with exit code 2; the message names the formats that take it. Options that are not
listed apply to all formats.

";

/// Whether a format is of a kind.
type Fact = fn(&Capabilities) -> bool;

/// Facts in which formats differ.
const FACTS: [(&str, Fact); 6] = [
    ("several datasets", |can| can.several),
    ("attributes", |can| can.attributes),
    ("packed and masked values as they are stored", |can| can.decodes),
    ("names and labels of axes", |can| can.attributes || !can.layouts.is_empty()),
    ("text", |can| can.text),
    ("sparse tensors", |can| can.sparse),
];

/// The text of the page.
pub(super) fn page() -> String {
    let containers = tet_convert::containers();
    let written = containers.iter().filter_map(|it| {
        let suffixes = it.usual_suffixes().iter().map(|suffix| format!("`.{suffix}`"));
        Some((suffixes.collect::<Vec<_>>().join(" "), it.writer()?.can()))
    });
    let written: Vec<(String, Capabilities)> = written.collect();
    let options: BTreeSet<String> =
        written.iter().flat_map(|(_, can)| tet_cli::convert_flags(can.options)).collect();
    let facts = table(&written, FACTS.map(|(title, holds)| (title.to_owned(), holds)));
    let options = table(
        &written,
        options.into_iter().map(|option| {
            (format!("`{option}`"), move |can: &Capabilities| {
                tet_cli::convert_flags(can.options).contains(&option)
            })
        }),
    );
    format!("{HEAD}{facts}{OPTIONS}{options}")
}

/// A row for each title, and a column for each format.
fn table<F: Fn(&Capabilities) -> bool>(
    written: &[(String, Capabilities)],
    rows: impl IntoIterator<Item = (String, F)>,
) -> String {
    let titles: Vec<&str> = written.iter().map(|(suffixes, _)| suffixes.as_str()).collect();
    let mut out = format!("| | {} |\n|---|{}\n", titles.join(" | "), "---|".repeat(titles.len()));
    for (title, holds) in rows {
        let cells = written.iter().map(|(_, can)| if holds(can) { "yes" } else { "-" });
        out.push_str(&format!("| {title} | {} |\n", cells.collect::<Vec<_>>().join(" | ")));
    }
    out
}
