//! The columns of the table: where the numbers and descriptors of a row are.

#![allow(clippy::big_endian_bytes, reason = "the numbers of FITS are big-endian")]

use crate::header::Header;

/// The most columns of the standard.
const COLUMNS_MAX: u64 = 999;

/// A column that is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// Its offset in a row.
    at: usize,
    form: Form,
}

/// Contents of a column in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// One number, of the type that this letter names.
    Number(char),
    /// How many elements of the type of this letter are in the heap, and where: numbers of 4 or of 8 bytes.
    Descriptor {
        element: char,
        is_wide: bool,
    },
    Other,
}

/// The columns of a table.
#[derive(Debug, Default)]
pub(super) struct Columns {
    named: Vec<(String, Column)>,
}

/// Elements in the heap: how many, and the offset of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) count: u64,
    pub(super) offset: u64,
}

impl Columns {
    /// The columns of a table whose rows have `row_len` bytes; an error is the card that is wrong.
    pub(super) fn read(header: &Header, row_len: u64) -> Result<Columns, String> {
        let wrong = |key: &str| key.to_owned();
        let count = header.count("TFIELDS", u64::MAX).filter(|count| *count <= COLUMNS_MAX);
        let mut named = Vec::new();
        let mut at = 0_u64;
        for number in 1..=count.ok_or_else(|| wrong("TFIELDS"))? {
            let key = format!("TFORM{number}");
            let (form, len) = header.text(&key).and_then(form).ok_or_else(|| wrong(&key))?;
            let begin = usize::try_from(at).map_err(|_| wrong(&key))?;
            at = at.checked_add(len).filter(|end| *end <= row_len).ok_or_else(|| wrong(&key))?;
            if let Some(name) = header.text(&format!("TTYPE{number}")) {
                named.push((name.trim().to_ascii_uppercase(), Column { at: begin, form }));
            }
        }
        Ok(Columns { named })
    }

    /// The first column of a name.
    pub(super) fn find(&self, name: &str) -> Option<Column> {
        self.named.iter().find(|(known, _)| known == name).map(|(_, column)| *column)
    }
}

/// Form that TFORMn states, and its bytes in a row.
fn form(text: &str) -> Option<(Form, u64)> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (repeat, rest) = text.split_at_checked(digits)?;
    let repeat = if repeat.is_empty() { 1 } else { repeat.parse::<u64>().ok()? };
    let mut letters = rest.chars();
    let letter = letters.next()?.to_ascii_uppercase();
    let len = match letter {
        'X' => repeat.div_ceil(8),
        'P' => repeat.checked_mul(8)?,
        'Q' | 'M' => repeat.checked_mul(16)?,
        letter => repeat.checked_mul(element_len(letter)?)?,
    };
    let form = match (letter, repeat) {
        ('P' | 'Q', 1) => {
            let element = letters.next()?.to_ascii_uppercase();
            Form::Descriptor { element, is_wide: letter == 'Q' }
        }
        ('B' | 'I' | 'J' | 'K' | 'E' | 'D', 1) => Form::Number(letter),
        _ => Form::Other,
    };
    Some((form, len))
}

/// Bytes of an element of a type.
fn element_len(letter: char) -> Option<u64> {
    Some(match letter {
        'L' | 'B' | 'A' => 1,
        'I' => 2,
        'J' | 'E' => 4,
        'K' | 'D' | 'C' => 8,
        _ => return None,
    })
}

impl Column {
    /// The letter of the type of the elements in the heap; `None` if it has none there.
    pub(super) const fn element(self) -> Option<char> {
        if let Form::Descriptor { element, .. } = self.form { Some(element) } else { None }
    }

    /// Bytes of an element in the heap.
    pub(super) fn element_len(self) -> u64 {
        self.element().and_then(element_len).unwrap_or(1)
    }

    pub(super) const fn is_number(self) -> bool {
        matches!(self.form, Form::Number(_))
    }

    pub(super) const fn is_integer(self) -> bool {
        matches!(self.form, Form::Number('B' | 'I' | 'J' | 'K'))
    }

    /// Where the elements of a row are; `None` for numbers that are negative.
    pub(super) fn stored(self, row: &[u8]) -> Option<Stored> {
        let Form::Descriptor { is_wide, .. } = self.form else { return None };
        let at = |number: usize| {
            let wide = || Some(i64::from_be_bytes(bytes(row, self.at.checked_add(8 * number)?)?));
            let narrow = || Some(i32::from_be_bytes(bytes(row, self.at.checked_add(4 * number)?)?));
            let number = if is_wide { wide()? } else { i64::from(narrow()?) };
            u64::try_from(number).ok()
        };
        Some(Stored { count: at(0)?, offset: at(1)? })
    }

    /// The number of a row.
    #[allow(clippy::cast_precision_loss, reason = "scales are floats")]
    pub(super) fn number(self, row: &[u8]) -> Option<f64> {
        match self.form {
            Form::Number('E') => Some(f32::from_be_bytes(bytes(row, self.at)?).into()),
            Form::Number('D') => Some(f64::from_be_bytes(bytes(row, self.at)?)),
            _ => self.integer(row).map(|it| it as f64),
        }
    }

    /// The integer of a row.
    pub(super) fn integer(self, row: &[u8]) -> Option<i64> {
        match self.form {
            Form::Number('B') => Some(u8::from_be_bytes(bytes(row, self.at)?).into()),
            Form::Number('I') => Some(i16::from_be_bytes(bytes(row, self.at)?).into()),
            Form::Number('J') => Some(i32::from_be_bytes(bytes(row, self.at)?).into()),
            Form::Number('K') => Some(i64::from_be_bytes(bytes(row, self.at)?)),
            _ => None,
        }
    }
}

fn bytes<const N: usize>(row: &[u8], at: usize) -> Option<[u8; N]> {
    row.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_those_of_the_standard() {
        let wide = Form::Descriptor { element: 'B', is_wide: true };
        let narrow = Form::Descriptor { element: 'I', is_wide: false };
        assert_eq!(form("1QB(12)"), Some((wide, 16)));
        assert_eq!(form("PI"), Some((narrow, 8)));
        assert_eq!(form("2PB(1)"), Some((Form::Other, 16)));
        assert_eq!(form("D"), Some((Form::Number('D'), 8)));
        assert_eq!(form("12X"), Some((Form::Other, 2)));
        assert_eq!(form("3C"), Some((Form::Other, 24)));
        for text in ["", "9", "1Z", "P", "99999999999999999999J", "9223372036854775807M"] {
            assert_eq!(form(text), None, "{text}");
        }
    }

    #[test]
    fn rows_have_their_numbers() {
        let column = |text: &str| Column { at: 1, form: form(text).unwrap().0 };
        let row: Vec<u8> = [[9].as_slice(), &[0, 0, 0, 3, 0, 0, 1, 0], &[0; 8]].concat();
        assert_eq!(column("1PB").stored(&row), Some(Stored { count: 3, offset: 256 }));
        assert_eq!(column("1QB").stored(&row), Some(Stored { count: 3 << 32 | 256, offset: 0 }));
        assert_eq!(column("1PB").stored(&row[..8]), None);
        assert_eq!((column("J").integer(&row), column("J").number(&row)), (Some(3), Some(3.0)));
        let row = [&[0][..], &(-2.5_f64).to_be_bytes()].concat();
        assert_eq!(column("D").number(&row), Some(-2.5));
        let row = [0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
        assert_eq!(column("1PB").stored(&row), None);
        assert_eq!((column("B").integer(&row), column("I").integer(&row)), (Some(255), Some(-1)));
    }
}
