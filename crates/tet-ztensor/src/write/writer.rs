//! The streaming writer of a file.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use tet_cbor as cbor;

use super::declaration::Declaration;
use super::entry::{Declared, Placed, custom_bytes};
use super::options::{Dialect, WriteOptions};
use super::out::Out;
use crate::error::{Error, NAME_TAKEN, Result};
use crate::footer::MAGIC;

pub(super) const DENSE: &str = "dense";

/// Writes a file, tensor by tensor, to a sequential sink.
///
/// Memory: at most 16 MB of elements and frames, and the index; high zstd levels take more for each
/// thread.
///
/// ```
/// use tet_format::DType;
/// use tet_ztensor::{Declaration, WriteOptions, Writer};
///
/// let mut writer = Writer::new(Vec::new(), &WriteOptions::default())?;
/// let mut tensor = writer.tensor(Declaration::new("bias", DType::Float32, [2]))?;
/// tensor.write(&1.5_f32.to_le_bytes())?;
/// tensor.write(&2.5_f32.to_le_bytes())?;
/// tensor.finish()?;
/// let (bytes, written) = writer.finish()?;
/// assert_eq!(bytes.len() as u64, written.file_len);
/// # Ok::<(), tet_ztensor::Error>(())
/// ```
#[derive(Debug)]
pub struct Writer<W: Write + Send> {
    pub(super) out: Out<W>,
    pub(super) options: WriteOptions,
    /// The entries so far, without the head of their array.
    index: Vec<u8>,
    written: Written,
    placed: HashMap<String, Option<Placed>>,
    /// Tensors of the old index that are written anew: where their entries are in `index`, and these.
    replaced: Vec<(usize, Vec<u8>)>,
    /// Which of them has a name, until it is written.
    replaced_names: HashMap<String, usize>,
    /// The tensor that was started and not finished.
    open: Option<String>,
}

/// The size of a finished file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// The length of the file.
    pub file_len: u64,
    /// The number of tensors in its index.
    pub tensor_count: u64,
    /// The bytes of the blobs that were written.
    pub stored_len: u64,
    /// The bytes of their elements.
    pub decoded_len: u64,
}

impl<W: Write + Send> Writer<W> {
    /// Starts a file at the current position of `out`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Options`] and [`Error::Codec`] when the options are incompatible, and
    /// [`Error::Io`] when `out` fails.
    pub fn new(out: W, options: &WriteOptions) -> Result<Self> {
        Self::named(out, options, Path::new("(output)"))
    }

    /// As `new`, with a path for error messages.
    pub(super) fn named(out: W, options: &WriteOptions, target: &Path) -> Result<Self> {
        options.check("")?;
        let mut writer = Self::resume(out, options, target, 0, Resumed::default());
        writer.out.plain(&MAGIC)?;
        Ok(writer)
    }

    /// Continues a file that already has `at` bytes.
    pub(crate) fn resume(
        out: W,
        options: &WriteOptions,
        target: &Path,
        at: u64,
        resumed: Resumed,
    ) -> Self {
        let Resumed { index, tensor_count, names, replaced } = resumed;
        let places = replaced.iter().map(|(_, at)| (*at, Vec::new())).collect();
        let replaced_names = replaced.into_iter().map(|(name, _)| name).zip(0..).collect();
        Self {
            replaced: places,
            replaced_names,
            out: Out::new(out, at, target),
            options: *options,
            index,
            written: Written { tensor_count, ..Written::default() },
            placed: names.into_iter().map(|name| (name, None)).collect(),
            open: None,
        }
    }

