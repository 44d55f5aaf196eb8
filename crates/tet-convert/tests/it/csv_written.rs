//! Tables that are written, and read again with the same values.
#![allow(clippy::unwrap_used, reason = "what does not hold here fails the test")]

use std::fs;
use std::path::Path;

use crate::common::csv::{Quotes, bytes, opened, quoted, texts};
use proptest::prelude::*;
use tet_convert::{ConvertOptions, OpenOptions, Opened, convert, open, open_source};
use tet_io::Source;

/// The text that a conversion of a table writes, and that text as it is read back.
fn rewritten(table: &[u8], suffix: &str, options: &ConvertOptions) -> (String, Opened) {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("in.csv"), folder.path().join(format!("out.{suffix}")));
    fs::write(&input, table).unwrap();
    convert(&input, &out, options).unwrap();
    let text = fs::read(&out).unwrap();
    let name = format!("out.{suffix}");
    let again = Source::from_named_bytes(&name, text.as_slice());
    let opened = open_source(again, &OpenOptions::default()).unwrap();
    (String::from_utf8(text).unwrap(), opened)
}

#[test]
fn datasets_of_one_length_are_columns_of_a_table() {
    let table = b"day;mm;place;wet\n2024-01-01;1.5;\"a,\tb\";true\n2024-01-02;;#c;false\n";
    let (text, again) = rewritten(table, "csv", &ConvertOptions::default());
    let wanted = "day,mm,place,wet\n2024-01-01,1.5,\"a,\tb\",true\n2024-01-02,NaN,\"#c\",false\n";
    assert_eq!(text, wanted);
    assert_eq!(texts(&again, "place"), ["a,\tb", "#c"]);
    assert_eq!(again.catalog.find("wet").unwrap().dims, ["day"]);
    let (text, again) = rewritten(table, "tsv", &ConvertOptions::default());
    let wanted =
        "day\tmm\tplace\twet\n2024-01-01\t1.5\t\"a,\tb\"\ttrue\n2024-01-02\tNaN\t\"#c\"\tfalse\n";
    assert_eq!(text, wanted);
    assert_eq!(texts(&again, "place"), ["a,\tb", "#c"]);
    let mut options = ConvertOptions::default();
    options.tet.include = vec!["wet".to_owned(), "mm".to_owned()];
    let (text, again) = rewritten(table, "csv", &options);
    assert_eq!(again.catalog.find("mm").unwrap().dims, ["row"]);
    assert_eq!(text, "mm,wet\n1.5,true\nNaN,false\n");
    options.tet.include.pop();
    let (text, again) = rewritten(table, "tsv", &options);
    assert_eq!((text.as_str(), bytes(&again, "out")), ("true\nfalse\n", vec![1, 0]));
}

#[test]
fn labels_are_the_first_column_unless_there_is_one_of_their_name() {
    let folder = tempfile::tempdir().unwrap();
    let [table, tet, out] = ["t.csv", "t.tet", "o.csv"].map(|name| folder.path().join(name));
    fs::write(&table, "day,x,n\n2024-01-01,0.5,1\n2024-01-02,2,2\n").unwrap();
    convert(&table, &tet, &ConvertOptions::default()).unwrap();
    let report = convert(&tet, &out, &ConvertOptions::default()).unwrap();
    assert_eq!(fs::read_to_string(&out).unwrap(), "day,x,n\n2024-01-01,0.5,1\n2024-01-02,2.0,2\n");
    let left: Vec<String> = report.notes.iter().map(ToString::to_string).collect();
    assert!(left.iter().all(|note| !note.contains("labels")), "{left:?}");
    // In a file of several datasets, a dataset labels the axis.
    let [wide, nc] = ["w.csv", "w.nc"].map(|name| folder.path().join(name));
    fs::write(&wide, "z,b,a\n1,0.5,x\n3,2.5,y\n").unwrap();
    convert(&wide, &nc, &ConvertOptions::default()).unwrap();
    let again = folder.path().join("again.csv");
    convert(&nc, &again, &ConvertOptions::default()).unwrap();
    let again = open(&again, &OpenOptions::default()).unwrap();
    let names: Vec<&str> = again.catalog.datasets().iter().map(|it| it.name.as_str()).collect();
    assert_eq!((names.len(), names[0]), (3, "z"));
    assert_eq!(again.catalog.find("a").unwrap().dims, ["z"]);
    // A table of one column has no names and no labels, as any other array.
    let mut options = ConvertOptions::default();
    options.tet.include = vec!["x".to_owned()];
    options.tet.overwrite = tet_io::Overwrite::Replace;
    let report = convert(&tet, &out, &options).unwrap();
    assert_eq!(fs::read_to_string(&out).unwrap(), "0.5\n2.0\n");
    assert!(report.notes.iter().any(|note| note.to_string().contains("labels")));
}

