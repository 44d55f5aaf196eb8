//! Which blobs to check: each one once, even if several tensors share it.

use std::collections::{BTreeMap, HashMap};

use tet_report::Level;

use super::blob::{BlobCheck, Shared};
use super::parts::Role;
use crate::index::Index;

/// The tasks, and the tensors they belong to.
pub(super) struct Agenda<'a> {
    pub(super) tasks: Vec<BlobCheck<'a>>,
    /// The position of each tensor and the number of its task, in the order of the index.
    pub(super) turns: Vec<(usize, usize)>,
    /// The bytes of shared blobs that are checked only once.
    pub(super) shared_len: u64,
}

impl<'a> Agenda<'a> {
    pub(super) fn new(index: &'a Index, roles: &'a BTreeMap<usize, Role>, depth: Level) -> Self {
        let mut agenda = Agenda { tasks: Vec::new(), turns: Vec::new(), shared_len: 0 };
        let mut firsts: HashMap<Shared, usize> = HashMap::new();
        for tensor in index.tensors() {
            let role = roles.get(&tensor.position());
            let Some(task) = BlobCheck::for_tensor(tensor, depth, role) else { continue };
            let next = agenda.tasks.len();
            let first = task.shared().map_or(next, |shared| *firsts.entry(shared).or_insert(next));
            agenda.turns.push((tensor.position(), first));
            if first == next {
                agenda.tasks.push(task);
            } else {
                agenda.shared_len = agenda.shared_len.saturating_add(task.len());
            }
        }
        agenda
    }
}
