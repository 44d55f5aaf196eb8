//! Files of arrays that are computed from positions, and what files contain.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use tet_convert::verify;
use tet_file::write::{ChunkAt, CodecChoice, DatasetSpec, WriteOptions, Writer};
use tet_file::{AttrValue, Metadata};
use tet_format::DType;
use tet_io::{Overwrite, Progress, Source};
use tet_verify::VerifyOptions;

use super::{opened, read};

/// The bytes of an element, by its position.
type ElementAt = dyn Fn(&[u64]) -> Vec<u8>;

/// An array of a file: its name, type, shape and axes, and its elements by their positions.
pub(crate) struct Made<'a> {
    pub(crate) name: &'a str,
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<u64>,
    pub(crate) dims: &'a [&'a str],
    pub(crate) element: Box<ElementAt>,
}

/// Writes a `.tet` file of arrays; `labels` are those of the axis `day` of each array that has it.
pub(crate) fn write(path: &Path, arrays: &[Made<'_>], labels: Option<Range<u64>>) {
    let specs =
        arrays.iter().map(|it| DatasetSpec::new(it.name, it.dtype, &it.shape[..], &it.shape[..]));
    let overwrite = Overwrite::Replace;
    let options = WriteOptions { encoder: CodecChoice::Raw, overwrite, ..WriteOptions::default() };
    let mut writer = Writer::create(path, specs.collect(), &options).expect("a file");
    let mut metadata = Metadata::new();
    for (id, array) in arrays.iter().enumerate() {
        let fill = &mut |_: ChunkAt<'_>, out: &mut Vec<u8>| {
            let count: u64 = array.shape.iter().product();
            for linear in 0..count {
                let mut left = linear;
                let mut at = vec![0; array.shape.len()];
                for (at, extent) in at.iter_mut().zip(&array.shape).rev() {
                    (*at, left) = (left % extent, left / extent);
                }
                out.extend((array.element)(&at));
            }
            Ok(())
        };
        writer.write_dataset(id, fill, &Progress::default()).expect("written");
        let about = metadata.datasets.entry(array.name.to_owned()).or_default();
        about.dim_names = array.dims.iter().map(|it| (*it).to_owned()).collect();
        if let (Some(labels), true) = (labels.clone(), array.dims.contains(&"day")) {
            let labels = labels.map(|day| format!("day {day}")).collect();
            about.coords.insert("day".into(), labels);
        }
        about.attrs.insert("units".into(), AttrValue::from("K"));
    }
    writer.finish(&metadata, &[]).expect("a file");
}

/// Shape, elements and labels of a dataset.
pub(crate) type Content = (Vec<u64>, Vec<u8>, Vec<Vec<String>>);

/// The elements of all datasets, their shapes and labels, by name.
pub(crate) fn contents(path: &Path) -> BTreeMap<String, Content> {
    let opened = opened(path);
    let all = opened.catalog.datasets().iter();
    let content = |name: &String| {
        let dataset = opened.catalog.find(name).expect("it");
        let labels = dataset.coords.values().cloned().collect();
        (dataset.shape().to_vec(), read(&opened, name).bytes().to_vec(), labels)
    };
    all.map(|it| (it.name.clone(), content(&it.name))).collect()
}

pub(crate) fn check_sound(path: &Path) {
    let report = verify(&Source::open(path).expect("a file"), &VerifyOptions::default());
    let findings = report.expect("checked").findings;
    assert!(findings.is_empty(), "{path:?}: {findings:?}");
}
