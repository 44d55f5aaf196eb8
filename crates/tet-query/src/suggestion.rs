//! The word a caller probably meant.

/// How many candidates are looked at: a suggestion is a courtesy, not a search.
const CANDIDATES_MAX: usize = 10_000;
/// Words longer than this are not compared.
const WORD_LEN_MAX: usize = 64;

/// The candidate closest to `asked`, if one is close: at most a third of its letters differ.
#[must_use]
pub fn nearest_word<'a>(
    asked: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    if asked.is_empty() || WORD_LEN_MAX < asked.len() {
        return None;
    }
    let asked: Vec<char> = asked.chars().flat_map(char::to_lowercase).collect();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates.into_iter().take(CANDIDATES_MAX) {
        if candidate.is_empty() || WORD_LEN_MAX < candidate.len() {
            continue;
        }
        let letters: Vec<char> = candidate.chars().flat_map(char::to_lowercase).collect();
        let distance = edit_distance(&asked, &letters);
        let close =
            distance <= asked.len().max(letters.len()).div_ceil(3) && distance < asked.len();
        if close && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The fewest insertions, removals, replacements and swaps of neighbors between two words.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, right) in b.iter().enumerate() {
            let replaced = above[j] + usize::from(left != right);
            let mut least = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if 0 < i && 0 < j && *left == b[j - 1] && a[i - 1] == *right {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest_word;

    #[test]
    fn close_words_are_suggested_and_far_ones_are_not() {
        let keys = ["dataset", "selection", "mean", "min", "max", "execution"];
        for (asked, wanted) in [
            ("datset", Some("dataset")),
            ("maen", Some("mean")),
            ("Mean", Some("mean")),
            ("selektion", Some("selection")),
            ("mx", Some("max")),
            ("zzzz", None),
            ("", None),
        ] {
            assert_eq!(nearest_word(asked, keys), wanted, "{asked:?}");
        }
    }
}
