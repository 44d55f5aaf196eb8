//! Laws of reductions whatever the elements, the shape, the chunks and the selection.

use proptest::prelude::*;
use tet_query::{
    Axes, Axis, AxisGroups, AxisSlice, Catalog, Compare, Filter, Hyperslab, NanPolicy, Number, Op,
    Params, Reduction, Scalar, Window, WindowAlign, WindowMode,
};
use tet_tests::ask;
use tet_tests::assemble::{Dataset, Sheet, Stored};
use tet_tests::values::Seeded;

/// Kinds of elements.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// 64-bit integers of any size.
    Integers,
    /// Singles of many magnitudes, some of them NaN.
    Singles,
    /// Doubles of many magnitudes.
    Doubles,
}

/// A dataset by its numbers.
#[derive(Clone, Debug)]
struct World {
    kind: Kind,
    shape: Vec<u64>,
    chunk_shape: Vec<u64>,
    stored: Stored,
    seed: u64,
}

impl World {
    fn elements(&self) -> Vec<u8> {
        let mut seeded = Seeded(self.seed);
        let mut out = Vec::new();
        for _ in 0..self.shape.iter().product::<u64>() {
            let (bits, power) = (seeded.bits(), i32::try_from(seeded.below(60)).unwrap() - 30);
            let double = (bits as i64) as f64 * 2_f64.powi(power - 62);
            match self.kind {
                Kind::Integers => out.extend(((bits as i64) >> (power + 30)).to_le_bytes()),
                Kind::Singles if bits.is_multiple_of(11) => out.extend(f32::NAN.to_le_bytes()),
                Kind::Singles => out.extend((double as f32).to_le_bytes()),
                Kind::Doubles => out.extend(double.to_le_bytes()),
            }
        }
        out
    }

    /// The sum of all magnitudes.
    fn magnitude(&self) -> f64 {
        let bytes = self.elements();
        let number = |element: &[u8]| match self.kind {
            Kind::Integers => i64::from_le_bytes(element.try_into().unwrap()) as f64,
            Kind::Singles => f32::from_le_bytes(element.try_into().unwrap()).into(),
            Kind::Doubles => f64::from_le_bytes(element.try_into().unwrap()),
        };
        let len = if self.kind == Kind::Singles { 4 } else { 8 };
        bytes.chunks(len).map(number).filter(|number| !number.is_nan()).map(f64::abs).sum()
    }

    fn catalog(&self) -> Catalog {
        catalog_of(self.kind, &self.shape, &self.chunk_shape, self.stored, self.elements())
    }
}

fn catalog_of(
    kind: Kind,
    shape: &[u64],
    chunk_shape: &[u64],
    stored: Stored,
    elements: Vec<u8>,
) -> Catalog {
    let (tag, len) = match kind {
        Kind::Integers => (4, 8),
        Kind::Singles => (1, 4),
        Kind::Doubles => (2, 8),
    };
    let dataset =
        Dataset::new("a", tag, len, shape).chunked(chunk_shape).stored(stored).elements(elements);
    ask::open_bytes(&Sheet::new(&[dataset]).assemble().bytes).unwrap()
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::Integers), Just(Kind::Singles), Just(Kind::Doubles)]
}

fn worlds(kinds: impl Strategy<Value = Kind>) -> impl Strategy<Value = World> {
    let stored = prop_oneof![Just(Stored::Raw), Just(Stored::Frame)];
    let shapes = prop::collection::vec(1..9_u64, 1..4);
    (kinds, shapes, stored, any::<u64>()).prop_flat_map(|(kind, shape, stored, seed)| {
        chunkings(shape.clone()).prop_map(move |chunk_shape| {
            let shape = shape.clone();
            World { kind, shape, chunk_shape, stored, seed }
        })
    })
}

fn chunkings(shape: Vec<u64>) -> impl Strategy<Value = Vec<u64>> {
    shape.into_iter().map(|extent| 1..extent + 2).collect::<Vec<_>>()
}

