//! A request that is made again, after a wait that doubles. None is made when the caller canceled.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::time::{Duration, Instant};

use tet_io::{Error, Operation, Result};

use crate::ranges::{FileVersion, RangeAnswer, RangeFailure, RangeSource, Wanted};
use crate::settings::Settings;

/// A server that wants a longer wait gets no further request.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// How often a wait looks whether the caller asks to stop.
const TICK: Duration = Duration::from_millis(50);

/// Makes a request until it succeeds, or fails for good.
pub(crate) fn get(
    ranges: &dyn RangeSource,
    wanted: Wanted,
    pinned: Option<&FileVersion>,
    out: &mut Vec<u8>,
    settings: &Settings,
) -> Result<RangeAnswer> {
    let step = if pinned.is_some() { Operation::Read } else { Operation::Open };
    let begin = out.len();
    repeated(ranges.name(), step, settings, || {
        out.truncate(begin);
        ranges.get(wanted, pinned, out)
    })
}

/// Does something until it succeeds, or fails for good.
pub(crate) fn repeated<T>(
    path: &str,
    step: Operation,
    settings: &Settings,
    mut attempt: impl FnMut() -> Result<T, RangeFailure>,
) -> Result<T> {
    let failed = |error| Error::io(step, path.as_ref(), error);
    let settings = &settings.of_thread();
    for nth in 1.. {
        settings.progress.check().map_err(|canceled| failed(io::Error::other(canceled)))?;
        let (error, after) = match attempt() {
            Ok(answer) => return Ok(answer),
            Err(RangeFailure::Changed) => return Err(Error::Changed { path: path.into() }),
            Err(RangeFailure::Final(error)) => return Err(failed(error)),
            Err(RangeFailure::Region(region)) => {
                let text = format!("the bucket is in the region {region}; set AWS_REGION to it");
                return Err(failed(io::Error::other(text)));
            }
            Err(RangeFailure::Later { error, after }) => (error, after),
        };
        let wait = after.unwrap_or_default().max(pause(settings.backoff, nth));
        if settings.tries <= nth || WAIT_MAX < wait {
            let text = if nth == 1 { error.to_string() } else { format!("{error}, {nth} times") };
            return Err(failed(io::Error::new(error.kind(), text)));
        }
        sleep(wait, settings);
    }
    Err(failed(io::ErrorKind::TimedOut.into()))
}

/// Waits, at most until the caller asks to stop.
fn sleep(wait: Duration, settings: &Settings) {
    let end = Instant::now() + wait;
    while let Some(left) = end.checked_duration_since(Instant::now())
        && !settings.progress.is_canceled()
    {
        std::thread::sleep(left.min(TICK));
    }
}

/// The wait after the try number `nth`, between the half and the whole of what doubles each time, so
/// that clients that failed together do not come back together.
fn pause(backoff: Duration, nth: u32) -> Duration {
    let whole = backoff.saturating_mul(1_u32 << (nth - 1).min(10));
    let share = RandomState::new().hash_one(nth) % 512;
    whole.mul_f64(0.5 + f64::from(u16::try_from(share).unwrap_or(0)) / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_differ() {
        let backoff = Duration::from_millis(100);
        for (nth, whole) in [(1, 100), (2, 200), (3, 400), (4, 800)] {
            let whole = Duration::from_millis(whole);
            let pauses: Vec<_> = (0..20).map(|_| pause(backoff, nth)).collect();
            assert!(pauses.iter().all(|it| whole / 2 <= *it && *it <= whole));
            assert!(pauses.iter().any(|it| it != &pauses[0]));
        }
        assert!(pause(backoff, u32::MAX) < Duration::from_secs(200));
    }
}
