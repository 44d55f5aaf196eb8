//! Times of works on a file of a server, ours and of others, with and without a delay of each request.
//!
//! Every work is done three times in a process of its own, and the median is printed, with the requests and the bytes
//! that the server answered. What others download whole they download once. That of `tet` is the whole command; the others are timed after their imports.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::proxy::{Counts, Pace, Proxy, plain_ranges};
use super::server::{Server, Site};
use crate::{python, run};

/// How often each work is done.
const ROUNDS: usize = 3;
const WORKS: [&str; 5] = ["open", "element", "window", "sum", "mean"];
/// With 20 ms before each answer and 100 MB/s for each connection, and without.
const PACES: [(&str, Pace); 2] = [
    ("20 ms, 100 MB/s", Pace { latency: Duration::from_millis(20), rate: 100_000_000 }),
    ("no delay", Pace { latency: Duration::ZERO, rate: 0 }),
];
/// Programs of others, what they read, and whether it has windows.
const PEERS: [(&str, &str, bool); 6] = [
    ("zarr", "raw.zarr", true),
    ("zarr", "zstd.zarr", true),
    ("gdal", "raw.zarr", true),
    ("h5py", "raw.h5", true),
    ("tensogram", "raw.tgm", true),
    ("safetensors", "raw.safetensors", false),
];
/// The arrays of 1 GiB: a smooth field with noise, that zstd makes shorter.
const ARRAY: &str = "\
import sys, numpy as np
rng = np.random.default_rng(7)
t, y, x = np.ogrid[:1024, :512, :512]
field = (280 + 20 * np.sin(y / 90) + 5 * np.cos(x / 70 + t / 40)).astype('f4')
field += rng.integers(0, 64, field.shape).astype('f4') / 64
np.save(sys.argv[1], field)";

/// Starts nginx and a proxy, and prints a table.
pub(crate) fn run() -> Result<()> {
    let folder = run::target().join("remote");
    let requirements = run::root().join("xtask/remote/speed/requirements.txt");
    let python = python::environment(&folder.join("venv-speed"), &requirements)?;
    let build = ["build", "--profile", "dist", "--quiet", "--locked", "-p", "tet-cli"];
    run::check(run::cargo().args(build))?;
    let speed = Speed { tet: run::target().join("dist/tet"), python };
    let (work, files) = (folder.join("speed"), folder.join("speed/files"));
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    fs::create_dir_all(&files)?;
    speed.write(&files)?;
    let (nginx, _) = Server::nginx(&work, &files, &Site::default())?;
    println!("| delay | work | program | time | requests | MB |\n|---|---|---|---|---|---|");
    for (label, pace) in PACES {
        let proxy = Proxy::start(nginx.port()?, pace)?;
        for work in WORKS {
            speed.compare(&proxy, &files, label, work)?;
        }
    }
    fs::remove_dir_all(work)?;
    Ok(())
}

/// The programs.
struct Speed {
    tet: PathBuf,
    python: PathBuf,
}

impl Speed {
    /// Writes the same array as a file of every kind.
    fn write(&self, files: &Path) -> Result<()> {
        let npy = files.join("a.npy");
        run::check(Command::new(&self.python).args(["-c", ARRAY]).arg(&npy))?;
        let chunked = ["--chunks", "16,128,128", "--codec"];
        for (name, options) in [
            ("raw.tet", [&chunked[..], &["raw"]].concat()),
            ("zstd.tet", [&chunked[..], &["zstd"]].concat()),
            ("raw.zarr", [&chunked[..], &["raw"]].concat()),
            ("zstd.zarr", [&chunked[..], &["zstd"]].concat()),
            ("raw.h5", [&chunked[..], &["raw"]].concat()),
            ("raw.tgm", vec![]),
            ("raw.safetensors", vec![]),
        ] {
            let mut command = Command::new(&self.tet);
            command.arg("convert").arg(&npy).arg(files.join(name)).args(options);
            run::output(&mut command)?;
        }
        Ok(())
    }

