//! Appended texts that the file cannot store are refused by name, or left out where that is asked for.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{opened, read};
use tet_convert::{AxisAppend, EditOptions, EditReport, UnsupportedChoice, append};
use tet_query::Execution;

fn day(folder: &Path, name: &str, minutes: std::ops::Range<u32>) -> PathBuf {
    let mut text = "timestamp,state,flow,depth\n".to_owned();
    for minute in minutes {
        text.push_str(&format!("2026-11-20T00:{minute:02}:00,on,{minute}.5,{}\n", minute * 2));
    }
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

fn appended(file: &Path, asked: &AxisAppend<'_>) -> Result<EditReport, String> {
    let asked = AxisAppend { axis: "timestamp", ..*asked };
    let done = append(file, &asked, &EditOptions::default(), &Execution::default());
    done.map_err(|error| error.to_string())
}

fn flow(file: &Path) -> Vec<f64> {
    let bytes = read(&opened(file), "flow").bytes().to_vec();
    bytes.chunks_exact(8).map(|it| f64::from_le_bytes(it.try_into().unwrap())).collect()
}

#[test]
fn texts_are_refused_by_name_at_the_first_append_or_left_out_at_each() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = [day(folder.path(), "a.csv", 0..3), day(folder.path(), "b.csv", 3..5)];
    for (number, asked) in [
        AxisAppend { unsupported: UnsupportedChoice::Skipped, ..AxisAppend::default() },
        AxisAppend { exclude: &["st*".to_owned()], ..AxisAppend::default() },
        AxisAppend { datasets: &["flow".to_owned()], ..AxisAppend::default() },
    ]
    .into_iter()
    .enumerate()
    {
        let file = folder.path().join(format!("log{number}.tets"));
        let plain = AxisAppend { inputs: &inputs[..1], ..AxisAppend::default() };
        let refused = appended(&file, &plain).unwrap_err();
        assert!(
            refused.contains("\"state\"") && refused.contains("--skip-unsupported"),
            "{refused}"
        );
        assert!(!file.exists());
        for (input, wanted) in inputs.chunks(1).zip([3, 5]) {
            let report = appended(&file, &AxisAppend { inputs: input, ..asked }).unwrap();
            assert_eq!(flow(&file), (0..wanted).map(|it| f64::from(it) + 0.5).collect::<Vec<_>>());
            let says = report.notes.iter().any(|note| note.to_string().contains("\"state\""));
            assert_eq!(says, number == 0, "{:?}", report.notes);
        }
        let has_depth = opened(&file).catalog.find("depth").is_ok();
        assert_eq!(has_depth, number != 2);
        let again = appended(&file, &AxisAppend { inputs: &inputs[1..], ..asked }).unwrap_err();
        assert!(again.contains("repeats the label"), "{again}");
    }
}

#[test]
fn a_name_that_leaves_nothing_out_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = [day(folder.path(), "a.csv", 0..3)];
    let exclude = &["stat".to_owned()];
    let asked = AxisAppend { inputs: &inputs, exclude, ..AxisAppend::default() };
    let error = appended(&folder.path().join("log.tets"), &asked).unwrap_err();
    assert!(error.contains("no dataset \"stat\""), "{error}");
}

#[test]
fn a_folder_of_parts_grows_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = [day(folder.path(), "a.csv", 0..3), day(folder.path(), "b.csv", 3..5)];
    let file = folder.path().join("log.tets");
    let all = AxisAppend { unsupported: UnsupportedChoice::Skipped, ..AxisAppend::default() };
    appended(&file, &AxisAppend { inputs: &inputs[..1], ..all }).unwrap();
    let (flow, depth) = (&["flow".to_owned()], &["depth".to_owned()]);
    for asked in [
        AxisAppend { datasets: flow, ..AxisAppend::default() },
        AxisAppend { exclude: depth, ..all },
    ] {
        let refused = appended(&file, &AxisAppend { inputs: &inputs[1..], ..asked }).unwrap_err();
        assert!(refused.contains("\"depth\" is not among those chosen of"), "{refused}");
        assert!(refused.contains("b.csv"), "{refused}");
    }
    let both = &["flow".to_owned(), "depth".to_owned()];
    let asked = AxisAppend { inputs: &inputs[1..], datasets: both, ..AxisAppend::default() };
    appended(&file, &asked).unwrap();
}

#[test]
fn the_number_of_an_axis_that_has_a_name_is_answered_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = [day(folder.path(), "a.csv", 0..3)];
    let unsupported = UnsupportedChoice::Skipped;
    let asked = AxisAppend { axis: "0", inputs: &inputs, unsupported, ..AxisAppend::default() };
    let file = folder.path().join("log.tets");
    let done = append(&file, &asked, &EditOptions::default(), &Execution::default());
    let error = done.map_err(|error| error.to_string()).unwrap_err();
    assert!(error.contains("its axes have names: timestamp"), "{error}");
}
