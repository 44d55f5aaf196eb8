//! A selection or an answer as a catalog: the dataset, and those that label its axes.

use std::sync::Arc;

use tet_file::metadata::HistoryRow;
use tet_format::Integrity;
use tet_io::Source;
use tet_query::{
    Catalog, Computed, Dataset, Elements, Execution, Hyperslab, LazyArray, Reduced, WithIntegrity,
};

use super::associated::{Associated, Selected, associated};
use super::attributes::{name_of_lazy, name_of_reduced, of_reduced, of_values, too_long};
use super::axes::{Origins, ResultAxis};
use super::cells::{CellBytes, stored_as};
use super::history::{self, Step};
use super::{ResultOptions, held, texts};
use crate::{Note, Result};
use tet_container::model::axes::dim_names;
use tet_container::model::logical::{as_bytes, to_logical};
use tet_container::model::{bytes, cf, notes};

/// A result as the datasets of a file.
///
/// # Examples
///
/// ```no_run
/// use tet_convert::{ResultCatalog, ResultOptions};
/// use tet_query::Hyperslab;
/// # fn of(catalog: &tet_query::Catalog) -> tet_convert::Result<()> {
/// let dataset = catalog.find("temp")?;
/// let slab = Hyperslab::whole(dataset.shape());
/// let result = ResultCatalog::of_selection(catalog, dataset, &slab, &ResultOptions::default())?;
/// assert_eq!(result.catalog().datasets()[0].name, "temp");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ResultCatalog {
    pub(super) catalog: Catalog,
    /// Source of the first dataset, unless it is in memory or of text.
    main: Option<Arc<Computed>>,
    /// Sources of the other datasets.
    labels: Vec<Arc<Computed>>,
    /// How the first dataset was made.
    pub(super) history: Option<HistoryRow>,
    /// Differences from the requested result.
    pub(crate) notes: Vec<Note>,
    /// The integrity of a result that is in memory.
    held: Option<Integrity>,
}

impl ResultCatalog {
    /// The selected elements of a dataset of any type that can be written.
    ///
    /// # Errors
    /// The elements cannot be read, or are parts of bytes.
    pub fn of_selection(
        catalog: &Catalog,
        dataset: &Dataset,
        slab: &Hyperslab,
        options: &ResultOptions,
    ) -> Result<ResultCatalog> {
        if let Some((bytes, part)) = byte_part(dataset, slab)? {
            let lazy = LazyArray::values(&bytes, &part)?;
            let computed = Computed::new(Elements::new(Arc::new(lazy)), &options.execution);
            let mut main = computed.dataset(dataset.name.clone());
            main.attrs = of_values(&bytes, None);
            bytes::set_shape(&mut main, slab);
            let step = Step::Texts(slab);
            let axes = Origins::new(catalog, dataset, slab, &dataset.name, &options.execution);
            let selected = Selected::positions(dataset, slab, &[]);
            let made = Made { selected, step, main: to_logical(main), computed: Some(computed) };
            return made.with_axes(catalog, axes.kept(&[])?, options);
        }
        if !dataset.is_text() {
            let lazy = Arc::new(LazyArray::values(dataset, slab)?);
            let mut result = ResultCatalog::of_array(catalog, &lazy, options)?;
            let types = dataset.blocks().map(|_| vec![dataset.dtype_name.clone()]);
            result.notes.extend(types.map(|types| Note::Dequantized { types, count: 1 }));
            return Ok(result);
        }
        let mut main = texts::selected(dataset, slab, &options.execution);
        main.attrs = of_values(dataset, None);
        let axes = Origins::new(catalog, dataset, slab, &dataset.name, &options.execution);
        let selected = Selected::positions(dataset, slab, &[]);
        let made = Made { selected, step: Step::Texts(slab), main, computed: None };
        made.with_axes(catalog, axes.kept(&[])?, options)
    }

    /// A lazy array of a dataset of the catalog.
    ///
    /// # Errors
    /// The labels of an axis cannot be read.
    pub fn of_array(
        catalog: &Catalog,
        lazy: &Arc<LazyArray>,
        options: &ResultOptions,
    ) -> Result<ResultCatalog> {
        let dataset = lazy.dataset();
        let computed = Computed::new(Elements::new(Arc::clone(lazy)), &options.execution);
        let mut main = computed.dataset(name_of_lazy(lazy));
        main.attrs = of_values(dataset, lazy.transform().map(|transform| transform.method));
        if lazy.transform().is_none() {
            main.fill.clone_from(&dataset.fill);
            main.enumeration.clone_from(&dataset.enumeration);
        }
        let name = main.name.clone();
        let origins = Origins::new(catalog, dataset, lazy.slab(), &name, &options.execution);
        let axes = origins.kept(&lazy.choice().picks)?;
        let selected = Selected::positions(dataset, lazy.slab(), &lazy.choice().picks);
        let made = Made { selected, step: Step::Array(lazy), main, computed: Some(computed) };
        made.with_axes(catalog, axes, options)
    }

