//! Tensogram v3 messages: scan, read, decode, encode, check.
//!
//! ```text
//!   preamble | frames: metadata, index, hashes | [preceder] tensor ... | hashes, index, metadata | postamble
//! ```
//!
//! The modules are in the order of `docs/spec/tensogram.md`. A damaged or unknown part affects only
//! the object it belongs to.

#![forbid(unsafe_code)]

#[cfg(feature = "container")]
pub mod container;

mod error;
mod limits;
pub mod rule;

mod fields;
mod window;

mod postamble;
mod preamble;

mod frame;
mod parts;
mod walk;

mod message;

mod hashes;
mod index;
mod item;
mod metadata;

mod descriptor;
mod encode;
mod maker;
mod mask;
mod pipeline;
mod region;

mod scan;
mod search;

mod open;

mod check;

mod write;

pub mod edit;

pub use check::{VerifyOptions, verify};
pub use descriptor::{ByteOrder, Descriptor, DescriptorStage, MaskEntry, MaskKind};
pub use encode::{
    Compressing, Encoded, NonFinite, NonFiniteSeen, PackingFit, Passes, Readers, Recipe, encode,
    encode_in_passes, encode_into, encode_seen,
};
pub use error::{Error, Fault, Result};
pub use frame::{Frame, FrameFlags, FrameHeader, FrameKind, FrameTail, Phase};
pub use limits::Limits;
pub use maker::Maker;
pub use mask::{MaskMethod, Masks};
pub use message::{HashRule, Message};
pub use metadata::{Metadata, Pairs, RESERVED_KEY};
pub use open::{ObjectAt, TensogramFile};
pub use parts::Object;
pub use pipeline::SzipParameters;
pub use pipeline::packing::PackingParameters;
pub use pipeline::zstd::Frames;
pub use postamble::Postamble;
pub use preamble::{Flags, Preamble, VERSION};
pub use region::{Cut, ObjectSlice, Region};
pub use scan::{Damage, Scan, is_likely, scan};
pub use tet_cbor::Value;
pub use tet_io::{Kind, Progress};
pub use tet_report::{Finding, Level, Report};
pub use write::{
    HashChoice, HeadedTensor, HeadedWriter, ListPlace, PlainElements, RegionSource, StreamWriter,
    Tensor, TensorWriter, VersionKey, WriteOptions, encode_message, write_message,
};

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
