//! Pages of a file that stay in memory once they were read, up to a number of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Result;

/// Pages that are kept: of rows they take 852 kB each, of digests 98 kB.
const PAGES_MAX: usize = 64;

/// Pages by number.
#[derive(Debug)]
pub(crate) struct Kept<T>(Mutex<BTreeMap<u64, Arc<T>>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept(Mutex::default())
    }
}

impl<T> Kept<T> {
    /// The page of this number, which is read when it is not there.
    pub(crate) fn get(&self, page: u64, read: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = pages.get(&page) {
            return Ok(Arc::clone(held));
        }
        let held = Arc::new(read()?);
        if PAGES_MAX <= pages.len() {
            pages.pop_first();
        }
        pages.insert(page, Arc::clone(&held));
        Ok(held)
    }
}
