//! Patterns of names, as a shell has them: `layers.*.weight`, `layers.{0..31}.{q,k}_proj`.

use regex_lite::Regex;

/// A pattern of names with at least one wildcard.
///
/// | written | matches |
/// |---|---|
/// | `*` | any text, also none and also with `/` and `.` in it |
/// | `?` | one character |
/// | `{a,b}` | one of these texts, which are taken literally |
/// | `{0..31}` | a whole number from 0 to 31, without leading zeros |
///
/// Other characters match themselves, brackets too: they begin a slice.
///
/// # Examples
///
/// ```
/// use tet_query::Pattern;
///
/// let pattern = Pattern::parse("layers.{0..31}.*_proj").unwrap();
/// assert_eq!(pattern.parts("layers.7.q_proj"), Some(vec!["7", "q"]));
/// assert!(!pattern.matches("layers.32.q_proj"));
/// assert!(Pattern::parse("layers.7.q_proj").is_none());
/// ```
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    /// For each wildcard the least and the greatest number, if it stands for one.
    numbers: Vec<Option<(u64, u64)>>,
    /// Whether it is `*` alone, which takes no look at a name.
    is_all: bool,
}

impl Pattern {
    /// The pattern of a text; `None` if no wildcard is in it, or if it is too long.
    #[must_use]
    pub fn parse(text: &str) -> Option<Pattern> {
        let mut regex = String::from("(?s)^");
        let mut numbers = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['*', '?', '{']) {
            let (literal, wild) = rest.split_at(at);
            regex.push_str(&regex_lite::escape(literal));
            if let Some(Wildcard { group, len, numbers: range }) = Wildcard::parse(wild) {
                regex.push_str(&group);
                numbers.push(range);
                rest = wild.get(len..)?;
            } else {
                regex.push_str(&regex_lite::escape("{"));
                rest = wild.get(1..)?;
            }
        }
        regex.push_str(&regex_lite::escape(rest));
        regex.push('$');
        if numbers.is_empty() {
            return None;
        }
        let is_all = text == "*";
        Some(Pattern { regex: Regex::new(&regex).ok()?, numbers, is_all })
    }

    /// Whether a name matches.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.is_all || self.parts(name).is_some()
    }

    /// The text that each wildcard matches in a name, the shortest first; `None` if the name does not match.
    #[must_use]
    pub fn parts<'n>(&self, name: &'n str) -> Option<Vec<&'n str>> {
        if self.is_all {
            return Some(vec![name]);
        }
        let found = self.regex.captures(name)?;
        let parts =
            (1..=self.numbers.len()).map(|at| found.get(at).map_or("", |part| part.as_str()));
        let parts: Vec<&str> = parts.collect();
        let is_within = |(part, range): (&&str, &Option<(u64, u64)>)| {
            let Some((least, greatest)) = range else { return true };
            let is_plain = *part == "0" || !part.starts_with('0');
            is_plain && part.parse().is_ok_and(|number| (*least..=*greatest).contains(&number))
        };
        parts.iter().zip(&self.numbers).all(is_within).then_some(parts)
    }

    /// `to`, in which each `*` is replaced by what the wildcard in its place stands for in `name`; `None` if
    /// the name does not match, or `to` has another number of `*`.
    ///
    /// ```
    /// let pattern = tet_query::Pattern::parse("layers.*.weight").unwrap();
    /// assert_eq!(pattern.renamed("layers.7.weight", "h.*.w").as_deref(), Some("h.7.w"));
    /// ```
    #[must_use]
    pub fn renamed(&self, name: &str, to: &str) -> Option<String> {
        let mut parts = self.parts(name)?.into_iter();
        let mut pieces = to.split('*');
        let mut renamed = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            renamed.push_str(parts.next()?);
            renamed.push_str(piece);
        }
        parts.next().is_none().then_some(renamed)
    }
}

