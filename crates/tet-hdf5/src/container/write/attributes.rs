//! Attributes of datasets, of groups and of the file.

use std::collections::BTreeSet;

use crate::write::{DraftAttribute, DraftValue};
use serde_json::Value;
use tet_format::DType;
use tet_query::AttrText;

use super::Flavor;
use super::names::name;
use tet_container::Note;
use tet_container::model::attributes::FILL_KEY;
use tet_container::model::number::Listing;
use tet_container::write::netcdf::attributes::{TypedValue, Writing, value};

/// Names that the NetCDF library and dimension scales use for what the file says in another way.
const RESERVED: [&str; 9] = [
    "_Netcdf4Dimid",
    "_Netcdf4Coordinates",
    "_NCProperties",
    "_nc3_strict",
    "CLASS",
    "NAME",
    "DIMENSION_LIST",
    "REFERENCE_LIST",
    "DIMENSION_LABELS",
];

/// An attribute of a new file.
pub(super) fn attribute(name: &str, value: DraftValue) -> DraftAttribute {
    DraftAttribute { name: name.to_owned(), value }
}

/// Attributes as the file has them; `dataset` is empty for those of the file, `dtype` is the type of the
/// dataset.
pub(in super::super) fn written<'a>(
    dataset: &str,
    attrs: impl Iterator<Item = (&'a String, &'a AttrText)>,
    dtype: Option<DType>,
    flavor: Flavor,
    notes: &mut Vec<Note>,
) -> Vec<DraftAttribute> {
    let (mut all, mut taken) = (Vec::new(), BTreeSet::new());
    let (mut as_json, mut left) = (0, 0);
    for (key, attr) in attrs {
        let to = match flavor {
            // A slash is a part of the name of an attribute.
            Flavor::Hdf5 if !key.is_empty() => key.replace('\0', "_"),
            flavor => name(key, flavor),
        };
        let is_reserved = flavor == Flavor::NetCdf && RESERVED.contains(&to.as_str());
        if is_reserved || taken.contains(&to) {
            left += 1;
            continue;
        }
        let (value, writing) = of_text(key, attr, dtype, flavor);
        let (value, writing) = fitting(&to, value, writing, attr);
        if !attribute(&to, value.clone()).fits() {
            left += 1;
            continue;
        }
        if to != *key {
            notes.push(Note::Renamed { from: key.clone(), to: to.clone() });
        }
        as_json += usize::from(writing == Writing::AsJson);
        all.push(attribute(&to, value));
        taken.insert(to);
    }
    if as_json != 0 {
        notes.push(Note::AttrsAsJson { dataset: dataset.to_owned(), count: as_json });
    }
    notes.extend(Note::left_behind(dataset, "attributes", left));
    all
}

/// The value of an attribute, and whether the file has it as it is.
fn of_text(
    key: &str,
    attr: &AttrText,
    dtype: Option<DType>,
    flavor: Flavor,
) -> (DraftValue, Writing) {
    if let (AttrText::Text(text), FILL_KEY, None) = (attr, key, dtype) {
        // The fill value of a variable of strings is one.
        return (DraftValue::Texts(vec![text.clone()]), Writing::AsIs);
    }
    if let Some(value) = texts(attr).or_else(|| special(attr, flavor)) {
        return (value, Writing::AsIs);
    }
    let has = |dtype: DType| match dtype {
        DType::Float16 | DType::BFloat16 => flavor == Flavor::Hdf5,
        dtype => {
            let is_float = matches!(dtype, DType::Float32 | DType::Float64);
            is_float || dtype.is_signed_integer() || dtype.is_unsigned_integer()
        }
    };
    let (value, writing) = value(key, attr, dtype, &has);
    let value = match value {
        TypedValue::Text(text) if flavor == Flavor::NetCdf => DraftValue::Text(text),
        TypedValue::Text(text) => DraftValue::LongText(text),
        TypedValue::Numbers(dtype, bytes, listing) => {
            // One number is a list of one in NetCDF.
            let is_list = listing == Listing::List || flavor == Flavor::NetCdf;
            DraftValue::Numbers { dtype, bytes, is_list }
        }
    };
    (value, writing)
}

/// The value that fits an object header: a long one is text in a heap.
fn fitting(
    name: &str,
    value: DraftValue,
    writing: Writing,
    attr: &AttrText,
) -> (DraftValue, Writing) {
    if attribute(name, value.clone()).fits() {
        return (value, writing);
    }
    match value {
        DraftValue::Text(text) => (DraftValue::LongText(text), writing),
        _ => (DraftValue::LongText(attr.text().to_owned()), Writing::AsJson),
    }
}

/// A list of texts.
fn texts(attr: &AttrText) -> Option<DraftValue> {
    let AttrText::Json(json) = attr else { return None };
    let texts = serde_json::from_str::<Vec<String>>(json).ok()?;
    Some(DraftValue::Texts(texts)).filter(|_| json.trim() != "[]")
}

