//! Differences as JSON.

use std::collections::BTreeMap;

use tet_convert::Opened;
use tet_query::{
    AttrText, Catalog, CatalogDiff, CatalogLabels, Dataset, DatasetDiff, DiffNorms, DiffValue,
    DifferingElement, ElementDiff, Execution, LabelAlignment, LabelLookup, MetadataDiff,
};

use crate::args::DiffArgs;
use crate::command::info::attr;
use crate::exit::Result;
use crate::open;
use crate::render::json::{
    ChangeShape, DatasetDiffShape, DiffBlockShape, DiffReport, DifferingAttr, DifferingLabels,
    DifferingPlace, DifferingValue, ElementDiffShape,
};
use crate::render::number::Number;

/// The report without the datasets that both files have.
pub(super) fn report(args: &DiffArgs, files: &[Opened; 2], found: &CatalogDiff) -> DiffReport {
    let names = |datasets: &Vec<Dataset>| datasets.iter().map(|it| it.name.clone()).collect();
    let warnings = if args.datasets.is_empty() { open::warnings_of_all } else { open::warnings };
    let paths = [&args.left, &args.right].map(|path| tet_io::without_secrets(path).into_owned());
    let of_file = |(opened, path): (&Opened, _)| {
        let about = move |text: String| format!("{path}: {text}");
        warnings(opened, &args.read).into_iter().map(about)
    };
    let warnings = files.iter().zip(paths.clone()).flat_map(of_file);
    DiffReport {
        schema: "tet.diff/1",
        formats: [files[0].catalog.format(), files[1].catalog.format()],
        same: None,
        values_compared: !args.quick,
        compared: found.both.len() as u64,
        only: [names(&found.only[0]), names(&found.only[1])],
        attrs: found.attrs.iter().map(|(name, values)| differing(name, values)).collect(),
        datasets: Vec::new(),
        not_compared: Vec::new(),
        integrity: None,
        warnings: warnings.collect(),
        files: paths,
    }
}

fn differing(name: &str, values: &[Option<AttrText>; 2]) -> DifferingAttr {
    let [left, right] = values;
    let values = [left, right].map(|value| value.as_ref().map(attr));
    DifferingAttr { name: name.to_owned(), values }
}

/// Differences between a dataset and that of its name in the other file.
pub(super) fn of_dataset(
    catalog: &Catalog,
    [dataset, other]: &[Dataset; 2],
    found: &DatasetDiff,
    how: &Execution,
) -> Result<DatasetDiffShape> {
    let mut shape = DatasetDiffShape {
        name: dataset.name.clone(),
        other: (other.name != dataset.name).then(|| other.name.clone()),
        dtype: None,
        shape: None,
        dims: None,
        labels: Vec::new(),
        attrs: Vec::new(),
        values: None,
        why: found.why(),
    };
    for metadata in &found.metadata {
        match metadata {
            MetadataDiff::DType(names) => shape.dtype = Some(names.clone()),
            MetadataDiff::Shape(shapes) => shape.shape = Some(shapes.clone()),
            MetadataDiff::Dims(dims) => shape.dims = Some(dims.clone()),
            MetadataDiff::Labels { axis, labels } => {
                shape.labels.push(of_labels(*axis, dataset, labels));
            }
            MetadataDiff::Attr { name, values } => shape.attrs.push(differing(name, values)),
        }
    }
    if let Some(elements) = found.elements.as_ref().filter(|elements| elements.differing > 0) {
        let labels = CatalogLabels::new(catalog, dataset, how);
        shape.values = Some(of_elements(elements, dataset, &labels)?);
    }
    Ok(shape)
}

fn of_labels(axis: usize, dataset: &Dataset, found: &LabelAlignment) -> DifferingLabels {
    let (position, labels) = found.difference().unzip();
    let labels = labels.unwrap_or_default();
    DifferingLabels { axis, dim: dataset.dims.get(axis).cloned(), position, labels }
}

fn of_elements(
    found: &ElementDiff,
    dataset: &Dataset,
    labels: &dyn LabelLookup,
) -> Result<ElementDiffShape> {
    let place = |found: &Option<DifferingElement>| {
        found.as_ref().map(|found| of_place(found, dataset, labels)).transpose()
    };
    Ok(ElementDiffShape {
        count: found.count,
        differing: found.differing,
        nan_count: found.nan_count,
        skipped: found.skipped,
        max_abs: found.max_abs.map(Number::from),
        max_rel: found.max_rel.map(Number::F64),
        change: found.change.map(of_change),
        first: place(&found.first)?,
        worst: place(&found.worst)?,
        block: found.block.map(|it| DiffBlockShape { count: it.count, len: it.len }),
    })
}

fn of_change(found: DiffNorms) -> ChangeShape {
    ChangeShape {
        count: found.count,
        unmeasured: found.unmeasured,
        rms: found.rms.map(Number::F64),
        relative_l2: found.relative_l2.map(Number::F64),
        cosine: found.cosine.map(Number::F64),
    }
}

/// Bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn of_place(
    found: &DifferingElement,
    dataset: &Dataset,
    labels: &dyn LabelLookup,
) -> Result<DifferingPlace> {
    let mut named = BTreeMap::new();
    for (axis, &at) in found.position.iter().enumerate() {
        let label = labels.labels(axis)?;
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        if let Some(label) = label.and_then(|labels| labels.text(at)) {
            let name = dataset.dims.get(axis).cloned().unwrap_or_else(|| axis.to_string());
            named.insert(name, label);
        }
    }
    let value = |value: &DiffValue| match value {
        DiffValue::Number(number) => DifferingValue::Number(Number::from(*number)),
        DiffValue::NotATime => DifferingValue::Number(Number::NotATime),
        DiffValue::Text(text) => DifferingValue::Text(text.clone()),
        DiffValue::Bytes(bytes) => DifferingValue::Bytes { bytes: hex(bytes) },
    };
    let [left, right] = &found.values;
    let values = [value(left), value(right)];
    Ok(DifferingPlace { position: found.position.clone(), labels: named, values })
}
