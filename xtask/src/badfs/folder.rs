//! The one folder of the file system, in memory, and what goes wrong in it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::fault::Fault;
use super::wire::{Attributes, errno};

/// The number of the folder itself.
pub(super) const ROOT: u64 = 1;

/// Files by name, with their bytes.
pub(super) type Files = BTreeMap<String, Arc<Vec<u8>>>;

/// How long a slow read takes.
const PAUSE: Duration = Duration::from_millis(100);

/// One read in this many is slow.
const SLOW_EVERY: u64 = 16;

/// The folder. Files that are replaced or removed stay for whoever has them open.
pub(super) struct Folder {
    nodes: BTreeMap<u64, Node>,
    names: BTreeMap<String, u64>,
    node_count: u64,
    fault: Fault,
    /// The file whose reads go wrong.
    faulty: u64,
    /// How often it was read.
    pub(super) read_count: u64,
    /// Nanoseconds since 1970; each change takes one.
    clock: u64,
}

struct Node {
    bytes: Arc<Vec<u8>>,
    mode: u32,
    links: u32,
    modified: u64,
    changed: u64,
}

impl Folder {
    /// A folder without files.
    pub(super) fn new() -> Self {
        let (nodes, names) = (BTreeMap::new(), BTreeMap::new());
        let clock = 1_000_000_000_000_000_000;
        let (fault, faulty, read_count) = (Fault::None, 0, 0);
        Self { nodes, names, node_count: ROOT, fault, faulty, read_count, clock }
    }

    /// Replaces all files, and lets this go wrong with the file `faulty`.
    pub(super) fn set(&mut self, files: &Files, fault: Fault, faulty: &str) {
        self.nodes.clear();
        self.names.clear();
        for (name, bytes) in files {
            let node = self.add(name, 0o644);
            if let Some(node) = self.nodes.get_mut(&node) {
                node.bytes = Arc::clone(bytes);
            }
        }
        self.faulty = self.names.get(faulty).copied().unwrap_or(0);
        (self.fault, self.read_count) = (fault, 0);
    }

    /// The files as they are.
    pub(super) fn files(&self) -> Files {
        let bytes = |node| self.nodes.get(node).map(|node: &Node| Arc::clone(&node.bytes));
        let named = self.names.iter();
        named.filter_map(|(name, node)| Some((name.clone(), bytes(node)?))).collect()
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1_000_000;
        self.clock
    }

    fn add(&mut self, name: &str, mode: u32) -> u64 {
        self.node_count += 1;
        let at = self.tick();
        let mode = 0o10_0000 | mode & 0o7777;
        let node = Node { bytes: Arc::default(), mode, links: 1, modified: at, changed: at };
        self.nodes.insert(self.node_count, node);
        self.names.insert(name.to_owned(), self.node_count);
        self.node_count
    }

    /// What `stat` shows.
    pub(super) fn attributes(&self, node: u64) -> Result<Attributes, i32> {
        if node == ROOT {
            let (modified, changed) = (self.clock, self.clock);
            return Ok(Attributes { node, len: 0, mode: 0o4_0755, links: 2, modified, changed });
        }
        let found = self.nodes.get(&node).ok_or(errno::ENOENT)?;
        let &Node { ref bytes, mode, links, modified, changed } = found;
        Ok(Attributes { node, len: bytes.len() as u64, mode, links, modified, changed })
    }

    /// The file of this name.
    pub(super) fn find(&self, name: &str) -> Result<u64, i32> {
        self.names.get(name).copied().ok_or(errno::ENOENT)
    }

    /// A new file of this name.
    pub(super) fn create(&mut self, name: &str, mode: u32) -> Result<u64, i32> {
        if self.names.contains_key(name) {
            return Err(errno::EEXIST);
        }
        match self.fault {
            Fault::CreateFails => Err(errno::ENOSPC),
            _ => Ok(self.add(name, mode)),
        }
    }

    /// Another name for a file.
    pub(super) fn link(&mut self, node: u64, name: &str) -> Result<(), i32> {
        if self.names.contains_key(name) {
            return Err(errno::EEXIST);
        }
        let at = self.tick();
        let found = self.nodes.get_mut(&node).ok_or(errno::ENOENT)?;
        (found.links, found.changed) = (found.links + 1, at);
        self.names.insert(name.to_owned(), node);
        Ok(())
    }

