//! The elements of datasets of texts: a heap of their bytes, and references to them.

use super::heap::NewHeaps;

/// Texts as they are stored.
///
/// # Examples
///
/// ```
/// let texts = tet_hdf5::write::encode_texts(&["a", "bc"], 48);
/// assert_eq!((texts.heap.len() % 8, texts.elements.len()), (0, 2 * 16));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedTexts {
    /// The heap, to be written where it was said to be.
    pub heap: Vec<u8>,
    /// The elements of the dataset, each of 16 bytes.
    pub elements: Vec<u8>,
}

/// Texts as elements of a dataset of [`DraftType::Text`](super::DraftType::Text); the heap is to begin at
/// `at`, a multiple of 8.
#[must_use]
pub fn encode_texts<T: AsRef<str>>(texts: &[T], at: u64) -> EncodedTexts {
    let mut heaps = NewHeaps::new(at);
    let element = |text: &T| heaps.add(text.as_ref().len(), text.as_ref().as_bytes());
    let elements = texts.iter().flat_map(element).collect();
    heaps.close();
    EncodedTexts { heap: heaps.bytes, elements }
}
