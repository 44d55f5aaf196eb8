//! The name that was meant.

/// The name nearest to `name`, if one is near: a third of its letters may differ.
pub(super) fn nearest<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    let far = name.chars().count().div_ceil(3).max(1);
    let near = known.iter().map(|known| (distance(name, known), known.as_str()));
    near.min().filter(|(distance, _)| *distance <= far).map(|(_, known)| known)
}

/// Letters to insert, remove or replace between two names; long names are not compared.
fn distance(a: &str, b: &str) -> usize {
    const LEN_MAX: usize = 64;
    let (a, b) = (a.chars().collect::<Vec<_>>(), b.chars().collect::<Vec<_>>());
    if a.len() > LEN_MAX || b.len() > LEN_MAX {
        return usize::MAX;
    }
    let mut row = (0..=b.len()).collect::<Vec<_>>();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested() {
        let known = ["temp", "pressure", ""].map(str::to_owned);
        for (name, wanted) in [
            ("tmp", Some("temp")),
            ("presure", Some("pressure")),
            ("humidity", None),
            ("temp", Some("temp")),
        ] {
            assert_eq!(nearest(name, &known), wanted, "{name}");
        }
        assert_eq!(nearest(&"x".repeat(10_000), &known), None);
    }
}
