//! Stated costs of queries are their costs: passes by bytes read, memory by bytes allocated.

use std::sync::Arc;

use tet_file::write::CodecChoice;
use tet_format::write::DatasetSpec;
use tet_format::{DType, Limits, Shape};
use tet_io::Source;
use tet_query::{
    Axes, AxisGroups, Catalog, Choice, Coalesce, Compare, Cost, Execution, Filter, Hyperslab,
    LazyArray, Method, NanPolicy, Number, Op, Params, Reduction, StatisticsPolicy, Transform,
    Window, WindowAlign, WindowMode,
};
use tet_tests::ask;
use tet_tests::meter::{Bytes, Meter};
use tet_tests::values::Seeded;
use tet_tests::written::{self, Written};

use crate::ALLOCATOR;

/// Bytes that any answer may take beside what was said: lists, plans, channels.
const SLACK_LEN: u64 = 1 << 20;

/// More elements than are put in order in memory; few; few rows that are long.
const SHAPES: [[u64; 2]; 3] = [[1100, 1000], [600, 8], [16, 8192]];

/// An open file that counts what is read of it.
struct World {
    meter: Arc<Meter<Bytes>>,
    catalog: Catalog,
}

/// Numbers of all sizes from one on: every digit of a rank tells some of them apart.
fn floats(count: u64) -> Vec<u8> {
    let mut seeded = Seeded(9);
    let float = |_| f64::from_bits(0x3ff0_0000_0000_0000 + (seeded.bits() >> 6));
    (0..count).map(float).flat_map(f64::to_le_bytes).collect()
}

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let datasets = SHAPES.map(|shape| Written {
        spec: DatasetSpec {
            name: format!("{shape:?}"),
            dtype: DType::Float64,
            shape: Shape::from(shape),
            chunk_shape: Shape::from([shape[0] / 10, shape[1]]),
        },
        elements: floats(shape.iter().product()),
    });
    let path = written::write(folder.path(), "x.tet", &datasets, CodecChoice::Raw);
    let meter = Arc::new(Meter::new(Bytes(std::fs::read(path).unwrap())));
    let catalog = ask::open(Source::from_reader(meter.clone()), Limits::default()).unwrap();
    // The first answer of a process also makes what later ones share: threads, kept memory.
    let (dataset, slab) = (&catalog.datasets()[1], Hyperslab::whole(&SHAPES[1]));
    drop(dataset.reduce(&slab, &Reduction::all(Op::Sum), &execution(1 << 30)).unwrap());
    World { meter, catalog }
}

fn execution(memory_budget: u64) -> Execution {
    // Passes over elements are counted, which statistics would spare.
    let statistics = StatisticsPolicy::Never;
    let coalesce = Coalesce::NONE;
    Execution { threads: 2, memory_budget, coalesce, statistics, ..Execution::default() }
}

impl World {
    /// Holds what was said of the passes against the bytes that `answer` reads; gives how many it makes.
    fn check(&self, what: &str, nth: usize, said: Cost, answer: impl FnOnce() -> u64) -> u64 {
        let dataset = &self.catalog.datasets()[nth];
        let slab = Hyperslab::whole(dataset.shape());
        let plan = tet_query::plan(dataset, &slab, Coalesce::NONE).unwrap();
        self.meter.reset();
        let (result_len, peak) = ALLOCATOR.peak_of(answer);
        // The index is read too, which is short.
        let made = (self.meter.read_len() + plan.stored_len / 4) / plan.stored_len;
        let passes = said.passes;
        assert!(passes.least <= made && made <= passes.most, "{what}: {made}, said {passes:?}");
        // States wait for their turn to merge, and lists grow by doubling.
        let held = 2 * said.memory_len + result_len + SLACK_LEN;
        assert!(peak as u64 <= held, "{what}: {peak} bytes are held, {held} were said");
        made
    }

    fn reduction(&self, nth: usize, reduction: &Reduction, how: &Execution) -> Cost {
        self.reduced(nth, reduction, how).0
    }

    /// Stated cost of a reduction, and the passes that it makes.
    fn reduced(&self, nth: usize, reduction: &Reduction, how: &Execution) -> (Cost, u64) {
        let dataset = &self.catalog.datasets()[nth];
        let slab = Hyperslab::whole(dataset.shape());
        self.meter.reset();
        let said = dataset.reduce_cost(&slab, reduction, how).unwrap();
        assert!(self.meter.read_len() < 64 << 10, "no element is read to tell");
        let what = format!("{reduction:?} within {}", how.memory_budget);
        let made = self.check(&what, nth, said, || {
            drop(dataset.reduce(&slab, reduction, how).unwrap());
            0
        });
        (said, made)
    }

