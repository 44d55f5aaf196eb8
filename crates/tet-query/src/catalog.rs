//! Name to dataset, chunk to its place in the file.
//!
//! Every container enters here: it lists its datasets and brings one [`ChunkTable`] each.

mod attribute;
mod byte_blocks;
mod enumeration;
mod files;
mod memory;
mod names;
mod seal;
mod table;
mod tet;
mod texts;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

pub use self::attribute::AttrText;
pub use self::byte_blocks::rescaled;
pub use self::enumeration::Enumeration;
pub(crate) use self::memory::OneChunk;
use self::names::Names;
pub use self::seal::{Seal, SealDigester, Sealed};
use self::table::NoChunks;
pub use self::table::{ByteBlocks, ChunkPlace, ChunkTable, Decoder, ReadRange, StoredCompression};
pub(crate) use self::texts::check_len;
pub use self::texts::{FixedText, NumberTexts, TextChunks, TextElements, Texts};
use tet_file::TetFile;
use tet_format::{DType, Grid};
use tet_io::{Source, Writers};

use crate::error::{Error, Result};
use crate::pattern::Pattern;
use crate::selection::Hyperslab;

/// Groups around a dataset that are searched for names, in addition to the root.
const SCOPES_MAX: usize = 64;

/// The datasets of one open file, shared by cheap clones.
#[derive(Clone, Debug)]
pub struct Catalog {
    source: Source,
    /// The other files, where the container is several.
    shards: Arc<Vec<Source>>,
    /// The number and the bytes of files that are not open.
    unopened: (usize, u64),
    format: &'static str,
    datasets: Arc<Vec<Dataset>>,
    /// Datasets that are found by name and not listed.
    parts: Arc<Vec<Dataset>>,
    attrs: Arc<BTreeMap<String, AttrText>>,
    names: Arc<Names>,
    part_names: Arc<Names>,
    /// The first position that means no dataset, and why.
    uncounted: Option<(usize, Arc<Error>)>,
    /// How coordinates become the values that are labels.
    decoding: Option<fn(Dataset) -> Dataset>,
}

/// How the elements of a dataset were decoded: packed values are scaled, masked ones are NaN.
#[derive(Clone, Debug)]
pub struct Meaning {
    /// The dataset with its elements as they are stored, and all its attributes.
    pub stored: Arc<Dataset>,
    /// The dataset with integers instead of floats, where they are times: those that are masked are the least integer
    /// of 64 bits, as NumPy and xarray have them.
    pub times: Option<Arc<Dataset>>,
    /// The factor of the values.
    pub scale: Option<f64>,
    /// The number that is added after scaling.
    pub offset: Option<f64>,
    /// The attributes that name values which are masked.
    pub masked: Vec<&'static str>,
    /// All attributes by which they were decoded: the dataset has them no longer.
    pub attrs: Vec<&'static str>,
}

impl Meaning {
    /// Whether elements may be masked: NaN, which reductions skip by default.
    #[must_use]
    pub const fn is_masked(&self) -> bool {
        !self.masked.is_empty()
    }

    /// Whether equal stored elements are decoded to equal ones.
    #[must_use]
    pub fn is_same(&self, other: &Meaning) -> bool {
        let [one, two] = [self, other].map(|it| (it.stored.dtype, it.scale, it.offset, &it.attrs));
        let is_same_attr = |key: &&str| {
            let [one, two] = [self, other].map(|it| it.stored.attrs.get(*key));
            one.zip(two).is_some_and(|(one, two)| one == two)
        };
        one == two && self.attrs.iter().all(is_same_attr)
    }
}

