//! An edited file before it is written.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use tet_cbor as cbor;
use tet_format::Span;
use tet_io::{Output, Publish, Publisher, Source};

use super::fields::Fields;
use super::place::{Move, moved, moves};
use crate::entry::Field;
use crate::error::{Error, NAME_TAKEN, Result};
use crate::footer::MAGIC;
use crate::index::Index;
use crate::limits::Limits;
use crate::open::read_index;
use crate::write::{Resumed, WriteOptions, Writer, Written, check_name};
use tet_cbor::Value;

/// An edited file. Nothing is written before [`save`](Draft::save).
#[derive(Debug)]
pub struct Draft {
    source: Source,
    index: Index,
    /// The entries by their positions in the old index.
    lines: BTreeMap<usize, Line>,
    /// The positions of the entries of each name.
    names: BTreeMap<String, BTreeSet<usize>>,
    /// Whether unused space between blobs is reclaimed.
    is_compact: bool,
}

/// One entry of the new index.
#[derive(Debug)]
struct Line {
    name: String,
    /// Its fields, if one of them was changed.
    fields: Option<Fields>,
    /// Whether the tensor is written anew.
    is_replaced: bool,
}

impl Draft {
    /// Starts from an existing file.
    ///
    /// # Errors
    ///
    /// The container or the index breaks a rule, or the source cannot be read.
    pub fn open(source: &Source, limits: &Limits) -> Result<Self> {
        let index = read_index(source, limits, &mut |_, _, _| {})?;
        let (mut lines, mut names) = (BTreeMap::new(), BTreeMap::<String, BTreeSet<usize>>::new());
        for tensor in index.tensors() {
            let (at, name) = (tensor.position(), tensor.name().to_owned());
            names.entry(name.clone()).or_default().insert(at);
            lines.insert(at, Line { name, fields: None, is_replaced: false });
        }
        Ok(Self { source: source.clone(), index, lines, names, is_compact: false })
    }

