//! Documents that follow from the code: `docs/cli.md`, `docs/verify.md`, the man pages, the rule table.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use tet_convert::Format;
use tet_format::{NoteCode, Rule};
use tet_verify::Code;

use crate::run;

/// What stands before the generated part of `docs/cli.md`.
const CLI_HEAD: &str = include_str!("../cli_head.md");
/// What stands before the generated part of `docs/verify.md`.
const VERIFY_HEAD: &str = include_str!("../verify_head.md");

/// What stands before the table of zTensor.
const ZTENSOR_HEAD: &str = "\
What a zTensor 0.1.0 file is held to; `docs/ztensor.md` is the text they stand in. Those from ZT-T1 on concern one tensor,
and leave the others readable. A file is `unprotected` when no tensor has a checksum that is known, `unchecked` otherwise:
the index has none.

";

/// What stands before the table of safetensors.
const SAFETENSORS_HEAD: &str = "\
A file that breaks a rule of the header or of the layout of the buffer is refused as a whole, as its reference library
does. Four concern one tensor, and leave the others readable: ST-T2, ST-T3, ST-B2 and ST-L2. Safetensors files have no
digests, so they are never more than `unprotected`; every byte is read, and the values of bools are checked.

ST-I1 to ST-I8 concern the index of a model in several files. ST-I5 to ST-I8 cost the tensors that they are about, and so
does what breaks a shard; a finding says in which shard it is. The others, and ST-L3 to ST-L5, cost the index.

";

/// What to do with what differs.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Fail when the documents are not what the code says of itself
    #[arg(long)]
    check: bool,
}

/// Writes or compares the documents.
pub(crate) fn run(options: &Options) -> Result<()> {
    if options.check {
        return check();
    }
    let root = run::root();
    std::fs::write(root.join("docs/cli.md"), cli())?;
    std::fs::write(root.join("docs/verify.md"), verify())?;
    let man = run::target().join("man");
    std::fs::create_dir_all(&man)?;
    clap_mangen::generate_to(tet_cli::command(), &man)?;
    println!("docs/cli.md and docs/verify.md written, man pages in {}", man.display());
    rules(&std::fs::read_to_string(root.join("docs/format.md"))?)
}

/// Compares the documents with the code.
pub(crate) fn check() -> Result<()> {
    let root = run::root();
    let read = |name: &str| read(root, name);
    ensure!(read("docs/cli.md")? == cli(), "docs/cli.md is old: run `cargo xtask docs`");
    ensure!(read("docs/verify.md")? == verify(), "docs/verify.md is old: run `cargo xtask docs`");
    rules(&read("docs/format.md")?)
}

fn read(root: &Path, name: &str) -> Result<String> {
    std::fs::read_to_string(root.join(name)).with_context(|| format!("{name} is not there"))
}

/// Every rule of the code is a row of `docs/format.md`, and the other way round.
fn rules(format: &str) -> Result<()> {
    let rows: Vec<(&str, &str)> = format.lines().filter_map(rule_row).collect();
    for rule in Rule::ALL {
        let text = rows.iter().find(|(id, _)| *id == rule.id()).map(|(_, text)| *text);
        ensure!(
            text == Some(rule.text()),
            "docs/format.md has {text:?} for {}, the code says {:?}",
            rule.id(),
            rule.text()
        );
    }
    for (id, _) in &rows {
        let known = Rule::ALL.iter().any(|rule| rule.id() == *id);
        ensure!(known, "docs/format.md has a rule {id} that the code has not");
    }
    ensure!(rows.len() == Rule::ALL.len(), "docs/format.md states a rule twice");
    let notes: Vec<String> =
        NoteCode::ALL.iter().map(|note| format!("- {}: {}.", note.id(), note.text())).collect();
    let listed: Vec<&str> = format.lines().filter(|line| line.starts_with("- TET-N")).collect();
    ensure!(listed == notes, "docs/format.md lists {listed:#?}, the code {notes:#?}");
    Ok(())
}

