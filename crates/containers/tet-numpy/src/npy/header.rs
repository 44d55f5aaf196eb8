//! The header of a `.npy` file: versions 1.0, 2.0 and 3.0, read strictly and within bounds.
//!
//! ```text
//!   \x93NUMPY | major minor | header length (2 bytes in 1.0, else 4) | {'descr': ...} | elements
//! ```

use std::io::{self, Read};

use super::descr::{Descr, Refusal};
use super::literal::{self, Literal};
use super::structure::Structure;
use super::texts::TextType;
use tet_container::{NPY_HEADER_LEN_MAX as HEADER_LEN_MAX, NpyFault};

/// NumPy has arrays of at most this rank.
pub(crate) const RANK_MAX: usize = 64;
const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The order of the elements in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementOrder {
    /// The last axis varies fastest.
    RowMajor,
    /// The first axis varies fastest: Fortran order.
    ColumnMajor,
}

/// Kinds of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Elements {
    /// Numbers.
    Numbers(Descr),
    /// Texts of a fixed length.
    Texts(TextType),
    /// Structures.
    Structures(Structure),
}

/// The content of a `.npy` header, bounded and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub(crate) elements: Elements,
    /// The type string.
    pub(crate) descr: String,
    pub(crate) order: ElementOrder,
    /// The array's shape.
    pub(crate) shape: Vec<u64>,
    /// Where the elements start.
    pub(crate) header_len: u64,
    /// Their bytes in the input.
    pub(crate) elements_len: u64,
}

impl Header {
    /// Reads the header at the start of `input` and leaves `input` at the first element.
    ///
    /// # Errors
    /// The bytes are no header of NumPy, or cannot be read.
    pub fn read(input: &mut dyn Read) -> Result<Self, NpyFault> {
        let mut head = [0; 8];
        fill(input, &mut head, NpyFault::Magic)?;
        let [magic @ .., major, minor] = head;
        if magic != *MAGIC {
            return Err(NpyFault::Magic);
        }
        let (text_len, text_start) = match (major, minor) {
            (1, 0) => {
                let mut text_len = [0; 2];
                fill(input, &mut text_len, NpyFault::HeaderTruncated)?;
                (u32::from(u16::from_le_bytes(text_len)), 10)
            }
            (2 | 3, 0) => {
                let mut text_len = [0; 4];
                fill(input, &mut text_len, NpyFault::HeaderTruncated)?;
                (u32::from_le_bytes(text_len), 12)
            }
            _ => return Err(NpyFault::Version { major, minor }),
        };
        if text_len > HEADER_LEN_MAX {
            return Err(NpyFault::HeaderLen { found: text_len });
        }
        let mut text = vec![0; usize::try_from(text_len).unwrap_or_default()];
        fill(input, &mut text, NpyFault::HeaderTruncated)?;
        let text = if major == 3 {
            String::from_utf8(text).map_err(|_| NpyFault::HeaderText)?
        } else {
            text.into_iter().map(char::from).collect()
        };
        Self::from_text(&text, text_start, text_start + u64::from(text_len))
    }

    fn from_text(text: &str, text_start: u64, header_len: u64) -> Result<Self, NpyFault> {
        let literal = literal::parse(text).map_err(|fault| NpyFault::Malformed {
            at: text_start.saturating_add(u64::try_from(fault.at).unwrap_or(u64::MAX)),
            wanted: fault.wanted,
        })?;
        let Literal::Dict(members) = literal else {
            return Err(NpyFault::Malformed { at: text_start, wanted: "a dict" });
        };
        let [descr, order, shape] = keys(&members)?;
        let order = match order {
            Literal::Bool(true) => ElementOrder::ColumnMajor,
            Literal::Bool(false) => ElementOrder::RowMajor,
            _ => return Err(NpyFault::Key { key: "fortran_order" }),
        };
        let Literal::Tuple(extents) = shape else { return Err(NpyFault::Key { key: "shape" }) };
        if extents.len() > RANK_MAX {
            return Err(NpyFault::Rank { rank: extents.len() });
        }
        let shape = extents.iter().map(|extent| match extent {
            Literal::Int(extent) => Ok(*extent),
            _ => Err(NpyFault::Key { key: "shape" }),
        });
        let shape = shape.collect::<Result<Vec<_>, _>>()?;
        let type_string =
            if let Literal::Text(text) = descr { text.clone() } else { String::new() };
        if let Some(text) = TextType::from_descr(descr) {
            let elements_len = elements_len(&shape, text.size)?;
            let (elements, descr) = (Elements::Texts(text), type_string);
            return Ok(Self { elements, descr, order, shape, header_len, elements_len });
        }
        let refused = |refusal| match refusal {
            Refusal::Dtype { name, advice } => {
                NpyFault::Dtype { name, advice, shape: shape.clone() }
            }
            Refusal::Malformed(descr) => NpyFault::Descr { descr },
        };
        if let Some(structure) = Structure::of_literal(descr) {
            let structure = structure.map_err(refused)?;
            let elements_len = elements_len(&shape, structure.size)?;
            let (elements, descr) = (Elements::Structures(structure), type_string);
            return Ok(Self { elements, descr, order, shape, header_len, elements_len });
        }
        let descr = Descr::from_literal(descr).map_err(refused)?;
        let size = u64::try_from(descr.size).unwrap_or(u64::MAX);
        let elements_len = elements_len(&shape, size)?;
        let (elements, descr) = (Elements::Numbers(descr), type_string);
        Ok(Self { elements, descr, order, shape, header_len, elements_len })
    }

