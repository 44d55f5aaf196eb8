//! All JSON output matches `docs/reference/schema/`: answers of real commands, and failures.

use std::path::Path;

use jsonschema::Validator;
use serde_json::Value;
use tet_cli::Exit;
use tet_query::{Method, Op};

use crate::fixtures;

/// The schema of a member `schema` such as `tet.query/1`.
fn validator(name: &str) -> Validator {
    let file = format!("{}.json", name.replace('/', "."));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/schema").join(file);
    let text = std::fs::read_to_string(&path).expect("a schema");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    assert!(jsonschema::meta::is_valid(&schema), "{name} is no schema");
    jsonschema::validator_for(&schema).expect("a schema that compiles")
}

/// A directory of files, and the schema of the answers.
struct Env {
    folder: tempfile::TempDir,
    validator: Validator,
    errors: Validator,
}

impl Env {
    fn new(schema: &str) -> Env {
        let folder = tempfile::tempdir().expect("a folder");
        fixtures::make(folder.path());
        Env { folder, validator: validator(schema), errors: validator("tet.error/1") }
    }

    fn run(&self, args: &[&str]) -> (Exit, String, String) {
        fixtures::tet_in(self.folder.path(), args)
    }

    /// The answer of a command; it must match the schema.
    fn answer(&self, args: &[&str]) -> Value {
        let (exit, out, err) = self.run(args);
        assert_eq!((exit, err.as_str()), (Exit::Done, ""), "{args:?}");
        conforms(&self.validator, &out, args)
    }

    /// The failure of a command; it must match the schema.
    fn failure(&self, args: &[&str]) -> (Exit, Value) {
        let (exit, out, err) = self.run(args);
        assert_eq!((out.as_str(), err.lines().count()), ("", 1), "{args:?}: {err}");
        (exit, conforms(&self.errors, &err, args))
    }
}