    /// Prints the rows of one work, whose results must agree.
    fn compare(&self, proxy: &Proxy, files: &Path, label: &str, work: &str) -> Result<()> {
        let row = |program: &str, (time, counts): (Duration, Counts)| {
            let (ms, mb) = (time.as_secs_f64() * 1e3, counts.bytes as f64 / 1e6);
            println!(
                "| {label} | {work} | {program} | {ms:.0} ms | {} | {mb:.1} |",
                counts.requests
            );
        };
        let mut results = Vec::new();
        for name in ["raw.tet", "zstd.tet"] {
            if work == "sum" {
                let len = fs::metadata(files.join(name))?.len();
                let path = format!("/{name}");
                for mib in [1, 4] {
                    let plain = || plain_ranges(proxy, &path, len, mib << 20, 8);
                    let program = format!("plain ranges of {mib} MiB, {name}");
                    row(&program, median(proxy, ROUNDS, plain)?);
                }
            }
            let url = format!("{}/{name}", proxy.url);
            let ours = || {
                let (time, result) = self.ours(&url, work)?;
                results.extend(result);
                Ok(time)
            };
            row(&format!("tet {name}"), median(proxy, ROUNDS, ours)?);
        }
        for (program, name, _) in
            PEERS.iter().filter(|(program, _, has_windows)| does(program, *has_windows, work))
        {
            let url = format!("{}/{name}", proxy.url);
            let theirs = || {
                let mut command = Command::new(&self.python);
                command.arg(run::root().join("xtask/remote/speed/peers.py"));
                let printed = run::output(command.args([program, work, &url]))?;
                let printed: Value = serde_json::from_str(&printed)?;
                results.extend(printed["result"].as_f64().filter(|_| work != "open"));
                let seconds = printed["seconds"].as_f64().context("no time")?;
                Ok(Duration::from_secs_f64(seconds))
            };
            let is_long = ["sum", "mean"].contains(&work) || *program == "tensogram";
            let rounds = if is_long { 1 } else { ROUNDS };
            row(&format!("{program} {name}"), median(proxy, rounds, theirs)?);
        }
        let first = results.first().copied().unwrap_or_default();
        let agrees = |it: &f64| (it - first).abs() <= 1e-9 * first.abs();
        ensure!(results.iter().all(agrees), "{work}: {results:?}");
        Ok(())
    }

    /// Runs one command; its time, and its result where it has one.
    fn ours(&self, url: &str, work: &str) -> Result<(Duration, Option<f64>)> {
        let mut command = Command::new(&self.tet);
        match work {
            "open" => command.args(["info", "--json", url]),
            "element" => {
                command.args(["query", "--json", url, "a", "-s", "0=17,1=200,2=300", "--sum"])
            }
            "window" => {
                command.args(["query", "--json", url, "a", "-s", "1=100:110,2=100:110", "--sum"])
            }
            "mean" => command.args(["query", "--json", url, "a", "--mean", "0"]),
            _ => command.args(["query", "--json", url, "a", "--sum"]),
        };
        let begin = Instant::now();
        let printed = run::output(&mut command)?;
        let time = begin.elapsed();
        let printed: Value = serde_json::from_str(&printed)?;
        Ok((time, printed["result"]["values"].as_f64()))
    }
}

/// Whether a program does a work: the mean along the first axis, which is a sum for the others, is done by one.
fn does(program: &str, has_windows: bool, work: &str) -> bool {
    match work {
        "window" => has_windows,
        "mean" => program == "zarr",
        _ => true,
    }
}

/// The median time of the rounds, and the counts of the last.
fn median(
    proxy: &Proxy,
    rounds: usize,
    mut work: impl FnMut() -> Result<Duration>,
) -> Result<(Duration, Counts)> {
    let (mut times, mut counts) = (Vec::new(), Counts::default());
    for _ in 0..rounds {
        proxy.take();
        times.push(work()?);
        counts = proxy.take();
    }
    times.sort();
    Ok((times[rounds / 2], counts))
}
