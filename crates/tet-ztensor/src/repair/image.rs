//! The new file before it is written: bytes of the old one behind the magic, and how it ends.

use std::io;
use std::sync::Arc;

use tet_io::{ReadAt, Source};

use crate::container::{FOOTER_LEN, MAGIC};

/// The new file before it is written.
#[derive(Clone, Debug)]
pub(super) struct Image {
    pub(super) source: Source,
    /// How much of the source it begins with.
    pub(super) kept_len: u64,
    /// Bytes of that which differ, with their offsets.
    pub(super) patches: Vec<(u64, u8)>,
    pub(super) ending: Ending,
}

/// How a new file ends.
#[derive(Clone, Debug)]
pub(super) enum Ending {
    /// With the bytes that are kept.
    Kept,
    /// With the length of the index, which is kept.
    Footer(u64),
    /// With this index and its length.
    Index(Arc<[u8]>),
}

impl Image {
    /// The image that is the source.
    pub(super) fn of(source: &Source) -> Self {
        let (kept_len, patches) = (source.len(), Vec::new());
        Image { source: source.clone(), kept_len, patches, ending: Ending::Kept }
    }

    /// The bytes behind those that are kept.
    pub(super) fn ending_bytes(&self) -> Vec<u8> {
        match &self.ending {
            Ending::Kept => Vec::new(),
            Ending::Footer(index_len) => index_len.to_le_bytes().to_vec(),
            Ending::Index(index) => [index, &(index.len() as u64).to_le_bytes()[..]].concat(),
        }
    }

    /// The file as a source, to be looked at before it is written.
    pub(super) fn to_source(&self) -> Source {
        let ending = self.ending_bytes();
        Source::from_reader(Arc::new(Joined { image: self.clone(), ending }))
    }
}

impl Image {
    /// How long the file is.
    pub(super) fn len(&self) -> u64 {
        let more = match &self.ending {
            Ending::Kept => 0,
            Ending::Footer(_) => FOOTER_LEN,
            Ending::Index(index) => FOOTER_LEN.saturating_add(index.len() as u64),
        };
        self.kept_len.saturating_add(more)
    }
}

/// An image with its last bytes.
struct Joined {
    image: Image,
    ending: Vec<u8>,
}

impl ReadAt for Joined {
    fn len(&self) -> u64 {
        self.image.len()
    }

    fn read_exact_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let kept_len = self.image.kept_len;
        let kept = usize::try_from(kept_len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let (now, later) = out.split_at_mut(kept.min(out.len()));
        self.image.source.read_exact_at(offset, now).map_err(io::Error::other)?;
        let start = usize::try_from(offset.saturating_sub(kept_len)).unwrap_or(usize::MAX);
        let ending = self.ending.get(start..).and_then(|bytes| bytes.get(..later.len()));
        later.copy_from_slice(ending.ok_or(io::ErrorKind::UnexpectedEof)?);
        // Every repaired file begins as a file does.
        let head = usize::try_from(offset).ok().and_then(|at| MAGIC.get(at..)).unwrap_or_default();
        out.iter_mut().zip(head).for_each(|(byte, magic)| *byte = *magic);
        for (at, new) in self.image.patches.iter().filter(|(at, _)| *at < kept_len) {
            let at = at.checked_sub(offset).and_then(|at| usize::try_from(at).ok());
            at.and_then(|at| out.get_mut(at)).into_iter().for_each(|byte| *byte = *new);
        }
        Ok(())
    }
}
