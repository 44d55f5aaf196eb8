//! Tests that need a process: closed pipes, pipes as files, full disks.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

use tet_cli::{Exit, Streams};

use crate::fixtures;

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tet"))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fixtures::make(folder.path());
    folder
}

#[test]
fn a_broken_pipe_ends_the_command_without_an_error() {
    let folder = folder();
    let cat = ["cat", "climate.tet", "temp", "--format", "csv"];
    for args in [&cat[..], &["dump", "climate.tet"]] {
        let mut child = program()
            .args(args)
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut some = [0; 10];
        child.stdout.take().expect("piped").read_exact(&mut some).expect("some bytes");
        let output = child.wait_with_output().expect("ends");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
    }
}

#[test]
fn h21_a_pipe_in_place_of_a_file_is_refused_at_once() {
    let folder = folder();
    let pipe = folder.path().join("pipe.tet");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is there");
    assert!(made.success());
    for command in [["info", "pipe.tet"], ["verify", "pipe.tet"], ["cat", "pipe.tet"]] {
        let output =
            program().args(command).current_dir(folder.path()).output().expect("runs and ends");
        assert_eq!(output.status.code(), Some(5), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("pipe"), "{output:?}");
    }
    let output = program()
        .args(["convert", "climate.npz", "pipe.tet", "--force"])
        .current_dir(folder.path())
        .output()
        .expect("runs and ends");
    assert_eq!(output.status.code(), Some(5), "{output:?}");
}

