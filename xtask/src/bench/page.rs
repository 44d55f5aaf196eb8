//! The tables of `docs/performance.md`, from the last results.
//!
//! ```text
//!   <!-- figures -->   the groups of .tet files in target/bench/all.json, each work with its limit
//!   <!-- digests -->   the groups V and D of the same run
//!   <!-- tensors -->   the groups Z of the same run, zTensor files
//!   <!-- messages -->  the groups T of the same run, Tensogram messages
//!   <!-- peers -->     target/bench/peers.json: each work and other programs
//!   <!-- weights -->   target/bench/weights.json: the same with other libraries
//!   <!-- wheel -->     target/bench/messages.json: the same with the wheel
//!   <!-- containers --> target/bench/A.json: the groups A alone, files of other formats
//!   <!-- arrays -->    target/bench/arrays.json: HDF5, NetCDF and Zarr with their libraries
//!   <!-- python -->    target/bench/python.json: the Python package, the engine below it, and other packages
//!   <!-- end -->       the end of each
//! ```

use std::fmt::Write as _;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::run;

/// The end of what is written here.
const END: &str = "<!-- end -->";

/// Columns of the comparison, and what the page calls them.
const PEERS: [(&str, &str); 6] = [
    ("tet", "tet"),
    ("numpy", "NumPy"),
    ("h5py", "h5py"),
    ("zarr", "zarr"),
    ("tet query", "`tet query`"),
    ("reference", "reference"),
];

/// Columns of the comparison of tensors.
const LIBRARIES: [&str; 5] = ["tet", "ztensor 0.1", "ztensor 2", "safetensors", "npy"];

/// A table out of what a run stored; `None` when that is not what it should be.
type Table = fn(&Value) -> Option<String>;

/// The marker of each table, its run, how the groups are named that it shows, and how.
const TABLES: [(&str, &str, &str, Table); 10] = [
    ("figures", "all", "RQSPOWM", figures),
    ("digests", "all", "VD", figures),
    ("tensors", "all", "Z", figures),
    ("messages", "all", "T", figures),
    ("containers", "A", "A", figures),
    ("peers", "peers", "", peers),
    ("weights", "weights", "", weights),
    ("wheel", "messages", "", wheel),
    ("arrays", "arrays", "", arrays),
    ("python", "python", "", python),
];

/// The tables that the comparison made by itself.
fn python(report: &Value) -> Option<String> {
    let about = machine(report)?;
    Some(format!("{about} {}\n", report.get("table")?.as_str()?))
}

/// Writes the tables whose figures are there.
pub(super) fn write() -> Result<()> {
    let path = run::root().join("docs/performance.md");
    let mut text = std::fs::read_to_string(&path)?;
    for (marker, run, groups, table) in TABLES {
        let Some(report) = report(run, groups)? else { continue };
        let table = table(&report).with_context(|| format!("{run} is not what a run stores"))?;
        text = replaced(&text, marker, &table)
            .with_context(|| format!("no <!-- {marker} --> and {END} in {}", path.display()))?;
    }
    std::fs::write(&path, text)?;
    println!("{}", path.display());
    Ok(())
}

/// Results of a run, with the rows of the groups whose names begin with one of these letters, or all;
/// `None` when it is not there.
fn report(run: &str, groups: &str) -> Result<Option<Value>> {
    let from = super::stored(run);
    let Ok(json) = std::fs::read_to_string(&from) else {
        eprintln!("{} is not there, its table stays", from.display());
        return Ok(None);
    };
    let wrong = || format!("{} is not what a run stores", from.display());
    let mut report: Value = serde_json::from_str(&json).with_context(wrong)?;
    let is_shown =
        |row: &Value| row["id"].as_str().is_some_and(|id| id.starts_with(|it| groups.contains(it)));
    if let Some(rows) = report["rows"].as_array_mut() {
        rows.retain(|row| groups.is_empty() || is_shown(row));
    }
    Ok(Some(report))
}

