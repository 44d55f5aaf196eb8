//! Why a file cannot be made.

/// Why a file cannot be made.
///
/// # Examples
///
/// ```
/// use tet_format::DType;
/// use tet_hdf5::write::{DraftDataset, DraftFault, DraftLayout, DraftType, Hdf5Draft};
///
/// let one = |path| {
///     let layout = DraftLayout::Contiguous(None);
///     DraftDataset::new(path, DraftType::Number(DType::Int8), &[1], layout)
/// };
/// let draft = Hdf5Draft { datasets: vec![one("a"), one("a/b")], ..Hdf5Draft::default() };
/// assert_eq!(draft.check(), Err(DraftFault::TwoObjects { path: "a".to_owned() }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DraftFault {
    /// Two datasets have one path, or a dataset is where a group is.
    #[error("two objects would be named {path:?}")]
    TwoObjects {
        /// The path.
        path: String,
    },
    /// A part of a path is empty, a dot, or too long.
    #[error("{path:?} is no path of an object")]
    Path {
        /// The path.
        path: String,
    },
    /// A dataset is of a type that files are not written with.
    #[error("{path:?} is of a type that HDF5 files are not written with")]
    Type {
        /// The path of the dataset.
        path: String,
    },
    /// An attribute does not fit into an object header.
    #[error("the attribute {name:?} of {path:?} does not fit")]
    Attribute {
        /// The path of the object.
        path: String,
        /// The attribute.
        name: String,
    },
    /// The chunks do not fit the dataset: there are 32 axes, and 4 GiB of a chunk, at most.
    #[error("the extents or the chunks of {path:?} do not fit")]
    Chunks {
        /// The path of the dataset.
        path: String,
    },
}
