//! An edited copy of a file: unchanged parts are copied, changed parts and the footer are written.
//!
//! ```text
//!   source ---- unchanged spans ----> Image ----> another file
//!                 new bytes --------^   `----> a Source, to be checked before it is written
//! ```
//!
//! [`FileDraft`] renames and drops datasets and changes what the metadata contain. An [`Image`](tet_io::Image) is a new file before it is written. [`FooterEdit`] is its footer;
//! [`with_footer`] computes the offsets and digests. No other code lays out a footer after existing
//! payloads.

mod about;
mod arrange;
mod draft;
mod footer;
mod fragment;
mod unused;

pub use draft::FileDraft;
pub use footer::{FooterEdit, Member, with_footer};
pub use fragment::FooterFragment;
pub use unused::{first_nonzero, payload_spans, unused_spans};

#[cfg(test)]
mod tests;