/// Values of types that are no numbers of NetCDF.
fn special(attr: &AttrText, flavor: Flavor) -> Option<DraftValue> {
    let AttrText::Numbers { dtype, json } = attr else { return None };
    if flavor == Flavor::NetCdf {
        return None;
    }
    let value: Value = serde_json::from_str(json).ok()?;
    let part = match dtype {
        DType::Bool => None,
        DType::Complex64 => Some(DType::Float32),
        DType::Complex128 => Some(DType::Float64),
        _ => return None,
    };
    let one = |value: &Value| match part {
        None => value.as_bool().map(|it| vec![u8::from(it)]),
        Some(part) => {
            let pair = value.as_array().filter(|pair| pair.len() == 2)?;
            let parts = pair.iter().map(|it| tet_container::model::number::le_bytes(part, it));
            Some(parts.collect::<Option<Vec<_>>>()?.concat())
        }
    };
    if let Some(bytes) = one(&value) {
        return Some(DraftValue::Numbers { dtype: *dtype, bytes, is_list: false });
    }
    let all = value.as_array()?.iter().map(one).collect::<Option<Vec<_>>>()?;
    Some(DraftValue::Numbers { dtype: *dtype, bytes: all.concat(), is_list: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(attr: &AttrText, flavor: Flavor, wanted: &DraftValue) {
        let (value, writing) = of_text("k", attr, None, flavor);
        assert_eq!((&value, writing), (wanted, Writing::AsIs), "{attr:?}");
    }

    #[test]
    fn values_keep_their_types() {
        let numbers = |dtype, bytes: &[u8], is_list| {
            let bytes = bytes.to_vec();
            DraftValue::Numbers { dtype, bytes, is_list }
        };
        let typed = |dtype, json: &str| AttrText::Numbers { dtype, json: json.to_owned() };
        let attr = typed(DType::UInt8, "255");
        check(&attr, Flavor::Hdf5, &numbers(DType::UInt8, &[255], false));
        check(&attr, Flavor::NetCdf, &numbers(DType::UInt8, &[255], true));
        let attr = typed(DType::Float16, "[1.0]");
        check(&attr, Flavor::Hdf5, &numbers(DType::Float16, &[0, 0x3c], true));
        let attr = typed(DType::Bool, "true");
        check(&attr, Flavor::Hdf5, &numbers(DType::Bool, &[1], false));
        let attr = typed(DType::Bool, "[true,false]");
        check(&attr, Flavor::Hdf5, &numbers(DType::Bool, &[1, 0], true));
        let attr = typed(DType::Complex64, "[1.0,0.0]");
        check(&attr, Flavor::Hdf5, &numbers(DType::Complex64, &[0, 0, 128, 63, 0, 0, 0, 0], false));
        let attr = AttrText::Json("[\"a\",\"b\"]".to_owned());
        let texts = DraftValue::Texts(vec!["a".to_owned(), "b".to_owned()]);
        check(&attr, Flavor::Hdf5, &texts);
        check(&attr, Flavor::NetCdf, &texts);
        let attr = AttrText::Text("K".to_owned());
        check(&attr, Flavor::NetCdf, &DraftValue::Text("K".to_owned()));
        check(&attr, Flavor::Hdf5, &DraftValue::LongText("K".to_owned()));
        let attr = AttrText::Json("{\"a\":1}".to_owned());
        let (value, writing) = of_text("k", &attr, None, Flavor::Hdf5);
        assert_eq!(value, DraftValue::LongText("{\"a\":1}".to_owned()));
        assert_eq!(writing, Writing::AsJson);
    }

    #[test]
    fn what_is_long_is_text_in_a_heap() {
        let list = format!("[{}]", vec!["1"; 70_000].join(","));
        let attrs = [
            ("t".to_owned(), AttrText::Text("x".repeat(70_000))),
            ("n".to_owned(), AttrText::Numbers { dtype: DType::Int64, json: list.clone() }),
            ("CLASS".to_owned(), AttrText::Text("IMAGE".to_owned())),
            ("a/b".to_owned(), AttrText::Text("x".to_owned())),
        ];
        let mut notes = Vec::new();
        let pairs = attrs.iter().map(|(key, attr)| (key, attr));
        let found = written("d", pairs, None, Flavor::NetCdf, &mut notes);
        let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["t", "n", "a_b"]);
        assert_eq!(found[0].value, DraftValue::LongText("x".repeat(70_000)));
        assert_eq!(found[1].value, DraftValue::LongText(list));
        let dataset = "d".to_owned();
        assert_eq!(
            notes,
            [
                Note::Renamed { from: "a/b".to_owned(), to: "a_b".to_owned() },
                Note::AttrsAsJson { dataset: dataset.clone(), count: 1 },
                Note::LeftBehind { dataset, what: "attributes", count: 1 },
            ]
        );
    }
}
