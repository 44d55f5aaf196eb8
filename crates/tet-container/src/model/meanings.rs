//! Attributes without which the values of a dataset mean something else: they are compared wherever arrays of several
//! files become one.

use std::collections::{BTreeMap, BTreeSet};

use tet_format::DType;
use tet_query::{AttrText, have_same_units};

use super::attributes::{FILL_KEY, UNITS_KEY};

const CALENDAR_KEY: &str = "calendar";
/// How numbers are packed, and what they are where the attribute is missing.
const PACKING: [(&str, &str); 3] =
    [("scale_factor", "1"), ("add_offset", "0"), ("_Unsigned", "false")];
/// Which numbers are missing ones, or valid.
const MARKS: [&str; 5] = [FILL_KEY, "missing_value", "valid_min", "valid_max", "valid_range"];

type Attrs = BTreeMap<String, AttrText>;

/// Attributes that differ between two datasets of one name.
#[derive(Debug, PartialEq, Eq)]
pub struct Differing {
    /// The name.
    pub key: String,
    /// The values, for a message.
    pub shown: [String; 2],
}

impl Differing {
    fn new(key: &str, one: Option<&AttrText>, two: Option<&AttrText>) -> Differing {
        let shown = |attr: Option<&AttrText>| attr.map_or("none".to_owned(), AttrText::shown);
        let shown = match (one, two) {
            (Some(one), Some(two)) => AttrText::shown_apart(one, two),
            (one, two) => [shown(one), shown(two)],
        };
        Differing { key: key.to_owned(), shown }
    }
}

/// The first attribute by which the values of `more`, behind or beside those of `first`, would change their meaning.
///
/// Where `more` has no unit or mark of missing values, it has those of `first`.
pub fn differing_meaning(first: &Attrs, more: &Attrs) -> Option<Differing> {
    let differs = |key: &str| Some(Differing::new(key, first.get(key), more.get(key)));
    if more.contains_key(UNITS_KEY)
        && first.contains_key(UNITS_KEY)
        && !have_same_units(first, more)
    {
        let is_same = |key| is_same(first.get(key), more.get(key));
        let key = if is_same(UNITS_KEY) { CALENDAR_KEY } else { UNITS_KEY };
        return differs(key);
    }
    for (key, default) in PACKING {
        let default = match key {
            "_Unsigned" => AttrText::Text(default.to_owned()),
            _ => AttrText::Json(default.to_owned()),
        };
        let [one, two] = [first, more].map(|attrs| attrs.get(key).unwrap_or(&default));
        if !one.is_same(two) {
            return differs(key);
        }
    }
    // NaN is missing without a mark, too.
    let nan = AttrText::number(DType::Float64, &f64::NAN.to_le_bytes());
    let is_other = |key: &&str| match (first.get(*key), more.get(*key)) {
        (Some(one), Some(two)) => !one.is_same(two),
        (None, Some(two)) => {
            [FILL_KEY, "missing_value"].contains(key) && !first.is_empty() && !two.is_same(&nan)
        }
        _ => false,
    };
    MARKS.into_iter().find(is_other).and_then(differs)
}

/// The first attribute by which the values of two datasets beside each other mean something else.
pub fn differing_either(one: &Attrs, two: &Attrs) -> Option<Differing> {
    let turned = || {
        differing_meaning(two, one)
            .map(|it| Differing::new(&it.key, one.get(&it.key), two.get(&it.key)))
    };
    let is_alone = one.contains_key(UNITS_KEY) != two.contains_key(UNITS_KEY);
    let alone = is_alone.then(|| Differing::new(UNITS_KEY, one.get(UNITS_KEY), two.get(UNITS_KEY)));
    differing_meaning(one, two).or_else(turned).or(alone)
}

/// The names of the attributes that differ, units by what they mean.
pub fn differing_keys(one: &Attrs, two: &Attrs) -> BTreeSet<String> {
    let keys = one.keys().chain(two.keys());
    let has_same_units = one.contains_key(UNITS_KEY) && have_same_units(one, two);
    let is_unit = |key: &str| has_same_units && [UNITS_KEY, CALENDAR_KEY].contains(&key);
    let differs = |key: &&String| !is_unit(key) && !is_same(one.get(*key), two.get(*key));
    keys.filter(differs).cloned().collect()
}

/// The first attribute that differs, with its values.
pub fn differing_attr(one: &Attrs, two: &Attrs) -> Option<Differing> {
    let key = differing_keys(one, two).into_iter().next()?;
    Some(Differing::new(&key, one.get(&key), two.get(&key)))
}

fn is_same(one: Option<&AttrText>, two: Option<&AttrText>) -> bool {
    match (one, two) {
        (Some(one), Some(two)) => one.is_same(two),
        (one, two) => one.is_none() && two.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attrs(pairs: &[(&str, &str)]) -> Attrs {
        let value = |text: &str| match text.parse::<f64>() {
            Ok(it) if it.is_nan() => AttrText::number(DType::Float32, &f32::NAN.to_le_bytes()),
            Ok(_) => AttrText::Json(text.to_owned()),
            Err(_) => AttrText::Text(text.to_owned()),
        };
        pairs.iter().map(|(key, text)| ((*key).to_owned(), value(text))).collect()
    }

    #[test]
    fn what_changes_values_differs() {
        let of = |one: &[(&str, &str)], two: &[(&str, &str)]| {
            differing_meaning(&attrs(one), &attrs(two)).map(|it| it.key)
        };
        let days = [("units", "days since 2000-01-01")];
        assert_eq!(
            of(&days, &[("units", "days since 2000-1-1 00:00"), ("calendar", "standard")]),
            None
        );
        assert_eq!(of(&days, &[("units", "days since 2000-01-02")]).as_deref(), Some("units"));
        let no_leap = [days[0], ("calendar", "noleap")];
        assert_eq!(of(&days, &no_leap).as_deref(), Some("calendar"));
        assert_eq!(of(&days, &[]), None);
        assert_eq!(of(&[("scale_factor", "1.0")], &[]), None);
        assert_eq!(of(&[("scale_factor", "0.5")], &[]).as_deref(), Some("scale_factor"));
        assert_eq!(of(&[], &[("_Unsigned", "true")]).as_deref(), Some("_Unsigned"));
        assert_eq!(of(&[("_FillValue", "-9")], &[]), None);
        assert_eq!(of(&days, &[("_FillValue", "-9")]).as_deref(), Some("_FillValue"));
        assert_eq!(of(&days, &[("_FillValue", "NaN")]), None);
        assert_eq!(of(&[("valid_min", "0")], &[("valid_min", "1")]).as_deref(), Some("valid_min"));
    }
}
