//! Answers are the same, bit for bit, with statistics and without.

use std::collections::BTreeMap;
use std::sync::Arc;

use half::f16;
use tet_file::write::{CodecChoice, ZeroExtents};
use tet_file::{Metadata, StatisticsChoice, TetFile, WriteOptions, Writer};
use tet_format::statistics::WireStatisticsBlock;
use tet_format::write::DatasetSpec;
use tet_format::{DType, Grid, Integrity, Shape};
use tet_io::{Progress, Source};

use super::FAR;
use crate::budget::{DigestPolicy, Execution, StatisticsPolicy};
use crate::catalog::{Catalog, Dataset};
use crate::op::{NanPolicy, Op};
use crate::reduction::{
    AxisGroups, AxisPicks, Compare, Filter, Number, Params, Reduction, Window, WindowAlign,
    WindowMode,
};
use crate::selection::{Axis, AxisSlice, Hyperslab};
use crate::testing::small_tuning;
use crate::value::{Cells, Reduced};

const SHAPE: [u64; 2] = [23, 18];
const DTYPES: [DType; 10] = [
    DType::Float16,
    DType::Float32,
    DType::Float64,
    DType::Int16,
    DType::Int32,
    DType::Int64,
    DType::UInt8,
    DType::UInt16,
    DType::UInt32,
    DType::UInt64,
];

/// Chunks that are several times as long as their statistics.
fn chunk_shape(dtype: DType) -> [u64; 2] {
    match dtype.size() {
        Some(1) => [12, 9],
        _ => [6, 5],
    }
}

/// The bits of an element: chunk by chunk of another kind, so that every sort of statistics is there.
fn bits(dtype: DType, kind: u64, n: u64) -> u64 {
    let noise = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    let width = 8 * dtype.size().unwrap();
    let all = u64::MAX >> (64 - width);
    if !dtype.is_float() {
        return all
            & match kind {
                0 => noise,
                1 => 7,
                2 => u64::MAX,
                3 => 1 << (width - 1),
                4 => n % 3,
                _ => 10 + n % 10,
            };
    }
    let infinity = match dtype {
        DType::Float16 => u64::from(f16::INFINITY.to_bits()),
        DType::Float32 => u64::from(f32::INFINITY.to_bits()),
        _ => f64::INFINITY.to_bits(),
    };
    let sign = noise << (width - 1) & all;
    let nan = (infinity + 1 + noise % 30) | sign;
    let small = |number: u64| match dtype {
        DType::Float16 => u64::from(f16::from_f32(number as f32).to_bits()),
        DType::Float32 => u64::from((number as f32).to_bits()),
        _ => (number as f64).to_bits(),
    };
    match kind {
        0 => small(noise % 30) | sign,
        1 => nan,
        2 if n.is_multiple_of(7) => nan,
        3 => sign,
        4 if n.is_multiple_of(5) => infinity | sign,
        5 => small(7),
        6 => [infinity - 1, 1][usize::try_from(n % 2).unwrap()] | sign,
        _ => small(10 + n % 10),
    }
}

/// A dataset of a `.tet` file in memory, with chunks of several kinds.
fn dataset(dtype: DType, shape: [u64; 2], encoder: CodecChoice) -> Dataset {
    open(file(dtype, shape, encoder))
}

/// The bytes of its file.
fn file(dtype: DType, shape: [u64; 2], encoder: CodecChoice) -> Vec<u8> {
    let grid = Grid::new(Shape::from(shape), Shape::from(chunk_shape(dtype))).unwrap();
    let size = usize::try_from(dtype.size().unwrap()).unwrap();
    filled(dtype, shape, encoder, &mut |linear, out| {
        let kind = (linear * 5 + 2) % 8;
        for n in 0..grid.chunk_elements(&grid.coord_of(linear)).unwrap() {
            out.extend(&bits(dtype, kind, linear * 100 + n).to_le_bytes()[..size]);
        }
    })
}

