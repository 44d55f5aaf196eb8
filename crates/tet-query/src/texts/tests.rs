use std::sync::Arc;

use tet_format::{DType, Grid};
use tet_io::Source;

use crate::budget::Execution;
use crate::catalog::{Catalog, Dataset, FixedText, OneChunk, TextChunks, TextElements};
use crate::error::{Error, Result};
use crate::labels::{CatalogLabels, LabelLookup, Labels};
use crate::selection::{Axis, AxisSlice, Hyperslab};

/// The bytes as a dataset of one chunk.
fn bytes(name: &str, bytes: &[u8], shape: &[u64]) -> Dataset {
    let chunk: Vec<u64> = shape.iter().map(|&extent| extent.max(1)).collect();
    let grid = Grid::new(shape.into(), chunk.into()).unwrap();
    let (source, chunk) = OneChunk::new(bytes.to_vec()).unwrap();
    Dataset::new(source, name, DType::UInt8, grid, chunk)
}

fn texts(content: &[u8], shape: &[u64]) -> Dataset {
    Dataset::of_texts(bytes("names", content, shape), Arc::new(FixedText::Bytes))
}

/// A dataset of texts "0", "1", ... by position, in padded chunks.
struct Numbered(Grid);

impl TextChunks for Numbered {
    fn texts(&self, linear: u64, _len_max: u64) -> Result<Vec<String>> {
        let coord = self.0.coord_of(linear);
        let (shape, chunk) = (self.0.shape(), self.0.chunk_shape());
        let count = chunk.iter().product::<u64>();
        let text = |mut nth: u64| {
            let mut at = vec![0; shape.rank()];
            for axis in (0..shape.rank()).rev() {
                at[axis] = coord[axis] * chunk[axis] + nth % chunk[axis];
                nth /= chunk[axis];
            }
            if at.iter().zip(shape.iter()).any(|(at, extent)| extent <= at) {
                return "padding".to_owned();
            }
            at.iter().zip(shape.iter()).fold(0, |sum, (at, extent)| sum * extent + at).to_string()
        };
        Ok((0..count).map(text).collect())
    }
}

fn numbered(shape: &[u64], chunk: &[u64]) -> Dataset {
    let grid = Grid::padded(shape.into(), chunk.into()).unwrap();
    let (source, chunk) = OneChunk::new(Vec::new()).unwrap();
    let dataset = Dataset::new(source, "n", DType::UInt8, grid.clone(), chunk);
    dataset.with_text_chunks(Arc::new(Numbered(grid)))
}

fn slice(start: u64, stop: u64, step: u64) -> AxisSlice {
    AxisSlice { start, stop, step, axis: Axis::Kept }
}