fn conforms(validator: &Validator, text: &str, args: &[&str]) -> Value {
    let value: Value = serde_json::from_str(text).expect("JSON");
    let faults: Vec<String> = validator
        .iter_errors(&value)
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{args:?}\n{faults:#?}\n{text}");
    value
}

/// The value of an operation's key in a document, without axes.
fn bare(op: Op) -> String {
    match op {
        Op::Quantile => r#"{"q": [0.25, 0.5]}"#.to_owned(),
        Op::Histogram => r#"{"bins": 4, "min": 0, "max": 3}"#.to_owned(),
        Op::NullCount => r#"{"fill": 1}"#.to_owned(),
        Op::Covariance | Op::Correlation => r#"{"axis": 0}"#.to_owned(),
        _ => "[]".to_owned(),
    }
}

#[test]
fn every_operation_answers_what_the_schema_says() {
    let env = Env::new("tet.query/1");
    for &op in Op::ALL {
        let matrix = matches!(op, Op::Covariance | Op::Correlation);
        for dataset in ["grid", "gappy", "large"] {
            if matrix && dataset != "grid" {
                continue;
            }
            let name = op.name();
            let document = format!(r#"{{"dataset": "{dataset}", "{name}": {}}}"#, bare(op));
            let answer = env.answer(&["query", "numbers.tet", &document, "--json"]);
            assert_eq!(answer["result"]["op"], name);
            assert!(answer["plan"]["chunks"].is_u64());
        }
    }
}

#[test]
fn every_form_answers_what_the_schema_says() {
    let env = Env::new("tet.query/1");
    let forms: [&[&str]; 14] = [
        &["--mean", "0"],
        &["--arg-max", "1"],
        &["--arg-min"],
        &["--median", "0"],
        &["--quantile", "0.5", "--over", "1"],
        &["--quantile", "0.1,0.9", "--over", "1"],
        &["--histogram", "3", "--range", "2:9"],
        &["--histogram", "3", "--over", "1"],
        &["--sum", "--group-by", "0"],
        &["--mean", "--window", "1:3"],
        &["--max", "--rolling", "1:2", "--pad", "0"],
        &["--mean", "--where", "gt 100"],
        &["--min", "--where", "ge 2, lt 7", "--min-count", "1", "--window", "0:2"],
        &["--align", "grid:0,1"],
    ];
    for form in forms {
        let args = [&["query", "numbers.tet", "grid", "--json"], form].concat();
        let answer = env.answer(&args);
        let shape = answer["result"]["shape"].as_array().expect("a shape");
        let count: u64 = shape.iter().filter_map(Value::as_u64).product();
        match answer["result"]["values"].as_array() {
            Some(values) => assert_eq!(values.len() as u64, count, "{form:?}"),
            None => assert!(shape.is_empty(), "{form:?}"),
        }
    }
    env.answer(&["query", "climate.tet", "temp", "--mean", "--group-by-labels", "month", "--json"]);
    env.answer(&["query", "climate.tet", "temp", "--max", "--label-filter", "month=3", "--json"]);
}

#[test]
fn places_have_a_position_for_each_axis() {
    let env = Env::new("tet.query/1");
    let cells: [(&[&str], &[u64], u64); 5] = [
        (&["lat,lon", "--window", "month:5"], &[0, 1, 2], 11_494),
        (&["lat", "--rolling", "month:12", "-s", "lon#34:35"], &[0, 1], 191),
        (&["lon", "--group-by-labels", "month", "-s", "lat#11"], &[0, 2], 334),
        (&["month", "--label-filter", "lat=51", "-s", "lon#0:3"], &[0], 7),
        (&["lat,lon", "--group-by", "month"], &[1, 2], 694),
    ];
    for (cells, axes, value) in cells {
        let args = [&["query", "climate.tet", "temp", "--json", "--arg-max"], cells].concat();
        let answer = env.answer(&args);
        let result = &answer["result"];
        assert_eq!(result["axes"], serde_json::json!(axes), "{args:?}");
        let values = result["values"].as_array().expect("cells").iter().map(Value::as_u64);
        assert!(values.clone().any(|found| found == Some(value)), "{args:?}: {result}");
        for place in result["places"].as_array().expect("places") {
            assert_eq!(place.as_array().map(Vec::len), Some(axes.len()), "{args:?}");
        }
    }
}

#[test]
fn arrays_answer_what_the_schema_says() {
    let env = Env::new("tet.query/1");
    env.answer(&["query", "numbers.tet", "gappy[0]", "--json"]);
    let answer = env.answer(&["query", "climate.tet", "temp", "--json", "--preview", "5"]);
    assert_eq!(answer["result"]["truncated"], true);
    env.answer(&["query", "numbers.tet", "gappy", "--where", "gt 2", "--json"]);
    for method in Method::ALL {
        for over in [&[][..], &["--over", "0"]] {
            let args = ["query", "numbers.tet", "grid", "--json", "--transform", method.name()];
            let answer = env.answer(&[&args, over].concat());
            assert_eq!(answer["result"]["op"], method.name());
        }
    }
    for name in ["out.npy", "out.raw", "out.tet"] {
        let args = ["query", "numbers.tet", "grid", "--json", "--transform", "center", "-o", name];
        let answer = env.answer(&args);
        let written = &answer["result"]["written"];
        let len = std::fs::metadata(env.folder.path().join(name)).expect("a file").len();
        assert_eq!((written["path"].as_str(), written["bytes"].as_u64()), (Some(name), Some(len)));
    }
}

#[test]
fn files_are_described_as_the_schema_says() {
    let env = Env::new("tet.info/1");
    let tet = ["climate.tet", "numbers.tet", "hostile.tet"];
    for file in tet.into_iter().chain(["model.safetensors", "fp8.safetensors", "sparse.zt"]) {
        env.answer(&["info", file, "--json"]);
        env.answer(&["info", file, "--json", "--all"]);
    }
    let keys = env.answer(&["info", "mixed.tgm", "--json", "--keys", "name,mars.param,run,units"]);
    let wanted =
        serde_json::json!({"name": "t2m", "mars.param": "2t", "run": 20_260_424, "units": null});
    assert_eq!(keys["datasets"][0]["keys"], wanted);
    assert!(keys["datasets"][1]["keys"]["mars.param"].is_null());
    let monthly = env.answer(&["info", "monthly.nc", "--json"]);
    let time = serde_json::json!({
        "name": "time", "len": 24, "first": "2000-01-01", "last": "2001-12-01",
        "units": "days since 2000-01-01", "calendar": "standard", "steps": "monthly",
    });
    assert_eq!(monthly["axes"][0], time);
    // Axes of the datasets that are listed alone, whose coordinates are not listed.
    let alone = env.answer(&["info", "monthly.nc", "lat", "--json"]);
    assert_eq!(alone["axes"].as_array().map(Vec::len), Some(1));
    assert_eq!(alone["axes"][0]["last"], "-60");
    let attrs = ["convert", "monthly.nc", "odd.nc", "--attr"];
    let (exit, ..) = env.run(&[&attrs[..], &["time:units=months since 2000-01-01"]].concat());
    assert_eq!(exit, Exit::Done);
    let odd = env.answer(&["info", "odd.nc", "--json"]);
    let why = odd["axes"][0]["why"].as_str().unwrap_or_default();
    assert!(why.starts_with("the unit of \"months since 2000-01-01\" is not understood"), "{why}");
    assert_eq!((&odd["axes"][0]["last"], &odd["axes"][0]["steps"]), (&"700".into(), &Value::Null));
}

#[test]
fn several_files_and_folders_are_listed_one_after_another() {
    let env = Env::new("tet.info/1");
    let titles = |args: &[&str]| {
        let (exit, out, err) = env.run(args);
        assert_eq!((exit, err.as_str()), (Exit::Done, ""), "{args:?}");
        let titles = out.lines().filter(|line| !line.is_empty() && !line.starts_with(' '));
        titles.filter_map(|line| line.split("  ").next()).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        titles(&["info", "climate.tet", "monthly.nc", "lat"]),
        ["climate.tet", "monthly.nc"]
    );
    assert_eq!(titles(&["climate.tet", "monthly.nc"]), ["climate.tet", "monthly.nc"]);
    let folder = env.folder.path().join("year");
    std::fs::create_dir(&folder).expect("a folder");
    for name in ["monthly.nc", "climate.tet", "notes.txt"] {
        std::fs::copy(env.folder.path().join(name), folder.join(name)).expect("a copy");
    }
    assert_eq!(titles(&["info", "year"]), ["year/climate.tet", "year/monthly.nc"]);
    // The name of a dataset is no file.
    std::fs::write(env.folder.path().join("temp"), "").expect("a file");
    assert_eq!(titles(&["info", "climate.tet", "temp"]), ["climate.tet"]);
    let (exit, out, err) = env.run(&["info", "climate.tet", "missing.nc"]);
    assert_eq!((exit, out.lines().count() > 5), (Exit::Environment, true), "{err}");
    assert!(err.contains("missing.nc: No such file"), "{err}");
    let (exit, _, err) = env.run(&["info", "climate.tet", "tmep"]);
    assert_eq!((exit, err.contains("did you mean \"temp\"")), (Exit::Usage, true), "{err}");
}

#[test]
fn latitudes_that_count_alike_are_a_note() {
    let env = Env::new("tet.query/1");
    let warnings = |args: &[&str]| {
        let answer = env.answer(&[&["query", "monthly.nc", "t2m", "--json"], args].concat());
        let texts = answer["warnings"].as_array().cloned().unwrap_or_default();
        texts.iter().filter(|it| it.as_str().is_some_and(|it| it.contains("all rows"))).count()
    };
    for reduction in
        [&["--mean"][..], &["--std", "lat,lon"], &["--quantile", "0.5", "--over", "lat"]]
    {
        assert_eq!(warnings(reduction), 1, "{reduction:?}");
    }
    let others = [&["--max"][..], &["--mean", "time"], &["--mean", "--group-by-labels", "lat"]];
    for reduction in others.into_iter().chain([&["--mean", "-s", "lat=60"][..]]) {
        assert_eq!(warnings(reduction), 0, "{reduction:?}");
    }
    // A name without units is no latitude.
    let named = env.answer(&["query", "climate.tet", "temp", "--mean", "lat", "--json"]);
    assert_eq!(named["warnings"].as_array().map(Vec::len), Some(0));
    let (exit, out, err) = env.run(&["query", "monthly.nc", "t2m", "--mean", "-q"]);
    assert_eq!((exit, out.lines().count(), err.as_str()), (Exit::Done, 1, ""));
    let (_, _, err) = env.run(&["query", "monthly.nc", "t2m", "--mean"]);
    assert!(err.starts_with("note: the mean over lat counts all rows alike"), "{err}");
}

#[test]
fn explanations_are_what_the_schema_says() {
    let env = Env::new("tet.explain/1");
    for form in [&[][..], &["--mean", "0"], &["--median"], &["--transform", "zscore"]] {
        env.answer(&[&["explain", "numbers.tet", "grid", "--json"], form].concat());
    }
    let advised = env.answer(&["explain", "climate.tet", "temp[:, 0, 0]", "--json"]);
    assert_eq!(advised["advice"][0]["code"], "amplification");
    env.answer(&["explain", "climate.tet", "temp", "--json", "--plan-chunks"]);
    env.answer(&["explain", "numbers.tet", "grid", "--align", "grid:0", "--json"]);
}

#[test]
fn statistics_are_what_the_schema_says() {
    let env = Env::new("tet.stats/1");
    let all = env.answer(&["stats", "numbers.tet", "--json"]);
    let gappy = &all["datasets"][1];
    assert_eq!((&gappy["nan_count"], &gappy["inf_count"]), (&Value::from(1), &Value::from(1)));
    let quick = env.answer(&["stats", "climate.tet", "temp", "--json", "--no-quartiles"]);
    assert!(quick["datasets"][0].get("quartiles").is_none());
    let only = env.answer(&["stats", "numbers.tet", "--json", "--only", "nan,inf"]);
    assert_eq!(only["datasets"][0]["first_nan"], serde_json::json!([1]));
    assert_eq!(only["datasets"][0]["first_inf"], serde_json::json!([3]));
    let empty = env.answer(&["stats", "numbers.tet", "gappy[0:0]", "--json"]);
    assert!(empty["datasets"][0]["min"].is_null());
}

#[test]
fn conversions_are_what_the_schema_says() {
    let env = Env::new("tet.convert/1");
    env.answer(&["convert", "climate.npz", "out.tet", "--json"]);
    env.answer(&["convert", "numbers.tet", "out.npz", "--json"]);
    env.answer(&["convert", "numbers.tet", "out.npy", "--dataset", "grid", "--json"]);
    env.answer(&["convert", "numbers.tet", "one.zt", "--json"]);
    env.answer(&["convert", "--merge", "one.zt", "climate.tet", "two.zt", "--json", "-q"]);
    let args = ["convert", "climate.tet", "out.csv", "--dataset", "temp", "--json", "-q"];
    let report = env.answer(&args);
    assert_eq!(report["datasets"][0]["name"], "temp");
    assert!(report["notes"].as_array().is_some_and(|notes| !notes.is_empty()));
}

#[test]
fn references_are_what_the_schema_says() {
    let env = Env::new("tet.refs/1");
    let args = ["refs", "climate.tet", "-o", "climate.json", "--json", "--edges"];
    let report = env.answer(&[&args[..], &["inline"]].concat());
    let names = (&report["inputs"][0], &report["output"]);
    assert_eq!(names, (&"climate.tet".into(), &"climate.json".into()));
    assert!(0 < report["array_count"].as_u64().unwrap() && report.get("sidecar").is_none());
    env.answer(&[&args[..], &["sidecar", "--force"]].concat());
    let (exit, failure) = env.failure(&["refs", "climate.tet", "--json"]);
    assert_eq!((exit, &failure["code"]), (Exit::Usage, &"options".into()));
}

#[test]
fn edits_are_what_the_schema_says() {
    let env = Env::new("tet.edit/1");
    let renamed = env.answer(&["edit", "rename", "climate.tet", "temp=t2m", "--json", "-q"]);
    assert_eq!(renamed["edits"][0]["to"], "t2m");
    let dropped = env.answer(&["edit", "drop", "climate.tet", "elevation", "--json", "--dry-run"]);
    assert_eq!(dropped["dry_run"], true);
    assert!(!dropped["kept"].as_array().is_some_and(|kept| kept.contains(&"elevation".into())));
    env.answer(&["edit", "set", "climate.tet", "title=x", "--dims", "t2m=a,b,c", "--json"]);
    let args = ["edit", "append", "climate.npz", "climate.npz", "--axis", "0", "--dataset", "temp"];
    let grown = env.answer(&[&args[..], &["--json"]].concat());
    assert_eq!(grown["edits"][0]["extents"], serde_json::json!([12, 24]));
    let file_len = grown["kept_len"].as_u64().zip(grown["written_len"].as_u64());
    assert_eq!(file_len.map(|(kept, written)| kept + written), grown["file_len"].as_u64());
    let args = ["edit", "repack", "climate.npz", "--codec", "temp=raw", "--json"];
    let repacked = env.answer(&args);
    assert_eq!(
        (&repacked["edits"][0]["kind"], &repacked["edits"][0]["dataset"]),
        (&"repack".into(), &"temp".into())
    );
    let again = env.answer(&[&args[..], &["--dry-run"]].concat());
    assert_eq!((&again["edits"], again.get("file_len")), (&serde_json::json!([]), None));
    env.answer(&["edit", "compact", "climate.tet", "--json"]);
    let (exit, failure) = env.failure(&["edit", "drop", "climate.tet", "none", "--json"]);
    assert_eq!((exit, &failure["code"]), (Exit::Usage, &"no-such-dataset".into()));
}

#[test]
fn checks_are_what_the_schema_says() {
    let env = Env::new("tet.verify/1");
    let quick = env.answer(&["verify", "climate.tet", "--json", "--quick"]);
    assert_eq!((&quick["level"], &quick["payload_len"]), (&"structure".into(), &0.into()));
    assert_eq!(quick["data_checked"], false);
    let sound = env.answer(&["verify", "climate.tet", "--json"]);
    assert_eq!((&sound["level"], &sound["payload_len"]), (&"deep".into(), &sound["stored_len"]));
    assert_eq!(sound["data_checked"], true);
    assert_eq!(env.answer(&["verify", "climate.tet", "--json", "--deep"]), sound);
    for args in [
        &["rotten.tet"][..],
        &["truncated.tet"],
        &["footless.tet", "--quick"],
        &["hostile.tet", "--strict"],
        &["cut.safetensors"],
        &["fp8.safetensors"],
    ] {
        let args = [&["verify", "--json"], args].concat();
        let (exit, out, err) = env.run(&args);
        assert_eq!((exit, err.as_str()), (Exit::No, ""), "{args:?}");
        assert_eq!(conforms(&env.validator, &out, &args)["ok"], false);
    }
}

#[test]
fn what_is_left_of_a_damaged_file_comes_with_a_failure() {
    let damaged: [(&str, &[&str], &str); 3] = [
        ("tet.stats/1", &["stats", "rotten.tet", "--json"], "TET-G6"),
        ("tet.info/1", &["info", "footless.tet", "--json"], "TET-H2"),
        ("tet.stats/1", &["stats", "fp8.safetensors", "--json"], "ST-T2"),
    ];
    for (schema, args, code) in damaged {
        let env = Env::new(schema);
        let (exit, out, err) = env.run(args);
        assert_eq!((exit, err.lines().count()), (Exit::Format, 1), "{args:?}: {err}");
        conforms(&env.validator, &out, args);
        let failure = conforms(&env.errors, &err, args);
        assert_eq!((&failure["code"], &failure["file"]), (&code.into(), &args[1].into()));
    }
}

#[test]
fn a_name_that_is_not_there_comes_with_those_that_are() {
    let env = Env::new("tet.query/1");
    for command in ["query", "stats", "explain"] {
        let (exit, failure) = env.failure(&[command, "numbers.tet", "grd", "--json"]);
        assert_eq!((exit, &failure["code"]), (Exit::Usage, &"no-such-dataset".into()));
        assert_eq!(failure["where"]["dataset"], "grd");
        assert_eq!(failure["datasets"], serde_json::json!(["grid", "gappy", "large"]));
    }
    let (_, failure) = env.failure(&["query", "numbers.tet", "--json"]);
    assert_eq!(failure["datasets"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_document_that_is_no_text_names_its_file() {
    let env = Env::new("tet.query/1");
    let long = vec![b' '; (1 << 20) + 1];
    let marked = b"\xef\xbb\xbf{\"dataset\": \"grid\", \"sum\": []}";
    for (name, content) in [("bytes.json", &b"{\xff}"[..]), ("long.json", &long)] {
        std::fs::write(env.folder.path().join(name), content).expect("a file");
        let (_, failure) = env.failure(&["query", "numbers.tet", name, "--json"]);
        assert_eq!((&failure["code"], &failure["file"]), (&"document".into(), &name.into()));
    }
    std::fs::write(env.folder.path().join("marked.json"), marked).expect("a file");
    assert_eq!(
        env.answer(&["query", "numbers.tet", "marked.json", "--json"])["result"]["values"],
        66
    );
}

#[test]
fn every_kind_of_failure_is_what_the_schema_says() {
    let env = Env::new("tet.query/1");
    let failures: [(Exit, &str, &[&str]); 13] = [
        (Exit::Usage, "usage", &["query", "climate.tet", "temp", "--nonsense"]),
        (Exit::Usage, "usage", &["query", "climate.tet", "tmep"]),
        (Exit::Usage, "usage", &["query", "climate.tet", "temp", "--mean", "heigth"]),
        (Exit::Usage, "usage", &["query", "climate.tet", "temp[0:99]"]),
        (Exit::Usage, "usage", &["query", "climate.tet", r#"{"dataset": "temp", "maen": 1}"#]),
        (Exit::Usage, "usage", &["explain", "climate.tet", "{\"dataset\": 1}"]),
        (Exit::Format, "format", &["query", "rotten.tet", "temp", "--mean"]),
        (Exit::Format, "format", &["stats", "truncated.tet"]),
        (Exit::Unsupported, "unsupported", &["info", "notes.txt"]),
        (Exit::Format, "format", &["info", "empty.tet"]),
        (Exit::Limit, "limit", &["query", "climate.tet", "temp", "--mean", "--memory", "1KiB"]),
        (Exit::Environment, "io", &["query", "missing.tet", "temp"]),
        (Exit::Environment, "io", &["explain", "folder", "temp"]),
    ];
    for (exit, kind, args) in failures {
        let (found, failure) = env.failure(&[args, &["--json"]].concat());
        assert_eq!((found, failure["kind"].as_str()), (exit, Some(kind)), "{args:?}: {failure}");
    }
    let document = env.failure(&["query", "climate.tet", r#"{"dataset": 1}"#, "--json"]).1;
    assert_eq!((&document["where"]["line"], &document["where"]["column"]), (&1.into(), &13.into()));
    let formatted = ["query", "missing.tet", "temp", "--format", "json"];
    assert_eq!(env.failure(&formatted).1["code"], "not-found");
}

#[test]
fn decoded_values_are_described() {
    let env = Env::new("tet.query/1");
    let packed = ["convert", "climate.npz", "packed.tet", "--attr", "elevation:scale_factor=0.5"];
    assert_eq!(
        env.run(&[&packed[..], &["--attr", "elevation:_FillValue=0"]].concat()).0,
        Exit::Done
    );
    let answer = env.answer(&["query", "packed.tet", "elevation", "--mean", "--json"]);
    let decoded = &answer["dataset"]["decoded"];
    assert_eq!(decoded["stored"], "int16");
    assert_eq!((&decoded["scale"], &decoded["offset"]), (&Value::from(0.5), &Value::Null));
    assert_eq!(decoded["masked"], serde_json::json!(["_FillValue"]));
    let raw = ["query", "packed.tet", "elevation", "--mean", "--json", "--raw-values"];
    assert!(env.answer(&raw)["dataset"].get("decoded").is_none());
    let explain = Env { validator: validator("tet.explain/1"), ..env };
    let _ = explain.answer(&["explain", "packed.tet", "elevation", "--mean", "--json"]);
}

#[test]
fn differences_are_what_the_schema_says() {
    let env = Env::new("tet.diff/1");
    let same = env.answer(&["diff", "climate.tet", "climate.tet", "--json"]);
    assert_eq!(same["same"], true);
    let differs = |args: &[&str]| {
        let args = [&["diff", "before.csv", "after.csv", "--json"], args].concat();
        let (exit, out, _) = env.run(&args);
        assert!(matches!(exit, Exit::No), "{args:?}: {exit:?}");
        conforms(&env.validator, &out, &args)
    };
    let all = differs(&[]);
    assert_eq!(all["only"], serde_json::json!([["old"], ["new"]]));
    for args in
        [&["wind"][..], &["rain"], &["kind"], &["station"], &["--quick"], &["--nan-differs"]]
    {
        differs(args);
    }
    let (exit, failure) = env.failure(&["diff", "before.csv", "after.csv", "nothing", "--json"]);
    assert_eq!((exit, &failure["code"]), (Exit::Usage, &Value::from("no-such-dataset")));
}

#[test]
fn arrays_match_their_schema() {
    let env = Env::new("tet.array/1");
    for args in [
        &["cat", "climate.tet", "temp[0:2, :3]", "--format", "json"][..],
        &["cat", "climate.tet", "temp[0, 0, 0]", "-o", "-", "--to", "json"],
        &["cat", "rain.csv", "station", "--format", "json"],
        &["query", "climate.tet", "temp", "--mean", "lat,lon", "-o", "-", "--to", "json"],
        &["query", "climate.tet", "temp", "--histogram", "4", "-o", "-", "--to", "json"],
    ] {
        env.answer(args);
    }
    let args = ["cat", "climate.tet", "temp[:, 0, 0]", "--format", "json"];
    let value = env.answer(&args);
    assert_eq!(value["dims"], serde_json::json!(["month"]));
    assert_eq!(value["coords"][0].as_array().map(Vec::len), Some(12));
    assert_eq!(value["attrs"]["units"], "degC");
}

/// Chunks that are not read because of their statistics are reported, in text and in JSON, by `explain` and by the answer.
#[test]
fn answers_tell_what_rests_on_statistics() {
    let env = Env::new("tet.query/1");
    let (rows, row_len) = (64, 8192);
    let elements = (0..rows * row_len).flat_map(|at: u32| (at as f32).to_le_bytes());
    let dict =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {row_len}), }}\n");
    let mut npy = b"\x93NUMPY\x01\0".to_vec();
    npy.extend(u16::try_from(dict.len()).unwrap().to_le_bytes());
    npy.extend(dict.bytes().chain(elements));
    std::fs::write(env.folder.path().join("big.npy"), npy).unwrap();
    let done = |line: &str| {
        let args: Vec<&str> = line.split(' ').collect();
        let (exit, out, err) = env.run(&args);
        assert_eq!(exit, Exit::Done, "{line}: {err}");
        out
    };
    let json = |line: &str, schema: &Validator| {
        let value: Value = serde_json::from_str(&done(line)).unwrap();
        assert!(schema.is_valid(&value), "{line}: {value}");
        value
    };
    done("convert big.npy big.tet --codec raw --chunks 1,8192");
    done("convert big.npy bare.tet --codec raw --chunks 1,8192 --no-stats");
    let explain = validator("tet.explain/1");
    for (stats, wanted, integrity) in [
        ("verified", Some(true), "verified"),
        ("trust", Some(false), "unchecked"),
        ("never", None, "verified"),
    ] {
        let line = format!("query big.tet --max --json --stats {stats}");
        let found = json(&line, &env.validator);
        assert_eq!(found["result"]["values"], 524_287.0);
        assert_eq!(found["integrity"], integrity, "{stats}");
        let used = wanted
            .map(|checked| serde_json::json!({"answered": 64, "skipped": 0, "checked": checked}));
        assert_eq!(found["result"].get("statistics"), used.as_ref(), "{stats}");
        let line = format!("explain big.tet --max --json --stats {stats}");
        let plan = json(&line, &explain);
        assert_eq!(plan.get("statistics"), used.as_ref(), "{stats}");
        assert_eq!(plan["plan"]["stored_len"] == 0, used.is_some(), "{stats}");
    }
    assert!(done("query big.tet --max").contains("64 chunks answered from statistics"));
    assert!(done("explain big.tet --max").contains("64 of 64 chunks answered, 0 skipped, 0 read"));
    let always = json("query big.tet --max --json --digests always", &env.validator);
    assert!(always["result"].get("statistics").is_none(), "all chunks are compared");
    let bare = json("query bare.tet --max --json", &env.validator);
    assert!(bare["result"].get("statistics").is_none());
    done("edit repack bare.tet --digests");
    let added = json("query bare.tet --max --json", &env.validator);
    assert_eq!(added["result"]["statistics"]["answered"], 64);
    for file in ["big.tet", "bare.tet"] {
        done(&format!("verify --deep {file}"));
    }
    // Rows that are appended have statistics too, and those that stay keep theirs.
    done("edit append big.tet big.npy --axis 0 -o both.tet");
    let both = json("query both.tet --max --json", &env.validator);
    assert_eq!(both["result"]["statistics"]["answered"], 128);
    done("verify --deep both.tet");
}
