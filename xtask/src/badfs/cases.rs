//! The files and the commands of the matrix.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use anyhow::Result;

use super::folder::Files;
use crate::run;

/// A file that is read or edited.
pub(super) struct Container {
    pub(super) file: &'static str,
    /// How it is made of `x.npy`.
    made: &'static [&'static str],
    /// Whether its elements have checksums.
    pub(super) is_guarded: bool,
    /// The commands that take such a file, by name.
    commands: &'static [&'static str],
}

/// Chunks of 3 MiB.
const CHUNKS: &str = "1536,512";

const OF_ARRAYS: &[&str] =
    &["info", "cat", "cat -o", "query", "query -o", "stats", "verify", "convert", "repair"];

pub(super) const CONTAINERS: &[Container] = &[
    Container {
        file: "raw.tet",
        made: &["convert", "x.npy", "raw.tet", "--codec", "raw", "--chunks", CHUNKS],
        is_guarded: true,
        commands: OF_ARRAYS,
    },
    Container {
        file: "zstd.tet",
        made: &["convert", "x.npy", "zstd.tet", "--codec", "zstd", "--chunks", CHUNKS],
        is_guarded: true,
        commands: OF_ARRAYS,
    },
    Container {
        file: "bare.tet",
        made: &["convert", "x.npy", "bare.tet", "--no-digests", "--chunks", CHUNKS],
        is_guarded: false,
        commands: &["digest add"],
    },
    Container {
        file: "flipped.tet",
        made: &["convert", "x.npy", "flipped.tet", "--codec", "raw", "--chunks", CHUNKS],
        is_guarded: true,
        commands: &["repair --all"],
    },
    Container {
        file: "x.zt",
        made: &["convert", "x.npy", "x.zt"],
        is_guarded: true,
        commands: &[
            "info", "cat", "cat -o", "query", "query -o", "stats", "verify", "convert", "repair",
            "edit set",
        ],
    },
    Container {
        file: "x.tgm",
        made: &["convert", "x.npy", "x.tgm"],
        is_guarded: true,
        commands: &[
            "info", "cat", "cat -o", "query", "query -o", "stats", "verify", "convert", "repair",
            "edit set",
        ],
    },
    Container {
        file: "x.npy",
        made: &[],
        is_guarded: false,
        commands: &["info", "cat", "cat -o", "query", "query -o", "stats", "convert"],
    },
    Container {
        file: "x.npz",
        made: &["convert", "x.npy", "x.npz"],
        is_guarded: true,
        commands: &["convert"],
    },
    Container {
        file: "x.safetensors",
        made: &["convert", "x.npy", "x.safetensors"],
        is_guarded: false,
        commands: &[
            "info",
            "cat",
            "cat -o",
            "query",
            "query -o",
            "stats",
            "verify",
            "convert",
            "convert .zt",
            "convert .tgm",
        ],
    },
];

/// What a command does with files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    /// It replaces this file.
    Output(&'static str),
    /// It replaces the file that it reads.
    Edit,
}

/// Options that a command is run with in all their values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flags {
    None,
    Threads,
    IoAndThreads,
}

/// A command; `FILE` stands for the container.
pub(super) struct Verb {
    pub(super) name: &'static str,
    pub(super) args: &'static [&'static str],
    pub(super) kind: Kind,
    pub(super) flags: Flags,
}

