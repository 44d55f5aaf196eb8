//! References as a document: version 1 of kerchunk.

use std::io::{self, Write};

use tet_zarr::{NewArray, NewHierarchy, inline_reference};

use super::chunks::StoredChunks;
use super::pieces::advance;

/// References to the stored chunks of files: a document of kerchunk, version 1.
///
/// # Examples
///
/// ```
/// use tet_convert::{OpenOptions, OpenedFile, RefsOptions, open, references};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.npy");
/// tet_convert::convert_source(
///     &tet_io::Source::from_named_bytes("a.csv", b"1\n2\n3\n".as_slice()),
///     &path,
///     &Default::default(),
/// )?;
/// let opened = open(&path, &OpenOptions::default())?;
/// let file = OpenedFile { path: &path, opened: &opened };
/// let set = references(&[file], &RefsOptions::default())?;
/// let mut document = Vec::new();
/// set.write(&mut document)?;
/// assert!(document.starts_with(b"{\"version\":1,\"refs\":{\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ReferenceSet {
    pub(super) hierarchy: NewHierarchy,
    /// The chunks of each array of the hierarchy.
    pub(super) contents: Vec<Content>,
    pub(super) notes: Vec<crate::Note>,
}

/// The chunks of an array.
#[derive(Debug)]
pub(super) enum Content {
    /// The bytes of its only chunk.
    Inline(Vec<u8>),
    /// Chunks of files, which have their addresses for their paths.
    Chunks(Box<StoredChunks>),
}

impl ReferenceSet {
    /// Differences from the input.
    #[must_use]
    pub fn notes(&self) -> &[crate::Note] {
        &self.notes
    }

    /// How many arrays there are, those of labels among them.
    #[must_use]
    pub fn array_count(&self) -> usize {
        self.contents.len()
    }

    /// How many chunks are read from files, and how many are in the document.
    #[must_use]
    pub fn chunk_counts(&self) -> (u64, u64) {
        let (mut stored, mut inlined) = (0_u64, 0_u64);
        for content in &self.contents {
            match content {
                Content::Inline(_) => inlined += 1,
                Content::Chunks(chunks) => {
                    let present = chunks.file.iter().filter(|it| **it != StoredChunks::ABSENT);
                    let within = chunks.inlined.len() as u64;
                    stored += (present.count() as u64).saturating_sub(within);
                    inlined += within;
                }
            }
        }
        (stored, inlined)
    }

    /// Writes the document.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"{\"version\":1,\"refs\":{\n")?;
        let mut separator = "";
        for (key, document) in self.hierarchy.documents() {
            let text = String::from_utf8(document).map_err(io::Error::other)?;
            write!(out, "{separator}{}:{}", json(&key)?, json(&text)?)?;
            separator = ",\n";
        }
        for (array, content) in self.hierarchy.arrays.iter().zip(&self.contents) {
            self.write_chunks(array, content, out)?;
        }
        out.write_all(b"\n}}\n")
    }

    /// Writes the chunks of an array, behind other members.
    fn write_chunks(
        &self,
        array: &NewArray,
        content: &Content,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let key = |at: &[u64]| json(&array.object_key(self.hierarchy.format, at));
        let chunks = match content {
            Content::Inline(bytes) => {
                if array.shape.contains(&0) {
                    return Ok(());
                }
                let key = key(&vec![0; array.shape.rank()])?;
                return write!(out, ",\n{key}:{}", json(&inline_reference(bytes))?);
            }
            Content::Chunks(chunks) => chunks,
        };
        let urls = chunks.files.iter().map(|url| json(url)).collect::<io::Result<Vec<_>>>()?;
        let places = chunks.file.iter().zip(chunks.offset.iter().zip(&chunks.len));
        let mut at = vec![0; chunks.counts.len()];
        for ((file, (offset, len)), linear) in places.zip(0_u64..) {
            if let Some(bytes) = chunks.inlined.get(&linear) {
                write!(out, ",\n{}:{}", key(&at)?, json(&inline_reference(bytes))?)?;
            } else if let Some(url) = usize::try_from(*file).ok().and_then(|file| urls.get(file)) {
                write!(out, ",\n{}:[{url},{offset},{len}]", key(&at)?)?;
            }
            advance(&mut at, &chunks.counts);
        }
        Ok(())
    }
}

fn json(text: &str) -> io::Result<String> {
    serde_json::to_string(text).map_err(io::Error::other)
}
