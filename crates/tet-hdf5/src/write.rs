//! New files: the metadata of objects whose data is already in its place.
//!
//! ```text
//!   superblock | data of all datasets, in any order | chunk indexes | global heaps | object headers
//! ```
//!
//! Data comes first, so it can be written as it arrives. Where it went is put into a [`Hdf5Draft`], from
//! which [`Hdf5Draft::encode`] makes all that follows the data, and the superblock. Files have a superblock
//! of version 2, object headers with checksums, links in the order of their creation, and version 1
//! B-trees as chunk indexes: HDF5 1.8 and later read them, and NetCDF-4 reads and extends them.

mod addresses;
pub(crate) mod attribute;
mod datatype;
mod fault;
mod groups;
mod header;
pub(crate) mod heap;
mod messages;
mod objects;
mod scales;
#[cfg(test)]
mod tests;
mod texts;
mod tree;

use tet_format::{DType, Span};

use crate::message::filters::StoredFilter;

pub use fault::DraftFault;
pub use texts::{EncodedTexts, encode_texts};

/// The length of a superblock, behind which data begins.
pub const SUPERBLOCK_LEN: u64 = 48;

/// A file whose data is in place.
///
/// # Examples
///
/// ```
/// use tet_format::{DType, Span};
/// use tet_hdf5::write::{DraftDataset, DraftLayout, DraftType, Hdf5Draft, SUPERBLOCK_LEN};
/// use tet_hdf5::Hdf5File;
///
/// let data = [1_i16, 2, 3].map(i16::to_le_bytes).concat();
/// let span = Span::new(SUPERBLOCK_LEN, 6).expect("a short span");
/// let layout = DraftLayout::Contiguous(Some(span));
/// let x = DraftDataset::new("model/x", DraftType::Number(DType::Int16), &[3], layout);
/// let draft = Hdf5Draft { datasets: vec![x], ..Hdf5Draft::default() };
///
/// let rest = draft.encode(span.end())?;
/// let file = [&rest.superblock[..], &data, &rest.metadata].concat();
/// let file = Hdf5File::open(tet_io::Source::from_bytes(file))?;
/// let (objects, _) = file.objects()?;
/// assert_eq!(objects[2].path, "model/x");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Hdf5Draft {
    /// The datasets, in the order of their creation. Groups are made of the parts of their paths.
    pub datasets: Vec<DraftDataset>,
    /// The attributes of the root group.
    pub attributes: Vec<DraftAttribute>,
    /// Groups with attributes; one that no dataset is in is made too.
    pub groups: Vec<DraftGroup>,
    /// The enumerations that datasets are of.
    pub types: Vec<DraftEnum>,
}

/// An enumeration: integers with names.
///
/// # Examples
///
/// ```
/// use tet_format::DType;
/// use tet_hdf5::write::{DraftEnum, Hdf5Draft};
///
/// let members = vec![("clear".to_owned(), vec![0]), ("cloudy".to_owned(), vec![1])];
/// let clouds = DraftEnum { path: Some("cloud_t".to_owned()), dtype: DType::UInt8, members };
/// assert!(Hdf5Draft { types: vec![clouds], ..Hdf5Draft::default() }.check().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftEnum {
    /// Its path as an object with a name, which NetCDF-4 wants; without one it is a part of the dataset.
    pub path: Option<String>,
    /// The type of the integers.
    pub dtype: DType,
    /// The names and their integers, as little-endian bytes.
    pub members: Vec<(String, Vec<u8>)>,
}

/// A group with attributes.
///
/// # Examples
///
/// ```
/// use tet_hdf5::write::{DraftGroup, Hdf5Draft};
///
/// let group = DraftGroup { path: "model/layers".to_owned(), attributes: Vec::new() };
/// assert!(Hdf5Draft { groups: vec![group], ..Hdf5Draft::default() }.check().is_ok());
/// ```
#[derive(Clone, Debug, Default)]
pub struct DraftGroup {
    /// The groups that it is in, and its name, with slashes between.
    pub path: String,
    /// Its attributes.
    pub attributes: Vec<DraftAttribute>,
}

/// A dataset.
#[derive(Clone, Debug)]
pub struct DraftDataset {
    /// The groups that it is in, and its name, with slashes between.
    pub path: String,
    /// The type of its elements, little-endian.
    pub datatype: DraftType,
    /// The number of the enumeration that its elements are of, if they are.
    pub enumeration: Option<usize>,
    /// Its extents; none for one element.
    pub shape: Vec<u64>,
    /// Whether each axis can grow. All others have their length for good.
    pub unlimited: Vec<bool>,
    /// An element for what is not stored.
    pub fill: Option<Vec<u8>>,
    /// Where its elements are.
    pub layout: DraftLayout,
    /// Its attributes.
    pub attributes: Vec<DraftAttribute>,
    /// For each axis the number of the dataset that is its dimension scale, if any is.
    pub scales: Vec<Option<usize>>,
    /// Its name as a dimension scale, where it is one.
    pub scale: Option<String>,
}

