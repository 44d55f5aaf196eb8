//! Whether what is found is what is wanted.

use tet_query::{Details, Scalar};

use super::case::Want;
use super::found::QueryOutcome;

/// Says what differs.
pub(super) fn compare(want: &Want, found: &QueryOutcome) -> Result<(), String> {
    let (shape, values, dtype, details) = match found {
        QueryOutcome::Error(error) => {
            let said = match want.kind.as_str() {
                "error overflow" => error.contains("does not fit 128 bits"),
                "error range" => error.contains("infinite elements"),
                _ => false,
            };
            return if said { Ok(()) } else { Err("an error".to_owned()) };
        }
        QueryOutcome::Values { shape, values, dtype, details } => (shape, values, dtype, details),
    };
    same("shape", shape, &want.shape)?;
    same("number of values", &values.len(), &want.values.len())?;
    if let Some(wanted) = &want.dtype {
        same("dtype", &dtype.unwrap_or_default(), &wanted.as_str())?;
    }
    for (at, (&value, wanted)) in values.iter().zip(&want.values).enumerate() {
        let tolerance = want.tolerances.get(at).copied().unwrap_or(0.0);
        if wanted != "*" && !agrees(&want.kind, value, wanted, tolerance) {
            return Err(format!("value {at} is {value:?}, not {wanted} within {tolerance:e}"));
        }
    }
    match details {
        Details::Histogram { edges, below, above } => {
            same("edges", edges, &want.edges)?;
            same("below", below, &want.outside[0])?;
            same("above", above, &want.outside[1])
        }
        _ => same("edges", &Vec::new(), &want.edges),
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, wanted: &T) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("the {what}: {found:?}, not {wanted:?}")) }
}

/// Whether a value is of its kind and near enough.
fn agrees(kind: &str, value: Scalar, wanted: &str, tolerance: f64) -> bool {
    let exact = matches!(kind, "element" | "array");
    match value {
        Scalar::Null => wanted == "-",
        Scalar::Bool(truth) => kind == "truth" && wanted == if truth { "T" } else { "F" },
        Scalar::Int(integer) => (kind == "int" || exact) && wanted.parse::<i128>() == Ok(integer),
        value => {
            let (Some(found), Ok(wanted)) = (value.to_f64(), wanted.parse::<f64>()) else {
                return false;
            };
            let floats = exact || kind == "float" && matches!(value, Scalar::Float64(_));
            let signs = !exact || found.is_sign_negative() == wanted.is_sign_negative();
            let nan = found.is_nan() && wanted.is_nan();
            let near = (found == wanted && signs) || (found - wanted).abs() <= tolerance;
            floats && (nan || near && (signs || tolerance > 0.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_nulls_signs_and_bounds_tell_values_apart() {
        for (kind, value, wanted, tolerance, agree) in [
            ("int", Scalar::Int(7), "7", 0.0, true),
            ("int", Scalar::Int(7), "8", 9.0, false),
            ("int", Scalar::Float64(7.0), "7", 0.0, false),
            ("float", Scalar::Float64(7.0), "7.0", 0.0, true),
            ("float", Scalar::Float64(7.5), "7.0", 0.4, false),
            ("float", Scalar::Float64(7.5), "7.0", 0.5, true),
            ("float", Scalar::Float64(f64::NAN), "nan", 0.0, true),
            ("float", Scalar::Float64(f64::NAN), "1.0", 1e300, false),
            ("float", Scalar::Float64(f64::INFINITY), "1.0", 1e300, false),
            ("float", Scalar::Float64(f64::INFINITY), "inf", 0.0, true),
            ("float", Scalar::Float64(-0.0), "0.0", 0.0, true),
            ("float", Scalar::Float32(1.0), "1.0", 0.0, false),
            ("element", Scalar::Float32(1.0), "1.0", 0.0, true),
            ("element", Scalar::Float32(-0.0), "0.0", 0.0, false),
            ("element", Scalar::Null, "-", 0.0, true),
            ("element", Scalar::Null, "0.0", 0.0, false),
            ("element", Scalar::Float32(1.0), "-", 0.0, false),
            ("truth", Scalar::Bool(true), "T", 0.0, true),
            ("truth", Scalar::Bool(true), "F", 0.0, false),
        ] {
            assert_eq!(agrees(kind, value, wanted, tolerance), agree, "{kind} {value:?} {wanted}");
        }
    }
}