    /// Takes a name away.
    pub(super) fn remove(&mut self, name: &str) -> Result<(), i32> {
        let node = self.names.remove(name).ok_or(errno::ENOENT)?;
        self.unlinked(node);
        Ok(())
    }

    fn unlinked(&mut self, node: u64) {
        let at = self.tick();
        if let Some(node) = self.nodes.get_mut(&node) {
            (node.links, node.changed) = (node.links.saturating_sub(1), at);
        }
    }

    /// Gives a file another name; the file that had it is replaced if `replaces` is zero.
    pub(super) fn rename(&mut self, from: &str, to: &str, no_replace: u32) -> Result<(), i32> {
        if no_replace > 1 {
            return Err(errno::EINVAL);
        }
        if self.fault == Fault::RenameFails {
            return Err(errno::EIO);
        }
        let node = self.find(from)?;
        match self.names.get(to) {
            Some(_) if no_replace == 1 => return Err(errno::EEXIST),
            Some(&old) if old != node => self.unlinked(old),
            Some(_) => return Ok(()),
            None => {}
        }
        self.names.remove(from);
        self.names.insert(to.to_owned(), node);
        Ok(())
    }

    /// Sets the length, the permissions or the time of a file.
    pub(super) fn change(
        &mut self,
        node: u64,
        len: Option<u64>,
        mode: Option<u32>,
    ) -> Result<(), i32> {
        let fault = self.fault.clone();
        let at = self.tick();
        let found = self.nodes.get_mut(&node).ok_or(errno::ENOENT)?;
        if let Some(len) = len {
            fault.check_write(len)?;
            let len = usize::try_from(len).map_err(|_| errno::EINVAL)?;
            Arc::make_mut(&mut found.bytes).resize(len, 0);
            found.modified = at;
        }
        if let Some(mode) = mode {
            found.mode = 0o10_0000 | mode & 0o7777;
        }
        found.changed = at;
        Ok(())
    }

    /// Bytes of a file, and how long to wait before they are given.
    pub(super) fn read(
        &mut self,
        node: u64,
        offset: u64,
        len: u32,
    ) -> Result<(Vec<u8>, Duration), i32> {
        let (mut end, mut pause) = (offset.saturating_add(u64::from(len)), Duration::ZERO);
        if node == self.faulty {
            self.change_between_reads();
            self.read_count += 1;
            match &self.fault {
                Fault::ReadFails(range) if offset < range.end && range.start < end => {
                    return Err(errno::EIO);
                }
                Fault::ReadEnds(last) => end = end.min(*last),
                Fault::Slow if self.read_count % SLOW_EVERY == 1 => pause = PAUSE,
                Fault::Interrupted if !self.read_count.is_multiple_of(3) => {
                    return Err(errno::EINTR);
                }
                _ => {}
            }
        }
        let bytes = &self.nodes.get(&node).ok_or(errno::ENOENT)?.bytes;
        let end = usize::try_from(end).unwrap_or(usize::MAX).min(bytes.len());
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(end);
        Ok((bytes[start..end].to_vec(), pause))
    }

    /// Changes the file when it was read as often as the fault wants.
    fn change_between_reads(&mut self) {
        let at = self.tick();
        let Some(node) = self.nodes.get_mut(&self.faulty) else { return };
        if self.fault.after() == Some(self.read_count)
            && let Some(bytes) = self.fault.changed(&node.bytes)
        {
            node.bytes = bytes;
            if !matches!(self.fault, Fault::FlipUnseen { .. }) {
                (node.modified, node.changed) = (at, at);
            }
        }
    }

    /// Writes bytes of a file.
    pub(super) fn write(&mut self, node: u64, offset: u64, new: &[u8]) -> Result<u32, i32> {
        self.fault.check_write(offset.saturating_add(new.len() as u64))?;
        let at = self.tick();
        let found = self.nodes.get_mut(&node).ok_or(errno::ENOENT)?;
        let start = usize::try_from(offset).map_err(|_| errno::EINVAL)?;
        let bytes = Arc::make_mut(&mut found.bytes);
        bytes.resize(bytes.len().max(start + new.len()), 0);
        bytes[start..start + new.len()].copy_from_slice(new);
        (found.modified, found.changed) = (at, at);
        u32::try_from(new.len()).map_err(|_| errno::EINVAL)
    }

    /// What is wrong now.
    pub(super) const fn fault(&self) -> &Fault {
        &self.fault
    }

    /// All names, with the numbers of their files.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, u64)> {
        self.names.iter().map(|(name, &node)| (name.as_str(), node))
    }
}