    /// The number of fields of structures.
    pub(crate) fn field_count(&self) -> usize {
        match &self.elements {
            Elements::Structures(structure) => structure.field_count(),
            _ => 0,
        }
    }

    /// Bytes of the whole array.
    pub(crate) fn file_len(&self) -> u64 {
        self.header_len.saturating_add(self.elements_len)
    }

    /// Whether `found` bytes are what the header promises.
    ///
    /// # Errors
    /// There are other bytes than the shape and the type ask for.
    pub fn check_len(&self, found: u64) -> Result<(), NpyFault> {
        let wanted = self.elements_len;
        match found.cmp(&self.file_len()) {
            std::cmp::Ordering::Less => {
                Err(NpyFault::Truncated { found: found.saturating_sub(self.header_len), wanted })
            }
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Greater => {
                Err(NpyFault::Trailing { found: found.saturating_sub(self.header_len), wanted })
            }
        }
    }
}

/// The three members of a header, each exactly once.
fn keys(members: &[(Literal, Literal)]) -> Result<[&Literal; 3], NpyFault> {
    const KEYS: [&str; 3] = ["descr", "fortran_order", "shape"];
    let mut found = [None; 3];
    for (name, value) in members {
        let at = KEYS.iter().position(|key| matches!(name, Literal::Text(text) if text == key));
        let Some(at) = at else { return Err(NpyFault::Key { key: "dict" }) };
        if found[at].replace(value).is_some() {
            return Err(NpyFault::Key { key: KEYS[at] });
        }
    }
    match found {
        [Some(descr), Some(order), Some(shape)] => Ok([descr, order, shape]),
        _ => {
            let at = found.iter().position(Option::is_none).unwrap_or_default();
            Err(NpyFault::Key { key: KEYS[at] })
        }
    }
}

/// Bytes of the elements, below 2^62.
fn elements_len(shape: &[u64], size: u64) -> Result<u64, NpyFault> {
    if shape.contains(&0) {
        return Ok(0);
    }
    let len = shape.iter().try_fold(size, |len, &extent| len.checked_mul(extent));
    len.filter(|&len| len < 1 << 62).ok_or_else(|| NpyFault::TooLarge { shape: shape.to_vec() })
}

/// Fills `out`, or says `short` when the input ends first.
fn fill(input: &mut dyn Read, out: &mut [u8], short: NpyFault) -> Result<(), NpyFault> {
    input.read_exact(out).map_err(|error| {
        if error.kind() == io::ErrorKind::UnexpectedEof { short } else { NpyFault::Read(error) }
    })
}

#[cfg(test)]
mod tests {
    use tet_format::DType;

    use super::super::descr::ByteOrder;
    use super::*;

