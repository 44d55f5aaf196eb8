//! Open any tensor file in place: select by name and label, read, reduce, check, convert.
//!
//! ```no_run
//! # fn main() -> tet::Result<()> {
//! let july = tet::open("climate.tet")?.dataset("temp")?.select("month=7")?;
//! println!("{:?} {:?}", july.shape(), july.read::<f32>()?);
//! # Ok(())
//! # }
//! ```
//!
//! [`open`] gives a [`File`], which lists its [`Dataset`]s; [`Dataset::select`] gives the part that is
//! meant; [`Dataset::read`] and [`Dataset::reduce`] give an [`WithIntegrity`]: a value, and how far the bytes
//! behind it were compared with the checksums of the file. Files are opened lazily: opening reads the
//! list of datasets, a read reads the chunks that it selects.
//!
//! [`convert`] writes any file as any other, [`verify`] checks every byte of one. The crates beneath,
//! with all their options, are [`query`], [`container`] and [`mod@format`].

#![forbid(unsafe_code)]

mod dataset;
mod error;
mod file;

pub use dataset::Dataset;
pub use error::{Error, Result};
#[cfg(feature = "net")]
pub use file::open_urls;
pub use file::{File, convert, open, verify};
pub use tet_convert as container;
pub use tet_convert::{Format, Note};
pub use tet_document::Answered;
pub use tet_format as format;
pub use tet_format::{DType, Integrity};
#[cfg(feature = "net")]
pub use tet_net::{BlockCache, Lookup, Settings};
pub use tet_query as query;
pub use tet_query::{
    Array, AttrText, Element, Execution, Op, Reduced, Reduction, Scalar, WithIntegrity,
};
pub use tet_verify::{Report, VerifyOptions};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