    fn transform(&self, nth: usize, transform: Option<&Transform>, how: &Execution) -> Cost {
        let dataset = &self.catalog.datasets()[nth];
        let slab = Hyperslab::whole(dataset.shape());
        let choice = Choice::default();
        let said = LazyArray::cost(dataset, &slab, &choice, transform, how).unwrap();
        self.check(&format!("{transform:?}"), nth, said, || {
            let transform = transform.cloned();
            let lazy = LazyArray::new(dataset, &slab, choice, transform, how).unwrap();
            let whole = Hyperslab::whole(lazy.shape());
            lazy.read(&whole, how).unwrap().bytes().len() as u64
        });
        said
    }
}

fn with(op: Op, params: Params, axes: Axes) -> Reduction {
    Reduction { params, axes, ..Reduction::all(op) }
}

#[test]
fn reductions_make_the_passes_that_are_said() {
    let _turn = ALLOCATOR.alone();
    let world = world();
    let some = |axis| Axes::Some(vec![axis]);
    let bins = Params { bins: 7, ..Params::default() };
    let ranged = Params { range: Some((1.0, 2.0)), ..bins.clone() };
    for (reduction, wanted) in [
        (Reduction::all(Op::Count), 0),
        (Reduction::all(Op::Sum), 1),
        (Reduction::along(Op::Sum, [0]), 1),
        (Reduction::along(Op::Std, [1]), 1),
        (with(Op::Histogram, bins.clone(), Axes::All), 3),
        (with(Op::Histogram, bins, some(0)), 3),
        (with(Op::Histogram, ranged, Axes::All), 1),
        (Reduction::along(Op::Median, [0]), 1),
    ] {
        for nth in 0..SHAPES.len() {
            for memory_budget in [64 << 20, 1 << 30] {
                let said = world.reduction(nth, &reduction, &execution(memory_budget));
                assert!(said.passes.is_exact() && said.passes.most == wanted, "{reduction:?}");
            }
        }
    }
    for op in [Op::Covariance, Op::Correlation] {
        let said = world.reduction(1, &Reduction::along(op, [0]), &execution(1 << 30));
        assert_eq!(said.passes.most, 2);
        world.reduction(1, &Reduction::along(op, [1]), &execution(8 << 20));
    }
}

/// A budget that an answer is refused for is one that its cost is refused for, and no other.
#[test]
fn what_is_refused_is_refused_by_its_cost() {
    let _turn = ALLOCATOR.alone();
    let world = world();
    let bins = Params { bins: 7, ..Params::default() };
    let mut seen = [0; 2];
    for reduction in [
        Reduction::all(Op::Sum),
        Reduction::along(Op::Std, [1]),
        with(Op::Histogram, bins, Axes::All),
        Reduction::all(Op::Median),
        Reduction::along(Op::Median, [0]),
    ] {
        for (nth, dataset) in world.catalog.datasets().iter().enumerate() {
            let slab = Hyperslab::whole(dataset.shape());
            for log in (8..22).step_by(3) {
                let how = execution(1 << log);
                let said = dataset.reduce_cost(&slab, &reduction, &how).err();
                let found = dataset.reduce(&slab, &reduction, &how).err();
                let texts = [said, found].map(|error| error.map(|error| error.to_string()));
                seen[usize::from(texts[0].is_some())] += 1;
                assert_eq!(texts[0], texts[1], "{reduction:?} of {nth} in 2^{log}");
            }
        }
    }
    assert!(seen.iter().all(|&count| 5 < count), "{seen:?}");
}

/// Several reductions of the same cells are one pass, and each is as it is alone.
#[test]
fn reductions_together_take_one_pass() {
    let _turn = ALLOCATOR.alone();
    let world = world();
    let how = execution(1 << 30);
    let ops = [Op::Min, Op::Max, Op::Mean, Op::Std, Op::InfCount, Op::Sum, Op::ArgMax];
    for (nth, dataset) in world.catalog.datasets().iter().enumerate() {
        let slab = Hyperslab::whole(dataset.shape());
        for axes in [Axes::All, Axes::Some(vec![0]), Axes::Some(vec![1])] {
            let ask = |&op: &Op| with(op, Params::default(), axes.clone());
            let asked: Vec<Reduction> = ops.iter().map(ask).collect();
            let said = dataset.reduce_cost(&slab, &asked[3], &how).unwrap();
            let said = Cost { memory_len: said.memory_len * ops.len() as u64, ..said };
            let mut together = Vec::new();
            world.check("together", nth, said, || {
                together = dataset.reduce_all(&slab, &asked, &how).unwrap().value;
                0
            });
            for (found, asked) in together.iter().zip(&asked) {
                let alone = dataset.reduce(&slab, asked, &how).unwrap();
                assert_eq!(format!("{found:?}"), format!("{:?}", alone.value), "{asked:?}");
            }
            assert_eq!(together.len(), asked.len());
        }
    }
    // Reductions of more passes, or of other cells, have results too.
    let (dataset, slab) = (&world.catalog.datasets()[1], Hyperslab::whole(&SHAPES[1]));
    let asked = [
        Reduction::all(Op::Median),
        Reduction::all(Op::Sum),
        Reduction::along(Op::Sum, [1]),
        Reduction::all(Op::Count),
        Reduction::all(Op::Max),
    ];
    let together = dataset.reduce_all(&slab, &asked, &how).unwrap();
    for (found, asked) in together.iter().zip(&asked) {
        let alone = dataset.reduce(&slab, asked, &how).unwrap();
        assert_eq!(format!("{found:?}"), format!("{:?}", alone.value), "{asked:?}");
    }
}

