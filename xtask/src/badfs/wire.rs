//! The FUSE protocol, version 7.31, as far as a flat folder needs it (`linux/fuse.h`).

/// The protocol's numbers of requests.
pub(super) mod op {
    pub(crate) const LOOKUP: u32 = 1;
    pub(crate) const FORGET: u32 = 2;
    pub(crate) const GETATTR: u32 = 3;
    pub(crate) const SETATTR: u32 = 4;
    pub(crate) const UNLINK: u32 = 10;
    pub(crate) const RENAME: u32 = 12;
    pub(crate) const LINK: u32 = 13;
    pub(crate) const OPEN: u32 = 14;
    pub(crate) const READ: u32 = 15;
    pub(crate) const WRITE: u32 = 16;
    pub(crate) const STATFS: u32 = 17;
    pub(crate) const RELEASE: u32 = 18;
    pub(crate) const FSYNC: u32 = 20;
    pub(crate) const FLUSH: u32 = 25;
    pub(crate) const INIT: u32 = 26;
    pub(crate) const OPENDIR: u32 = 27;
    pub(crate) const READDIR: u32 = 28;
    pub(crate) const RELEASEDIR: u32 = 29;
    pub(crate) const FSYNCDIR: u32 = 30;
    pub(crate) const CREATE: u32 = 35;
    pub(crate) const INTERRUPT: u32 = 36;
    pub(crate) const DESTROY: u32 = 38;
    pub(crate) const BATCH_FORGET: u32 = 42;
    pub(crate) const RENAME2: u32 = 45;
}

/// The system's numbers of errors.
pub(super) mod errno {
    pub(crate) const ENOENT: i32 = 2;
    pub(crate) const EINTR: i32 = 4;
    pub(crate) const EIO: i32 = 5;
    pub(crate) const EEXIST: i32 = 17;
    pub(crate) const EINVAL: i32 = 22;
    pub(crate) const ENOSPC: i32 = 28;
    pub(crate) const ENOSYS: i32 = 38;
}

/// The longest stretch that the kernel writes in one request.
pub(super) const WRITE_LEN_MAX: u32 = 1 << 17;

/// `FOPEN_DIRECT_IO`: each read of a process is a request of its own.
pub(super) const DIRECT_IO: u32 = 1;

const REQUEST_HEADER_LEN: usize = 40;
const REPLY_HEADER_LEN: usize = 16;

/// One request of the kernel.
pub(super) struct Request<'a> {
    pub(super) op: u32,
    pub(super) unique: u64,
    pub(super) node: u64,
    /// What follows the header.
    pub(super) body: &'a [u8],
}