    fn file(version: u8, text: &str) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.extend([version, 0]);
        if version == 1 {
            file.extend(u16::try_from(text.len()).unwrap().to_le_bytes());
        } else {
            file.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
        }
        file.extend(text.as_bytes());
        file
    }

    fn read(mut file: &[u8]) -> Result<Header, NpyFault> {
        Header::read(&mut file)
    }

    const GOOD: &str = "{'descr': '>f8', 'fortran_order': True, 'shape': (3, 4), }      \n";

    #[test]
    fn all_three_versions_are_read() {
        for version in 1..=3 {
            let header = read(&file(version, GOOD)).unwrap();
            assert_eq!(header.shape, [3, 4]);
            assert_eq!(header.order, ElementOrder::ColumnMajor);
            let Elements::Numbers(descr) = header.elements else { panic!("no numbers") };
            assert_eq!((descr.dtype, descr.order), (DType::Float64, ByteOrder::Big));
            let prefix = if version == 1 { 10 } else { 12 };
            assert_eq!(header.header_len, prefix + GOOD.len() as u64);
            assert_eq!(header.elements_len, 96);
        }
        assert!(matches!(read(&file(4, GOOD)), Err(NpyFault::Version { major: 4, minor: 0 })));
        let mut minor = file(1, GOOD);
        minor[7] = 1;
        assert!(matches!(read(&minor), Err(NpyFault::Version { major: 1, minor: 1 })));
    }

    #[test]
    fn every_prefix_is_truncated() {
        for version in 1..=3 {
            let whole = file(version, GOOD);
            for end in 0..whole.len() {
                let fault = read(&whole[..end]).unwrap_err();
                let short = matches!(fault, NpyFault::Magic | NpyFault::HeaderTruncated);
                assert!(short, "{end}: {fault:?}");
            }
        }
    }

    #[test]
    fn every_changed_byte_is_a_header_or_a_fault() {
        let whole = file(3, GOOD);
        for at in 0..whole.len() {
            for byte in 0..=255 {
                let mut changed = whole.clone();
                changed[at] = byte;
                if let Ok(header) = read(&changed) {
                    assert!(header.shape.len() <= 8 && header.elements_len < 1 << 62);
                }
            }
        }
    }

    #[test]
    fn headers_are_bounded() {
        let mut long = file(2, GOOD);
        long[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(matches!(read(&long), Err(NpyFault::HeaderLen { found: u32::MAX })));
        long[8..12].copy_from_slice(&(HEADER_LEN_MAX + 1).to_le_bytes());
        assert!(matches!(read(&long), Err(NpyFault::HeaderLen { .. })));
        long[8..12].copy_from_slice(&HEADER_LEN_MAX.to_le_bytes());
        assert!(matches!(read(&long), Err(NpyFault::HeaderTruncated)));
    }

    #[test]
    fn hostile_shapes_are_refused_before_any_product_wraps() {
        let with = |shape: &str, descr: &str| {
            let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}");
            read(&file(1, &text)).map(|header| header.elements_len)
        };
        assert_eq!(with("()", "<f4").unwrap(), 4);
        assert_eq!(with("(0,)", "<f4").unwrap(), 0);
        for (shape, descr) in [
            ("(4294967296, 4294967296)", "<f4"),
            ("(9223372036854775810, 2)", "|u1"),
            ("(4611686018427387904,)", "|u1"),
            ("(2305843009213693952,)", "<i2"),
            ("(18446744073709551615,)", "<f8"),
        ] {
            assert!(matches!(with(shape, descr), Err(NpyFault::TooLarge { .. })), "{shape}");
        }
        assert_eq!(with("(18446744073709551615, 0)", "|u1").unwrap(), 0);
        assert!(matches!(
            with(&format!("({})", "1, ".repeat(65)), "|u1"),
            Err(NpyFault::Rank { rank: 65 })
        ));
        assert_eq!(with("(1, 1, 1, 1, 1, 1, 1, 2)", "|i1").unwrap(), 2);
    }

    #[test]
    fn the_dict_has_exactly_its_three_keys() {
        for (text, wanted) in [
            ("{'descr': '<f4', 'fortran_order': False}", "shape"),
            ("{'descr': '<f4', 'shape': (1,)}", "fortran_order"),
            ("{'fortran_order': False, 'shape': (1,)}", "descr"),
            ("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "descr"),
            ("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "fortran_order"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': 1}", "shape"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (True,)}", "shape"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", "dict"),
        ] {
            match read(&file(1, text)) {
                Err(NpyFault::Key { key }) => assert_eq!(key, wanted, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        assert!(matches!(read(&file(1, "[1]")), Err(NpyFault::Malformed { at: 10, .. })));
    }

    #[test]
    fn the_length_must_match() {
        let header = read(&file(1, GOOD)).unwrap();
        let whole = header.file_len();
        assert!(header.check_len(whole).is_ok());
        assert!(matches!(
            header.check_len(whole - 1),
            Err(NpyFault::Truncated { found: 95, wanted: 96 })
        ));
        assert!(matches!(
            header.check_len(whole + 1),
            Err(NpyFault::Trailing { found: 97, wanted: 96 })
        ));
    }
}
