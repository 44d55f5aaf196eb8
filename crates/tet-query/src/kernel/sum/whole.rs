//! The sum of a whole selection of float32, float16 or bfloat16: exact, rounded once.

use super::SumKernel;
use super::exact::fold_exact;
use super::fixed::FixedF32;
use crate::element::Single;
use crate::error::Result;
use crate::kernel::special::{NonFinite, Specials};
use crate::kernel::{At, Kernel, Lanes, Setup, floats};
use crate::value::Values;

/// Exact sums; meant for one cell, right for any number of them.
#[derive(Debug)]
pub(crate) struct ExactSum {
    sums: Vec<FixedF32>,
    specials: Specials,
    room: Vec<f32>,
}

impl<T: Single> Kernel<T> for ExactSum {
    fn new(cell_count: usize, setup: &Setup) -> Self {
        Self {
            sums: vec![FixedF32::new(); cell_count],
            specials: Specials::new(cell_count, setup.nan),
            room: vec![0.0; T::ROOM_LEN],
        }
    }

    fn fold_run(&mut self, at: At, elements: &[T]) {
        let cell = at.cell;
        let mut found = NonFinite::default();
        fold_exact(elements, &mut self.room, &mut self.sums[cell], &mut found);
        self.specials.note(cell, found);
    }

    fn fold_lanes(&mut self, at: At, lanes: Lanes, elements: &[T]) {
        for row in lanes.rows(elements) {
            for (lane, element) in row.chunks(1).enumerate() {
                let at = At { cell: at.cell + lane, ..at };
                Kernel::<T>::fold_run(self, at, element);
            }
        }
    }

    fn take(&mut self, cell: usize, later: &Self, from: usize) {
        self.sums[cell].merge(&later.sums[from]);
        self.specials.take(cell, &later.specials, from);
    }

    fn merge(&mut self, later: Self) {
        self.sums.iter_mut().zip(&later.sums).for_each(|(to, from)| to.merge(from));
        self.specials.merge(later.specials);
    }

    fn nan_count(&self) -> Option<u64> {
        Some(self.specials.nan_count())
    }

    fn finish(self) -> Result<Values> {
        let total = |(cell, sum): (usize, &FixedF32)| self.specials.resolve(cell, sum.round());
        Ok(floats(self.sums.iter().enumerate().map(total).collect()))
    }
}

impl<T: Single> SumKernel<T> for ExactSum {
    fn means(self, counts: &[u64]) -> Vec<f64> {
        let mean = |(cell, &count): (usize, &u64)| match count {
            0 => 0.0,
            count => self.specials.resolve(cell, self.sums[cell].mean(count)),
        };
        counts.iter().enumerate().map(mean).collect()
    }

    fn nan_count_of(&self, cell: usize) -> u64 {
        self.specials.nan_count_of(cell)
    }
}
