//! An axis as callers name it, and as messages do.

/// An axis as a caller names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AxisRef {
    /// A 0-based position among the axes; negative numbers count from the last axis.
    Number(i64),
    /// A dimension name; decimal text that names no dimension is taken as a number.
    Name(String),
}

impl From<&str> for AxisRef {
    fn from(name: &str) -> Self {
        AxisRef::Name(name.to_owned())
    }
}

impl From<String> for AxisRef {
    fn from(name: String) -> Self {
        AxisRef::Name(name)
    }
}

impl From<i64> for AxisRef {
    fn from(number: i64) -> Self {
        AxisRef::Number(number)
    }
}

impl From<i32> for AxisRef {
    fn from(number: i32) -> Self {
        AxisRef::Number(i64::from(number))
    }
}

/// How messages name an axis: `axis 0 "time"`, or `axis 0` without a name.
#[must_use]
pub fn axis_text(axis: usize, dims: &[String]) -> String {
    match dims.get(axis) {
        Some(name) => format!("axis {axis} {name:?}"),
        None => format!("axis {axis}"),
    }
}