/// A named array in a file, with all it takes to read it: it may outlive its catalog.
#[derive(Clone)]
pub struct Dataset {
    /// Its position in the catalog.
    pub index: usize,
    /// Its name, as the file has it: print it escaped.
    pub name: String,
    /// The type of its elements, when it is known.
    pub dtype: Option<DType>,
    /// The name of the type, supported or not.
    pub dtype_name: String,
    /// How chunks cover its shape; of a scalar where the shape is not known.
    pub grid: Grid,
    /// Whether its shape is known, which it may not be of a dataset that cannot be read.
    pub has_shape: bool,
    /// The dimension names, one per axis, or none.
    pub dims: Vec<String>,
    /// Whether each axis can grow in the file; those that are not in the list cannot.
    pub unlimited: Vec<bool>,
    /// The coordinate labels, by axis.
    pub coords: BTreeMap<usize, Vec<String>>,
    /// The attributes.
    pub attrs: BTreeMap<String, AttrText>,
    /// Why the dataset cannot be read, if it cannot.
    pub fault: Option<Arc<Error>>,
    /// The bytes of the element that stands for those that are not stored, where the file sets one. It is no missing
    /// value, unless the attribute `_FillValue` makes it one.
    pub fill: Option<Vec<u8>>,
    /// Where its chunks are.
    pub chunks: Arc<dyn ChunkTable>,
    /// The file that its chunks lie in.
    pub source: Source,
    /// The file that lists it, where that is another.
    pub listed_in: Option<Source>,
    /// The file as the caller names it, where it is one of several: errors of reading it name the file.
    pub file: Option<Arc<Path>>,
    /// How its elements are decoded, where they are not those that are stored.
    pub meaning: Option<Arc<Meaning>>,
    /// The texts that its elements are, where they are no numbers; the dataset has no `dtype` then.
    pub text: Option<Texts>,
    /// The names that the file has for its elements, where these are integers with names.
    pub enumeration: Option<Arc<Enumeration>>,
}

impl fmt::Debug for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dataset")
            .field("index", &self.index)
            .field("name", &self.name)
            .field("dtype", &self.dtype_name)
            .field("grid", &self.grid)
            .finish_non_exhaustive()
    }
}

impl Dataset {
    /// An array of this type without dimension names, labels and attributes.
    #[must_use]
    pub fn new(
        source: Source,
        name: impl Into<String>,
        dtype: DType,
        grid: Grid,
        chunks: Arc<dyn ChunkTable>,
    ) -> Dataset {
        let dtype_name = dtype.name().to_owned();
        Dataset { dtype: Some(dtype), ..Dataset::unknown(source, name, dtype_name, grid, chunks) }
    }

    /// A dataset of a type of which only the name is known.
    #[must_use]
    pub fn unknown(
        source: Source,
        name: impl Into<String>,
        dtype_name: impl Into<String>,
        grid: Grid,
        chunks: Arc<dyn ChunkTable>,
    ) -> Dataset {
        let (name, dtype_name) = (name.into(), dtype_name.into());
        let (coords, attrs) = (BTreeMap::new(), BTreeMap::new());
        Dataset {
            index: 0,
            name,
            dtype: None,
            dtype_name,
            grid,
            has_shape: true,
            dims: Vec::new(),
            unlimited: Vec::new(),
            coords,
            attrs,
            fault: None,
            fill: None,
            chunks,
            source,
            listed_in: None,
            file: None,
            meaning: None,
            text: None,
            enumeration: None,
        }
    }

    /// A dataset of which the name is known and nothing else, and why it cannot be read: a container lists
    /// what it cannot read, so that nothing is left out in silence.
    ///
    /// # Examples
    ///
    /// ```
    /// use tet_io::Source;
    /// use tet_query::{Dataset, Error};
    ///
    /// let why = "its metadata is damaged".to_owned();
    /// let temp = Dataset::unreadable(Source::from_bytes(Vec::new()), "temp", Error::Unsupported { why });
    /// assert!(temp.why().is_some() && !temp.has_shape);
    /// ```
    #[must_use]
    pub fn unreadable(source: Source, name: impl Into<String>, cause: Error) -> Dataset {
        let grid = Grid::of_scalar();
        Dataset {
            has_shape: false,
            fault: Some(Arc::new(cause)),
            ..Dataset::unknown(source, name, "", grid, Arc::new(NoChunks))
        }
    }

    /// The shape as text; `?` where it is not known.
    #[must_use]
    pub fn shape_text(&self) -> String {
        if self.has_shape { self.grid.shape().to_string() } else { "?".to_owned() }
    }

    /// Why the dataset cannot be read, or `None` when it can.
    #[must_use]
    pub fn why(&self) -> Option<&Error> {
        self.fault.as_deref()
    }

    /// The dataset with times as integers where they were decoded to floats; itself otherwise.
    #[must_use]
    pub fn with_exact_times(&self) -> &Dataset {
        self.meaning.as_ref().and_then(|meaning| meaning.times.as_deref()).unwrap_or(self)
    }

    /// Whether equal stored elements of two datasets are equal elements: neither is decoded, or both are in the same way.
    #[must_use]
    pub fn is_decoded_as(&self, other: &Dataset) -> bool {
        match (&self.meaning, &other.meaning) {
            (Some(one), Some(two)) => one.is_same(two),
            (one, two) => one.is_none() && two.is_none(),
        }
    }