/// The bytes of a `.tet` file whose chunks have these elements.
fn filled(
    dtype: DType,
    shape: [u64; 2],
    encoder: CodecChoice,
    elements: &mut dyn FnMut(u64, &mut Vec<u8>),
) -> Vec<u8> {
    let spec = DatasetSpec::new("a", dtype, shape, chunk_shape(dtype));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.tet");
    let options = WriteOptions {
        encoder,
        statistics: StatisticsChoice::Written,
        zero_extents: ZeroExtents::Allow,
        ..WriteOptions::default()
    };
    let mut writer = Writer::create(&path, vec![spec], &options).unwrap();
    let fill = &mut |chunk: tet_file::write::ChunkAt<'_>, out: &mut Vec<u8>| {
        elements(chunk.linear, out);
        Ok(())
    };
    writer.write_dataset(0, fill, &Progress::default()).unwrap();
    writer.finish(&Metadata::new(), &[]).unwrap();
    std::fs::read(&path).unwrap()
}

/// The dataset of a file.
fn open(bytes: Vec<u8>) -> Dataset {
    let file = TetFile::open(Source::from_bytes(bytes), &tet_file::OpenOptions::default()).unwrap();
    Catalog::from_tet(file).unwrap().datasets()[0].clone()
}

/// All values of an answer, without their integrity, floats by their bits.
fn answer_text(answer: &Reduced) -> String {
    let bits: Vec<u64> = match &answer.values.cells {
        Cells::Float(floats) => floats.iter().map(|float| float.to_bits()).collect(),
        Cells::Element(array) => array.bytes().iter().copied().map(u64::from).collect(),
        _ => Vec::new(),
    };
    let Reduced { axes, shape, along, values, count, nan_count, details, .. } = answer;
    format!("{axes:?} {shape:?} {along:?} {values:?} {count} {nan_count:?} {details:?} {bits:?}")
}

fn slabs() -> Vec<Hyperslab> {
    let slice = |start, stop, step| AxisSlice { start, stop, step, axis: Axis::Kept };
    let [rows, columns] = SHAPE.map(AxisSlice::whole);
    [
        [rows, columns],
        [slice(3, 22, 1), columns],
        [rows, slice(0, 18, 2)],
        [slice(6, 12, 1), columns],
    ]
    .into_iter()
    .map(|slices| Hyperslab::new(slices.to_vec(), &SHAPE).unwrap())
    .collect()
}

fn filters() -> Vec<Option<Filter>> {
    let of = |tests: &[(Compare, Number)]| Filter { tests: tests.to_vec(), ..Filter::default() };
    let (seven, ten) = (Number::Int(7), Number::Float(10.5));
    vec![
        None,
        Some(of(&[(Compare::Gt, ten)])),
        Some(of(&[(Compare::Ge, Number::Int(0)), (Compare::Lt, Number::Int(8))])),
        Some(of(&[(Compare::Ne, seven)])),
        Some(of(&[(Compare::Eq, seven)])),
        Some(Filter { is_null: true, fill: Some(seven), ..Filter::default() }),
        Some(Filter { is_not_null: true, ..of(&[(Compare::Le, Number::Float(f64::INFINITY))]) }),
    ]
}

/// The forms of cells: some axes, groups, picks and windows.
fn forms(op: Op, slab: &Hyperslab) -> Vec<Reduction> {
    let params = Params { q: vec![0.25, 0.5], fill: Some(Number::Int(7)), ..Params::for_op(op) };
    let all = Reduction { params, ..Reduction::all(op) };
    let along = |axes: &[usize]| {
        let axes = crate::reduction::Axes::Some(axes.to_vec());
        Reduction { axes, ..all.clone() }
    };
    let rows = slab.counts()[0];
    let group_of: Vec<u32> = (0..rows)
        .map(|at| if at == 2 { AxisGroups::NONE } else { u32::try_from(at / 12).unwrap() })
        .collect();
    let labels = ["a", "b"].map(str::to_owned).to_vec().into();
    let groups = vec![AxisGroups { axis: 0, group_of: group_of.into(), labels, by: None }];
    let positions: Arc<[u64]> = (0..rows).filter(|at| at % 6 != 1 || *at < 6).collect();
    let window = |mode, size, step| Window {
        axis: 0,
        size,
        step,
        mode,
        pad: None,
        align: WindowAlign::Start,
        min_count: None,
    };
    vec![
        all.clone(),
        along(&[1]),
        along(&[0]),
        Reduction { groups, ..all.clone() },
        Reduction { picks: vec![AxisPicks { axis: 0, positions }], ..all.clone() },
        Reduction { window: Some(window(WindowMode::Bins, 12, 12)), ..along(&[1]) },
        Reduction { window: Some(window(WindowMode::Rolling, 3, 1)), ..along(&[1]) },
    ]
}

