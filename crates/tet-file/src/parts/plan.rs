//! The plan of a file in parts, on which the writers of its parts agree.

use tet_codec::{Encode, digest};
use tet_format::write::{DatasetSpec, Declaration, ZeroExtents};
use tet_format::{Digest, Grid};

use super::document::Document;
use crate::error::{Error, Result};
use crate::metadata::{DatasetMetadata, Metadata};
use crate::open::TetFile;
use crate::write::CodecChoice;

/// The datasets of a new file, its metadata, and how chunks are stored.
///
/// # Examples
///
/// ```
/// use tet_file::parts::FilePlan;
///
/// let plan = FilePlan::from_json(
///     r#"{"tet_plan": 1, "codec": "zstd", "datasets": [
///         {"name": "temp", "dtype": "float32", "shape": [12, 4], "chunks": [1, 4], "dims": ["time", "lat"]}]}"#,
/// )?;
/// assert_eq!(plan.datasets()[0].grid().chunk_count(), 12);
/// # Ok::<(), tet_file::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FilePlan {
    datasets: Vec<PlannedDataset>,
    metadata: Metadata,
    codec: CodecChoice,
    digest: Digest,
}

/// A dataset of a plan.
///
/// # Examples
///
/// ```
/// use tet_file::parts::FilePlan;
///
/// let plan = FilePlan::from_json(
///     r#"{"tet_plan": 1, "datasets": [{"name": "a", "dtype": "uint8", "shape": [3], "chunks": [2], "fill": "07"}]}"#,
/// )?;
/// let dataset = &plan.datasets()[0];
/// assert_eq!((dataset.spec().name.as_str(), dataset.fill()), ("a", Some(&[7][..])));
/// # Ok::<(), tet_file::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PlannedDataset {
    spec: DatasetSpec,
    grid: Grid,
    element_size: u64,
    fill: Option<Vec<u8>>,
}

impl FilePlan {
    /// The plan of a JSON document.
    ///
    /// Its members are `tet_plan` (1), `codec` (`raw` or `zstd`), `level`, `attrs`, and `datasets`; those of a dataset
    /// are `name`, `dtype`, `shape`, `chunks`, `dims`, `labels` (lists of texts by axis), `attrs`, and `fill`: the
    /// little-endian bytes of an element in hexadecimal digits, which stands where nothing is written.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Plan`] for a document that is none, and [`Error::Layout`] for datasets that v1 cannot hold.
    pub fn from_json(text: &str) -> Result<FilePlan> {
        let document = Document::parse(text)?;
        let (metadata, codec) = (document.metadata(), document.codec());
        FilePlan::new(document.datasets()?, metadata, codec, digest(text.as_bytes()))
    }

    /// The plan of an edited copy of a file, in which some axes are longer: each growth is a dataset, an axis, and the
    /// positions to add.
    ///
    /// # Errors
    ///
    /// Returns the fault of a dataset that cannot be read, and [`Error::Plan`] for an axis that is not there or
    /// that has labels, which would be too few.
    pub fn of_file(
        file: &TetFile,
        growths: &[(usize, usize, u64)],
        codec: CodecChoice,
    ) -> Result<FilePlan> {
        FilePlan::grown(file, growths, file.metadata().clone(), codec)
    }

    /// Plans growth with other metadata, which may have more labels.
    ///
    /// # Errors
    ///
    /// As [`of_file`](FilePlan::of_file).
    pub fn grown(
        file: &TetFile,
        growths: &[(usize, usize, u64)],
        metadata: Metadata,
        codec: CodecChoice,
    ) -> Result<FilePlan> {
        let mut datasets = Vec::new();
        for entry in file.datasets() {
            if let Some(fault) = entry.fault {
                return Err(fault.into());
            }
            let dtype = entry.dtype.ok_or_else(|| Error::Plan {
                what: format!("the type of dataset {:?} is not known", entry.name),
            })?;
            let [shape, chunk_shape] =
                [entry.grid.shape(), entry.grid.chunk_shape()].map(Clone::clone);
            datasets.push(DatasetSpec { name: entry.name.clone(), dtype, shape, chunk_shape });
        }
        for &(dataset, axis, by) in growths {
            let Some(spec) = datasets.get_mut(dataset) else {
                return Err(Error::Plan { what: format!("there is no dataset #{dataset}") });
            };
            grow(spec, axis, by, &metadata)?;
        }
        FilePlan::of_datasets(datasets, metadata, codec)
    }

    /// The plan of a new file of these datasets, in which all elements are to be written.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Layout`] for datasets that v1 cannot hold.
    ///
    /// ```
    /// use tet_file::parts::FilePlan;
    /// use tet_file::write::CodecChoice;
    ///
    /// let plan = FilePlan::of_datasets(Vec::new(), Default::default(), CodecChoice::Raw)?;
    /// assert!(plan.datasets().is_empty());
    /// # Ok::<(), tet_file::Error>(())
    /// ```
    pub fn of_datasets(
        datasets: Vec<DatasetSpec>,
        metadata: Metadata,
        codec: CodecChoice,
    ) -> Result<FilePlan> {
        let extents = datasets.iter().flat_map(|spec| spec.shape.iter());
        let shapes: Vec<u8> = extents.flat_map(|extent| extent.to_le_bytes()).collect();
        let datasets = datasets.into_iter().map(|spec| (spec, None)).collect();
        FilePlan::new(datasets, metadata, codec, digest(&shapes))
    }