    /// Whether its elements were decoded so that masked ones are NaN.
    #[must_use]
    pub fn is_masked(&self) -> bool {
        self.meaning.as_ref().is_some_and(|meaning| meaning.is_masked())
    }

    /// Checks that nothing is known that keeps it from being read.
    pub(crate) fn check_readable(&self) -> Result<()> {
        let Some(cause) = &self.fault else { return Ok(()) };
        let (dataset, cause) = (self.name.clone(), Arc::clone(cause));
        Err(self.in_file(Error::Unreadable { dataset, cause }))
    }

    /// The type of its elements, when it can be read.
    pub(crate) fn readable(&self) -> Result<DType> {
        self.check_readable()?;
        if self.text.is_some() {
            return Err(Error::Text { dataset: self.name.clone() });
        }
        self.dtype.ok_or_else(|| Error::unknown_dtype(self))
    }

    /// Sets the file that lists it.
    fn list(&mut self, index: usize, source: &Source) {
        self.index = index;
        self.listed_in = (!self.source.is_same(source)).then(|| source.clone());
    }

    /// Compares the identities of its files with those that they had when they were opened.
    ///
    /// # Errors
    ///
    /// Returns an error when a file changed: answers taken from it are then void.
    pub fn check_unchanged(&self) -> Result<()> {
        let mut sources = std::iter::once(&self.source).chain(&self.listed_in);
        sources.try_for_each(Source::check_unchanged)?;
        self.chunks.check_unchanged()
    }

    /// Who may have written to its files since they were opened.
    #[must_use]
    pub fn writers(&self) -> Writers {
        self.source.writers().max(self.chunks.writers())
    }

    /// The object that a chunk is stored in; `None` for the dataset's file.
    ///
    /// # Errors
    ///
    /// As [`ChunkTable::object`].
    pub fn object(&self, place: &ChunkPlace) -> Result<Option<Source>> {
        if place.object == 0 { Ok(None) } else { self.chunks.object(place.object) }
    }

    /// Bytes of the selected elements; 0 where the type does not say.
    #[must_use]
    pub fn selected_len(&self, slab: &Hyperslab) -> u64 {
        let size = self.dtype.and_then(DType::size).unwrap_or(0);
        slab.element_count().unwrap_or(u64::MAX).saturating_mul(size)
    }

    /// The extents.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        self.grid.shape()
    }
}

impl Catalog {
    /// The catalog of a `.tet` file.
    ///
    /// # Errors
    ///
    /// Returns an error when the file's metadata cannot be laid over its datasets.
    pub fn from_tet(file: TetFile) -> Result<Catalog> {
        Ok(tet::catalog(file))
    }

    /// The catalog of another container; `datasets` are numbered in the order they come.
    #[must_use]
    pub fn new(source: Source, format: &'static str, mut datasets: Vec<Dataset>) -> Catalog {
        for (index, dataset) in datasets.iter_mut().enumerate() {
            dataset.list(index, &source);
        }
        let (shards, datasets, parts) = (Arc::default(), Arc::new(datasets), Arc::default());
        let (attrs, unopened, uncounted) = (Arc::default(), (0, 0), None);
        let (names, part_names) = (Arc::default(), Arc::default());
        Catalog {
            source,
            shards,
            unopened,
            format,
            datasets,
            parts,
            attrs,
            names,
            part_names,
            uncounted,
            decoding: None,
        }
    }

    /// Adds the attributes of the file.
    #[must_use]
    pub fn with_attrs(self, attrs: BTreeMap<String, AttrText>) -> Catalog {
        Catalog { attrs: Arc::new(attrs), ..self }
    }

    /// Limits `#N` to datasets for N below `count`: a part of the file is lost, and the positions of the datasets
    /// after it are unknown. `cause` is the reason.
    #[must_use]
    pub fn with_positions(self, count: usize, cause: Arc<Error>) -> Catalog {
        Catalog { uncounted: Some((count, cause)), ..self }
    }

    /// Adds datasets that are parts of others: they are found by their names, unless others have them, and are not
    /// listed. Their numbers follow those of the others.
    #[must_use]
    pub fn with_parts(self, mut parts: Vec<Dataset>) -> Catalog {
        for (index, part) in (self.datasets.len()..).zip(&mut parts) {
            part.list(index, &self.source);
        }
        Catalog { parts: Arc::new(parts), part_names: Arc::default(), ..self }
    }

