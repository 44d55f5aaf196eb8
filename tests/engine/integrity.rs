//! One bit changed in chunks of the sizes that users have: no answer is wrong without a word.
//!
//! ```text
//!   element type x chunk longer than a task x threads x memory x way of reading x question
//! ```
//!
//! With digests and the default policy, an answer is an error, or right, or says that not every
//! byte was compared; and it is never the last when the question reads every byte of the chunk.

use std::path::Path;
use std::sync::Arc;

use tet_file::write::CodecChoice;
use tet_format::write::DatasetSpec;
use tet_format::{DType, Limits, Rule, Shape};
use tet_io::Source;
use tet_query::{
    Axes, Axis, AxisSlice, Coalesce, Dataset, Error, Execution, Hyperslab, Integrity, LazyArray,
    Op, Reduction, StatisticsPolicy, Window, WindowAlign, WindowMode,
};
use tet_tests::ask;
use tet_tests::meter::Bytes;
use tet_tests::values::noise;
use tet_tests::written::{self, Written};

/// Elements along each axis: 6 MiB of four bytes, in chunks of 1 to 12 MiB.
const SHAPE: [u64; 2] = [96, 16_384];
const CHUNKS: [[u64; 2]; 4] = [[32, 16_384], [96, 16_384], [96, 4096], [50, 9000]];
const TYPES: [DType; 6] =
    [DType::Float32, DType::Float64, DType::Int16, DType::UInt8, DType::Int64, DType::UInt32];

/// Bytes of each element type that make no NaN and no overflow of sums.
fn elements(dtype: DType) -> Vec<u8> {
    let count = usize::try_from(SHAPE[0] * SHAPE[1]).unwrap();
    let size = usize::try_from(dtype.size().unwrap()).unwrap();
    let mut bytes = noise(7, count * size);
    if dtype.is_float() {
        // The top bits of the exponent make numbers between 2^-64 and 2.
        bytes
            .chunks_mut(size)
            .for_each(|element| element[size - 1] = element[size - 1] & 0x80 | 0x3d);
    } else if size == 8 {
        bytes.chunks_mut(size).for_each(|element| element[7] = 0);
    }
    bytes
}

/// A raw file with digests, and where its payloads lie.
fn file(folder: &Path, dtype: DType, chunk: [u64; 2]) -> (Vec<u8>, Vec<usize>) {
    let spec = DatasetSpec {
        name: "a".to_owned(),
        dtype,
        shape: Shape::from(&SHAPE[..]),
        chunk_shape: Shape::from(&chunk[..]),
    };
    let dataset = Written { spec, elements: elements(dtype) };
    let path = written::write(folder, "a.tet", &[dataset], CodecChoice::Raw);
    let catalog = ask::open(Source::open(&path).unwrap(), Limits::default()).unwrap();
    let dataset = &catalog.datasets()[0];
    let plan = tet_query::plan(dataset, &Hyperslab::whole(&SHAPE), Coalesce::NONE).unwrap();
    let starts = plan.chunks().iter().map(|read| usize::try_from(read.place.stored.start()));
    (std::fs::read(path).unwrap(), starts.map(Result::unwrap).collect())
}

/// Reads or folds every byte of every chunk, each in another way.
fn questions() -> Vec<(&'static str, Question)> {
    let window = Window {
        axis: 0,
        size: 3,
        step: 1,
        mode: WindowMode::Rolling,
        pad: None,
        align: WindowAlign::Start,
        min_count: None,
    };
    let rolling =
        Reduction { window: Some(window), axes: Axes::Some(vec![1]), ..Reduction::all(Op::Max) };
    vec![
        ("read", Question::Read),
        ("in parts", Question::Parts),
        ("max of all", Question::Reduce(Box::new(Reduction::all(Op::Max)))),
        ("sum of all", Question::Reduce(Box::new(Reduction::all(Op::Sum)))),
        ("sum along 0", Question::Reduce(Box::new(Reduction::along(Op::Sum, [0])))),
        ("mean along 1", Question::Reduce(Box::new(Reduction::along(Op::Mean, [1])))),
        ("median of all", Question::Reduce(Box::new(Reduction::all(Op::Median)))),
        ("rolling max", Question::Reduce(Box::new(rolling))),
    ]
}

