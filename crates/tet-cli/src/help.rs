//! Help in three lengths.
//!
//! ```text
//!   tet query -h       the options of every day
//!   tet query --help   every option, on a line of its own, and examples
//!   tet help query     every option with all of its text, as in docs/reference/cli.md and the manual pages
//! ```
//!
//! The parser renders the first and the last. Options of the last alone have `hide_short_help` and `hide_long_help`:
//! a paragraph stands for them.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// The help that `--help` requests; `None` if the arguments request another length.
pub(crate) fn every_option(args: &[OsString]) -> Option<StyledStr> {
    let mut words = args.iter().skip(1).take_while(|word| *word != "--");
    let is_requested = args.get(1)? != "help" && words.any(|word| word == "--help");
    if !is_requested {
        return None;
    }
    let mut root = crate::command();
    root.build();
    Some(one_line_each(deepest(&mut root, args).clone()).render_help())
}

/// The command that the arguments name.
pub(crate) fn deepest<'c>(root: &'c mut Command, args: &[OsString]) -> &'c mut Command {
    let mut command = root;
    for word in args.iter().skip(1).filter_map(|arg| arg.to_str()) {
        if command.find_subcommand(word).is_none() {
            continue;
        }
        command = command.find_subcommand_mut(word).expect("it was found");
    }
    command
}

/// The command, whose short help then has all options.
fn one_line_each(command: Command) -> Command {
    let about = command.get_long_about().or(command.get_about()).cloned();
    let examples = command.get_after_long_help().or(command.get_after_help()).cloned();
    let is_cut = command.get_arguments().any(|arg| arg.get_long_help().is_some());
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    let command = command
        .mut_args(|arg| {
            let is_folded = arg.is_hide_long_help_set();
            arg.hide_short_help(is_folded)
        })
        .mut_arg("help", |arg| arg.help("Print this help; -h prints the common options"));
    let Some((program, path)) = name.split_once(' ').filter(|_| is_cut) else {
        return described(command, about, examples);
    };
    let more = format!(
        "`{program} help {path}` explains each option in full, as docs/reference/cli.md does."
    );
    let examples = examples.map_or_else(|| more.clone(), |text| format!("{text}\n\n{more}"));
    described(command, about, Some(examples.into()))
}

fn described(command: Command, about: Option<StyledStr>, after: Option<StyledStr>) -> Command {
    let command = match about {
        Some(about) => command.about(about),
        None => command,
    };
    match after {
        Some(after) => command.after_help(after),
        None => command,
    }
}

/// The option without a line of its own in `-h`, `--help` and the reference: a paragraph has it.
pub(crate) fn folded(arg: Arg) -> Arg {
    arg.hide_short_help(true).hide_long_help(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;
    use crate::streams::Streams;

    /// The most lines of `-h` and of `--help`, in 100 columns.
    const SHORT_MAX: usize = 66;
    const LONG_MAX: usize = 150;
    /// The most columns of an example, and of a line of a paragraph that is not wrapped.
    const EXAMPLE_MAX: usize = 99;
    const PROSE_MAX: usize = 80;

    fn help(path: &str, flag: &str) -> String {
        let (mut streams, out, err) = Streams::captured(b"");
        let args = path.split(' ').chain([flag]).map(OsString::from);
        let exit = crate::run(args, &mut streams);
        assert_eq!((exit, err.text().as_str()), (Exit::Done, ""), "{path} {flag}");
        out.text()
    }

    /// Every command that can be run, with the words that name it.
    fn commands() -> Vec<(String, Command)> {
        fn nested(command: &Command, path: &str) -> Vec<(String, Command)> {
            let below = command.get_subcommands().filter(|it| it.get_name() != "help");
            let below = below.flat_map(|it| nested(it, &format!("{path} {}", it.get_name())));
            std::iter::once((path.to_owned(), command.clone())).chain(below).collect()
        }
        let mut root = crate::command();
        root.build();
        nested(&root, "tet")
    }

    #[test]
    fn short_help_fits_a_screen_and_long_help_two() {
        for (path, _) in commands() {
            let (short, long) = (help(&path, "-h"), help(&path, "--help"));
            let lines = [&short, &long].map(|text| text.lines().count());
            assert!(lines[0] <= SHORT_MAX, "{path} -h has {} lines", lines[0]);
            assert!(lines[1] <= LONG_MAX, "{path} --help has {} lines", lines[1]);
        }
    }

    #[test]
    fn long_help_has_every_option_and_an_option_has_few_lines() {
        for (path, command) in commands() {
            let long = help(&path, "--help");
            let queries =
                if long.contains("QUERIES") { help("tet query", "--help") } else { String::new() };
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                let Some(name) = arg.get_long() else { continue };
                let flag = format!("--{name}");
                assert!(long.contains(&flag) || queries.contains(&flag), "{path} {flag}");
            }
            let options = long.split("EXAMPLES").next().unwrap_or_default();
            let mut line_count = 0;
            for line in options.lines() {
                let continues =
                    line.starts_with("          ") && !line.trim_start().starts_with("--");
                line_count = if continues { line_count + 1 } else { 0 };
                assert!(line_count < 3, "{path}: {line}");
            }
        }
    }

    #[test]
    fn indented_lines_are_not_broken() {
        for (path, command) in commands() {
            let after = [command.get_after_help(), command.get_after_long_help()];
            let texts = after.into_iter().flatten().map(ToString::to_string);
            // Lines that start at the edge are wrapped; others would lose their indent.
            let texts: Vec<String> = texts.collect();
            for line in texts.iter().flat_map(|text| text.lines()).filter(|it| it.starts_with(' '))
            {
                let text = line.trim();
                let is_prose = !text.starts_with("tet ") && !text.contains("  ");
                let most = if is_prose { PROSE_MAX } else { EXAMPLE_MAX };
                assert!(line.chars().count() <= most, "{path}: {line}");
            }
        }
    }

    #[test]
    fn the_command_help_explains_in_full() {
        let long = help("tet query", "--help");
        assert!(!long.contains("All tests must hold"), "{long}");
        assert!(help("tet help", "query").contains("All tests must hold"));
        assert!(long.contains("`tet help query` explains"), "{long}");
        for folded in ["sum", "mean", "var", "std", "min", "max"] {
            let flag = format!("--nan-{folded}");
            assert_eq!(long.matches(&flag).count(), 1, "{flag}");
        }
        // A value that reads like the flag requests nothing.
        assert!(every_option(&["tet", "cat", "a", "--", "--help"].map(OsString::from)).is_none());
    }
}