    /// Writes a second entry for the blob of tensor `of`: tied weights.
    ///
    /// # Errors
    ///
    /// Returns what [`Writer::tensor`] returns, [`Error::NoSuchTensor`] when `of` was not written
    /// by this writer, [`Error::Usage`] when the length of its elements differs.
    pub fn alias(&mut self, declaration: Declaration, of: &str) -> Result<()> {
        if self.options.dialect == Dialect::V01x {
            return Err(declaration.unwritable("programs of 0.1.x do not share blobs"));
        }
        let no_such = || Error::NoSuchTensor { name: of.to_owned() };
        let placed = self.placed.get(of).cloned().flatten().ok_or_else(no_such)?;
        let found = declaration.decoded_len()?;
        if found != placed.decoded_len {
            let (what, wanted) =
                ("bytes of a tensor that shares the blob of another", placed.decoded_len);
            return Err(Error::Usage { what, found, wanted });
        }
        let declared = self.declare(declaration, DENSE, found, &self.options.clone())?;
        self.list(&declared, placed);
        Ok(())
    }

    /// Writes the index and its length. Returns the sink.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Unwritable`] when a tensor was started and not finished, [`Error::Io`] when
    /// the index cannot be written.
    pub fn finish(mut self) -> Result<(W, Written)> {
        self.check_closed()?;
        if let Some(name) = self.replaced_names.keys().next() {
            let (name, why) = (name.clone(), "it was removed to be replaced, and not written");
            return Err(Error::Unwritable { name, why });
        }
        let mut head = Vec::new();
        cbor::array_head(self.written.tensor_count, &mut head);
        let start = self.out.at();
        self.out.plain(&head)?;
        let mut done = 0;
        for (at, entry) in &self.replaced {
            self.out.plain(self.index.get(done..*at).unwrap_or_default())?;
            self.out.plain(entry)?;
            done = *at;
        }
        self.out.plain(self.index.get(done..).unwrap_or_default())?;
        let index_len = self.out.at().saturating_sub(start);
        self.out.plain(&index_len.to_le_bytes())?;
        self.written.file_len = self.out.at();
        Ok((self.out.finish()?, self.written))
    }

    /// The number of tensors in the index so far.
    pub(crate) fn tensor_count(&self) -> u64 {
        self.written.tensor_count
    }

    /// Checks a tensor before any of its bytes are written.
    pub(super) fn declare(
        &mut self,
        declaration: Declaration,
        layout: &'static str,
        decoded_len: u64,
        options: &WriteOptions,
    ) -> Result<Declared> {
        self.check_closed()?;
        options.check(&declaration.name)?;
        declaration.check_name()?;
        if self.placed.contains_key(&declaration.name) {
            return Err(declaration.unwritable(NAME_TAKEN));
        }
        let custom = custom_bytes(&declaration.name, &declaration.custom)?;
        Ok(Declared { declaration, layout, custom, decoded_len })
    }

    /// Notes that a tensor was started.
    pub(super) fn open(&mut self, name: &str) {
        self.open = Some(name.to_owned());
    }

    /// Notes that it was finished.
    pub(super) fn close(&mut self, declared: &Declared, placed: Placed) {
        self.open = None;
        self.written.stored_len = self.written.stored_len.saturating_add(placed.size);
        self.written.decoded_len = self.written.decoded_len.saturating_add(placed.decoded_len);
        self.list(declared, placed);
    }

    fn list(&mut self, declared: &Declared, placed: Placed) {
        let replaced = self.replaced_names.remove(&declared.declaration.name);
        let replaced = replaced.and_then(|at| self.replaced.get_mut(at));
        let index = replaced.map_or(&mut self.index, |(_, entry)| entry);
        declared.entry(&placed).encode(index);
        self.written.tensor_count += 1;
        self.placed.insert(declared.declaration.name.clone(), Some(placed));
    }

    fn check_closed(&self) -> Result<()> {
        let Some(name) = self.open.clone() else { return Ok(()) };
        Err(Error::Unwritable { name, why: "it was started and not finished" })
    }
}

/// The index of a file that is continued.
#[derive(Debug, Default)]
pub(crate) struct Resumed {
    /// Its entries, without the head of their array.
    pub(crate) index: Vec<u8>,
    /// The number of its entries.
    pub(crate) tensor_count: u64,
    /// The names in use.
    pub(crate) names: Vec<String>,
    /// The names of tensors that are written anew, and where in `index` their entries are, in this order.
    pub(crate) replaced: Vec<(String, usize)>,
}