    /// The cells of a reduction of a part of a dataset of the catalog.
    ///
    /// # Errors
    /// As [`reduced_array`](super::reduced_array), and when the labels of an axis cannot be read.
    pub fn of_reduced(
        catalog: &Catalog,
        dataset: &Dataset,
        slab: &Hyperslab,
        reduced: &Arc<WithIntegrity<Reduced>>,
        options: &ResultOptions,
    ) -> Result<ResultCatalog> {
        let name = name_of_reduced(dataset, reduced.op);
        let (dtype, notes) = stored_as(&name, reduced)?;
        let source = Source::from_reader(Arc::new(CellBytes::new(reduced, dtype)));
        let mut main = held::of_source(name.clone(), source, dtype, &reduced.shape);
        main.attrs = of_reduced(dataset, reduced);
        let axes = Origins::new(catalog, dataset, slab, &name, &options.execution);
        let axes = axes.reduced(reduced)?;
        let (selected, step) =
            (Selected::cells(dataset, slab, reduced), Step::Reduced(slab, reduced));
        let made = Made { selected, step, main, computed: None };
        let mut result = made.with_axes(catalog, axes, options)?;
        result.notes.extend(notes.into_iter().chain(notes::of_integrity(reduced.integrity)));
        result.notes.extend(too_long(&name, reduced));
        result.held = Some(reduced.integrity);
        Ok(result)
    }

    /// The dataset of the result, then those that label its axes.
    #[must_use]
    pub const fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// How far the bytes of all that was read until now were compared with what the file has of them.
    #[must_use]
    pub fn integrity(&self) -> Integrity {
        let computed = self.computed().map(|it| it.lazy().integrity());
        let all = computed.chain(self.held).reduce(Integrity::and);
        all.unwrap_or(Integrity::Unprotected)
    }

    fn computed(&self) -> impl Iterator<Item = &Arc<Computed>> {
        self.main.iter().chain(&self.labels)
    }

    /// The array that the first dataset is computed of.
    pub(super) fn array(&self) -> Option<&LazyArray> {
        self.main.as_ref().map(|it| it.lazy())
    }

    /// Compares what is about to be read in parts with the checksums that the file has of the whole.
    pub(crate) fn check_seals(&self, how: &Execution) -> Result<()> {
        Ok(self.computed().try_for_each(|it| it.lazy().check_seal(how))?)
    }
}

/// The bytes that a dataset is written as, and the part of them with the selected elements; `None` where it is written as
/// numbers: also where the elements do not start and end at a byte, and are decoded to numbers.
fn byte_part(dataset: &Dataset, slab: &Hyperslab) -> Result<Option<(Dataset, Hyperslab)>> {
    let Some(bytes) = as_bytes(dataset) else { return Ok(None) };
    match bytes::selected(dataset, &bytes, slab) {
        Ok(part) => Ok(Some((bytes, part))),
        Err(_) if dataset.dtype.is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

/// A dataset of a result that does not have its axes yet.
struct Made<'a> {
    /// The selection that it was made of, and the axes that it has position by position.
    selected: Selected<'a>,
    step: Step<'a>,
    main: Dataset,
    computed: Option<Arc<Computed>>,
}

impl Made<'_> {
    fn with_axes(
        self,
        catalog: &Catalog,
        axes: Vec<ResultAxis>,
        options: &ResultOptions,
    ) -> Result<ResultCatalog> {
        let Made { selected, step, mut main, computed: of_main } = self;
        let names: Vec<Option<String>> = axes.iter().map(|axis| axis.name.clone()).collect();
        main.dims = dim_names(&names);
        main.unlimited = axes.iter().map(|axis| axis.is_unlimited).collect();
        let (mut datasets, mut sources) = (vec![main], vec![Some(selected.dataset.clone())]);
        let (mut of_labels, mut bounds) = (Vec::new(), Vec::new());
        for (axis, it) in axes.into_iter().enumerate() {
            if let (Some(labels), Some(main)) = (it.labels, datasets.first_mut()) {
                main.coords.insert(axis, labels);
            }
            if let Some(coordinates) = it.coordinates {
                datasets.push(coordinates);
                sources.push(it.source);
            }
            of_labels.extend(it.computed);
            bounds.extend(it.bounds);
        }
        let (others, notes) =
            associated(catalog, &selected, &mut datasets, &sources, &options.execution)?;
        datasets.extend(bounds);
        for Associated { dataset, computed } in others {
            datasets.push(dataset);
            of_labels.extend(computed);
        }
        let history = history::of(selected.dataset, step, options);
        let source = catalog.source().clone();
        let catalog = Catalog::new(source, catalog.format(), datasets)
            .with_shards(catalog.shards().to_vec())
            .with_attrs(catalog.attrs().clone())
            .with_decoding(cf::coordinates);
        let (main, labels, held) = (of_main, of_labels, None);
        Ok(ResultCatalog { catalog, main, labels, history, notes, held })
    }
}