/// Every seventh question about a dataset, from the `first` on; counts by operation how many chunks were not read.
fn check(dataset: &Dataset, first: usize, unread: &mut BTreeMap<&'static str, u64>) {
    let with = |statistics, threads, memory_budget| Execution {
        statistics,
        threads,
        memory_budget,
        ..small_tuning()
    };
    let ways = [
        with(StatisticsPolicy::Verified, 1, 1 << 30),
        with(StatisticsPolicy::Trust, 4, 1 << 16),
        Execution { access: FAR, ..with(StatisticsPolicy::Trust, 2, 1 << 14) },
    ];
    let without = with(StatisticsPolicy::Never, 2, 1 << 30);
    let mut number = first;
    for slab in slabs() {
        for &op in Op::ALL {
            for (form, filter) in forms(op, &slab)
                .into_iter()
                .flat_map(|form| filters().into_iter().map(move |filter| (form.clone(), filter)))
            {
                let nan =
                    if form.filter.is_some() { NanPolicy::Skip } else { NanPolicy::Propagate };
                for nan in [nan, NanPolicy::Skip] {
                    number += 1;
                    if !number.is_multiple_of(7) {
                        continue;
                    }
                    let reduction = Reduction { filter: filter.clone(), nan, ..form.clone() };
                    let wanted = dataset.reduce(&slab, &reduction, &without);
                    let wanted =
                        wanted.map(|it| answer_text(&it)).map_err(|error| error.to_string());
                    for how in &ways {
                        let found = dataset.reduce(&slab, &reduction, how);
                        if let Ok(found) = &found {
                            let used = found.statistics;
                            *unread.entry(op.name()).or_default() += used.answered + used.skipped;
                            let is_verified = how.statistics == StatisticsPolicy::Verified;
                            assert!(used.is_none() || used.is_checked == is_verified);
                            if !used.is_none() && !is_verified {
                                assert_eq!(found.integrity, Integrity::Unchecked, "trusted");
                            }
                        }
                        let found =
                            found.map(|it| answer_text(&it)).map_err(|error| error.to_string());
                        assert_eq!(
                            found, wanted,
                            "{} {slab:?} {reduction:?} {how:?}",
                            dataset.dtype_name
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn answers_with_statistics_have_the_same_bits() {
    let mut unread = BTreeMap::new();
    for (nth, dtype) in DTYPES.into_iter().enumerate() {
        let encoder = [CodecChoice::Raw, CodecChoice::Zstd { level: 1 }][nth % 2];
        check(&dataset(dtype, SHAPE, encoder), nth, &mut unread);
    }
    let is_matrix = |op: &&Op| matches!(op, Op::Covariance | Op::Correlation);
    for &op in Op::ALL.iter().filter(|op| !is_matrix(op)) {
        let used = unread.get(op.name()).copied().unwrap_or(0);
        assert!(used > 20, "{}: statistics stood for {used} chunks", op.name());
    }
}

/// How many chunks of a selection are answered and skipped by their statistics; the answer is that of their elements.
fn used(dataset: &Dataset, reduction: &Reduction, slices: [AxisSlice; 2]) -> (u64, u64) {
    let slab = Hyperslab::new(slices.to_vec(), dataset.shape()).unwrap();
    let ask = |statistics| {
        let how = Execution { statistics, ..small_tuning() };
        dataset.reduce(&slab, reduction, &how).unwrap()
    };
    let (with, without) = (ask(StatisticsPolicy::Verified), ask(StatisticsPolicy::Never));
    assert_eq!(answer_text(&with), answer_text(&without), "{reduction:?} {slices:?}");
    (with.statistics.answered, with.statistics.skipped)
}

fn slice(start: u64, stop: u64) -> AxisSlice {
    AxisSlice { start, stop, step: 1, axis: Axis::Kept }
}

/// A dataset of four times four chunks; `element` of the chunk and of the position in it.
fn chunks_of(element: impl Fn(u64, u64) -> f64) -> Dataset {
    let shape = [24, 20];
    let grid = Grid::new(Shape::from(shape), Shape::from([6, 5])).unwrap();
    open(filled(DType::Float64, shape, CodecChoice::Raw, &mut |linear, out| {
        for n in 0..grid.chunk_elements(&grid.coord_of(linear)).unwrap() {
            out.extend(element(linear, n).to_le_bytes());
        }
    }))
}

/// Chunks that cannot have the extremum are skipped, also those that are selected in part; those that tie are read.
#[test]
fn extrema_skip_chunks_that_are_outdone() {
    // Chunks of one value each, the greatest in two of them.
    let values: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 20, 21, 23, 23];
    let dataset = chunks_of(|linear, _| f64::from(values[usize::try_from(linear).unwrap()]));
    let used = |op, slices| used(&dataset, &Reduction::all(op), slices);
    let all = [slice(0, 24), slice(0, 20)];
    assert_eq!(used(Op::ArgMax, all), (0, 14));
    assert_eq!(used(Op::ArgMin, all), (0, 15));
    assert_eq!(used(Op::Max, all), (16, 0));
    // The first and the last column of chunks are selected in part; what ties with a whole chunk is skipped.
    assert_eq!(used(Op::Max, [slice(0, 24), slice(1, 18)]), (8, 8));
    // The least element of whole chunks is 2, that of the first chunk 1.
    assert_eq!(used(Op::Min, [slice(0, 24), slice(1, 18)]), (8, 7));
    // The last row of chunks is selected in part, then every chunk: of the two that tie, both are read.
    assert_eq!(used(Op::Max, [slice(0, 23), slice(0, 20)]), (12, 2));
    let even = |stop| AxisSlice { step: 2, ..slice(0, stop) };
    assert_eq!(used(Op::Max, [even(24), even(20)]), (0, 14));
}

/// A chunk is skipped where another one with the same cells has greater elements in all of them.
#[test]
fn extrema_of_several_cells_skip_chunks_that_are_outdone() {
    let all = [slice(0, 24), slice(0, 20)];
    let nan_at = |place: (u64, u64)| {
        chunks_of(move |linear, n| match (linear, n) {
            here if here == place => f64::NAN,
            _ => (100 * (linear / 4) + n) as f64,
        })
    };
    // Nothing is NaN: there is no chunk 16.
    let rising = nan_at((16, 0));
    for op in [Op::Max, Op::Min, Op::ArgMax, Op::ArgMin] {
        let along = |axis| Reduction::along(op, [axis]);
        assert_eq!(used(&rising, &along(0), all), (0, 12), "one of four in each column");
        assert_eq!(used(&rising, &along(0), [slice(2, 23), slice(1, 18)]), (0, 12), "in parts");
        assert_eq!(used(&rising, &along(1), all), (0, 0), "they have the same elements");
        assert_eq!(used(&rising, &along(0), [slice(6, 12), slice(0, 20)]), (0, 0), "one of one");
        let group_of = (0..24).map(|row| row / 3 % 3).collect();
        let labels = ["a", "b", "c"].map(str::to_owned).to_vec().into();
        let groups = vec![AxisGroups { axis: 0, group_of, labels, by: None }];
        let grouped = Reduction { groups, ..Reduction::all(op) };
        assert_eq!(used(&rising, &grouped, all), (0, 0), "other positions may be other groups");
    }
    let max = Reduction::along(Op::Max, [0]);
    // Of the column of the NaN only the last chunk outdoes others, and the chunk itself is read.
    assert_eq!(used(&nan_at((0, 3)), &max, all), (0, 11));
    // The last chunk of the column may have nothing but NaN in a cell: the third one outdoes two.
    assert_eq!(used(&nan_at((12, 3)), &max, all), (0, 11));
    let above = |number| {
        let tests = vec![(Compare::Gt, Number::Float(number))];
        Some(Filter { tests, ..Filter::default() })
    };
    // The filter leaves a part of the last row of chunks, and nothing of the others.
    assert_eq!(used(&rising, &Reduction { filter: above(310.0), ..max.clone() }, all), (0, 12));
    // A part of the third row, which outdoes nothing; all of the last, which outdoes it.
    assert_eq!(used(&rising, &Reduction { filter: above(210.0), ..max.clone() }, all), (0, 12));
    let even = chunks_of(|_, _| 5.0);
    assert_eq!(used(&even, &max, all), (0, 0), "ties are read");
}

/// Records that no writer makes: an answer may be wrong, as its writer wanted, but it says so, and it ends.
#[test]
fn trusted_records_of_noise_are_unchecked() {
    let mut skewed = 0;
    for (nth, dtype) in DTYPES.into_iter().enumerate() {
        let mut bytes = file(dtype, SHAPE, CodecChoice::Raw);
        let magic = bytes.windows(4).rposition(|four| four == b"TSTA").unwrap();
        let first = magic + WireStatisticsBlock::LEN;
        let len =
            SHAPE.iter().zip(chunk_shape(dtype)).map(|(&extent, chunk)| extent.div_ceil(chunk));
        let records = &mut bytes[first..][..usize::try_from(len.product::<u64>()).unwrap() * 32];
        // A third stay, a third are those of other chunks, a third are noise.
        records.as_chunks_mut::<96>().0.iter_mut().for_each(|three| three.copy_within(..32, 32));
        for (at, byte) in (0_u64..).zip(records) {
            if at / 32 % 3 == 2 {
                *byte = (at + nth as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()[7];
            }
        }
        let dataset = open(bytes);
        let slab = Hyperslab::whole(dataset.shape());
        let trust = Execution { statistics: StatisticsPolicy::Trust, ..small_tuning() };
        let verified = Execution { statistics: StatisticsPolicy::Verified, ..small_tuning() };
        for &op in Op::ALL {
            for (form, filter) in forms(op, &slab).into_iter().zip(filters()) {
                let reduction = Reduction { filter, ..form };
                if let Ok(answer) = dataset.reduce(&slab, &reduction, &trust) {
                    let is_used = !answer.statistics.is_none();
                    assert!(!is_used || answer.integrity == Integrity::Unchecked, "{dtype} {op:?}");
                    skewed += u64::from(is_used);
                }
                if let Ok(answer) = dataset.reduce(&slab, &reduction, &verified) {
                    assert!(answer.statistics.is_none(), "the digest of the block differs");
                }
            }
        }
    }
    assert!(skewed > 100, "{skewed} answers rest on the records");
}

#[test]
fn empty_datasets_and_policies_that_read_use_none() {
    let whole = |dataset: &Dataset| Hyperslab::whole(dataset.shape());
    let empty = dataset(DType::Float32, [0, 18], CodecChoice::Raw);
    let max = Reduction::all(Op::Max);
    let answer = empty.reduce(&whole(&empty), &max, &small_tuning()).unwrap();
    assert!(answer.statistics.is_none() && answer.values.nulls == Some(vec![true]));
    let dataset = dataset(DType::Float32, SHAPE, CodecChoice::Raw);
    let used = |how: &Execution| {
        let answer = dataset.reduce(&whole(&dataset), &max, how).unwrap();
        let cost = dataset.reduce_cost(&whole(&dataset), &max, how).unwrap();
        assert_eq!(cost.statistics, answer.statistics, "the cost tells it before");
        let mut runs = 0;
        dataset.reduce_runs(&whole(&dataset), &max, how, &mut |_| runs += 1).unwrap();
        assert_eq!(runs == 0, answer.statistics.answered == 16);
        (answer.statistics.answered, answer.integrity)
    };
    let usual = small_tuning();
    assert_eq!(used(&usual), (16, Integrity::Verified));
    let never = Execution { statistics: StatisticsPolicy::Never, ..small_tuning() };
    assert_eq!(used(&never), (0, Integrity::Verified));
    let always = Execution { digests: DigestPolicy::Always, ..small_tuning() };
    assert_eq!(used(&always), (0, Integrity::Verified), "comparing all chunks reads them");
    let trust = Execution { statistics: StatisticsPolicy::Trust, ..small_tuning() };
    assert_eq!(used(&trust), (16, Integrity::Unchecked));
}
