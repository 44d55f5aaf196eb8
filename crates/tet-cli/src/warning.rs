//! Warnings that say the same of many datasets, as one.

use std::collections::HashMap;

/// As many datasets are named one by one.
const ALONE_MAX: usize = 3;
/// The word before a dataset that an output lacks.
const SKIPPED: &str = "skipped: ";
/// Stands for the name of a dataset in a text about several.
const NAME: &str = "NAME";

/// Puts warnings together that differ only in the dataset at their beginning, as in `"NAME": ...` and
/// `dataset "NAME" cannot be read`, also where names that are made of it follow; others stay as they are, in their order.
pub(crate) fn aggregated(warnings: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut groups: Vec<Group> = Vec::new();
    let mut places = HashMap::new();
    for warning in warnings {
        let about = About::from_warning(&warning);
        let key = (about.lead, about.rest.clone());
        let place = *places.entry(key).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Group { lead: about.lead, rest: about.rest, ..Group::default() });
        }
        if let Some(group) = groups.get_mut(place) {
            group.names.push(about.name);
            group.warnings.push(warning);
        }
    }
    groups.into_iter().flat_map(Group::lines).collect()
}

/// A warning, apart: the name of a dataset, in quotes, and what is said of it.
struct About {
    /// A word before the name.
    lead: &'static str,
    /// Empty where no name is at the beginning.
    name: String,
    /// Its name is [`NAME`] in it.
    rest: String,
}

impl About {
    fn from_warning(warning: &str) -> About {
        let lead = if warning.starts_with(SKIPPED) { SKIPPED } else { "" };
        let text = &warning[lead.len()..];
        match quoted(text.strip_prefix("dataset ").unwrap_or(text)) {
            Some((name, rest)) => {
                let inner = &name[..name.len() - 1];
                About { lead, name: name.to_owned(), rest: without_name(rest, inner) }
            }
            None => About { lead: "", name: String::new(), rest: warning.to_owned() },
        }
    }
}

/// The quoted text at the beginning, with its quotes, and the rest.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = inner.find(|c: char| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    })?;
    Some(text.split_at(end + 2))
}

/// A text in which quoted names that begin with `name`, which has a quote before it, have [`NAME`] instead.
fn without_name(text: &str, name: &str) -> String {
    let mut found = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let is_whole = after.starts_with(['"', '.', '_', '/', '[']);
        found.push_str(before);
        found.push_str(if is_whole { "\"NAME" } else { name });
        rest = after;
    }
    found + rest
}

/// Warnings that say the same.
#[derive(Default)]
struct Group {
    lead: &'static str,
    rest: String,
    names: Vec<String>,
    warnings: Vec<String>,
}

impl Group {
    fn lines(self) -> Vec<String> {
        let Group { lead, rest, names, warnings } = self;
        if names.len() <= ALONE_MAX {
            return warnings;
        }
        let count = names.len();
        let [first, second, .., last] = &names[..] else { return warnings };
        if first.is_empty() {
            return vec![format!("{rest} ({count} times)")];
        }
        // A statement about one is a statement about each.
        let is_of_each = ["is", "has", "contains"].iter().any(|verb| {
            rest.strip_prefix(' ')
                .and_then(|rest| rest.strip_prefix(verb))
                .is_some_and(|rest| rest.starts_with(' '))
        });
        let rest = if is_of_each { format!(": each{rest}") } else { rest };
        let by_name = if rest.contains(NAME) { ", where NAME is that of each" } else { "" };
        vec![format!("{lead}{count} datasets ({first}, {second}, ..., {last}){rest}{by_name}")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_that_say_the_same_are_one() {
        let of = |name: &str, what: &str| format!("{name:?}: {what}");
        let bits = |at: usize| of(&format!("l.{at}"), "as bits");
        let few = [bits(0), bits(1), "no digests".to_owned(), bits(2)];
        assert_eq!(aggregated(few), [bits(0), bits(1), bits(2), "no digests".to_owned()]);
        let many = (0..543).map(bits).chain([of("a\": b", "lost"), "\"x".to_owned()]);
        let wanted = "543 datasets (\"l.0\", \"l.1\", ..., \"l.542\"): as bits";
        let faults = (0..4).map(|at| format!("dataset \"l.{at}\": lost"));
        let lost = "4 datasets (\"l.0\", \"l.1\", ..., \"l.3\"): lost";
        assert_eq!(aggregated(faults), [lost]);
        let texts = (0..4).map(|at| format!("dataset \"l.{at}\" contains text"));
        let text = "4 datasets (\"l.0\", \"l.1\", ..., \"l.3\"): each contains text";
        assert_eq!(aggregated(texts), [text]);
        assert_eq!(aggregated(["dataset \"a\": lost".to_owned()]), ["dataset \"a\": lost"]);
        assert_eq!(aggregated(many), [wanted, "\"a\\\": b\": lost", "\"x"]);
    }

    #[test]
    fn the_name_may_be_anywhere() {
        let all = |text: fn(usize) -> String| aggregated((1..=200).map(text));
        let ends = "200 datasets (\"c1\", \"c2\", ..., \"c200\")";
        for (text, wanted) in [
            (
                (|at| format!("dataset \"c{at}\" cannot be read: no links")) as fn(usize) -> String,
                format!("{ends} cannot be read: no links"),
            ),
            (
                |at| format!("\"c{at}\": axis 0 is named \"c{at}_dim_0\""),
                format!("{ends}: axis 0 is named \"NAME_dim_0\", where NAME is that of each"),
            ),
            (
                |at| format!("\"c{at}\" is of structures, and written as \"c{at}.a\""),
                format!(
                    "{ends}: each is of structures, and written as \"NAME.a\", where NAME is that of each"
                ),
            ),
            (
                |at| format!("skipped: dataset \"c{at}\" has no links"),
                format!("skipped: {ends}: each has no links"),
            ),
            (|_| "no minimum".to_owned(), "no minimum (200 times)".to_owned()),
        ] {
            assert_eq!(all(text), [wanted]);
        }
        // A name that another begins with is another.
        let others = |at| format!("\"c{at}\": see \"c{at}x\"");
        assert_eq!(aggregated((0..4).map(others)).len(), 4);
    }
}
