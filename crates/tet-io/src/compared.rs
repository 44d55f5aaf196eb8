//! One look at many things that share files: each file is compared once.

use std::collections::HashSet;
use std::sync::Arc;

/// Which shared values one look at a container has compared. Arrays of a hierarchy share its folder and its documents: at
/// the end of a work on all of them each is compared once.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use tet_io::Compared;
///
/// let (folder, other) = (Arc::new("a.zarr"), Arc::new("b.zarr"));
/// let mut compared = Compared::default();
/// assert!(compared.is_first(&folder));
/// assert!(!compared.is_first(&Arc::clone(&folder)), "it is the value that was compared");
/// assert!(compared.is_first(&other));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Compared(HashSet<usize>);

impl Compared {
    /// Whether a value is not compared yet; it counts as compared from now on. It has to live as long as this look.
    pub fn is_first<T: ?Sized>(&mut self, shared: &Arc<T>) -> bool {
        self.0.insert(Arc::as_ptr(shared).cast::<()>().addr())
    }
}
