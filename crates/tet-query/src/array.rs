//! An owned array: dtype, shape and aligned bytes, row-major.

use bytemuck::Pod;
use half::{bf16, f16};
use tet_format::{DType, Shape};

use crate::element::Element;
use crate::error::{Error, Result};
use crate::scalar::Scalar;

/// Bytes of one storage word; every array starts on such a boundary.
const WORD: usize = size_of::<u64>();

/// An array in memory, row-major and little-endian, as the file stores it.
#[derive(Clone)]
pub struct Array {
    dtype: DType,
    shape: Shape,
    len: usize,
    byte_len: usize,
    words: Vec<u64>,
}

impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Array({} {})", self.dtype.name(), self.shape)
    }
}

impl PartialEq for Array {
    /// True when dtype, shape and bits are equal.
    fn eq(&self, other: &Self) -> bool {
        self.dtype == other.dtype && self.shape == other.shape && self.bytes() == other.bytes()
    }
}

impl Array {
    /// An array of zero bits.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Limit`] when no memory could hold it or the dtype has no whole bytes, and
    /// [`Error::NoMemory`] when this one cannot.
    pub fn zeroed(dtype: DType, shape: Shape) -> Result<Self> {
        let too_large =
            |wanted| Error::Limit { what: "array bytes", wanted, limit: usize::MAX as u64 };
        let element_size = dtype.size().ok_or_else(|| Error::no_bytes(dtype))?;
        let count = shape.element_count().ok_or_else(|| too_large(u64::MAX))?;
        let wanted = count.checked_mul(element_size).ok_or_else(|| too_large(u64::MAX))?;
        let (Ok(len), Ok(byte_len)) = (usize::try_from(count), usize::try_from(wanted)) else {
            return Err(too_large(wanted));
        };
        let words = zeroed_words(byte_len).ok_or(Error::NoMemory { wanted })?;
        Ok(Array { dtype, shape, len, byte_len, words })
    }

    /// An array that holds these elements; `None` when the shape asks for another number of them.
    #[must_use]
    pub fn from_elements<T: Element>(shape: Shape, elements: &[T]) -> Option<Self> {
        if shape.element_count() != u64::try_from(elements.len()).ok() {
            return None;
        }
        let mut array = Array::zeroed(T::DTYPE, shape).ok()?;
        array.bytes_mut().copy_from_slice(bytemuck::cast_slice(elements));
        Some(array)
    }

    /// Reinterprets the bits as another dtype of the same size; `None` when the sizes differ.
    #[must_use]
    pub fn with_dtype(self, dtype: DType) -> Option<Self> {
        (dtype.size() == self.dtype.size()).then_some(Array { dtype, ..self })
    }

    /// Reshapes the array; `None` when the new shape has another number of elements.
    #[must_use]
    pub fn with_shape(self, shape: Shape) -> Option<Self> {
        (shape.element_count() == self.shape.element_count()).then_some(Array { shape, ..self })
    }

    /// The type of an element.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// The extents.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// How many elements there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements as little-endian bytes, row-major.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.byte_len]
    }

    /// The elements as bytes, to be filled.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.byte_len]
    }

    /// An owned copy of the bytes.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes().to_vec()
    }

    /// The elements, when `T` is the array's type; truth values also as `u8`.
    #[must_use]
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        let same =
            T::DTYPE == self.dtype || (self.dtype == DType::Bool && T::DTYPE == DType::UInt8);
        if same { bytemuck::try_cast_slice(self.bytes()).ok() } else { None }
    }

    /// The element at `at` in row-major order; `None` past the end.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<Scalar> {
        let size = usize::try_from(self.dtype.size()?).ok()?;
        let bytes = self.bytes().get(at.checked_mul(size)?..)?.get(..size)?;
        scalar(self.dtype, bytes)
    }
}

/// Reads one element of `dtype` from exactly its bytes.
fn scalar(dtype: DType, bytes: &[u8]) -> Option<Scalar> {
    macro_rules! le {
        ($T:ty, $bytes:expr) => {
            <$T>::from_le_bytes($bytes.try_into().ok()?)
        };
    }
    Some(match dtype {
        DType::Float16 => Scalar::Float16(le!(f16, bytes)),
        DType::BFloat16 => Scalar::BFloat16(le!(bf16, bytes)),
        DType::Float32 => Scalar::Float32(le!(f32, bytes)),
        DType::Float64 => Scalar::Float64(le!(f64, bytes)),
        DType::Int8 => Scalar::Int(le!(i8, bytes).into()),
        DType::Int16 => Scalar::Int(le!(i16, bytes).into()),
        DType::Int32 => Scalar::Int(le!(i32, bytes).into()),
        DType::Int64 => Scalar::Int(le!(i64, bytes).into()),
        DType::UInt8 => Scalar::Int(le!(u8, bytes).into()),
        DType::UInt16 => Scalar::Int(le!(u16, bytes).into()),
        DType::UInt32 => Scalar::Int(le!(u32, bytes).into()),
        DType::UInt64 => Scalar::Int(le!(u64, bytes).into()),
        DType::Bool => Scalar::Bool(bytes != [0]),
        DType::Complex64 => {
            let (re, im) = bytes.split_at_checked(4)?;
            Scalar::Complex64(le!(f32, re), le!(f32, im))
        }
        DType::Complex128 => {
            let (re, im) = bytes.split_at_checked(8)?;
            Scalar::Complex128(le!(f64, re), le!(f64, im))
        }
        _ => return None,
    })
}

/// Zeroed words for `byte_len` bytes, or `None` when memory cannot hold them.
pub(crate) fn zeroed_words(byte_len: usize) -> Option<Vec<u64>> {
    let count = byte_len.div_ceil(WORD);
    zeroed_elements(count)
}

#[cfg(feature = "mmap")]
fn in_huge_pages<T: Pod>(mut zeros: Vec<T>) -> Vec<T> {
    tet_io::use_huge_pages(bytemuck::cast_slice_mut(&mut zeros));
    zeros
}

#[cfg(not(feature = "mmap"))]
const fn in_huge_pages<T>(zeros: Vec<T>) -> Vec<T> {
    zeros
}

/// `count` zeros in pages that the system has zeroed already: a resize would touch every one of them.
/// `None` where memory does not hold them.
pub(crate) fn zeroed_elements<T: Pod>(count: usize) -> Option<Vec<T>> {
    let zeros: Vec<T> = bytemuck::allocation::try_zeroed_vec(count).ok()?;
    Some(in_huge_pages(zeros))
}
