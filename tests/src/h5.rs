//! HDF5 files byte by byte, and hostile ones: a second opinion on the format, which uses nothing of the reader.
//!
//! ```text
//!       0  superblock of version 0: addresses and lengths have 8 bytes
//!    4096  the header of the first object; each object has 4096 bytes for its header and what it names
//!     end  the header of the root group: one link for each object
//! ```

mod hostile;

pub use hostile::{HostileFile, hostile_files};

/// The bytes that each object has.
pub const SLOT: u64 = 4096;

/// A message: its type and its body.
pub type Message = (u16, Vec<u8>);

/// A file: objects with their names, and bytes at places.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// Names and headers.
    objects: Vec<(Vec<u8>, Vec<u8>)>,
    links: Vec<Message>,
    parts: Vec<(u64, Vec<u8>)>,
}

impl Sheet {
    /// A file with the dataset `good` of the numbers 1, 2, 3, 4.
    #[must_use]
    pub fn new() -> Sheet {
        let data = slot(0) + 2048;
        let messages = vec![bytes_type(), space(&[4], &[]), contiguous(data, 4)];
        Sheet::default().object(b"good", messages).part(data, &[1, 2, 3, 4])
    }

    /// Adds an object; its slot has the number of objects before it.
    #[must_use]
    pub fn object(self, name: &[u8], messages: Vec<Message>) -> Sheet {
        self.longer(name, &messages, 0)
    }

    /// Adds an object whose header goes on with `more` messages elsewhere.
    #[must_use]
    pub fn longer(mut self, name: &[u8], messages: &[Message], more: u16) -> Sheet {
        self.objects.push((name.to_vec(), header(messages, more)));
        self
    }

    /// Adds a link to the root group.
    #[must_use]
    pub fn link(mut self, link: Message) -> Sheet {
        self.links.push(link);
        self
    }

    /// Adds bytes at an address.
    #[must_use]
    pub fn part(mut self, at: u64, bytes: &[u8]) -> Sheet {
        self.parts.push((at, bytes.to_vec()));
        self
    }

    /// The file.
    #[must_use]
    pub fn assemble(&self) -> Vec<u8> {
        let mut file = vec![0; 256];
        let mut links = Vec::new();
        for (number, (name, header)) in self.objects.iter().enumerate() {
            let at = slot(number as u64);
            put(&mut file, at, header);
            links.push(hard_link(name, at));
        }
        links.extend(self.links.iter().cloned());
        for (at, bytes) in &self.parts {
            put(&mut file, *at, bytes);
        }
        let root = file.len().next_multiple_of(8) as u64;
        put(&mut file, root, &header(&links, 0));
        let end = file.len() as u64;
        put(&mut file, 0, &superblock(root, end));
        file
    }
}

/// The address of the slot of an object.
#[must_use]
pub const fn slot(number: u64) -> u64 {
    SLOT * (number + 1)
}

