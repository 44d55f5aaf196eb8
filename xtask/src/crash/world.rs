//! A disk that is really full, and a real limit on the length of files.

use std::fs;
use std::process::Output;

use anyhow::{Context, Result, ensure};

use super::scene::{Allowed, Scene};
use crate::run;

/// Kibibytes left on the disk.
const FREE_KIB: [usize; 8] = [0, 4, 8, 16, 32, 64, 128, 512];

/// Shares of the new file's length, in sixteenths, that a file may have.
const SIXTEENTHS: [usize; 6] = [0, 1, 5, 8, 15, 16];

/// Mounts a disk of a mebibyte over the target's folder, where only the script sees it, leaves
/// some of it free, runs the command, and carries out what is there afterwards.
const SCRIPT: &str = r#"
options=$1 free=$2 out=$3 left=$4; shift 4
cp -a "$out" "$left.before" && mount -t tmpfs -o "$options" none "$out" || exit 99
cp -a "$left.before/." "$out" || exit 99
dd if=/dev/zero of="$out/filler" bs=1024 2>"$left.dd"
if [ "$free" = all ]; then rm "$out/filler"; else truncate -s "-${free}K" "$out/filler"; fi
"$@"; code=$?
rm -f "$out/filler"
cp -a "$out/." "$left" || exit 99
exit $code
"#;

/// Runs the command on disks with less and less room, and on one without room for a name.
pub(super) fn fill(scene: &mut Scene<'_>) -> Result<()> {
    let mut failure_count = 0;
    for free in FREE_KIB {
        let output = on_disk(scene, "size=1m", &free.to_string())?;
        failure_count += usize::from(!output.status.success());
    }
    // One for the root, one for the filler, those of the old file or folder; none for the new one.
    let options = format!("size=8m,nr_inodes={}", 2 + scene.old_count().max(1));
    let output = on_disk(scene, &options, "4")?;
    failure_count += usize::from(!output.status.success());
    ensure!(2 <= failure_count, "the disk was never full");
    Ok(())
}

fn on_disk(scene: &mut Scene<'_>, options: &str, free: &str) -> Result<Output> {
    let left = run::target().join("crash/left");
    let before = left.with_extension("before");
    for folder in [&left, &before] {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
    }
    fs::create_dir_all(&left)?;
    scene.prepare()?;
    let text = |path: &std::path::Path| path.to_str().map(str::to_owned);
    let out = text(scene.out()).context("the path of the workspace is not text")?;
    let left_name = text(&left).context("the path of the workspace is not text")?;
    let under = ["unshare", "-m", "sh", "-c", SCRIPT, "sh", options, free, &out, &left_name];
    let output = scene.launch(&under)?;
    ensure!(
        output.status.code() != Some(99),
        "no disk: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let what = format!("a disk of {options} with {free} KiB free");
    scene.judge_in(&left, &what, Allowed::Failure, &output)?;
    scene.tally.full += 1;
    Ok(output)
}

/// Runs the command under limits on the length of a file, which come as a signal and as an error.
pub(super) fn limit(scene: &mut Scene<'_>) -> Result<()> {
    let mut failure_count = 0;
    for sixteenths in SIXTEENTHS {
        let blocks = (scene.new_len() * sixteenths / 16).div_ceil(512).to_string();
        let script = r#"ulimit -f "$1" || exit 99; shift; exec "$@""#;
        let output = scene.start(&["sh", "-c", script, "sh", &blocks])?;
        failure_count += usize::from(!output.status.success());
        let what = format!("files of {blocks} blocks at most");
        scene.judge(&what, Allowed::Failure, &output)?;
        scene.tally.limits += 1;
    }
    ensure!(2 <= failure_count, "the limit was never reached");
    Ok(())
}
