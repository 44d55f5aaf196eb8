//! Tables of text: opened from bytes, their columns, and fields as programs write them.

use tet_convert::{OpenOptions, Opened, open_source};
use tet_io::Source;
use tet_query::{Execution, Hyperslab};

pub(crate) fn source(text: &[u8]) -> Source {
    Source::from_named_bytes("table.csv", text)
}

pub(crate) fn opened(text: &[u8]) -> Opened {
    open_source(source(text), &OpenOptions::default()).expect("it is a table")
}

pub(crate) fn bytes(opened: &Opened, name: &str) -> Vec<u8> {
    let dataset = opened.catalog.find(name).expect("it is there");
    let slab = Hyperslab::whole(dataset.shape());
    dataset.read(&slab, &Execution::default()).expect("it is read").value.bytes().to_vec()
}

pub(crate) fn floats(opened: &Opened, name: &str) -> Vec<f64> {
    bytes(opened, name).as_chunks().0.iter().map(|it| f64::from_le_bytes(*it)).collect()
}

pub(crate) fn texts(opened: &Opened, name: &str) -> Vec<String> {
    let dataset = opened.catalog.find(name).expect("it is there");
    let slab = Hyperslab::whole(dataset.shape());
    dataset.read_texts(&slab, &Execution::default()).expect("it is read").value
}

/// A field as a program writes it: between quotes where it has to be, or always.
pub(crate) fn quoted(text: &str, delimiter: char, always: Quotes) -> String {
    if always == Quotes::All || text.contains([delimiter, '"', '\n', '\r']) || text.starts_with('#')
    {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Quotes {
    All,
    Needed,
}
