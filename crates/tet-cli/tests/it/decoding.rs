//! Packed and masked values and times: which values each command shows, compares and writes.
//!
//! The decoded values are those of xarray 2026.9 for the same Zarr hierarchy.

#[allow(dead_code, reason = "each suite uses its part")]
use std::fs;
use std::path::Path;

use tet_cli::Exit;

use crate::fixtures;

/// An array of a Zarr hierarchy.
struct ZarrArray<'a> {
    name: &'a str,
    dtype: &'a str,
    shape: &'a str,
    dims: &'a str,
    bytes: Vec<u8>,
    attrs: &'a str,
}

/// Writes an array of one chunk.
fn write(folder: &Path, array: ZarrArray<'_>) {
    let ZarrArray { name, dtype, shape, dims, bytes, attrs } = array;
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [{shape}], "data_type": "{dtype}",
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [{shape}]}}}},
        "chunk_key_encoding": {{"name": "v2"}}, "fill_value": 0, "dimension_names": [{dims}],
        "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}],
        "attributes": {{{attrs}}}}}"#
    );
    let at = folder.join(name);
    fs::create_dir_all(&at).expect("a folder");
    fs::write(at.join("zarr.json"), document).expect("a document");
    let chunk = if shape.contains(',') { "0.0" } else { "0" };
    fs::write(at.join(chunk), bytes).expect("a chunk");
}

fn bytes<T, const N: usize, const L: usize>(values: [T; N], le: fn(T) -> [u8; L]) -> Vec<u8> {
    values.into_iter().flat_map(le).collect()
}

