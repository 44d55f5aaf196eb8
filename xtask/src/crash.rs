//! Kills and fails the commands that write, at every system call by which they write.
//!
//! ```text
//! scene   a command and its target: run it, look at what is left, judge
//! content what a target is: the bytes of a file, or of all files of a folder; and of edge chunks beside a document
//! edits   the edits of every container
//! trace   strace: SIGKILL at call n, an error at call n, an error from call n on, no threads
//! world   a disk that is full, a limit on the length of files
//! ```
//!
//! It takes minutes and needs Linux, `strace` and the right to mount, so it is no part of `ci`.
//! A scene that cannot be made fails the run: nothing is skipped.

mod content;
mod edits;
mod scene;
mod trace;
mod world;

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::run;
use scene::{Onto, Scene};

/// The commands to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only the commands whose name contains this
    #[arg(long, value_name = "WORD")]
    only: Option<String>,
}

/// A command that writes one file, or one folder.
struct Case {
    name: &'static str,
    /// `IN/` stands for the folder of inputs, `OUT/` for that of the target.
    args: &'static [&'static str],
    target: &'static str,
    kind: Kind,
}

/// Outcomes of the target.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It is made of another file; `--force` replaces it, which is a copy of this input then.
    Output(&'static str),
    /// It is changed: it starts as a copy of this input.
    Edit(&'static str),
}

/// The commands. One that writes a file in a new way comes here too.
const CASES: &[Case] = &[
    Case {
        name: "convert .npz",
        args: &["convert", "IN/climate.npz", "OUT/t.tet"],
        target: "t.tet",
        kind: Kind::Output("climate.tet"),
    },
    Case {
        name: "convert raw",
        args: &["convert", "IN/large.npy", "OUT/t.tet", "--codec", "raw", "--chunks", "100,1000"],
        target: "t.tet",
        kind: Kind::Output("climate.tet"),
    },
    Case {
        name: "convert .zarr",
        args: &[
            "convert",
            "IN/climate.tet",
            "OUT/t.zarr",
            "--dataset",
            "temp",
            "--chunks",
            "4,30,60",
        ],
        target: "t.zarr",
        kind: Kind::Output("old.zarr"),
    },
    Case {
        name: "convert .tets",
        args: &["convert", "IN/climate.tet", "OUT/t.tets"],
        target: "t.tets",
        kind: Kind::Output("grow.tets"),
    },
    Case {
        name: "cat -o .npy",
        args: &["cat", "IN/climate.tet", "temp", "-o", "OUT/t.npy"],
        target: "t.npy",
        kind: Kind::Output("climate.tet"),
    },
    Case {
        name: "cat -o .csv",
        args: &["cat", "IN/climate.tet", "temp[0]", "-o", "OUT/t.csv"],
        target: "t.csv",
        kind: Kind::Output("climate.tet"),
    },
    Case {
        name: "query -o .npy",
        args: &["query", "IN/climate.tet", "temp", "--mean", "month", "-o", "OUT/t.npy"],
        target: "t.npy",
        kind: Kind::Output("climate.tet"),
    },
    Case {
        name: "query -o .tet",
        args: &[
            "query",
            "IN/climate.tet",
            "temp",
            "--transform",
            "zscore",
            "--over",
            "month",
            "-o",
            "OUT/t.tet",
        ],
        target: "t.tet",
        kind: Kind::Output("climate.tet"),
    },
    Case {
        name: "refs",
        args: &["refs", "IN/climate.tet", "-o", "OUT/t.json"],
        target: "t.json",
        kind: Kind::Output("old.json"),
    },
    Case {
        name: "refs sidecar",
        args: &["refs", "IN/grow.tet", "-o", "OUT/t.json", "--edges", "sidecar"],
        target: "t.json",
        kind: Kind::Output("edged.json"),
    },
    Case {
        name: "edit repack --digests",
        args: &["edit", "repack", "OUT/t.tet", "--digests"],
        target: "t.tet",
        kind: Kind::Edit("bare.tet"),
    },
    Case {
        name: "repair",
        args: &["repair", "OUT/t.tet", "--all"],
        target: "t.tet",
        kind: Kind::Edit("flipped.tet"),
    },
];

/// Trials of one command, and the outcomes of its target.
#[derive(Clone, Copy, Default)]
struct Tally {
    calls: usize,
    kills: usize,
    errors: usize,
    full: usize,
    limits: usize,
    old: usize,
    new: usize,
    /// Edge chunks without their document.
    edges: usize,
    strays: usize,
}

/// Runs everything, prints a table, and fails if a target was neither the old one nor the new.
pub(crate) fn run(options: &Options) -> Result<()> {
    check_tools()?;
    let program = run::program()?;
    let folder = run::target().join("crash");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let inputs = make_inputs(&program, &folder.join("in"))?;
    let out = folder.join("out");
    let chosen = |case: &&Case| options.only.as_deref().is_none_or(|word| case.name.contains(word));
    let (mut faults, mut total, mut is_any) = (Vec::new(), Tally::default(), false);
    println!(
        "{:<14} {:<8} {:>6} {:>6} {:>7} {:>10} {:>7} {:>6} {:>6} {:>6} {:>7}",
        "command",
        "onto",
        "calls",
        "kills",
        "errors",
        "full disk",
        "limits",
        "old",
        "new",
        "edges",
        "strays"
    );
    for case in CASES.iter().chain(edits::EDITS).filter(chosen) {
        for onto in Onto::for_kind(case.kind) {
            let mut scene = Scene::new(case, onto, &program, &inputs, &out)
                .with_context(|| format!("{} does not run", case.name))?;
            trace::kill(&mut scene)?;
            trace::fail(&mut scene)?;
            trace::leave_alone(&mut scene)?;
            world::fill(&mut scene)?;
            world::limit(&mut scene)?;
            print_row(case.name, onto.name(), &scene.tally);
            total.add(&scene.tally);
            faults.append(&mut scene.faults);
            is_any = true;
        }
    }
    ensure!(is_any, "no command has that word in its name");
    print_row("all", "", &total);
    for fault in &faults {
        eprintln!("error: {fault}");
    }
    if !faults.is_empty() {
        let runs = total.old + total.new + total.edges;
        bail!("{} of {runs} runs broke the promise", faults.len());
    }
    println!("every target was the old file or the new one, byte for byte");
    if total.edges != 0 {
        println!("{} times edge chunks had no document, which is written after them", total.edges);
    }
    Ok(())
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.calls += other.calls;
        self.kills += other.kills;
        self.errors += other.errors;
        self.full += other.full;
        self.limits += other.limits;
        self.old += other.old;
        self.new += other.new;
        self.edges += other.edges;
        self.strays += other.strays;
    }
}

