//! Labels of axes as variables of the names of their dimensions, as the CF conventions have coordinates.

use tet_format::DType;

/// The elements of a variable of labels.
#[derive(Debug, PartialEq, Eq)]
pub enum Coordinates {
    /// Numbers of a type, as little-endian bytes.
    Numbers(DType, Vec<u8>),
    /// The labels as they are.
    Texts,
}

/// Labels as integers of 32 or 64 bits where all of them are, as floats where all of them are, and else as texts.
pub fn coordinates(labels: &[String]) -> Coordinates {
    if let Some(numbers) = all(labels, same::<i32>) {
        let bytes = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
        return Coordinates::Numbers(DType::Int32, bytes);
    }
    if let Some(numbers) = all(labels, same::<i64>) {
        let bytes = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
        return Coordinates::Numbers(DType::Int64, bytes);
    }
    let float = |text: &str| text.parse::<f64>().ok().filter(|it| format!("{it:?}") == text);
    if let Some(numbers) = all(labels, float) {
        let bytes = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
        return Coordinates::Numbers(DType::Float64, bytes);
    }
    Coordinates::Texts
}

fn all<T>(labels: &[String], number: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    labels.iter().map(|text| number(text)).collect()
}

/// The number that a text is, written as that number is.
fn same<T: std::str::FromStr + ToString>(text: &str) -> Option<T> {
    text.parse::<T>().ok().filter(|it| it.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_numbers_where_all_of_them_are() {
        let of = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
            coordinates(&texts)
        };
        let bytes = vec![1, 0, 0, 0, 254, 255, 255, 255];
        assert_eq!(of(&["1", "-2"]), Coordinates::Numbers(DType::Int32, bytes));
        let large = Coordinates::Numbers(DType::Int64, 3_000_000_000_i64.to_le_bytes().to_vec());
        assert_eq!(of(&["3000000000"]), large);
        let half = Coordinates::Numbers(DType::Float64, 0.5_f64.to_le_bytes().to_vec());
        assert_eq!(of(&["0.5"]), half);
        for texts in [&["a", "bcd"][..], &["01", "2"], &["1.50"], &[""]] {
            assert_eq!(of(texts), Coordinates::Texts, "{texts:?}");
        }
    }
}