/// The text with something else between a marker and the end after it.
fn replaced(text: &str, marker: &str, table: &str) -> Option<String> {
    let marker = format!("<!-- {marker} -->");
    let (head, rest) = text.split_once(&marker)?;
    let (_, tail) = rest.split_once(END)?;
    Some(format!("{head}{marker}\n\n{table}\n{END}{tail}"))
}

/// The machine of a run, and how often it measured.
fn machine(report: &Value) -> Option<String> {
    let machine = &report["machine"];
    Some(format!(
        "{}, {} threads, vectors {}, {} GiB, Linux {}; {} rounds.",
        machine["cpu"].as_str()?,
        machine["threads"],
        machine["vectors"].as_str()?,
        machine["memory_mib"].as_u64()? / 1024,
        machine["kernel"].as_str()?,
        report["rounds"]
    ))
}

/// Every work with its limit.
fn figures(report: &Value) -> Option<String> {
    let rows = report["rows"].as_array()?;
    let targets = rows.iter().filter(|row| row["target"] != 0.0);
    let met = targets.clone().filter(|row| verdict(row) == "met").count();
    let mut out = format!("{} {met} of {} targets are met; ", machine(report)?, targets.count());
    out.push_str("a target that is not is written as missed.\n\n");
    out.push_str("| id | work | limit | median | least | greatest | target | |\n");
    out.push_str("|---|---|---|---|---|---|---|---|\n");
    for row in rows {
        let rounds = &row["rounds"];
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            row["id"].as_str()?,
            row["work"].as_str()?,
            limit(row)?,
            number(rounds["median"].as_f64()?),
            number(rounds["min"].as_f64()?),
            number(rounds["max"].as_f64()?),
            target(row)?,
            verdict(row)
        );
    }
    Some(out)
}

/// Reference of a measurement, or the unit of its figures.
fn limit(row: &Value) -> Option<String> {
    let limit = row["limit"].as_str()?;
    Some(match row["figure"].as_str()? {
        "times" => format!("times of {limit}"),
        "microseconds" => "us".to_owned(),
        "mebibytes" => "MiB".to_owned(),
        "count" => "count".to_owned(),
        _ => limit.to_owned(),
    })
}

fn target(row: &Value) -> Option<String> {
    let target = row["target"].as_f64()?;
    let least = row["figure"] == "ratio";
    Some(match (target == 0.0, least) {
        (true, _) => "-".to_owned(),
        (false, true) => format!(">= {}", number(target)),
        (false, false) => format!("<= {}", number(target)),
    })
}

fn verdict(row: &Value) -> &'static str {
    match (row["valid"] == true, row["target"] == 0.0, row["met"] == true) {
        (false, ..) => "run invalid",
        (true, true, _) => "-",
        (true, false, true) => "met",
        (true, false, false) => "missed",
    }
}

/// Every work with other programs.
fn peers(report: &Value) -> Option<String> {
    let versions = &report["versions"];
    let mut out = format!(
        "{} NumPy {}, h5py {}, zarr {}, reference {}.\n\n",
        machine(report)?,
        versions["numpy"].as_str()?,
        versions["h5py"].as_str()?,
        versions["zarr"].as_str()?,
        versions["reference"].as_str()?
    );
    rows(report, &PEERS, &mut out)?;
    Some(out)
}

/// Every work on tensors with other libraries.
fn weights(report: &Value) -> Option<String> {
    let versions: Option<Vec<String>> = LIBRARIES[1..]
        .iter()
        .map(|name| Some(format!("{name} of {}", report["versions"][name].as_str()?)))
        .collect();
    let mut out = format!("{} {}.\n\n", machine(report)?, versions?.join(", "));
    rows(report, &LIBRARIES.map(|name| (name, name)), &mut out)?;
    Some(out)
}

/// Every work on messages with the wheel.
fn wheel(report: &Value) -> Option<String> {
    let version = report["versions"]["tensogram"].as_str()?;
    let mut out = format!("{} tensogram {version}.\n\n", machine(report)?);
    rows(report, &["tet", "tensogram"].map(|name| (name, name)), &mut out)?;
    Some(out)
}

