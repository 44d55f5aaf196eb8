//! Structures of NumPy: the fields of a list as `[('t', '<f8'), ('xyz', '<f4', (3,)), ('', '|V4')]`.
//!
//! Fields follow each other; those without a name are padding. A field has a title where its name is a pair:
//! `(('the time', 't'), '<f8')`.

use super::descr::{Descr, Refusal, shown};
use super::literal::Literal;
use super::texts::TextType;

/// NumPy has elements of at most so many bytes.
const SIZE_MAX: u64 = i32::MAX.unsigned_abs() as u64;

/// The fields of an element, in the order of their bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Structure {
    pub(super) fields: Vec<Field>,
    /// Bytes of an element, with those of its padding.
    pub(super) size: u64,
}

/// A field of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    /// Where it begins in its structure.
    pub(super) start: u64,
    /// Bytes of one of its elements.
    pub(super) size: u64,
    /// The extents of an array in each structure.
    pub(super) axes: Vec<u64>,
    pub(super) kind: FieldKind,
}

/// The kind of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    Number(Descr),
    Text(TextType),
    Structure(Structure),
    /// Of a type that is not read: its name, and what to do.
    Other(String, &'static str),
}

impl Structure {
    /// The structure that a list of fields is; `None` where it is no list.
    ///
    /// # Errors
    /// It is no list of fields, two of them have one name, or one has objects of Python.
    pub(super) fn of_literal(literal: &Literal) -> Option<Result<Structure, Refusal>> {
        match literal {
            Literal::List(fields) => Some(structure(fields)),
            _ => None,
        }
    }

    /// The number of fields that are not structures themselves.
    pub(crate) fn field_count(&self) -> usize {
        let count = |field: &Field| match &field.kind {
            FieldKind::Structure(inner) if field.axes.is_empty() => inner.field_count(),
            _ => 1,
        };
        self.fields.iter().map(count).fold(0, usize::saturating_add)
    }

    /// The name of the type.
    pub(super) fn type_name(&self) -> String {
        let field = |it: &Field| format!("{}: {}", it.name, it.type_name());
        let names: Vec<String> = self.fields.iter().take(8).map(field).collect();
        let more = if self.fields.len() > 8 { ", ..." } else { "" };
        format!("compound of {}{more}", names.join(", "))
    }
}

impl Field {
    fn type_name(&self) -> String {
        let name = match &self.kind {
            FieldKind::Number(descr) => descr.dtype.name().to_owned(),
            FieldKind::Text(_) => "string".to_owned(),
            FieldKind::Structure(inner) => inner.type_name(),
            FieldKind::Other(name, _) => name.clone(),
        };
        if self.axes.is_empty() { name } else { format!("array of {name}") }
    }
}

fn malformed(what: &str) -> Refusal {
    Refusal::Malformed(what.to_owned())
}

fn structure(literals: &[Literal]) -> Result<Structure, Refusal> {
    let (mut fields, mut names) = (Vec::new(), std::collections::HashSet::new());
    let mut size = 0_u64;
    for literal in literals {
        let (name, kind, len, axes) = field(literal)?;
        let count = axes.iter().try_fold(1_u64, |count, &extent| count.checked_mul(extent));
        let all = count.and_then(|count| count.checked_mul(len)?.checked_add(size));
        let end = all.filter(|end| *end <= SIZE_MAX);
        let end = end.ok_or_else(|| malformed("structures of more than 2 GiB each"))?;
        let start = std::mem::replace(&mut size, end);
        // Bytes without a name are padding.
        if name.is_empty() && matches!(kind, FieldKind::Other(..)) {
            continue;
        }
        if !names.insert(name.clone()) {
            return Err(Refusal::Malformed(format!("two fields named {}", shown(&name))));
        }
        fields.push(Field { name, start, size: len, axes, kind });
    }
    if fields.is_empty() || size == 0 {
        return Err(malformed("structures without fields"));
    }
    Ok(Structure { fields, size })
}

/// The name, the type, the bytes of an element, and the extents of a field.
fn field(literal: &Literal) -> Result<(String, FieldKind, u64, Vec<u64>), Refusal> {
    let odd = || malformed("a field that is not (name, dtype) or (name, dtype, shape)");
    let Literal::Tuple(parts) = literal else { return Err(odd()) };
    let (name, kind, shape) = match &parts[..] {
        [name, kind] => (name, kind, None),
        [name, kind, shape] => (name, kind, Some(shape)),
        _ => return Err(odd()),
    };
    let name = match name {
        Literal::Text(name) => name.clone(),
        Literal::Tuple(pair) => match &pair[..] {
            [Literal::Text(_), Literal::Text(name)] => name.clone(),
            _ => return Err(odd()),
        },
        _ => return Err(odd()),
    };
    let extent =
        |it: &Literal| if let Literal::Int(extent) = it { Ok(*extent) } else { Err(odd()) };
    let axes = match shape {
        None => Vec::new(),
        Some(Literal::Tuple(extents)) => extents.iter().map(extent).collect::<Result<_, _>>()?,
        Some(one) => vec![extent(one)?],
    };
    let (kind, len) = kind_of(kind)?;
    Ok((name, kind, len, axes))
}

