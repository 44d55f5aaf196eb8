//! Differences between two files.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use tet_convert::NameMap;
use tet_query::{
    AttrText, Catalog, CatalogDiff, Dataset, DatasetDiff, DiffValue, DifferingElement,
    DigestPolicy, ElementDiff, Hyperslab, Integrity, MetadataDiff, Scalar, Tolerance,
};

use crate::attrs;
use crate::file::{OpenFile, key};
use crate::options::{self, Values, extract};
use crate::run::{ProgressCallback, detached};

/// Arguments of a comparison, as Python passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct DiffArguments {
    /// Names and patterns of the datasets, of either file; all without them.
    datasets: Option<Vec<String>>,
    /// Names and patterns of the first file, each with the name in the second one.
    names: Vec<(String, String)>,
    /// Whether all elements are read, also those of chunks with equal checksums.
    measured: bool,
    rtol: f64,
    atol: f64,
    ulp: u64,
    equal_nan: bool,
    /// Whether elements are compared.
    values: bool,
    /// Whether packed and masked elements are compared as they are stored.
    raw_values: bool,
}

/// Compares two files.
#[pyfunction]
#[pyo3(signature = (left, right, asked, progress=None))]
pub(crate) fn diff<'py>(
    py: Python<'py>,
    left: &OpenFile,
    right: &OpenFile,
    asked: &Bound<'py, PyDict>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let asked: DiffArguments = extract(asked)?;
    let opened = [left.state().get()?, right.state().get()?];
    let decoding = options::decoding(Values { raw_values: asked.raw_values, ..Values::default() });
    let compared = |catalog: Catalog| tet_convert::contents(decoding.compared(catalog));
    let catalogs = opened.each_ref().map(|it| compared(it.opened.catalog.clone()));
    let catalogs = catalogs.each_ref();
    let tolerance = asked.values.then_some(Tolerance {
        rtol: asked.rtol,
        atol: asked.atol,
        ulp: asked.ulp,
        nan_equal: asked.equal_nan,
    });
    let names = names(catalogs, &asked).map_err(|error| crate::error::raise(py, &error.into()))?;
    let files = chosen(catalogs, asked.datasets.as_deref(), &names);
    let found = detached(py, &ProgressCallback::long(progress), |progress| {
        let all =
            files.both.iter().map(|[left, _]| left.selected_len(&Hyperslab::whole(left.shape())));
        let all = all.fold(0, u64::saturating_add);
        let mut how = opened[0].how.with_progress(progress.begin(all));
        if asked.measured {
            how.digests = DigestPolicy::Always;
        }
        let one = |[left, right]: &[Dataset; 2]| {
            let slabs = [left, right].map(|it| Hyperslab::whole(it.shape()));
            let datasets = [(catalogs[0], left), (catalogs[1], right)];
            DatasetDiff::compare(datasets, slabs.each_ref(), tolerance.as_ref(), &how)
        };
        files.both.iter().map(one).collect::<tet_query::Result<Vec<_>>>()
    })?;
    let dict = PyDict::new(py);
    let names =
        |side: usize| files.only[side].iter().map(|it| key(catalogs[side], it)).collect::<Vec<_>>();
    dict.set_item("only", (names(0), names(1)))?;
    let attrs = PyDict::new(py);
    for (name, values) in &files.attrs {
        attrs.set_item(name, stored(py, values)?)?;
    }
    dict.set_item("attrs", attrs)?;
    dict.set_item("compared", files.both.len())?;
    let integrity = found.iter().filter_map(|it| Some(it.elements.as_ref()?.integrity));
    dict.set_item("integrity", integrity.reduce(Integrity::and).map(Integrity::name))?;
    let unknown = PyDict::new(py);
    for ([left, _], found) in files.both.iter().zip(&found).filter(|(_, found)| !found.differs()) {
        if let Some(why) = found.why() {
            unknown.set_item(key(catalogs[0], left), why)?;
        }
    }
    dict.set_item("not_compared", unknown)?;
    let differing = files.both.iter().zip(&found).filter(|(_, found)| found.differs());
    let shown = differing.map(|([left, right], found)| {
        let dict = shown(py, catalogs[0], left, found)?;
        let other = (left.name != right.name).then(|| key(catalogs[1], right));
        dict.set_item("other", other)?;
        Ok(dict)
    });
    dict.set_item("datasets", shown.collect::<PyResult<Vec<_>>>()?)?;
    Ok(dict)
}

/// The names of the first file in the second one.
fn names([left, right]: [&Catalog; 2], asked: &DiffArguments) -> tet_convert::Result<NameMap> {
    if !asked.names.is_empty() {
        return NameMap::new(left, &asked.names);
    }
    let datasets: Vec<&str> = asked.datasets.iter().flatten().map(String::as_str).collect();
    let only = tet_convert::only_pair(left, right, &datasets);
    Ok(only.map_or_else(NameMap::default, |[left, right]| NameMap::of_pair(left, right)))
}

