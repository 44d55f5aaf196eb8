//! Edited and merged objects, whose bytes the server copies where it can.

use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::proxy::{Pace, Proxy};
use super::server::Server;
use super::{Secret, World, npy_of_zeros};
use crate::run;

/// Rows of 1 MiB.
const ROWS: usize = 64;
/// Most bytes that an edit or a merge moves where the rest is copied: the first and the last part, and the reads of
/// opening.
const MOVED_MAX: u64 = 40 << 20;

impl World {
    /// An object is edited in place and two are merged; where the server copies, most bytes are neither read nor sent.
    pub(super) fn copied_in(&self, server: &Server, does_copy: bool) -> Result<()> {
        let npy = self.files.join("copied.npy");
        npy_of_zeros(&npy, ROWS)?;
        let path = |name: &str| self.files.join(name).display().to_string();
        let (local, other, merged) = (path("copied.tet"), path("other.tet"), path("merged.tet"));
        for args in [
            &["convert", &path("copied.npy"), &local, "--codec", "raw", "--force"][..],
            &["edit", "rename", &local, "copied=other", "-o", &other, "--force"],
            &["convert", "--merge", &local, &other, &merged, "--force"],
        ] {
            run::output(Command::new(&self.program).args(args))?;
        }
        let url = |name: &str| format!("{}/copies/{name}.tet", server.bucket);
        let urls = [url("copied"), url("other"), url("merged")];
        for to in &urls[..2] {
            self.said(server, &["convert", &local, to, "--codec", "raw", "--force"])?;
        }
        let pace = Pace { latency: Duration::ZERO, rate: 0 };
        let proxy = Proxy::start(server.port()?, pace)?;
        for args in [
            &["edit", "rename", &urls[1], "copied=other"][..],
            &["convert", "--merge", &urls[0], &urls[1], &urls[2], "--force"],
        ] {
            proxy.take();
            let mut command = self.command(server, Secret::Right, args);
            for name in ["AWS_ENDPOINT_URL", "AZURE_ENDPOINT_URL"] {
                command.env(
                    name,
                    server.url.replacen(
                        &format!(":{}", server.port()?),
                        &format!(":{}", proxy.port),
                        1,
                    ),
                );
            }
            run::output(&mut command)?;
            let counts = proxy.take();
            let moved = counts.bytes + counts.sent;
            let is_moved = moved <= MOVED_MAX;
            ensure!(is_moved == does_copy, "{}: {args:?}: {counts:?}", server.name);
            println!("{:<7} edit {:<6} {:>4} MiB read and sent", server.name, args[1], moved >> 20);
        }
        for (file, url) in [(&other, &urls[1]), (&merged, &urls[2])] {
            self.said(server, &["diff", file, url])?;
            self.said(server, &["verify", url, "-q"])?;
        }
        Ok(())
    }
}
