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

#[cfg(test)]
mod tests;
