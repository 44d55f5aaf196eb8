//! A line of a file of cases.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::assemble::{Dataset, Sheet, Stored};
use crate::values::TYPES;

/// A line.
#[derive(Clone, Debug)]
pub enum Line {
    /// Subject of the lines after it.
    Subject(Subject),
    /// A document with its answer.
    Question(Box<Question>),
}

/// An array as a file holds it.
#[derive(Clone, Debug)]
pub struct Subject {
    fields: Map<String, Value>,
    attrs: String,
}

/// A document with its answer.
#[derive(Clone, Debug)]
pub struct Question {
    /// The operation, the method, or that values are asked for.
    pub op: String,
    /// Form of the result, in a word.
    pub form: String,
    /// The document.
    pub document: String,
    /// The answer.
    pub want: Want,
}

/// Expected result.
#[derive(Clone, Debug)]
pub struct Want {
    /// Kind of the values: `int`, `truth`, `float`, `element`, `array`; or an error.
    pub kind: String,
    /// The extents of the result.
    pub shape: Vec<u64>,
    /// The values as text: `-` is null and `*` is anything.
    pub values: Vec<String>,
    /// How far off each may be; nothing when all are exact.
    pub tolerances: Vec<f64>,
    /// The type of an array.
    pub dtype: Option<String>,
    /// The edges of a histogram.
    pub edges: Vec<f64>,
    /// Numbers of elements outside of them, cell by cell.
    pub outside: [Vec<u64>; 2],
}

/// Reads a line. What becomes a document or a footer stays as it is written: a number that was read
/// and written again may be another.
#[must_use]
pub fn parse(line: &str) -> Line {
    let raw: BTreeMap<String, Box<RawValue>> = serde_json::from_str(line).unwrap();
    let Value::Object(fields) = serde_json::from_str(line).unwrap() else {
        panic!("a line is an object")
    };
    let text = |name: &str| fields[name].as_str().unwrap().to_owned();
    if fields.contains_key("elements") {
        return Line::Subject(Subject { fields, attrs: raw["attrs"].get().to_owned() });
    }
    Line::Question(Box::new(Question {
        op: text("op"),
        form: text("form"),
        document: raw["document"].get().to_owned(),
        want: Want::parse(&fields["want"]),
    }))
}

impl Want {
    fn parse(fields: &Value) -> Want {
        if let Some(error) = fields["error"].as_str() {
            return Want { kind: format!("error {error}"), ..Want::nothing() };
        }
        let words = |name: &str| fields[name].as_str().unwrap_or_default().split_whitespace();
        let numbers = |name: &str| words(name).map(|word| word.parse().unwrap()).collect();
        Want {
            kind: fields["kind"].as_str().unwrap().to_owned(),
            shape: counts(&fields["shape"]),
            values: words("values").map(str::to_owned).collect(),
            tolerances: numbers("tolerances"),
            dtype: fields["dtype"].as_str().map(str::to_owned),
            edges: numbers("edges"),
            outside: [counts(&fields["below"]), counts(&fields["above"])],
        }
    }

    fn nothing() -> Want {
        Want {
            kind: String::new(),
            shape: Vec::new(),
            values: Vec::new(),
            tolerances: Vec::new(),
            dtype: None,
            edges: Vec::new(),
            outside: [Vec::new(), Vec::new()],
        }
    }
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} {}", self.kind, self.shape, self.values.join(" "))?;
        if !self.edges.is_empty() {
            write!(f, " edges {:?} outside {:?}", self.edges, self.outside)?;
        }
        Ok(())
    }
}

impl Subject {
    /// The file that holds the array as the dataset `a`.
    #[must_use]
    pub fn file(&self) -> Vec<u8> {
        let dtype = self.fields["dtype"].as_str().unwrap();
        let (tag, _, element_len) = TYPES.into_iter().find(|(_, name, _)| *name == dtype).unwrap();
        let stored = match self.fields["codec"].as_str() {
            Some("zstd") => Stored::Frame,
            _ => Stored::Raw,
        };
        let dataset = Dataset::new("a", tag, element_len, &counts(&self.fields["shape"]))
            .chunked(&counts(&self.fields["chunk_shape"]))
            .elements(bytes(self.fields["elements"].as_str().unwrap()))
            .stored(stored);
        Sheet::new(&[dataset]).footer(&self.footer()).assemble().bytes
    }

    fn footer(&self) -> String {
        let mut about = json!({ "attrs": RAW });
        if self.fields["dims"].as_array().is_some_and(|dims| !dims.is_empty()) {
            about["dim_names"] = self.fields["dims"].clone();
        }
        let labels = self.fields["coords"].as_object().unwrap();
        let coords = labels.iter().map(|(name, labels)| (name.clone(), json!({"labels": labels})));
        about["coords"] = Value::Object(coords.collect());
        let footer = json!({ "metadata": { "datasets": { "a": about } } });
        footer.to_string().replace(&json!(RAW).to_string(), &self.attrs)
    }
}

/// Stands for the attributes until they are written as they are.
const RAW: &str = "the attributes";

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Value::Object(self.fields.clone()))
    }
}

fn counts(value: &Value) -> Vec<u64> {
    let items = value.as_array().into_iter().flatten();
    items.map(|item| item.as_u64().unwrap()).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.chars().map(|digit| u8::try_from(digit.to_digit(16).unwrap()).unwrap()).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}
