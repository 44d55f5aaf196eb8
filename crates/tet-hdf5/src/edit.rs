//! Edits of a file: headers of objects get other messages, and stay where they are.
//!
//! ```text
//!   superblock | ... | header: a continuation ---. ... | heaps | blocks of messages
//!                                                 `--------------^
//! ```
//!
//! An object is known by its address. So that all links and references lead to it as before, the first block of its header keeps
//! place and length, and leads on to a block behind the end of the file that has all messages. Attributes and links that
//! were in a heap or a table become messages; nothing else of the file changes.

mod attributes;
mod links;

use std::collections::BTreeMap;

use tet_io::Image;

use crate::checksum::lookup3;
use crate::error::{Result, refused};
use crate::file::Hdf5File;
use crate::header::{self, FirstBlock, kind};
use crate::write::heap::NewHeaps;

/// A message is no longer.
const MESSAGE_LEN_MAX: usize = 65_528;
/// The bytes of an address and a length in a continuation.
const CONTINUATION_LEN: usize = 16;

/// An edit of a file.
///
/// # Examples
///
/// ```no_run
/// use tet_hdf5::write::{DraftAttribute, DraftValue};
/// use tet_hdf5::{Hdf5Edit, Hdf5File};
/// use tet_io::Source;
///
/// let file = Hdf5File::open(Source::open("x.h5")?)?;
/// let mut edit = Hdf5Edit::new(&file)?;
/// let (name, value) = ("title".to_owned(), DraftValue::Text("new".to_owned()));
/// edit.set_attribute(file.root(), &DraftAttribute { name, value })?;
/// println!("{} bytes", edit.finish()?.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Hdf5Edit {
    file: Hdf5File,
    image: Image,
    headers: BTreeMap<u64, NewMessages>,
    heaps: NewHeaps,
}

/// The messages that a header gets.
#[derive(Debug)]
struct NewMessages {
    first: FirstBlock,
    list: Vec<NewMessage>,
}

#[derive(Clone, Debug)]
struct NewMessage {
    kind: u16,
    flags: u8,
    order: u16,
    body: Vec<u8>,
}

impl Hdf5Edit {
    /// Begins with a file as it is.
    ///
    /// # Errors
    ///
    /// Returns an error when the file keeps books that an edit would make wrong.
    pub fn new(file: &Hdf5File) -> Result<Hdf5Edit> {
        let (superblock, sizes) = (file.superblock(), file.reader().sizes);
        if (sizes.offset, sizes.length) != (8, 8) {
            return Err(refused("its addresses do not have 64 bits"));
        }
        if superblock.is_open {
            return Err(refused("a program that writes to it has not closed it"));
        }
        if let Some(extension) = superblock.extension {
            let messages = header::raw(file.reader(), extension)?.messages;
            if messages.iter().any(|it| [kind::FREE_SPACE, kind::CACHE_IMAGE].contains(&it.kind)) {
                return Err(refused("it keeps a list of its free space, which would be wrong"));
            }
        }
        let mut image = Image::from_source(file.source());
        // Addresses count from the base.
        let base = file.base();
        let end = image.len().max(superblock.end).saturating_sub(base);
        let Some(end) = end.checked_next_multiple_of(8) else {
            return Err(refused("it is too long"));
        };
        image.resize(base.saturating_add(end));
        let (file, heaps) = (file.clone(), NewHeaps::new(end));
        Ok(Hdf5Edit { file, image, headers: BTreeMap::new(), heaps })
    }

    /// The messages of the object at an address, as they will be.
    fn messages(&mut self, address: u64) -> Result<&mut NewMessages> {
        if !self.headers.contains_key(&address) {
            let header = header::raw(self.file.reader(), address)?;
            let kept = header.messages.into_iter();
            let kept = kept.filter(|it| ![kind::EMPTY, kind::CONTINUATION].contains(&it.kind));
            let list = kept.map(|it| NewMessage {
                kind: it.kind,
                flags: it.flags,
                order: it.order.unwrap_or(0),
                body: it.body.bytes,
            });
            let new = NewMessages { first: header.first, list: list.collect() };
            self.headers.insert(address, new);
        }
        self.headers.get_mut(&address).ok_or_else(|| refused("an object is not there"))
    }

