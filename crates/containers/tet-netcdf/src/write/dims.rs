//! The dimensions of a file: one for each name and extent.

use std::collections::BTreeMap;

use tet_container::write::netcdf::names::legal;

/// The dimensions of a file.
#[derive(Debug, Default)]
pub(super) struct Dims {
    /// Names and extents.
    pub(super) list: Vec<(String, u64)>,
    numbers: BTreeMap<String, usize>,
}

impl Dims {
    /// The number of the dimension of this name and extent, and its name. Where the name is that of a
    /// dimension of another extent, the extent becomes a part of it.
    pub(super) fn number(&mut self, name: &str, extent: u64) -> (usize, String) {
        let mut name = legal(name);
        loop {
            match self.numbers.get(&name) {
                None => {
                    let number = self.list.len();
                    self.list.push((name.clone(), extent));
                    self.numbers.insert(name.clone(), number);
                    return (number, name);
                }
                Some(&number) if self.list.get(number).is_some_and(|it| it.1 == extent) => {
                    return (number, name);
                }
                Some(_) => name = format!("{name}_{extent}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_two_extents_is_two_dimensions() {
        let mut dims = Dims::default();
        assert_eq!(dims.number("x", 3), (0, "x".to_owned()));
        assert_eq!(dims.number("x", 3), (0, "x".to_owned()));
        assert_eq!(dims.number("x", 4), (1, "x_4".to_owned()));
        assert_eq!(dims.number("x", 4), (1, "x_4".to_owned()));
        assert_eq!(dims.number("x_4", 5), (2, "x_4_5".to_owned()));
        assert_eq!(dims.number("a/b", 5), (3, "a_b".to_owned()));
    }
}
