//! However the bytes are delivered, the answer is the same, and no more is read than was planned.

use std::path::Path;
use std::sync::Arc;

use tet_file::write::CodecChoice;
use tet_format::write::DatasetSpec;
use tet_format::{DType, Limits, Shape};
use tet_io::Source;
use tet_query::{
    Axes, Axis, AxisSlice, Catalog, Cells, Coalesce, Compare, Dataset, Execution, Filter,
    Hyperslab, Number, Op, Params, Reduction, Window, WindowAlign, WindowMode,
};
use tet_tests::ask;
use tet_tests::meter::{Bytes, Meter, Synthetic};
use tet_tests::values::noise;
use tet_tests::written::{self, Written};

const POLICIES: [Coalesce; 4] =
    [Coalesce::NONE, Coalesce::DEFAULT, Coalesce::WIDE, Coalesce { gap_max: u64::MAX }];

/// One file through every kind of source.
fn doors(path: &Path) -> Vec<Source> {
    let bytes = std::fs::read(path).unwrap();
    let mut doors = vec![
        Source::open(path).unwrap(),
        Source::from_bytes(bytes.clone()),
        Source::from_reader(Arc::new(Bytes(bytes))),
    ];
    if cfg!(target_os = "linux") {
        doors.push(Source::open_leased(path).expect("the temporary folder grants leases"));
    }
    doors
}

fn executions() -> Vec<Execution> {
    let mut out = Vec::new();
    for coalesce in POLICIES {
        for threads in [1, 2, 5] {
            for memory_budget in [16 << 20, 1 << 30] {
                out.push(Execution { threads, memory_budget, coalesce, ..Execution::default() });
            }
        }
    }
    out
}

fn slice(start: u64, stop: u64, step: u64) -> AxisSlice {
    AxisSlice { start, stop, step, axis: Axis::Kept }
}

fn point(at: u64) -> AxisSlice {
    AxisSlice { start: at, stop: at + 1, step: 1, axis: Axis::Dropped }
}

/// Floats whose sum depends on the order of addition, with no NaN among them.
fn floats(count: usize) -> Vec<u8> {
    noise(4, count * 4)
        .chunks(4)
        .flat_map(|word| {
            let bits = u32::from_le_bytes(word.try_into().unwrap());
            let exponent = 100 + (bits >> 23) % 50;
            (bits & 0x807f_ffff | exponent << 23).to_le_bytes()
        })
        .collect()
}

fn sample(folder: &Path, encoder: CodecChoice) -> std::path::PathBuf {
    let shape = Shape::from(vec![11, 60, 45]);
    let of = |name: &str, dtype, chunk: &[u64]| DatasetSpec {
        name: name.to_owned(),
        dtype,
        shape: shape.clone(),
        chunk_shape: Shape::from(chunk),
    };
    let count = 11 * 60 * 45;
    let datasets = [
        Written { spec: of("tiled", DType::Float32, &[4, 16, 16]), elements: floats(count) },
        Written { spec: of("slabs", DType::Float32, &[1, 60, 45]), elements: floats(count) },
        Written { spec: of("ints", DType::Int64, &[3, 60, 7]), elements: noise(5, count * 8) },
    ];
    written::write(folder, "sample.tet", &datasets, encoder)
}

fn slabs() -> Vec<Hyperslab> {
    let shape = [11, 60, 45];
    let whole = Hyperslab::whole(&shape);
    let of = |axes: [AxisSlice; 3]| Hyperslab::new(axes.to_vec(), &shape).unwrap();
    vec![
        whole,
        of([point(5), slice(0, 60, 1), slice(0, 45, 1)]),
        of([slice(0, 11, 1), point(33), point(44)]),
        of([slice(1, 10, 3), slice(5, 55, 1), slice(3, 40, 7)]),
        of([slice(2, 2, 1), slice(0, 60, 1), slice(0, 45, 1)]),
    ]
}

