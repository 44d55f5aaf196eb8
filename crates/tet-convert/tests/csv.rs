//! Tables of text: columns and matrices are what was written, wherever chunks and rows end.
#![allow(clippy::unwrap_used, reason = "what does not hold here fails the test")]

mod common;

use std::fs;

use proptest::prelude::*;
use tet_convert::{
    ConvertOptions, Format, OpenOptions, Opened, convert, open, open_source, verify,
};
use tet_format::DType;
use tet_io::Source;
use tet_query::{CatalogLabels, Execution, Hyperslab, Op, Reduction, Selection};
use tet_verify::{Level, VerifyOptions};

fn source(text: &[u8]) -> Source {
    Source::from_named_bytes("table.csv", text)
}

fn opened(text: &[u8]) -> Opened {
    open_source(source(text), &OpenOptions::default()).unwrap()
}

fn bytes(opened: &Opened, name: &str) -> Vec<u8> {
    let dataset = opened.catalog.find(name).unwrap();
    let slab = Hyperslab::whole(dataset.shape());
    dataset.read(&slab, &Execution::default()).unwrap().value.bytes().to_vec()
}

fn floats(opened: &Opened, name: &str) -> Vec<f64> {
    bytes(opened, name).as_chunks().0.iter().map(|it| f64::from_le_bytes(*it)).collect()
}

fn texts(opened: &Opened, name: &str) -> Vec<String> {
    let dataset = opened.catalog.find(name).unwrap();
    let slab = Hyperslab::whole(dataset.shape());
    dataset.read_texts(&slab, &Execution::default()).unwrap().value
}

#[test]
fn a_table_with_names_is_a_dataset_for_each_column() {
    let text = "\u{feff}day;place;t;count;big;wet\r\n\
                2024-01-01;A;1.5;3;18446744073709551615;true\r\n\
                \r\n\
                2024-01-02;\"B;\"\"b\"\"\";;-4;0;False\r\n\
                2024-02-01; C ;-inf;+5;1;TRUE";
    let file = opened(text.as_bytes());
    assert_eq!(file.format, Format::CSV);
    let kinds = file.catalog.datasets().iter().map(|it| (it.name.as_str(), it.dtype));
    let wanted = [
        ("day", None),
        ("place", None),
        ("t", Some(DType::Float64)),
        ("count", Some(DType::Int64)),
        ("big", Some(DType::UInt64)),
        ("wet", Some(DType::Bool)),
    ];
    assert_eq!(kinds.collect::<Vec<_>>(), wanted);
    assert_eq!(texts(&file, "day"), ["2024-01-01", "2024-01-02", "2024-02-01"]);
    assert_eq!(texts(&file, "place"), ["A", "B;\"b\"", " C "]);
    let t = floats(&file, "t");
    assert!(t[0] == 1.5 && t[1].is_nan() && t[2] == f64::NEG_INFINITY);
    let integers = [3_i64, -4, 5].map(i64::to_le_bytes).concat();
    assert_eq!(bytes(&file, "count"), integers);
    assert_eq!(bytes(&file, "big"), [u64::MAX, 0, 1].map(u64::to_le_bytes).concat());
    assert_eq!(bytes(&file, "wet"), [1, 0, 1]);
    // Days increase, and label the rows.
    let t = file.catalog.find("t").unwrap();
    assert_eq!(t.dims, ["day"]);
    let how = Execution::default();
    let labels = CatalogLabels::new(&file.catalog, t, &how);
    let selection = Selection::parse("day=\"2024-01-02\":\"2024-02-01\"").unwrap();
    let slab = selection.resolve(t, &labels).unwrap();
    assert_eq!((slab.axes()[0].start, slab.counts().to_vec()), (1, vec![1]));
}

#[test]
fn rows_are_called_after_a_first_column_that_increases() {
    for (text, wanted) in [
        ("year,x\n1990,1\n1995,2\n", "year"),
        ("year,x\n1990,1\n1990,2\n", "row"),
        ("year,x\n1995,1\n1990,2\n", "row"),
        ("name,x\na,1\nb,2\n", "name"),
        ("name,x\nb,1\na,2\n", "row"),
        ("year,x\n9,1\n10,2\n", "year"),
        ("year,x\n,1\n10,2\n", "row"),
    ] {
        let file = opened(text.as_bytes());
        assert_eq!(file.catalog.find("x").unwrap().dims, [wanted], "{text:?}");
    }
}