    /// The current names, in the order of the new index.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.lines.values().map(|line| line.name.as_str())
    }

    /// Renames a tensor. Here and below, `#N` selects the tensor at a position of the old index,
    /// unless a tensor has that name.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NoSuchTensor`] and [`Error::Ambiguous`] unless exactly one tensor matches,
    /// and [`Error::Unwritable`] when the name is taken or cannot be written.
    pub fn rename(&mut self, name: &str, to: &str) -> Result<()> {
        let at = self.find(name)?;
        check_name(to)?;
        let is_taken = self.names.get(to).is_some_and(|named| named.iter().any(|it| *it != at));
        if is_taken {
            let why = NAME_TAKEN;
            return Err(Error::Unwritable { name: to.to_owned(), why });
        }
        self.fields(at)?.set_name(to);
        if let Some(line) = self.lines.get_mut(&at) {
            let from = std::mem::replace(&mut line.name, to.to_owned());
            self.remove_name(&from, at);
            self.names.entry(to.to_owned()).or_default().insert(at);
        }
        Ok(())
    }

    /// Removes a tensor, and its bytes unless another tensor shares them.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NoSuchTensor`] and [`Error::Ambiguous`] unless exactly one tensor matches.
    pub fn remove(&mut self, name: &str) -> Result<()> {
        let at = self.find(name)?;
        if let Some(line) = self.lines.remove(&at) {
            self.remove_name(&line.name, at);
        }
        self.is_compact = true;
        Ok(())
    }

    /// Removes the bytes of the tensor at a position of the old index, unless another tensor shares them: the writer
    /// of [`save_with`](Draft::save_with) must write a tensor of its name, whose entry takes its place.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NoSuchTensor`] when there is none, and [`Error::Ambiguous`] when another tensor has its name.
    pub fn replace(&mut self, position: usize) -> Result<()> {
        let no_such = || Error::NoSuchTensor { name: format!("#{position}") };
        let line = self.lines.get_mut(&position).ok_or_else(no_such)?;
        line.is_replaced = true;
        self.is_compact = true;
        let positions = self.index.positions(&line.name);
        if 1 < positions.len() {
            return Err(Error::Ambiguous { name: line.name.clone(), positions });
        }
        Ok(())
    }

    /// Sets a custom field of a tensor.
    ///
    /// # Errors
    ///
    /// Returns what [`Draft::remove`] returns, and [`Error::Unwritable`] when the format defines
    /// this key, or readers of 0.1.x would refuse the value.
    pub fn set(&mut self, name: &str, key: &str, value: &Value) -> Result<()> {
        let at = self.custom(name, key)?;
        let checked = cbor::check_value(value);
        checked.map_err(|why| Error::Unwritable { name: name.to_owned(), why })?;
        self.fields(at)?.set(key, value);
        Ok(())
    }

    /// Removes a custom field. Returns whether it was there.
    ///
    /// # Errors
    ///
    /// Returns what [`Draft::set`] returns.
    pub fn unset(&mut self, name: &str, key: &str) -> Result<bool> {
        let at = self.custom(name, key)?;
        Ok(self.fields(at)?.remove(key))
    }

    /// Reclaims space between blobs that belongs to no tensor.
    pub fn compact(&mut self) {
        self.is_compact = true;
    }

    /// Writes the new file.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] when the source cannot be read or has changed, or the new file cannot
    /// be written. The old file is unchanged then.
    pub fn save(&self, output: Output<'_>, publish: &Publish) -> Result<Written> {
        let options = WriteOptions::default();
        self.save_with(output, publish, &options, |_| Ok::<_, Error>(())).map(|((), it)| it)
    }

    /// Writes the new file with more tensors after the old ones. Returns what `append`, which
    /// writes them, returns. The byte counts in [`Written`] are those of the new tensors.
    ///
    /// # Errors
    ///
    /// Returns what [`Draft::save`] and `append` return, and [`Error::Tensor`] when the blob of a
    /// tensor is truncated: appended bytes would be taken for it.
    pub fn save_with<T, E: From<Error>>(
        &self,
        output: Output<'_>,
        publish: &Publish,
        options: &WriteOptions,
        append: impl FnOnce(&mut Writer<Publisher>) -> Result<T, E>,
    ) -> Result<(T, Written), E> {
        let mut publisher = output.begin(&self.source, publish).map_err(Error::from)?;
        publisher.file().mark_final(0..u64::MAX);
        let target = publisher.target().to_path_buf();
        let (publisher, at, moves) = self.copy_blobs(publisher)?;
        let resumed = self.resumed(moves.as_deref())?;
        let tensor_count = resumed.tensor_count;
        let mut writer = Writer::resume(publisher, options, &target, at, resumed);
        let answer = append(&mut writer)?;
        if tensor_count < writer.tensor_count() {
            self.check_bounds()?;
        }
        let (publisher, written) = writer.finish()?;
        self.source.check_unchanged().map_err(Error::from)?;
        publisher.commit().map_err(Error::from)?;
        Ok((answer, written))
    }

    /// Refuses to append after an index with blobs past the end of the file.
    fn check_bounds(&self) -> Result<()> {
        for position in self.lines.keys() {
            let Some(tensor) = self.index.tensor(*position) else { continue };
            let is_there = tensor.stored().is_some() || tensor.offset().is_none();
            if !is_there {
                tensor.check()?;
            }
        }
        Ok(())
    }

    /// The entries of the new index.
    pub(crate) fn resumed(&self, moves: Option<&[Move]>) -> Result<Resumed> {
        let mut resumed = Resumed::default();
        for (position, line) in &self.lines {
            if line.is_replaced {
                resumed.replaced.push((line.name.clone(), resumed.index.len()));
                continue;
            }
            let Some(tensor) = self.index.tensor(*position) else { continue };
            let mut fields = line.fields.clone();
            let blob = tensor.stored();
            let to = moves.zip(blob).and_then(|(moves, blob)| moved(moves, blob));
            if let Some(to) = to.filter(|to| Some(*to) != tensor.offset()) {
                let depth_max = self.index.limits().depth_max;
                fields = fields.or_else(|| Fields::read(tensor.entry_bytes(), depth_max));
                if let Some(fields) = &mut fields {
                    fields.set_offset(to);
                }
            }
            match fields {
                Some(fields) => fields.encode(&mut resumed.index),
                None => resumed.index.extend_from_slice(tensor.entry_bytes()),
            }
            resumed.tensor_count += 1;
            resumed.names.push(line.name.clone());
        }
        Ok(resumed)
    }

    /// Copies the blobs that remain. Returns where they end, and which were moved.
    fn copy_blobs(&self, mut publisher: Publisher) -> Result<(Publisher, u64, Option<Vec<Move>>)> {
        let end = self.index.span().map_or(0, Span::start);
        if !self.is_compact {
            if let Some(span) = Span::from_range(0..end) {
                publisher.copy_from(&self.source, span)?;
            }
            return Ok((publisher, end, None));
        }
        let kept = self.lines.iter().filter(|(_, line)| !line.is_replaced);
        let tensors = kept.filter_map(|(position, _)| self.index.tensor(*position));
        let blobs = tensors.filter_map(|tensor| tensor.stored()).collect();
        let mut at = MAGIC.len() as u64;
        let (what, wanted, limit) = ("bytes of a file", u64::MAX, u64::MAX);
        let moves = moves(blobs, at).ok_or(Error::Limit { what, wanted, limit })?;
        put(&mut publisher, &MAGIC)?;
        for Move { from, to } in &moves {
            let zeros = usize::try_from(to.saturating_sub(at)).unwrap_or(0);
            put(&mut publisher, &vec![0; zeros])?;
            publisher.copy_from(&self.source, *from)?;
            at = to.saturating_add(from.len());
        }
        Ok((publisher, at, Some(moves)))
    }

    /// The line of a tensor, after checking that the key may be changed.
    fn custom(&self, name: &str, key: &str) -> Result<usize> {
        let at = self.find(name)?;
        let is_sparse = self.index.tensor(at).is_some_and(|tensor| tensor.is_sparse());
        let sparse_keys = ["sparse_format", "nnz", "indptr", "indices", "coords"];
        if Field::from_key(key.as_bytes()).is_some() || is_sparse && sparse_keys.contains(&key) {
            let why = "this key is defined by the format";
            return Err(Error::Unwritable { name: name.to_owned(), why });
        }
        Ok(at)
    }

    /// The position of a tensor.
    fn find(&self, name: &str) -> Result<usize> {
        let named = self.names.get(name).map(|named| named.iter().copied().collect::<Vec<_>>());
        match named.as_deref() {
            Some([at]) => return Ok(*at),
            Some(positions) => {
                let positions = positions.to_vec();
                return Err(Error::Ambiguous { name: name.to_owned(), positions });
            }
            None => {}
        }
        let position = name.strip_prefix('#').and_then(|at| at.parse::<usize>().ok());
        let numbered = position.filter(|at| self.lines.contains_key(at));
        numbered.ok_or_else(|| Error::NoSuchTensor { name: name.to_owned() })
    }

    fn remove_name(&mut self, name: &str, at: usize) {
        if let Some(named) = self.names.get_mut(name) {
            named.remove(&at);
            if named.is_empty() {
                self.names.remove(name);
            }
        }
    }

    /// The fields of a line, for changes.
    fn fields(&mut self, at: usize) -> Result<&mut Fields> {
        let no_such = || Error::NoSuchTensor { name: format!("#{at}") };
        let Self { lines, index, .. } = self;
        let line = lines.get_mut(&at).ok_or_else(no_such)?;
        if line.fields.is_none() {
            let tensor = index.tensor(at).ok_or_else(no_such)?;
            line.fields = Fields::read(tensor.entry_bytes(), index.limits().depth_max);
        }
        let name = line.name.clone();
        line.fields.as_mut().ok_or(Error::Unwritable { name, why: "its entry is not a map" })
    }
}

fn put(publisher: &mut Publisher, bytes: &[u8]) -> Result<()> {
    let written = publisher.write_all(bytes);
    Ok(written.map_err(|error| publisher.write_fault(error))?)
}
