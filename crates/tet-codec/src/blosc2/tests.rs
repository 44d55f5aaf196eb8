//! Frames put together by hand, and what must not be taken for one. Those of the reference are among
//! the samples.

use super::*;

/// Chunk header before 16 filter codes and parameters.
fn head(flags: u8, typesize: u8, numbers: [usize; 3]) -> Vec<u8> {
    let mut out = vec![5, 1, flags, typesize];
    numbers.iter().for_each(|number| out.extend((*number as u32).to_le_bytes()));
    out
}

fn chunk(flags: u8, typesize: u8, filter: u8, decoded_len: usize, blocks: &[Vec<u8>]) -> Vec<u8> {
    let block_len = decoded_len.div_ceil(blocks.len());
    let mut body = Vec::new();
    let mut at = 32 + 4 * blocks.len();
    for block in blocks {
        body.extend((at as u32).to_le_bytes());
        at += block.len();
    }
    body.extend(blocks.concat());
    let mut out = head(flags, typesize, [decoded_len, block_len, 32 + body.len()]);
    out.extend([0, 0, 0, 0, 0, filter, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    out.extend(body);
    out
}

/// A chunk that is copied.
fn copied(content: &[u8]) -> Vec<u8> {
    let mut out = head(7, 1, [content.len(), content.len(), 32 + content.len()]);
    out.extend([0; 16]);
    out.extend(content);
    out
}

/// A chunk of one value.
fn special(kind: u8, typesize: u8, decoded_len: usize, value: &[u8]) -> Vec<u8> {
    let mut out = head(5, typesize, [decoded_len, decoded_len, 32 + value.len()]);
    out.extend([0; 15]);
    out.push(kind << 4);
    out.extend(value);
    out
}

fn stream(content: &[u8]) -> Vec<u8> {
    [&(content.len() as i32).to_le_bytes()[..], content].concat()
}

/// A frame: chunks are one behind the other, but for those that are offsets.
fn frame(chunks: &[Result<Vec<u8>, u64>], chunk_len: usize, decoded_len: usize) -> Vec<u8> {
    let (mut stored, mut table) = (Vec::new(), Vec::new());
    for chunk in chunks {
        match chunk {
            Ok(bytes) => {
                table.extend((stored.len() as u64).to_le_bytes());
                stored.extend_from_slice(bytes);
            }
            Err(offset) => table.extend(offset.to_le_bytes()),
        }
    }
    let table = copied(&table);
    let frame_len = 87 + stored.len() + table.len() + 3;
    let long = |number: usize| (number as u64).swap_bytes().to_le_bytes().to_vec();
    let short = |number: usize| (number as u32).swap_bytes().to_le_bytes().to_vec();
    let mut out =
        [b"\x9e\xa8b2frame\0\xd2".to_vec(), short(87), vec![0xcf], long(frame_len)].concat();
    out.extend([vec![0xa4, 0x12, 0, 0x51, 3, 0xd3], long(decoded_len)].concat());
    out.extend([vec![0xd3], long(stored.len()), vec![0xd2], short(4), vec![0xd2]].concat());
    out.extend([short(chunk_len), vec![0xd2], short(chunk_len)].concat());
    out.resize(87, 0);
    out.extend([stored, table, vec![0; 3]].concat());
    out
}

fn decoded(payload: &[u8], len: usize) -> Result<Vec<u8>, (u64, FrameFault)> {
    let mut out = vec![0xEE; len];
    decode(payload, &mut out).map(|()| out)
}

#[track_caller]
fn breaks(payload: &[u8], len: usize, wanted: FrameFault) {
    assert_eq!(decoded(payload, len).unwrap_err().1, wanted);
}

/// 24 bytes as two chunks of two blocks, all ways to store a stream among them.
fn sound() -> Vec<u8> {
    let run = [(-7_i32).to_le_bytes().to_vec(), vec![1]].concat();
    // Split: a stream for each byte of an element of two.
    let split = [stream(b"abcd"), 0_i32.to_le_bytes().to_vec()].concat();
    let first = chunk(0x25, 2, 1, 16, &[split, run.repeat(2)]);
    // lz4: two literals, and a match of six.
    let second = chunk(0x35, 1, 0, 8, &[stream(b"\x22xy\x02\x00\x00")]);
    frame(&[Ok(first), Ok(second)], 16, 24)
}

#[test]
fn chunks_blocks_and_streams_are_put_together() {
    assert_eq!(
        decoded(&sound(), 24).unwrap(),
        b"a\0b\0c\0d\0\x07\x07\x07\x07\x07\x07\x07\x07xyxyxyxy"
    );
    let nan = 0x7FC0_0000_u32.to_le_bytes();
    let offset = |kind: u64| Err(1 << 63 | kind << 56);
    let specials =
        [Ok(special(3, 4, 4, b"abcd")), offset(1), offset(2), Ok(special(2, 4, 4, b"")), offset(4)];
    let wanted = [*b"abcd", [0; 4], nan, nan, [0; 4]].concat();
    assert_eq!(decoded(&frame(&specials, 4, 20), 20).unwrap(), wanted);
    assert_eq!(decoded(&frame(&[Ok(copied(b"abc"))], 16, 3), 3).unwrap(), b"abc");
    assert_eq!(decoded(&frame(&[], 16, 0), 0).unwrap(), b"");
}

#[test]
fn every_prefix_and_every_flip_gets_an_answer() {
    let payload = sound();
    for len in 0..payload.len() {
        assert!(decoded(&payload[..len], 24).is_err());
    }
    for bit in 0..payload.len() * 8 {
        let mut flipped = payload.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        drop(decoded(&flipped, 24));
    }
}

#[test]
fn claims_are_bounded() {
    breaks(&sound(), 23, FrameFault::Frame);
    breaks(b"b2frame", 8, FrameFault::Frame);
    // One chunk for many places: they would be longer than what is stored.
    let mut shared = frame(&[Ok(copied(&[7; 8])), Err(0), Err(0)], 8, 24);
    breaks(&shared, 24, FrameFault::Frame);
    shared[62..66].copy_from_slice(&[0, 0, 0, 0]);
    breaks(&shared, 24, FrameFault::Frame);
    // Chunks of a byte each, more than a table may have.
    breaks(&frame(&[Ok(copied(&[7]))], 1, 1 << 20), 1 << 20, FrameFault::Frame);
    breaks(&frame(&[Ok(copied(&[7]))], 2, 2), 2, FrameFault::Chunk);
    breaks(&frame(&[Ok(special(3, 4, 6, b"abcd"))], 6, 6), 6, FrameFault::Chunk);
    breaks(&frame(&[Ok(special(2, 3, 6, b""))], 6, 6), 6, FrameFault::Chunk);
    breaks(&frame(&[Err(1 << 63 | 9 << 56)], 6, 6), 6, FrameFault::Frame);
    let block = |flags, typesize, filter, block: &[u8]| {
        frame(&[Ok(chunk(flags, typesize, filter, 8, &[stream(block)]))], 8, 8)
    };
    breaks(&block(0x35, 1, 0, b"\x22xy\x09\x00"), 8, FrameFault::Chunk);
    breaks(&block(0x15, 1, 0, b"\x03abc"), 8, FrameFault::Chunk);
    breaks(&block(0x75, 1, 0, b"abc"), 8, FrameFault::Chunk);
    breaks(&block(0x95, 1, 0, b"abc"), 8, FrameFault::Chunk);
    breaks(&block(0xD5, 1, 0, b"abc"), 8, FrameFault::NotBuilt);
    breaks(&block(0x35, 1, 3, b"abc"), 8, FrameFault::NotBuilt);
    breaks(&block(0x31, 1, 0, b"abc"), 8, FrameFault::NotBuilt);
    breaks(&block(0x25, 0, 0, b"abc"), 8, FrameFault::Chunk);
}

/// BloscLZ: literals, matches near and far, one that reaches into itself, lengths that go on.
#[test]
fn matches_are_copied() {
    let far: Vec<u8> = (0..9000_u32).map(|at| (at * at / 7) as u8).collect();
    let mut stored = Vec::new();
    for piece in far.chunks(32) {
        stored.push(piece.len() as u8 - 1);
        stored.extend(piece);
    }
    // 3 from 1 back, 9 + 255 + 1 from 4 back, 4 from 8192 + 300 back.
    stored.extend([0x20, 0]);
    stored.extend([0xE0, 255, 1, 3]);
    stored.extend([0x5F, 255, 1, 44]);
    stored.extend([0, b'!']);
    let mut wanted = far;
    for (len, distance) in [(3, 1), (265, 4), (4, 8492)] {
        for _ in 0..len {
            wanted.push(wanted[wanted.len() - distance]);
        }
    }
    wanted.push(b'!');
    let mut out = vec![0; wanted.len()];
    lz::decode(&stored, &mut out).unwrap();
    assert!(out == wanted);
    for len in 0..stored.len() {
        assert!(lz::decode(&stored[..len], &mut out).is_none());
    }
}