enum Question {
    Read,
    /// As writers do: in blocks shorter than a chunk.
    Parts,
    Reduce(Box<Reduction>),
}

impl Question {
    fn ask(
        &self,
        dataset: &Dataset,
        slab: &Hyperslab,
        how: &Execution,
    ) -> Result<(Vec<u8>, Integrity), Error> {
        match self {
            Question::Read => {
                let array = dataset.read(slab, how)?;
                Ok((array.bytes().to_vec(), array.integrity))
            }
            Question::Parts => {
                let lazy = LazyArray::values(dataset, slab)?;
                lazy.check_seal(how)?;
                let mut out = Vec::new();
                for block in lazy.blocks(300_000, 300_000).unwrap() {
                    out.extend(lazy.read(&block, how)?.bytes());
                }
                Ok((out, lazy.integrity()))
            }
            Question::Reduce(reduction) => {
                let reduced = dataset.reduce(slab, reduction, how)?;
                Ok((format!("{:?}", reduced.values).into_bytes(), reduced.integrity))
            }
        }
    }
}

/// Outcome of a query: the result, or the rule that was broken, and whether anything was used
/// that was not compared.
fn asked(
    question: &Question,
    source: Source,
    slab: &Hyperslab,
    how: &Execution,
) -> (Result<Vec<u8>, Option<Rule>>, bool) {
    let catalog = ask::open(source, Limits::default()).unwrap();
    match question.ask(&catalog.datasets()[0], slab, how) {
        Ok((answer, integrity)) => (Ok(answer), integrity != Integrity::Verified),
        Err(error) => (Err(ask::broken(&error).map(|(rule, _)| rule)), false),
    }
}

fn sources(bytes: &[u8]) -> [Source; 2] {
    [Source::from_bytes(bytes), Source::from_reader(Arc::new(Bytes(bytes.to_vec())))]
}

#[test]
fn one_changed_bit_in_a_large_raw_chunk_is_never_silent() {
    let whole = Hyperslab::whole(&SHAPE);
    let row = |stop| AxisSlice { start: 3, stop, step: 1, axis: Axis::Kept };
    let part = Hyperslab::new(vec![row(40), AxisSlice::whole(SHAPE[1])], &SHAPE).unwrap();
    let (mut tried, mut in_part) = (0_usize, 0);
    for dtype in TYPES {
        for chunk in CHUNKS {
            let folder = tempfile::tempdir().unwrap();
            let (bytes, starts) = file(folder.path(), dtype, chunk);
            for (threads, memory_budget) in [(1, 1 << 30), (2, 1 << 30), (4, 2 << 20)] {
                // Statistics would stand for chunks, which then are not read.
                let statistics = StatisticsPolicy::Never;
                let how = Execution { threads, memory_budget, statistics, ..Execution::default() };
                for (name, question) in &questions() {
                    tried += 1;
                    let what = format!("{name} of {dtype:?} in {chunk:?} by {threads} threads");
                    let at = starts[tried % starts.len()] + tried.wrapping_mul(7_919_777) % 300_000;
                    let mut damaged = bytes.clone();
                    damaged[at] ^= 1 << (tried % 8);
                    for (sound, damaged) in sources(&bytes).into_iter().zip(sources(&damaged)) {
                        let (right, unchecked) = asked(question, sound.clone(), &whole, &how);
                        assert!(right.is_ok() && !unchecked, "{what}: {:?}", right.err());
                        let (found, _) = asked(question, damaged.clone(), &whole, &how);
                        assert_eq!(found.err(), Some(Some(Rule::ChunkDigest)), "{what}");
                        let (right, unchecked) = asked(question, sound, &part, &how);
                        assert!(right.is_ok() && unchecked, "{what}: a part says so");
                        let (found, unchecked) = asked(question, damaged, &part, &how);
                        let is_told = unchecked || found == right;
                        in_part += usize::from(found.is_ok());
                        assert!(is_told || found == Err(Some(Rule::ChunkDigest)), "{what}");
                    }
                }
            }
        }
    }
    assert_eq!(tried, 6 * 4 * 3 * 8);
    assert!(in_part > 0, "parts of damaged chunks are answered, and said to be unchecked");
}
