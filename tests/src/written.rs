//! Files made by the project's own writer, for suites that ask what it writes.

use std::path::{Path, PathBuf};
use tet_io::Progress;

use crate::assemble::every_coord;
use tet_file::write::{CodecChoice, WriteOptions, Writer};
use tet_file::{HistoryRow, Metadata};
use tet_format::write::DatasetSpec;

/// A dataset to write: what it is and all its elements, row-major.
#[derive(Clone, Debug)]
pub struct Written {
    /// Specification of the dataset.
    pub spec: DatasetSpec,
    /// Its elements.
    pub elements: Vec<u8>,
}

/// Writes the datasets and returns the path.
pub fn write(folder: &Path, name: &str, datasets: &[Written], encoder: CodecChoice) -> PathBuf {
    let options = WriteOptions { encoder, ..WriteOptions::default() };
    write_with(options, folder, name, datasets)
}

/// Writes the datasets as the options say and returns the path; nothing is made durable.
pub fn write_with(
    options: WriteOptions,
    folder: &Path,
    name: &str,
    datasets: &[Written],
) -> PathBuf {
    let path = folder.join(name);
    let options = WriteOptions { sync: tet_io::publish::Sync::None, ..options };
    let specs = datasets.iter().map(|dataset| dataset.spec.clone()).collect();
    let mut writer = Writer::create(&path, specs, &options).unwrap();
    for (id, dataset) in datasets.iter().enumerate() {
        writer
            .write_dataset(
                id,
                &mut |chunk, out| {
                    out.extend(cut(dataset, chunk.coord, chunk.extents));
                    assert_eq!(out.len() as u64, chunk.decoded_len, "a chunk is of its length");
                    Ok(())
                },
                &Progress::default(),
            )
            .unwrap();
    }
    let history: &[HistoryRow] = &[];
    writer.finish(&Metadata::default(), history).unwrap();
    path
}

/// The elements of one chunk, by loops over positions.
pub fn cut(dataset: &Written, coord: &[u64], extents: &[u64]) -> Vec<u8> {
    let DatasetSpec { dtype, shape, chunk_shape, .. } = &dataset.spec;
    let width = usize::try_from(dtype.size().unwrap()).unwrap();
    let mut out = Vec::new();
    for inner in every_coord(extents) {
        let mut linear = 0;
        for axis in 0..shape.len() {
            linear = linear * shape[axis] + coord[axis] * chunk_shape[axis] + inner[axis];
        }
        let at = usize::try_from(linear).unwrap() * width;
        out.extend(&dataset.elements[at..at + width]);
    }
    out
}
