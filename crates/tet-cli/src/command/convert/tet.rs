//! How a `.tet` file is written.

use std::collections::BTreeSet;

use tet_convert::{
    Attribute, AxisLabels, DimNames, ImportOptions, LabelRange, LabelSource, Origin,
};
use tet_file::metadata::AttrValue;
use tet_file::write::{DigestChoice, StatisticsChoice};

use super::storage::chunk_rules;
use crate::args::ConvertArgs;
use crate::context::Context;
use crate::exit::{Failure, Result};
use crate::open;

/// The import options, from the options of the command line.
///
/// # Errors
///
/// An option cannot be parsed.
pub(super) fn options(args: &ConvertArgs, context: &Context<'_>) -> Result<ImportOptions> {
    let (overwrite, sync) = open::publish_options(args.write);
    let mut options = ImportOptions::default();
    options.chunks = chunk_rules(&args.chunks)?;
    options.keep_stored = args.merge && keeps_stored(args);
    options.threads = args.read.threads;
    options.reserved_rows = args.reserve.reserve_rows;
    options.dims = args.dims.iter().map(|text| dims(text)).collect::<Result<_>>()?;
    options.attrs = args.attr.iter().map(|text| attr(text)).collect::<Result<_>>()?;
    options.labels = args.labels.iter().map(|text| labels(text)).collect::<Result<_>>()?;
    options.include.clone_from(&args.dataset);
    options.exclude.clone_from(&args.exclude);
    options.name.clone_from(&args.name);
    options.history = (!args.no_history).then(|| Origin { at: context.env().now() });
    options.overwrite = overwrite;
    options.sync = sync;
    if args.no_digests {
        options.digests = DigestChoice::Left;
    }
    if args.no_stats {
        options.statistics = StatisticsChoice::Left;
    }
    Ok(options)
}

/// Whether no option is about how chunks are stored, or changes values.
fn keeps_stored(args: &ConvertArgs) -> bool {
    let is_stored_so = args.store.codec.is_empty() && args.store.level.is_empty();
    let has_digests = !args.no_digests && !args.no_stats;
    let has_same_values = args.dtype.is_empty() && args.select.is_none() && !args.values.decoded;
    is_stored_so && has_digests && has_same_values
}

/// `time,lat` or `temp=time,lat`.
///
/// # Errors
///
/// Two axes have the same name.
pub(in crate::command) fn dims(text: &str) -> Result<DimNames> {
    let (dataset, names) = match text.split_once('=') {
        Some((dataset, names)) => (Some(dataset.to_owned()), names),
        None => (None, text),
    };
    let names: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
    let mut seen = BTreeSet::new();
    match names.iter().find(|name| !seen.insert(*name)) {
        Some(twice) => {
            let text = format!("--dims {text:?} names two axes {twice:?}");
            Err(Failure::usage("dims", text).hint("give each axis a name of its own"))
        }
        None => Ok(DimNames { dataset, names }),
    }
}

/// Keys of attributes that `tet` sets, which name no dataset.
const OWN_KEYS: [&str; 3] = ["tet:scalar", "tet:types", "tet:attrs"];

/// `title=Climate` or `temp:units=degC`; `:cf:role=x` for all datasets, with a colon in the key.
pub(in crate::command) fn attr(text: &str) -> Result<Attribute> {
    let Some((key, value)) = text.split_once('=').filter(|(key, _)| !key.is_empty()) else {
        let text = format!("{text:?} is not an attribute");
        return Err(Failure::usage("attribute", text).hint("write KEY=VALUE or DATASET:KEY=VALUE"));
    };
    let (dataset, key) = attr_key(key);
    let dataset = dataset.map(str::to_owned);
    Ok(Attribute { dataset, key: key.to_owned(), value: value_of(value) })
}

/// The dataset and the key of `DATASET:KEY`, `KEY` or `:KEY`; keys such as `tet:scalar` are those of all datasets.
pub(in crate::command) fn attr_key(text: &str) -> (Option<&str>, &str) {
    match text.split_once(':') {
        Some(("", key)) => (None, key),
        Some((dataset, key)) if !OWN_KEYS.contains(&text) => (Some(dataset), key),
        _ => (None, text),
    }
}

/// JSON if it is, as `0.5` or `[0,1]`, else a text.
fn value_of(text: &str) -> AttrValue {
    match serde_json::from_str(text) {
        Ok(serde_json::Value::String(text)) => AttrValue::Text(text),
        Ok(_) => AttrValue::Json(text.to_owned()),
        Err(_) => AttrValue::Text(text.to_owned()),
    }
}

/// `station=A,B`, `temp:0=A,B`, `station=@code` or `lat=90..-90/0.25`.
pub(in crate::command) fn labels(text: &str) -> Result<AxisLabels> {
    let Some((axis, labels)) = text.split_once('=').filter(|(axis, _)| !axis.is_empty()) else {
        let text = format!("{text:?} does not set labels");
        return Err(
            Failure::usage("labels", text).hint("write AXIS=a,b,c, AXIS=@ARRAY or AXIS=0..90/0.5")
        );
    };
    let (dataset, axis) = match axis.split_once(':') {
        Some((dataset, axis)) => (Some(dataset.to_owned()), axis),
        None => (None, axis),
    };
    let from = match labels.strip_prefix('@') {
        Some(array) => LabelSource::Array(array.to_owned()),
        None => LabelRange::parse(labels).map_or_else(|| texts(labels), LabelSource::Range),
    };
    Ok(AxisLabels { dataset, axis: axis.to_owned(), from })
}

/// A list of labels.
fn texts(labels: &str) -> LabelSource {
    LabelSource::Texts(labels.split(',').map(|it| it.trim().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_texts_or_an_array() {
        let of_all = labels("station=A, B").expect("labels");
        assert_eq!((of_all.dataset, of_all.axis.as_str()), (None, "station"));
        assert_eq!(of_all.from, LabelSource::Texts(vec!["A".to_owned(), "B".to_owned()]));
        let of_one = labels("temp:0=@code").expect("labels");
        assert_eq!((of_one.dataset.as_deref(), of_one.axis.as_str()), (Some("temp"), "0"));
        assert_eq!(of_one.from, LabelSource::Array("code".to_owned()));
        let range = labels("lat=90..-90/0.25").expect("labels").from;
        assert!(matches!(range, LabelSource::Range(range) if range.count(0) == 721));
        assert!(matches!(labels("lat=a..b").expect("labels").from, LabelSource::Texts(_)));
        assert!(labels("A,B").is_err());
    }

    #[test]
    fn names_and_attributes_may_be_for_one_dataset() {
        let all = dims("time, lat").unwrap();
        assert_eq!((all.dataset, all.names.join("|")), (None, "time|lat".to_owned()));
        assert_eq!(dims("temp=time,lat").unwrap().dataset.as_deref(), Some("temp"));
        let cases = [
            ("title=A=B", (None, "title", "A=B")),
            ("temp:units=degC", (Some("temp"), "units", "degC")),
            ("tet:scalar=1", (None, "tet:scalar", "1")),
            ("tet:units=K", (Some("tet"), "units", "K")),
            (":tet:units=K", (None, "tet:units", "K")),
        ];
        for (text, (dataset, key, value)) in cases {
            let attr = attr(text).expect("an attribute");
            assert_eq!(attr.dataset.as_deref(), dataset);
            assert_eq!((attr.key.as_str(), attr.value.as_str()), (key, value));
        }
        assert!(attr("novalue").is_err());
        assert!(attr("=x").is_err());
    }
}
