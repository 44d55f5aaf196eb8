//! Queries against a small file.

use std::io::Cursor;

use tet_file::{OpenOptions, TetFile};
use tet_format::write::{DatasetSpec, Declaration, FileWriter, FooterParts};
use tet_format::{Codec, DType};
use tet_io::Source;

#[cfg(all(feature = "json", feature = "toml"))]
use tet_query::{Axes, Compare, Execution, Method, Number, Selection, WindowAlign, WindowMode};

use super::super::tests::golden::{check, describe};
use super::*;
use crate::{GroupBy, Pad, QueryWindow};

/// `temp` of 3 x 4 along `time` (labels) and `lat` (a coordinate dataset), and other datasets.
fn catalog() -> Catalog {
    let specs = [
        DatasetSpec::new("temp", DType::Float32, [3, 4], [2, 3]),
        DatasetSpec::new("lat", DType::Float32, [4], [4]),
        DatasetSpec::new("n", DType::Int16, [3, 4], [3, 4]),
        DatasetSpec::new("cube", DType::Int32, [2, 2, 2], [2, 2, 2]),
        DatasetSpec::new("m", DType::UInt8, [5, 3], [5, 3]),
        DatasetSpec::new("zero", DType::Float64, [3], [3]),
    ];
    let layout = Declaration::new(specs).layout().unwrap();
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), layout).unwrap();
    let floats = [
        &[0.0, 1.0, 2.0, 10.0, 11.0, 12.0][..],
        &[3.0, 13.0],
        &[20.0, 21.0, f32::NAN],
        &[23.0],
        &[60.0, 50.1, 40.0, 30.0],
    ];
    let floats = floats.map(|it| it.iter().flat_map(|it: &f32| it.to_le_bytes()).collect());
    let zeros: Vec<u8> = [0.0_f64, -0.0, 1.0].iter().flat_map(|it| it.to_le_bytes()).collect();
    let others = [vec![1_u8; 24], vec![1; 32], vec![1; 15], zeros];
    for stored in floats.into_iter().chain(others) {
        writer.push(Codec::Raw, stored.len() as u64, &stored).unwrap();
    }
    let json = br#"{"metadata":{"datasets":{
        "temp":{"dim_names":["time","lat"],
            "coords":{"time":{"labels":["mon","tue","wed"]}}},
        "n":{"dim_names":["time","lat"],"attrs":{"_FillValue":-9999},
            "coords":{"time":{"labels":["a","b","a"]}}},
        "m":{"dim_names":["x","time"],"attrs":{"missing_value":"-1"},
            "coords":{"x":{"labels":["p","q"]}}},
        "zero":{"dim_names":["zero"]}}}}"#;
    let footer = FooterParts { block: &[], spill: &[], json, version: 1 };
    let bytes = writer.finish(Some(footer)).unwrap().into_inner();
    let file = TetFile::open(Source::from_bytes(bytes), &OpenOptions::default()).unwrap();
    Catalog::from_tet(file).unwrap()
}