/// Writes bytes at a place of a file, which becomes longer as needed.
fn put(file: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    let at = usize::try_from(at).unwrap();
    file.resize(file.len().max(at + bytes.len()), 0);
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

fn superblock(root: u64, end: u64) -> Vec<u8> {
    let mut bytes = b"\x89HDF\r\n\x1a\n".to_vec();
    bytes.extend([0, 0, 0, 0, 0, 8, 8, 0, 4, 0, 16, 0, 0, 0, 0, 0]);
    for number in [0, u64::MAX, end, u64::MAX, 0, root, 0, 0, 0] {
        bytes.extend(number.to_le_bytes());
    }
    bytes
}

/// An object header of version 1, which goes on with `more` messages elsewhere.
#[must_use]
pub fn header(messages: &[Message], more: u16) -> Vec<u8> {
    let body: Vec<u8> = messages.iter().flat_map(message).collect();
    let count = u16::try_from(messages.len()).unwrap() + more;
    let mut header = vec![1, 0];
    header.extend(count.to_le_bytes());
    header.extend(1_u32.to_le_bytes());
    header.extend(u32::try_from(body.len()).unwrap().to_le_bytes());
    header.extend([0; 4]);
    header.extend(body);
    header
}

/// A message with its head, padded to 8 bytes.
fn message((kind, body): &Message) -> Vec<u8> {
    let len = u16::try_from(body.len().next_multiple_of(8)).unwrap();
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend(len.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(body);
    bytes.resize(8 + usize::from(len), 0);
    bytes
}

/// A link to the object at an address.
#[must_use]
pub fn hard_link(name: &[u8], address: u64) -> Message {
    let len = u8::try_from(name.len()).unwrap();
    (6, [&[1, 0, len], name, &address.to_le_bytes()].concat())
}

/// A link to a path.
#[must_use]
pub fn soft_link(name: &[u8], path: &[u8]) -> Message {
    let len = u8::try_from(name.len()).unwrap();
    let path_len = u16::try_from(path.len()).unwrap().to_le_bytes();
    (6, [&[1, 8, 1, len], name, &path_len, path].concat())
}

/// Where a header goes on.
#[must_use]
pub fn continuation(at: u64, len: u64) -> Message {
    (0x10, [at, len].map(u64::to_le_bytes).concat())
}

/// The group of old files: a tree and a heap of names.
#[must_use]
pub fn symbol_table(tree: u64, heap: u64) -> Message {
    (0x11, [tree, heap].map(u64::to_le_bytes).concat())
}

/// The type uint8.
#[must_use]
pub fn bytes_type() -> Message {
    (3, vec![0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0])
}

/// A dataspace; `u64::MAX` in the largest shape is no bound.
#[must_use]
pub fn space(shape: &[u64], max_shape: &[u64]) -> Message {
    let mut body = vec![2, u8::try_from(shape.len()).unwrap(), u8::from(!max_shape.is_empty()), 1];
    body.extend(shape.iter().chain(max_shape).flat_map(|extent| extent.to_le_bytes()));
    (1, body)
}

/// Elements in one piece.
#[must_use]
pub fn contiguous(at: u64, len: u64) -> Message {
    (8, [&[3, 1][..], &at.to_le_bytes(), &len.to_le_bytes()].concat())
}

/// Chunks of layout version 4 with the bytes that the kind of index has, and its address.
#[must_use]
pub fn chunked(shape: &[u64], flags: u8, kind: u8, index: &[u8], at: u64) -> Message {
    let rank = u8::try_from(shape.len() + 1).unwrap();
    let mut body = vec![4, 2, flags, rank, 8];
    body.extend(shape.iter().chain(&[1]).flat_map(|extent| extent.to_le_bytes()));
    body.push(kind);
    body.extend(index);
    body.extend(at.to_le_bytes());
    (8, body)
}

/// Chunks of layout version 3, whose index is a B-tree of version 1.
#[must_use]
pub fn tree_chunks(shape: &[u32], tree: u64) -> Message {
    let mut body = vec![3, 2, u8::try_from(shape.len() + 1).unwrap()];
    body.extend(tree.to_le_bytes());
    body.extend(shape.iter().chain(&[1]).flat_map(|extent| extent.to_le_bytes()));
    (8, body)
}

/// The filter deflate.
#[must_use]
pub fn deflate() -> Message {
    (0x0b, vec![2, 1, 1, 0, 0, 0, 1, 0, 6, 0, 0, 0])
}

/// A node of a B-tree of version 1: its type and level, and keys with children.
#[must_use]
pub fn node(kind: u8, level: u8, entries: &[(Vec<u8>, u64)]) -> Vec<u8> {
    let mut bytes = [b"TREE", &[kind, level][..]].concat();
    bytes.extend(u16::try_from(entries.len()).unwrap().to_le_bytes());
    bytes.extend([0xFF; 16]);
    for (key, child) in entries {
        bytes.extend(key);
        bytes.extend(child.to_le_bytes());
    }
    bytes
}

/// The key of a chunk of one axis: its stored length and its offset.
#[must_use]
pub fn key(len: u32, offset: u64) -> Vec<u8> {
    let mut key = len.to_le_bytes().to_vec();
    key.extend([0; 4]);
    key.extend(offset.to_le_bytes());
    key.extend([0; 8]);
    key
}

/// A structure with its checksum behind it.
#[must_use]
pub fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = lookup3(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// Bob Jenkins' `hashlittle` of lookup3.c, with the first value 0.
fn lookup3(bytes: &[u8]) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(u32::try_from(bytes.len()).unwrap());
    let [mut a, mut b, mut c] = [start; 3];
    let mut rest = bytes;
    while !rest.is_empty() {
        let mut block = [0; 12];
        let len = rest.len().min(12);
        block[..len].copy_from_slice(&rest[..len]);
        let word = |at: usize| u32::from_le_bytes(block[at..at + 4].try_into().unwrap());
        (a, b, c) = (a.wrapping_add(word(0)), b.wrapping_add(word(4)), c.wrapping_add(word(8)));
        let is_last = rest.len() <= 12;
        rest = &rest[len..];
        (a, b, c) = if is_last { last(a, b, c) } else { mixed(a, b, c) };
    }
    c
}

fn mixed(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    for rotation in [4, 6, 8, 16, 19, 4] {
        a = a.wrapping_sub(c) ^ c.rotate_left(rotation);
        c = c.wrapping_add(b);
        (a, b, c) = (b, c, a);
    }
    (a, b, c)
}

fn last(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    for rotation in [14, 11, 25, 16, 4, 14, 24] {
        c = (c ^ b).wrapping_sub(b.rotate_left(rotation));
        (a, b, c) = (b, c, a);
    }
    // Seven turns of three are one turn more than none.
    (c, a, b)
}
