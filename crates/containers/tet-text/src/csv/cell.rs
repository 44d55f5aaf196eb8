//! Kinds of a field: a number, a truth, a missing value or text; and of a column of fields.
//!
//! | a column of | becomes |
//! |---|---|
//! | integers | `int64`, or `uint64` where they need it; text where 64 bits are too few |
//! | integers with missing values | `float64`, which has all of them; text otherwise |
//! | numbers | `float64`: the nearest one; missing values are NaN |
//! | `true` and `false` | `bool` |
//! | missing values alone | `float64` |
//! | fields that are all between quotes, in a file where others are not | text |
//! | anything else | text, as it stands |

use tet_format::DType;

/// Fields that have no value.
const MISSING: [&[u8]; 8] = [b"", b"NA", b"N/A", b"NaN", b"nan", b"null", b"NULL", b"None"];
/// Integers up to this are floats too.
const EXACT_MAX: u64 = 1 << 53;

/// The kinds of the fields of a column, as a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds(u16);

impl Kinds {
    const MISSING: Kinds = Kinds(1);
    const INTEGER: Kinds = Kinds(1 << 1);
    const NEGATIVE: Kinds = Kinds(1 << 2);
    /// An integer that needs an unsigned number of 64 bits.
    const UNSIGNED: Kinds = Kinds(1 << 3);
    /// One that 64 bits do not hold.
    const HUGE: Kinds = Kinds(1 << 4);
    /// One that is no float.
    const INEXACT: Kinds = Kinds(1 << 5);
    const REAL: Kinds = Kinds(1 << 6);
    const TRUTH: Kinds = Kinds(1 << 7);
    pub(super) const TEXT: Kinds = Kinds(1 << 8);
    /// A field that is not between quotes.
    pub(super) const BARE: Kinds = Kinds(1 << 9);

    /// The kind of a field.
    pub(super) fn from_field(field: &[u8]) -> Kinds {
        let field = field.trim_ascii();
        let digits = field.strip_prefix(b"-").or_else(|| field.strip_prefix(b"+"));
        let digits = digits.unwrap_or(field);
        if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
            return Kinds::of_integer(field, digits);
        }
        if MISSING.contains(&field) {
            return Kinds::MISSING;
        }
        if real(field).is_some() {
            return Kinds::REAL;
        }
        if truth(field).is_some() { Kinds::TRUTH } else { Kinds::TEXT }
    }

    fn of_integer(field: &[u8], digits: &[u8]) -> Kinds {
        let sign = if field.starts_with(b"-") { Kinds::NEGATIVE } else { Kinds::default() };
        let kind = Kinds::INTEGER.and(sign);
        // 15 digits are below 2^53.
        if digits.len() <= 15 {
            return kind;
        }
        match (integer(field), unsigned(field)) {
            (Some(value), _) if value.unsigned_abs() <= EXACT_MAX => kind,
            (Some(_), _) => kind.and(Kinds::INEXACT),
            (None, Some(_)) => kind.and(Kinds::INEXACT).and(Kinds::UNSIGNED),
            (None, None) => kind.and(Kinds::INEXACT).and(Kinds::HUGE),
        }
    }

    /// Both together.
    pub(super) const fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// Whether there are fields of any of these kinds.
    pub(super) const fn has(self, kinds: Kinds) -> bool {
        self.0 & kinds.0 != 0
    }

    /// Whether a row of these fields has names: none is a number, and one is neither a missing value nor a truth.
    pub(super) fn are_names<'f>(fields: impl IntoIterator<Item = &'f [u8]>) -> bool {
        let all = fields.into_iter().map(Kinds::from_field).fold(Kinds::default(), Kinds::and);
        all.has(Kinds::TEXT) && !all.is_number()
    }

    /// Whether such a field is a number.
    pub(super) const fn is_number(self) -> bool {
        self.has(Kinds::INTEGER.and(Kinds::REAL))
    }

    /// The type of a column of such fields; `None` is text.
    pub(super) fn dtype(self) -> Option<DType> {
        let others = Kinds::MISSING.and(Kinds::INTEGER).and(Kinds::REAL);
        if self.has(Kinds::TEXT) || self.has(Kinds::TRUTH) && self.has(others) {
            return None;
        }
        if self.has(Kinds::TRUTH) {
            return Some(DType::Bool);
        }
        if self.has(Kinds::REAL) || !self.has(Kinds::INTEGER) {
            return Some(DType::Float64);
        }
        if self.has(Kinds::MISSING) {
            return Some(DType::Float64).filter(|_| !self.has(Kinds::INEXACT));
        }
        if self.has(Kinds::HUGE) || self.has(Kinds::UNSIGNED) && self.has(Kinds::NEGATIVE) {
            return None;
        }
        Some(if self.has(Kinds::UNSIGNED) { DType::UInt64 } else { DType::Int64 })
    }

    /// The type of a matrix of columns that are all of numbers, and keep each of them exactly as their own type
    /// would.
    pub(super) fn matrix(columns: &[Kinds]) -> Option<DType> {
        let all = columns.iter().fold(Kinds::default(), |all, kinds| all.and(*kinds));
        let dtype = all.dtype()?;
        let is_same = |kinds: &Kinds| kinds.dtype() == Some(dtype);
        let is_exact = dtype == DType::Float64 && !all.has(Kinds::INEXACT);
        (is_exact || columns.iter().all(is_same)).then_some(dtype)
    }
}

