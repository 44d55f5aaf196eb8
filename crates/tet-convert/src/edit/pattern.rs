//! Patterns of names: `layers.*.weight`, in which each `*` stands for any text.

/// A pattern with at least one `*`.
#[derive(Clone, Debug)]
pub(super) struct Pattern<'a> {
    first: &'a str,
    middle: Vec<&'a str>,
    last: &'a str,
}

impl<'a> Pattern<'a> {
    /// The pattern of a text; `None` if no `*` is in it.
    pub(super) fn parse(text: &'a str) -> Option<Pattern<'a>> {
        let (first, rest) = text.split_once('*')?;
        let mut middle: Vec<&str> = rest.split('*').collect();
        let last = middle.pop().unwrap_or_default();
        Some(Pattern { first, middle, last })
    }

    /// What each `*` stands for in a name, the shortest text first; `None` if the name does not match.
    pub(super) fn parts<'n>(&self, name: &'n str) -> Option<Vec<&'n str>> {
        let inner = name.strip_prefix(self.first)?.strip_suffix(self.last)?;
        let (mut rest, mut parts) = (inner, Vec::new());
        for literal in &self.middle {
            let (part, later) = rest.split_once(literal)?;
            parts.push(part);
            rest = later;
        }
        parts.push(rest);
        Some(parts)
    }
}

/// A text in which each `*` is replaced by the part in its place; `None` if their numbers differ.
pub(super) fn filled(text: &str, parts: &[&str]) -> Option<String> {
    let mut pieces = text.split('*');
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    let mut parts = parts.iter();
    for piece in pieces {
        filled.push_str(parts.next()?);
        filled.push_str(piece);
    }
    parts.next().is_none().then_some(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        let parts = |pattern, name| Pattern::parse(pattern).unwrap().parts(name);
        assert!(Pattern::parse("layers.0").is_none());
        assert_eq!(parts("layers.*.weight", "layers.12.weight"), Some(vec!["12"]));
        assert_eq!(parts("*", ""), Some(vec![""]));
        assert_eq!(parts("a*b*c", "aXbYbZc"), Some(vec!["X", "YbZ"]));
        assert_eq!(parts("**", "ab"), Some(vec!["", "ab"]));
        for (pattern, name) in [("ab*ba", "aba"), ("a*", "b"), ("*.x*y", "a.y"), ("a*b*b", "ab")] {
            assert_eq!(parts(pattern, name), None, "{pattern} {name}");
        }
        // A pattern of many stars is matched in linear time.
        let (pattern, name) = ("*a".repeat(5000), format!("{}b", "a".repeat(100_000)));
        assert_eq!(parts(&pattern, &name), None);
    }

    #[test]
    fn parts_fill_stars_in_their_order() {
        assert_eq!(filled("m.*.w*", &["1", "2"]).as_deref(), Some("m.1.w2"));
        assert_eq!(filled("plain", &[]).as_deref(), Some("plain"));
        assert!(filled("m.*", &[]).is_none() && filled("m.*", &["1", "2"]).is_none());
    }
}
