//! Folders of parts: what they read as, how they grow, and what of them is refused.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};

use tet_convert::{
    AxisAppend, ChunkChoice, ChunkRule, ConvertOptions, EditOptions, Error, OpenOptions,
    PayloadCodec, append, concat, convert, open, remove_unused_parts, series_parts, unused_parts,
    verify,
};
use tet_file::metadata::{AttrValue, DatasetMetadata, Metadata};
use tet_file::write::{ChunkAt, CodecChoice, DatasetSpec, WriteOptions, Writer, ZeroExtents};
use tet_format::DType;
use tet_io::Source;
use tet_query::{Execution, Hyperslab};
use tet_verify::Severity;

/// A file of rows `from..to` of a series: `temp` and `time` have the axis `time`, `lat` has not.
struct Rows {
    from: u64,
    to: u64,
    /// The axis of `temp`.
    axis: usize,
    /// Rows of a chunk of `temp`, and of `time`.
    chunks: [u64; 2],
    codec: PayloadCodec,
    labels: bool,
}

const COLUMNS: u64 = 3;

impl Rows {
    fn new(from: u64, to: u64) -> Rows {
        Rows { from, to, axis: 0, chunks: [4, 7], codec: PayloadCodec::Raw, labels: true }
    }

    fn write(&self, path: &Path) -> PathBuf {
        self.write_with(path, &[("lat", 40)])
    }

    /// Writes the file with these datasets that do not grow, each with its first number.
    fn write_with(&self, path: &Path, others: &[(&str, i32)]) -> PathBuf {
        let rows = self.to - self.from;
        let along =
            |row: u64, column: u64| if self.axis == 0 { [row, column] } else { [column, row] };
        let mut specs = vec![
            DatasetSpec::new(
                "temp",
                DType::Int32,
                &along(rows, COLUMNS)[..],
                &along(self.chunks[0], 2)[..],
            ),
            DatasetSpec::new("time", DType::Int32, &[rows][..], &[self.chunks[1]][..]),
        ];
        specs.extend(others.iter().map(|(name, _)| {
            DatasetSpec::new(*name, DType::Int32, &[COLUMNS][..], &[COLUMNS][..])
        }));
        let options = WriteOptions {
            encoder: match self.codec {
                PayloadCodec::Raw => CodecChoice::Raw,
                _ => CodecChoice::Zstd { level: 3 },
            },
            zero_extents: ZeroExtents::Allow,
            ..WriteOptions::default()
        };
        let mut writer = Writer::create(path, specs.clone(), &options).unwrap();
        let mut metadata = Metadata::new();
        for (id, spec) in specs.iter().enumerate() {
            let fill = &mut |chunk: ChunkAt<'_>, out: &mut Vec<u8>| {
                let origin: Vec<u64> = chunk
                    .coord
                    .iter()
                    .zip(spec.chunk_shape.iter())
                    .map(|(at, len)| at * len)
                    .collect();
                for at in 0..chunk.extents.iter().product::<u64>() {
                    let value = match id {
                        0 => {
                            let inner = chunk.extents[1];
                            let at = [origin[0] + at / inner, origin[1] + at % inner];
                            let [row, column] = along(at[0], at[1]);
                            i32::try_from((self.from + row) * 100 + column).unwrap()
                        }
                        1 => i32::try_from(self.from + origin[0] + at).unwrap(),
                        other => others[other - 2].1 + i32::try_from(at).unwrap(),
                    };
                    out.extend(value.to_le_bytes());
                }
                Ok(())
            };
            writer.write_dataset(id, fill, &Default::default()).unwrap();
            let mut about = DatasetMetadata::default();
            let names = match id {
                0 => along(0, 1).map(|at| ["time", "lat"][at as usize].to_owned()).to_vec(),
                1 => vec!["time".to_owned()],
                _ => vec!["lat".to_owned()],
            };
            if self.labels && id == 0 {
                let labels = (self.from..self.to).map(|row| format!("r{row:02}")).collect();
                about.coords.insert("time".to_owned(), labels);
                let labels = (0..COLUMNS).map(|column| format!("c{column}")).collect();
                about.coords.insert("lat".to_owned(), labels);
            }
            about.dim_names = names;
            about.attrs.insert("units".to_owned(), AttrValue::from("K"));
            metadata.datasets.insert(spec.name.clone(), about);
        }
        writer.finish(&metadata, &[]).unwrap();
        path.to_path_buf()
    }
}

