//! The result of a pickle as a flat list: tensors, arrays and small values, each with the path to it.
//!
//! ```text
//!   {"model": {"layer.weight": tensor}, "epoch": 3, "lr": [0.1, 0.2]}
//!   model.layer.weight                   epoch    lr
//! ```
//!
//! Modules of PyTorch have the names that `state_dict()` gives their parameters, other objects those of their
//! attributes. What is neither a tensor nor a small value is counted, and the first such values are named.

mod names;
mod scalar;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use tet_format::ForeignFault;
use tet_query::AttrText;

use self::names::{joined, key_text};
use self::scalar::{List, is_scalar, list_json, list_kind, scalar};
use super::pickle::{Id, Object, Pickle, Rebuilt, Storage, Value, View};
use super::{numpy, rule};

/// Values within values.
const DEPTH_MAX: u64 = 64;
/// Bytes of all names, small values and arrays together.
pub(crate) const NAMES_LEN_MAX: usize = 64 << 20;
/// Longer lists and texts are counted.
pub(crate) const LIST_COUNT_MAX: usize = 1024;
const TEXT_LEN_MAX: usize = 64 << 10;
/// Values that are visited; one that is reached by several paths is visited as often.
const VISIT_COUNT_MAX: usize = 1 << 22;
/// Values that are left out and named, and the letters that are shown of each.
const LEFT_NAMES_MAX: usize = 16;
const LEFT_NAME_LEN_MAX: usize = 120;

/// A dataset of a pickle.
#[derive(Clone, Debug)]
pub(super) enum Item<'a> {
    Tensor(Cow<'a, Rebuilt>),
    /// The `.npy` file of an array of NumPy, or why there is none.
    Array(Result<Vec<u8>, String>),
}

/// The values of a pickle.
#[derive(Debug, Default)]
pub(super) struct Tree<'a> {
    pub(super) items: Vec<(String, Item<'a>)>,
    pub(super) attrs: BTreeMap<String, AttrText>,
    /// The first values that are left out: objects, bytes, long lists.
    pub(super) left: Vec<String>,
    /// The number of them.
    pub(super) left_count: usize,
    /// Whether there are values that are too deep.
    pub(super) is_deep: bool,
}

/// Lists a pickle; `name` is that of a tensor which is all of it.
pub(super) fn list<'a>(pickle: &'a Pickle, name: &str) -> Result<Tree<'a>, ForeignFault> {
    let mut walk = Walk {
        pickle,
        tree: Tree::default(),
        lists: HashMap::new(),
        met: HashSet::new(),
        around: HashSet::new(),
        names_len: 0,
        visit_count: 0,
    };
    let is_one = match pickle.value(pickle.root) {
        Value::Tensor(_) | Value::Storage(_) => true,
        Value::Object(object) => numpy::array(pickle, pickle.root, object).is_some(),
        _ => false,
    };
    walk.visit(pickle.root, if is_one { name } else { "" }, 0)?;
    Ok(walk.tree)
}

