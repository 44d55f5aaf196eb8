//! Tables of text: columns and matrices are what was written, wherever chunks and rows end.
#![allow(clippy::unwrap_used, reason = "what does not hold here fails the test")]

use std::fs;

use crate::common::csv::{Quotes, bytes, floats, opened, quoted, source, texts};
use proptest::prelude::*;
use tet_convert::{ConvertOptions, Format, OpenOptions, convert, open, open_source, verify};
use tet_format::DType;
use tet_query::{CatalogLabels, Execution, Hyperslab, Op, Reduction, Selection};
use tet_verify::{Level, VerifyOptions};

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
    let selection = Selection::parse("day=\"2024-01-02\":\"2024-01-02\"").unwrap();
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
    fs::write(&array, crate::common::npy("<f8", "False", "(2, 3)", &values)).unwrap();
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
        (&b"a,b\n1,2\n3\n"[..], "CSV-R4", (8, 3)),
        (b"a,b\n1,2\n\n\n3,4,5\n", "CSV-R1", (10, 5)),
        (b"a,b\r\n1,2\r\n3,4,5\r\n", "CSV-R1", (10, 3)),
        (b"a,b\n1,2\n3,\0\n", "CSV-E1", (10, 3)),
        (b"\xff\xfe1\0,\x002\0\n\0", "CSV-E1", (3, 1)),
        (b"# nothing\n\n", "CSV-R2", (11, 3)),
        (b"a,b\n1,\"abc\n2,3\n4,5\n", "CSV-R3", (6, 2)),
        (b"a,b\n1,2\n3,\"", "CSV-R3", (10, 3)),
        (b"a,\"b\n1,2\n", "CSV-R3", (2, 1)),
        (wide.as_bytes(), "CSV-L2", (0, 1)),
        (long.as_bytes(), "CSV-L1", (2, 2)),
        (&long.as_bytes()[2..], "CSV-L1", (0, 1)),
    ] {
        let report = verify(&source(text), &options).unwrap();
        let first = report.findings.first().unwrap();
        let place = (first.place.offset, first.place.line.unwrap());
        assert_eq!((first.code.to_string(), place), (wanted.to_owned(), at), "{wanted}");
        assert!(!first.advice().is_empty());
        let error = open_source(source(text), &OpenOptions::default()).unwrap_err().to_string();
        assert!(error.contains(wanted) && error.ends_with(&format!("in line {}", at.1)), "{error}");
        // Only numbers that mean something are printed, and a limit is no damage.
        let (has_counts, is_limit) =
            (wanted == "CSV-R1" || wanted == "CSV-R4", wanted.contains('L'));
        assert_eq!(error.contains("wanted"), has_counts, "{error}");
        assert_eq!(first.to_string().contains("wanted"), has_counts, "{first}");
        assert_eq!((error.contains("limit"), error.contains("damaged")), (is_limit, !is_limit));
    }
    for sound in [&b"a,b\n1,2\n3,4\n"[..], b"a,b\n1,\"abc\n2\"\n4,\"5\"\"\"\n", b"a,b\n1,2\""] {
        assert!(verify(&source(sound), &options).unwrap().findings.is_empty());
    }
    let twice = verify(&source(b"a,a,a\n1,2,3\n"), &options).unwrap();
    let places: Vec<(u64, u64)> =
        (twice.findings.iter()).map(|it| (it.place.offset, it.place.dataset.unwrap())).collect();
    assert_eq!(places, [(2, 1), (4, 2)]);
    let odd = verify(&source(b"a,a,\xff\n1,2,3\n"), &options).unwrap();
    let codes: Vec<String> = odd.findings.iter().map(|it| it.code.to_string()).collect();
    assert_eq!(codes, ["CSV-N2", "CSV-N1"]);
    assert!(odd.is_ok());
}

