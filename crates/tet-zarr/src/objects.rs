//! The table of objects: numbers for sources, opened when they are touched.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use tet_io::{Compared, Source, Stamp, Writers, at_once};

use crate::error::{Result, broken, fault_in};
use crate::rule;
use crate::store::{ObjectName, Store};

/// The most sources that are open at the same time.
const OPEN_MAX: usize = 256;

/// The number of a source in [`Objects`].
///
/// ```
/// assert_eq!(tet_zarr::ObjectId(3).0, 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

/// The sources of a store, numbered when they are first asked for. A bounded number is open; a
/// source that was closed is opened again, and must be unchanged. Clones share their state.
///
/// # Examples
///
/// ```
/// use tet_zarr::{Objects, Store};
///
/// let objects = Objects::new(Store::folder(std::env::temp_dir())?);
/// assert_eq!(objects.count(), 0);
/// # Ok::<(), tet_zarr::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Objects(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    store: Store,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    ids: HashMap<Arc<ObjectName>, ObjectId>,
    known: Vec<Known>,
    /// The open sources, each with the time of its last use.
    open: HashMap<ObjectId, (Source, u64)>,
    /// Those by the times of their last uses.
    used: BTreeMap<u64, ObjectId>,
    clock: u64,
    /// Who may have written to any of them, as far as it is known, and up to which time.
    writers: Writers,
    writers_at: Option<u64>,
}

#[derive(Debug)]
struct Known {
    name: Arc<ObjectName>,
    len: u64,
    stamp: Option<Stamp>,
    /// Of an object on a server.
    version: Option<String>,
    /// Whether no other version of it can be read than the one that was found.
    is_pinned: bool,
}