fn print_row(name: &str, onto: &str, tally: &Tally) {
    let Tally { calls, kills, errors, full, limits, old, new, edges, strays } = tally;
    println!(
        "{name:<14} {onto:<8} {calls:>6} {kills:>6} {errors:>7} {full:>10} {limits:>7} {old:>6} \
         {new:>6} {edges:>6} {strays:>7}"
    );
}

/// Says what is missing before anything is built.
fn check_tools() -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "calls are failed by strace, which needs Linux");
    run::output(Command::new("strace").arg("-V"))
        .context("strace is missing; on Debian: apt-get install strace")?;
    run::output(Command::new("timeout").arg("--version")).context("timeout is missing")?;
    run::output(Command::new("unshare").args(["-m", "true"])).context(
        "unshare -m is missing or not permitted; be root, and on Debian: apt-get install util-linux",
    )?;
    Ok(())
}

/// Makes the files the commands read, and gives their folder.
fn make_inputs(program: &Path, folder: &Path) -> Result<std::path::PathBuf> {
    fs::create_dir_all(folder)?;
    run::output(Command::new(program).arg("demo").arg(folder))?;
    let npy = |name: &str, rows: u32| {
        let header =
            format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, 1000), }}");
        let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        npy.extend(format!("{header:<117}\n").bytes());
        npy.extend((0..rows * 1000).flat_map(|at| (at as f32).to_le_bytes()));
        fs::write(folder.join(name), npy)
    };
    // Long enough for several writes.
    npy("large.npy", 800)?;
    npy("small.npy", 20)?;
    let convert = |name: &str, more: &[&str]| {
        let [from, to] = ["climate.npz", name].map(|name| folder.join(name));
        run::output(Command::new(program).arg("convert").args([&from, &to]).args(more))
    };
    convert("bare.tet", &["--no-digests"])?;
    convert("flipped.tet", &[])?;
    convert("old.zarr", &["--exclude", "temp"])?;
    convert("slack.tet", &["--align", "4096"])?;
    for name in ["climate.zt", "climate.tgm", "climate.safetensors"] {
        convert(name, &[])?;
    }
    // Bytes before the index belong to no tensor.
    let mut slack = fs::read(folder.join("climate.zt"))?;
    let index_len = slack.last_chunk().map_or(0, |len| u64::from_le_bytes(*len));
    let index = slack.len() - 8 - usize::try_from(index_len)?;
    slack.splice(index..index, [0; 4096]);
    fs::write(folder.join("slack.zt"), slack)?;
    let [from, to] = ["small.npy", "grow.tet"].map(|name| folder.join(name));
    let more = ["--dims", "row,column", "--chunks", "7,500"];
    run::output(Command::new(program).arg("convert").args([&from, &to]).args(more))?;
    let to = folder.join("grow.tets");
    run::output(Command::new(program).arg("convert").args([&from, &to]).args(more))?;
    let refs = |from: &str, name: &str, more: &[&str]| {
        let [from, to] = [from, name].map(|name| folder.join(name));
        run::output(Command::new(program).arg("refs").arg(&from).arg("-o").arg(&to).args(more))
    };
    refs("large.npy", "old.json", &[])?;
    let [from, to] = ["small.npy", "clipped.tet"].map(|name| folder.join(name));
    let more = ["--chunks", "6,300"];
    run::output(Command::new(program).arg("convert").args([&from, &to]).args(more))?;
    refs("clipped.tet", "edged.json", &["--edges", "sidecar"])?;
    let mut flipped = fs::read(folder.join("flipped.tet"))?;
    let middle = flipped.len() / 2;
    flipped[middle] ^= 4;
    fs::write(folder.join("flipped.tet"), flipped)?;
    Ok(folder.to_owned())
}