/// A range of each axis.
fn slices(shape: Vec<u64>) -> impl Strategy<Value = Vec<AxisSlice>> {
    let one = |extent: u64| {
        (0..=extent, 0..=extent, 1..4_u64).prop_map(|(a, b, step)| AxisSlice {
            start: a.min(b),
            stop: a.max(b),
            step,
            axis: Axis::Kept,
        })
    };
    shape.into_iter().map(one).collect::<Vec<_>>()
}

/// A world, a selection of it and one of its axes.
fn asked(
    kinds: impl Strategy<Value = Kind>,
) -> impl Strategy<Value = (World, Vec<AxisSlice>, usize)> {
    worlds(kinds).prop_flat_map(|world| {
        let rank = world.shape.len();
        (slices(world.shape.clone()), 0..rank)
            .prop_map(move |(slices, axis)| (world.clone(), slices, axis))
    })
}

fn cells(catalog: &Catalog, slices: &[AxisSlice], reduction: &Reduction) -> Vec<Scalar> {
    let dataset = &catalog.datasets()[0];
    let slab = Hyperslab::new(slices.to_vec(), dataset.shape()).unwrap();
    let reduced = dataset.reduce(&slab, reduction, &ask::small()).unwrap();
    (0..reduced.values.len()).map(|at| reduced.values.get(at).unwrap()).collect()
}

fn int(scalar: Scalar) -> i128 {
    if let Scalar::Int(integer) = scalar { integer } else { panic!("{scalar:?}") }
}

fn float(scalar: Scalar) -> f64 {
    scalar.to_f64().unwrap_or(f64::NAN)
}

fn total(scalars: &[Scalar]) -> i128 {
    scalars.iter().map(|&scalar| int(scalar)).sum()
}

