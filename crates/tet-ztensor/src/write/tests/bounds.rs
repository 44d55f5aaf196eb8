//! Memory, threads, pieces and places.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tet_codec::{Decode, Zstd};
use tet_format::DType;

use super::*;

/// One file with every encoding and alignment, its elements given in pieces of so many bytes.
fn file(piece_len: usize) -> (Vec<u8>, Vec<(u64, u64)>) {
    let mut writer = Writer::new(Vec::new(), &WriteOptions::default()).unwrap();
    let mut places = Vec::new();
    for encoding in [EncodingChoice::Raw, EncodingChoice::zstd()] {
        for align in [Align::Line, Align::Page, Align::LargePage] {
            for (count, len) in [0, 1, 100, 1 << 18, 1_300_000, 4_000_000].iter().enumerate() {
                let options =
                    WriteOptions { encoding, align, align_len_min: 100, ..Default::default() };
                let name = format!("{encoding:?}.{align:?}.{count}");
                let declared = Declaration::new(name, DType::UInt8, [*len as u64]);
                let mut tensor = writer.tensor_as(declared, &options).unwrap();
                elements(*len).chunks(piece_len).for_each(|it| tensor.write(it).unwrap());
                let span = tensor.finish().unwrap();
                let multiple = if *len < 100 { 64 } else { align.multiple() };
                assert_eq!(span.start() % multiple, 0);
                places.push((span.start(), span.len()));
            }
        }
    }
    (writer.finish().unwrap().0, places)
}

#[test]
fn bytes_do_not_depend_on_pieces_and_threads() {
    let (whole, _) = file(usize::MAX);
    assert!(file(100_003).0 == whole);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert!(pool.install(|| file(1 << 21)).0 == whole, "{threads} threads");
    }
}

#[test]
fn a_long_blob_is_frames_and_their_table() {
    let (bytes, places) = file(usize::MAX);
    for (place, len) in places[18..].iter().zip([0, 1, 100, 1 << 18, 1_300_000, 4_000_000]) {
        let (start, stored_len) = (place.0 as usize, place.1 as usize);
        let blob = &bytes[start..start + stored_len];
        let mut decoded = vec![0; len];
        Zstd.decode(blob, &mut decoded).unwrap();
        assert!(decoded == elements(len));
        if len <= 1 << 18 {
            assert_ne!(blob[blob.len() - 4..], 0x8F92_EAB1_u32.to_le_bytes());
            continue;
        }
        let (rest, magic) = blob.split_at(stored_len - 4);
        assert_eq!(magic, 0x8F92_EAB1_u32.to_le_bytes());
        let count = u32::from_le_bytes(rest[rest.len() - 5..][..4].try_into().unwrap()) as usize;
        assert_eq!((rest[rest.len() - 1], count), (0, len.div_ceil(1 << 18)));
        let table_len = 8 + 8 * count + 9;
        let table = &blob[stored_len - table_len..];
        assert_eq!(table[..4], 0x184D_2A5E_u32.to_le_bytes());
        assert_eq!(table[4..8], u32::try_from(table_len - 8).unwrap().to_le_bytes());
        let (mut at, mut from) = (0, 0);
        for entry in table[8..8 + 8 * count].chunks(8) {
            let [stored, frame_len] = [&entry[..4], &entry[4..]]
                .map(|it| u32::from_le_bytes(it.try_into().unwrap()) as usize);
            let mut frame = vec![0; frame_len];
            Zstd.decode(&blob[at..at + stored], &mut frame).unwrap();
            assert!(frame == elements(len)[from..from + frame_len]);
            (at, from) = (at + stored, from + frame_len);
        }
        assert_eq!((at, from), (stored_len - table_len, len));
    }
}

/// Counts the bytes that arrive.
struct Counter(Arc<AtomicU64>);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.fetch_add(bytes.len() as u64, Ordering::SeqCst);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_is_held_back_is_bounded() {
    let arrived = Arc::default();
    let mut writer = Writer::new(Counter(Arc::clone(&arrived)), &WriteOptions::default()).unwrap();
    let len: u64 = 64 << 20;
    let mut tensor = writer.tensor(Declaration::new("t", DType::UInt8, [len])).unwrap();
    for piece_len in [1000_u64, 100_000, 5_000_000] {
        let piece = vec![1; piece_len as usize];
        let given_len = len - tensor.left_len();
        for count in 1..=4 {
            tensor.write(&piece).unwrap();
            let given = given_len + count * piece_len;
            let held = given - arrived.load(Ordering::SeqCst).min(given);
            assert!(held <= 1 << 20, "{held} bytes are held back");
        }
    }
}