/// A wildcard.
struct Wildcard {
    /// Its regular expression, a group.
    group: String,
    /// Its length in the pattern.
    len: usize,
    /// The least and the greatest number, if it stands for one.
    numbers: Option<(u64, u64)>,
}

impl Wildcard {
    /// The wildcard that a text begins with; `None` for a brace that stands for itself.
    fn parse(text: &str) -> Option<Wildcard> {
        match text.as_bytes().first() {
            Some(b'*') => Some(Wildcard { group: "(.*?)".to_owned(), len: 1, numbers: None }),
            Some(b'?') => Some(Wildcard { group: "(.)".to_owned(), len: 1, numbers: None }),
            _ => Wildcard::braces(text),
        }
    }

    /// Braces with a range or with a comma between them.
    fn braces(text: &str) -> Option<Wildcard> {
        let (inner, _) = text.strip_prefix('{')?.split_once('}')?;
        let len = inner.len() + 2;
        if let Some((least, greatest)) = inner.split_once("..") {
            let numbers = Some((least.parse().ok()?, greatest.parse().ok()?));
            return Some(Wildcard { group: "([0-9]+)".to_owned(), len, numbers });
        }
        let texts: Vec<String> = inner.split(',').map(regex_lite::escape).collect();
        let group = format!("({})", texts.join("|"));
        (1 < texts.len()).then_some(Wildcard { group, len, numbers: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_stand_for_texts() {
        let parts = |pattern, name| Pattern::parse(pattern).unwrap().parts(name);
        for text in ["layers.0", "", "a{b}c", "{", "a[0]", "a{1..x}"] {
            assert!(Pattern::parse(text).is_none(), "{text}");
        }
        assert_eq!(parts("layers.*.weight", "layers.12.weight"), Some(vec!["12"]));
        assert_eq!(parts("*", ""), Some(vec![""]));
        assert_eq!(parts("*", "a\nb"), Some(vec!["a\nb"]));
        assert_eq!(parts("a*b*c", "aXbYbZc"), Some(vec!["X", "YbZ"]));
        assert_eq!(parts("**", "ab"), Some(vec!["", "ab"]));
        assert_eq!(parts("t?mp?", "t\u{e4}mp0"), Some(vec!["\u{e4}", "0"]));
        assert_eq!(parts("{a,ab}c{d,}", "abc"), Some(vec!["ab", ""]));
        assert_eq!(parts("{x.y,*}+(*", "*+(1"), Some(vec!["*", "1"]));
        assert_eq!(parts("h{0..31}", "h0"), Some(vec!["0"]));
        assert_eq!(parts("{a}*", "{a}b"), Some(vec!["b"]));
        for (pattern, name) in [
            ("ab*ba", "aba"),
            ("a*", "b"),
            ("*.x*y", "a.y"),
            ("a*b*b", "ab"),
            ("h{0..31}", "h32"),
            ("h{0..31}*", "h310"),
            ("h{0..31}", "h"),
            ("h{0..31}", "h007"),
            ("h{0..9}", "h99999999999999999999"),
            ("a.{b,c}", "aXb"),
            ("a?", "a"),
        ] {
            assert_eq!(parts(pattern, name), None, "{pattern} {name}");
        }
    }

    #[test]
    fn parts_take_the_places_of_stars() {
        let renamed = |to| Pattern::parse("*.{a,b}").unwrap().renamed("x.b", to);
        assert_eq!(renamed("m.*.w*").as_deref(), Some("m.x.wb"));
        assert_eq!([renamed("m.*"), renamed("m"), renamed("***")], [None, None, None]);
    }

    #[test]
    fn a_pattern_of_many_wildcards_is_matched_in_bounded_time() {
        let name = format!("{}b", "a".repeat(20_000));
        let pattern = Pattern::parse(&"*a".repeat(100)).unwrap();
        assert!(!pattern.matches(&name));
        assert!(Pattern::parse(&"{a,b}".repeat(1_000_000)).is_none());
    }
}