#[test]
fn datasets_that_are_no_columns_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("o.csv");
    let refused = |input: &std::path::Path, named: &[&str]| {
        let mut options = ConvertOptions::default();
        options.tet.include = named.iter().map(|name| (*name).to_owned()).collect();
        let error = convert(input, &out, &options).unwrap_err();
        assert!(!out.exists());
        error.to_string()
    };
    let error = refused(&crate::common::fixture("stored.npz"), &[]);
    assert!(error.contains("several of one axis and the same length"), "{error}");
    let table = folder.path().join("t.csv");
    fs::write(&table, "# year,2024\na,1\nb,2\n").unwrap();
    let array = folder.path().join("t.tet");
    convert(&table, &array, &ConvertOptions::default()).unwrap();
    let error = refused(&table, &[]);
    assert!(error.contains("\"2024\": a csv output has no column"), "{error}");
}

/// Memory for a few lines at a time changes nothing.
#[test]
fn tables_are_written_in_bands() {
    let mut table = "n,x,word\n".to_owned();
    for n in 0..70_000 {
        table.push_str(&format!("{n},{:?},w{}\n", f64::from(n) / 7.0, n % 13));
    }
    let (text, again) = rewritten(table.as_bytes(), "csv", &ConvertOptions::default());
    assert!(text == table, "the table is another one");
    assert_eq!(again.catalog.find("x").unwrap().shape(), [70_000]);
}

proptest! {
    #[test]
    fn written_tables_are_read_again(
        rows in prop::collection::vec((any::<f64>(), any::<i64>(), any::<bool>(), "[ -~\u{e9}\r\n\t]{0,12}"), 1..40),
        suffix in prop::sample::select(vec!["csv", "tsv"]),
    ) {
        let mut text = "x|n|truth|text\n".to_owned();
        for (x, n, truth, word) in &rows {
            let fields = [format!("{x:?}"), n.to_string(), truth.to_string(), format!("w{word}")];
            text += &(fields.map(|field| quoted(&field, '|', Quotes::Needed)).join("|") + "\n");
        }
        let before = opened(text.as_bytes());
        let (_, again) = rewritten(text.as_bytes(), suffix, &ConvertOptions::default());
        for name in ["x", "n", "truth"] {
            let dtypes = [&before, &again].map(|it| it.catalog.find(name).unwrap().dtype);
            prop_assert_eq!(dtypes[0], dtypes[1]);
            prop_assert_eq!(bytes(&before, name), bytes(&again, name));
        }
        prop_assert_eq!(texts(&before, "text"), texts(&again, "text"));
    }
}

/// A choice of datasets.
fn only(names: &[&str]) -> ConvertOptions {
    let mut options = ConvertOptions::default();
    options.tet.include = names.iter().map(|name| (*name).to_owned()).collect();
    options
}

#[test]
fn texts_alone_have_a_line_of_names() {
    let table = b"city,n\nBergen,1\nOslo; Blindern,2\n\"\",3\n\"1 2\",4\n";
    for suffix in ["csv", "tsv"] {
        let (text, again) = rewritten(table, suffix, &only(&["city"]));
        assert_eq!(text, "city\nBergen\n\"Oslo; Blindern\"\n\"\"\n\"1 2\"\n");
        assert_eq!(texts(&again, "city"), ["Bergen", "Oslo; Blindern", "", "1 2"]);
    }
    // Each row has each character that delimits fields in other tables, equally often.
    let odd = "a\tb,c;d|e f";
    let table = format!("city|n\n\"{odd}\"|1\n\"{odd}\"|2\n");
    for suffix in ["csv", "tsv"] {
        let (_, again) = rewritten(table.as_bytes(), suffix, &only(&["city"]));
        assert_eq!(texts(&again, "city"), [odd, odd]);
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let to = |name: &str| {
        let out = folder.join(format!("{name}.csv"));
        convert(&crate::common::fixture("texts.h5"), &out, &only(&[name])).unwrap();
        fs::read_to_string(&out).unwrap()
    };
    assert_eq!(to("one"), "one\n\"a,\"\"b\"\"\n\"\n");
    let grid = to("grid");
    let again = opened(grid.as_bytes());
    let names: Vec<&str> = again.catalog.datasets().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["grid_0", "grid_1", "grid_2"]);
    assert_eq!(again.catalog.find("grid_0").unwrap().shape(), [4]);
}

#[test]
fn texts_that_look_like_values_stay_texts() {
    for column in [
        &["NA", "5", "6"][..],
        &["true", "false", "true"],
        &["", "", ""],
        &["007"],
        &["5", "x"],
        &[" 1 ", "inf"],
    ] {
        let mut table = "t,n\n".to_owned();
        for (text, nth) in column.iter().zip(0..) {
            table += &format!("\"{text}\",{nth}\n");
        }
        for suffix in ["csv", "tsv"] {
            for options in [ConvertOptions::default(), only(&["t"])] {
                let (text, again) = rewritten(table.as_bytes(), suffix, &options);
                assert_eq!(texts(&again, "t"), column, "{text}");
            }
        }
    }
    // Quotes only where they are needed.
    let (text, _) = rewritten(b"t,n\n5,1\nx,2\n", "csv", &ConvertOptions::default());
    assert_eq!(text, "t,n\n5,1\nx,2\n");
    // Where nothing can be without quotes there is a note.
    let folder = tempfile::tempdir().unwrap();
    let [input, out] = ["in.csv", "out.csv"].map(|name| folder.path().join(name));
    for (name, count) in [("a b", 1), ("ab", 0)] {
        fs::write(&input, format!("\"{name}\",n\n\"5\",1\n")).unwrap();
        let mut options = only(&[name]);
        options.tet.overwrite = tet_io::Overwrite::Replace;
        let report = convert(&input, &out, &options).unwrap();
        let notes = report.notes.iter().filter(|it| it.to_string().contains("read again"));
        assert_eq!(notes.count(), count, "{name}");
    }
}

