//! Floats that were made integers: scaled, and dithered by known random numbers (sections 10.2 and 10.3, appendix I).

use std::sync::OnceLock;

/// Random numbers of the sequence.
const COUNT: usize = 10_000;
/// The integer that is zero in the second method.
const ZERO: i64 = -2_147_483_646;

/// Offsets that were subtracted from integers before they were rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dither {
    Nothing,
    Random,
    /// Random offsets, but zeros are kept.
    RandomButZeros,
}

/// How the integers of a tile become floats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quantum {
    pub(super) scale: f64,
    pub(super) zero: f64,
    /// The integer that is no number.
    pub(super) blank: Option<i64>,
    pub(super) dither: Dither,
    /// Where in the sequence the tile begins: the sum of ZDITHER0 and its row, which counts from zero.
    pub(super) seed: Option<u64>,
}

impl Quantum {
    /// Decoder of the integers of a tile to floats, which come in their order; `None` where it is not known where
    /// in the sequence they begin.
    #[allow(clippy::cast_precision_loss, reason = "integers of 32 bits are exact")]
    pub(super) fn floats(self) -> Option<impl FnMut(i64) -> f64> {
        let seed = if self.dither == Dither::Nothing { Some(1) } else { self.seed };
        let mut sequence = Sequence::new(seed?);
        Some(move |value| {
            let random = if self.dither == Dither::Nothing { None } else { Some(sequence.next()) };
            if self.blank == Some(value) {
                return f64::NAN;
            }
            match random {
                None => value as f64 * self.scale + self.zero,
                Some(_) if self.dither == Dither::RandomButZeros && value == ZERO => 0.0,
                Some(random) => (value as f64 - random + 0.5) * self.scale + self.zero,
            }
        })
    }
}

/// Numbers from 0 to 1: a generator of Park and Miller, as the standard states it.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "as in the standard"
)]
fn randoms() -> &'static [f32] {
    static RANDOMS: OnceLock<Vec<f32>> = OnceLock::new();
    RANDOMS.get_or_init(|| {
        let mut seed = 1_u64;
        let next = |_| {
            seed = seed * 16_807 % 2_147_483_647;
            (seed as f64 / 2_147_483_647.0) as f32
        };
        (0..COUNT).map(next).collect()
    })
}

/// The numbers of a tile, one for each pixel.
struct Sequence {
    randoms: &'static [f32],
    start: usize,
    at: usize,
}

impl Sequence {
    fn new(seed: u64) -> Sequence {
        let start = usize::try_from(seed.saturating_sub(1) % 10_000).unwrap_or(0);
        let mut sequence = Sequence { randoms: randoms(), start, at: 0 };
        sequence.restart();
        sequence
    }

    /// Begins at a place that the number at `start` says.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is 0 to 499")]
    fn restart(&mut self) {
        let random = self.randoms.get(self.start).copied().unwrap_or(0.0);
        self.at = (random * 500.0) as usize;
    }

    fn next(&mut self) -> f64 {
        let random = self.randoms.get(self.at).copied().unwrap_or(0.0);
        self.at += 1;
        if self.at == COUNT {
            self.start = (self.start + 1) % COUNT;
            self.restart();
        }
        f64::from(random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_number_is_that_of_the_standard() {
        let last = f64::from(*randoms().last().unwrap());
        assert!((last - 1_043_618_065.0 / 2_147_483_647.0).abs() < 1e-7);
        assert_eq!(randoms().len(), COUNT);
    }

    #[test]
    fn zeros_and_blanks_are_kept() {
        let dither = Dither::RandomButZeros;
        let quantum =
            Quantum { scale: 0.5, zero: 3.0, blank: Some(-1), dither, seed: Some(10_000) };
        let mut float = quantum.floats().unwrap();
        assert_eq!(float(ZERO), 0.0);
        assert!(float(-1).is_nan());
        let plain = Quantum { dither: Dither::Nothing, ..quantum };
        assert_eq!(plain.floats().unwrap()(7), 6.5);
        let (lost, plain) = (Quantum { seed: None, ..quantum }, Quantum { seed: None, ..plain });
        assert!(lost.floats().is_none() && plain.floats().is_some());
        // The sequence begins anew behind its end.
        (0..30_000).for_each(|_| assert!(float(0).is_finite()));
    }
}
