//! An edited copy of a file: what stays is copied, what changes is written, the footer is made anew.
//!
//! ```text
//!   source ---- spans that stay ---> Image ----> another file
//!                 new bytes --------^   `----> a Source, to be looked at before it is written
//! ```
//!
//! An [`Image`](tet_io::Image) is the new file before it exists. [`FooterEdit`] is its footer, whose
//! places and digests are worked out by [`with_footer`]: no other code knows how a footer is laid out
//! behind payloads that are there already.

mod footer;
mod remains;
mod unused;

pub use footer::{FooterEdit, Member, with_footer};
pub use remains::Remains;
pub use unused::{first_nonzero, payload_spans, unused_spans};

use std::ops::ControlFlow;

use crate::error::{Error, Result};

/// Hears how many bytes of how many are done, and says whether to go on.
pub type Progress<'a> = dyn FnMut(u64, u64) -> ControlFlow<()> + 'a;

/// Tells how far the work is.
///
/// # Errors
///
/// Returns [`Error::Canceled`] when it is not to go on.
pub fn tell(progress: &mut Progress<'_>, done: u64, all: u64) -> Result<()> {
    match progress(done, all) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Canceled),
    }
}

#[cfg(test)]
mod tests;
