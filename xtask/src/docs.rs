//! Generated documents: `docs/limits.md`, `docs/reference/cli.md`, `docs/reference/outputs.md`,
//! `docs/reference/verify.md`, the man pages, the rule table.

mod limits;
mod outputs;
mod picture;

use std::path::Path;

use anyhow::{Context, Result, ensure};
use tet_convert::Format;
use tet_format::{NoteCode, Rule};
use tet_verify::Code;

use crate::run;

/// The hand-written part of `docs/reference/cli.md`.
const CLI_HEAD: &str = include_str!("../cli_head.md");
/// The hand-written part of `docs/reference/verify.md`.
const VERIFY_HEAD: &str = include_str!("../verify_head.md");

/// The text before the table of codes of folders of parts.
const TETS_HEAD: &str = "\
The rules of folders of parts; [series.md](../spec/series.md) explains them. Each of them makes the folder unreadable. Findings about
a part name it; they include those of `.tet` files. A folder without errors is `verified`: the manifest has a digest of each part.

";

/// The text before the table of zTensor codes.
const ZTENSOR_HEAD: &str = "\
The rules of zTensor 0.1.0 files; [ztensor.md](../spec/ztensor.md) explains them. Rules from ZT-T1 on concern one tensor; the
others stay readable. A file is `unprotected` if no tensor has a known checksum, and `unchecked` otherwise, because the
index has no checksum.

";

/// The text before the table of codes of zTensor 1 and 2.
const ZTENSOR2_HEAD: &str = "\
The rules of zTensor files of versions 1 and 2. Rules of the container and of the manifest (ZT2-C, ZT2-M, ZT2-L, ZT2-H1 and
ZT2-H2) make the file unreadable. The others concern one object or the objects in one shard, and the others stay readable.
A file of version 2 is `verified` if each part has a digest and all match, since its manifest has a hash too. A file of
version 1 with digests is `unchecked`, because its manifest has none.

";

/// The text before the table of Tensogram codes.
const TENSOGRAM_HEAD: &str = "\
The rules of Tensogram 3 files; [tensogram.md](../spec/tensogram.md) explains them. A broken rule affects an object, a frame
or a message; the other objects and messages stay readable. TGM-N codes make nothing unreadable. A file is `unprotected`
if no object has a hash, and `unchecked` otherwise, because not every byte has a hash.

";

/// The text before the table of safetensors codes.
const SAFETENSORS_HEAD: &str = "\
A file that breaks a rule of the header or of the layout is refused as a whole, as the reference library does. Four rules
concern one tensor, and the others stay readable: ST-T2, ST-T3, ST-B2 and ST-L2. Safetensors files have no digests, so
they are always `unprotected`; every byte is read, and the values of bools are checked.

ST-I1 to ST-I8 concern the index of a model in several files. ST-I5 to ST-I8 and the rules of a shard make the tensors
concerned unreadable; the finding names the shard. The other rules, and ST-L3 to ST-L5, make the index invalid.

";

/// The text before the table of NetCDF codes.
const NETCDF3_HEAD: &str = "\
A header that breaks a rule of its form (NC-H, NC-A, NC-L) makes the file unreadable. The other rules concern one variable,
and the others stay readable; only a variable of unknown shape or type makes all variables with records unreadable, because
the length of a record depends on it. The format has no checksums, so a file is always `unprotected`; every byte is read.

";

/// The text before the table of GGUF codes.
const GGUF_HEAD: &str = "\
A header that breaks a rule of its form (GG-H, GG-K, GG-L) makes the file unreadable. The other rules concern one tensor, and the
others stay readable. The format has no checksums, so a file is always `unprotected`; every byte is read.

";

/// The text before the table of FITS codes.
const FITS_HEAD: &str = "\
A first header that breaks a rule of its form (FITS-H) makes the file unreadable; a later one hides the units from there on. The
other rules concern one unit, and the others stay readable. Data with the card DATASUM are compared with it before they are used
as a whole, and units with CHECKSUM by `verify`; without either card a file is `unprotected`, and every byte is read.

";

/// The text before the table of PyTorch codes.
const TORCH_HEAD: &str = "\
A broken rule of the archive or the pickle (PT-A, PT-P, PT-L) makes the file unreadable. The other rules concern one tensor, and
the others stay readable. Members are compared with the CRC-32 of the archive; files of before version 1.6 are no archives, and
`unprotected`.

";

/// Whether to write or to compare.
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
    std::fs::write(root.join("docs/reference/cli.md"), cli())?;
    std::fs::write(root.join("docs/reference/verify.md"), verify())?;
    std::fs::write(root.join(outputs::PATH), outputs::page())?;
    std::fs::write(root.join(limits::PATH), limits::page()?)?;
    let man = run::target().join("man");
    std::fs::create_dir_all(&man)?;
    clap_mangen::generate_to(tet_cli::command(), &man)?;
    picture::write(root)?;
    println!(
        "docs/reference/cli.md, docs/reference/verify.md, {}, {} and {} written, man pages in {}",
        limits::PATH,
        outputs::PATH,
        picture::PATH,
        man.display()
    );
    rules(&std::fs::read_to_string(root.join("docs/spec/format.md"))?)
}

