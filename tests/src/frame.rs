//! Zstandard frames (RFC 8878) written by hand: stored and run-length blocks only.

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// One mebibyte: exponent 10, mantissa 0.
const WINDOW: u8 = 10 << 3;
const BLOCK_MAX: usize = 128 << 10;

/// A frame of stored blocks with a window and no content size.
#[must_use]
pub fn plain(content: &[u8]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend([0x00, WINDOW]);
    let mut blocks = content.chunks(BLOCK_MAX).peekable();
    if blocks.peek().is_none() {
        block(&mut out, Last::Yes, 0, 0);
    }
    while let Some(part) = blocks.next() {
        let last = if blocks.peek().is_none() { Last::Yes } else { Last::No };
        block(&mut out, last, 0, part.len());
        out.extend(part);
    }
    out
}

/// A frame that states a content size of eight bytes' width, whatever it holds.
#[must_use]
pub fn stating(content: &[u8], content_len: u64) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend([0xc0, WINDOW]);
    out.extend(content_len.to_le_bytes());
    block(&mut out, Last::Yes, 0, content.len());
    out.extend(content);
    out
}

/// A frame that names a dictionary.
#[must_use]
pub fn with_dictionary(content: &[u8]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend([0x01, WINDOW, 7]);
    block(&mut out, Last::Yes, 0, content.len());
    out.extend(content);
    out
}

/// A frame that asks for a window of `2^log` bytes.
#[must_use]
pub fn with_window(content: &[u8], log: u8) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend([0x00, (log - 10) << 3]);
    block(&mut out, Last::Yes, 0, content.len());
    out.extend(content);
    out
}

/// A frame of `count` run-length blocks of 128 KiB: four bytes each, the densest there is.
#[must_use]
pub fn bomb(count: usize) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend([0x00, WINDOW]);
    for number in 1..=count {
        block(&mut out, if number == count { Last::Yes } else { Last::No }, 1, BLOCK_MAX);
        out.push(0);
    }
    out
}

/// A skippable frame.
#[must_use]
pub fn skippable(content: &[u8]) -> Vec<u8> {
    let mut out = vec![0x50, 0x2a, 0x4d, 0x18];
    out.extend(u32::try_from(content.len()).unwrap().to_le_bytes());
    out.extend(content);
    out
}

#[derive(Clone, Copy, PartialEq)]
enum Last {
    Yes,
    No,
}

fn block(out: &mut Vec<u8>, last: Last, kind: u32, len: usize) {
    let header = u32::from(last == Last::Yes) | kind << 1 | u32::try_from(len).unwrap() << 3;
    out.extend(&header.to_le_bytes()[..3]);
}