/// The chunk shapes of the datasets, whatever their extents.
fn chunked(rows: &Rows) -> ConvertOptions {
    let [temp, time] = rows.chunks;
    let shape = if rows.axis == 0 { vec![temp, 2] } else { vec![2, temp] };
    let rule = |name: &str, shape| ChunkRule {
        dataset: Some(name.to_owned()),
        chunks: ChunkChoice::Shape(shape),
    };
    let mut options = ConvertOptions::default();
    options.tet.chunks = vec![rule("temp", shape), rule("time", vec![time])];
    options.storage.codec = Some(rows.codec);
    options
}

fn grow(folder: &Path, inputs: &[PathBuf]) -> tet_convert::Result<u64> {
    let asked = AxisAppend { axis: "time", inputs, ..AxisAppend::default() };
    let report = append(folder, &asked, &EditOptions::default(), &Execution::default())?;
    Ok(report.file_len.unwrap_or(0))
}

/// All that is read: names, shapes, axes, labels, attributes, elements.
fn read(path: &Path) -> Vec<String> {
    let opened = open(path, &OpenOptions::default()).unwrap();
    let mut all = Vec::new();
    for dataset in opened.catalog.datasets() {
        let whole = Hyperslab::whole(dataset.shape());
        let bytes = dataset.read(&whole, &Execution::default()).unwrap().value.bytes().to_vec();
        let (name, dims, coords, attrs) =
            (&dataset.name, &dataset.dims, &dataset.coords, &dataset.attrs);
        all.push(format!("{name} {:?} {dims:?} {coords:?} {attrs:?} {bytes:?}", dataset.shape()));
    }
    all
}

fn check(path: &Path) -> Vec<String> {
    let source = Source::open(tet_convert::document_of(path)).unwrap();
    let report = verify(&source, &crate::common::deep()).unwrap();
    let findings = report.findings.iter().filter(|it| it.severity != Severity::Note);
    findings.map(ToString::to_string).collect()
}

#[test]
fn it_reads_as_the_file_of_all_rows_for_clipped_ends_of_every_length() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let zstd = PayloadCodec::Zstd;
    for (case, (first, second, third)) in
        (0..9).flat_map(|first| [(first, 1, 6), (first, 5, 1)]).enumerate()
    {
        let (axis, codec) = (case % 2, if case % 3 == 0 { zstd } else { PayloadCodec::Raw });
        let labels = case % 4 < 2;
        let ends = [0, first, first + second, first + second + third];
        let inputs: Vec<PathBuf> = ends
            .windows(2)
            .enumerate()
            .map(|(nth, ends)| {
                let rows = Rows { axis, codec, labels, ..Rows::new(ends[0], ends[1]) };
                rows.write(&at(&format!("{case}-{nth}.tet")))
            })
            .collect();
        let series = at(&format!("{case}.tets"));
        let options = chunked(&Rows { axis, codec, ..Rows::new(0, 0) });
        convert(&inputs[0], &series, &options).unwrap();
        assert_eq!(read(&series), read(&inputs[0]), "case {case}");
        grow(&series, &inputs[1..2]).unwrap();
        grow(&series, &inputs[2..]).unwrap();
        let one = at(&format!("{case}.tet"));
        concat(&inputs, "time", &one, &options).unwrap();
        assert_eq!(read(&series), read(&one), "case {case}");
        assert_eq!(check(&series), [""; 0], "case {case}");
        let back = at(&format!("{case}-back.tet"));
        convert(&series, &back, &ConvertOptions::default()).unwrap();
        assert_eq!(read(&back), read(&one), "case {case}");
        // Every part is a sound file of its own, and some rows are read alone.
        let opened = open(&series, &OpenOptions::default()).unwrap();
        let temp = opened.catalog.only_named("temp").unwrap();
        for row in 0..ends[3] {
            let mut ranges = [0..COLUMNS, 0..COLUMNS];
            ranges[axis] = row..row + 1;
            let slab = Hyperslab::whole(temp.shape()).part(&ranges);
            let bytes = temp.read(&slab, &Execution::default()).unwrap().value.bytes().to_vec();
            let wanted =
                (0..COLUMNS).flat_map(|column| ((row * 100 + column) as i32).to_le_bytes());
            assert_eq!(bytes, wanted.collect::<Vec<u8>>(), "case {case} row {row}");
        }
        for part in series_parts(&series).unwrap() {
            assert_eq!(check(&series.join(part.file)), [""; 0]);
        }
    }
}

