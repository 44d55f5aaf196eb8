//! Reads and writes files on servers that others made.
//!
//! ```text
//! nginx    answers of files of every kind, and the requests in its log beside those that `explain` prints;
//!          certificates, proxies and redirects
//! moto     every kind of file written to a bucket, read back, and not replaced; keys that are fetched
//! s3s-fs   the same with signatures that are compared; uploads that are killed
//! azurite  the same for az://
//! all      folders of parts, to which several programs append, and programs that are killed; edits and merges, whose bytes
//!          the server copies where it can
//! ```
//!
//! It needs nginx, Python, npm and their registries once, so it is no part of `ci`. What it cannot do fails: nothing is skipped.

mod copied;
mod fetched;
mod grown;
mod proxy;
mod routes;
mod server;
mod speed;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::run;
use server::{ACCOUNT, ACCOUNT_KEY, KEY, SECRET, Server, Site};

/// The kinds of files that are one file.
const SUFFIXES: [&str; 9] =
    ["tet", "zt", "tgm", "safetensors", "npz", "h5", "nc", "zarr.zip", "npy"];
/// How often an upload is killed.
const KILLS: u64 = 24;

/// A secret that no server knows, which is base64 as well.
const WRONG: &str = "YW5vdGhlcg==";

/// Whether the secret of a command is that of the server.
#[derive(Clone, Copy)]
enum Secret {
    Right,
    Wrong,
}

/// The checks to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Compare times with those of other programs instead, through a proxy that delays answers
    #[arg(long)]
    speed: bool,
}

/// Starts the servers one after the other, and runs all of it.
pub(crate) fn run(options: &Options) -> Result<()> {
    if options.speed {
        return speed::run();
    }
    let folder = run::target().join("remote/work");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let files = folder.join("files");
    fs::create_dir_all(&files)?;
    let world = World { program: run::program()?, names: Vec::new(), files };
    let world = world.with_files()?;
    let (nginx, log) = Server::nginx(&folder, &world.files, &Site::default())?;
    world.read_from(&nginx, &log)?;
    drop(nginx);
    world.routed(&folder)?;
    let moto = Server::moto()?;
    world.write_to(&moto)?;
    world.fetched_from(&moto)?;
    world.grown_in(&moto)?;
    world.copied_in(&moto, true)?;
    drop(moto);
    let s3s = Server::s3s(&folder)?;
    world.write_to(&s3s)?;
    world.refused_by(&s3s)?;
    world.killed_at(&s3s)?;
    world.grown_in(&s3s)?;
    world.copied_in(&s3s, true)?;
    drop(s3s);
    let (azurite, token) = Server::azurite(&folder)?;
    world.write_to(&azurite)?;
    world.with_token(&azurite, &token)?;
    world.refused_by(&azurite)?;
    world.killed_at(&azurite)?;
    world.grown_in(&azurite)?;
    world.copied_in(&azurite, false)?;
    drop(azurite);
    println!("all answers and files are those of the local files");
    Ok(())
}

/// The files, and the program that reads them.
struct World {
    program: PathBuf,
    files: PathBuf,
    names: Vec<String>,
}

impl World {
    /// Writes the same arrays as a file of every kind, and a larger one.
    fn with_files(mut self) -> Result<World> {
        let demo = self.files.join("demo");
        run::output(Command::new(&self.program).arg("demo").arg(&demo))?;
        for suffix in SUFFIXES {
            let name = format!("climate.{suffix}");
            let to = self.files.join(&name);
            let mut command = Command::new(&self.program);
            command.arg("convert").arg(demo.join("climate.npz")).arg(to);
            if suffix == "npy" {
                command.args(["--dataset", "temp"]);
            }
            run::output(&mut command)?;
            self.names.push(name);
        }
        let large = self.files.join("large.npy");
        npy_of_zeros(&large, 24)?;
        for suffix in ["tet", "zt", "h5"] {
            let name = format!("large.{suffix}");
            let mut command = Command::new(&self.program);
            command.arg("convert").args([&large, &self.files.join(&name)]);
            run::output(command.args(["--codec", "raw"]))?;
            self.names.push(name);
        }
        self.names.push("large.npy".to_owned());
        Ok(self)
    }

