use std::collections::BTreeMap;

use proptest::prelude::*;
use tet_format::{Limits, Rule, Strict};

use super::*;
use crate::footer::{FooterJson, Value};

fn read_metadata(json: &str) -> Metadata {
    let limits = Limits::default();
    let root = Value::read(json.as_bytes(), 0, &limits, Rule::SpillJson, &mut Strict);
    Metadata::read(root.unwrap().unwrap(), &mut Strict).unwrap()
}

fn read_history(json: &str) -> Vec<HistoryRow> {
    let json = format!("{{\"history\":{json}}}");
    let limits = Limits::default();
    let root = Value::read(json.as_bytes(), 0, &limits, Rule::JsonSyntax, &mut Strict);
    FooterJson::read(root.unwrap().unwrap(), &mut Strict).unwrap().history
}

/// Strings of all lengths that matter: none, short, and around the longest plain one.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "\\PC{0,8}",
        2 => "[\\x00-\\x7f]{0,12}",
        1 => (1020_usize..1028).prop_map(|len| "x".repeat(len)),
    ]
}

fn json() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null"),
        Just("true"),
        Just("-0.0"),
        Just("123456789012345678901234567890"),
        Just("[1, 2 ,{\"a\":\"b\"}]"),
        Just("{}"),
    ]
    .prop_map(str::to_owned)
}

fn attrs() -> impl Strategy<Value = BTreeMap<String, AttrValue>> {
    let value = prop_oneof![text().prop_map(AttrValue::Text), json().prop_map(AttrValue::Json)];
    let few = prop::collection::btree_map(text(), value, 0..5);
    let many = (60..70).prop_map(|count| {
        (0..count).map(|number| (format!("k{number}"), AttrValue::from("v"))).collect()
    });
    prop_oneof![6 => few, 1 => many]
}

fn unknown() -> impl Strategy<Value = Unknown> {
    prop::collection::btree_map("u[a-z]{0,3}", json(), 0..3)
        .prop_map(|map| map.into_iter().collect())
}

fn dataset() -> impl Strategy<Value = DatasetMetadata> {
    let labels = prop_oneof![
        4 => prop::collection::vec(text(), 0..5),
        1 => (62_usize..67).prop_map(|count| vec!["l".to_owned(); count]),
    ];
    let coords = prop::collection::btree_map(text(), labels, 0..3);
    let unknown_coords = prop::collection::btree_map(text(), unknown(), 0..2).prop_map(
        |mut map: BTreeMap<_, Unknown>| {
            map.retain(|_, unknown| !unknown.is_empty());
            map
        },
    );
    let dim_names = prop::collection::vec(text(), 0..4);
    (dim_names, coords, attrs(), unknown(), unknown_coords).prop_map(
        |(dim_names, coords, attrs, unknown, unknown_coords)| DatasetMetadata {
            dim_names,
            coords,
            attrs,
            unknown,
            unknown_coords,
        },
    )
}

fn metadata() -> impl Strategy<Value = Metadata> {
    let datasets = prop_oneof![
        8 => prop::collection::btree_map(text(), dataset(), 0..4),
        1 => dataset().prop_map(|dataset| {
            (0..260).map(|number| (format!("d{number}"), dataset.clone())).collect()
        }),
    ];
    (attrs(), datasets, unknown(), unknown()).prop_map(
        |(file, mut datasets, unknown, unknown_tet)| {
            // A dataset without metadata is not written.
            datasets.retain(|_: &String, dataset| !dataset.is_empty());
            Metadata { file, datasets, unknown, unknown_tet }
        },
    )
}

