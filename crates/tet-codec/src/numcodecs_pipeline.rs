//! Pipelines for other programs: the codecs of numcodecs that decode the stored bytes, and the byte order.

/// A codec of numcodecs that decodes what a stage decodes.
///
/// ```
/// use tet_codec::{Shuffle, Stage};
///
/// let codec = Shuffle::new(4).numcodecs().expect("numcodecs has it");
/// assert_eq!((codec.id, codec.setting), ("shuffle", Some(("elementsize", 4))));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NumcodecsCodec {
    /// Its name there.
    pub id: &'static str,
    /// The setting that decoding needs, if it needs one.
    pub setting: Option<(&'static str, u64)>,
}

impl NumcodecsCodec {
    /// A codec that decodes without settings.
    #[must_use]
    pub const fn named(id: &'static str) -> NumcodecsCodec {
        NumcodecsCodec { id, setting: None }
    }
}

/// How stored bytes become elements, in terms that readers of Zarr share.
///
/// ```
/// use tet_codec::{Decode, Raw, NumcodecsPipeline, Swapped};
///
/// assert_eq!(Raw.numcodecs(), Some(NumcodecsPipeline::default()));
/// let pipeline = Swapped::new(2).and_then(|it| it.numcodecs());
/// assert!(pipeline.is_some_and(|pipeline| pipeline.is_big_endian));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumcodecsPipeline {
    /// The codecs, in the order in which they were applied.
    pub codecs: Vec<NumcodecsCodec>,
    /// Whether numbers are big-endian.
    pub is_big_endian: bool,
    /// Whether the first axis of a chunk varies fastest: Fortran order.
    pub is_column_major: bool,
}
