//! Datasets of text: what makes strings of their elements.
//!
//! ```text
//!   bytes of elements, along a last axis  ->  TextElements  ->  strings
//!       read as any dataset of uint8          fixed lengths, or places in a heap
//!   a chunk of texts of any length        ->  TextChunks    ->  strings
//! ```

use std::fmt::{self, Debug};
use std::sync::Arc;

use tet_format::{Grid, Shape};

use super::Dataset;
use crate::array::Array;
use crate::error::{Error, Result};

/// The name of the type of text.
const NAME: &str = "string";

/// The texts of a dataset: what a container brings for a dataset of strings.
#[derive(Clone)]
#[non_exhaustive]
pub enum Texts {
    /// Every element has the same number of bytes in its chunk: the text, or its place.
    Elements {
        /// The bytes: of `uint8`, along one more axis.
        bytes: Arc<Dataset>,
        /// Converts elements to texts.
        elements: Arc<dyn TextElements>,
    },
    /// Chunks of texts of any length.
    Chunks(Arc<dyn TextChunks>),
    /// Every element is a number that has a text.
    Numbers {
        /// The numbers.
        numbers: Arc<Dataset>,
        /// Converts numbers to texts.
        texts: Arc<dyn NumberTexts>,
    },
}

impl Debug for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Texts::Elements { bytes, .. } => f.debug_tuple("Elements").field(bytes).finish(),
            Texts::Chunks(_) => f.debug_tuple("Chunks").finish(),
            Texts::Numbers { numbers, .. } => f.debug_tuple("Numbers").field(numbers).finish(),
        }
    }
}

/// Makes texts of the chunks of a dataset.
///
/// # Examples
///
/// ```
/// use tet_query::TextChunks;
///
/// /// Chunks of one text each, which is their number.
/// struct Numbered;
///
/// impl TextChunks for Numbered {
///     fn texts(&self, linear: u64, _len_max: u64) -> tet_query::Result<Vec<String>> {
///         Ok(vec![linear.to_string()])
///     }
/// }
///
/// assert_eq!(Numbered.texts(7, 100)?, ["7"]);
/// # Ok::<(), tet_query::Error>(())
/// ```
pub trait TextChunks: Send + Sync {
    /// The texts of the chunk of this linear grid index, one for each element of a chunk of the grid, row-major:
    /// at most `len_max` bytes in all.
    ///
    /// # Errors
    ///
    /// Returns an error when the chunk cannot be read, or its texts are too long together.
    fn texts(&self, linear: u64, len_max: u64) -> Result<Vec<String>>;
}

/// Makes texts of numbers.
pub trait NumberTexts: Send + Sync {
    /// The texts of numbers, row-major.
    ///
    /// # Errors
    ///
    /// Returns an error when it depends on other numbers how they are written, and these cannot be read.
    fn texts(&self, numbers: &Array) -> Result<Vec<String>>;
}

/// Makes texts of the bytes of elements.
///
/// # Examples
///
/// ```
/// use tet_query::TextElements;
///
/// /// Texts in capitals.
/// struct Capitals;
///
/// impl TextElements for Capitals {
///     fn texts(&self, elements: &[u8], size: usize, _len_max: u64) -> tet_query::Result<Vec<String>> {
///         let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).to_uppercase();
///         Ok(elements.chunks_exact(size).map(text).collect())
///     }
/// }
///
/// assert_eq!(Capitals.texts(b"abcd", 2, 100)?, ["AB", "CD"]);
/// # Ok::<(), tet_query::Error>(())
/// ```
pub trait TextElements: Send + Sync {
    /// The texts of elements of `size` bytes each, which are at most `len_max` bytes in all.
    ///
    /// # Errors
    ///
    /// Returns an error when a text cannot be read, or all are too long together.
    fn texts(&self, elements: &[u8], size: usize, len_max: u64) -> Result<Vec<String>>;
}

/// How the bytes of a text of a fixed length become a string. Bytes that are not UTF-8, and numbers that are no
/// Unicode characters, become U+FFFD.
///
/// # Examples
///
/// ```
/// use tet_query::{FixedText, TextElements};
///
/// let texts = FixedText::Bytes.texts(b"ab\0\0c \0\0", 4, 100)?;
/// assert_eq!(texts, ["ab", "c "]);
/// # Ok::<(), tet_query::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixedText {
    /// UTF-8, without the zeros at its end.
    Bytes,
    /// UTF-32, without the zeros at its end.
    Points {
        /// Whether the highest byte of a character comes first.
        is_big: bool,
    },
}

