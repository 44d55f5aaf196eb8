//! Texts, of a fixed length and in global heaps, and lists of any length.

use crate::error::{Result, fault};
use crate::file::Hdf5File;
use crate::message::datatype::{Class, Datatype, TextEnd};
use crate::rule;

/// Where the bytes of an element of any length are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HeapPlace {
    /// The collection.
    address: u64,
    /// The object in it.
    index: u32,
    /// How many elements the list has.
    count: u32,
}

impl Hdf5File {
    /// The texts that elements of a text type are, one for each element; at most `len_max` bytes in all.
    /// `None` for a type that is no text. A text of any length ends at its first zero; bytes that are not
    /// UTF-8 become U+FFFD.
    ///
    /// # Errors
    ///
    /// Returns an error when a text is not in its heap, or all are too long together.
    pub fn texts(
        &self,
        datatype: &Datatype,
        bytes: &[u8],
        len_max: usize,
    ) -> Result<Option<Vec<String>>> {
        let size = usize::try_from(datatype.size).unwrap_or(usize::MAX).max(1);
        let mut len = 0_usize;
        let mut text = |text: &[u8]| {
            len = len.saturating_add(text.len()).saturating_add(size_of::<String>());
            if len_max < len {
                let (rule, wanted) = (&rule::LIMIT_ATTRIBUTES, len_max as u64);
                return Err(fault(rule, self.base(), len as u64, wanted));
            }
            Ok(String::from_utf8_lossy(text).into_owned())
        };
        let elements = bytes.chunks_exact(size);
        match &datatype.class {
            Class::Text { end, .. } => {
                elements.map(|element| text(fixed_text(element, *end))).collect::<Result<_>>()
            }
            Class::VariableText { .. } => {
                let mut texts = vec![String::new(); elements.len()];
                let mut places = Vec::new();
                for (nth, element) in elements.enumerate() {
                    places.extend(self.place(element)?.map(|place| (place, nth)));
                }
                // In the order of the heaps each is read once, however elements alternate between them.
                places.sort_unstable();
                let begin = self.work();
                for (place, nth) in places {
                    self.check_work(begin)?;
                    let bytes = self.object(place, 1)?;
                    if let Some(to) = texts.get_mut(nth) {
                        *to = text(fixed_text(&bytes, TextEnd::Null))?;
                    }
                }
                Ok(texts)
            }
            _ => return Ok(None),
        }
        .map(Some)
    }

    /// The bytes of the elements of a list of any length, whose elements have `size` bytes.
    ///
    /// # Errors
    ///
    /// Returns an error when they are not in their heap.
    pub fn list(&self, element: &[u8], size: u32) -> Result<Vec<u8>> {
        self.place(element)?.map_or(Ok(Vec::new()), |place| self.object(place, size))
    }

    /// Where a list is; `None` for one without elements.
    fn place(&self, element: &[u8]) -> Result<Option<HeapPlace>> {
        let mut piece = self.reader().piece(0, 0, &rule::HEAP_OBJECT)?;
        piece.bytes = element.to_vec();
        let mut fields = piece.fields();
        let count = fields.u32()?;
        let (address, index) = (fields.address()?, fields.u32()?);
        // An address of 0 is a value that was never written.
        let address = address.filter(|&address| address != 0 && count != 0);
        Ok(address.map(|address| HeapPlace { address, index, count }))
    }

    fn object(&self, place: HeapPlace, size: u32) -> Result<Vec<u8>> {
        let HeapPlace { address, index, count } = place;
        let len = u64::from(count).saturating_mul(size.into());
        self.heaps().object(self.reader(), address, index, len)
    }
}

/// The bytes of a text of a fixed length.
fn fixed_text(element: &[u8], end: TextEnd) -> &[u8] {
    let is_padding = |byte: &&u8| **byte == if end == TextEnd::Spaces { b' ' } else { 0 };
    let len = match end {
        TextEnd::Null => element.iter().position(|&byte| byte == 0).unwrap_or(element.len()),
        _ => element.len() - element.iter().rev().take_while(is_padding).count(),
    };
    element.get(..len).unwrap_or_default()
}