/// Equal as far as sums of doubles are; NaN equals NaN.
fn near(a: f64, b: f64, magnitude: f64) -> bool {
    (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-13 * magnitude
}

fn bins(axis: usize, size: u64, align: WindowAlign) -> Window {
    Window { axis, size, step: size, mode: WindowMode::Bins, pad: None, align, min_count: None }
}

/// As many labels in turn as `groups`.
fn grouped(op: Op, axis: usize, count: u64, groups: u32) -> Reduction {
    let group_of = (0..count).map(|nth| u32::try_from(nth).unwrap() % groups).collect();
    let labels = (0..groups).map(|group| group.to_string()).collect();
    Reduction {
        groups: vec![AxisGroups { axis, group_of, labels, by: None }],
        ..Reduction::all(op)
    }
}

fn quantile(q: f64) -> Reduction {
    let params = Params { q: vec![q], one_q: true, ..Params::default() };
    Reduction { params, ..Reduction::all(Op::Quantile) }
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_mean_is_a_sum_by_a_count((world, slices, axis) in asked(kinds()), skip in any::<bool>()) {
        let catalog = world.catalog();
        let nan = if skip { NanPolicy::Skip } else { NanPolicy::Propagate };
        let along = |op| cells(&catalog, &slices, &Reduction::along(op, [axis]).with_nan(nan));
        let (means, sums, counts) = (along(Op::Mean), along(Op::Sum), along(Op::Count));
        let magnitude = world.magnitude();
        for ((mean, sum), count) in means.into_iter().zip(sums).zip(counts) {
            match int(count) {
                0 => prop_assert_eq!(mean, Scalar::Null),
                count => prop_assert!(near(float(mean), float(sum) / count as f64, magnitude)),
            }
        }
    }

    #[test]
    fn groups_sum_to_the_whole((world, slices, axis) in asked(kinds()), groups in 1..5_u32) {
        let catalog = world.catalog();
        let by = |op| grouped(op, axis, slices[axis].count(), groups);
        let whole = |op| cells(&catalog, &slices, &Reduction::all(op));
        let (sums, counts) = (by(Op::Sum), by(Op::Count));
        let counts = cells(&catalog, &slices, &counts);
        prop_assert_eq!(total(&counts), int(whole(Op::Count)[0]));
        let sums = cells(&catalog, &slices, &sums);
        if world.kind == Kind::Integers {
            prop_assert_eq!(total(&sums), int(whole(Op::Sum)[0]));
        } else {
            let sum = sums.iter().map(|&sum| float(sum)).sum();
            let magnitude = world.magnitude();
            prop_assert!(near(sum, float(whole(Op::Sum)[0]), magnitude), "{:?}", sums);
        }
    }

    #[test]
    fn bins_cover_an_axis(
        (world, slices, axis) in asked(kinds()),
        size in 1..7_u64,
        end in any::<bool>(),
        least in 0..4_u64,
    ) {
        let catalog = world.catalog();
        let align = if end { WindowAlign::End } else { WindowAlign::Start };
        let other = Axes::Some((0..world.shape.len()).filter(|&at| at != axis).collect());
        let window = Some(bins(axis, size, align));
        let of = |op| Reduction { axes: other.clone(), window: window.clone(), ..Reduction::all(op) };
        let whole = |op| cells(&catalog, &slices, &Reduction::all(op));
        let counts = cells(&catalog, &slices, &of(Op::Count));
        prop_assert_eq!(counts.len() as u64, slices[axis].count().div_ceil(size));
        prop_assert_eq!(total(&counts), int(whole(Op::Count)[0]));
        let sums = cells(&catalog, &slices, &of(Op::Sum));
        if world.kind == Kind::Integers {
            prop_assert_eq!(total(&sums), int(whole(Op::Sum)[0]));
        } else {
            let sum = sums.iter().map(|&sum| float(sum)).sum();
            prop_assert!(near(sum, float(whole(Op::Sum)[0]), world.magnitude()));
        }
        // A window with too few elements is null, and no other is.
        let mut asked = of(Op::Sum);
        asked.window = window.map(|window| Window { min_count: Some(least), ..window });
        for (sum, count) in cells(&catalog, &slices, &asked).into_iter().zip(counts) {
            prop_assert_eq!(sum == Scalar::Null, int(count) < i128::from(least));
        }
    }

    #[test]
    fn a_filter_and_its_complement_part_the_elements(
        (world, slices, axis) in asked(kinds()),
        limit in -1e6..1e6_f64,
    ) {
        let catalog = world.catalog();
        let passing = |op, filter| {
            let filter = Some(filter);
            cells(&catalog, &slices, &Reduction { filter, ..Reduction::along(op, [axis]) })
        };
        let test = |compare| Filter {
            tests: vec![(compare, Number::Float(limit))],
            ..Filter::default()
        };
        let parts = [test(Compare::Lt), test(Compare::Ge)];
        let nan = Filter { is_null: true, ..Filter::default() };
        let count = |filter: &Filter| passing(Op::Count, filter.clone());
        let whole = cells(&catalog, &slices, &Reduction::along(Op::Count, [axis]));
        let counts: Vec<Vec<Scalar>> = parts.iter().chain([&nan]).map(count).collect();
        for (cell, &all) in whole.iter().enumerate() {
            let parts: Vec<Scalar> = counts.iter().map(|counts| counts[cell]).collect();
            prop_assert_eq!(total(&parts), int(all), "{:?}", parts);
        }
        if world.kind == Kind::Integers {
            let sums = parts.map(|filter| passing(Op::Sum, filter));
            let whole = cells(&catalog, &slices, &Reduction::along(Op::Sum, [axis]));
            for (cell, &all) in whole.iter().enumerate() {
                prop_assert_eq!(int(sums[0][cell]) + int(sums[1][cell]), int(all));
            }
        }
    }

    #[test]
    fn what_is_exact_does_not_depend_on_the_chunks(
        ((world, slices, axis), chunk_shape) in asked(kinds()).prop_flat_map(|asked| {
            let shape = asked.0.shape.clone();
            (Just(asked), chunkings(shape))
        }),
    ) {
        let other = World { chunk_shape, ..world.clone() };
        let (one, two) = (world.catalog(), other.catalog());
        let same = |reduction: Reduction| {
            let bits = |catalog| format!("{:?}", cells(catalog, &slices, &reduction));
            prop_assert_eq!(bits(&one), bits(&two), "{:?} of {:?}", reduction, world);
            Ok(())
        };
        for op in [Op::Count, Op::Min, Op::Max, Op::ArgMin, Op::ArgMax, Op::Median, Op::NanCount] {
            same(Reduction::all(op))?;
            same(Reduction::along(op, [axis]))?;
            same(Reduction::along(op, [axis]).with_nan(NanPolicy::Skip))?;
        }
        if world.kind != Kind::Doubles {
            same(Reduction::all(Op::Sum).with_nan(NanPolicy::Skip))?;
            same(Reduction::all(Op::Mean).with_nan(NanPolicy::Skip))?;
        }
        if world.kind == Kind::Integers {
            same(Reduction::along(Op::Sum, [axis]))?;
            same(grouped(Op::Sum, axis, slices[axis].count(), 3))?;
        }
    }

    #[test]
    fn a_selection_of_a_selection_is_a_selection(
        (world, outer, axis, inner) in asked(kinds()).prop_flat_map(|(world, outer, axis)| {
            let counts = outer.iter().map(AxisSlice::count).collect();
            (Just(world), Just(outer), Just(axis), slices(counts))
        }),
    ) {
        let catalog = world.catalog();
        let dataset = &catalog.datasets()[0];
        let slab = Hyperslab::new(outer.clone(), dataset.shape()).unwrap();
        let part = dataset.read(&slab, &ask::small()).unwrap();
        let counts = slab.counts();
        let elements = part.bytes().to_vec();
        let again = catalog_of(world.kind, &counts, &world.chunk_shape, world.stored, elements);
        let both = outer.iter().zip(&inner).map(|(outer, inner)| {
            let at = |nth: u64| outer.start + nth * outer.step;
            let step = outer.step * inner.step;
            // Past the last position that is taken, and no farther.
            let stop = inner.last().map_or(at(inner.start).min(outer.stop), |last| at(last) + 1);
            AxisSlice { start: at(inner.start).min(stop), stop, step, axis: Axis::Kept }
        });
        let both: Vec<AxisSlice> = both.collect();
        for reduction in [Reduction::along(Op::Max, [axis]), Reduction::all(Op::ArgMin)] {
            let [once, twice] = [(&catalog, &both), (&again, &inner)]
                .map(|(catalog, slices)| format!("{:?}", cells(catalog, slices, &reduction)));
            prop_assert_eq!(once, twice);
        }
    }

    #[test]
    fn windows_of_one_are_the_elements((world, slices, axis) in asked(kinds())) {
        let catalog = world.catalog();
        let window =
            Window { mode: WindowMode::Rolling, ..bins(axis, 1, WindowAlign::Start) };
        let rolling = Reduction {
            axes: Axes::Some(vec![]),
            window: Some(window),
            ..Reduction::all(Op::Max)
        };
        let dataset = &catalog.datasets()[0];
        let slab = Hyperslab::new(slices.clone(), dataset.shape()).unwrap();
        let array = dataset.read(&slab, &ask::small()).unwrap();
        let wanted: Vec<Scalar> = (0..array.len()).map(|at| array.get(at).unwrap()).collect();
        let found = cells(&catalog, &slices, &rolling);
        let values = |scalars: &[Scalar]| {
            scalars.iter().map(|&it| (float(it) + 0.0).to_string()).collect::<Vec<_>>()
        };
        prop_assert_eq!(values(&found), values(&wanted));
    }

    #[test]
    fn the_outermost_quantiles_are_the_extrema((world, slices, _) in asked(kinds())) {
        let catalog = world.catalog();
        let of = |reduction: Reduction| {
            let cell = cells(&catalog, &slices, &reduction.with_nan(NanPolicy::Skip))[0];
            cell.to_f64().map(|value| value + 0.0)
        };
        prop_assert_eq!(of(quantile(0.0)), of(Reduction::all(Op::Min)));
        prop_assert_eq!(of(quantile(1.0)), of(Reduction::all(Op::Max)));
    }

    #[test]
    fn a_deviation_is_the_root_of_a_variance((world, slices, axis) in asked(kinds())) {
        let catalog = world.catalog();
        let of = |op| cells(&catalog, &slices, &Reduction::along(op, [axis]));
        for (variance, deviation) in of(Op::Var).into_iter().zip(of(Op::Std)) {
            let (found, wanted) = (float(deviation), float(variance).sqrt());
            prop_assert!(near(found, wanted, wanted), "{} {}", found, wanted);
        }
    }
}