#[test]
fn selected_texts_are_those_of_a_loop() {
    for (shape, chunk) in [([5, 4], [2, 3]), ([5, 4], [7, 9]), ([1, 6], [1, 1]), ([6, 1], [6, 1])] {
        let by_chunks = numbered(&shape, &chunk);
        let all: Vec<String> = (0..shape[0] * shape[1]).map(|at| at.to_string()).collect();
        let padded: Vec<u8> = all.iter().flat_map(|it| format!("{it:\0<3}").into_bytes()).collect();
        let by_bytes = texts(&padded, &[shape[0], shape[1], 3]);
        for start in 0..shape[0] {
            for (stop, step) in [(shape[0], 1), (shape[0], 2), (start, 1), (start + 1, 3)] {
                for other in [slice(0, shape[1], 1), slice(shape[1] / 2, shape[1], 2)] {
                    let rows = slice(start, stop, step);
                    let slab = Hyperslab::new(vec![rows, other], &shape).unwrap();
                    let mut wanted = Vec::new();
                    for row in (start..stop).step_by(usize::try_from(step).unwrap()) {
                        for at in (other.start..other.stop).step_by(other.step as usize) {
                            wanted.push((row * shape[1] + at).to_string());
                        }
                    }
                    let how = Execution::default();
                    for dataset in [&by_chunks, &by_bytes] {
                        let read = dataset.read_texts(&slab, &how).unwrap();
                        assert_eq!(read.value, wanted, "{slab:?}");
                        let small = Execution { memory_budget: 4 * 27 * 3, ..Execution::default() };
                        let mut parts = Vec::new();
                        let visit = &mut |part: crate::WithIntegrity<Vec<String>>| {
                            parts.extend(part.value);
                            Ok::<(), Error>(())
                        };
                        dataset.for_texts(&slab, &small, visit).unwrap();
                        assert_eq!(parts, wanted, "{slab:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn texts_have_no_numbers_and_numbers_no_texts() {
    let names = texts(b"ab\0cd\0", &[2, 3]);
    let (slab, how) = (Hyperslab::whole(&[2]), Execution::default());
    assert_eq!((names.shape(), &*names.dtype_name, names.dtype), (&[2][..], "string", None));
    assert_eq!(names.stored().shape(), [2, 3]);
    assert!(matches!(names.read(&slab, &how), Err(Error::Text { .. })));
    assert!(matches!(
        names.stored().read_texts(&Hyperslab::whole(&[2, 3]), &how),
        Err(Error::NoTexts { .. })
    ));
    assert!(matches!(names.read_texts(&Hyperslab::whole(&[3]), &how), Err(Error::Misfit { .. })));
    assert!(matches!(
        names.read_texts(&Hyperslab::whole(&[2, 3]), &how),
        Err(Error::Misfit { .. })
    ));
}

#[test]
fn what_texts_take_is_bounded() {
    let slab = Hyperslab::whole(&[2]);
    let read = |dataset: &Dataset, memory_budget| {
        dataset.read_texts(&slab, &Execution { memory_budget, ..Execution::default() })
    };
    let names = texts(b"ab\0cd\0", &[2, 3]);
    assert!(matches!(read(&names, 53), Err(Error::Limit { wanted: 54, .. })));
    assert!(read(&names, 54).is_ok());
    let none = texts(b"", &[2, 0]);
    assert_eq!(read(&none, 1000).unwrap().value, ["", ""]);
    let many = texts(b"", &[u64::MAX / 2, 0]);
    let all = Hyperslab::whole(many.shape());
    assert!(matches!(many.read_texts(&all, &Execution::default()), Err(Error::Limit { .. })));
    let numbers = numbered(&[2], &[2]);
    assert!(matches!(read(&numbers, 49), Err(Error::Limit { .. })));
    assert!(read(&numbers, 50).is_ok());
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let of = |kind: FixedText, bytes: &[u8], size| kind.texts(bytes, size, 100).unwrap();
    assert_eq!(of(FixedText::Bytes, b"a\0b\0\xff \xc3\xa9", 4), ["a\0b", "\u{fffd} \u{e9}"]);
    let little = [0x61, 0, 0, 0, 0, 0xd8, 0, 0, 0, 0, 0, 0];
    assert_eq!(of(FixedText::Points { is_big: false }, &little, 12), ["a\u{fffd}"]);
    assert_eq!(of(FixedText::Points { is_big: true }, &[0, 0, 0, 0x62], 4), ["b"]);
    assert!(FixedText::Bytes.texts(b"abc", 1, 2).is_err());
}

#[test]
fn labels_are_the_nearest_coordinates_of_the_groups_around() {
    let numbers = |name: &str, dim: &str| Dataset {
        dims: vec![dim.to_owned()],
        ..bytes(name, &[1, 2], &[2])
    };
    let named = |name: &str, content: &[u8]| {
        Dataset::of_texts(bytes(name, content, &[2, 1]), Arc::new(FixedText::Bytes))
    };
    let datasets = vec![
        numbers("g/h/temp", "time"),
        numbers("temp", "time"),
        numbers("g/other", "time"),
        numbers("g/h/wind", "far"),
        numbers("x/lone", "time"),
        named("time", b"ab"),
        named("g/h/time", b"cd"),
        named("g/time", b"ef"),
        named("h/far", b"zz"),
        Dataset::of_texts(bytes("x/time", b"xyz", &[3, 1]), Arc::new(FixedText::Bytes)),
    ];
    let catalog = Catalog::new(Source::from_bytes([1]), "test", datasets);
    for (name, wanted) in [
        ("g/h/temp", Some(["c", "d"])),
        ("temp", Some(["a", "b"])),
        ("g/other", Some(["e", "f"])),
        ("g/h/wind", None),
        // The nearest decides, also where it does not fit.
        ("x/lone", None),
    ] {
        let dataset = catalog.find(name).unwrap();
        let labels = CatalogLabels::new(&catalog, dataset, &Execution::default());
        let found = labels.labels(0).unwrap();
        let wanted = wanted.map(|texts| Labels::Text(texts.map(str::to_owned).to_vec().into()));
        assert_eq!(found, wanted, "{name}");
    }
}