#[test]
fn a_new_folder_is_made_and_the_parts_of_others_are_taken_over() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let inputs: Vec<PathBuf> =
        (0..6).map(|row| Rows::new(row, row + 1).write(&at(&format!("{row}.tet")))).collect();
    let series = at("s.tets");
    convert(&inputs[0], &series, &chunked(&Rows::new(0, 0))).unwrap();
    for input in &inputs[1..] {
        grow(&series, std::slice::from_ref(input)).unwrap();
    }
    let rows = |part: usize, name: &str| {
        let parts = series_parts(&series).unwrap();
        parts[part].rows.iter().find(|(dataset, _)| dataset == name).map(|it| it.1)
    };
    // Chunks are 4 and 7 rows long: the part of row 4 took nothing of `temp` over, and that of row 5 all of its.
    let parts = series_parts(&series).unwrap();
    assert_eq!(parts.len(), 3, "{parts:?}");
    assert_eq!(
        (rows(0, "temp"), rows(1, "temp"), rows(2, "temp")),
        (None, Some([0, 4]), Some([4, 6]))
    );
    assert_eq!(rows(2, "time"), Some([0, 6]));
    assert_eq!(unused_parts(&series).unwrap().len(), 3);
    fs::write(series.join("of-mine.tet"), "kept").unwrap();
    fs::write(series.join(".series.json.tet-0123456789abcdef.tmp"), "left").unwrap();
    let before = read(&series);
    assert_eq!(remove_unused_parts(&series).unwrap().len(), 4);
    assert_eq!(unused_parts(&series).unwrap(), []);
    assert!(series.join("of-mine.tet").exists());
    assert_eq!((read(&series), check(&series)), (before, Vec::new()));
    let busy = tet_io::FileLock::try_shared(&series.join("series.lock")).unwrap();
    assert!(matches!(remove_unused_parts(&series), Err(Error::Busy { .. })));
    drop(busy);
}

#[test]
fn what_does_not_continue_is_refused_and_nothing_changes() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let series = at("s.tets");
    let both = [Rows::new(0, 5).write(&at("0.tet")), Rows::new(5, 6).write(&at("1.tet"))];
    grow(&series, &both).unwrap();
    let before = (read(&series), fs::read(series.join("series.json")).unwrap());
    let next = Rows::new(6, 8);
    let wrong = [
        (
            next.write_with(&at("lat.tet"), &[("lat", 41)]),
            ["\"lat\" does not grow", "lat.tet", "s.tets"],
        ),
        (
            next.write_with(&at("new.tet"), &[("lat", 40), ("crs", 1)]),
            ["dataset \"crs\"", "new.tet", "s.tets"],
        ),
        (Rows::new(5, 8).write(&at("twice.tet")), ["repeats the label \"r05\"", "twice.tet", ""]),
        (
            Rows { labels: false, ..Rows::new(6, 8) }.write(&at("bare.tet")),
            ["has labels, and none", "bare.tet", ""],
        ),
        (Rows { axis: 1, ..next }.write(&at("turned.tet")), ["\"temp\" has the", "turned.tet", ""]),
    ];
    for (input, words) in wrong {
        let error = grow(&series, &[input]).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    }
    let inputs = [Rows::new(6, 8).write(&at("2.tet"))];
    let lat = AxisAppend { axis: "lat", inputs: &inputs, ..AxisAppend::default() };
    let error = append(&series, &lat, &EditOptions::default(), &Execution::default());
    assert!(error.unwrap_err().to_string().contains("grows along \"time\""));
    let elsewhere = AxisAppend {
        output: Some(&at("x.tets")),
        axis: "time",
        inputs: &inputs,
        ..AxisAppend::default()
    };
    append(&series, &elsewhere, &EditOptions::default(), &Execution::default()).unwrap_err();
    assert_eq!((read(&series), fs::read(series.join("series.json")).unwrap()), before);
    assert_eq!(unused_parts(&series).unwrap().len(), 0, "what failed leaves nothing");
    grow(&series, &inputs).unwrap();
}

