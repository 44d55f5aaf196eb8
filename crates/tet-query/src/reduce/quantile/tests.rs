//! The search against a sort, with tiny digits and few candidates so that it takes many passes.

use half::{bf16, f16};
use proptest::prelude::*;

use super::*;
use crate::element::Element;
use crate::interpolation::Between;
use crate::kernel::{At, Maker, Runs, rank_maker};

/// A selection in memory, folded in parts.
struct Memory<T> {
    elements: Vec<T>,
    part: usize,
    passes: Vec<RankStep>,
    tuning: Tuning,
}

impl<T: Element> Passing for Memory<T> {
    fn run(&mut self, step: RankStep, pass: &Pass) -> Result<(Values, Option<u64>)> {
        self.passes.push(step);
        assert!(self.passes.len() < 100, "the search ends");
        let setup = Setup { digits: pass.clone(), ..Setup::default() };
        let maker: Maker = rank_maker(T::DTYPE, step, setup, None).expect("numbers");
        let mut state = maker.make(1);
        for part in self.elements.chunks(self.part) {
            let mut later = maker.make(1);
            let runs = Runs { count: 1, len: part.len(), distance: 0, cells: 0, index: 0 };
            later.fold_runs(At::default(), runs, bytemuck::cast_slice(part));
            state.merge(later);
        }
        let nan_count = state.nan_count();
        let values = state.finish()?;
        assert_eq!(values.len(), maker.width, "a kernel gives what it says");
        Ok((values, nan_count))
    }

    fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    fn changed(&self) -> Error {
        Error::Canceled
    }
}

fn sorted<T: Ranked>(elements: &[T]) -> Vec<f64> {
    let wide = elements.iter().map(|element| element.wide());
    let mut sorted: Vec<f64> = wide.filter(|value| !value.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn check<T: Ranked>(elements: Vec<T>, part: usize, setup: &Setup, tuning: Tuning) {
    let sorted = sorted(&elements);
    let nans = (elements.len() - sorted.len()) as u64;
    let mut memory = Memory { elements, part, passes: Vec::new(), tuning };
    let found = quantiles(T::DTYPE, setup, &mut memory).expect("numbers").expect("no pass fails");
    let outlook =
        outlook(T::DTYPE, memory.elements.len() as u64, setup.q.len(), &tuning).expect("numbers");
    assert!(memory.passes.len() as u64 <= outlook.passes.most, "{:?} {outlook:?}", memory.passes);
    assert!(
        found.nan_count.is_none_or(|count| count == nans)
            && found.nan_count.is_some() == T::DTYPE.is_float()
    );
    let spoiled = nans > 0 && setup.nan == NanPolicy::Propagate;
    let null = sorted.is_empty() && !spoiled;
    assert_eq!(found.values.nulls, null.then(|| vec![true; setup.q.len()]));
    if null {
        return;
    }
    let Cells::Float(values) = found.values.cells else { panic!("floats") };
    for (&value, place) in values.iter().zip(&setup.q) {
        let wanted = if spoiled {
            f64::NAN
        } else {
            let place = quantile_positions(sorted.len() as u64, &[*place], setup.between)[0];
            place.value(|at| sorted[at as usize])
        };
        assert!(value == wanted || value.is_nan() && wanted.is_nan(), "{value}, not {wanted}");
    }
    assert_eq!(values.len(), setup.q.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_search_finds_what_a_sort_does(
        (len, part) in (0..2000_usize, 1..700_usize),
        spread in prop_oneof![Just(u64::MAX), Just(1 << 40), Just(1000), Just(3), Just(1)],
        base in prop_oneof![Just(0_u64), any::<u64>()],
        q in proptest::collection::vec(prop_oneof![0.0..=1.0_f64, Just(0.0), Just(1.0)], 1..30),
        between in prop_oneof![Just(Between::Line), Just(Between::Middle)],
        nan in prop_oneof![Just(NanPolicy::Skip), Just(NanPolicy::Propagate)],
        seed in any::<u64>(),
    ) {
        let mut random = seed | 1;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            base.wrapping_add(random.wrapping_mul(0x2545_f491_4f6c_dd1d) % spread)
        };
        let bits: Vec<u64> = (0..len).map(|_| next()).collect();
        let setup = Setup { q, between, nan, ..Setup::default() };
        macro_rules! each {
            ($($from:expr),+) => {$(
                check(bits.iter().map($from).collect(), part, &setup, Tuning::SMALL);
            )+};
        }
        each!(
            |&b| f64::from_bits(b), |&b| b as f64, |&b| f32::from_bits(b as u32),
            |&b| f16::from_bits(b as u16), |&b| bf16::from_bits(b as u16),
            |&b| b, |&b| b as i64, |&b| b as u32, |&b| b as i32, |&b| b as u16, |&b| b as i16,
            |&b| b as u8, |&b| b as i8
        );
    }
}

#[test]
fn digits_of_production_find_what_a_sort_does() {
    let setup = Setup { q: vec![0.0, 0.25, 0.5, 0.9, 1.0], ..Setup::default() };
    let hashed = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for candidates_max in [20, 1 << 20] {
        let tuning = Tuning { candidates_max, ..Tuning::default() };
        check((0..3000).map(|n| hashed(n) as i64).collect(), 700, &setup, tuning);
        check((0..3000).map(|n| hashed(n) as u32 % 1000).collect(), 700, &setup, tuning);
        check((0..3000).map(|n| (hashed(n) >> 20) as f64).collect(), 700, &setup, tuning);
    }
}

#[test]
fn many_equal_elements_take_one_pass() {
    let setup = Setup { q: vec![0.3], ..Setup::default() };
    for value in [0.0, -0.0, 5e-324, 1e300, f64::NEG_INFINITY] {
        let mut memory = Memory {
            elements: vec![value; 1000],
            part: 300,
            passes: Vec::new(),
            tuning: Tuning::SMALL,
        };
        let found = quantiles(DType::Float64, &setup, &mut memory).expect("numbers");
        assert_eq!(found.expect("no pass fails").values.len(), 1);
        assert_eq!(memory.passes, [RankStep::Digits]);
    }
}

#[test]
fn elements_that_change_between_passes_are_noticed() {
    struct Changing(Memory<i32>, i32);
    impl Passing for Changing {
        fn run(&mut self, step: RankStep, pass: &Pass) -> Result<(Values, Option<u64>)> {
            let result = self.0.run(step, pass);
            self.0.elements.iter_mut().for_each(|element| *element = element.wrapping_add(self.1));
            result
        }
        fn tuning(&self) -> &Tuning {
            &Tuning::SMALL
        }
        fn changed(&self) -> Error {
            Error::Canceled
        }
    }
    for by in [1, 100_000, 1 << 30, -7] {
        for len in [10, 30, 1000] {
            let elements = (0..len).map(|at| at * 1000).collect();
            let mut passes = Changing(
                Memory { elements, part: 99, passes: Vec::new(), tuning: Tuning::SMALL },
                by,
            );
            let setup = Setup { q: vec![0.0, 0.3, 1.0], ..Setup::default() };
            let found = quantiles(DType::Int32, &setup, &mut passes).expect("numbers");
            assert!(matches!(found, Err(Error::Canceled)), "{by} {len}: {found:?}");
        }
    }
}
