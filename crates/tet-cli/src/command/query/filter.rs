//! Parses the tests of `--where`.

use tet_query::{Compare, Filter, Number};

use crate::exit::{Failure, Result};

/// The hint for an invalid test.
const HINT: &str = "write 'gt 273.15', 'ge 0, lt 40', 'ne -9999', null or not-null";
/// The hint for a test that names a dataset.
const OF_ANOTHER: &str = "a test is of the values themselves, as 'gt 50'; --label-filter state=run uses the positions at \
     which another dataset has a value";

/// Parses tests such as `ge 0, lt 40`; `None` if there are none.
///
/// # Errors
///
/// A text is not a test, or a comparison is used twice.
pub(crate) fn parse(texts: &[String]) -> Result<Option<Filter>> {
    let mut filter = Filter::default();
    for text in texts {
        for test in text.split(',') {
            add(&mut filter, test.trim())?;
        }
    }
    Ok(if texts.is_empty() { None } else { Some(filter) })
}

fn add(filter: &mut Filter, test: &str) -> Result<()> {
    let hint = if names_another(test) { OF_ANOTHER } else { HINT };
    let wrong = || Failure::usage("where", format!("{test:?} is not a test")).hint(hint);
    match test {
        "null" | "is-null" | "is_null" => filter.is_null = true,
        "not-null" | "is-not-null" | "is_not_null" => filter.is_not_null = true,
        _ => {
            let (compare, rest) = comparison(test).ok_or_else(wrong)?;
            let number = number(rest).ok_or_else(wrong)?;
            if filter.tests.iter().any(|(known, _)| *known == compare) {
                let text = format!("--where uses this comparison twice: {test:?}");
                return Err(Failure::usage("where", text).hint("use each comparison once"));
            }
            filter.tests.push((compare, number));
        }
    }
    Ok(())
}

const COMPARISONS: [(&str, Compare); 13] = [
    ("eq", Compare::Eq),
    ("ne", Compare::Ne),
    ("le", Compare::Le),
    ("lt", Compare::Lt),
    ("ge", Compare::Ge),
    ("gt", Compare::Gt),
    ("==", Compare::Eq),
    ("!=", Compare::Ne),
    ("<=", Compare::Le),
    (">=", Compare::Ge),
    ("=", Compare::Eq),
    ("<", Compare::Lt),
    (">", Compare::Gt),
];

/// Whether a text is a test of a name, as `state=run` or `sftlf gt 50`.
fn names_another(test: &str) -> bool {
    let is_name = |name: &str| name.trim_end().starts_with(char::is_alphabetic);
    COMPARISONS.iter().any(|(word, _)| {
        let is_word = word.starts_with(char::is_alphabetic);
        let word = if is_word { format!(" {word} ") } else { (*word).to_owned() };
        test.split_once(&word).is_some_and(|(name, value)| is_name(name) && !value.is_empty())
    })
}

fn comparison(test: &str) -> Option<(Compare, &str)> {
    let found = |(name, compare): &(&str, Compare)| Some((*compare, test.strip_prefix(name)?));
    COMPARISONS.iter().find_map(found)
}

/// Parses a number; integers are exact.
#[must_use]
pub(crate) fn number(text: &str) -> Option<Number> {
    let text = text.trim();
    let float = || text.parse().ok().filter(|&float| is_in_range(text, float)).map(Number::Float);
    text.parse::<i128>().ok().map(Number::Int).or_else(float)
}

/// Whether a number is in the range of float64: `1e999` would become infinite, `1e-999` would become
/// 0.
fn is_in_range(text: &str, float: f64) -> bool {
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let has = |digits: &str| mantissa.contains(|next: char| digits.contains(next));
    !has("0123456789") || (float.is_finite() && (float != 0.0 || !has("123456789")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<Filter> {
        parse(&[text.to_owned()]).ok().flatten()
    }

    #[test]
    fn tests_of_another_dataset_are_told_apart() {
        for test in ["state=run", "sftlf gt 50", "level <= 5", "mask.nc:land != 0"] {
            assert!(names_another(test), "{test}");
        }
        for test in ["gt x", "gt", "= five", "run", "=", "gt 5 K"] {
            assert!(!names_another(test), "{test}");
        }
    }

    #[test]
    fn tests_are_read_in_words_and_in_signs() {
        use Compare::{Eq, Ge, Lt, Ne};
        let cases = [
            ("ge 0, lt 40", vec![(Ge, Number::Int(0)), (Lt, Number::Int(40))]),
            (">=0,<40.5", vec![(Ge, Number::Int(0)), (Lt, Number::Float(40.5))]),
            ("= -1e3", vec![(Eq, Number::Float(-1000.0))]),
            ("!= 18446744073709551615", vec![(Ne, Number::Int(u64::MAX.into()))]),
        ];
        for (text, tests) in cases {
            assert_eq!(parsed(text), Some(Filter { tests, ..Filter::default() }), "{text}");
        }
        assert!(parsed("lt inf").is_some() && parsed("eq 0e0").is_some());
        let filter = parsed("not-null").expect("a filter");
        assert!(filter.is_not_null && !filter.is_null && filter.tests.is_empty());
        assert_eq!(parse(&[]), Ok(None));
    }

    #[test]
    fn what_is_no_test_is_refused() {
        for text in ["", "gt", "about 3", "gt 1, gt 2", "gt x", "3", "gt 1e999", "lt -1e-999"] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }
}
