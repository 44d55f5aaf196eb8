//! Names that NetCDF has: the rules for names of the NetCDF classic format specification.

/// A name as the format has it: no `/`, no control character, no space at the end; the first character is a
/// letter, a digit, `_` or one that is not ASCII.
pub fn legal(name: &str) -> String {
    let is_first = |c: char| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii();
    let trimmed = name.trim_end_matches(' ').len();
    let mut legal = String::with_capacity(name.len());
    for (at, c) in name.char_indices() {
        let is_bad = c == '/' || c.is_control() || trimmed <= at;
        let c = if is_bad { '_' } else { c };
        if at == 0 && !is_first(c) {
            legal.push('_');
        }
        legal.push(c);
    }
    if legal.is_empty() { "_".to_owned() } else { legal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_only_where_they_must() {
        for same in ["temp", "t2-m (K)", "_x", "2m", "gr\u{fc}n", "a.b", "x@y"] {
            assert_eq!(legal(same), same);
        }
        for (name, wanted) in [
            ("", "_"),
            ("a/b", "a_b"),
            ("/a", "_a"),
            (".zarr", "_.zarr"),
            ("a ", "a_"),
            ("a\0\u{1b}", "a__"),
            ("-x", "_-x"),
            (" ", "_"),
        ] {
            assert_eq!(legal(name), wanted, "{name:?}");
        }
    }
}