    /// The program with the credentials of a store.
    fn command(&self, server: &Server, is_right: Secret, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        let [secret, account_key] = match is_right {
            Secret::Right => [SECRET, ACCOUNT_KEY],
            Secret::Wrong => [WRONG; 2],
        };
        command.args(args).env("AWS_ENDPOINT_URL", &server.url).env("AWS_REGION", "us-east-1");
        command.env("AWS_ACCESS_KEY_ID", KEY).env("AWS_SECRET_ACCESS_KEY", secret);
        command.env("AZURE_ENDPOINT_URL", &server.url).env("AZURE_STORAGE_ACCOUNT", ACCOUNT);
        command.env("AZURE_STORAGE_KEY", account_key);
        command
    }

    fn tet(&self, server: &Server, secret: Secret, args: &[&str]) -> Result<Output> {
        Ok(self.command(server, secret, args).output()?)
    }

    /// Runs the program, which must succeed, and gives what it prints.
    fn said(&self, server: &Server, args: &[&str]) -> Result<String> {
        let output = self.tet(server, Secret::Right, args)?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}: tet {args:?}: {errors}", server.name);
        Ok(String::from_utf8(output.stdout)?)
    }

    /// The answers of files at URLs are those of the local ones, and take the requests that `explain` prints.
    fn read_from(&self, nginx: &Server, log: &Path) -> Result<()> {
        for name in &self.names {
            let local = self.files.join(name).display().to_string();
            let url = format!("{}/{name}", nginx.url);
            let stem = name.split('.').next().unwrap_or_default();
            let is_demo = stem == "climate" && name != "climate.npy";
            let dataset = if is_demo { "temp" } else { stem };
            for question in [["--sum", ""], ["--mean", "0"], ["--max", "1"]] {
                let [op, axes] = question;
                // The checksum of a whole tensor takes a pass of its own, which is not in the plan.
                let asked = |file: &str, verb: &str| -> Result<Value> {
                    let mut args = vec![verb, "--json", "--digests", "never", file, dataset, op];
                    args.extend(Some(axes).filter(|axes| !axes.is_empty()));
                    Ok(serde_json::from_str(&self.said(nginx, &args)?)?)
                };
                let [ours, theirs] = [&local, &url].map(|file| asked(file, "query"));
                let (ours, theirs) = (ours?, theirs?);
                ensure!(ours["result"] == theirs["result"], "{name} {op}: {theirs}");
                let opening = requests(log, || asked(&url, "explain"))?;
                let planned = opening.1["plan"]["requests"].as_u64();
                let planned = planned.with_context(|| format!("no requests in {}", opening.1))?;
                let all = requests(log, || asked(&url, "query"))?.0;
                ensure!(
                    all - opening.0 == planned,
                    "{name} {op} {axes}: {all} requests, {} to open and {planned} planned",
                    opening.0
                );
                println!(
                    "nginx   {name:<20} {op:<6} {axes:<4} {:>3} to open, {planned:>3} planned",
                    opening.0
                );
            }
        }
        Ok(())
    }

    /// Every kind of file is written to a bucket, is there what it is here, and is not replaced.
    fn write_to(&self, server: &Server) -> Result<()> {
        for name in &self.names {
            let local = self.files.join(name).display().to_string();
            let url = format!("{}/written/{name}", server.bucket);
            self.said(server, &["convert", &local, &url])?;
            self.said(server, &["diff", &local, &url])?;
            let again = self.tet(server, Secret::Right, &["convert", &local, &url])?;
            let says = String::from_utf8_lossy(&again.stderr);
            ensure!(again.status.code() == Some(2) && says.contains("exists"), "{name}: {says}");
            self.said(server, &["convert", &local, &url, "--force"])?;
            self.said(server, &["verify", &url])?;
            println!("{:<7} {name:<20} written, equal, not replaced", server.name);
        }
        self.write_zarr_to(server)
    }

    /// Writes a Zarr hierarchy, whose chunks are objects, and which is not replaced at all.
    fn write_zarr_to(&self, server: &Server) -> Result<()> {
        let local = self.files.join("climate.tet").display().to_string();
        let url = format!("{}/written/climate.zarr", server.bucket);
        self.said(server, &["convert", &local, &url])?;
        self.said(server, &["diff", &local, &url])?;
        for force in [&[][..], &["--force"]] {
            let args = [&["convert", &local, &url][..], force].concat();
            let again = self.tet(server, Secret::Right, &args)?;
            let says = String::from_utf8_lossy(&again.stderr);
            ensure!(
                again.status.code() == Some(2) && says.contains("exists"),
                "climate.zarr: {says}"
            );
        }
        self.said(server, &["verify", &url])?;
        println!("{:<7} {:<20} written, equal, not replaced", server.name, "climate.zarr");
        Ok(())
    }

    /// A token that another program signed reads and writes, and so does a connection string.
    fn with_token(&self, server: &Server, token: &str) -> Result<()> {
        let local = self.files.join("large.tet").display().to_string();
        let url = format!("{}/token.tet", server.bucket);
        for args in [["convert", &local, &url], ["diff", &local, &url]] {
            let mut command = self.command(server, Secret::Wrong, &args);
            run::output(command.env("AZURE_STORAGE_SAS_TOKEN", token))?;
        }
        let said =
            format!("AccountName={ACCOUNT};AccountKey={ACCOUNT_KEY};BlobEndpoint={};", server.url);
        for args in [&["convert", &local, &url, "--force"][..], &["diff", &local, &url]] {
            let mut command = self.command(server, Secret::Wrong, args);
            run::output(command.env("AZURE_STORAGE_CONNECTION_STRING", &said))?;
        }
        println!("{:<7} a token and a connection string read and write", server.name);
        Ok(())
    }

    /// A wrong secret reads and writes nothing, and is in no message.
    fn refused_by(&self, server: &Server) -> Result<()> {
        let local = self.files.join("climate.tet").display().to_string();
        let url = format!("{}/written/climate.tet", server.bucket);
        for args in [vec!["info", &url], vec!["convert", &local, &url, "--force"]] {
            let output = self.tet(server, Secret::Wrong, &args)?;
            let says = String::from_utf8_lossy(&output.stderr);
            ensure!(output.status.code() == Some(5) && says.contains("403"), "{args:?}: {says}");
            ensure!(!says.contains(WRONG) && !says.contains("ig="), "{says}");
        }
        println!("{:<7} a wrong secret is refused", server.name);
        Ok(())
    }

    /// After an upload is killed there is the old object, or the new one.
    fn killed_at(&self, server: &Server) -> Result<()> {
        let [old, new] = ["old", "new"].map(|name| self.files.join(format!("{name}.tet")));
        for (path, rows) in [(&old, 64), (&new, 96)] {
            let npy = path.with_extension("npy");
            npy_of_zeros(&npy, rows)?;
            let mut command = Command::new(&self.program);
            command.arg("convert").args([&npy, path]).args(["--codec", "raw", "--force"]);
            run::output(&mut command)?;
        }
        let [old, new] = [old, new].map(|path| path.display().to_string());
        let url = format!("{}/killed.tet", server.bucket);
        let mut seen = [0, 0];
        for nth in 0..KILLS {
            self.said(server, &["convert", &old, &url, "--codec", "raw", "--force"])?;
            let args = ["convert", &new, &url, "--codec", "raw", "--force", "-q"];
            let mut child = self.command(server, Secret::Right, &args).spawn()?;
            std::thread::sleep(Duration::from_millis(20 + nth * 40));
            let _ = child.kill();
            child.wait()?;
            // A server may end the upload of a program that is gone, between two looks.
            let (mut is_new, mut is_old) = (false, false);
            for _ in 0..5 {
                let is = |file: &str| -> Result<bool> {
                    Ok(self
                        .tet(server, Secret::Right, &["diff", file, &url, "--quiet"])?
                        .status
                        .success())
                };
                (is_new, is_old) = (is(&new)?, is(&old)?);
                if is_new != is_old {
                    break;
                }
                std::thread::sleep(Duration::from_millis(300));
            }
            ensure!(is_new != is_old, "kill {nth}: neither the old object nor the new one");
            seen[usize::from(is_new)] += 1;
        }
        println!("{:<7} {KILLS} kills: {} old, {} new", server.name, seen[0], seen[1]);
        Ok(())
    }
}

/// How many lines a server's log gets while `work` runs.
fn requests<T>(log: &Path, work: impl FnOnce() -> Result<T>) -> Result<(u64, T)> {
    let count = || -> Result<u64> { Ok(fs::read_to_string(log)?.lines().count() as u64) };
    let before = count()?;
    let made = work()?;
    // A line is written when its answer has ended.
    let mut after = count()?;
    loop {
        std::thread::sleep(Duration::from_millis(30));
        let now = count()?;
        if now == after {
            return Ok((after - before, made));
        }
        after = now;
    }
}

/// Writes a `.npy` of zeros, of this many rows of 1 MiB.
fn npy_of_zeros(path: &Path, rows: usize) -> Result<()> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, 262144), }}");
    let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    npy.extend(format!("{header:<117}\n").bytes());
    npy.resize(npy.len() + rows * (1 << 20), 0);
    Ok(fs::write(path, npy)?)
}