#[test]
fn every_delivery_gives_the_same_bytes() {
    for encoder in [CodecChoice::Raw, CodecChoice::Zstd { level: 1 }] {
        let folder = tempfile::tempdir().unwrap();
        let path = sample(folder.path(), encoder);
        let mut first: Option<Vec<Delivered>> = None;
        let mut round = 0;
        for source in doors(&path) {
            let kind = source.kind();
            let catalog = ask::open(source, Limits::default()).unwrap();
            for how in &executions() {
                let Some(first) = &first else {
                    first = Some(answers(&catalog, how, |_| true));
                    continue;
                };
                // Turns and executions have no divisor in common: every door asks all questions.
                round += 1;
                let turn = |at: usize| (at + round).is_multiple_of(TURNS);
                let answers = answers(&catalog, how, turn);
                let first = first.iter().enumerate().filter(|(at, _)| turn(*at)).map(|it| it.1);
                let other = first.zip(&answers).find(|(a, b)| a != b);
                assert_eq!(other.map(|(a, b)| (&a.0, &b.0)), None, "{kind:?} {how:?}");
            }
        }
    }
}

/// A query with its result, and the bits of the result.
type Delivered = (String, Vec<u8>);

/// Every so many questions are asked of one door in one way.
const TURNS: usize = 5;

/// Every operation over all axes, and some of them over some axes, in groups, in windows.
fn reductions() -> Vec<Reduction> {
    let params =
        Params { q: vec![0.1, 0.5], bins: 7, fill: Some(Number::Int(3)), ..Params::default() };
    let matrix = |op: &&Op| matches!(op, Op::Covariance | Op::Correlation);
    let mut out = Vec::new();
    for (nth, &op) in Op::ALL.iter().filter(|op| !matrix(op)).enumerate() {
        let all = Reduction { params: params.clone(), ..Reduction::all(op) };
        let axes = [vec![0], vec![2], vec![1, 2]][nth % 3].clone();
        out.extend([all.clone(), Reduction { axes: Axes::Some(axes), ..all.clone() }]);
        let streams = !matches!(op, Op::Median | Op::Quantile | Op::Histogram);
        if nth % 2 == 0 && streams {
            let (mode, step) = [(WindowMode::Bins, 4), (WindowMode::Rolling, 1)][nth / 2 % 2];
            let (align, pad, min_count) = (WindowAlign::Start, None, None);
            let window = Window { axis: nth / 4 % 3, size: 4, step, mode, pad, align, min_count };
            out.push(Reduction { window: Some(window), axes: Axes::Some(vec![]), ..all });
        } else if nth % 2 == 1 {
            let tests = vec![(Compare::Gt, Number::Float(0.5))];
            out.push(Reduction { filter: Some(Filter { tests, ..Filter::default() }), ..all });
        }
    }
    out
}

/// The bytes of arrays and the bits of reductions, of the questions whose turn it is.
fn answers(catalog: &Catalog, how: &Execution, turn: impl Fn(usize) -> bool) -> Vec<Delivered> {
    let mut questions = Vec::new();
    for dataset in catalog.datasets() {
        for slab in slabs() {
            questions.push((dataset, slab.clone(), None));
            let asked = reductions().into_iter().map(|it| (dataset, slab.clone(), Some(it)));
            questions.extend(asked);
        }
    }
    let turns = questions.into_iter().enumerate().filter(|(at, _)| turn(*at));
    let answer = |(_, (dataset, slab, reduction)): (usize, (&Dataset, Hyperslab, Option<_>))| {
        let Some(reduction) = reduction else {
            let bytes = dataset.read(&slab, how).unwrap().bytes().to_vec();
            return (format!("{slab:?}"), bytes);
        };
        let (text, bits) = match dataset.reduce(&slab, &reduction, how) {
            Ok(reduced) => {
                let text = format!("{:?} {:?}", reduced.values.nulls, reduced.details);
                (text, bits(&reduced.values.cells))
            }
            Err(error) => (error.to_string(), Vec::new()),
        };
        (format!("{reduction:?} {slab:?} {text}"), bits)
    };
    turns.map(answer).collect()
}