#[cfg(feature = "json")]
#[test]
fn documents_are_answered_as_the_oracle_does() {
    let catalog = catalog();
    for (rest, wanted) in [
        (r#""sum":[]"#, &[Some(f64::NAN)][..]),
        (r#""sum":[],"nan":"skip""#, &[Some(116.0)]),
        (r#""count":[],"nan":"skip""#, &[Some(11.0)]),
        (r#""max":"time""#, &[Some(20.0), Some(21.0), Some(f64::NAN), Some(23.0)]),
        (r#""mean":"lat","selection":"time='mon':'tue'""#, &[Some(1.5), Some(11.5)]),
        (
            r#""sum":"lat","selection":{"lat":{"start_label":"55","stop_label":"40"}}"#,
            &[Some(1.0), Some(11.0), Some(21.0)],
        ),
        (r#""min":true,"selection":{"lat":{"label":"50.1"},"time":{"index":-1}}"#, &[Some(21.0)]),
        (r#""min":true,"selection":"2:2""#, &[None]),
        (r#""sum":"time","selection":[{"index":1},{"step":3}]"#, &[Some(10.0), Some(13.0)]),
    ] {
        answer(&catalog, &format!("{{\"dataset\":\"temp\",{rest}}}"), wanted);
    }
}

/// The oracle gives what is wanted, and the engine what the oracle gives.
#[cfg(feature = "json")]
fn answer(catalog: &Catalog, json: &str, wanted: &[Option<f64>]) {
    use crate::naive::{self, Cell};
    use tet_query::Scalar;

    let query = Query::from_json(json).unwrap();
    let resolved = query.resolve(catalog, &Execution::default()).unwrap();
    let reduction = resolved.reduction().unwrap().clone();
    let Resolved { dataset, slab, .. } = resolved;
    let cells = naive::reduce(&dataset, &slab, &reduction).unwrap();
    let value = |cell: &Cell| match *cell {
        Cell::Null => None,
        Cell::Int(integer) => Some(f64::from(i32::try_from(integer).unwrap())),
        Cell::Float(float) => Some(float),
    };
    let found: Vec<Option<f64>> = cells.iter().map(value).collect();
    assert_eq!(format!("{found:?}"), format!("{wanted:?}"), "{json}");
    let how = tet_query::Execution::default();
    let reduced = dataset.reduce(&slab, &reduction, &how).unwrap();
    let cell = |at| match reduced.values.get(at).unwrap() {
        Scalar::Null => Cell::Null,
        Scalar::Int(integer) => Cell::Int(integer),
        scalar => Cell::Float(scalar.to_f64().unwrap()),
    };
    assert_eq!((0..reduced.values.len()).map(cell).collect::<Vec<_>>(), cells, "{json}");
    let array = dataset.read(&slab, &how).unwrap();
    assert_eq!(array.bytes(), naive::read(&dataset, &slab).unwrap(), "{json}");
}

/// The resolved document, in short.
#[cfg(all(feature = "json", feature = "toml"))]
fn asked(catalog: &Catalog, text: &str) -> String {
    let query = Query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let resolved = query
        .resolve(catalog, &Execution::default())
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut lines = match &resolved.ask {
        Ask::Values(choice) => format!("> values\n{}", chosen(choice)),
        Ask::Transform(choice, transform) => {
            let Transform { method, axes, nan } = transform;
            format!("> {} over {axes:?}, NaN {nan:?}\n{}", method.name(), chosen(choice))
        }
        Ask::Align(alignment) => {
            let axes: Vec<String> =
                alignment.axes.iter().map(|axis| format!("> {axis:?}\n")).collect();
            let with = &alignment.with.name;
            format!("> with {with}, agrees: {}\n{}", alignment.agrees(), axes.concat())
        }
        Ask::Reduce(reduction) => {
            let Reduction { op, axes, nan, params, filter, picks, groups, window } = reduction;
            let choice = Choice { filter: filter.clone(), picks: picks.clone() };
            let mut lines = format!("> {} over {axes:?}, NaN {nan:?}\n", op.name());
            if *params != Params::for_op(*op) {
                lines.push_str(&format!("> {params:?}\n"));
            }
            for group in groups {
                lines.push_str(&format!("> {group:?}\n"));
            }
            if let Some(window) = window {
                lines.push_str(&format!("> {window:?}\n"));
            }
            lines + &chosen(&choice)
        }
    };
    lines.push_str(&format!("= {:?} of {}\n", resolved.slab.counts(), resolved.dataset.name));
    lines
}

fn chosen(choice: &Choice) -> String {
    let filter = choice.filter.iter().map(|filter| format!("> {filter:?}\n"));
    filter.chain(choice.picks.iter().map(|picks| format!("> {picks:?}\n"))).collect()
}

#[cfg(all(feature = "json", feature = "toml"))]
#[test]
fn documents_ask_of_the_file_what_they_mean() {
    let catalog = catalog();
    check("fits.txt", include_str!("../tests/fits.txt"), |text| asked(&catalog, text));
}

#[cfg(all(feature = "json", feature = "toml"))]
#[test]
fn a_document_that_does_not_fit_points_at_the_place() {
    let catalog = catalog();
    check("misfits.txt", include_str!("../tests/misfits.txt"), |text| {
        let query = Query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        match query.resolve(&catalog, &Execution::default()).expect_err(text) {
            Error::Document(error) => describe(&error),
            error => panic!("{text}: no place for {error}"),
        }
    });
}

#[test]
fn a_query_built_by_hand_fails_without_a_place() {
    let catalog = catalog();
    let built = Query::new("temp").with_selection(Selection::parse("9").unwrap());
    assert!(matches!(
        built.resolve(&catalog, &Execution::default()),
        Err(Error::Query(tet_query::Error::Selection(_)))
    ));
    let missing = Query::new("tmep").resolve(&catalog, &Execution::default()).unwrap_err();
    assert!(matches!(
        missing,
        Error::Query(tet_query::Error::NoSuchDataset { suggestion: Some(_), .. })
    ));
}

#[test]
fn axes_are_found_sorted_and_all_of_them_are_all() {
    let catalog = catalog();
    let axes = |text: &str, asked: &[&str]| {
        let reduction = QueryReduction::new(Op::Sum, asked.iter().copied());
        let selection = Selection::parse(text).unwrap();
        let query = Query::new("cube").with_selection(selection).with_reduction(reduction);
        query
            .resolve(&catalog, &Execution::default())
            .map(|it| it.reduction().unwrap().axes.clone())
    };
    for (text, asked, wanted) in [
        (":, :, :", &[][..], Axes::All),
        (":, :, :", &["2", "0"], Axes::Some(vec![0, 2])),
        (":, :, :", &["2", "1", "0"], Axes::All),
        ("0, ...", &["1", "2"], Axes::All),
        ("0, :, 1", &["1"], Axes::All),
        ("0, ...", &["0", "2"], Axes::Some(vec![0, 2])),
        ("0, 0, 0", &["0"], Axes::All),
    ] {
        assert_eq!(axes(text, asked).unwrap(), wanted, "{text} {asked:?}");
    }
    let fault = |asked: &[&str]| axes("...", asked).unwrap_err().to_string();
    assert_eq!(fault(&["2", "-1"]), "axis 2 is given twice");
    assert_eq!(fault(&["3"]), "no axis \"3\" of 3 unnamed axes");
}

/// The error for a query that no document can contain.
fn refused(change: impl Fn(&mut Query)) -> String {
    let mut query = Query::new("temp");
    change(&mut query);
    match query.resolve(&catalog(), &Execution::default()).unwrap_err() {
        Error::Document(error) => {
            assert_eq!(error.line(), None);
            error.message().to_owned()
        }
        error => panic!("{error}"),
    }
}

#[test]
fn a_query_built_by_hand_is_checked_as_a_document_is() {
    let sum = || QueryReduction::new(Op::Sum, [0]);
    let both = refused(|query| {
        query.reduction = Some(sum());
        query.transform = Some(QueryTransform { method: Method::Center, axes: Vec::new() });
    });
    assert_eq!(both, "a reduction and a transform exclude each other");
    let with = |op: Op, change: fn(&mut Params)| {
        refused(|query| {
            let mut reduction = QueryReduction::new(op, [0]);
            change(&mut reduction.params);
            query.reduction = Some(reduction);
        })
    };
    assert_eq!(with(Op::Quantile, |_| ()), "a quantile takes 1 to 64 numbers, not 0");
    let past = with(Op::Quantile, |it| it.q = vec![0.5, f64::NAN]);
    assert_eq!(past, "a quantile is a number from 0 to 1");
    let none = with(Op::Histogram, |it| it.bins = 0);
    assert_eq!(none, "a histogram has 1 to 65536 bins, not 0");
    let wide = with(Op::Histogram, |it| it.range = Some((0.0, f64::INFINITY)));
    assert_eq!(wide, "no histogram goes from 0 to inf");
    let twice = refused(|query| {
        let tests = vec![(Compare::Ne, Number::Int(1)), (Compare::Ne, Number::Int(2))];
        query.filter = Some(Filter { tests, ..Filter::default() });
    });
    assert_eq!(twice, "the test \"ne\" is given twice");
    let ungrouped = refused(|query| {
        query.reduction = Some(sum());
        query.group_by = Some(GroupBy::Axes(Vec::new()));
    });
    assert_eq!(ungrouped, "\"group_by\" takes 1 to 64 axes, not 0");
    let alone = refused(|query| {
        query.align = Some(QueryAlign { with: "n".to_owned(), axes: Vec::new() });
    });
    assert_eq!(alone, "\"align\" takes 1 to 64 axes, not 0");
    let flat = refused(|query| {
        query.reduction = Some(QueryReduction::new(Op::Sum, [1]));
        query.window = Some(QueryWindow {
            axis: 0.into(),
            size: 0,
            mode: WindowMode::Bins,
            step: None,
            pad: Pad::None,
            align: WindowAlign::Start,
            min_count: None,
        });
    });
    assert_eq!(flat, "a window has 1 to 9223372036854775807 positions, not 0");
}