impl Objects {
    /// The objects of a store.
    #[must_use]
    pub fn new(store: Store) -> Objects {
        Objects(Arc::new(Shared { store, table: Mutex::default() }))
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// How many objects have a number.
    #[must_use]
    pub fn count(&self) -> usize {
        self.table().known.len()
    }

    /// The name of an object.
    #[must_use]
    pub fn name(&self, id: ObjectId) -> Option<ObjectName> {
        self.table().known(id).map(|known| (*known.name).clone())
    }

    /// The source of an object.
    ///
    /// # Errors
    ///
    /// Returns `ZR-P5` when it changed since it was first opened, and errors of the environment.
    pub fn source(&self, id: ObjectId) -> Result<Source> {
        let (name, stamp, version) = {
            let mut table = self.table();
            if let Some(source) = table.touch(id) {
                return Ok(source);
            }
            let Some(known) = table.known(id) else {
                return Err(fault_in("", broken(&rule::CHANGED, id.0.into(), 0)));
            };
            (known.name.clone(), known.stamp, known.version.clone())
        };
        let changed = || fault_in(&shown(&name), broken(&rule::CHANGED, 0, 0));
        let source = self.0.store.open(&name)?.ok_or_else(changed)?;
        match (stamp, source.stamp()) {
            (Some(first), Some(now)) if !first.is_unchanged(&now) => return Err(changed()),
            _ if version.as_deref() != source.version() => return Err(changed()),
            _ => {}
        }
        self.table().keep(id, source.clone());
        Ok(source)
    }

    /// The number and the source of an object; `None` if there is no such file.
    ///
    /// # Errors
    ///
    /// As [`Objects::source`], and `ZR-L7`.
    pub fn find(&self, name: &ObjectName) -> Result<Option<(ObjectId, Source)>> {
        let id = self.table().ids.get(name).copied();
        if let Some(id) = id {
            return Ok(Some((id, self.source(id)?)));
        }
        let Some(source) = self.0.store.open(name)? else { return Ok(None) };
        let mut table = self.table();
        if let Some(&id) = table.ids.get(name) {
            // Another thread was first.
            drop(table);
            return Ok(Some((id, self.source(id)?)));
        }
        let number = u32::try_from(table.known.len()).ok().filter(|it| *it < u32::MAX - 1);
        let Some(number) = number else {
            return Err(fault_in(&shown(name), broken(&rule::LIMIT_OBJECTS, u64::MAX, 0)));
        };
        let (id, name) = (ObjectId(number), Arc::new(name.clone()));
        table.ids.insert(name.clone(), id);
        let version = source.version().map(str::to_owned);
        let (len, stamp, is_pinned) = (source.len(), source.stamp(), source.is_pinned());
        table.writers = table.writers.max(source.writers_at_open());
        table.known.push(Known { name, len, stamp, version, is_pinned });
        table.keep(id, source.clone());
        Ok(Some((id, source)))
    }

    /// The number and the length of an object; `None` if there is no such file. One that was found before is not opened again:
    /// that it is unchanged is checked when it is read.
    ///
    /// # Errors
    ///
    /// As [`Objects::find`].
    pub(crate) fn locate(&self, name: &ObjectName) -> Result<Option<(ObjectId, u64)>> {
        let known = self.table().len_of(name);
        if known.is_some() {
            return Ok(known);
        }
        Ok(self.find(name)?.map(|(id, source)| (id, source.len())))
    }

    /// Finds objects, `depth` at the same time; those that are not there.
    pub(crate) fn open_ahead(
        &self,
        names: &[ObjectName],
        depth: usize,
    ) -> Result<HashSet<ObjectName>> {
        let is_there = |nth| -> Result<bool> {
            Ok(names.get(nth).map_or(Ok(None), |name: &ObjectName| self.locate(name))?.is_some())
        };
        let found = at_once(names.len(), depth, is_there)?;
        let absent = names.iter().zip(found).filter(|(_, is_there)| !is_there);
        Ok(absent.map(|(name, _)| name.clone()).collect())
    }

    /// Who may have written to objects since they were opened: to those that are open, and at the time when they were
    /// found to all.
    #[must_use]
    pub fn writers(&self) -> Writers {
        let mut table = self.table();
        // Many arrays share the table: where nothing was read since the last time, it holds what was found then.
        if table.writers_at != Some(table.clock) {
            let open = table.open.values().map(|(source, _)| source.writers());
            table.writers = open.max().map_or(table.writers, |now| now.max(table.writers));
            table.writers_at = Some(table.clock);
        }
        table.writers
    }

    /// Checks that a source that was opened is still the same file with the same bytes.
    ///
    /// # Errors
    ///
    /// Returns `ZR-P5` when it is not, and errors of the environment.
    pub fn check_unchanged(&self, id: ObjectId) -> Result<()> {
        // Bytes read from an object on a server are of the pinned version, each time it is opened.
        if self.table().known(id).is_some_and(|known| known.is_pinned) {
            return Ok(());
        }
        let closed = {
            let mut table = self.table();
            let source = table.touch(id);
            let known = table.known(id).map(|known| (Arc::clone(&known.name), known.stamp));
            source.map_or_else(|| Err(known), Ok)
        };
        let known = match closed {
            Ok(source) => return Ok(source.check_unchanged()?),
            Err(known) => known,
        };
        // A file with the stamp that it had is the file that was read, whatever leads to it: it need not be opened.
        if let (Some((name, Some(first))), Store::Folder(folder)) = (known, &self.0.store)
            && let ObjectName::File(key) = &*name
        {
            let now = folder.stamp_of(key)?;
            return match now.is_some_and(|now| first.is_unchanged(&now)) {
                true => Ok(()),
                false => Err(fault_in(key, broken(&rule::CHANGED, 0, 0))),
            };
        }
        // One that is opened now is compared when it is opened.
        Ok(self.source(id)?.check_unchanged()?)
    }

    /// Whether the store is not compared yet.
    pub(crate) fn is_first(&self, compared: &mut Compared) -> bool {
        compared.is_first(&self.0)
    }

    fn table(&self) -> std::sync::MutexGuard<'_, Table> {
        // Every change of the table is complete at each place where it could panic.
        self.0.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn known(&self, id: ObjectId) -> Option<&Known> {
        self.known.get(usize::try_from(id.0).ok()?)
    }

    fn len_of(&self, name: &ObjectName) -> Option<(ObjectId, u64)> {
        let id = *self.ids.get(name)?;
        Some((id, self.known(id)?.len))
    }

    fn touch(&mut self, id: ObjectId) -> Option<Source> {
        self.clock = self.clock.saturating_add(1);
        let (source, used) = self.open.get_mut(&id)?;
        self.used.remove(used);
        self.used.insert(self.clock, id);
        *used = self.clock;
        Some(source.clone())
    }

    fn keep(&mut self, id: ObjectId, source: Source) {
        if OPEN_MAX <= self.open.len()
            && let Some((_, oldest)) = self.used.pop_first()
        {
            self.open.remove(&oldest);
        }
        self.clock = self.clock.saturating_add(1);
        if let Some((_, used)) = self.open.insert(id, (source, self.clock)) {
            self.used.remove(&used);
        }
        self.used.insert(self.clock, id);
    }
}

/// The name of an object in a fault.
fn shown(name: &ObjectName) -> String {
    match name {
        ObjectName::File(key) | ObjectName::Inline(key) => key.clone(),
        ObjectName::Zip => String::new(),
    }
}