#[test]
fn numbers_without_names_are_a_matrix() {
    let file = opened(b"1,2,3\n4,5.5,nan\n");
    let dataset = file.catalog.find("table").unwrap();
    assert_eq!((dataset.shape(), dataset.dtype), (&[2, 3][..], Some(DType::Float64)));
    assert_eq!(floats(&file, "table")[..5], [1.0, 2.0, 3.0, 4.0, 5.5]);
    let file = opened(b"1\n2\n3\n");
    let dataset = file.catalog.find("table").unwrap();
    assert_eq!((dataset.shape(), dataset.dtype), (&[3][..], Some(DType::Int64)));
    // An integer that no float is keeps its column apart.
    let file = opened(b"9007199254740993,0.5\n");
    assert_eq!(bytes(&file, "column_0"), 9_007_199_254_740_993_i64.to_le_bytes());
    assert_eq!(floats(&file, "column_1"), [0.5]);
    let file = opened(b"a,b\n");
    assert_eq!(file.catalog.find("b").unwrap().shape(), [0]);
}

#[test]
fn long_comments_and_long_first_rows_are_read() {
    let comments = "# a line of a comment\n".repeat(5000);
    let names: Vec<String> = (0..9000).map(|nth| format!("a_long_name_{nth}")).collect();
    let row = vec!["7"; 9000].join(",");
    let text = format!("{comments}{}\n{row}\n{row}\n", names.join(","));
    let file = opened(text.as_bytes());
    assert_eq!(file.catalog.datasets().len(), 9000);
    assert_eq!(bytes(&file, "a_long_name_8999"), [7_i64, 7].map(i64::to_le_bytes).concat());
    let file = opened(format!("{comments}{}\n", vec!["0.5"; 30_000].join(";")).as_bytes());
    assert_eq!(file.catalog.find("table").unwrap().shape(), [1, 30_000]);
}

/// More rows than places are kept, in many chunks, each of which may be longer than others.
#[test]
fn long_tables_are_read_in_chunks() {
    let count = 300_000_u64;
    let mut text = "n,square,name\n".to_owned();
    for n in 0..count {
        let name =
            if n % 1000 == 0 { "\"a\nb\"".repeat(20).replace("\"\"", "") } else { format!("r{n}") };
        text.push_str(&format!("{n},{},{name}\n", n * n));
    }
    let file = opened(text.as_bytes());
    let square = file.catalog.find("square").unwrap();
    assert_eq!(square.dims, ["n"]);
    assert!(4 < square.grid.chunk_count(), "{:?}", square.grid);
    let wanted: Vec<u8> = (0..count).flat_map(|n| (n * n).to_le_bytes()).collect();
    assert_eq!(bytes(&file, "square"), wanted);
    for (start, stop, step) in [(65_535, 65_538, 1), (0, count, 7919), (count - 1, count, 1)] {
        let selection = Selection::parse(&format!("{start}:{stop}:{step}")).unwrap();
        let how = Execution::default();
        let labels = CatalogLabels::new(&file.catalog, square, &how);
        let slab = selection.resolve(square, &labels).unwrap();
        let found = square.read_as::<i64>(&slab, &Execution::default()).unwrap().value;
        let wanted = (start..stop).step_by(usize::try_from(step).unwrap());
        assert_eq!(found, wanted.map(|n| i64::try_from(n * n).unwrap()).collect::<Vec<_>>());
    }
    let slab = Hyperslab::whole(square.shape());
    let sum = square.reduce(&slab, &Reduction::all(Op::Sum), &Execution::default()).unwrap();
    let wanted = (count - 1) * count * (2 * count - 1) / 6;
    let found = sum.value.values.get(0).unwrap().to_f64();
    assert_eq!(found, Some(wanted as f64));
    assert_eq!(texts(&file, "name")[299_999], "r299999");
    assert!(texts(&file, "name")[299_000].contains("a\nb"));
}

#[test]
fn what_is_written_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let values =
        [1.0, -0.0, f64::NAN, 1e300, 0.1, f64::NEG_INFINITY].map(f64::to_le_bytes).concat();
    let (array, out) = (folder.path().join("f8.npy"), folder.path().join("f8.csv"));
    fs::write(&array, common::npy("<f8", "False", "(2, 3)", &values)).unwrap();
    convert(&array, &out, &ConvertOptions::default()).unwrap();
    let again = open(&out, &OpenOptions::default()).unwrap();
    assert_eq!(again.catalog.find("f8").unwrap().shape(), [2, 3]);
    assert_eq!(bytes(&again, "f8"), values);
    // Into a file of columns, and a text that labels its rows.
    let table = folder.path().join("rain.csv");
    fs::write(&table, "day,mm\n2024-01-01,1\n2024-01-02,2.5\n").unwrap();
    let out = folder.path().join("rain.tet");
    convert(&table, &out, &ConvertOptions::default()).unwrap();
    let rain = open(&out, &OpenOptions::default()).unwrap();
    assert_eq!(floats(&rain, "mm"), [1.0, 2.5]);
    assert_eq!(rain.catalog.find("mm").unwrap().coords[&0], ["2024-01-01", "2024-01-02"]);
}

