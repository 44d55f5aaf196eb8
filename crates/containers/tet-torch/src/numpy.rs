//! Arrays and numbers of NumPy in a pickle.
//!
//! ```text
//!   _reconstruct(ndarray, (0,), b"b"), state (1, shape, dtype, is in Fortran order, bytes)
//!   _frombuffer(bytes, dtype, shape, "C" or "F")
//!   scalar(dtype, bytes)          dtype("f8"), state (3, "<", ...)
//! ```

use std::borrow::Cow;
use std::ops::Range;

use tet_format::DType;
use tet_query::AttrText;

use super::pickle::{Id, Object, Pickle, Value};

/// An array, as its pickle describes it.
pub(super) struct Array {
    shape: Id,
    dtype: Id,
    is_fortran: bool,
    bytes: Id,
}

/// The array that an object is; the inner error is one without a known state, `None` another object.
pub(super) fn array(pickle: &Pickle, id: Id, object: &Object) -> Option<Result<Array, String>> {
    let array = match called(pickle, object)?.as_ref() {
        "_reconstruct" => match pickle.state(id).and_then(|state| pickle.items(state)) {
            Some([_, shape, dtype, order, bytes]) => {
                let is_fortran = matches!(pickle.value(*order), Value::Bool(true));
                Some(Array { shape: *shape, dtype: *dtype, is_fortran, bytes: *bytes })
            }
            _ => None,
        },
        "_frombuffer" => match pickle.items(object.arguments?) {
            Some([bytes, dtype, shape, order]) => {
                let is_fortran =
                    matches!(pickle.value(*order), Value::Text(range) if pickle.is(range, "F"));
                Some(Array { shape: *shape, dtype: *dtype, is_fortran, bytes: *bytes })
            }
            _ => None,
        },
        _ => return None,
    };
    Some(array.ok_or_else(|| "its state is none of an array of NumPy".to_owned()))
}

impl Array {
    /// Bytes of the pickle that its elements take.
    pub(super) fn stored_len(&self, pickle: &Pickle) -> usize {
        range(pickle, self.bytes).map_or(0, |range| range.len())
    }

    /// The array as a `.npy` file, or why it is not read.
    pub(super) fn file(&self, pickle: &Pickle) -> Result<Vec<u8>, String> {
        let descr = descr(pickle, self.dtype)?;
        let shape = pickle.counts(self.shape).ok_or("its shape is none of an array")?;
        let bytes =
            raw(pickle, self.bytes).ok_or("its elements are Python objects: save numbers")?;
        let order = if self.is_fortran { "True" } else { "False" };
        let extents: String = shape.iter().map(|extent| format!("{extent},")).collect();
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({extents}), }}\n");
        let len = u32::try_from(header.len()).map_err(|_| "its type has a long name")?;
        Ok([b"\x93NUMPY\x02\0", &len.to_le_bytes()[..], header.as_bytes(), &bytes].concat())
    }
}

/// A number of NumPy; `None` for other objects.
pub(super) fn scalar(pickle: &Pickle, object: &Object) -> Option<AttrText> {
    if called(pickle, object)? != "scalar" {
        return None;
    }
    let [dtype, bytes] = pickle.items(object.arguments?)? else { return None };
    let descr = descr(pickle, *dtype).ok()?;
    let (order, code) = descr.split_at_checked(1)?;
    let (kind, size) = code.split_at_checked(1)?;
    let size = size.parse::<u64>().ok().filter(|size| *size <= 16)?;
    // A letter above 127 takes two bytes.
    let is_short = range(pickle, *bytes)?.len() <= 32;
    let mut bytes = raw(pickle, *bytes).filter(|_| is_short)?.into_owned();
    if u64::try_from(bytes.len()) != Ok(size) {
        return None;
    }
    if order == ">" {
        bytes.reverse();
    }
    let name = match kind {
        "b" => return Some(AttrText::Json((bytes != [0]).to_string())),
        "f" => "float",
        "i" => "int",
        "u" => "uint",
        _ => return None,
    };
    let dtype = DType::from_name(&format!("{name}{}", size.checked_mul(8)?))?;
    (dtype.size() == Some(size)).then(|| AttrText::number(dtype, &bytes))
}

