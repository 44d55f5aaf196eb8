//! What the calls of a pickle stand for: a fixed list of functions of PyTorch and Python, none of which is called.

use std::ops::Range;

use super::super::rule;
use super::cursor::{Parsed, broken};
use super::value::{Id, Pickle, Rebuilt, Storage, VALUE_COUNT_MAX, Value, View};

/// The module of the functions that rebuild tensors.
const REBUILDERS: &str = concat!("torch._util", "s");

/// What a call results in.
pub(super) enum Outcome {
    New(Value),
    /// A value that is there already.
    Same(Id),
}

/// Of more arguments nothing is used.
pub(super) const ARGUMENT_COUNT_MAX: usize = 8;

/// The result of a function that is called with some arguments.
pub(super) fn call(
    (pickle, at): (&mut Pickle, usize),
    function: Id,
    arguments: &[Id],
) -> Parsed<Outcome> {
    let Value::Global { module, name } = pickle.value(function) else {
        // An object that is called, or nothing of the kind.
        return Ok(Outcome::New(Value::Opaque));
    };
    let (module, name) = (module.clone(), name.clone());
    let first = arguments.first().copied();
    let (of, called) = (pickle.text(&module).into_owned(), pickle.text(&name).into_owned());
    Ok(Outcome::New(match (of.as_str(), called.as_str(), first) {
        (REBUILDERS, "_rebuild_tensor" | "_rebuild_tensor_v2" | "_rebuild_tensor_v3", _) => {
            tensor((pickle, at), &name, arguments)?
        }
        (REBUILDERS, "_rebuild_parameter" | "_rebuild_parameter_with_state", Some(first))
        | ("torch", "Size" | "device", Some(first))
        | ("builtins" | "__builtin__", "set" | "frozenset" | "list" | "tuple", Some(first)) => {
            return Ok(Outcome::Same(first));
        }
        ("torch._tensor", "_rebuild_from_type_v2", _) => match inner(pickle, arguments) {
            Some(tensor) => return Ok(Outcome::Same(tensor)),
            None => Value::Opaque,
        },
        (REBUILDERS, other, _) if other.starts_with("_rebuild_") => {
            Value::Tensor(Box::new(Rebuilt { at, how: name, view: None }))
        }
        ("collections", "OrderedDict", Some(first)) => Value::Map(entries((pickle, at), first)?),
        ("collections", "OrderedDict" | "defaultdict", _) => Value::Map(Vec::new()),
        _ => Value::Opaque,
    }))
}

/// The tensor of a subclass, such as a parameter with attributes, which another function rebuilds.
fn inner(pickle: &Pickle, arguments: &[Id]) -> Option<Id> {
    // The function, the class, the arguments of the function, the state.
    let (_, [inner, ..]) = arguments.split_at_checked(2)? else { return None };
    let [tensor, ..] = pickle.items(*inner)? else { return None };
    matches!(pickle.value(*tensor), Value::Tensor(_)).then_some(*tensor)
}

/// The entries of a list of pairs.
fn entries((pickle, at): (&mut Pickle, usize), id: Id) -> Parsed<Vec<(Id, Id)>> {
    let count = pickle.items(id).unwrap_or_default().len();
    pickle.copied = pickle.copied.saturating_add(count);
    if VALUE_COUNT_MAX < pickle.copied {
        return Err(broken(&rule::LIMIT_VALUES, at, pickle.copied, VALUE_COUNT_MAX));
    }
    let pair = |&id: &Id| match pickle.items(id) {
        Some([key, value]) => Some((*key, *value)),
        _ => None,
    };
    Ok(pickle.items(id).unwrap_or_default().iter().filter_map(pair).collect())
}

/// A tensor: storage, offset, shape, strides, and what depends on the version of the function.
fn tensor((pickle, at): (&Pickle, usize), how: &Range<usize>, arguments: &[Id]) -> Parsed<Value> {
    let fault = || broken(&rule::TENSOR, at, arguments.len(), 4);
    let [storage, offset, shape, strides, others @ ..] = arguments else { return Err(fault()) };
    let Value::Storage(storage) = pickle.value(*storage) else { return Err(fault()) };
    let offset = pickle.count(*offset).ok_or_else(fault)?;
    let shape = pickle.counts(*shape).ok_or_else(fault)?;
    let strides = pickle.counts(*strides).ok_or_else(fault)?;
    if shape.len() != strides.len() {
        return Err(fault());
    }
    let is_third = pickle.is(how, "_rebuild_tensor_v3");
    // requires_grad and hooks are before these.
    let (dtype, metadata) =
        if is_third { (others.get(2), others.get(3)) } else { (None, others.get(2)) };
    let dtype = dtype.and_then(|id| match pickle.value(*id) {
        Value::Global { name, .. } => Some(name.clone()),
        _ => None,
    });
    if is_third && dtype.is_none() {
        return Err(fault());
    }
    let is_lazy = metadata.is_some_and(|id| match pickle.value(*id) {
        Value::Map(entries) => {
            entries.iter().any(|(_, value)| matches!(pickle.value(*value), Value::Bool(true)))
        }
        _ => false,
    });
    let storage = Storage::clone(storage);
    let view = Some(View { storage, dtype, offset, shape, strides, is_lazy });
    Ok(Value::Tensor(Box::new(Rebuilt { at, how: how.clone(), view })))
}

/// The storage of a persistent id: `('storage', class, key, location, count)`.
pub(super) fn storage((pickle, at): (&Pickle, usize), id: Id) -> Parsed<Value> {
    let fault = || broken(&rule::STORAGE, at, 0, 0);
    let Some([word, class, key, _, count, others @ ..]) = pickle.items(id) else {
        return Err(fault());
    };
    let (Value::Text(word), Value::Text(key)) = (pickle.value(*word), pickle.value(*key)) else {
        return Err(fault());
    };
    let Value::Global { name, .. } = pickle.value(*class) else { return Err(fault()) };
    // Before version 0.4 a storage could be a part of another one.
    if others.first().is_some_and(|id| !matches!(pickle.value(*id), Value::None)) {
        return Err(fault());
    }
    let count = pickle.count(*count).filter(|_| pickle.is(word, "storage")).ok_or_else(fault)?;
    Ok(Value::Storage(Box::new(Storage { class: name.clone(), key: key.clone(), count })))
}
