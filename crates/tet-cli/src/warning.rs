//! Warnings that say the same of many datasets, as one.

/// As many datasets are named one by one.
const ALONE_MAX: usize = 3;

/// Puts warnings together that differ only in the dataset at their beginning, `"NAME": `; others stay as they are,
/// in their order.
pub(crate) fn aggregated(warnings: impl IntoIterator<Item = String>) -> Vec<String> {
    // The names of the datasets, and what is said of them; a warning of no dataset has no names.
    let mut groups: Vec<(Vec<String>, String)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for warning in warnings {
        let split = warning.split_once("\": ").filter(|(name, _)| name.starts_with('"'));
        let Some((name, what)) = split else {
            groups.push((Vec::new(), warning));
            continue;
        };
        let place = *places.entry(what.to_owned()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((Vec::new(), what.to_owned()));
        }
        if let Some((names, _)) = groups.get_mut(place) {
            names.push(format!("{name}\""));
        }
    }
    groups.into_iter().flat_map(|(names, what)| lines(&names, &what)).collect()
}

fn lines(names: &[String], what: &str) -> Vec<String> {
    match names {
        [] => vec![what.to_owned()],
        [first, second, .., last] if ALONE_MAX < names.len() => {
            vec![format!("{} datasets ({first}, {second}, ..., {last}): {what}", names.len())]
        }
        names => names.iter().map(|name| format!("{name}: {what}")).collect(),
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
        assert_eq!(aggregated(many), [wanted, "\"a\\\": b\": lost", "\"x"]);
    }
}