/// The datasets of these names, and what the files have besides.
fn chosen([left, right]: [&Catalog; 2], asked: Option<&[String]>, names: &NameMap) -> CatalogDiff {
    let Some(asked) = asked else { return tet_convert::catalog_diff(left, right, names) };
    let mut firsts = Vec::new();
    let mut seconds = Vec::new();
    for asked in asked {
        let matching = |catalog: &Catalog| -> Vec<String> {
            let matching = catalog.matching(asked).unwrap_or_default();
            matching.into_iter().map(|dataset| dataset.name.clone()).collect()
        };
        let (first, second) = (matching(left), matching(right));
        let others = second.iter().filter_map(|name| names.first(name).map(str::to_owned));
        let of_first: Vec<String> = first.iter().cloned().chain(others).collect();
        let others = first.iter().map(|name| names.second(name).to_owned());
        seconds.extend(others.chain(second));
        firsts.extend(of_first);
    }
    let of = |catalog: &Catalog, asked: Vec<String>| {
        let mut listed = std::collections::BTreeSet::new();
        let asked =
            asked.into_iter().filter(|name| catalog.has(name) && listed.insert(name.clone()));
        let asked: Vec<String> = asked.collect();
        tet_convert::with_members(catalog, asked.iter().filter_map(|name| catalog.find(name).ok()))
    };
    let none = &std::collections::BTreeMap::new();
    names.pairs([of(left, firsts), of(right, seconds)], [none, none])
}

fn stored<'py>(
    py: Python<'py>,
    [left, right]: &[Option<AttrText>; 2],
) -> PyResult<Bound<'py, PyAny>> {
    let one =
        |value: &Option<AttrText>| value.as_ref().map(|value| attrs::stored(py, value)).transpose();
    (one(left)?, one(right)?).into_bound_py_any(py)
}

fn shown<'py>(
    py: Python<'py>,
    catalog: &Catalog,
    dataset: &Dataset,
    found: &DatasetDiff,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", key(catalog, dataset))?;
    let (labels, attrs) = (PyDict::new(py), PyDict::new(py));
    for metadata in &found.metadata {
        match metadata {
            MetadataDiff::DType([left, right]) => dict.set_item("dtype", (left, right))?,
            MetadataDiff::Shape(shapes) => {
                let [left, right] = shapes.each_ref().map(|shape| PyTuple::new(py, shape));
                dict.set_item("shape", (left?, right?))?;
            }
            MetadataDiff::Dims(dims) => {
                let [left, right] = dims.each_ref().map(|dims| PyTuple::new(py, dims));
                dict.set_item("dims", (left?, right?))?;
            }
            MetadataDiff::Labels { axis, labels: found } => {
                let (position, there) = found.difference().unzip();
                let [left, right] = there.unwrap_or_default();
                let found = (position, left, right);
                match dataset.dims.get(*axis) {
                    Some(dim) => labels.set_item(dim, found)?,
                    None => labels.set_item(axis, found)?,
                }
            }
            MetadataDiff::Attr { name, values } => attrs.set_item(name, stored(py, values)?)?,
        }
    }
    dict.set_item("labels", labels)?;
    dict.set_item("attrs", attrs)?;
    dict.set_item("why", found.why())?;
    if let Some(elements) = &found.elements {
        set_elements(py, &dict, elements)?;
    }
    Ok(dict)
}

fn set_elements(py: Python<'_>, dict: &Bound<'_, PyDict>, found: &ElementDiff) -> PyResult<()> {
    dict.set_item("count", found.count)?;
    dict.set_item("differing", found.differing)?;
    dict.set_item("nan_count", found.nan_count)?;
    dict.set_item("skipped", found.skipped)?;
    dict.set_item("max_abs", found.max_abs.map(|it| scalar(py, it)).transpose()?)?;
    dict.set_item("max_rel", found.max_rel)?;
    if let Some(change) = &found.change {
        dict.set_item("measured", change.count)?;
        dict.set_item("unmeasured", change.unmeasured)?;
        dict.set_item("rms", change.rms)?;
        dict.set_item("relative_l2", change.relative_l2)?;
        dict.set_item("cosine", change.cosine)?;
    }
    dict.set_item("block", found.block.map(|block| block.count))?;
    for (name, place) in [("first", &found.first), ("worst", &found.worst)] {
        dict.set_item(name, place.as_ref().map(|it| of_place(py, it)).transpose()?)?;
    }
    Ok(())
}

fn of_place<'py>(py: Python<'py>, found: &DifferingElement) -> PyResult<Bound<'py, PyAny>> {
    let value = |value: &DiffValue| match value {
        DiffValue::Number(number) => scalar(py, *number),
        DiffValue::NotATime => "NaT".into_bound_py_any(py),
        DiffValue::Text(text) => text.into_bound_py_any(py),
        DiffValue::Bytes(bytes) => pyo3::types::PyBytes::new(py, bytes).into_bound_py_any(py),
    };
    let [left, right] = &found.values;
    let values = (value(left)?, value(right)?);
    (PyTuple::new(py, &found.position)?, values).into_bound_py_any(py)
}

/// A number of Python.
fn scalar(py: Python<'_>, value: Scalar) -> PyResult<Bound<'_, PyAny>> {
    match value {
        Scalar::Bool(truth) => truth.into_bound_py_any(py),
        Scalar::Int(int) => int.into_bound_py_any(py),
        Scalar::Complex64(re, im) => complex(py, re.into(), im.into()),
        Scalar::Complex128(re, im) => complex(py, re, im),
        value => value.to_f64().into_bound_py_any(py),
    }
}

fn complex(py: Python<'_>, re: f64, im: f64) -> PyResult<Bound<'_, PyAny>> {
    Ok(pyo3::types::PyComplex::from_doubles(py, re, im).into_any())
}