/// A folder of three parts, of 4 rows each, and its manifest.
fn three_parts(root: &Path) -> (PathBuf, serde_json::Value) {
    let series = root.join("s.tets");
    for part in 0..3 {
        let rows = Rows { chunks: [4, 4], ..Rows::new(part * 4, part * 4 + 4) };
        grow(&series, &[rows.write(&root.join(format!("{part}.tet")))]).unwrap();
    }
    let manifest = serde_json::from_slice(&fs::read(series.join("series.json")).unwrap()).unwrap();
    (series, manifest)
}

/// The error of reading a folder, which is also the finding of a check.
fn refused(series: &Path, case: &str) -> String {
    let error = open(series, &OpenOptions::default()).map(drop).expect_err(case).to_string();
    let findings = check(series);
    let rules: Vec<&str> = findings.iter().filter_map(|it| it.split([' ', ':']).nth(1)).collect();
    assert!(rules.iter().any(|rule| error.contains(rule)), "{case}: {error}, {findings:?}");
    error
}

#[test]
fn parts_that_are_not_those_of_the_manifest_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let (series, manifest) = three_parts(root.path());
    let name = manifest["parts"][1]["file"].as_str().unwrap().to_owned();
    let path = series.join(&name);
    let bytes = fs::read(&path).unwrap();
    let other = fs::read(series.join(manifest["parts"][2]["file"].as_str().unwrap())).unwrap();
    assert_eq!(bytes.len(), other.len());
    let mut flipped = bytes.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for (case, changed, rule) in [
        ("foreign", Some(other), "TS-P6"),
        ("longer", Some([&bytes[..], b"x"].concat()), "TS-P4"),
        ("empty", Some(Vec::new()), "TS-P4"),
        ("damaged", Some(flipped), "TS-P5"),
        ("missing", None, "TS-P3"),
    ] {
        fs::remove_file(&path).unwrap();
        changed.iter().for_each(|changed| fs::write(&path, changed).unwrap());
        let error = refused(&series, case);
        assert!(error.contains(rule) && error.contains(&name), "{case}: {error}");
        fs::write(&path, &bytes).unwrap();
    }
    // A payload is compared when it is read.
    let mut flipped = bytes.clone();
    let file = tet_file::TetFile::open(Source::open(&path).unwrap(), &Default::default()).unwrap();
    flipped[usize::try_from(file.index_end()).unwrap() + 8] ^= 1;
    fs::write(&path, &flipped).unwrap();
    let opened = open(&series, &OpenOptions::default()).unwrap();
    let temp = opened.catalog.only_named("temp").unwrap();
    let error = temp.read(&Hyperslab::whole(temp.shape()), &Execution::default()).unwrap_err();
    assert!(error.to_string().contains("TET-G6"), "{error}");
    assert_eq!(check(&series).len(), 1);
    fs::write(&path, &bytes).unwrap();
    {
        let outside = root.path().join("outside.tet");
        fs::rename(&path, &outside).unwrap();
        std::os::unix::fs::symlink(&outside, &path).unwrap();
        let error = refused(&series, "a link");
        assert!(error.contains("TS-P1"), "{error}");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(refused(&series, "a folder").contains("TS-P3"));
    }
}