/// Asserts that the oldest readers accept the footer, by the rules of the format page.
fn assert_oldest_readers_take(json: &str) {
    let root: serde_json::Value = serde_json::from_str(json).unwrap();
    let fits = |text: &str| !text.is_empty() && text.len() <= 1024;
    let attrs_fit = |attrs: &serde_json::Value| {
        let Some(attrs) = attrs.as_object() else { return };
        assert!(attrs.len() <= 64);
        for (key, value) in attrs {
            assert!(fits(key) && fits(value.as_str().expect("a string")));
        }
    };
    attrs_fit(&root["file"]);
    let Some(datasets) = root["datasets"].as_object() else { return };
    assert!(datasets.len() <= 256);
    for (name, dataset) in datasets {
        assert!(fits(name));
        attrs_fit(&dataset["attrs"]);
        for dim in dataset["dim_names"].as_array().into_iter().flatten() {
            assert!(fits(dim.as_str().unwrap()));
        }
        for (axis, coord) in dataset["coords"].as_object().into_iter().flatten() {
            let labels = coord["labels"].as_array().cloned().unwrap_or_default();
            assert!(fits(axis) && labels.len() <= 64);
            assert!(labels.iter().all(|label| fits(label.as_str().unwrap())));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn metadata_comes_back_and_stays_within_the_oldest_limits(metadata in metadata()) {
        let json = encode(&metadata).unwrap();
        assert_oldest_readers_take(&json);
        prop_assert_eq!(read_metadata(&json), metadata);
    }

    #[test]
    fn history_comes_back(
        rows in prop::collection::vec((text(), text(), text(), prop::collection::vec(text(), 0..3)), 0..4),
        params in prop::collection::btree_map(text(), text(), 0..3),
    ) {
        let rows: Vec<HistoryRow> = rows
            .into_iter()
            .map(|(op, source, at, parents)| {
                HistoryRow { op, source, at, parents, params: params.clone(), extra: vec![] }
            })
            .collect();
        prop_assert_eq!(read_history(&encode_history(&rows).unwrap()), rows);
    }

    #[test]
    fn any_text_gets_an_answer(json in "[\\[\\]{}:,\"a0-9 ]{0,40}") {
        let mut faults: Vec<tet_format::Error> = Vec::new();
        let limits = Limits::default();
        let root = Value::read(json.as_bytes(), 0, &limits, Rule::JsonSyntax, &mut faults).unwrap();
        let is_object = serde_json::from_str::<serde_json::Map<_, _>>(&json).is_ok();
        prop_assert!(root.is_none() || is_object);
        if let Some(root) = root {
            FooterJson::read(root, &mut faults).unwrap();
        }
    }
}

#[test]
fn unknown_history_members_become_parameters() {
    let mut row = HistoryRow::new("o", "s", "1");
    row.params.insert("kept".to_owned(), "first".to_owned());
    let extra = [("agent", "\"me\""), ("n", "[1]"), ("kept", "\"second\"")];
    row.extra = extra.map(|(key, text)| (key.to_owned(), text.to_owned())).to_vec();
    let json = encode_history(&[row]).unwrap();
    let wanted =
        r#"[{"op":"o","source":"s","at":"1","params":{"agent":"me","kept":"first","n":"[1]"}}]"#;
    assert_eq!(json, wanted);
}

#[test]
fn json_that_would_break_the_footer_is_refused() {
    let deep = format!("{}{}", "[".repeat(57), "]".repeat(57));
    for text in ["", "{", "1,\"b\":2", "tru", "{\"a\":1,\"a\":2}", &deep] {
        let mut metadata = Metadata::new();
        metadata.file.insert("key".to_owned(), AttrValue::Json(text.to_owned()));
        let error = encode(&metadata).unwrap_err();
        assert!(matches!(error, crate::Error::Json { .. }), "{text}: {error:?}");
        assert_eq!(error.kind(), crate::Kind::Usage);
    }
}

#[test]
fn the_deepest_value_that_is_written_is_read() {
    let deep = format!("{}{}", "[".repeat(56), "]".repeat(56));
    let mut metadata = Metadata::new();
    let mut dataset = DatasetMetadata::default();
    dataset.attrs.insert("deep".to_owned(), AttrValue::Json(deep));
    metadata.datasets.insert("d".to_owned(), dataset);
    let json = format!("{{\"metadata\":{}}}", encode(&metadata).unwrap());
    let limits = Limits::default();
    assert!(Value::read(json.as_bytes(), 0, &limits, Rule::JsonSyntax, &mut Strict).is_ok());
}

#[test]
fn plain_metadata_takes_precedence_over_tet() {
    let metadata = read_metadata(
        r#"{"tet":{"file":{"a":1,"b":2}},"file":{"a":"changed"},"datasets":{"d":{"dim_names":["x"]}}}"#,
    );
    assert_eq!(metadata.file["a"], AttrValue::from("changed"));
    assert_eq!(metadata.file["b"], AttrValue::Json("2".to_owned()));
}

#[test]
fn axes_are_named_or_numbered() {
    let dim_names = ["y", "x", "0"].map(str::to_owned).to_vec();
    let dataset = DatasetMetadata { dim_names, ..DatasetMetadata::default() };
    let axes = ["x", "0", "1", "3", "01", "+1", "", "z"].map(|key| dataset.axis(key, 3));
    assert_eq!(axes, [Some(1), Some(2), Some(1), None, None, None, None, None]);
    // Names that do not fit the rank name nothing.
    assert_eq!(["x", "0", "1"].map(|key| dataset.axis(key, 2)), [None, Some(0), Some(1)]);
}
