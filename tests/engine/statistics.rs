//! Statistics spare reads, and damaged or wrong ones give an error or the right answer.

use std::sync::Arc;

use tet_file::write::{CodecChoice, StatisticsChoice};
use tet_file::{TetFile, WriteOptions};
use tet_format::write::DatasetSpec;
use tet_format::{DType, Limits};
use tet_io::Source;
use tet_query::{
    Catalog, Compare, Execution, Filter, Hyperslab, Number, Op, Reduction, StatisticsPolicy, Values,
};
use tet_tests::ask;
use tet_tests::fuzz;
use tet_tests::meter::{Bytes, Meter};
use tet_tests::values::noise;
use tet_tests::written::{self, Written};

/// Chunks, and the elements of each.
const CHUNKS: u64 = 200;
const ELEMENTS: u64 = 16 << 10;

/// float32 in chunks of 64 KiB, whose values rise from chunk to chunk.
fn rising(encoder: CodecChoice) -> Vec<u8> {
    let shape = [CHUNKS, ELEMENTS];
    // Less than 1 within a chunk, in bits that do not compress.
    let noise = |at: u64| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as f32 / 65_536.0;
    let element = |at: u64| (at / ELEMENTS) as f32 + noise(at);
    let elements = (0..CHUNKS * ELEMENTS).flat_map(|at| element(at).to_le_bytes()).collect();
    let spec = DatasetSpec::new("a", DType::Float32, shape, [1, ELEMENTS]);
    let folder = tempfile::tempdir().unwrap();
    let options = WriteOptions { encoder, ..WriteOptions::default() };
    let datasets = [Written { spec, elements }];
    std::fs::read(written::write_with(options, folder.path(), "a.tet", &datasets)).unwrap()
}

struct Metered {
    catalog: Catalog,
    meter: Arc<Meter<Bytes>>,
}

impl Metered {
    fn new(bytes: Vec<u8>) -> Metered {
        let meter = Arc::new(Meter::new(Bytes(bytes)));
        let source = Source::from_reader(meter.clone());
        let catalog = ask::open(source, Limits::default()).unwrap();
        Metered { catalog, meter }
    }

    /// The value of a reduction of everything, the bytes that were read for it, and the chunks that were not.
    fn ask(&self, reduction: &Reduction, statistics: StatisticsPolicy) -> (String, u64, u64) {
        let dataset = &self.catalog.datasets()[0];
        let how = Execution { statistics, threads: 2, ..Execution::default() };
        self.meter.reset();
        let answer = dataset.reduce(&Hyperslab::whole(dataset.shape()), reduction, &how).unwrap();
        let unread = answer.statistics.answered + answer.statistics.skipped;
        (shown(&answer.values), self.meter.read_len(), unread)
    }
}

fn shown(values: &Values) -> String {
    format!("{values:?}")
}

fn above(number: f64) -> Option<Filter> {
    let tests = vec![(Compare::Gt, Number::Float(number))];
    Some(Filter { tests, ..Filter::default() })
}

/// A filter that matters to one chunk of a hundred reads at most two bytes of a hundred, and an extremum none.
#[test]
fn chunks_that_cannot_matter_are_not_read() {
    for encoder in [CodecChoice::Raw, CodecChoice::Zstd { level: 1 }] {
        let metered = Metered::new(rising(encoder));
        let stored = metered.meter.reads().len();
        assert!(stored < 20, "opening takes few reads");
        for op in [Op::Mean, Op::Std, Op::Sum, Op::Median, Op::Count, Op::ArgMin] {
            let reduction = Reduction { filter: above(198.5), ..Reduction::all(op) };
            let (wanted, all, none) = metered.ask(&reduction, StatisticsPolicy::Never);
            let (found, few, unread) = metered.ask(&reduction, StatisticsPolicy::Verified);
            assert_eq!((found, none), (wanted, 0), "{op:?}");
            assert!(CHUNKS - 2 <= unread, "{op:?}: {unread} chunks are not read");
            assert!(few * 50 <= all, "{op:?}: {few} bytes of {all}");
        }
        for op in [Op::Min, Op::Max, Op::NanCount, Op::AnyInf] {
            let reduction = Reduction::all(op);
            let (wanted, all, _) = metered.ask(&reduction, StatisticsPolicy::Never);
            let (found, few, unread) = metered.ask(&reduction, StatisticsPolicy::Verified);
            assert_eq!((found, unread), (wanted, CHUNKS), "{op:?}");
            assert!(few * 1000 <= all, "{op:?}: {few} bytes of {all}");
        }
        // Each cell has its extremum in the same chunk.
        for op in [Op::Min, Op::Max, Op::ArgMin, Op::ArgMax] {
            let reduction = Reduction::along(op, [0]);
            let (wanted, all, _) = metered.ask(&reduction, StatisticsPolicy::Never);
            let (found, few, unread) = metered.ask(&reduction, StatisticsPolicy::Verified);
            assert_eq!((found, unread), (wanted, CHUNKS - 1), "{op:?}");
            assert!(few * 100 <= all, "{op:?}: {few} bytes of {all}");
        }
    }
}