    fn new(
        datasets: Vec<(DatasetSpec, Option<Vec<u8>>)>,
        metadata: Metadata,
        codec: CodecChoice,
        digest: Digest,
    ) -> Result<FilePlan> {
        let specs: Vec<DatasetSpec> = datasets.iter().map(|(spec, _)| spec.clone()).collect();
        let layout = Declaration::new(specs).layout_with(ZeroExtents::Allow);
        let layout = layout.map_err(Error::Layout)?;
        codec.encoder()?;
        let planned = datasets.into_iter().enumerate().map(|(id, (spec, fill))| {
            let grid = layout.grid(id).cloned();
            let grid = grid.ok_or(Error::DatasetOrder { found: id, wanted: id })?;
            let element_size = spec.dtype.size().unwrap_or(1);
            Ok(PlannedDataset { spec, grid, element_size, fill })
        });
        Ok(FilePlan { datasets: planned.collect::<Result<_>>()?, metadata, codec, digest })
    }

    /// The datasets, in the order of the file.
    #[must_use]
    pub fn datasets(&self) -> &[PlannedDataset] {
        &self.datasets
    }

    /// The metadata of the file.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// How chunks are stored.
    #[must_use]
    pub fn codec(&self) -> CodecChoice {
        self.codec
    }

    /// A digest that identifies the plan a part belongs to.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The codec of a new chunk.
    pub(super) fn encoder(&self) -> Result<Box<dyn Encode>> {
        self.codec.encoder()
    }

    /// A dataset by its number.
    pub(super) fn dataset(&self, id: usize) -> Result<&PlannedDataset> {
        let missing = || Error::Plan { what: format!("there is no dataset #{id}") };
        self.datasets.get(id).ok_or_else(missing)
    }
}

fn grow(spec: &mut DatasetSpec, axis: usize, by: u64, metadata: &Metadata) -> Result<()> {
    let name = &spec.name;
    let rank = spec.shape.rank();
    let about = metadata.dataset(name);
    let wanted = spec.shape.get(axis).map(|extent| extent.saturating_add(by));
    let is_short = |about: &DatasetMetadata| {
        let mut labels = about.coords.iter().filter(|(key, _)| about.axis(key, rank) == Some(axis));
        labels.any(|(_, labels)| Some(labels.len() as u64) != wanted)
    };
    if about.is_some_and(is_short) {
        let what = format!("axis {axis} of dataset {name:?} has labels, which would be too few");
        return Err(Error::Plan { what });
    }
    let mut shape = spec.shape.clone().into_vec();
    let extent = shape.get_mut(axis).and_then(|extent| {
        *extent = extent.checked_add(by)?;
        Some(())
    });
    extent.ok_or_else(|| Error::Plan {
        what: format!("axis {axis} of dataset {name:?} cannot grow"),
    })?;
    spec.shape = shape.into();
    Ok(())
}

impl PlannedDataset {
    /// Name, type, shape and chunk shape.
    #[must_use]
    pub fn spec(&self) -> &DatasetSpec {
        &self.spec
    }

    /// The chunks.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The bytes of an element.
    #[must_use]
    pub fn element_size(&self) -> u64 {
        self.element_size
    }

    /// The bytes of the element that stands where nothing is written; without it, all must be written.
    #[must_use]
    pub fn fill(&self) -> Option<&[u8]> {
        self.fill.as_deref()
    }

    /// Truncates the dataset along its first axis.
    pub(super) fn truncated(&self, extent: u64) -> Result<PlannedDataset> {
        let mut shape = self.spec.shape.clone().into_vec();
        let wrong = || Error::Plan {
            what: format!("dataset {:?} cannot grow to {extent}", self.spec.name),
        };
        let first = shape.first_mut().filter(|first| extent <= **first);
        *first.ok_or_else(wrong)? = extent;
        let grid = Grid::new(shape.clone().into(), self.grid.chunk_shape().clone());
        let spec = DatasetSpec { shape: shape.into(), ..self.spec.clone() };
        Ok(PlannedDataset { spec, grid: grid.ok_or_else(wrong)?, ..self.clone() })
    }

    /// The bytes of the elements of a chunk.
    pub(super) fn decoded_len(&self, coord: &[u64]) -> u64 {
        // The layout has bounded the bytes of all chunks together by 64 bits.
        self.grid.chunk_elements(coord).unwrap_or(0).saturating_mul(self.element_size)
    }

    /// A chunk in which nothing is written: fill values, or zeros where there is no fill value.
    pub(super) fn empty_chunk(&self, coord: &[u64]) -> Result<Vec<u8>> {
        let len = self.decoded_len(coord);
        let memory = || Error::ChunkMemory { dataset: self.spec.name.clone(), len };
        let count = usize::try_from(len).map_err(|_| memory())?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(count).map_err(|_| memory())?;
        bytes.resize(count, 0);
        if let Some(fill) = self.fill.as_deref().filter(|fill| fill.iter().any(|&byte| byte != 0)) {
            bytes.chunks_exact_mut(fill.len()).for_each(|element| element.copy_from_slice(fill));
        }
        Ok(bytes)
    }
}
