//! Integers with names.

use tet_format::DType;

/// The names that a file has for some of the integers of a dataset.
///
/// # Examples
///
/// ```
/// use tet_format::DType;
/// use tet_query::Enumeration;
///
/// let members = vec![("clear".to_owned(), vec![0]), ("cloudy".to_owned(), vec![1])];
/// let clouds = Enumeration { dtype: DType::UInt8, members };
/// assert_eq!(clouds.members.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumeration {
    /// The type of the integers.
    pub dtype: DType,
    /// The names and their integers, as little-endian bytes.
    pub members: Vec<(String, Vec<u8>)>,
}

impl Enumeration {
    /// Bytes of names and integers that fit the header of an object of HDF5.
    const LEN_MAX: usize = 60_000;

    /// Whether a file can have them as a type: names without zeros, short enough for the header of an object.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        let len = |(name, value): &(String, Vec<u8>)| name.len() + 8 + value.len();
        let is_name = |(name, _): &(String, Vec<u8>)| !name.is_empty() && !name.contains('\0');
        let len = self.members.iter().map(len).fold(0, usize::saturating_add);
        !self.members.is_empty() && len < Self::LEN_MAX && self.members.iter().all(is_name)
    }
}