#[test]
fn quotes_around_a_column_make_it_text_unless_all_is_quoted() {
    for (text, wanted) in [
        (&b"a,b\n\"1\",2\n\"NA\",3\n"[..], &["1", "NA"][..]),
        (b"a,b\n\"\",2\n\"\",3\n", &["", ""]),
        (b"a\n\"true\"\n\"false\"\n", &["true", "false"]),
        (b"\"a\",\"b\"\n\"007\",2\n", &["007"]),
        (b"\"a\"\n\"x\"\n\"5\"\n", &["x", "5"]),
    ] {
        assert_eq!(texts(&opened(text), "a"), wanted);
    }
    // As most programs write numbers that they quote, and a column of which one field is not quoted.
    for text in [
        &b"\"a\",\"b\"\n\"1\",\"2\"\n\"NA\",\"3\"\n"[..],
        b"\"a\",\"b\"\n\"1\",\n\"NA\",\"3\"\n",
        b"a,b\n\"1\",2\nNA,3\n",
        b"\"1\",\"2\"\n\"NA\",\"3\"\n",
    ] {
        let file = opened(text);
        let column = if text.starts_with(b"\"1") { 2 } else { 1 };
        let first = file.catalog.datasets()[0].name.clone();
        assert_eq!(floats(&file, &first)[0], 1.0);
        assert!(floats(&file, &first)[column].is_nan());
    }
}

#[test]
fn values_are_no_names() {
    let file = opened(b"true\nfalse\n");
    assert_eq!(bytes(&file, "table"), [1, 0]);
    let file = opened(b"NaN,NaN\n1,2\n");
    assert_eq!(floats(&file, "table")[2..], [1.0, 2.0]);
    assert_eq!(file.catalog.find("table").unwrap().shape(), [2, 2]);
    let file = opened(b"NaN,x\n1,2\n");
    assert_eq!(bytes(&file, "NaN"), 1_i64.to_le_bytes());
}

#[test]
fn empty_fields_without_a_last_line_end_are_read() {
    for text in [&b",,,,"[..], b"\n,,,,", b";", b",\n,"] {
        let file = opened(text);
        let found = floats(&file, "table");
        assert_eq!(
            found.len() as u64,
            file.catalog.datasets()[0].grid.shape().element_count().unwrap()
        );
        assert!(found.iter().all(|it| it.is_nan()), "{text:?}");
    }
}

/// Columns that are decoded together, some of text, in several chunks and rows of uneven lengths.
#[test]
fn wide_tables_have_the_columns_that_narrow_ones_have() {
    let (width, count) = (300, 700);
    let field = |row: usize, column: usize| match column % 4 {
        0 => format!("{}", row * 1000 + column),
        1 => format!("{:?}", (row + column) as f64 / 7.0),
        2 => format!("\"t{row},{}\"", "x".repeat((row * column) % 17)),
        _ => ["true", "false"][(row + column) % 2].to_owned(),
    };
    let table = |columns: &[usize]| {
        let names: Vec<String> = columns.iter().map(|column| format!("c{column}")).collect();
        let mut text = names.join(",") + "\n";
        for row in 0..count {
            let fields: Vec<String> = columns.iter().map(|&column| field(row, column)).collect();
            text += &(fields.join(",") + "\n");
        }
        text
    };
    let wide = opened(table(&(0..width).collect::<Vec<_>>()).as_bytes());
    assert!(1 < wide.catalog.find("c1").unwrap().grid.chunk_count());
    for first in (0..width).step_by(10) {
        let columns: Vec<usize> = (first..first + 10).collect();
        let narrow = opened(table(&columns).as_bytes());
        // The order is another one than that in which blocks are decoded.
        for column in columns.into_iter().rev() {
            let name = format!("c{column}");
            let dtypes = [&wide, &narrow].map(|file| file.catalog.find(&name).unwrap().dtype);
            assert_eq!(dtypes[0], dtypes[1]);
            if dtypes[0].is_none() {
                assert_eq!(texts(&wide, &name), texts(&narrow, &name));
            } else {
                assert_eq!(bytes(&wide, &name), bytes(&narrow, &name));
            }
        }
    }
}

proptest! {
    #[test]
    fn columns_are_what_was_written(
        rows in prop::collection::vec((any::<f64>(), any::<i64>(), "[ -~\u{e9}\r\n]{0,12}"), 1..40),
        delimiter in prop::sample::select(vec![',', ';', '\t', '|']),
        quotes in prop::sample::select(vec![Quotes::All, Quotes::Needed]),
        end in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        // A name without quotes shows that fields with them are text.
        let names = ["x", "n", "text"].map(|name| quoted(name, delimiter, quotes));
        let mut text = names.join(&delimiter.to_string()) + end;
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