/// A folder with `x.zarr`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path().join("x.zarr");
    fs::create_dir_all(&at).expect("a folder");
    let group = r#"{"zarr_format": 3, "node_type": "group", "attributes": {}}"#;
    fs::write(at.join("zarr.json"), group).expect("a document");
    let one = |name, dtype, bytes, attrs| {
        write(&at, ZarrArray { name, dtype, shape: "3", dims: "\"time\"", bytes, attrs });
    };
    // One nanosecond after the start of 2020, which a float64 cannot hold.
    let late = 1_577_836_800_000_000_001_i64;
    let units =
        r#""units": "nanoseconds since 1970-01-01", "_FillValue": -1, "bounds": "time_bnds""#;
    one("time", "int64", bytes([0, late, -1], i64::to_le_bytes), units);
    let packed =
        r#""scale_factor": 0.01, "add_offset": 273.15, "_FillValue": -32768, "units": "K""#;
    one("tas", "int16", bytes([-32768, 2099, -1], i16::to_le_bytes), packed);
    one("mask", "uint8", vec![0, 255, 7], r#""_FillValue": 255"#);
    one("count", "int32", bytes([1, -2, i32::MAX], i32::to_le_bytes), "");
    one("byte", "int8", vec![0, 255, 7], r#""_Unsigned": "true""#);
    let floats = bytes([-0.0, -999.0, 1.5], f32::to_le_bytes);
    one("neg", "float32", floats, r#""missing_value": -999.0"#);
    let bounds = bytes([0, 86_400_000_000_000, late, late + 2, -1, -1], i64::to_le_bytes);
    let (shape, dims) = ("3, 2", r#""time", "bnds""#);
    let attrs = r#""_FillValue": -1"#;
    write(&at, ZarrArray { name: "time_bnds", dtype: "int64", shape, dims, bytes: bounds, attrs });
    let days = bytes([58, 59, 60], i32::to_le_bytes);
    let attrs = r#""units": "days since 2000-01-01", "calendar": "noleap""#;
    let dims = "\"day\"";
    write(&at, ZarrArray { name: "day", dtype: "int32", shape: "3", dims, bytes: days, attrs });
    folder
}

fn run(folder: &Path, args: &[&str]) -> (Exit, String, String) {
    fixtures::tet_in(folder, args)
}

/// Runs a command that must succeed; returns its output.
fn works(folder: &Path, args: &[&str]) -> String {
    let (exit, out, err) = run(folder, args);
    assert_eq!(exit, Exit::Done, "{args:?}: {err}");
    out
}

/// The datasets, their decoded values, and those that are stored.
const VALUES: [(&str, &str, &str); 8] = [
    ("tas", "[   nan 294.14 273.14]", "[-32768   2099     -1]"),
    ("mask", "[ 0. nan  7.]", "[  0 255   7]"),
    ("count", "[         1         -2 2147483647]", "[         1         -2 2147483647]"),
    ("byte", "[  0 255   7]", "[ 0 -1  7]"),
    ("neg", "[-0.   nan  1.5]", "[  -0.  -999.     1.5]"),
    (
        "time",
        "['1970-01-01T00:00:00.000000000' '2020-01-01T00:00:00.000000001' 'NaT']",
        "[                  0 1577836800000000001                  -1]",
    ),
    (
        "time_bnds",
        "[['1970-01-01T00:00:00.000000000' '1970-01-02T00:00:00.000000000']\n \
         ['2020-01-01T00:00:00.000000001' '2020-01-01T00:00:00.000000003']\n \
         ['NaT' 'NaT']]",
        "[[                  0      86400000000000]\n [1577836800000000001 1577836800000000003]\n \
         [                 -1                  -1]]",
    ),
    ("day", "['2000-02-28' '2000-03-01' '2000-03-02']", "[58 59 60]"),
];

#[test]
fn values_are_printed_decoded_or_as_they_are_stored() {
    let folder = folder();
    for (name, decoded, stored) in VALUES {
        assert_eq!(works(folder.path(), &["cat", "x.zarr", name]).trim_end(), decoded, "{name}");
        let raw = works(folder.path(), &["cat", "x.zarr", name, "--raw-values"]);
        assert_eq!(raw.trim_end(), stored, "{name}");
        let asked = works(folder.path(), &["cat", "x.zarr", name, "--decoded"]);
        assert_eq!(asked.trim_end(), decoded, "{name}");
    }
}

#[test]
fn text_outputs_have_decoded_values_and_dates() {
    let folder = folder();
    let late = "2020-01-01T00:00:00.000000001";
    let csv = works(folder.path(), &["cat", "x.zarr", "tas", "--format", "csv"]);
    let wanted =
        format!("time,tas\n1970-01-01T00:00:00.000000000,NaN\n{late},294.14\nNaT,273.14\n");
    assert_eq!(csv, wanted);
    let csv = works(folder.path(), &["cat", "x.zarr", "tas", "--format", "csv", "--raw-values"]);
    assert!(csv.ends_with(",-32768\n2020-01-01T00:00:00.000000001,2099\nNaT,-1\n"), "{csv}");
    let csv = works(folder.path(), &["cat", "x.zarr", "time", "--format", "csv"]);
    assert_eq!(csv, format!("time\n1970-01-01T00:00:00.000000000\n{late}\nNaT\n"));
    let json = works(folder.path(), &["cat", "x.zarr", "time", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["values"][1], late);
    assert_eq!(json["attrs"], serde_json::json!({"bounds": "time_bnds"}));
    let json = works(folder.path(), &["cat", "x.zarr", "tas", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["values"], serde_json::json!(["NaN", 294.14, 273.14]));
    assert_eq!(json["attrs"], serde_json::json!({"units": "K"}));
    works(folder.path(), &["convert", "x.zarr", "x.csv", "--exclude", "time_bnds"]);
    let csv = fs::read_to_string(folder.path().join("x.csv")).expect("a file");
    assert!(csv.contains(late) && csv.contains("294.14") && csv.contains("2000-03-01"), "{csv}");
}

#[test]
fn a_missing_time_is_not_a_time_in_every_output() {
    let folder = folder();
    let at = folder.path();
    let query = |options: &[&str]| works(at, &[&["query", "x.zarr", "time"], options].concat());
    let late = 1_577_836_800_000_000_001_i64;
    assert_eq!(query(&["--format", "quiet"]), format!("0 {late} NaT\n"));
    assert!(query(&["--format", "table"]).ends_with(&format!("001\t{late}\nNaT\tNaT\n")));
    assert!(
        query(&[]).ends_with("[                  0 1577836800000000001                 NaT]\n")
    );
    let raw = query(&["--raw-values"]);
    assert!(raw.ends_with("1577836800000000001                  -1]\n"), "{raw}");
    let json: serde_json::Value = serde_json::from_str(&query(&["--json"])).expect("JSON");
    assert_eq!(json["result"]["values"], serde_json::json!([0, late, "NaT"]));
    let csv = "time\n1970-01-01T00:00:00.000000000\n2020-01-01T00:00:00.000000001\nNaT\n";
    assert_eq!(query(&["-o", "-", "--to", "csv"]), csv);
    query(&["-o", "time.csv"]);
    assert_eq!(fs::read_to_string(at.join("time.csv")).expect("a file"), csv);
    let plot = works(at, &["plot", "x.zarr", "time"]);
    assert!(plot.contains("1 NaN") && !plot.contains("-9"), "{plot}");
    // Positions that are taken one by one keep all digits.
    let taken = works(at, &["query", "x.zarr", "time[[1,2]]", "--format", "quiet"]);
    assert_eq!(taken, format!("{late} NaT\n"));
}

#[test]
fn a_missing_time_has_no_distance() {
    let folder = folder();
    let at = folder.path();
    let other = self::folder();
    fs::rename(other.path().join("x.zarr"), at.join("y.zarr")).expect("a folder");
    let times = bytes([0, -1, 5], i64::to_le_bytes);
    let units = r#""units": "nanoseconds since 1970-01-01", "_FillValue": -1"#;
    let (dtype, shape, dims) = ("int64", "3", "\"time\"");
    let time = ZarrArray { name: "time", dtype, shape, dims, bytes: times, attrs: units };
    write(&at.join("y.zarr"), time);
    let (exit, out, _) = run(at, &["diff", "x.zarr", "y.zarr", "time", "--json"]);
    assert_eq!(exit, Exit::No, "{out}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let values = &json["datasets"][0]["values"];
    assert_eq!((&values["differing"], &values["max_abs"]), (&2.into(), &serde_json::Value::Null));
    assert_eq!(
        values["first"]["values"],
        serde_json::json!([1_577_836_800_000_000_001_i64, "NaT"])
    );
    assert_eq!(values["change"]["unmeasured"], 2);
}

/// The outputs that hold numbers, and whether they get stored ones.
const OUTPUTS: [(&str, bool); 10] = [
    ("x.nc", true),
    ("x.nc3", true),
    ("x.h5", true),
    ("y.zarr", true),
    ("x.tet", true),
    ("x.zt", true),
    ("x.tgm", true),
    ("x.npz", false),
    ("x.safetensors", false),
    ("x.npy", false),
];

#[test]
fn files_get_stored_values_where_readers_decode_them() {
    let folder = folder();
    let at = folder.path();
    let convert = |output: &str, option: Option<&str>| {
        let mut args = vec!["convert", "x.zarr", output, "--force", "--dataset", "tas"];
        args.extend(option);
        let (exit, _, err) = run(at, &args);
        assert_eq!(exit, Exit::Done, "{args:?}: {err}");
        let one = if output == "x.npy" { vec!["x.npy"] } else { vec![output, "tas"] };
        let raw: Vec<&str> = ["cat"].into_iter().chain(one).chain(["--raw-values"]).collect();
        (works(at, &raw).trim_end().to_owned(), err)
    };
    let (decoded, stored) = ("[   nan 294.14 273.14]", "[-32768   2099     -1]");
    for (output, is_stored) in OUTPUTS {
        let (values, err) = convert(output, None);
        assert_eq!(values, if is_stored { stored } else { decoded }, "{output}");
        let note = "decoded (_FillValue, add_offset, scale_factor)";
        assert_eq!(err.contains(note), !is_stored, "{output}: {err}");
        assert_eq!(convert(output, Some("--raw-values")).0, stored, "{output}");
        assert_eq!(convert(output, Some("--decoded")).0, decoded, "{output}");
        // Nothing decodes decoded values again.
        let one = if output == "x.npy" { vec!["x.npy"] } else { vec![output, "tas"] };
        let again: Vec<&str> = ["cat"].into_iter().chain(one).collect();
        assert_eq!(works(at, &again).trim_end(), decoded, "{output}");
    }
    for (output, is_stored) in OUTPUTS {
        works(at, &["cat", "x.zarr", "tas", "-o", output, "--force"]);
        let one = if output == "x.npy" { vec!["x.npy"] } else { vec![output, "tas"] };
        let raw: Vec<&str> = ["cat"].into_iter().chain(one).chain(["--raw-values"]).collect();
        assert_eq!(
            works(at, &raw).trim_end(),
            if is_stored { stored } else { decoded },
            "{output}"
        );
    }
    // The coordinates go along as they are stored, too.
    let time = works(at, &["cat", "x.nc", "time", "--raw-values"]);
    assert_eq!(time.trim_end(), "[                  0 1577836800000000001                  -1]");
}

#[test]
fn integers_and_times_do_not_become_floats() {
    let folder = folder();
    let at = folder.path();
    works(at, &["convert", "x.zarr", "x.npz"]);
    for (name, values) in [
        ("count", "[         1         -2 2147483647]"),
        ("byte", "[  0 255   7]"),
        ("time", "[                   0  1577836800000000001 -9223372036854775808]"),
        ("neg", "[-0.   nan  1.5]"),
    ] {
        assert_eq!(works(at, &["cat", "x.npz", name]).trim_end(), values, "{name}");
    }
    // Labels of a time axis whose values are masked find their positions exactly.
    let one = "tas[time=\"2020-01-01T00:00:00.000000001\"]";
    assert_eq!(works(at, &["cat", "x.zarr", one]).trim_end(), "294.14");
    works(at, &["convert", "x.zarr", "y.nc", "--decoded"]);
    works(at, &["diff", "x.zarr", "y.nc"]);
}

#[test]
fn a_packed_file_and_its_decoded_copy_are_equal() {
    let folder = folder();
    let at = folder.path();
    works(at, &["convert", "x.zarr", "stored.tet"]);
    works(at, &["convert", "x.zarr", "decoded.tet", "--decoded"]);
    let (exit, out, err) = run(at, &["diff", "stored.tet", "decoded.tet"]);
    assert_eq!((exit, out.as_str()), (Exit::Done, ""), "{err}");
    assert!(err.contains("scale_factor") && err.contains("decoded values are compared"), "{err}");
    let (exit, out, _) = run(at, &["diff", "stored.tet", "decoded.tet", "--raw-values"]);
    assert_eq!(exit, Exit::No);
    assert!(out.contains("scale_factor"), "{out}");
    // Bytes that are equal are other values where another scale decodes them.
    works(at, &["convert", "x.zarr", "scaled.tet", "--attr", "tas:scale_factor=0.02"]);
    let (exit, out, _) = run(at, &["diff", "stored.tet", "scaled.tet"]);
    assert_eq!(exit, Exit::No);
    assert!(out.contains("294.14") && out.contains("315.13"), "{out}");
    let (exit, _, err) = run(at, &["diff", "stored.tet", "stored.tet"]);
    assert_eq!((exit, err.contains("differ")), (Exit::Done, false), "{err}");
}

#[test]
fn inputs_of_other_packing_are_joined_by_their_decoded_values() {
    let folder = folder();
    let at = folder.path();
    let part = |select: &str, output: &str, scale: &str| {
        let attr = format!("tas:scale_factor={scale}");
        works(
            at,
            &["convert", "x.zarr", output, "--dataset", "tas", "-s", select, "--attr", &attr],
        );
    };
    part("time#0:1", "a.tet", "0.01");
    part("time#1:2", "b.tet", "1.0");
    let (exit, _, _) = run(at, &["convert", "a.tet", "b.tet", "ab.tet", "--concat", "time"]);
    assert_eq!(exit, Exit::Usage);
    works(at, &["convert", "a.tet", "b.tet", "ab.npz", "--concat", "time", "--dataset", "tas"]);
    assert_eq!(works(at, &["cat", "ab.npz", "tas"]).trim_end(), "[    nan 2372.15]");
}

#[test]
fn files_that_cannot_decode_grow_by_decoded_values() {
    let folder = folder();
    let at = folder.path();
    works(at, &["convert", "x.zarr", "x.npz", "--dataset", "tas", "--exclude", "time*"]);
    works(at, &["convert", "x.zarr", "y.tet", "--dataset", "tas", "--exclude", "time*"]);
    works(at, &["edit", "append", "x.npz", "y.tet", "--axis", "0"]);
    let grown = "[   nan 294.14 273.14    nan 294.14 273.14]";
    assert_eq!(works(at, &["cat", "x.npz", "tas"]).trim_end(), grown);
    works(at, &["edit", "append", "y.tet", "x.zarr", "--dataset", "tas", "--axis", "time"]);
    let stored = "[-32768   2099     -1 -32768   2099     -1]";
    assert_eq!(works(at, &["cat", "y.tet", "tas", "--raw-values"]).trim_end(), stored);
}