impl FixedText {
    fn text(self, bytes: &[u8]) -> String {
        match self {
            FixedText::Bytes => {
                let padding = bytes.iter().rev().take_while(|byte| **byte == 0).count();
                let (text, _) = bytes.split_at(bytes.len() - padding);
                String::from_utf8_lossy(text).into_owned()
            }
            FixedText::Points { is_big } => {
                let point = |bytes: &[u8; 4]| {
                    let point = u32::from_le_bytes(*bytes);
                    let point = if is_big { point.swap_bytes() } else { point };
                    char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER)
                };
                let text: String = bytes.as_chunks::<4>().0.iter().map(point).collect();
                text.trim_end_matches('\0').to_owned()
            }
        }
    }
}

impl TextElements for FixedText {
    fn texts(&self, elements: &[u8], size: usize, len_max: u64) -> Result<Vec<String>> {
        check_len(elements.len() as u64, len_max)?;
        Ok(elements.chunks_exact(size.max(1)).map(|bytes| self.text(bytes)).collect())
    }
}

/// Checks what texts take in memory.
pub(crate) fn check_len(wanted: u64, limit: u64) -> Result<()> {
    let what = "bytes of the texts";
    if wanted <= limit { Ok(()) } else { Err(Error::Limit { what, wanted, limit }) }
}

impl Dataset {
    /// The dataset of the texts that the last axis of `bytes` holds, which are of `uint8`; `bytes` as it
    /// is where it cannot be read, but for its type.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # fn example(bytes: tet_query::Dataset) {
    /// use std::sync::Arc;
    /// use tet_query::{Dataset, FixedText};
    ///
    /// let names = Dataset::of_texts(bytes, Arc::new(FixedText::Bytes));
    /// assert_eq!(names.dtype_name, "string");
    /// # }
    /// ```
    #[must_use]
    pub fn of_texts(bytes: Dataset, elements: Arc<dyn TextElements>) -> Dataset {
        let is_readable = bytes.fault.is_none() && !bytes.shape().is_empty();
        let whole = Dataset::of_bytes(bytes.clone());
        let texts = || Texts::Elements { bytes: Arc::new(bytes), elements };
        let dtype_name = NAME.to_owned();
        Dataset { dtype_name, text: is_readable.then(texts), ..whole }
    }

    /// The dataset whose elements are the bytes along the last axis of `bytes`, of a type that is not known.
    #[must_use]
    pub fn of_bytes(bytes: Dataset) -> Dataset {
        let head = |shape: &Shape| Shape::from(shape.split_last().map_or(&[][..], |(_, it)| it));
        let (shape, chunk) = (head(bytes.grid.shape()), head(bytes.grid.chunk_shape()));
        let one = || {
            let whole: Shape = shape.iter().map(|&extent| extent.max(1)).collect();
            Grid::new(shape.clone(), whole)
        };
        let grid = bytes.grid.reshaped(shape.clone(), chunk).or_else(one);
        let mut dims = bytes.dims.clone();
        dims.truncate(shape.rank());
        let mut unlimited = bytes.unlimited.clone();
        unlimited.truncate(shape.rank());
        let dtype_name = format!("{} bytes", bytes.shape().last().unwrap_or(&0));
        let grid = grid.unwrap_or_else(|| bytes.grid.clone());
        Dataset { dtype: None, dtype_name, grid, dims, unlimited, fill: None, ..bytes }
    }

    /// The dataset with chunks of texts instead of numbers.
    #[must_use]
    pub fn with_text_chunks(self, chunks: Arc<dyn TextChunks>) -> Dataset {
        let text = Some(Texts::Chunks(chunks));
        Dataset { dtype: None, dtype_name: NAME.to_owned(), text, ..self }
    }

    /// The dataset with a text for each of its numbers.
    #[must_use]
    pub fn with_number_texts(self, texts: Arc<dyn NumberTexts>) -> Dataset {
        let shown = self.clone();
        let text = Some(Texts::Numbers { numbers: Arc::new(self), texts });
        Dataset { dtype: None, dtype_name: NAME.to_owned(), fill: None, text, ..shown }
    }

    /// Whether its elements are texts that can be read.
    #[must_use]
    pub fn is_text(&self) -> bool {
        self.text.is_some() && self.fault.is_none()
    }

    /// The dataset of the bytes that its elements are made of: itself, unless they are texts.
    #[must_use]
    pub fn stored(&self) -> &Dataset {
        match &self.text {
            Some(Texts::Elements { bytes, .. }) => bytes,
            _ => self,
        }
    }
}