struct Walk<'a> {
    pickle: &'a Pickle,
    tree: Tree<'a>,
    /// The kinds of the lists that were visited.
    lists: HashMap<Id, List>,
    /// The objects that were visited, and those around the value that is visited now.
    met: HashSet<Id>,
    around: HashSet<Id>,
    names_len: usize,
    visit_count: usize,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, id: Id, path: &str, depth: u64) -> Result<(), ForeignFault> {
        self.count_visits(1);
        self.count_len(path.len())?;
        let value = self.pickle.value(id);
        let is_container =
            matches!(value, Value::Map(_) | Value::List(_) | Value::Tuple(_) | Value::Object(_));
        if is_container && (DEPTH_MAX <= depth || VISIT_COUNT_MAX <= self.visit_count) {
            self.tree.is_deep = true;
            self.leave(path, "too deep, or there twice over");
            return Ok(());
        }
        match value {
            Value::Tensor(tensor) => self.tensor(id, tensor, path, depth),
            Value::Storage(storage) => {
                let tensor = Item::Tensor(Cow::Owned(elements(storage)));
                self.tree.items.push((path.to_owned(), tensor));
                Ok(())
            }
            Value::Map(entries) => {
                self.entries(entries, path, depth)?;
                self.state(id, path, depth)
            }
            Value::List(items) | Value::Tuple(items) => self.list(id, items, path, depth),
            Value::Object(object) => self.object(id, object, path, depth),
            value => {
                match scalar(self.pickle, value) {
                    Some(attr) if !path.is_empty() => self.attr(path, attr)?,
                    _ => self.leave(path, &names::kind(self.pickle, value)),
                }
                Ok(())
            }
        }
    }

    fn tensor(
        &mut self,
        id: Id,
        tensor: &'a Rebuilt,
        path: &str,
        depth: u64,
    ) -> Result<(), ForeignFault> {
        self.tree.items.push((path.to_owned(), Item::Tensor(Cow::Borrowed(tensor))));
        if let (None, Some(arguments)) = (&tensor.view, tensor.arguments) {
            self.arguments(arguments, path, depth)?;
        }
        self.state(id, path, depth)
    }

    fn entries(
        &mut self,
        entries: &'a [(Id, Id)],
        path: &str,
        depth: u64,
    ) -> Result<(), ForeignFault> {
        self.count_visits(entries.len());
        let is_plain = |id: Id| is_scalar(self.pickle, self.pickle.value(id));
        let plain_count = entries.iter().filter(|(_, value)| is_plain(*value)).count();
        let is_long = LIST_COUNT_MAX < plain_count;
        for ((key, value), number) in entries.iter().zip(0_u64..) {
            if is_long && is_scalar(self.pickle, self.pickle.value(*value)) {
                continue;
            }
            let key = key_text(self.pickle, *key).unwrap_or_else(|| format!("(key {number})"));
            self.visit(*value, &joined(path, &key), depth + 1)?;
        }
        if is_long {
            self.leave(path, &format!("{plain_count} numbers and texts of a map"));
        }
        Ok(())
    }

    fn list(
        &mut self,
        id: Id,
        items: &'a [Id],
        path: &str,
        depth: u64,
    ) -> Result<(), ForeignFault> {
        let pickle = self.pickle;
        let kind = *self.lists.entry(id).or_insert_with(|| list_kind(pickle, items));
        let count = items.len();
        match kind {
            List::Plain if !path.is_empty() => {
                return self.attr(path, AttrText::Json(list_json(pickle, items)));
            }
            List::Plain | List::Long => self.leave(path, &format!("a list of {count} values")),
            List::Mixed => {
                self.count_visits(count);
                let is_short = count <= LIST_COUNT_MAX && !path.is_empty();
                let mut left_count = 0_usize;
                for (item, number) in items.iter().zip(0_u64..) {
                    if !is_short && is_scalar(pickle, pickle.value(*item)) {
                        left_count = left_count.saturating_add(1);
                    } else {
                        self.visit(*item, &joined(path, &number.to_string()), depth + 1)?;
                    }
                }
                if left_count != 0 {
                    self.leave(path, &format!("{left_count} numbers and texts of a list"));
                }
            }
        }
        Ok(())
    }

    fn object(
        &mut self,
        id: Id,
        object: &'a Object,
        path: &str,
        depth: u64,
    ) -> Result<(), ForeignFault> {
        if let Some(array) = numpy::array(self.pickle, id, object) {
            let pickle = self.pickle;
            self.count_len(array.as_ref().map_or(0, |array| array.stored_len(pickle)))?;
            let file = Item::Array(array.and_then(|array| array.file(pickle)));
            self.tree.items.push((path.to_owned(), file));
            return Ok(());
        }
        if let Some(attr) = numpy::scalar(self.pickle, object).filter(|_| !path.is_empty()) {
            return self.attr(path, attr);
        }
        if numpy::is_own(self.pickle, object) {
            self.leave(path, &self.pickle.shown(object.function));
            return Ok(());
        }
        // Objects may have one another as attributes; a module has one name for each module around it.
        let is_new = self.met.insert(id);
        if !(is_new || self.module(id).is_some()) || !self.around.insert(id) {
            return Ok(());
        }
        let state = self.pickle.state(id);
        if object.items.is_empty() && object.entries.is_empty() && state.is_none() {
            self.leave(path, &self.pickle.shown(object.function));
        }
        self.entries(&object.entries, path, depth)?;
        for (item, number) in object.items.iter().zip(0_u64..) {
            self.visit(*item, &joined(path, &number.to_string()), depth + 1)?;
        }
        if let Some(arguments) = object.arguments {
            self.arguments(arguments, path, depth)?;
        }
        match self.module(id) {
            Some(attributes) => self.parameters(attributes, path, depth)?,
            None => self.state(id, path, depth)?,
        }
        self.around.remove(&id);
        Ok(())
    }

    /// The arguments of a call that may have tensors in them.
    fn arguments(&mut self, tuple: Id, path: &str, depth: u64) -> Result<(), ForeignFault> {
        let items = self.pickle.items(tuple).unwrap_or_default();
        self.count_visits(items.len());
        for (item, number) in items.iter().zip(0_u64..) {
            let value = self.pickle.value(*item);
            let is_named = matches!(
                value,
                Value::Storage(_) | Value::Global { .. } | Value::Bytes(_) | Value::Long
            );
            let is_empty = self.pickle.items(*item).is_some_and(<[Id]>::is_empty);
            if !(is_named || is_empty || is_scalar(self.pickle, value)) {
                self.visit(*item, &joined(path, &number.to_string()), depth + 1)?;
            }
        }
        Ok(())
    }

    /// The attributes of a value: those of its dictionary, and those of its slots behind it.
    fn state(&mut self, id: Id, path: &str, depth: u64) -> Result<(), ForeignFault> {
        let Some(state) = self.pickle.state(id) else { return Ok(()) };
        match self.pickle.value(state) {
            Value::Map(entries) => {
                // The versions of the modules of a `state_dict`.
                let is_version = |(key, _): &(Id, Id)| match self.pickle.value(*key) {
                    Value::Text(range) => self.pickle.is(range, "_metadata"),
                    _ => false,
                };
                if entries.iter().all(is_version) {
                    return Ok(());
                }
                self.entries(entries, path, depth)
            }
            Value::Tuple(parts) if parts.len() == 2 => {
                let maps =
                    parts.iter().filter(|part| matches!(self.pickle.value(**part), Value::Map(_)));
                let maps: Vec<Id> = maps.copied().collect();
                if maps.is_empty() {
                    return self.visit(state, path, depth + 1);
                }
                maps.into_iter().try_for_each(|map| self.visit(map, path, depth + 1))
            }
            _ => self.visit(state, path, depth + 1),
        }
    }

    /// The attributes of a module of PyTorch; `None` for another object.
    fn module(&self, id: Id) -> Option<&'a [(Id, Id)]> {
        let Value::Map(entries) = self.pickle.value(self.pickle.state(id)?) else { return None };
        let has = |name: &str| {
            entries.iter().take(LIST_COUNT_MAX).any(|(key, _)| self.is_key(*key, name))
        };
        (has("_parameters") && has("_modules")).then_some(entries)
    }

    fn is_key(&self, key: Id, name: &str) -> bool {
        matches!(self.pickle.value(key), Value::Text(range) if self.pickle.is(range, name))
    }

    /// The parameters, buffers and modules of a module, and its other attributes but those of PyTorch itself.
    fn parameters(
        &mut self,
        attributes: &'a [(Id, Id)],
        path: &str,
        depth: u64,
    ) -> Result<(), ForeignFault> {
        const GROUPS: [&str; 3] = ["_parameters", "_buffers", "_modules"];
        self.count_visits(attributes.len());
        for (key, value) in attributes {
            let pickled = self.pickle.value(*value);
            if let (true, Value::Map(group)) =
                (GROUPS.iter().any(|name| self.is_key(*key, name)), pickled)
            {
                for (key, value) in group {
                    if !matches!(self.pickle.value(*value), Value::None) {
                        let key = key_text(self.pickle, *key).unwrap_or_default();
                        self.visit(*value, &joined(path, &key), depth + 1)?;
                    }
                }
                continue;
            }
            let key = key_text(self.pickle, *key).unwrap_or_default();
            let is_own = key == "training" || key.starts_with('_');
            let is_small =
                is_scalar(self.pickle, pickled) || matches!(pickled, Value::Global { .. });
            if !(is_own && is_small) {
                self.visit(*value, &joined(path, &key), depth + 1)?;
            }
        }
        Ok(())
    }

    fn attr(&mut self, path: &str, value: AttrText) -> Result<(), ForeignFault> {
        self.count_len(value.text().len())?;
        self.tree.attrs.entry(path.to_owned()).or_insert(value);
        Ok(())
    }

    /// Counts a value that is left out, of this kind.
    fn leave(&mut self, path: &str, kind: &str) {
        self.tree.left_count = self.tree.left_count.saturating_add(1);
        if self.tree.left.len() < LEFT_NAMES_MAX {
            let path = if path.is_empty() { "all of it" } else { path };
            let text = format!("{} ({kind})", names::short(path, LEFT_NAME_LEN_MAX));
            self.tree.left.push(text);
        }
    }

    fn count_visits(&mut self, count: usize) {
        self.visit_count = self.visit_count.saturating_add(count);
    }

    /// Counts bytes of names and values.
    fn count_len(&mut self, len: usize) -> Result<(), ForeignFault> {
        self.names_len = self.names_len.saturating_add(len);
        if self.names_len <= NAMES_LEN_MAX {
            return Ok(());
        }
        let of = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
        let (found, wanted) = (of(self.names_len), of(NAMES_LEN_MAX));
        Err(ForeignFault { rule: &rule::LIMIT_NAMES, at: 0, found, wanted })
    }
}

/// All elements of a storage, along one axis.
fn elements(storage: &Storage) -> Rebuilt {
    let (storage, shape) = (storage.clone(), vec![storage.count]);
    let (dtype, offset, strides, is_lazy) = (None, 0, vec![1], false);
    let view = Some(View { storage, dtype, offset, shape, strides, is_lazy });
    Rebuilt { at: 0, function: None, arguments: None, view }
}