fn parsed<T: std::str::FromStr>(field: &[u8]) -> Option<T> {
    str::from_utf8(field).ok()?.parse().ok()
}

fn integer(field: &[u8]) -> Option<i64> {
    parsed(field.trim_ascii())
}

fn unsigned(field: &[u8]) -> Option<u64> {
    parsed(field.trim_ascii())
}

/// The nearest float of a number; infinities too, by their names.
pub(super) fn real(field: &[u8]) -> Option<f64> {
    let field = field.trim_ascii();
    let name = field.strip_prefix(b"-").or_else(|| field.strip_prefix(b"+")).unwrap_or(field);
    let is_number = name.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.');
    let is_infinite =
        || [b"inf".as_slice(), b"infinity"].iter().any(|text| name.eq_ignore_ascii_case(text));
    if is_number || is_infinite() { parsed(field) } else { None }
}

/// The number of a field, and NaN of a missing value.
fn real_or_missing(field: &[u8]) -> Option<f64> {
    real(field).or_else(|| MISSING.contains(&field.trim_ascii()).then_some(f64::NAN))
}

fn truth(field: &[u8]) -> Option<bool> {
    let field = field.trim_ascii();
    match field.to_ascii_lowercase().as_slice() {
        b"true" => Some(true),
        b"false" => Some(false),
        _ => None,
    }
}

/// Appends an element; `None` where the field is none of its type.
pub(super) fn push(
    dtype: DType,
    field: &[u8],
    out: &mut dyn FnMut(&[u8]) -> Option<()>,
) -> Option<()> {
    match dtype {
        DType::Int64 => out(&integer(field)?.to_le_bytes()),
        DType::UInt64 => out(&unsigned(field)?.to_le_bytes()),
        DType::Bool => out(&[u8::from(truth(field)?)]),
        _ => out(&real_or_missing(field)?.to_le_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dtype(fields: &[&str]) -> Option<DType> {
        let kinds = fields.iter().map(|field| Kinds::from_field(field.as_bytes()));
        kinds.fold(Kinds::default(), Kinds::and).dtype()
    }

    #[test]
    fn a_column_has_the_type_that_holds_all_of_its_fields() {
        let (long, big, huge) = ("9007199254740993", "9223372036854775808", "18446744073709551616");
        for (fields, wanted) in [
            (&["1", " -2", "+3 "][..], Some(DType::Int64)),
            (&["-9223372036854775808", "9223372036854775807"], Some(DType::Int64)),
            (&[big, "1"], Some(DType::UInt64)),
            (&[big, "-1"], None),
            (&[huge], None),
            (&["1", ""], Some(DType::Float64)),
            (&["9007199254740992", "NA"], Some(DType::Float64)),
            (&[long, "NA"], None),
            (&[long], Some(DType::Int64)),
            (&["1", "2.5", "1e3", ".5", "5.", "-inf", "Infinity"], Some(DType::Float64)),
            (&[huge, "0.5"], Some(DType::Float64)),
            (&["NaN", "null"], Some(DType::Float64)),
            (&[], Some(DType::Float64)),
            (&["true", "False", " TRUE"], Some(DType::Bool)),
            (&["true", "1"], None),
            (&["true", ""], None),
            (&["1", "x"], None),
            (&["1,5"], None),
            (&["-"], None),
            (&["e5"], None),
            (&["0x10"], None),
            (&["2024-01-01"], None),
            (&["nano"], None),
        ] {
            assert_eq!(dtype(fields), wanted, "{fields:?}");
        }
    }

    #[test]
    fn columns_are_a_matrix_where_no_number_changes() {
        let of = |fields: &[&str]| {
            let kinds: Vec<Kinds> =
                fields.iter().map(|it| Kinds::from_field(it.as_bytes())).collect();
            Kinds::matrix(&kinds)
        };
        assert_eq!(of(&["1", "2"]), Some(DType::Int64));
        assert_eq!(of(&["1", "2.5"]), Some(DType::Float64));
        assert_eq!(of(&["1", ""]), Some(DType::Float64));
        assert_eq!(of(&["9007199254740993", "2.5"]), None);
        assert_eq!(of(&["9223372036854775808", "1"]), None);
        assert_eq!(of(&["true", "false"]), Some(DType::Bool));
        assert_eq!(of(&["true", "1"]), None);
        assert_eq!(of(&["a", "1"]), None);
    }
}
