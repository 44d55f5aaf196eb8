//! One tree for both syntaxes: every value and key knows its place in the text.

use std::ops::Range;

/// A value and the bytes of the text it was read from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) span: Range<usize>,
}

/// A value in a document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Integer(i128),
    Float(f64),
    /// Text; dates and times of TOML too, as they are written.
    Text(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key and its value, in the order of the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) node: Node,
}

impl Value {
    /// The name in messages of a value of this sort.
    pub(crate) const fn sort(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a fraction",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Table(_) => "an object",
        }
    }
}

/// The double that a literal means, or why there is none.
pub(crate) fn double(literal: &str) -> Result<f64, &'static str> {
    let float = literal.parse::<f64>().ok().filter(|float| float.is_finite());
    let float = float.ok_or("the number is beyond what a double holds")?;
    let digits = literal.split(['e', 'E']).next().unwrap_or_default();
    if float == 0.0 && digits.contains(|digit| matches!(digit, '1'..='9')) {
        return Err("the number is so small that a double makes 0 of it");
    }
    Ok(float)
}
