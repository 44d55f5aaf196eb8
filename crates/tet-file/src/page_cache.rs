//! A cache for a limited number of pages of a file.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Result;

/// The most cached pages: pages of rows take 852 kB each, of digests 98 kB.
const PAGES_MAX: usize = 64;

/// A page, or `None` before it is read. Its lock is locked during the read.
type Slot<T> = Arc<Mutex<Option<Arc<T>>>>;

/// Pages by number; the page that was used least recently is removed first.
#[derive(Debug)]
pub(crate) struct PageCache<T>(Mutex<Pages<T>>);

#[derive(Debug)]
struct Pages<T> {
    /// Each page with the number of its last use.
    slots: BTreeMap<u64, (u64, Slot<T>)>,
    use_count: u64,
}

impl<T> Default for PageCache<T> {
    fn default() -> Self {
        PageCache(Mutex::new(Pages { slots: BTreeMap::new(), use_count: 0 }))
    }
}

impl<T> PageCache<T> {
    /// The page of this number, read if it is not cached. Only threads that need the same page
    /// wait.
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
        let Pages { slots, use_count } = &mut *pages;
        *use_count = use_count.wrapping_add(1);
        if PAGES_MAX <= slots.len() && !slots.contains_key(&page) {
            let oldest = slots.iter().min_by_key(|(_, (last_use, _))| *last_use);
            let oldest = oldest.map(|(&page, _)| page);
            oldest.map(|oldest| slots.remove(&oldest));
        }
        let (last_use, slot) = slots.entry(page).or_default();
        *last_use = *use_count;
        Arc::clone(slot)
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
        let cache = PageCache::default();
        let (other_is_read, wait) = channel();
        std::thread::scope(|scope| {
            let cache = &cache;
            let (started, has_started) = channel();
            scope.spawn(move || {
                let page = cache.get(0, || {
                    started.send(()).unwrap();
                    wait.recv_timeout(Duration::from_secs(20)).expect("page 1 is read meanwhile");
                    Ok(0)
                });
                assert_eq!(*page.unwrap(), 0);
            });
            has_started.recv().unwrap();
            assert_eq!(*cache.get(1, || Ok(1)).unwrap(), 1);
            other_is_read.send(()).unwrap();
        });
    }

    #[test]
    fn a_page_is_read_once_and_again_after_an_error() {
        let cache = PageCache::default();
        let failed =
            || tet_io::Error::io(tet_io::Operation::Stat, "x".as_ref(), ErrorKind::Other.into());
        assert!(cache.get(3, || Err(failed().into())).is_err());
        assert_eq!(*cache.get(3, || Ok(7)).unwrap(), 7);
        assert_eq!(*cache.get(3, || Ok(8)).unwrap(), 7);
    }

    #[test]
    fn the_cache_is_limited() {
        let cache = PageCache::default();
        (0..1000).for_each(|page| drop(cache.get(page, || Ok(page))));
        assert_eq!(cache.0.lock().unwrap().slots.len(), PAGES_MAX);
    }

    #[test]
    fn low_pages_are_read_once_after_a_scan() {
        let cache = PageCache::default();
        (0..1000).for_each(|page| drop(cache.get(page, || Ok(page))));
        let mut read_count = 0;
        for page in [0, 1, 0, 1, 0, 1] {
            let read = cache.get(page, || {
                read_count += 1;
                Ok(page)
            });
            assert_eq!(*read.unwrap(), page);
        }
        assert_eq!(read_count, 2);
    }
}
