//! Rounds of limit and work, interleaved.

use std::time::Instant;

use anyhow::Result;
use serde::Serialize;

/// Times of many rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rounds {
    /// The figure of the middle round.
    pub median: f64,
    /// The smallest figure.
    pub min: f64,
    /// The largest figure.
    pub max: f64,
    /// The shortest limit over the shortest work, or the shortest time: what a quiet machine gives.
    pub best: f64,
}

impl Rounds {
    /// One figure that needs no repetition.
    #[must_use]
    pub const fn once(figure: f64) -> Self {
        Self { median: figure, min: figure, max: figure, best: figure }
    }

    /// The time of the work over that of the limit, out of the opposite.
    #[must_use]
    pub fn inverted(self) -> Self {
        let Self { median, min, max, best } = self;
        Self { median: 1.0 / median, min: 1.0 / max, max: 1.0 / min, best: 1.0 / best }
    }

    /// The figures of one of `count` equal parts.
    #[must_use]
    pub fn each(self, count: f64) -> Self {
        let Self { median, min, max, best } = self;
        Self { median: median / count, min: min / count, max: max / count, best: best / count }
    }

    fn from_figures(mut figures: Vec<f64>, best: f64) -> Self {
        figures.sort_by(f64::total_cmp);
        let at = |i: usize| figures.get(i).copied().unwrap_or(f64::NAN);
        let last = figures.len().saturating_sub(1);
        Self { median: at(figures.len() / 2), min: at(0), max: at(last), best }
    }
}

/// The time of the limit, taken just before and just after the work, over the time of the work.
///
/// # Errors
///
/// Returns the first error of either; one round is run and thrown away before the first that counts.
pub fn paired(
    rounds: usize,
    mut limit: impl FnMut() -> Result<()>,
    mut work: impl FnMut() -> Result<()>,
) -> Result<Rounds> {
    limit()?;
    work()?;
    let mut ratios = Vec::with_capacity(rounds);
    let mut before = seconds(&mut limit)?;
    let (mut limit_min, mut work_min) = (before, f64::INFINITY);
    for _ in 0..rounds {
        let worked = seconds(&mut work)?;
        let after = seconds(&mut limit)?;
        ratios.push((before + after) / 2.0 / worked);
        before = after;
        (limit_min, work_min) = (limit_min.min(after), work_min.min(worked));
    }
    Ok(Rounds::from_figures(ratios, limit_min / work_min))
}

/// The microseconds of the work.
///
/// # Errors
///
/// Returns the first error of the work; one round is run and thrown away first.
pub fn times(rounds: usize, mut work: impl FnMut() -> Result<()>) -> Result<Rounds> {
    work()?;
    let taken: Result<Vec<f64>> = (0..rounds).map(|_| Ok(seconds(&mut work)? * 1e6)).collect();
    let taken = taken?;
    let best = taken.iter().copied().fold(f64::INFINITY, f64::min);
    Ok(Rounds::from_figures(taken, best))
}

/// How long something takes.
///
/// # Errors
///
/// Returns its error.
pub fn seconds(work: &mut impl FnMut() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}
