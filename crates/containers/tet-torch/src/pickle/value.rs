//! The values that a pickle builds.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::super::rule;
use super::cursor::{Parsed, broken};

/// The number of a value.
pub(crate) type Id = u32;

/// A value; texts are ranges of the pickle.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    None,
    Bool(bool),
    Integer(i64),
    /// An integer of more than 64 bits.
    Long,
    Float(f64),
    Text(Range<usize>),
    Bytes(Bytes),
    List(Vec<Id>),
    Tuple(Vec<Id>),
    Map(Vec<(Id, Id)>),
    /// A name in a module.
    Global {
        module: Range<usize>,
        name: Range<usize>,
    },
    Storage(Box<Storage>),
    Tensor(Box<Rebuilt>),
    /// An object of a class that is not known here.
    Object(Box<Object>),
}

/// Bytes of the pickle.
#[derive(Clone, Debug)]
pub(crate) struct Bytes {
    pub(crate) range: Range<usize>,
    /// Whether they are stored as UTF-8 text in which each letter is one of them.
    pub(crate) is_latin1: bool,
}

/// A call of a function or class that is not known here, as data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    /// The function or class; `None` where that is the result of another call.
    pub(crate) function: Option<Id>,
    /// The tuple of its arguments.
    pub(crate) arguments: Option<Id>,
    /// The items that were added, as to a list.
    pub(crate) items: Vec<Id>,
    /// The entries that were set, as of a map.
    pub(crate) entries: Vec<(Id, Id)>,
}

/// The bytes of one or several tensors.
#[derive(Clone, Debug)]
pub(crate) struct Storage {
    /// The class, which names the type of the elements.
    pub(crate) class: Range<usize>,
    /// The name of its member.
    pub(crate) key: Range<usize>,
    /// The number of elements, or of bytes.
    pub(crate) count: u64,
}

/// A tensor, as the arguments of the function that rebuilds it describe it.
#[derive(Clone, Debug)]
pub(crate) struct Rebuilt {
    /// The offset in the pickle.
    pub(crate) at: usize,
    /// The function; `None` for all elements of a storage.
    pub(crate) function: Option<Id>,
    /// The tuple of its arguments.
    pub(crate) arguments: Option<Id>,
    /// The storage, shape, strides and offset; `None` for a kind of tensor that is not read.
    pub(crate) view: Option<View>,
}

/// Elements of a storage.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) storage: Storage,
    /// The name of the type, where the storage does not have it.
    pub(crate) dtype: Option<Range<usize>>,
    /// The first element, counted in elements.
    pub(crate) offset: u64,
    pub(crate) shape: Vec<u64>,
    pub(crate) strides: Vec<u64>,
    /// Whether each element is stored as its conjugate or its negative.
    pub(crate) is_lazy: bool,
}

/// All values of a pickle.
#[derive(Debug)]
pub(crate) struct Pickle {
    pub(crate) bytes: Vec<u8>,
    pub(super) values: Vec<Value>,
    /// The states that objects, tensors and maps were given after they were built.
    pub(super) states: HashMap<Id, Id>,
    /// Items that were copied from one value into another.
    pub(super) copied: usize,
    /// The value that is the result.
    pub(crate) root: Id,
}

/// A pickle may have at most as many values, and as many items on its stack.
pub(crate) const VALUE_COUNT_MAX: usize = 1 << 22;
/// Longer names of functions and classes are of none that is known.
const GLOBAL_LEN_MAX: usize = 512;

impl Pickle {
    /// The value of a number.
    pub(crate) fn value(&self, id: Id) -> &Value {
        usize::try_from(id).ok().and_then(|at| self.values.get(at)).unwrap_or(&Value::None)
    }

    /// All values, in the order in which they were built.
    pub(crate) fn values(&self) -> &[Value] {
        &self.values
    }

    /// The texts of a list that is the result.
    pub(crate) fn texts(&self) -> Vec<String> {
        let items = self.items(self.root).unwrap_or_default().iter();
        let texts = items.filter_map(|item| match self.value(*item) {
            Value::Text(range) => Some(self.text(range).into_owned()),
            _ => None,
        });
        texts.collect()
    }

    /// The letters of a text.
    pub(crate) fn text(&self, range: &Range<usize>) -> Cow<'_, str> {
        String::from_utf8_lossy(self.bytes.get(range.clone()).unwrap_or_default())
    }

    /// Whether the letters of a text are these.
    pub(crate) fn is(&self, range: &Range<usize>, text: &str) -> bool {
        self.bytes.get(range.clone()) == Some(text.as_bytes())
    }

    /// The state of a value.
    pub(crate) fn state(&self, id: Id) -> Option<Id> {
        self.states.get(&id).copied()
    }

    /// The module and the name of a function or class; `None` for other values, and for names that no module has.
    pub(crate) fn names(&self, id: Id) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
        match self.value(id) {
            Value::Global { module, name }
                if module.len().saturating_add(name.len()) <= GLOBAL_LEN_MAX =>
            {
                Some((self.text(module), self.text(name)))
            }
            _ => None,
        }
    }

    /// A function or class as messages show it: `module.name`.
    pub(crate) fn shown(&self, function: Option<Id>) -> String {
        let names = function.and_then(|id| self.names(id));
        names.map_or_else(|| "a call".to_owned(), |(module, name)| format!("{module}.{name}"))
    }

    /// Adds a value.
    pub(super) fn push(&mut self, value: Value, at: usize) -> Parsed<Id> {
        if VALUE_COUNT_MAX <= self.values.len() {
            return Err(broken(&rule::LIMIT_VALUES, at, VALUE_COUNT_MAX, VALUE_COUNT_MAX));
        }
        let id = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        self.values.push(value);
        Ok(id)
    }

    /// The items of a list or tuple.
    pub(crate) fn items(&self, id: Id) -> Option<&[Id]> {
        match self.value(id) {
            Value::List(items) | Value::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// A number of things.
    pub(crate) fn count(&self, id: Id) -> Option<u64> {
        if let Value::Integer(number) = self.value(id) { u64::try_from(*number).ok() } else { None }
    }

    /// The extents or strides of a tensor.
    pub(crate) fn counts(&self, id: Id) -> Option<Vec<u64>> {
        self.items(id)
            .filter(|items| items.len() <= tet_query::AXES_MAX)?
            .iter()
            .map(|&item| self.count(item))
            .collect()
    }
}