impl DraftDataset {
    /// A dataset without attributes, of fixed extents.
    #[must_use]
    pub fn new(
        path: &str,
        datatype: DraftType,
        shape: &[u64],
        layout: DraftLayout,
    ) -> DraftDataset {
        DraftDataset {
            path: path.to_owned(),
            datatype,
            enumeration: None,
            shape: shape.to_vec(),
            unlimited: Vec::new(),
            fill: None,
            layout,
            attributes: Vec::new(),
            scales: Vec::new(),
            scale: None,
        }
    }
}

/// The type of elements.
///
/// # Examples
///
/// ```
/// use tet_format::DType;
/// use tet_hdf5::write::DraftType;
///
/// assert!(DraftType::Number(DType::Bool).is_known());
/// assert!(!DraftType::Number(DType::Bitmask).is_known());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DraftType {
    /// A number; bool and complex numbers are written as h5py does.
    Number(DType),
    /// One byte of text.
    Char,
    /// A text of any length, in UTF-8; elements are references into a heap, of [`encode_texts`].
    Text,
    /// A big-endian float of 32 bits: what NetCDF-4 makes dimensions of that are no variable.
    Dimension,
}

/// Where the elements of a dataset are.
///
/// # Examples
///
/// ```
/// use tet_hdf5::write::DraftLayout;
///
/// let (chunk_shape, filters, chunks) = (vec![1, 8], Vec::new(), Vec::new());
/// let absent = DraftLayout::Chunked { chunk_shape, filters, chunks };
/// assert!(matches!(absent, DraftLayout::Chunked { .. }));
/// ```
#[derive(Clone, Debug)]
pub enum DraftLayout {
    /// In one piece; `None` where nothing is stored.
    Contiguous(Option<Span>),
    /// In chunks of one shape; those at the edges are stored whole.
    Chunked {
        /// The extents of a chunk, each at least 1.
        chunk_shape: Vec<u64>,
        /// The filters that each chunk went through, in this order.
        filters: Vec<StoredFilter>,
        /// The chunks that are stored, in the order of their numbers.
        chunks: Vec<DraftChunk>,
    },
}

/// A chunk that is stored.
///
/// # Examples
///
/// ```
/// use tet_format::Span;
/// use tet_hdf5::write::DraftChunk;
///
/// let chunk = DraftChunk { number: 3, span: Span::new(2048, 100).expect("a short span") };
/// assert_eq!(chunk.span.end(), 2148);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DraftChunk {
    /// Its number in the grid, row-major.
    pub number: u64,
    /// Where it is.
    pub span: Span,
}

/// An attribute.
///
/// # Examples
///
/// ```
/// use tet_hdf5::write::{DraftAttribute, DraftValue};
///
/// let value = DraftValue::Text("K".to_owned());
/// let units = DraftAttribute { name: "units".to_owned(), value };
/// assert!(units.fits());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftAttribute {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: DraftValue,
}

/// The value of an attribute.
///
/// # Examples
///
/// ```
/// use tet_format::DType;
/// use tet_hdf5::write::DraftValue;
///
/// let bytes = [0_i16, 100].map(i16::to_le_bytes).concat();
/// let range = DraftValue::Numbers { dtype: DType::Int16, bytes, is_list: true };
/// assert_ne!(range, DraftValue::Text("0 100".to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DraftValue {
    /// A text, stored in the attribute, as NetCDF-4 writes it.
    Text(String),
    /// A text of any length, stored in a heap, as h5py writes it.
    LongText(String),
    /// Texts of any length.
    Texts(Vec<String>),
    /// Numbers.
    Numbers {
        /// Their type.
        dtype: DType,
        /// Their little-endian bytes.
        bytes: Vec<u8>,
        /// Whether they have an axis; else there is one number.
        is_list: bool,
    },
}

/// All but the data of a file.
///
/// # Examples
///
/// ```
/// use tet_hdf5::write::{Hdf5Draft, SUPERBLOCK_LEN};
///
/// let rest = Hdf5Draft::default().encode(SUPERBLOCK_LEN)?;
/// assert_eq!(rest.superblock.len() as u64, SUPERBLOCK_LEN);
/// # Ok::<(), tet_hdf5::write::DraftFault>(())
/// ```
#[derive(Clone, Debug)]
pub struct EncodedHdf5 {
    /// The first bytes of the file.
    pub superblock: Vec<u8>,
    /// The bytes after the data.
    pub metadata: Vec<u8>,
}

/// An address that leads nowhere.
pub(crate) const UNDEFINED: u64 = u64::MAX;

/// A length as the format has it.
fn len_of(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}
