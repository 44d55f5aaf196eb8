//! Requests to servers that are made at the same time: they wait, and do not compute.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Does `work` for each number below `count`, on up to `depth` threads; the results by their numbers.
///
/// ```
/// assert_eq!(tet_io::at_once(3, 2, |nth| Ok::<_, ()>(nth * nth)), Ok(vec![0, 1, 4]));
/// ```
///
/// # Errors
///
/// Of what failed, the error with the lowest number. Nothing more is begun after a failure.
pub fn at_once<T: Send, E: Send>(
    count: usize,
    depth: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let worker = || {
        loop {
            let nth = next.fetch_add(1, Ordering::Relaxed);
            if count <= nth {
                break;
            }
            let result = work(nth);
            if result.is_err() {
                next.fetch_max(count, Ordering::Relaxed);
            }
            results.lock().unwrap_or_else(PoisonError::into_inner).push((nth, result));
        }
    };
    std::thread::scope(|scope| {
        let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, worker).is_ok();
        let _ = (1..depth.min(count)).all(spawn);
        worker();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(nth, _)| *nth);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_the_first_error_is_given() {
        for depth in [1, 3, 8] {
            assert_eq!(at_once(20, depth, |nth| Ok::<_, ()>(nth * 2)).unwrap()[19], 38);
            let failing = |nth| if nth < 7 { Ok(()) } else { Err(nth) };
            assert_eq!(at_once(20, depth, failing), Err(7));
        }
        assert_eq!(at_once(0, 8, |_| Err::<(), _>(())), Ok(vec![]));
    }
}