/// The id and the text in a row such as `| TET-S1 | the first four bytes are TETR | ... |`.
fn rule_row(line: &str) -> Option<(&str, &str)> {
    let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
    let id = cells.next()?.trim_matches('`');
    id.starts_with("TET-").then_some((id, cells.next()?))
}

/// The text of `docs/verify.md`.
fn verify() -> String {
    let mut out = VERIFY_HEAD.to_owned();
    let rules = Rule::ALL.iter().map(|&rule| Code::Rule(rule));
    let codes: Vec<Code> =
        rules.chain(NoteCode::ALL.iter().map(|&note| Code::Note(note))).collect();
    let parts = [
        ("TET-S", "Superblock"),
        ("TET-D", "Directory"),
        ("TET-I", "Index"),
        ("TET-P", "Payloads"),
        ("TET-H", "Footer"),
        ("TET-M", "Footer JSON"),
        ("TET-G", "Digests"),
        ("TET-L", "Limits"),
        ("TET-N", "Oddities"),
    ];
    for (start, title) in parts {
        out.push_str(&format!(
            "\n### {title}\n\n| code | severity | level | meaning | what to do | `tet repair` |\n|---|---|---|---|---|---|\n"
        ));
        for code in codes.iter().filter(|code| code.id().starts_with(start)) {
            let (severity, level) = (code.severity(), code.level());
            let (meaning, advice, remedy) = (code.text(), code.advice(), code.remedy());
            out.push_str(&format!(
                "| {code} | {severity} | {level} | {meaning} | {advice} | {remedy} |\n"
            ));
        }
    }
    for (format, rules) in tet_convert::foreign_rules() {
        out.push_str(&format!("\n## Codes of {}\n\n{}", format.name(), foreign_head(format)));
        out.push_str("| code | severity | level | meaning | what to do |\n|---|---|---|---|---|\n");
        for code in rules.iter().map(|&rule| Code::Foreign(rule)) {
            let (severity, level) = (code.severity(), code.level());
            let (meaning, advice) = (code.text(), code.advice());
            out.push_str(&format!("| {code} | {severity} | {level} | {meaning} | {advice} |\n"));
        }
    }
    out
}

/// What stands before the table of a container's codes.
fn foreign_head(format: Format) -> &'static str {
    match format {
        Format::SAFETENSORS => SAFETENSORS_HEAD,
        Format::ZTENSOR => ZTENSOR_HEAD,
        _ => "",
    }
}

/// The text of `docs/cli.md`.
fn cli() -> String {
    let mut out = CLI_HEAD.to_owned();
    let mut command = tet_cli::command().term_width(100);
    command.build();
    for verb in command.get_subcommands_mut() {
        section(&mut out, verb);
    }
    out
}

/// What a verb says of itself, and behind it those that are named after it: `digest`, `digest add`.
fn section(out: &mut String, verb: &mut clap::Command) {
    // Its pages are those of the verbs.
    if verb.get_name() == "help" {
        return;
    }
    let name = verb.get_bin_name().unwrap_or_else(|| verb.get_name()).to_owned();
    let help = verb.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    out.push_str(&format!("\n## {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end()));
    for nested in verb.get_subcommands_mut() {
        section(out, nested);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_in_the_page_of_verify_once() {
        let page = verify();
        let ids = Rule::ALL.iter().map(|rule| rule.id());
        let foreign = tet_convert::foreign_rules();
        let foreign = foreign.iter().flat_map(|(_, rules)| rules.iter().map(|rule| rule.id));
        for id in ids.chain(NoteCode::ALL.iter().map(|note| note.id())).chain(foreign) {
            assert_eq!(page.matches(&format!("| {id} |")).count(), 1, "{id}");
        }
    }

    #[test]
    fn rule_rows_are_read() {
        assert_eq!(rule_row("| `TET-S1` | a magic | at 0 |"), Some(("TET-S1", "a magic")));
        assert_eq!(rule_row("| TET-D2 | a name |"), Some(("TET-D2", "a name")));
        assert_eq!(rule_row("| offset | size |"), None);
        assert_eq!(rule_row("TET-S1"), None);
    }
}