    /// Replaces each dataset by a view of it.
    #[must_use]
    pub fn viewed(self, view: impl FnMut(Dataset) -> Dataset) -> Catalog {
        let datasets = Arc::unwrap_or_clone(self.datasets).into_iter().map(view).collect();
        Catalog { datasets: Arc::new(datasets), names: Arc::default(), ..self }
    }

    /// Keeps the datasets that pass `is_kept`, with their [`Dataset::index`].
    #[must_use]
    pub fn filtered(self, is_kept: impl FnMut(&Dataset) -> bool) -> Catalog {
        let mut datasets = Arc::unwrap_or_clone(self.datasets);
        datasets.retain(is_kept);
        Catalog { datasets: Arc::new(datasets), names: Arc::default(), ..self }
    }

    /// Sets the decoding of coordinates, which comes before their values are labels: packed values differ from the
    /// stored ones.
    #[must_use]
    pub fn with_decoding(self, decoding: fn(Dataset) -> Dataset) -> Catalog {
        Catalog { decoding: Some(decoding), ..self }
    }

    /// A dataset whose values are labels.
    pub(crate) fn decoded(&self, coordinates: &Dataset) -> Dataset {
        match self.decoding {
            Some(decode) => decode(coordinates.clone()),
            None => coordinates.clone(),
        }
    }

    /// The attributes of the file.
    #[must_use]
    pub fn attrs(&self) -> &BTreeMap<String, AttrText> {
        &self.attrs
    }

    /// The datasets, in file order.
    #[must_use]
    pub fn datasets(&self) -> &[Dataset] {
        &self.datasets
    }

    /// The datasets that are parts of others, and not listed.
    #[must_use]
    pub fn parts(&self) -> &[Dataset] {
        &self.parts
    }

    /// The dataset or the part of this number, which is its [`Dataset::index`].
    #[must_use]
    pub fn at(&self, index: usize) -> Option<&Dataset> {
        // Catalogs that are not of all have theirs in the same order.
        let find =
            |datasets: &'_ [Dataset]| datasets.binary_search_by_key(&index, |it| it.index).ok();
        let listed = find(&self.datasets).and_then(|at| self.datasets.get(at));
        listed.or_else(|| find(&self.parts).and_then(|at| self.parts.get(at)))
    }

    /// Where the bytes come from.
    #[must_use]
    pub const fn source(&self) -> &Source {
        &self.source
    }