/// Statistics are at most 0.2 % of the payloads of a file.
#[test]
fn statistics_are_short() {
    for encoder in [CodecChoice::Raw, CodecChoice::Zstd { level: 1 }] {
        let bytes = rising(encoder);
        let file = TetFile::open(Source::from_bytes(bytes), &Default::default()).unwrap();
        let (spill, stored) =
            (file.footer().statistics.spill(), file.index().stored_len().unwrap());
        let len = spill.map_or(0, |spill| spill.len);
        assert!(len * 500 <= stored, "{len} of {stored} bytes");
        assert_eq!(len != 0, encoder == CodecChoice::Raw || stored > 4_000_000);
    }
}

/// A small file whose statistics are written nevertheless.
fn small(dtype: DType, encoder: CodecChoice) -> Vec<u8> {
    let spec = DatasetSpec::new("a", dtype, [9, 40], [2, 40]);
    let size = usize::try_from(dtype.size().unwrap()).unwrap();
    let element = |at: u64| (at * 37 % 101).to_le_bytes()[..size].to_vec();
    let elements = (0..9 * 40).flat_map(element).collect();
    let folder = tempfile::tempdir().unwrap();
    let statistics = StatisticsChoice::Written;
    let options = WriteOptions { encoder, statistics, ..WriteOptions::default() };
    let datasets = [Written { spec, elements }];
    std::fs::read(written::write_with(options, folder.path(), "a.tet", &datasets)).unwrap()
}

/// Arrays, damage, questions and filters of any kind: what holds of them is in `tests/src/fuzz/stats.rs`.
#[test]
fn answers_by_statistics_are_right_whatever_is_asked() {
    let used = (0..4_000).map(|seed| fuzz::answers_by_statistics(&noise(seed, 120)));
    let used: usize = used.sum();
    assert!(used > 4_000, "{used} answers rest on statistics");
}

/// Whichever bit of a file is flipped: an error, or the right answer; and no panic with statistics that are trusted.
#[test]
fn damaged_statistics_never_give_a_wrong_answer() {
    for (dtype, encoder) in
        [(DType::Int32, CodecChoice::Raw), (DType::Float64, CodecChoice::Zstd { level: 1 })]
    {
        let good = small(dtype, encoder);
        let asked = [Op::Max, Op::Sum, Op::NanCount].map(Reduction::all);
        let answer = |bytes: &[u8], reduction: &Reduction, statistics| {
            let catalog = ask::open(Source::from_bytes(bytes.to_vec()), Limits::default()).ok()?;
            let dataset = &catalog.datasets()[0];
            let how = Execution { statistics, threads: 1, ..Execution::default() };
            let answer =
                dataset.reduce(&Hyperslab::whole(dataset.shape()), reduction, &how).ok()?;
            Some(shown(&answer.values))
        };
        let wanted = asked.each_ref().map(|it| answer(&good, it, StatisticsPolicy::Never));
        let file = TetFile::open(Source::from_bytes(good.clone()), &Default::default()).unwrap();
        let spill = file.footer().statistics.spill().unwrap();
        let range = usize::try_from(spill.offset).unwrap()..good.len();
        for bit in range.start * 8..range.end * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            for (reduction, wanted) in asked.iter().zip(&wanted) {
                let found = answer(&bad, reduction, StatisticsPolicy::Verified);
                assert!(found.is_none() || found == *wanted, "bit {bit}: {found:?}");
                answer(&bad, reduction, StatisticsPolicy::Trust);
            }
        }
        for len in range {
            for (reduction, wanted) in asked.iter().zip(&wanted) {
                let found = answer(&good[..len], reduction, StatisticsPolicy::Verified);
                assert!(found.is_none() || found == *wanted, "{len} bytes: {found:?}");
            }
        }
    }
}
