//! Warnings that say the same of many datasets, as one.

/// As many datasets are named one by one.
const ALONE_MAX: usize = 3;

/// Puts warnings together that differ only in the dataset at their beginning, `"NAME": `, `dataset "NAME": ` or
/// `dataset "NAME" `; others stay as they are, in their order.
pub(crate) fn aggregated(warnings: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut groups: Vec<Group> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for warning in warnings {
        let place = split(&warning).map_or(groups.len(), |(_, what)| {
            *places.entry(what.to_owned()).or_insert(groups.len())
        });
        if place == groups.len() {
            groups.push(Group::default());
        }
        if let Some(group) = groups.get_mut(place) {
            group.warnings.push(warning);
        }
    }
    groups.into_iter().flat_map(|group| group.lines()).collect()
}

/// The name of a dataset at the beginning of a warning, with an opening quote, and what follows it.
fn split(warning: &str) -> Option<(&str, &str)> {
    let named = warning.strip_prefix("dataset ");
    let text = named.unwrap_or(warning);
    let after = text.split_once("\": ").or_else(|| named?.split_once("\" "));
    after.filter(|(name, _)| name.starts_with('"'))
}

/// Warnings that say the same, or one.
#[derive(Default)]
struct Group {
    warnings: Vec<String>,
}

impl Group {
    fn lines(self) -> Vec<String> {
        if self.warnings.len() <= ALONE_MAX {
            return self.warnings;
        }
        let named = |warning: &String| {
            let (name, what) = split(warning)?;
            Some((format!("{name}\""), what.to_owned()))
        };
        let parts: Vec<(String, String)> = self.warnings.iter().filter_map(named).collect();
        let [(first, what), (second, _), .., (last, _)] = &parts[..] else { return self.warnings };
        vec![format!("{} datasets ({first}, {second}, ..., {last}): {what}", parts.len())]
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
        let text = "4 datasets (\"l.0\", \"l.1\", ..., \"l.3\"): contains text";
        assert_eq!(aggregated(texts), [text]);
        assert_eq!(aggregated(["dataset \"a\": lost".to_owned()]), ["dataset \"a\": lost"]);
        assert_eq!(aggregated(many), [wanted, "\"a\\\": b\": lost", "\"x"]);
    }
}
