//! The tree -> the model, key by key, strict at every level.

mod axes;
mod cells;
mod cursor;
mod execution;
mod filter;
mod reduction;
mod selection;
mod write;

pub(crate) use self::cursor::{Cursor, Result};
use super::error::DocumentError;
use super::origin::{Origin, QueryPart};
use super::query::Query;
use super::tree::{Entry, Node};
use super::{check, keys};

/// Reads the query that is the whole document.
pub(crate) fn query(text: &str, root: &Node) -> Result<Query> {
    let top = Cursor { text, node: root, path: String::new() };
    let mut query = Query { origin: Origin::new(text), ..Query::default() };
    let mut computed_by: Option<&Entry> = None;
    let mut named = false;
    for entry in top.table("a query document")? {
        let at = top.child(entry);
        let key = entry.key.as_str();
        if let Some(&known) = keys::TOP.iter().find(|&&known| known == key) {
            query.origin.mark(QueryPart::Key(known), &entry.key_span, &at.path);
        }
        match key {
            "dataset" => named = true,
            _ if key == "transform" || keys::op(key).is_some() => {
                if let Some(first) = computed_by.replace(entry) {
                    return Err(second(&at, entry, first));
                }
                query.origin.mark(QueryPart::Op, &entry.key_span, &at.path);
            }
            _ => {}
        }
        if !member(&at, key, &mut query)? {
            return Err(top.unknown_key(entry, &keys::top()));
        }
        let writes = ["write", "spill"];
        if writes.contains(&key) && writes.iter().all(|key| query.origin.has(QueryPart::Key(key))) {
            let message = "\"spill\" and \"write\" both say where the result goes; give one";
            return Err(at.wrong_at(&entry.key_span, message));
        }
    }
    if !named {
        let start = root.span.start;
        return Err(top.wrong_at(&(start..start), "the key \"dataset\" is missing"));
    }
    check::combinations(&query)?;
    Ok(query)
}

/// The error for a second key that says what is computed.
fn second(at: &Cursor<'_>, entry: &Entry, first: &Entry) -> DocumentError {
    let (key, other) = (&entry.key, &first.key);
    let message = match (key.as_str(), other.as_str()) {
        ("transform", _) | (_, "transform") => {
            format!("{key:?} and {other:?} exclude each other: a query computes at most one result")
        }
        _ => format!("{key:?} is a second reduction after {other:?}; a query has at most one"),
    };
    at.wrong_at(&entry.key_span, message).advise("use two queries")
}

/// Reads the value of one key at the top; `false` for a key that is not one.
fn member(at: &Cursor<'_>, key: &str, query: &mut Query) -> Result<bool> {
    let origin = &mut query.origin;
    match key {
        "dataset" => query.dataset = at.named("a dataset's name")?,
        "layout_version" => query.layout_version = Some(at.integer(0, u32::MAX.into())?),
        "selection" => query.selection = selection::read(at, origin)?,
        "filter" => query.filter = Some(filter::read(at)?),
        "group_by" => query.group_by = Some(cells::group_by(at, origin)?),
        "window" => query.window = Some(cells::window(at, origin)?),
        "label_filter" => query.label_filter = Some(cells::label_filter(at, origin)?),
        "align" => query.align = Some(cells::align(at, origin)?),
        "transform" => query.transform = Some(reduction::transform(at, origin)?),
        "nan" => query.nan = Some(at.word(keys::NAN)?),
        "write" => query.write = Some(write::write(at)?),
        "spill" => query.write = Some(write::spill(at)?),
        "execution" => query.execution = execution::read(at)?,
        _ => {
            let Some(op) = keys::op(key) else { return Ok(false) };
            query.reduction = Some(reduction::read(at, op, origin)?);
        }
    }
    Ok(true)
}
