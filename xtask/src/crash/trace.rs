//! `strace` decides what a system call does: it kills the process there, or gives an error.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Output;

use anyhow::{Context, Result, ensure};

use super::scene::{Allowed, Scene};
use crate::run;

/// The calls by which a file changes. A call is only disturbed if it is traced as well.
const CALLS: &str = "write,pwrite64,writev,ftruncate,fallocate,fsync,fdatasync,rename,renameat2,\
                     link,linkat,unlink,unlinkat,copy_file_range,fchmod,fchown,fsetxattr,\
                     mkdir,mkdirat,rmdir,syncfs,chmod,fchmodat";

/// Those by which a folder that was replaced is removed.
const REMOVALS: [&str; 3] = ["unlink", "unlinkat", "rmdir"];

/// Errors of a call.
const WORDS: [&str; 5] = ["ENOSPC", "EIO", "EDQUOT", "EFBIG", "EINTR"];

/// As often as a signal comes in a row. A system that interrupts for ever is asked for ever.
const BURST: usize = 16;

/// Kills the command at each call.
pub(super) fn kill(scene: &mut Scene<'_>) -> Result<()> {
    for (call, count) in calls(scene)? {
        scene.tally.calls += count;
        for at in 1..=count {
            let inject = format!("inject={call}:signal=KILL:when={at}");
            let output = disturb(scene, Allowed::Death, &[&inject])?;
            scene.tally.kills += usize::from(output.status.code().is_none());
        }
    }
    // Threads may share their work otherwise next time, but not all of it.
    ensure!(scene.tally.calls < 2 * scene.tally.kills, "the kills do not come");
    Ok(())
}

/// Fails each call, once, and from then on.
pub(super) fn fail(scene: &mut Scene<'_>) -> Result<()> {
    for (call, count) in calls(scene)? {
        let is_removal = scene.is_folder_replaced() && REMOVALS.contains(&call.as_str());
        let allowed = if is_removal { Allowed::Rest } else { Allowed::Failure };
        for (at, word) in (1..=count).flat_map(|at| WORDS.map(|word| (at, word))) {
            let once = format!("inject={call}:error={word}:when={at}");
            disturb(scene, allowed, &[&once])?;
            if word == "EINTR" {
                let last = at + BURST - 1;
                let burst = format!("inject={call}:error={word}:when={at}..{last}");
                disturb(scene, allowed, &[&burst])?;
            } else {
                // From then on not even the hidden file or folder can be removed.
                let onward = format!("inject={call}:error={word}:when={at}+");
                let removal = format!("inject=unlink,rmdir:error={word}:when=1+");
                disturb(scene, Allowed::Helplessness, &[&onward, &removal])?;
            }
            scene.tally.errors += 2;
        }
    }
    Ok(())
}

/// Gives the command no threads but its first: it does the same work there.
pub(super) fn leave_alone(scene: &mut Scene<'_>) -> Result<()> {
    let output = disturb(scene, Allowed::Failure, &["inject=clone,clone3:error=EAGAIN:when=1+"])?;
    ensure!(output.status.success(), "no success without threads");
    scene.tally.errors += 1;
    Ok(())
}

fn disturb(scene: &mut Scene<'_>, allowed: Allowed, injects: &[&str]) -> Result<Output> {
    let log = log_path();
    let log_name = log.to_str().context(NO_TEXT)?;
    let trace = format!("trace={CALLS},clone,clone3");
    let mut under = vec!["strace", "-f", "-qq", "-o", log_name, "-e", &trace];
    for inject in injects {
        under.extend(["-e", inject]);
    }
    let output = scene.start(&under)?;
    // Calls are counted by thread: the error of one thread is told by another one, which may have
    // reached its own call number n with that.
    let is_mute = fs::read_to_string(&log)?
        .lines()
        .any(|line| line.contains(" write(2, ") && line.ends_with("(INJECTED)"));
    let allowed = match allowed {
        Allowed::Failure if is_mute => Allowed::Muteness,
        _ => allowed,
    };
    scene.judge(&injects.join(" "), allowed, &output)?;
    Ok(output)
}

const NO_TEXT: &str = "the path of the workspace is not text";

fn log_path() -> PathBuf {
    run::target().join("crash/strace.log")
}

/// How often the command makes each call, in the thread that makes it most: calls are counted by
/// thread.
fn calls(scene: &Scene<'_>) -> Result<BTreeMap<String, usize>> {
    let log = log_path();
    let log_name = log.to_str().context(NO_TEXT)?;
    let trace = format!("trace={CALLS}");
    let output = scene.start(&["strace", "-f", "-qq", "-o", log_name, "-e", &trace])?;
    ensure!(output.status.success(), "strace fails: {}", String::from_utf8_lossy(&output.stderr));
    let mut counts = BTreeMap::<(String, String), usize>::new();
    for line in fs::read_to_string(&log)?.lines() {
        let Some((thread, rest)) = line.split_once(char::is_whitespace) else { continue };
        let Some((call, _)) = rest.trim_start().split_once('(') else { continue };
        if CALLS.split(',').any(|known| known == call) {
            *counts.entry((thread.to_owned(), call.to_owned())).or_default() += 1;
        }
    }
    let mut most = BTreeMap::new();
    for ((_, call), count) in counts {
        let entry = most.entry(call).or_insert(0);
        *entry = count.max(*entry);
    }
    ensure!(most.contains_key("fsync"), "the command makes nothing durable");
    Ok(most)
}