#[test]
fn hostile_manifests_are_refused_with_a_rule() {
    let root = tempfile::tempdir().unwrap();
    let (series, good) = three_parts(root.path());
    let outside = root.path().join("0.tet");
    let change = |path: &str, value: serde_json::Value| {
        let mut manifest = good.clone();
        *manifest.pointer_mut(path).unwrap() = value;
        manifest.to_string()
    };
    let text = good.to_string();
    let temp = |rows: [u64; 2]| serde_json::json!({"temp": rows, "time": [4, 8]});
    let cases = [
        (change("/parts/1/file", "../0.tet".into()), "TS-P1"),
        (change("/parts/1/file", outside.to_str().unwrap().into()), "TS-P1"),
        (change("/parts/1/file", "a/../../0.tet".into()), "TS-P1"),
        (change("/parts/1/file", "".into()), "TS-P1"),
        (change("/parts/1/file", ".".into()), "TS-P1"),
        (change("/parts/1/file", "series.json".into()), "TS-P1"),
        (change("/parts/1/file", "no.tet".into()), "TS-P3"),
        (change("/parts/1/file", good["parts"][0]["file"].clone()), "TS-P2"),
        (change("/parts/1/len", u64::MAX.into()), "TS-P4"),
        (change("/parts/1/self", "0".repeat(24).into()), "TS-P6"),
        (change("/parts/1/self", "0".into()), "TS-M3"),
        (change("/parts/1/rows", temp([3, 8])), "TS-R1"),
        (change("/parts/1/rows", temp([5, 8])), "TS-R1"),
        (change("/parts/1/rows", temp([4, 4])), "TS-R1"),
        (change("/parts/1/rows", temp([4, 3])), "TS-R1"),
        (change("/parts/1/rows", temp([4, u64::MAX])), "TS-R1"),
        (change("/parts/2/rows/temp", serde_json::json!([8, u64::MAX])), "TS-R3"),
        (change("/parts/2/rows/temp", serde_json::json!([8, 10])), "TS-R3"),
        (change("/parts/2/rows/temp", serde_json::json!([8])), "TS-M3"),
        (change("/parts/2/rows/temp", serde_json::json!([8, -1])), "TS-M3"),
        (change("/parts/2/rows", serde_json::json!({"no": [0, 4]})), "TS-M3"),
        (change("/datasets/temp", 7.into()), "TS-R4"),
        (change("/datasets/temp", 1.into()), "TS-R"),
        (change("/datasets", serde_json::json!({})), "TS-M4"),
        (change("/datasets", serde_json::json!({"temp": 0, "time": 0, "no": 0})), "TS-R4"),
        (change("/parts", serde_json::json!([])), "TS-M4"),
        (change("/tet_series", 2.into()), "TS-M2"),
        (change("/axis", serde_json::Value::Null), "TS-M3"),
        (text.replacen("\"axis\"", "\"axes\"", 1), "TS-M3"),
        (text.replacen('{', "{\"axis\":\"time\",", 1), "TS-M3"),
        (text.replacen("\"tet_series\":1", "\"tet_series\":99999999999999999999", 1), "TS-M3"),
        (format!("{text}x"), "TS-M1"),
        ("[".repeat(100_000), "TS-M"),
        ("{\"tet_series\"".to_owned(), "TS-M1"),
        ("{}".to_owned(), "TS-M3"),
    ];
    for (manifest, rule) in &cases {
        fs::write(series.join("series.json"), manifest).unwrap();
        let error = refused(&series, manifest);
        assert!(error.contains(rule), "{manifest}: {error}");
        assert!(grow(&series, &[root.path().join("2.tet")]).is_err());
    }
    // Text that is cut or changed at any byte is refused or read, and nothing else.
    let bytes = text.as_bytes();
    for at in 0..bytes.len() {
        fs::write(series.join("series.json"), &bytes[..at]).unwrap();
        assert!(at == 0 || open(&series, &OpenOptions::default()).is_err(), "{at}");
        let mut flipped = bytes.to_vec();
        flipped[at] ^= 2;
        fs::write(series.join("series.json"), flipped).unwrap();
        let _ = (open(&series, &OpenOptions::default()), check(&series));
    }
    fs::write(series.join("series.json"), &text).unwrap();
    assert_eq!(check(&series), [""; 0]);
}
