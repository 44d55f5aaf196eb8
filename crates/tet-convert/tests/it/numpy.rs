//! Arrays of NumPy that `.tet` has no word for, and those of another byte order.

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