#[test]
fn bytes_that_are_no_text_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("latin.csv");
    fs::write(&input, b"city,n\nB\xe6rum,1\nOslo,2\n").unwrap();
    for (out, options) in [
        ("a.csv", ConvertOptions::default()),
        ("b.tsv", only(&["city"])),
        ("c.nc", only(&["city"])),
    ] {
        let report = convert(&input, &folder.path().join(out), &options).unwrap();
        let notes: Vec<String> = report.notes.iter().map(ToString::to_string).collect();
        let has = notes.iter().any(|it| it.starts_with("\"city\": 1 of its texts have U+FFFD"));
        assert!(has, "{out}: {notes:?}");
    }
    let report = convert(&input, &folder.path().join("d.csv"), &only(&["n"])).unwrap();
    assert!(report.notes.iter().all(|it| !it.to_string().contains("FFFD")));
}

#[test]
fn texts_with_a_zero_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, points: &str, shape: &str| {
        let path = folder.path().join(name);
        let elements: Vec<u8> = points.chars().flat_map(|it| u32::from(it).to_le_bytes()).collect();
        fs::write(&path, crate::common::npy("<U3", "False", shape, &elements)).unwrap();
        path
    };
    let out = folder.path().join("out.csv");
    for shape in ["(2,)", "(1, 2)"] {
        let input = write("zero.npy", "a\0bxyz", shape);
        let error = convert(&input, &out, &ConvertOptions::default()).unwrap_err().to_string();
        assert!(error.contains("\"zero\"") && error.contains("zero character"), "{error}");
        assert!(!out.exists());
    }
    convert(&write("sound.npy", "ab\0xyz", "(2,)"), &out, &ConvertOptions::default()).unwrap();
    assert_eq!(fs::read_to_string(&out).unwrap(), "sound\nab\nxyz\n");
}

#[test]
fn datasets_without_elements_have_a_line_of_names() {
    let folder = tempfile::tempdir().unwrap();
    for (descr, shape, wanted) in [
        ("<f8", "(0,)", "x\n"),
        ("<f8", "(0, 3)", "x_0,x_1,x_2\n"),
        ("<f8", "(3, 0)", "x\n"),
        ("<U3", "(0,)", "x\n"),
    ] {
        let (input, out) = (folder.path().join("x.npy"), folder.path().join("out.csv"));
        fs::write(&input, crate::common::npy(descr, "False", shape, &[])).unwrap();
        let mut options = ConvertOptions::default();
        options.tet.overwrite = tet_io::Overwrite::Replace;
        convert(&input, &out, &options).unwrap();
        assert_eq!(fs::read_to_string(&out).unwrap(), wanted, "{descr} {shape}");
        let again = open(&out, &OpenOptions::default()).unwrap();
        assert_eq!(again.catalog.datasets()[0].shape(), [0]);
    }
    let (input, out) = (folder.path().join("wide.npy"), folder.path().join("wide.csv"));
    fs::write(&input, crate::common::npy("<f8", "False", "(0, 131073)", &[])).unwrap();
    let error = convert(&input, &out, &ConvertOptions::default()).unwrap_err().to_string();
    assert!(error.contains("more positions than a table has columns"), "{error}");
}

#[test]
fn a_file_without_datasets_is_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("none.zarr.json");
    let none = r#"{".zgroup":"{\"zarr_format\":2}"}"#;
    fs::write(&input, none).unwrap();
    for out in ["out.csv", "out.npy"] {
        let out: &Path = &folder.path().join(out);
        let error = convert(&input, out, &ConvertOptions::default()).unwrap_err().to_string();
        assert!(error.contains("there are no datasets"), "{error}");
    }
}

proptest! {
    #[test]
    fn texts_are_read_again(
        column in prop::collection::vec("[0-9a,;|\t #\"\u{e9}\r\n-]{0,3}|NA|true|[0-9]{1,4}|", 1..12),
        suffix in prop::sample::select(vec!["csv", "tsv"]),
        is_alone in any::<bool>(),
    ) {
        let mut table = "t,n\n".to_owned();
        for (text, nth) in column.iter().zip(0..) {
            table += &format!("{},{nth}\n", quoted(text, ',', Quotes::All));
        }
        let options = if is_alone { only(&["t"]) } else { ConvertOptions::default() };
        let (text, again) = rewritten(table.as_bytes(), suffix, &options);
        prop_assert_eq!(texts(&again, "t"), column, "{}", text);
    }
}
