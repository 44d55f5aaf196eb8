//! Folders of parts in a bucket: made, appended to by several programs at once, and by programs that are killed.

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, ensure};
use serde_json::Value;

use super::server::Server;
use super::{Secret, World, npy_of_zeros};
use crate::run;

/// Programs that append at the same time.
const AT_ONCE: usize = 4;
/// How often an append is killed.
const KILLS: u32 = 24;
/// Rows of 1 MiB of a file that is appended.
const ROWS: usize = 12;

impl World {
    /// Folders of parts grow in a bucket, also when programs are killed.
    pub(super) fn grown_in(&self, server: &Server) -> Result<()> {
        let npy = self.files.join("rows.npy");
        npy_of_zeros(&npy, ROWS)?;
        let rows = self.files.join("rows.tet");
        let mut command = Command::new(&self.program);
        command
            .arg("convert")
            .args([&npy, &rows])
            .args(["--codec", "raw", "--dims", "time,x", "--force"]);
        run::output(&mut command)?;
        let rows = rows.display().to_string();
        let url = format!("{}/{}.tets", server.bucket, server.name);
        let append = ["edit", "append", &*url, &*rows, "--axis", "time", "-q"];
        self.said(server, &append)?;
        let mut programs = Vec::new();
        for _ in 0..AT_ONCE {
            programs.push(self.command(server, Secret::Right, &append).spawn()?);
        }
        for mut program in programs {
            ensure!(program.wait()?.success(), "{}: an append failed", server.name);
        }
        let mut count = self.rows_of(server, &url)?;
        ensure!(count == ROWS * (1 + AT_ONCE), "{}: {count} rows", server.name);
        println!("{:<7} {AT_ONCE} appends at the same time, no row is lost", server.name);
        // The last ones are killed when they are done.
        let begin = Instant::now();
        self.said(server, &append)?;
        let step = begin.elapsed() * 5 / 4 / KILLS;
        count += ROWS;
        let mut seen = [0, 0];
        for nth in 0..KILLS {
            let mut child = self.command(server, Secret::Right, &append).spawn()?;
            std::thread::sleep(step * (nth + 1));
            let _ = child.kill();
            child.wait()?;
            let now = self.rows_of(server, &url)?;
            ensure!(now == count || now == count + ROWS, "kill {nth}: {now} rows after {count}");
            seen[usize::from(now != count)] += 1;
            count = now;
        }
        self.said(server, &["verify", &url, "-q"])?;
        // The remaining parts are younger than a day.
        let unused = self.said(server, &["series", "gc", &url])?;
        ensure!(unused.is_empty(), "{}: {unused}", server.name);
        println!("{:<7} {KILLS} appends killed: {} old, {} new", server.name, seen[0], seen[1]);
        Ok(())
    }

    /// The rows of the dataset of a folder.
    fn rows_of(&self, server: &Server, url: &str) -> Result<usize> {
        let info: Value = serde_json::from_str(&self.said(server, &["info", "--json", url])?)?;
        let rows = info["datasets"][0]["shape"][0].as_u64().unwrap_or(0);
        Ok(usize::try_from(rows)?)
    }
}