/// Every work on files of other formats, each with the library of its format.
fn arrays(report: &Value) -> Option<String> {
    let version = |name: &str| Some(format!("{name} {}", report["versions"][name].as_str()?));
    let versions: Option<Vec<String>> =
        ["h5py", "netCDF4", "zarr"].map(version).into_iter().collect();
    let mut out = format!("{} {}.\n\n", machine(report)?, versions?.join(", "));
    let columns = [("tet", "tet"), ("library", "library"), ("command", "the `tet` command")];
    rows(report, &columns, &mut out)?;
    Some(out)
}

/// A line for each work, with the cells of these columns.
fn rows(report: &Value, columns: &[(&str, &str)], out: &mut String) -> Option<()> {
    let names: Vec<&str> = columns.iter().map(|(_, name)| *name).collect();
    let _ = writeln!(out, "| work | {} |", names.join(" | "));
    let _ = writeln!(out, "|---|{}", "---|".repeat(names.len()));
    for row in report["rows"].as_array()? {
        let cells: Option<Vec<String>> =
            columns.iter().map(|(name, _)| cell(&row["cells"][name])).collect();
        let _ = writeln!(out, "| {} | {} |", row["work"].as_str()?, cells?.join(" | "));
    }
    Some(())
}

/// A time, and how many times ours it is, or its ratio to the limit.
fn cell(cell: &Value) -> Option<String> {
    if cell.is_null() {
        return Some("-".to_owned());
    }
    if !cell["refused"].is_null() {
        return Some("refused".to_owned());
    }
    let (over, milliseconds) = match cell["over"].as_f64() {
        Some(over) => ("> ", over),
        None => ("", cell["median"].as_f64()?),
    };
    let time = time(milliseconds);
    Some(match (cell["ratio"].as_f64(), cell["of_limit"].as_f64()) {
        (Some(ratio), _) => format!("{over}{time}, {over}{} x", number(ratio)),
        (None, Some(ratio)) => format!("{time}, {}", number(ratio)),
        (None, None) => format!("{over}{time}"),
    })
}

/// Milliseconds in a unit that fits.
fn time(milliseconds: f64) -> String {
    match milliseconds {
        ..1.0 => format!("{} us", number(milliseconds * 1e3)),
        1e3.. => format!("{} s", number(milliseconds / 1e3)),
        _ => format!("{} ms", number(milliseconds)),
    }
}

/// About three digits; thousands with commas.
fn number(number: f64) -> String {
    if number.abs() < 10.0 {
        return format!("{number:.2}");
    }
    if number.abs() < 100.0 {
        return format!("{number:.1}");
    }
    let digits = format!("{number:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at != 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_between_the_markers_is_written() {
        let page =
            "a\n<!-- figures -->\nold\n<!-- end -->\nb\n<!-- peers -->\nold\n<!-- end -->\nc";
        let wanted =
            "a\n<!-- figures -->\nold\n<!-- end -->\nb\n<!-- peers -->\n\nnew\n<!-- end -->\nc";
        assert_eq!(replaced(page, "peers", "new").unwrap(), wanted);
        assert_eq!(replaced(page, "other", "new"), None);
    }

    #[test]
    fn numbers_have_three_digits_and_commas() {
        let numbers = [0.756, 12.0, 154.2, 1250.4, 1_000_000.0].map(number);
        assert_eq!(numbers, ["0.76", "12.0", "154", "1,250", "1,000,000"]);
        assert_eq!([0.0021, 12.345, 2500.0].map(time), ["2.10 us", "12.3 ms", "2.50 s"]);
    }

    #[test]
    fn cells_say_what_happened() {
        let cells = [
            json!(null),
            json!({ "refused": "no" }),
            json!({ "over": 60000.0, "ratio": 1200.0 }),
            json!({ "median": 30.0, "ratio": 1.5 }),
            json!({ "median": 20.0, "of_limit": 0.9 }),
            json!({ "median": 20.0 }),
        ];
        let wanted =
            ["-", "refused", "> 60.0 s, > 1,200 x", "30.0 ms, 1.50 x", "20.0 ms, 0.90", "20.0 ms"];
        assert_eq!(cells.map(|it| cell(&it).unwrap()), wanted);
    }
}
