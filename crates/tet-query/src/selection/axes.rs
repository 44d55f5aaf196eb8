//! Which axis a name or a number means.

use super::error::SelectionFault;
use crate::axis::AxisRef;
use crate::labels::LabelLookup;
use crate::suggestion::nearest_word;

/// The axis that is meant, of `rank` axes with these dimension names (or none).
///
/// A name is looked for among the names first; decimal text that names no dimension is a number.
///
/// # Errors
///
/// No such axis, or several.
pub fn find_axis(
    asked: &AxisRef,
    dims: &[String],
    rank: usize,
) -> std::result::Result<usize, Box<SelectionFault>> {
    let missing = |suggestion: Option<&str>| {
        let (asked, dims) = (asked.clone(), dims.to_vec());
        let suggestion = suggestion.map(str::to_owned);
        Box::new(SelectionFault::NoSuchAxis { asked, rank, dims, suggestion, dims_of: None })
    };
    match asked {
        AxisRef::Number(number) => numbered(*number, rank).ok_or_else(|| missing(None)),
        AxisRef::Name(name) => {
            let axes: Vec<usize> =
                (0..rank.min(dims.len())).filter(|&i| dims[i] == *name).collect();
            match axes[..] {
                [axis] => Ok(axis),
                [] => {
                    name.parse::<i64>().ok().and_then(|number| numbered(number, rank)).ok_or_else(
                        || {
                            // A path as lists of axes have it.
                            let leaf = name.rsplit('/').next().filter(|leaf| leaf != name);
                            let named = leaf.filter(|leaf| dims.iter().any(|dim| dim == leaf));
                            let near = || nearest_word(name, dims.iter().map(String::as_str));
                            missing(named.or_else(near))
                        },
                    )
                }
                _ => Err(SelectionFault::AmbiguousAxis { name: name.clone(), axes }.into()),
            }
        }
    }
}

impl SelectionFault {
    /// The fault of an axis that there is not, with the dimensions of the dataset that has the name.
    ///
    /// # Examples
    ///
    /// ```
    /// use tet_query::{NoLabels, find_axis};
    ///
    /// let fault = find_axis(&"lat".into(), &["y".to_owned()], 1).unwrap_err();
    /// assert_eq!(fault.with_dims_of(&NoLabels).to_string(), "no axis \"lat\" (y)");
    /// ```
    #[must_use]
    pub fn with_dims_of(mut self: Box<Self>, labels: &dyn LabelLookup) -> Box<Self> {
        if let SelectionFault::NoSuchAxis { asked: AxisRef::Name(name), dims_of, .. } = &mut *self {
            *dims_of = labels.dims_of(name);
        }
        self
    }
}

fn numbered(number: i64, rank: usize) -> Option<usize> {
    let from_end = usize::try_from(number.unsigned_abs()).ok()?;
    let axis = if number < 0 { rank.checked_sub(from_end)? } else { from_end };
    (axis < rank).then_some(axis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_found_by_name_and_by_number() {
        let dims = ["time", "1", "lat"].map(str::to_owned);
        for (asked, wanted) in [
            (AxisRef::from("time"), Some(0)),
            (AxisRef::from("lat"), Some(2)),
            (AxisRef::from("1"), Some(1)),
            (AxisRef::from("2"), Some(2)),
            (AxisRef::from("0"), Some(0)),
            (AxisRef::from("-1"), Some(2)),
            (AxisRef::from(1), Some(1)),
            (AxisRef::from(-3), Some(0)),
            (AxisRef::from(3), None),
            (AxisRef::from(-4), None),
            (AxisRef::from(i64::MIN), None),
            (AxisRef::from("3"), None),
            (AxisRef::from(""), None),
        ] {
            assert_eq!(find_axis(&asked, &dims, 3).ok(), wanted, "{asked:?}");
        }
        let fault = find_axis(&"tiem".into(), &dims, 3).unwrap_err();
        assert_eq!(fault.to_string(), "no axis \"tiem\" (time, 1, lat)");
        assert_eq!(fault.hint().unwrap(), "did you mean \"time\"?");
        let fault = find_axis(&"entry/detector/time".into(), &dims, 3).unwrap_err();
        assert_eq!(fault.hint().unwrap(), "did you mean \"time\"?");
        let fault = find_axis(&"x".into(), &[], 2).unwrap_err();
        assert_eq!(fault.to_string(), "no axis \"x\" of 2 unnamed axes");
    }

    #[test]
    fn a_doubled_name_is_ambiguous() {
        let dims = ["x", "x"].map(str::to_owned);
        let fault = find_axis(&"x".into(), &dims, 2).unwrap_err();
        assert_eq!(fault.to_string(), "several axes are named \"x\"");
        assert_eq!(fault.hint().unwrap(), "use its number: 0, 1");
    }
}
