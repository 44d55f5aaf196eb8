//! Why there is no picture.

/// The result of drawing.
pub type Result<T> = std::result::Result<T, Error>;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The elements cannot be read.
    #[error(transparent)]
    Query(#[from] tet_query::Error),
    /// The elements are no real numbers.
    #[error("elements of {dtype} have no picture: integers, floats and bools have one")]
    NotReal {
        /// The dtype's name.
        dtype: &'static str,
    },
    /// A histogram without a range that has room for its bins.
    #[error("{low:?} to {high:?} cannot be divided into {bins} bins")]
    NoBins {
        /// The first edge.
        low: f64,
        /// The last edge.
        high: f64,
        /// The number of bins.
        bins: usize,
    },
    /// The picture cannot be encoded.
    #[error("a picture of {width} x {height} pixels cannot be made")]
    Encode {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
    },
}