/// Whether an object is a type or a value of NumPy, in whose arguments nothing is of interest.
pub(super) fn is_own(pickle: &Pickle, object: &Object) -> bool {
    let names = object.function.and_then(|id| pickle.names(id));
    let is_dtype = names.is_some_and(|(module, name)| module == "numpy" && name == "dtype");
    is_dtype || called(pickle, object).is_some()
}

/// The name of the function of NumPy that makes an array or a number.
fn called<'a>(pickle: &'a Pickle, object: &Object) -> Option<Cow<'a, str>> {
    let (module, name) = pickle.names(object.function?)?;
    let module = module.strip_prefix("numpy.core.").or(module.strip_prefix("numpy._core."))?;
    matches!(module, "multiarray" | "numeric").then_some(name)
}

/// The type string of a dtype, such as `<f8`.
fn descr(pickle: &Pickle, dtype: Id) -> Result<String, String> {
    let none = || "its type is none of NumPy's".to_owned();
    let Value::Object(object) = pickle.value(dtype) else { return Err(none()) };
    let is_dtype = object.function.and_then(|id| pickle.names(id));
    let is_dtype = is_dtype.is_some_and(|(module, name)| module == "numpy" && name == "dtype");
    let code = object.arguments.and_then(|tuple| pickle.items(tuple)?.first().copied());
    let code = code.and_then(|id| text(pickle, id)).filter(|_| is_dtype).ok_or_else(none)?;
    let is_plain = code.len() <= 16 && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_plain {
        return Err(none());
    }
    if code.starts_with('O') {
        return Err("its elements are Python objects: save numbers".to_owned());
    }
    let state = pickle.state(dtype).and_then(|state| pickle.items(state)).unwrap_or_default();
    let order = state.get(1).and_then(|id| text(pickle, *id)).unwrap_or(Cow::Borrowed("<"));
    let order = if order == "=" { "<" } else { order.as_ref() };
    let has =
        |nth: usize| state.get(nth).is_some_and(|id| !matches!(pickle.value(*id), Value::None));
    if !matches!(order, "<" | ">" | "|") || has(2) || has(3) {
        return Err("its elements are structures: save each member as an array".to_owned());
    }
    let unit = match code.as_bytes().first() {
        Some(b'm' | b'M') => unit(pickle, state).ok_or_else(none)?,
        _ => String::new(),
    };
    Ok(format!("{order}{code}{unit}"))
}

/// The unit of a type of times: `[ns]`. Its state ends with `({}, (b"ns", 1, 1, 1))`.
fn unit(pickle: &Pickle, state: &[Id]) -> Option<String> {
    let [_, unit] = pickle.items(*state.get(8)?)? else { return None };
    let [name, count, ..] = pickle.items(*unit)? else { return None };
    let name = raw(pickle, *name)?;
    let name = str::from_utf8(&name).ok()?;
    let is_plain = name.len() <= 2 && name.bytes().all(|byte| byte.is_ascii_alphabetic());
    (is_plain && pickle.count(*count) == Some(1)).then(|| format!("[{name}]"))
}

fn text(pickle: &Pickle, id: Id) -> Option<Cow<'_, str>> {
    match pickle.value(id) {
        Value::Text(range) if range.len() <= 64 => Some(pickle.text(range)),
        _ => None,
    }
}

/// Where the bytes of a value are.
fn range(pickle: &Pickle, id: Id) -> Option<Range<usize>> {
    match pickle.value(id) {
        Value::Text(range) => Some(range.clone()),
        Value::Bytes(bytes) => Some(bytes.range.clone()),
        _ => None,
    }
}

/// The bytes of a value; texts of Python 2 are bytes too.
fn raw(pickle: &Pickle, id: Id) -> Option<Cow<'_, [u8]>> {
    match pickle.value(id) {
        Value::Text(range) => pickle.bytes.get(range.clone()).map(Cow::Borrowed),
        Value::Bytes(bytes) if bytes.is_latin1 => {
            let letters = pickle.text(&bytes.range);
            let bytes = letters.chars().map(|letter| u8::try_from(u32::from(letter)).ok());
            bytes.collect::<Option<Vec<u8>>>().map(Cow::Owned)
        }
        Value::Bytes(bytes) => pickle.bytes.get(bytes.range.clone()).map(Cow::Borrowed),
        _ => None,
    }
}
