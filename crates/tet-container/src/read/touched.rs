//! The objects that the answers about an array rest on.

use std::collections::HashSet;
use std::mem;
use std::sync::{Mutex, PoisonError};

use tet_io::at_once;
use tet_query::ChunkPlace;

/// The objects of the chunks that were located: each is compared once after it was touched, and all at the
/// end. Comparing all after each answer would take as long as the square of their number.
#[derive(Debug, Default)]
pub struct Touched(Mutex<Found>);

#[derive(Debug, Default)]
struct Found {
    all: HashSet<u32>,
    recent: HashSet<u32>,
}

impl Touched {
    /// Adds the objects of places, which are numbered from 1; 0 is the file of the catalog.
    pub fn add(&self, places: &[ChunkPlace]) {
        let numbers = places.iter().filter_map(|place| place.object.checked_sub(1));
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for number in numbers {
            found.all.insert(number);
            found.recent.insert(number);
        }
    }

    /// Compares the objects that were touched since the last call, by the number less 1, `depth` at the same time.
    ///
    /// # Errors
    /// An object has changed since it was read, or cannot be looked at.
    pub fn check_recent<E: Send>(
        &self,
        depth: usize,
        check: impl Fn(u32) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let recent = {
            let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            mem::take(&mut found.recent)
        };
        each(recent.into_iter().collect(), depth, check)
    }

    /// Compares all objects that were touched, `depth` at the same time.
    ///
    /// # Errors
    /// An object has changed since it was read, or cannot be looked at.
    pub fn check_all<E: Send>(
        &self,
        depth: usize,
        check: impl Fn(u32) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let all = {
            let found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            found.all.iter().copied().collect()
        };
        each(all, depth, check)
    }
}

/// Compares objects, `depth` at the same time.
fn each<E: Send>(
    numbers: Vec<u32>,
    depth: usize,
    check: impl Fn(u32) -> Result<(), E> + Sync,
) -> Result<(), E> {
    at_once(numbers.len(), depth, |nth| numbers.get(nth).map_or(Ok(()), |&it| check(it)))?;
    Ok(())
}