impl<'a> Request<'a> {
    /// The request that these bytes hold.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let body = bytes.get(REQUEST_HEADER_LEN..)?;
        let (op, unique, node) = (u32_at(bytes, 4)?, u64_at(bytes, 8)?, u64_at(bytes, 16)?);
        Some(Self { op, unique, node, body })
    }

    /// A number of four bytes in the body.
    pub(super) fn u32(&self, at: usize) -> Option<u32> {
        u32_at(self.body, at)
    }

    /// A number of eight bytes in the body.
    pub(super) fn u64(&self, at: usize) -> Option<u64> {
        u64_at(self.body, at)
    }

    /// The names that follow from byte `at` of the body on, each with a zero at its end.
    pub(super) fn names(&self, at: usize) -> impl Iterator<Item = String> {
        let rest = self.body.get(at..).unwrap_or_default();
        rest.split(|&byte| byte == 0).map(|name| String::from_utf8_lossy(name).into_owned())
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// The body of a reply, or a number of an error.
pub(super) type Reply = Result<Vec<u8>, i32>;

/// The bytes of a reply with its header.
pub(super) fn reply(unique: u64, reply: Reply) -> Vec<u8> {
    let (error, body) = match reply {
        Ok(body) => (0, body),
        Err(error) => (-error, Vec::new()),
    };
    let len = u32::try_from(REPLY_HEADER_LEN + body.len()).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(REPLY_HEADER_LEN + body.len());
    bytes.extend(len.to_le_bytes());
    bytes.extend(error.to_le_bytes());
    bytes.extend(unique.to_le_bytes());
    bytes.extend(body);
    bytes
}

/// What `stat` shows of a file.
#[derive(Clone, Copy)]
pub(super) struct Attributes {
    pub(super) node: u64,
    pub(super) len: u64,
    pub(super) mode: u32,
    pub(super) links: u32,
    /// In nanoseconds since 1970.
    pub(super) modified: u64,
    pub(super) changed: u64,
}

const NS: u64 = 1_000_000_000;

impl Attributes {
    /// `struct fuse_attr`.
    fn push(&self, out: &mut Vec<u8>) {
        let blocks = self.len.div_ceil(512);
        let seconds = [self.modified, self.modified, self.changed].map(|ns| ns / NS);
        for field in [self.node, self.len, blocks].into_iter().chain(seconds) {
            out.extend(field.to_le_bytes());
        }
        for ns in [self.modified, self.modified, self.changed] {
            out.extend(u32::try_from(ns % NS).unwrap_or(0).to_le_bytes());
        }
        let (owner, device, block_len, flags) = ([0, 0], 0, 4096, 0);
        for field in [self.mode, self.links, owner[0], owner[1], device, block_len, flags] {
            out.extend(field.to_le_bytes());
        }
    }

    /// `struct fuse_attr_out`, which the kernel is not to keep.
    pub(super) fn stat(&self) -> Vec<u8> {
        let mut out = vec![0; 16];
        self.push(&mut out);
        out
    }

    /// `struct fuse_entry_out`, which the kernel is not to keep.
    pub(super) fn entry(&self) -> Vec<u8> {
        let mut out = self.node.to_le_bytes().to_vec();
        out.resize(40, 0);
        self.push(&mut out);
        out
    }
}

/// `struct fuse_open_out`.
pub(super) fn opened(flags: u32) -> Vec<u8> {
    let mut out = vec![0; 8];
    out.extend(flags.to_le_bytes());
    out.resize(16, 0);
    out
}

/// `struct fuse_init_out`, for this version: asynchronous reads, long writes, and pages that are
/// dropped when a file has another time.
pub(super) fn init(request: &Request<'_>) -> Option<Vec<u8>> {
    const WANTED: u32 = 1 | 1 << 5 | 1 << 12;
    let (readahead, offered) = (request.u32(8)?, request.u32(12)?);
    let mut out = Vec::new();
    for field in [7, 31, readahead, offered & WANTED, 0, WRITE_LEN_MAX, 1] {
        out.extend(u32::to_le_bytes(field));
    }
    out.resize(64, 0);
    Some(out)
}

/// `struct fuse_statfs_out`: a disk with room.
pub(super) fn statfs() -> Vec<u8> {
    let mut out = Vec::new();
    for field in [1_u64 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20] {
        out.extend(field.to_le_bytes());
    }
    for field in [4096_u32, 255, 4096] {
        out.extend(field.to_le_bytes());
    }
    out.resize(80, 0);
    out
}

/// `struct fuse_dirent`s of regular files, from the entry at `from` on, within `len_max` bytes.
pub(super) fn dirents<'a>(
    entries: impl Iterator<Item = (&'a str, u64)>,
    from: u64,
    len_max: u32,
) -> Vec<u8> {
    const REGULAR: u32 = 8;
    let mut out = Vec::new();
    for ((name, node), next) in entries.zip(1_u64..).skip(usize::try_from(from).unwrap_or(0)) {
        let end = out.len() + (24 + name.len()).next_multiple_of(8);
        if end > usize::try_from(len_max).unwrap_or(0) {
            break;
        }
        out.extend(node.to_le_bytes());
        out.extend(next.to_le_bytes());
        out.extend(u32::try_from(name.len()).unwrap_or(0).to_le_bytes());
        out.extend(REGULAR.to_le_bytes());
        out.extend(name.bytes());
        out.resize(end, 0);
    }
    out
}