/// Compares the documents with the code.
pub(crate) fn check() -> Result<()> {
    let root = run::root();
    let read = |name: &str| read(root, name);
    ensure!(
        read("docs/reference/cli.md")? == cli(),
        "docs/reference/cli.md is out of date: run `cargo xtask docs`"
    );
    ensure!(
        read("docs/reference/verify.md")? == verify(),
        "docs/reference/verify.md is out of date: run `cargo xtask docs`"
    );
    ensure!(
        read(outputs::PATH)? == outputs::page(),
        "{} is out of date: run `cargo xtask docs`",
        outputs::PATH
    );
    ensure!(
        read(limits::PATH)? == limits::page()?,
        "{} is out of date: run `cargo xtask docs`",
        limits::PATH
    );
    picture::check(root)?;
    rules(&read("docs/spec/format.md")?)
}

fn read(root: &Path, name: &str) -> Result<String> {
    std::fs::read_to_string(root.join(name)).with_context(|| format!("{name} is not there"))
}

/// Every rule of the code is a row of `docs/spec/format.md`, and the other way round.
fn rules(format: &str) -> Result<()> {
    let rows: Vec<(&str, &str)> = format.lines().filter_map(rule_row).collect();
    for rule in Rule::ALL {
        let text = rows.iter().find(|(id, _)| *id == rule.id()).map(|(_, text)| *text);
        ensure!(
            text == Some(rule.text()),
            "docs/spec/format.md has {text:?} for {}, the code says {:?}",
            rule.id(),
            rule.text()
        );
    }
    for (id, _) in &rows {
        let known = Rule::ALL.iter().any(|rule| rule.id() == *id);
        ensure!(known, "docs/spec/format.md has a rule {id} that the code has not");
    }
    ensure!(rows.len() == Rule::ALL.len(), "docs/spec/format.md states a rule twice");
    let notes: Vec<String> =
        NoteCode::ALL.iter().map(|note| format!("- {}: {}.", note.id(), note.text())).collect();
    let listed: Vec<&str> = format.lines().filter(|line| line.starts_with("- TET-N")).collect();
    ensure!(listed == notes, "docs/spec/format.md lists {listed:#?}, the code {notes:#?}");
    Ok(())
}

/// The id and the text in a row such as `| TET-S1 | the first four bytes are TETR | ... |`.
fn rule_row(line: &str) -> Option<(&str, &str)> {
    let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
    let id = cells.next()?.trim_matches('`');
    id.starts_with("TET-").then_some((id, cells.next()?))
}

/// The text of `docs/reference/verify.md`.
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
        ("TET-Z", "Statistics"),
        ("TET-L", "Limits"),
        ("TET-N", "Notes"),
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

/// The text before the table of a container's codes.
fn foreign_head(format: Format) -> &'static str {
    match format {
        Format::TETS => TETS_HEAD,
        Format::SAFETENSORS => SAFETENSORS_HEAD,
        Format::NETCDF3 => NETCDF3_HEAD,
        Format::GGUF => GGUF_HEAD,
        Format::FITS => FITS_HEAD,
        Format::TORCH => TORCH_HEAD,
        Format::ZTENSOR => ZTENSOR_HEAD,
        Format::ZTENSOR2 => ZTENSOR2_HEAD,
        Format::TENSOGRAM => TENSOGRAM_HEAD,
        _ => "",
    }
}

/// The text of `docs/reference/cli.md`.
fn cli() -> String {
    let mut out = CLI_HEAD.to_owned();
    let mut command = tet_cli::command().term_width(100);
    let globals: Vec<clap::Arg> =
        command.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    command.build();
    let hidden: Vec<clap::Id> =
        globals.iter().map(|arg| arg.get_id().clone()).chain(["help".into()]).collect();
    let shared = clap::Command::new("tet").term_width(100).help_template("{options}").args(globals);
    block(&mut out, "Options of every command", shared);
    for verb in command.get_subcommands() {
        section(&mut out, verb, &hidden);
    }
    out
}

/// The help of a command and of its subcommands, without the options that every command takes.
fn section(out: &mut String, verb: &clap::Command, hidden: &[clap::Id]) {
    if verb.get_name() == "help" {
        return;
    }
    let name = verb.get_bin_name().unwrap_or_else(|| verb.get_name()).to_owned();
    let hide = |verb: clap::Command, id| verb.mut_arg(id, |arg| arg.hide(true));
    block(out, &name, hidden.iter().fold(verb.clone(), hide));
    for nested in verb.get_subcommands() {
        section(out, nested, hidden);
    }
}

/// A heading, and the help of a command behind it.
fn block(out: &mut String, title: &str, mut command: clap::Command) {
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    out.push_str(&format!("\n## {title}\n\n```text\n{}\n```\n", lines.join("\n").trim_end()));
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
    fn options_of_every_command_are_printed_once() {
        assert_eq!(cli().matches("--color <WHEN>").count(), 1);
    }

    #[test]
    fn rule_rows_are_read() {
        assert_eq!(rule_row("| `TET-S1` | a magic | at 0 |"), Some(("TET-S1", "a magic")));
        assert_eq!(rule_row("| TET-D2 | a name |"), Some(("TET-D2", "a name")));
        assert_eq!(rule_row("| offset | size |"), None);
        assert_eq!(rule_row("TET-S1"), None);
    }
}
