//! Computations that people look for and the command does not have, and where to find them.

/// Groups of months, seasons and years.
pub(crate) const MONTHS: &str = "months and seasons are selected (-s time.month=6:8, -s time.season=JJA) and not grouped by; \
     in Python: xarray.open_dataset(FILE, engine=\"tet\")[DATASET].groupby(\"time.month\").mean()";

/// Weights of cells.
pub(crate) const WEIGHTS: &str = "means have no weights; in Python: \
     tetfile.open(FILE)[DATASET].mean(weights={\"lat\": numpy.cos(numpy.deg2rad(lat))})";

/// Arithmetic, of one dataset and of several.
pub(crate) const ARITHMETIC: &str = "there is no arithmetic with datasets; in Python: \
     d = xarray.open_dataset(FILE, engine=\"tet\"), then d[\"a\"] - d[\"b\"]";

/// A mask that is another dataset.
pub(crate) const MASKS: &str = "--where TEST uses only elements that pass it; masks of another dataset are made in Python: \
     xarray.open_dataset(FILE, engine=\"tet\")[DATASET].where(mask > 50)";

/// Advice for a name of a dataset that is a formula.
pub(crate) fn of_name(name: &str) -> Option<&'static str> {
    let is_formula = name.contains(['(', '+', '^'])
        || [" - ", " * ", " / "].iter().any(|operator| name.contains(operator));
    is_formula.then_some(ARITHMETIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_told_from_names() {
        for name in ["a - b", "tas - 273.15", "sqrt(ua^2+va^2)", "a*b + c", "ua * va"] {
            assert_eq!(of_name(name), Some(ARITHMETIC), "{name}");
        }
        for name in ["tas", "air-temperature", "entry/log/x", "layers.*.weight", "a b"] {
            assert_eq!(of_name(name), None, "{name}");
        }
    }
}