    /// The container's name, such as `tet`.
    #[must_use]
    pub const fn format(&self) -> &'static str {
        self.format
    }

    /// The only listed dataset of exactly this name.
    #[must_use]
    pub fn only_named(&self, name: &str) -> Option<&Dataset> {
        self.names.only(&self.datasets, name)
    }

    /// The only listed dataset of this name in the group of `dataset`, else in the nearest group around it that has
    /// one: for `g/h/temp` and `time` these are `g/h/time`, `g/time`, `time`. A name that begins with `/` is a path.
    #[must_use]
    pub fn in_scope(&self, dataset: &str, name: &str) -> Option<&Dataset> {
        if let Some(path) = name.strip_prefix('/') {
            return self.only_named(path);
        }
        let mut group = dataset.rsplit_once('/').map(|(group, _)| group);
        for _ in 0..SCOPES_MAX {
            let Some(around) = group else { break };
            if let Some(found) = self.only_named(&format!("{around}/{name}")) {
                return Some(found);
            }
            group = around.rsplit_once('/').map(|(group, _)| group);
        }
        self.only_named(name)
    }

    /// The dataset of this name, or the one at position N for `#N`, or the part of this name.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NoSuchDataset`] or, for a name that several have, [`Error::Ambiguous`];
    /// [`Error::Unreadable`] for a position behind a part of the file that is lost, and for a name in a group that
    /// cannot be read.
    pub fn find(&self, name: &str) -> Result<&Dataset> {
        self.known(name)?.ok_or_else(|| self.missing(name))
    }

    /// The error for a name that is not known; in a group that cannot be read it may be there.
    fn missing(&self, name: &str) -> Error {
        let path = name.trim_start_matches('/');
        let above = path.match_indices('/').filter_map(|(end, _)| path.get(..end)).chain(["/"]);
        let lost = above.filter_map(|group| self.only_named(group)).find(|it| !it.has_shape);
        let why = lost.and_then(|group| group.check_readable().err());
        why.unwrap_or_else(|| names::missing(&self.datasets, &self.parts, name))
    }

    /// Whether [`Catalog::find`] knows this name, also where several have it.
    ///
    /// # Examples
    ///
    /// ```
    /// use tet_io::Source;
    /// use tet_query::{Catalog, Dataset, Error};
    ///
    /// let source = Source::from_bytes(Vec::new());
    /// let why = "its metadata is damaged".to_owned();
    /// let temp = Dataset::unreadable(source.clone(), "temp", Error::Unsupported { why });
    /// let catalog = Catalog::new(source, "tet", vec![temp]);
    /// assert!(catalog.has("temp") && catalog.has("#0") && !catalog.has("wind"));
    /// ```
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        let is_known = || match self.known(name) {
            Ok(found) => found.is_some(),
            Err(error) => matches!(error, Error::Unreadable { .. } | Error::Ambiguous { .. }),
        };
        self.names.has(&self.datasets, name) || is_known()
    }

    /// Whether several listed datasets have this name.
    #[must_use]
    pub fn is_ambiguous(&self, name: &str) -> bool {
        matches!(self.names.find(&self.datasets, name), Err(Error::Ambiguous { .. }))
    }

    /// The only part of this name.
    #[must_use]
    pub fn part(&self, name: &str) -> Option<&Dataset> {
        self.part_names.only(&self.parts, name)
    }

    /// As [`Catalog::find`]; `None` for a name that is not known.
    fn known(&self, name: &str) -> Result<Option<&Dataset>> {
        let found = self.names.find(&self.datasets, name);
        if let Some((count, cause)) = &self.uncounted
            && found.as_ref().map_or(true, |it| it.is_none_or(|it| it.name != name))
            && name.strip_prefix('#').and_then(|at| at.parse().ok()).is_some_and(|at| *count <= at)
        {
            return Err(Error::Unreadable { dataset: name.to_owned(), cause: Arc::clone(cause) });
        }
        let found = found?.or_else(|| self.part(name));
        // `/g/x` is the path of `g/x`, as programs for HDF5 write it.
        let path = name.trim_start_matches('/');
        let is_path = found.is_none() && path.len() < name.len() && !path.is_empty();
        if is_path { self.known(path) } else { Ok(found) }
    }

    /// The datasets that a text names: as [`Catalog::find`], or those whose names match a
    /// [`Pattern`] or are in the group of this name, in file order; members of structures where no dataset matches. A dataset whose name is the text itself has priority.
    ///
    /// # Errors
    ///
    /// As [`Catalog::find`], and [`Error::NoSuchDataset`] for a pattern that no name matches.
    pub fn find_all(&self, text: &str) -> Result<Vec<&Dataset>> {
        let matching = self.matching(text)?;
        if matching.is_empty() { Err(self.missing(text)) } else { Ok(matching) }
    }

    /// The datasets of [`Catalog::find_all`]; none where no name matches.
    ///
    /// # Errors
    ///
    /// As [`Catalog::find`], but for a name that is not known.
    pub fn matching<'s>(&'s self, text: &str) -> Result<Vec<&'s Dataset>> {
        if let Some(dataset) = self.known(text)? {
            return Ok(vec![dataset]);
        }
        let group = text.trim_matches('/');
        let is_in = |name: &str| {
            !group.is_empty() && name.strip_prefix(group).is_some_and(|rest| rest.starts_with('/'))
        };
        match Pattern::parse(text) {
            Some(pattern) => {
                let matching = |all: &'s [Dataset]| -> Vec<&'s Dataset> {
                    all.iter().filter(|it| pattern.matches(&it.name)).collect()
                };
                let found = matching(&self.datasets);
                Ok(if found.is_empty() { matching(&self.parts) } else { found })
            }
            None => Ok(self.datasets.iter().filter(|it| is_in(&it.name)).collect()),
        }
    }
}

impl Error {
    /// A dataset of elements that are not known.
    pub(crate) fn unknown_dtype(dataset: &Dataset) -> Self {
        let (dataset, dtype) = (dataset.name.clone(), dataset.dtype_name.clone());
        Error::UnknownDType { dataset, dtype }
    }

    /// A selection that is not of this dataset.
    pub(crate) fn misfit(dataset: &Dataset) -> Self {
        Error::Misfit { dataset: dataset.name.clone(), shape: dataset.grid.shape().clone() }
    }
}

#[cfg(test)]
mod tests;
