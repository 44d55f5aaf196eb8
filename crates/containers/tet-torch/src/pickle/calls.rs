//! Calls of a pickle: a fixed list of functions of PyTorch and Python, none of which is called.

use super::super::rule;
use super::cursor::{Parsed, broken};
use super::value::{Bytes, Id, Object, Pickle, Rebuilt, Storage, VALUE_COUNT_MAX, Value, View};

/// The module of the functions that rebuild tensors.
const REBUILDERS: &str = concat!("torch._util", "s");

/// Result of a call.
pub(super) enum Outcome {
    New(Value),
    /// A value that is there already.
    Same(Id),
}

/// Of more arguments nothing is used.
const ARGUMENT_COUNT_MAX: usize = 8;

/// A call in a pickle.
#[derive(Clone, Copy)]
pub(super) struct Call {
    /// The position of its opcode, in bytes.
    pub(super) at: usize,
    pub(super) function: Id,
    /// The tuple of its arguments.
    pub(super) tuple: Id,
}

impl Call {
    /// The result of the call.
    pub(super) fn outcome(self, pickle: &mut Pickle) -> Parsed<Outcome> {
        let Some((module, name)) = pickle.names(self.function) else {
            let is_global = matches!(pickle.value(self.function), Value::Global { .. });
            let function = is_global.then_some(self.function);
            return Ok(Outcome::New(object(function, self.tuple)));
        };
        let (module, name) = (module.into_owned(), name.into_owned());
        if module == "torch._tensor" && name.starts_with("_rebuild_from_type") {
            return subclass(pickle, self);
        }
        known(pickle, self, &module, &name)
    }

    /// A tensor of a kind that is not read.
    fn unread(self) -> Value {
        let (function, arguments) = (Some(self.function), Some(self.tuple));
        Value::Tensor(Box::new(Rebuilt { at: self.at, function, arguments, view: None }))
    }
}

/// The first items of a tuple.
fn first_of(pickle: &Pickle, tuple: Id) -> Vec<Id> {
    let items = pickle.items(tuple).unwrap_or_default();
    items.iter().take(ARGUMENT_COUNT_MAX).copied().collect()
}

fn object(function: Option<Id>, tuple: Id) -> Value {
    Value::Object(Box::new(Object { function, arguments: Some(tuple), ..Object::default() }))
}

/// The result of a function of this module and name, which is no subclass of a tensor.
fn known(pickle: &mut Pickle, call: Call, module: &str, name: &str) -> Parsed<Outcome> {
    let Call { at, function, tuple } = call;
    let arguments = first_of(pickle, tuple);
    let first = arguments.first().copied();
    let letters = first.and_then(|id| match pickle.value(id) {
        Value::Text(range) => Some(range.clone()),
        _ => None,
    });
    Ok(Outcome::New(match (module, name, first) {
        (REBUILDERS, "_rebuild_tensor" | "_rebuild_tensor_v2" | "_rebuild_tensor_v3", _) => {
            let view = view(pickle, at, name == "_rebuild_tensor_v3", &arguments)?;
            let (function, arguments) = (Some(function), Some(tuple));
            Value::Tensor(Box::new(Rebuilt { at, function, arguments, view: Some(view) }))
        }
        (REBUILDERS, "_rebuild_parameter_with_state", Some(first)) => {
            pickle.states.extend(arguments.get(3).map(|state| (first, *state)));
            return Ok(Outcome::Same(first));
        }
        (REBUILDERS, "_rebuild_parameter" | "_rebuild_device_tensor_from_numpy", Some(first))
        | ("torch", "Size" | "device", Some(first))
        | ("collections", "deque" | "Counter", Some(first))
        | ("builtins" | "__builtin__", "set" | "frozenset" | "list" | "tuple", Some(first)) => {
            return Ok(Outcome::Same(first));
        }
        // Lists of TorchScript, with the types of their items.
        ("torch.jit._pickle", "restore_type_tag", Some(first)) => return Ok(Outcome::Same(first)),
        ("torch.jit._pickle", list, Some(first)) if list.ends_with("list") => {
            return Ok(Outcome::Same(first));
        }
        ("_codecs", "encode", _) | ("builtins" | "__builtin__", "bytearray", _)
            if letters.is_some() =>
        {
            Value::Bytes(Bytes { range: letters.unwrap_or_default(), is_latin1: true })
        }
        ("builtins" | "__builtin__", "bytes" | "bytearray", None) => {
            Value::Bytes(Bytes { range: 0..0, is_latin1: false })
        }
        ("builtins" | "__builtin__", "bytearray", Some(first))
            if matches!(pickle.value(first), Value::Bytes(_)) =>
        {
            return Ok(Outcome::Same(first));
        }
        (REBUILDERS | "torch._tensor", other, _) if other.starts_with("_rebuild_") => call.unread(),
        ("torch.storage", "_load_from_bytes", _) => call.unread(),
        ("collections", "OrderedDict", Some(first)) => Value::Map(entries(pickle, at, first)?),
        ("collections", "OrderedDict" | "defaultdict" | "Counter", _) => Value::Map(Vec::new()),
        // A function that takes a storage makes a tensor of it.
        _ if arguments.iter().any(|id| matches!(pickle.value(*id), Value::Storage(_))) => {
            call.unread()
        }
        _ => object(Some(function), tuple),
    }))
}

/// A tensor of a subclass, or with attributes: another function rebuilds it from arguments of its own, and its state
/// has the attributes.
fn subclass(pickle: &mut Pickle, call: Call) -> Parsed<Outcome> {
    let arguments = first_of(pickle, call.tuple);
    let &[function, _, tuple, ref others @ ..] = arguments.as_slice() else {
        return Ok(Outcome::New(call.unread()));
    };
    let inner = Call { at: call.at, function, tuple };
    let names = pickle.names(function);
    let names = names.map(|(module, name)| (module.into_owned(), name.into_owned()));
    let outcome = match &names {
        Some((module, name)) if !name.starts_with("_rebuild_from_type") => {
            known(pickle, inner, module, name)?
        }
        _ => Outcome::New(call.unread()),
    };
    let id = match outcome {
        Outcome::Same(id) => id,
        Outcome::New(tensor @ Value::Tensor(_)) => pickle.push(tensor, call.at)?,
        Outcome::New(_) => pickle.push(inner.unread(), call.at)?,
    };
    pickle.states.extend(others.first().map(|state| (id, *state)));
    Ok(Outcome::Same(id))
}

/// The entries of a list of pairs.
fn entries(pickle: &mut Pickle, at: usize, id: Id) -> Parsed<Vec<(Id, Id)>> {
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
fn view(pickle: &Pickle, at: usize, is_third: bool, arguments: &[Id]) -> Parsed<View> {
    let fault = || broken(&rule::TENSOR, at, arguments.len(), 4);
    let [storage, offset, shape, strides, others @ ..] = arguments else { return Err(fault()) };
    let Value::Storage(storage) = pickle.value(*storage) else { return Err(fault()) };
    let offset = pickle.count(*offset).ok_or_else(fault)?;
    let shape = pickle.counts(*shape).ok_or_else(fault)?;
    let strides = pickle.counts(*strides).ok_or_else(fault)?;
    if shape.len() != strides.len() {
        return Err(fault());
    }
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
    Ok(View { storage, dtype, offset, shape, strides, is_lazy })
}

/// The storage of a persistent id: `('storage', class, key, location, count)`.
pub(super) fn storage(pickle: &Pickle, at: usize, id: Id) -> Parsed<Value> {
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
