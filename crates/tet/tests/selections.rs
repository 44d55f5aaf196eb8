//! Random selections by text, by builders and in documents, against positions that are found here one label at a time.
//!
//! `TET_SELECTIONS=100000 TET_SEED=2 cargo test -p tet --test selections` makes others, and more.

mod oracle;

use std::path::{Path, PathBuf};

use oracle::{ARRAYS, Calendar, Case, Dice};
use tet::container::{Attribute, AxisLabels, ConvertOptions, DimNames, LabelSource};
use tet::query::{LabelLookup, Selection};
use tet::{Answered, Array, Execution, File};

/// A file of safetensors: arrays with elements 0, 1, ... and the numbers of each axis that has some.
fn plain(folder: &Path) -> PathBuf {
    let mut arrays = Vec::new();
    for (name, axes) in ARRAYS {
        let shape: Vec<usize> = axes.iter().map(|it| it.extent()).collect();
        let count = u32::try_from(shape.iter().product::<usize>()).expect("a small array");
        arrays.push((name, shape, (0..count).map(f64::from).collect()));
        let labeled = axes.iter().map(|it| (it.name(), vec![it.extent()], it.numbers()));
        arrays.extend(labeled.filter(|(.., numbers)| !numbers.is_empty()));
    }
    let (mut header, mut bytes) = (Vec::new(), Vec::new());
    for (name, shape, numbers) in arrays {
        let start = bytes.len();
        bytes.extend(numbers.iter().flat_map(|it| it.to_le_bytes()));
        let end = bytes.len();
        header.push(format!(
            r#""{name}": {{"dtype": "F64", "shape": {shape:?}, "data_offsets": [{start}, {end}]}}"#
        ));
    }
    let header = format!("{{{}}}", header.join(", "));
    let len = u64::try_from(header.len()).expect("a short header").to_le_bytes();
    let path = folder.join("plain.safetensors");
    std::fs::write(&path, [&len[..], header.as_bytes(), &bytes].concat()).expect("a file");
    path
}

/// The names, labels and units of the axes.
fn described(calendar: Calendar) -> ConvertOptions {
    let mut options = ConvertOptions::default();
    let tet = &mut options.tet;
    for (array, axes) in ARRAYS {
        let names = axes.iter().map(|it| it.name().to_owned()).collect();
        tet.dims.push(DimNames { dataset: Some(array.to_owned()), names });
        for axis in axes {
            let name = axis.name().to_owned();
            let dataset = Some(name.clone());
            if axis.texts().is_empty() {
                tet.dims.push(DimNames { dataset: dataset.clone(), names: vec![name] });
            } else {
                let texts = axis.texts().iter().map(|&it| it.to_owned()).collect();
                let (dataset, from) = (Some(array.to_owned()), LabelSource::Texts(texts));
                tet.labels.push(AxisLabels { dataset, axis: name, from });
            }
            for (key, value) in axis.attributes(calendar) {
                let (key, value, dataset) = (key.to_owned(), value.into(), dataset.clone());
                tet.attrs.push(Attribute { dataset, key, value });
            }
        }
    }
    options
}

/// The arrays in several containers.
fn files(folder: &Path, calendar: Calendar) -> Vec<File> {
    let kept = folder.join("a.tet");
    tet::container::convert(&plain(folder), &kept, &described(calendar)).expect("a .tet file");
    let others = ["a.nc", "a.nc3", "a.zarr"].map(|name| {
        tet::convert(&kept, folder.join(name)).expect("a copy");
        folder.join(name)
    });
    let open = |path: &PathBuf| tet::open(path).expect("a file that was written");
    [kept].iter().chain(&others).map(open).collect()
}

/// The fault of the answers to one selection; nothing if all are right.
fn fault(file: &File, case: &Case) -> Option<String> {
    let wanted = (case.shape(), case.elements());
    let part = file.dataset(case.array).and_then(|array| array.select(&case.text));
    let found = part.and_then(|part| Ok((part.shape(), part.read::<f64>()?.value)));
    match found {
        Ok(found) if found == wanted => {}
        found => return Some(format!("by text {found:?}, not {wanted:?}")),
    }
    let json = format!(r#"{{"dataset": "{}", "selection": {}}}"#, case.array, case.document);
    match file.query(&json) {
        Ok(Answered::Array(answer)) if doubles(&answer.value) == wanted => by_builders(file, case),
        found => Some(format!("{json}: {found:?}, not {wanted:?}")),
    }
}

/// Elements and labels of the same selection made of its parts.
fn by_builders(file: &File, case: &Case) -> Option<String> {
    let (catalog, how) = (file.catalog(), Execution::default());
    let selection = Selection::named(case.forms());
    let whole = catalog.find(case.array).expect("the array");
    let selected = match selection.select(catalog, whole, &how) {
        Ok(selected) => selected,
        Err(error) => return Some(format!("{selection:?}: {error}")),
    };
    let read = selected.dataset.read_as::<f64>(&selected.slab, &how);
    if !read.as_ref().is_ok_and(|read| read.value == case.elements()) {
        return Some(format!("{selection:?}: {read:?}, not {:?}", case.elements()));
    }
    for (axis, (kind, wanted)) in case.labels().into_iter().enumerate() {
        let slice = selected.slab.axes()[axis];
        let found = selected.labels.labels(axis).expect("labels that can be read");
        let text =
            |nth: u64| found.as_ref()?.text(usize::try_from(slice.start + nth * slice.step).ok()?);
        let found: Vec<String> = (0..slice.count()).filter_map(text).collect();
        if found != wanted {
            return Some(format!("labels of {kind:?}: {found:?}, not {wanted:?}"));
        }
    }
    None
}

fn doubles(array: &Array) -> (Vec<u64>, Vec<f64>) {
    let elements = (0..array.len()).filter_map(|at| array.get(at)?.to_f64()).collect();
    (array.shape().to_vec(), elements)
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

#[test]
fn selections_are_those_found_one_label_at_a_time() {
    let (count, seed) = (setting("TET_SELECTIONS", 2000), setting("TET_SEED", 1));
    for calendar in Calendar::ALL {
        let folder = tempfile::tempdir().expect("a folder");
        let files = files(folder.path(), calendar);
        let mut dice = Dice::new(seed ^ calendar as u64);
        let faults = (0..count / Calendar::ALL.len() as u64).filter_map(|nth| {
            let case = Case::random(&mut dice, calendar);
            let file = &files[usize::try_from(nth).ok()? % files.len()];
            let fault = fault(file, &case)?;
            Some(format!("{calendar:?} {} {}[{}]: {fault}", file.format(), case.array, case.text))
        });
        let faults: Vec<String> = faults.take(10).collect();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}

/// Numbers in no order have no range.
#[test]
fn a_range_of_labels_in_no_order_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for file in files(folder.path(), Calendar::NoLeap) {
        let error = file.dataset("b").and_then(|b| b.select("mixed=7:12")).expect_err("no order");
        assert!(error.to_string().contains("mixed"), "{error}");
    }
}
