//! Pages of a file that stay in memory once they were read, up to a number of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Result;

/// Pages that are kept: of rows they take 852 kB each, of digests 98 kB.
const PAGES_MAX: usize = 64;

/// A page, or nothing before it was read. Its lock is held while it is read.
type Slot<T> = Arc<Mutex<Option<Arc<T>>>>;

/// Pages by number.
#[derive(Debug)]
pub(crate) struct Kept<T>(Mutex<BTreeMap<u64, Slot<T>>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept(Mutex::default())
    }
}

impl<T> Kept<T> {
    /// The page of this number, which is read when it is not there. Only threads that want the same
    /// page wait for the read.
    pub(crate) fn get(&self, page: u64, read: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let slot = self.slot(page);
        let mut held = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = &*held {
            return Ok(Arc::clone(held));
        }
        Ok(Arc::clone(held.insert(Arc::new(read()?))))
    }

    fn slot(&self, page: u64) -> Slot<T> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if PAGES_MAX <= pages.len() && !pages.contains_key(&page) {
            pages.pop_first();
        }
        Arc::clone(pages.entry(page).or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_page_is_read_while_another_one_is_read() {
        let kept = Kept::default();
        let (other_is_read, wait) = channel();
        std::thread::scope(|scope| {
            let kept = &kept;
            let (started, has_started) = channel();
            scope.spawn(move || {
                let page = kept.get(0, || {
                    started.send(()).unwrap();
                    wait.recv_timeout(Duration::from_secs(20)).expect("page 1 is read meanwhile");
                    Ok(0)
                });
                assert_eq!(*page.unwrap(), 0);
            });
            has_started.recv().unwrap();
            assert_eq!(*kept.get(1, || Ok(1)).unwrap(), 1);
            other_is_read.send(()).unwrap();
        });
    }

    #[test]
    fn a_page_is_read_once_and_again_after_an_error() {
        let kept = Kept::default();
        let failed =
            || tet_io::Error::io(tet_io::Step::Stat, "x".as_ref(), ErrorKind::Other.into());
        assert!(kept.get(3, || Err(failed().into())).is_err());
        assert_eq!(*kept.get(3, || Ok(7)).unwrap(), 7);
        assert_eq!(*kept.get(3, || Ok(8)).unwrap(), 7);
    }

    #[test]
    fn no_more_pages_are_kept_than_the_limit() {
        let kept = Kept::default();
        (0..1000).for_each(|page| drop(kept.get(page, || Ok(page))));
        assert_eq!(kept.0.lock().unwrap().len(), PAGES_MAX);
    }
}
