//! Arrays of NumPy that `.tet` has no word for, and those of another byte order.

use std::io::Write;
use std::path::Path;

use crate::common::{npy, opened, read};
use tet_convert::{ChunkChoice, ConvertOptions, Note, convert};

fn converted(input: &Path, output: &Path, options: &ConvertOptions) -> Vec<Note> {
    let report = convert(input, output, options);
    report.unwrap_or_else(|error| panic!("{output:?}: {error}")).notes
}

/// Numbers that are all different, as little-endian float32.
fn numbers(count: u16) -> Vec<u8> {
    (0..count).flat_map(|n| (f32::from(n) - 7.5).to_le_bytes()).collect()
}

fn turned(bytes: &[u8], width: usize) -> Vec<u8> {
    bytes.chunks(width).flat_map(|number| number.iter().rev().copied()).collect()
}

#[test]
fn big_endian_arrays_are_read_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let (path, bytes) = (folder.path().join("x.npy"), numbers(12));
    for (descr, width, dtype) in
        [(">f4", 4, "float32"), (">u2", 2, "uint16"), (">i8", 8, "int64"), (">c8", 4, "complex64")]
    {
        let size = if dtype == "complex64" { 8 } else { width };
        let shape = format!("({},)", bytes.len() / size);
        std::fs::write(&path, npy(descr, "False", &shape, &turned(&bytes, width))).unwrap();
        let opened = opened(&path);
        assert_eq!(opened.catalog.datasets()[0].dtype_name, dtype);
        assert_eq!(read(&opened, "x").bytes(), bytes, "{descr}");
    }
}

#[test]
fn complex_numbers_are_pairs_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = numbers(48);
    // 4 x 6 elements; their columns, one after the other.
    let columns: Vec<u8> =
        (0..24_usize).flat_map(|nth| bytes[8 * (nth % 4 * 6 + nth / 4)..][..8].to_vec()).collect();
    for (descr, order, stored) in
        [("<c8", "False", &bytes), ("<c8", "True", &columns), (">c8", "True", &turned(&columns, 4))]
    {
        let input = folder.path().join("x.npy");
        std::fs::write(&input, npy(descr, order, "(4, 6)", stored)).unwrap();
        for chunk_shape in [None, Some(vec![3, 5]), Some(vec![4, 1])] {
            let mut options = ConvertOptions::default();
            options.tet.chunks =
                chunk_shape.clone().map_or(ChunkChoice::Auto, ChunkChoice::Shape).into();
            let outputs: Vec<_> = ["a.tet", "b.zt", "c.tet", "d.npz", "e.tet"]
                .iter()
                .map(|name| folder.path().join(name))
                .collect();
            let notes = converted(&input, &outputs[0], &options);
            assert_eq!(notes[0].to_string(), "\"x\": complex64 is written as its float32 bits");
            for pair in outputs.windows(2) {
                converted(&pair[0], &pair[1], &options);
            }
            for output in outputs {
                if output.extension().is_some_and(|suffix| suffix != "npz") {
                    let opened = opened(&output);
                    let dataset = &opened.catalog.datasets()[0];
                    assert_eq!((&*dataset.dtype_name, dataset.shape()), ("complex64", &[4, 6][..]));
                    assert_eq!(read(&opened, "x").bytes(), bytes, "{output:?}, {chunk_shape:?}");
                }
                std::fs::remove_file(output).unwrap();
            }
        }
    }
}

#[test]
fn archives_of_anything_become_ztensor() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("x.npz");
    let mut archive = zip::ZipWriter::new(std::fs::File::create(&input).unwrap());
    let arrays = [
        ("complex", npy("<c16", "False", "(3,)", &numbers(12))),
        ("empty", npy("<f4", "False", "(0, 5)", &[])),
        ("empty_columns", npy(">c8", "True", "(3, 0, 4)", &[])),
        ("numbers", npy("<f4", "False", "(2, 6)", &numbers(12))),
    ];
    for (name, bytes) in &arrays {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{name}.npy"), options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap();
    let output = folder.path().join("x.zt");
    converted(&input, &output, &ConvertOptions::default());
    let opened = opened(&output);
    let held: Vec<_> = opened.catalog.datasets().iter().collect();
    let wanted: [(&str, &str, &[u64]); 4] = [
        ("complex", "complex128", &[3]),
        ("empty", "float32", &[0, 5]),
        ("empty_columns", "complex64", &[3, 0, 4]),
        ("numbers", "float32", &[2, 6]),
    ];
    for (dataset, (name, dtype, shape)) in held.iter().zip(wanted) {
        assert_eq!((&*dataset.name, &*dataset.dtype_name, dataset.shape()), (name, dtype, shape));
        let bytes = if shape.contains(&0) { Vec::new() } else { numbers(12) };
        assert_eq!(read(&opened, name).bytes(), bytes, "{name}");
    }
    // Other readers of `.tet` refuse an extent of 0.
    let output = folder.path().join("x.tet");
    let report = convert(&input, &output, &ConvertOptions::default()).unwrap();
    let noted = report.notes.iter().filter(|note| matches!(note, Note::NoElements { .. }));
    assert_eq!(noted.count(), 2);
}