    /// The new file.
    ///
    /// # Errors
    ///
    /// Returns an error when a message is too long for a header, or the file cannot be read.
    pub fn finish(mut self) -> Result<Image> {
        self.heaps.close();
        self.image.append(self.heaps.bytes);
        let base = self.file.base();
        for messages in self.headers.into_values() {
            let address = self.image.len().saturating_sub(base);
            let block = messages.block()?;
            for (at, bytes) in messages.first_block(address, block.len())? {
                self.image.put(at, bytes);
            }
            self.image.append(block);
            self.image.resize(self.image.len().next_multiple_of(8));
        }
        let len = self.image.len();
        for (at, bytes) in self.file.superblock().with_len(self.file.source(), len)? {
            self.image.put(at, bytes);
        }
        Ok(self.image)
    }
}

impl NewMessages {
    fn has_order(&self) -> bool {
        self.first.flags.is_some_and(|flags| flags & 4 != 0)
    }

    /// Adds a message.
    fn push(&mut self, kind: u16, body: Vec<u8>) {
        self.list.push(NewMessage { kind, flags: 0, order: 0, body });
    }

    /// A message with its head.
    fn framed(&self, message: &NewMessage) -> Result<Vec<u8>> {
        let NewMessage { kind, flags, order, body } = message;
        if MESSAGE_LEN_MAX < body.len() {
            return Err(refused("an attribute is longer than a header holds"));
        }
        let is_old = self.first.flags.is_none();
        let padded = if is_old { body.len().next_multiple_of(8) } else { body.len() };
        let len = u16::try_from(padded).unwrap_or(u16::MAX).to_le_bytes();
        let mut bytes = Vec::new();
        if is_old {
            bytes.extend(kind.to_le_bytes());
            bytes.extend(len);
            bytes.extend([*flags, 0, 0, 0]);
        } else {
            bytes.push(kind.to_le_bytes()[0]);
            bytes.extend(len);
            bytes.push(*flags);
            if self.has_order() {
                bytes.extend(order.to_le_bytes());
            }
        }
        let end = bytes.len().saturating_add(padded);
        bytes.extend(body);
        bytes.resize(end, 0);
        Ok(bytes)
    }

    /// The block with all messages.
    fn block(&self) -> Result<Vec<u8>> {
        let mut bytes = if self.first.flags.is_some() { b"OCHK".to_vec() } else { Vec::new() };
        for message in &self.list {
            bytes.extend(self.framed(message)?);
        }
        if self.first.flags.is_some() {
            bytes.extend(lookup3(&bytes).to_le_bytes());
        }
        Ok(bytes)
    }

    /// The first block, which leads on to the block at this address; each part with its place in the file.
    fn first_block(&self, address: u64, len: usize) -> Result<Vec<(u64, Vec<u8>)>> {
        let first = &self.first;
        let mut body = address.to_le_bytes().to_vec();
        body.extend((len as u64).to_le_bytes());
        debug_assert_eq!(body.len(), CONTINUATION_LEN);
        let of = |kind, body| NewMessage { kind, flags: 0, order: 0, body };
        let mut bytes = self.framed(&of(kind::CONTINUATION, body))?;
        let head_len = bytes.len() - CONTINUATION_LEN;
        if first.len < bytes.len() {
            return Err(refused("the header of an object is too short"));
        }
        let mut count = 1 + self.list.len();
        while head_len <= first.len - bytes.len() {
            let room = (first.len - bytes.len() - head_len).min(MESSAGE_LEN_MAX);
            bytes.extend(self.framed(&of(kind::EMPTY, vec![0; room]))?);
            count += 1;
        }
        bytes.resize(first.len, 0);
        let start = first.at.saturating_add(first.head.len() as u64);
        if first.flags.is_none() {
            let count = u16::try_from(count);
            let count = count.map_err(|_| refused("a group has too many links"))?;
            let count = count.to_le_bytes().to_vec();
            return Ok(vec![(first.at.saturating_add(2), count), (start, bytes)]);
        }
        let sum = lookup3(&[&first.head[..], &bytes].concat());
        bytes.extend(sum.to_le_bytes());
        Ok(vec![(start, bytes)])
    }
}