#[test]
fn order_statistics_make_no_more_passes_than_are_said() {
    let _turn = ALLOCATOR.alone();
    let world = world();
    let q = Params { q: vec![0.1, 0.5, 0.9], ..Params::default() };
    let (quantiles, how) = (with(Op::Quantile, q, Axes::All), execution(1 << 30));
    // Few elements are put in order after one look.
    assert_eq!(world.reduction(1, &quantiles, &how).passes.most, 2);
    assert_eq!(world.reduction(1, &Reduction::all(Op::Median), &how).passes.most, 2);
    let many = world.reduction(0, &quantiles, &how).passes;
    assert!(many.least == 1 && 2 < many.most && many.most < 8, "{many:?}");
    world.reduction(0, &Reduction::all(Op::Median), &execution(4 << 20));
    // Cells whose elements the budget does not hold are sought one after the other.
    let rows = Reduction::along(Op::Median, [1]);
    assert!(!world.reduction(2, &rows, &execution(300 << 10)).passes.is_exact());
    assert!(world.reduction(2, &rows, &how).passes.is_exact());
}

#[test]
fn groups_and_windows_make_the_passes_that_are_said() {
    let _turn = ALLOCATOR.alone();
    let world = world();
    let how = execution(1 << 30);
    let count = SHAPES[0][0];
    let groups = AxisGroups {
        axis: 0,
        group_of: (0..count).map(|at| u32::try_from(at % 2).unwrap()).collect(),
        labels: ["a", "b"].map(str::to_owned).to_vec().into(),
        by: None,
    };
    let grouped = |op| Reduction { groups: vec![groups.clone()], ..Reduction::along(op, [1]) };
    assert_eq!(world.reduction(0, &grouped(Op::Mean), &how).passes.most, 1);
    // Two groups, each of them sought among all positions; a small budget holds few candidates. Numbers that differ in
    // their last bits alone would take 10 passes.
    let (sought, made) = world.reduced(0, &grouped(Op::Median), &execution(8 << 20));
    assert_eq!((sought.passes.least, sought.passes.most, made), (2, 10, 4));
    let tests = vec![(Compare::Gt, Number::Float(1.5))];
    let filter = Some(Filter { tests, ..Filter::default() });
    // Elements of overlapping windows are used more than once: their chunks are compared before.
    for (filter, wanted) in [(None, 2), (filter, 4)] {
        let window = Some(Window {
            axis: 0,
            size: 4,
            step: 1,
            mode: WindowMode::Rolling,
            pad: None,
            align: WindowAlign::Start,
            min_count: Some(2),
        });
        let reduction = Reduction { window, filter, ..Reduction::along(Op::Mean, []) };
        assert_eq!(world.reduction(0, &reduction, &how).passes.most, wanted);
    }
}

#[test]
fn transforms_make_the_passes_that_are_said() {
    let _turn = ALLOCATOR.alone();
    let world = world();
    let how = execution(1 << 30);
    for nth in 0..SHAPES.len() {
        assert_eq!(world.transform(nth, None, &how).passes.most, 1);
        for &method in Method::ALL {
            for axes in [Axes::All, Axes::Some(vec![0]), Axes::Some(vec![1])] {
                let transform = Transform { method, axes, nan: NanPolicy::Propagate };
                let said = world.transform(nth, Some(&transform), &how).passes;
                let wanted = match method {
                    Method::Log1p | Method::Sqrt => 1,
                    Method::ZScore | Method::MinMax | Method::Softmax => 3,
                    _ => 2,
                };
                assert!(said.is_exact() && said.most == wanted, "{method:?}: {said:?}");
            }
        }
    }
}