fn bits(cells: &Cells) -> Vec<u8> {
    match cells {
        Cells::Count(counts) => counts.iter().flat_map(|cell| cell.to_le_bytes()).collect(),
        Cells::Truth(truths) => truths.iter().map(|&truth| u8::from(truth)).collect(),
        Cells::Int(integers) => integers.iter().flat_map(|cell| cell.to_le_bytes()).collect(),
        Cells::Float(floats) => floats.iter().flat_map(|cell| cell.to_le_bytes()).collect(),
        Cells::Element(array) => array.bytes().to_vec(),
    }
}

const EXTENTS: [u64; 3] = [256, 1024, 1024];

/// A gibibyte of float32, `(256, 1024, 1024)`, of which only the structure is in memory.
fn gibibyte(chunk_shape: [u64; 3]) -> (Arc<Meter<Synthetic>>, Catalog) {
    let head = head(chunk_shape);
    let len = head.len() as u64 + (1 << 30);
    let meter = Arc::new(Meter::new(Synthetic { head, len }));
    let catalog = ask::open(Source::from_reader(meter.clone()), Limits::default()).unwrap();
    (meter, catalog)
}

/// All bytes before the payloads, laid down by hand.
fn head(chunk_shape: [u64; 3]) -> Vec<u8> {
    use tet_tests::assemble::{Dataset, Sheet, put};
    // The shape is patched into the record of a small dataset, and the rows are made anew.
    let small = Sheet::new(&[Dataset::new("far", 1, 4, &[1, 1, 1])]).assemble();
    let record = small.marks.records[0];
    let extents: Vec<u8> =
        EXTENTS.iter().chain(&chunk_shape).flat_map(|extent| extent.to_le_bytes()).collect();
    let counts: Vec<u64> =
        EXTENTS.iter().zip(&chunk_shape).map(|(extent, chunk)| extent.div_ceil(*chunk)).collect();
    let rows = counts.iter().product::<u64>();
    let index_len = 32 + 104 * rows;
    let mut head = put(&small.bytes, record + 24, &extents);
    head = put(&head, 24, &index_len.to_le_bytes());
    head = put(&head, small.marks.index + 8, &rows.to_le_bytes());
    head.truncate(usize::try_from(small.marks.index + 32).unwrap());
    let mut payload = small.marks.index + index_len;
    for coord in tet_tests::assemble::every_coord(&counts) {
        let len: u64 = (0..3)
            .map(|axis| chunk_shape[axis].min(EXTENTS[axis] - coord[axis] * chunk_shape[axis]))
            .product::<u64>()
            * 4;
        let mut words = vec![0; 9];
        words[1..4].copy_from_slice(&coord);
        words.extend([payload, len, len, 0]);
        head.extend(words.iter().flat_map(|word: &u64| word.to_le_bytes()));
        payload += len;
    }
    head
}

/// Reads `slab` and returns the bytes that took; they are what was planned, and the values are
/// those that the source makes of their offsets.
fn cost(meter: &Meter<Synthetic>, catalog: &Catalog, slab: &Hyperslab, coalesce: Coalesce) -> u64 {
    let dataset = &catalog.datasets()[0];
    // Reads of the index belong to the plan: the second one finds it in memory or reads it again.
    drop(tet_query::plan(dataset, slab, coalesce).unwrap());
    meter.reset();
    drop(tet_query::plan(dataset, slab, coalesce).unwrap());
    let index_len = meter.read_len();
    meter.reset();
    let how = Execution { threads: 2, coalesce, ..Execution::default() };
    let mut planned = 0;
    dataset.read_runs(slab, &how, &mut |run| planned += run.span.len()).unwrap();
    meter.reset();
    let array = dataset.read(slab, &how).unwrap();
    let read = meter.read_len() - index_len;
    assert_eq!(read, planned);
    check_values(catalog, slab, array.bytes());
    read
}

