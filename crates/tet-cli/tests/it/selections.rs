//! Positions taken one by one are those of single selections put together: in every container, with any number of
//! threads.

#[allow(dead_code, reason = "each suite uses its part")]
use std::fs;
use std::path::Path;

use tet_cli::Exit;

use crate::fixtures;

const CONTAINERS: [&str; 7] = ["nc", "nc3", "h5", "zarr", "tet", "zt", "tgm"];

fn run(folder: &Path, args: &[&str]) -> String {
    let (exit, out, err) = fixtures::tet_in(folder, args);
    assert_eq!(exit, Exit::Done, "{args:?}: {err}");
    out
}

/// The bytes of the selected values.
fn raw(folder: &Path, file: &str, selection: &str, threads: &str) -> Vec<u8> {
    run(
        folder,
        &["cat", file, selection, "--to", "raw", "-o", "x.raw", "-f", "--threads", threads],
    );
    fs::read(folder.join("x.raw")).expect("the values")
}

/// A folder with one dataset in all containers.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let monthly = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/monthly.nc");
    fs::copy(monthly, folder.path().join("first.nc")).expect("a copy");
    for container in CONTAINERS {
        let out = format!("x.{container}");
        let mut args = vec!["convert", "first.nc", &out];
        if !["nc3", "zt", "tgm"].contains(&container) {
            args.extend(["--chunks", "time:5,lat:3,lon:4"]);
        }
        run(folder.path(), &args);
    }
    folder
}

#[test]
fn lists_are_single_positions_in_their_order() {
    let folder = folder();
    let at = folder.path();
    let single =
        |time: u64, lon: u64| raw(at, "x.nc", &format!("t2m[time#{time}, lon#{lon}]"), "1");
    let mut wanted = Vec::new();
    for time in [23, 0, 7, 7] {
        // The longitudes are the last axis: rows of one latitude are put together.
        let columns = [5, 2].map(|lon| single(time, lon));
        let rows = columns[0].chunks(8).zip(columns[1].chunks(8));
        rows.for_each(|(one, two)| wanted.extend([one, two].concat()));
    }
    for container in CONTAINERS {
        let file = format!("x.{container}");
        for (selection, threads) in [
            ("t2m[time#[23,0,7,7], lon#[5,2]]", "1"),
            ("t2m[time#[-1,0,7,7], lon=[300,120]]", "16"),
            ("t2m[time=[2001-12,2000-01,2000-08,2000-08], lon=[-60,480]]", "8"),
            ("t2m[time=[2001-12,2000-01,2000-08,2000-08], lon~[290,119]]", "2"),
        ] {
            assert_eq!(raw(at, &file, selection, threads), wanted, "{file} {selection}");
        }
    }
}

#[test]
fn ranges_around_the_globe_have_the_labels_that_were_asked_for() {
    let folder = folder();
    let at = folder.path();
    let parts = ["t2m[time#0, lat#0, lon=240:300]", "t2m[time#0, lat#0, lon=0:60]"];
    let wanted = parts.map(|part| raw(at, "x.nc", part, "1")).concat();
    for container in CONTAINERS {
        let file = format!("x.{container}");
        assert_eq!(raw(at, &file, "t2m[time#0, lat#0, lon=-120:60]", "4"), wanted, "{file}");
        let out = format!("y.{container}");
        run(at, &["convert", &file, &out, "-s", "lon=-120:60, time.month=7"]);
        let labels = run(at, &["cat", &out, "lon", "--to", "csv", "-o", "-"]);
        let labels: Vec<&str> =
            labels.lines().skip(1).filter_map(|it| it.split(',').next_back()).collect();
        assert_eq!(labels, ["-120.0", "-60.0", "0.0", "60.0"], "{out}");
        let dates = run(at, &["cat", &out, "time"]);
        assert_eq!(dates.trim(), "['2000-07-01' '2001-07-01']", "{out}");
        run(at, &["diff", &file, &out, "t2m[lon=-120:60, time.month=7]"]);
        run(at, &["verify", &out]);
    }
}

#[test]
fn lists_of_longitudes_have_the_labels_that_were_asked_for() {
    let folder = folder();
    let at = folder.path();
    for (list, labels) in [
        ("lon=[-60,-120]", "[ -60. -120.]"),
        ("lon=[-60,0,420]", "[-60.   0. 420.]"),
        ("lon~[-61,119]", "[-60. 120.]"),
        ("lon=[300,120]", "[300. 120.]"),
    ] {
        for container in CONTAINERS {
            let (file, out) = (format!("x.{container}"), format!("y.{container}"));
            run(at, &["convert", &file, &out, "-s", list, "-f"]);
            assert_eq!(run(at, &["cat", &out, "lon"]).trim(), labels, "{out} {list}");
            run(at, &["diff", &file, &out, &format!("t2m[{list}]")]);
        }
    }
}

/// The text of an axis of which one position is selected is a scalar, or a note names it.
#[test]
fn a_text_alone_is_not_lost_in_silence() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    fs::write(at.join("x.csv"), "name,value,other\nx,1,4\nyy,2,5\n").expect("a table");
    run(at, &["convert", "x.csv", "text.nc", "--chunks", "2"]);
    run(at, &["convert", "text.nc", "own.tet"]);
    for (file, selection) in [("text.nc", "name=yy"), ("own.tet", "name=yy")] {
        for out in ["y.nc", "y.h5", "y.zarr"] {
            run(at, &["convert", file, out, "-s", selection, "-f"]);
            assert_eq!(run(at, &["cat", out, "name"]).trim(), "yy", "{file} {out}");
            let of_one = format!("value[{selection}]");
            run(at, &["cat", file, &of_one, "-o", out, "-f"]);
            assert_eq!(run(at, &["cat", out, "name"]).trim(), "yy", "{file} {out}");
        }
        for out in ["y.tet", "y.tets", "y.zt", "y.tgm", "y.nc3", "y.npz", "y.safetensors"] {
            let args = ["convert", file, out, "-s", selection, "-f"];
            let (exit, _, err) = fixtures::tet_in(at, &args);
            assert_eq!(exit, Exit::Done, "{args:?}: {err}");
            assert!(err.contains("\"name\": texts (1) are left out"), "{file} {out}: {err}");
        }
    }
}

/// Longitudes of a type that has no negative numbers, and their bounds; names along an axis.
#[test]
fn unsigned_longitudes_bounds_and_texts_go_along() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let rows: String = (0..6).map(|nth| format!("{},{},S{nth}\n", nth * 60, nth)).collect();
    fs::write(at.join("x.csv"), format!("lon,value,name\n{rows}")).expect("a table");
    run(
        at,
        &["convert", "x.csv", "x.nc", "--dtype", "lon=uint16", "--attr", "lon:units=degrees_east"],
    );
    assert!(run(at, &["info", "x.nc"]).contains("uint16"));
    run(at, &["convert", "x.nc", "y.nc", "-s", "lon=-60:60"]);
    assert_eq!(run(at, &["cat", "y.nc", "lon"]).trim(), "[-60   0  60]");
    assert_eq!(run(at, &["cat", "y.nc", "value"]).trim(), "[5 0 1]");
    assert_eq!(run(at, &["cat", "y.nc", "name"]).trim(), "['S5' 'S0' 'S1']");
    assert_eq!(run(at, &["cat", "x.nc", "name[lon=[120,0,120]]"]).trim(), "['S2' 'S0' 'S2']");
}