const fn verb(name: &'static str, args: &'static [&'static str], kind: Kind, flags: Flags) -> Verb {
    Verb { name, args, kind, flags }
}

/// The commands. One that reads or writes files in a new way comes here too.
const VERBS: &[Verb] = &[
    verb("info", &["info", "FILE"], Kind::Read, Flags::None),
    verb("cat", &["cat", "FILE", "#0"], Kind::Read, Flags::IoAndThreads),
    verb(
        "cat -o",
        &["cat", "FILE", "#0", "-f", "-o", "out.npy"],
        Kind::Output("out.npy"),
        Flags::IoAndThreads,
    ),
    verb("query", &["query", "FILE", "#0", "--sum"], Kind::Read, Flags::IoAndThreads),
    verb(
        "query -o",
        &["query", "FILE", "#0", "--mean", "0", "-f", "-o", "out.npy"],
        Kind::Output("out.npy"),
        Flags::IoAndThreads,
    ),
    verb("stats", &["stats", "FILE"], Kind::Read, Flags::IoAndThreads),
    verb("verify", &["verify", "FILE"], Kind::Read, Flags::Threads),
    verb("repair", &["repair", "FILE"], Kind::Read, Flags::None),
    verb("convert", &["convert", "FILE", "out.tet", "-f"], Kind::Output("out.tet"), Flags::Threads),
    verb(
        "convert .zt",
        &["convert", "FILE", "out.zt", "-f"],
        Kind::Output("out.zt"),
        Flags::Threads,
    ),
    verb(
        "convert .tgm",
        &["convert", "FILE", "out.tgm", "-f"],
        Kind::Output("out.tgm"),
        Flags::Threads,
    ),
    verb("digest add", &["digest", "add", "FILE"], Kind::Edit, Flags::None),
    verb("repair --all", &["repair", "FILE", "--all"], Kind::Edit, Flags::None),
    verb("edit set", &["edit", "set", "FILE", "#0:note=1"], Kind::Edit, Flags::None),
];

impl Container {
    /// The commands that take such a file.
    pub(super) fn verbs(&self) -> impl Iterator<Item = &'static Verb> {
        VERBS.iter().filter(|verb| self.commands.contains(&verb.name))
    }
}

/// One command line of the matrix.
pub(super) struct Case {
    pub(super) container: &'static Container,
    pub(super) verb: &'static Verb,
    pub(super) io: Option<&'static str>,
    pub(super) threads: Option<&'static str>,
}

impl Case {
    /// All command lines.
    pub(super) fn all() -> Vec<Self> {
        let mut cases = Vec::new();
        for container in CONTAINERS {
            for verb in container.verbs() {
                let with_io = ["auto", "pread", "mmap"].map(Some);
                let ios = if verb.flags == Flags::IoAndThreads { &with_io[..] } else { &[None] };
                let with_threads = ["1", "4"].map(Some);
                let counts = if verb.flags == Flags::None { &[None] } else { &with_threads[..] };
                for &io in ios {
                    cases.extend(counts.iter().map(|&threads| Self {
                        container,
                        verb,
                        io,
                        threads,
                    }));
                }
            }
        }
        cases
    }

    /// The arguments of the command.
    pub(super) fn args(&self) -> Vec<&'static str> {
        let file = |&arg: &&'static str| if arg == "FILE" { self.container.file } else { arg };
        let mut args: Vec<_> = self.verb.args.iter().map(file).collect();
        args.extend(self.io.iter().flat_map(|io| ["--io", io]));
        args.extend(self.threads.iter().flat_map(|count| ["--threads", count]));
        args
    }

    /// What it is called.
    pub(super) fn name(&self) -> String {
        self.args().join(" ")
    }

    /// The file that becomes another one.
    pub(super) const fn target(&self) -> Option<&'static str> {
        match self.verb.kind {
            Kind::Read => None,
            Kind::Output(name) => Some(name),
            Kind::Edit => Some(self.container.file),
        }
    }
}

/// Makes every container of elements that depend on `seed`, and gives them by name.
pub(super) fn make(program: &Path, folder: &Path, seed: u32) -> Result<Files> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3072, 512), }";
    let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    npy.extend(format!("{header:<117}\n").bytes());
    let element = |at: u32| (at.wrapping_mul(2_654_435_761).wrapping_mul(seed) >> 16) as f32 / 16.;
    npy.extend((0..3072 * 512).flat_map(|at| element(at).to_le_bytes()));
    fs::write(folder.join("x.npy"), npy)?;
    let mut files = Files::new();
    for container in CONTAINERS {
        if !container.made.is_empty() {
            let mut command = Command::new(program);
            command.current_dir(folder).args(container.made).env("SOURCE_DATE_EPOCH", "0");
            run::output(&mut command)?;
        }
        let mut bytes = fs::read(folder.join(container.file))?;
        if container.file == "flipped.tet" {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 4;
        }
        files.insert(container.file.to_owned(), Arc::new(bytes));
    }
    Ok(files)
}