#[test]
fn a_table_that_is_none_says_where() {
    let options = VerifyOptions { level: Level::Deep, ..VerifyOptions::default() };
    let wide = vec!["1"; 131_073].join(",");
    let long = format!("1\n\"{}", "x".repeat((16 << 20) + 1));
    for (text, wanted, at) in [
        (&b"a,b\n1,2\n3\n"[..], "CSV-R1", 8),
        (b"a,b\n1,2\n3,4,5\n", "CSV-R1", 8),
        (b"a,b\n1,2\n3,\0\n", "CSV-E1", 10),
        (b"\xff\xfe1\0,\x002\0\n\0", "CSV-E1", 3),
        (b"# nothing\n\n", "CSV-R2", 11),
        (wide.as_bytes(), "CSV-L2", 0),
        (long.as_bytes(), "CSV-L1", 2),
        (&long.as_bytes()[2..], "CSV-L1", 0),
    ] {
        let report = verify(&source(text), &options).unwrap();
        let found = report.findings.first().map(|it| (it.code.to_string(), it.place.offset));
        assert_eq!(found, Some((wanted.to_owned(), at)), "{wanted}");
        let error = open_source(source(text), &OpenOptions::default()).unwrap_err().to_string();
        assert!(error.contains(wanted) || error.contains("CSV"), "{error}");
    }
    let sound = verify(&source(b"a,b\n1,2\n3,4\n"), &options).unwrap();
    assert!(sound.findings.is_empty());
    let odd = verify(&source(b"a,a,\xff\n1,2,3\n"), &options).unwrap();
    let codes: Vec<String> = odd.findings.iter().map(|it| it.code.to_string()).collect();
    assert_eq!(codes, ["CSV-N2", "CSV-N1"]);
    assert!(odd.is_ok());
}

#[test]
fn cut_and_changed_tables_are_read_or_refused() {
    let text = "day;place;t\n2024-01-01;\"A;b\";1.5\n2024-01-02;B;-2e3\n";
    let ask = |text: &[u8]| {
        let Ok(file) = open_source(source(text), &OpenOptions::default()) else { return };
        for dataset in file.catalog.datasets() {
            let slab = Hyperslab::whole(dataset.shape());
            if dataset.is_text() {
                dataset.read_texts(&slab, &Execution::default()).unwrap();
            } else {
                dataset.read(&slab, &Execution::default()).unwrap();
            }
        }
    };
    for len in 0..=text.len() {
        ask(&text.as_bytes()[..len]);
    }
    for at in 0..text.len() {
        for byte in [0, b'\n', b'\r', b'"', b';', b',', b'#', b' ', b'9', 0xff] {
            let mut changed = text.as_bytes().to_vec();
            changed[at] = byte;
            ask(&changed);
        }
    }
}

/// A field as a program writes it: between quotes where it has to be, or always.
fn quoted(text: &str, delimiter: char, always: Quotes) -> String {
    if always == Quotes::All || text.contains([delimiter, '"', '\n', '\r']) || text.starts_with('#')
    {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Quotes {
    All,
    Needed,
}

proptest! {
    #[test]
    fn columns_are_what_was_written(
        rows in prop::collection::vec((any::<f64>(), any::<i64>(), "[ -~\u{e9}\r\n]{0,12}"), 1..40),
        delimiter in prop::sample::select(vec![',', ';', '\t', '|']),
        quotes in prop::sample::select(vec![Quotes::All, Quotes::Needed]),
        end in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let mut text = ["x", "n", "text"].join(&delimiter.to_string()) + end;
        for (x, n, word) in &rows {
            let fields = [format!("{x:?}"), n.to_string(), format!("w{word}")];
            let fields = fields.map(|field| quoted(&field, delimiter, quotes));
            text += &(fields.join(&delimiter.to_string()) + end);
        }
        let file = opened(text.as_bytes());
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        let is_all_missing = rows.iter().all(|(x, ..)| x.is_nan());
        prop_assert!(!is_all_missing || floats(&file, "x").iter().all(|it| it.is_nan()));
        for (found, (x, ..)) in floats(&file, "x").into_iter().zip(&rows) {
            prop_assert!(same(found, *x), "{found} {x}");
        }
        let wanted: Vec<u8> = rows.iter().flat_map(|(_, n, _)| n.to_le_bytes()).collect();
        prop_assert_eq!(bytes(&file, "n"), wanted);
        let words: Vec<String> = rows.iter().map(|(.., word)| format!("w{word}")).collect();
        prop_assert_eq!(texts(&file, "text"), words);
    }
}

/// What a conversion of a table writes, and what is read of that.
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
    assert_eq!(rewritten(table, "tsv", &options).0, "true\nfalse\n");
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
    let error = refused(&common::fixture("stored.npz"), &[]);
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
