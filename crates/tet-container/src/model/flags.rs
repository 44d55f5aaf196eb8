//! The names of integers as the attributes `flag_values` and `flag_meanings`, as CF has them (section 3.5): every
//! container holds these.

use std::collections::BTreeMap;

use tet_query::{AttrText, Dataset, Enumeration};

/// The attributes.
const KEYS: [&str; 2] = ["flag_values", "flag_meanings"];

/// The values of [`KEYS`]; a blank in a name becomes `_`.
fn attrs_of(of: &Enumeration) -> [AttrText; 2] {
    let values: Vec<u8> = of.members.iter().flat_map(|(_, value)| value.clone()).collect();
    let word = |name: &String| name.split_whitespace().collect::<Vec<_>>().join("_");
    let words: Vec<String> = of.members.iter().map(|(name, _)| word(name)).collect();
    [AttrText::numbers(of.dtype, &values), AttrText::Text(words.join(" "))]
}

/// Adds the names of the elements of a dataset to its attributes, unless it has such attributes.
pub fn add(dataset: &mut Dataset) {
    let Some(of) = dataset.enumeration.clone() else { return };
    if KEYS.iter().all(|key| !dataset.attrs.contains_key(*key)) {
        dataset.attrs.extend(KEYS.map(str::to_owned).into_iter().zip(attrs_of(&of)));
    }
}

/// Takes them out of the attributes of a dataset whose type says it in the output.
pub fn remove(attrs: &mut BTreeMap<String, AttrText>, of: &Enumeration) {
    for (key, attr) in KEYS.iter().zip(attrs_of(of)) {
        if attrs.get(*key) == Some(&attr) {
            attrs.remove(*key);
        }
    }
}

#[cfg(test)]
mod tests {
    use tet_format::DType;

    use super::*;

    #[test]
    fn names_are_words() {
        let members = vec![("clear sky".to_owned(), vec![0]), ("cloudy".to_owned(), vec![255])];
        let of = Enumeration { dtype: DType::UInt8, members };
        let [values, meanings] = attrs_of(&of);
        assert_eq!((values.text(), meanings.text()), ("[0,255]", "clear_sky cloudy"));
    }
}