#[test]
fn a_full_disk_is_an_error() {
    let folder = folder();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("is there");
    let output = program()
        .args(["info", "climate.tet"])
        .current_dir(folder.path())
        .stdout(full)
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: cannot write"));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("is there");
    let output = program()
        .args(["query", "climate.tet", "temp", "--mean", "--json"])
        .current_dir(folder.path())
        .stdout(full)
        .output()
        .expect("runs");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{printed}");
    assert!(printed.contains(r#""kind":"io","code":"disk-full""#), "{printed}");
    assert!(printed.contains(r#""hint":"free some space"#), "{printed}");
}

#[test]
fn a_command_that_is_stopped_leaves_no_file() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    let before = std::fs::read_dir(folder.path()).expect("a folder").count();
    let stopped: [&[&str]; 7] = [
        &["convert", &path("climate.npz"), &path("new.tet"), "--codec", "raw"],
        &["convert", &path("climate.npz"), &path("new.tet")],
        &["cat", &path("climate.tet"), "temp", "-o", &path("new.npy")],
        &["query", &path("climate.tet"), "temp", "--mean"],
        &["query", &path("climate.tet"), "temp", "--transform", "center", "-o", &path("new.npy")],
        &["stats", &path("climate.tet")],
        &["explain", &path("climate.tet"), "temp", "--mean"],
    ];
    for args in stopped {
        let (mut streams, out, err) = Streams::captured(b"");
        streams.env.cancel.store(true, Ordering::Relaxed);
        let args = std::iter::once("tet").chain(args.iter().copied()).map(Into::into);
        let exit = tet_cli::run(args, &mut streams);
        assert_eq!(exit, Exit::Interrupted, "{}", err.text());
        assert_eq!((out.text().as_str(), err.text().as_str()), ("", "error: interrupted\n"));
    }
    let after = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(before, after, "nothing was left behind");
}

#[test]
fn standard_input_may_be_the_document() {
    let folder = folder();
    let file = folder.path().join("numbers.tet");
    let (mut streams, out, err) = Streams::captured(b"{\"dataset\": \"grid\", \"sum\": []}");
    let args = ["tet", "query", file.to_str().expect("text"), "-", "-q"];
    let exit = tet_cli::run(args.map(Into::into), &mut streams);
    assert_eq!((exit, out.text().as_str()), (Exit::Done, "66\n"), "{}", err.text());
}

#[test]
fn manual_pages_and_completions_are_made_of_the_definition() {
    let folder = tempfile::tempdir().expect("a folder");
    let (exit, _, err) = fixtures::tet(&["man", folder.path().to_str().expect("text")]);
    assert_eq!(exit, Exit::Done, "{err}");
    for page in ["tet.1", "tet-info.1", "tet-query.1", "tet-digest.1", "tet-digest-create.1"] {
        let text = std::fs::read_to_string(folder.path().join(page)).expect("a page");
        assert!(text.contains(".TH") && text.contains("EXAMPLES"), "{page}");
    }
    let (exit, page, _) = fixtures::tet(&["man"]);
    assert_eq!((exit, page.contains("SUBCOMMANDS")), (Exit::Done, true));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (exit, script, _) = fixtures::tet(&["completions", shell]);
        assert_eq!(exit, Exit::Done);
        assert!(script.contains("COMPLETE"), "{shell}");
    }
}

#[test]
fn shells_complete_names_of_the_file_on_the_line() {
    let folder = folder();
    let complete = |line: &[&str]| {
        let output = std::process::Command::new(assert_cmd::cargo::cargo_bin!("tet"))
            .current_dir(folder.path())
            .envs([("COMPLETE", "bash"), ("_CLAP_IFS", "\n"), ("_CLAP_COMPLETE_SPACE", "true")])
            .env("_CLAP_COMPLETE_INDEX", line.len().to_string())
            .env("_CLAP_COMPLETE_COMP_TYPE", "9")
            .args(["--", "tet"])
            .args(line)
            .output()
            .expect("runs");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("text")
    };
    for (line, wanted) in [
        (&["verif"][..], "verify"),
        (&["cat", "climate.tet", "el"], "elevation"),
        (&["stats", "climate.tet", "temp", "mon"], "month"),
        (&["cat", "climate.tet", "temp[mo"], "temp[month="),
        (&["cat", "climate.tet", "temp[month=\"7"], "temp[month=\"7\""),
        (&["cat", "climate.tet", "temp[month=7"], "temp[month=7"),
        (&["cat", "climate.tet", "temp[month=3, la"], "temp[month=3, lat="),
        (&["cat", "climate.tet", "temp", "--select", "lat=\"51"], "lat=\"51\""),
        (&["query", "climate.tet", "temp", "--mean", "lat,lo"], "lat,lon"),
        (&["convert", "climate.tet", "out.tet", "--dataset", "te"], "temp"),
        (&["cat", "climate.tet", "nothing"], ""),
        (&["cat", "missing.tet", "t"], ""),
    ] {
        assert_eq!(complete(line).trim_end(), wanted, "{line:?}");
    }
}

#[test]
fn the_option_sets_the_colors_of_heatmaps_too() {
    let folder = folder();
    let file = folder.path().join("climate.tet");
    let file = file.to_str().expect("text");
    let args = ["cat", file, "temp[0]", "--format", "heatmap", "--color"];
    let (_, plain, _) = fixtures::tet(&[&args[..], &["never"]].concat());
    assert!(plain.is_ascii(), "{plain}");
    let (_, colored, _) = fixtures::tet(&[&args[..], &["always"]].concat());
    assert!(colored.contains("\u{1b}[38;5;") && colored.contains('\u{2580}'));
    assert!(colored.lines().all(|line| !line.contains('\u{1b}') || line.contains("\u{1b}[0m")));
}

/// Names from a file are escaped before they are printed.
#[test]
fn h13_names_of_a_file_never_control_the_terminal() {
    let folder = folder();
    let file = folder.path().join("hostile.tet");
    let file = file.to_str().expect("text");
    let commands: [&[&str]; 13] = [
        &["info", file, "--all"],
        &["info", file, "--json"],
        &["verify", file],
        &["verify", file, "--json"],
        &["cat", file, "nothing"],
        &["cat", file, "#0[99]"],
        &["query", file, "#1", "--json"],
        &["query", file, "#0", "--max"],
        &["query", file, "#1", "--transform", "center"],
        &["query", file, "#1", "--arg-max", "0", "--format", "table"],
        &["stats", file],
        &["stats", file, "#0", "--json"],
        &["explain", file, "#1"],
    ];
    for command in commands {
        let (_, out, err) = fixtures::tet(command);
        let text = out + &err;
        let acts = |c: char| {
            (c.is_control() && c != '\n' && c != '\t') || ('\u{202a}'..='\u{202e}').contains(&c)
        };
        assert!(!text.is_empty() && !text.chars().any(acts), "{command:?}: {text:?}");
    }
    let (_, out, _) = fixtures::tet(&["info", file]);
    assert!(out.contains("#0  \\x1b]0;own\\x07"), "{out}");
    assert!(out.contains("#1  \\u{202e}fdp.tx"), "{out}");
}