fn check_values(catalog: &Catalog, slab: &Hyperslab, found: &[u8]) {
    let dataset = &catalog.datasets()[0];
    let whole = Hyperslab::whole(dataset.shape());
    let plan = tet_query::plan(dataset, &whole, Coalesce::NONE).unwrap();
    let grid = &dataset.grid;
    let counts = slab.counts();
    let mut words = found.chunks(4);
    for position in tet_tests::assemble::every_coord(&counts) {
        let at: Vec<u64> = (0..3)
            .map(|axis| slab.axes()[axis].start + position[axis] * slab.axes()[axis].step)
            .collect();
        let coord: Vec<u64> = (0..3).map(|axis| at[axis] / grid.chunk_shape()[axis]).collect();
        let extents = grid.extents_of(&coord);
        let inner: Vec<u64> = (0..3).map(|axis| at[axis] % grid.chunk_shape()[axis]).collect();
        let linear = (inner[0] * extents[1] + inner[1]) * extents[2] + inner[2];
        let chunk = usize::try_from(grid.linear(&coord).unwrap()).unwrap();
        let offset = plan.chunks()[chunk].place.stored.start() + linear * 4;
        let wanted: Vec<u8> = (offset..offset + 4).map(Synthetic::byte).collect();
        assert_eq!(words.next().unwrap(), wanted, "at {at:?}");
    }
}

#[test]
fn an_element_of_a_gibibyte_costs_an_element() {
    for chunk_shape in [[1, 1024, 1024], [8, 256, 256], [7, 200, 300]] {
        let (meter, catalog) = gibibyte(chunk_shape);
        let slab = Hyperslab::new(vec![point(200), point(777), point(1001)], &EXTENTS).unwrap();
        let read = cost(&meter, &catalog, &slab, Coalesce::NONE);
        assert!(read <= 4 * chunk_shape[2], "{read} bytes for one element of {chunk_shape:?}");
    }
}

#[test]
fn a_column_costs_its_rows() {
    let (meter, catalog) = gibibyte([8, 256, 256]);
    let column = vec![slice(0, 256, 1), point(500), point(500)];
    let slab = Hyperslab::new(column, &EXTENTS).unwrap();
    let read = cost(&meter, &catalog, &slab, Coalesce::NONE);
    assert!(read <= 256 * 256 * 4, "{read} bytes for a column of 256 elements");
}

#[test]
fn a_tiled_box_costs_the_rows_it_touches() {
    let (meter, catalog) = gibibyte([7, 200, 300]);
    let bounds = vec![slice(10, 20, 1), slice(150, 260, 1), slice(250, 350, 1)];
    let slab = Hyperslab::new(bounds, &EXTENTS).unwrap();
    let read = cost(&meter, &catalog, &slab, Coalesce::NONE);
    // 10 * 110 rows, each of them in two chunks of 300 elements.
    assert!(read <= 10 * 110 * 2 * 300 * 4, "{read} bytes for a box of 110,000 elements");
}

#[test]
fn a_strided_box_costs_the_rows_it_touches() {
    let (meter, catalog) = gibibyte([8, 256, 256]);
    let bounds = vec![slice(0, 256, 64), slice(0, 1024, 100), slice(300, 400, 10)];
    let slab = Hyperslab::new(bounds, &EXTENTS).unwrap();
    let read = cost(&meter, &catalog, &slab, Coalesce::NONE);
    // 4 * 11 rows of 256 elements in the one column of chunks that is touched, or two.
    assert!(read <= 4 * 11 * 2 * 256 * 4, "{read} bytes for a box of 440 elements");
}

#[test]
fn gaps_are_the_only_bytes_read_beside() {
    let (meter, catalog) = gibibyte([8, 256, 256]);
    let bounds = vec![slice(0, 16, 1), slice(0, 64, 4), slice(0, 256, 1)];
    let slab = Hyperslab::new(bounds, &EXTENTS).unwrap();
    let rows = 16 * 16 * 256 * 4;
    assert!(cost(&meter, &catalog, &slab, Coalesce::NONE) <= rows);
    let gaps = 16 * 16 * 3 * 256 * 4;
    assert!(cost(&meter, &catalog, &slab, Coalesce::DEFAULT) <= rows + gaps);
}