/// A type, and the bytes of an element.
fn kind_of(literal: &Literal) -> Result<(FieldKind, u64), Refusal> {
    if let Some(inner) = Structure::of_literal(literal) {
        let inner = inner?;
        let size = inner.size;
        return Ok((FieldKind::Structure(inner), size));
    }
    if let Some(text) = TextType::from_descr(literal) {
        return Ok((FieldKind::Text(text), text.size));
    }
    match (Descr::from_literal(literal), literal) {
        (Ok(descr), _) => {
            let size = u64::try_from(descr.size).unwrap_or(u64::MAX);
            Ok((FieldKind::Number(descr), size))
        }
        (Err(Refusal::Dtype { name, advice }), Literal::Text(text)) => match byte_len(text) {
            Some(len) => Ok((FieldKind::Other(name, advice), len)),
            None => Err(Refusal::Dtype { name, advice }),
        },
        (Err(refusal), _) => Err(refusal),
    }
}

/// The bytes of an element of a type that is not read; `None` for objects of Python, which are elsewhere.
fn byte_len(text: &str) -> Option<u64> {
    let (_, code) = super::descr::split(text);
    let digits = code.get(1..)?.split('[').next()?;
    code.starts_with(['V', 'c', 'f', 'M', 'm']).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::super::literal::parse;
    use super::*;

    fn of(text: &str) -> Result<Structure, Refusal> {
        Structure::of_literal(&parse(text).unwrap()).unwrap()
    }

    fn places(structure: &Structure) -> Vec<(&str, u64, u64)> {
        structure.fields.iter().map(|it| (it.name.as_str(), it.start, it.size)).collect()
    }

    #[test]
    fn fields_begin_where_numpy_has_them() {
        // np.dtype([('b', 'u1'), ('t', '>f8')], align=True).descr
        let padded = of("[('b', '|u1'), ('', '|V7'), ('t', '>f8')]").unwrap();
        assert_eq!((places(&padded), padded.size), (vec![("b", 0, 1), ("t", 8, 8)], 16));
        let nested =
            of("[('id', '<i2'), ('at', [('x', '<f4'), ('y', '<f4')]), ('', '|V2')]").unwrap();
        assert_eq!((places(&nested), nested.size), (vec![("id", 0, 2), ("at", 2, 8)], 12));
        assert_eq!(nested.field_count(), 3);
        let arrays =
            of("[('a', '<i2', (2, 3)), (('the time', 't'), '<M8[s]'), ('s', '<U2')]").unwrap();
        assert_eq!(
            (places(&arrays), arrays.size),
            (vec![("a", 0, 2), ("t", 12, 8), ("s", 20, 8)], 28)
        );
        assert_eq!(arrays.fields[0].axes, [2, 3]);
        // A field of bytes that has a name is one, and its type is not read.
        let bytes = of("[('raw', '|V4'), ('x', '<c32'), ('n', '|i1')]").unwrap();
        assert_eq!(places(&bytes), [("raw", 0, 4), ("x", 4, 32), ("n", 36, 1)]);
    }

    #[test]
    fn other_lists_are_refused() {
        for text in [
            "[]",
            "[('', '|V4')]",
            "[('a', '<f4'), ('a', '<f4')]",
            "[('a',)]",
            "['<f4']",
            "[('a', '<f4', (2,), 1)]",
            "[('a', '<f4', ('x',))]",
            "[('a', '<q9')]",
            "[(1, '<f4')]",
            "[(('a', 'b', 'c'), '<f4')]",
            "[('a', '<f4', (4294967296, 4294967296))]",
            "[('a', '<f4', (536870912,))]",
            "[('a', '<f4', (0,))]",
            "[('a', '|V18446744073709551615'), ('b', '<f4')]",
        ] {
            assert!(matches!(of(text), Err(Refusal::Malformed(_))), "{text}: {:?}", of(text));
        }
        for text in ["[('a', '|O')]", "[('a', [('b', '|O')])]"] {
            assert!(matches!(of(text), Err(Refusal::Dtype { .. })), "{text}");
        }
    }
}
