use proptest::prelude::*;

use super::*;

fn encoded(decoded: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    ZstdEncoder::new(3).unwrap().encode(decoded, &mut out).unwrap();
    out
}

/// A frame without content size and checksum, as other programs write it.
fn bare(decoded: &[u8]) -> Vec<u8> {
    let mut context = CCtx::create();
    context.set_parameter(CParameter::ContentSizeFlag(false)).unwrap();
    let mut out = Vec::with_capacity(compress_bound(decoded.len()));
    context.compress2(&mut out, decoded).unwrap();
    out
}

fn skippable(len: u32) -> Vec<u8> {
    let mut out = (SKIPPABLE_MAGIC + 3).to_le_bytes().to_vec();
    out.extend(len.to_le_bytes());
    out.resize(8 + len as usize, 0xEE);
    out
}

fn decode(stored: &[u8], len: usize) -> Result<Vec<u8>> {
    let mut out = vec![0; len];
    Zstd.decode(stored, &mut out).map(|()| out)
}

const TEXT: &[u8] = b"the quick brown fox jumps over the lazy dog; the quick brown fox sleeps";

#[test]
fn our_frames_carry_content_size_and_checksum() {
    let stored = encoded(TEXT);
    let size = zstd_safe::get_frame_content_size(&stored).unwrap();
    assert_eq!(size, Some(TEXT.len() as u64));
    assert_eq!(stored[4] & 0x04, 0x04, "the checksum flag is set");
    assert_eq!(find_frame_compressed_size(&stored), Ok(stored.len()), "one frame");
    assert_eq!(decode(&stored, TEXT.len()).unwrap(), TEXT);
}

#[test]
fn concatenated_and_skippable_frames_decode_as_one() {
    let (head, tail) = TEXT.split_at(30);
    let cases = [
        bare(TEXT),
        [bare(head), bare(tail)].concat(),
        [skippable(0), encoded(head), skippable(9), bare(tail), skippable(3)].concat(),
        [encoded(&[]), encoded(TEXT), encoded(&[])].concat(),
    ];
    for stored in cases {
        assert_eq!(decode(&stored, TEXT.len()).unwrap(), TEXT);
    }
}

#[test]
fn h6_longer_or_shorter_than_stated_is_an_error() {
    let len = TEXT.len();
    let codec = NAME;
    for stored in [encoded(TEXT), bare(TEXT)] {
        let decoded_len = len as u64 - 1;
        assert_eq!(decode(&stored, len - 1), Err(Error::TooLong { codec, decoded_len }));
        let (found, decoded_len) = (len as u64, len as u64 + 1);
        assert_eq!(decode(&stored, len + 1), Err(Error::TooShort { codec, found, decoded_len }));
    }
}

#[test]
fn h7_lengths_bound_each_other_exactly() {
    for stored_len in [0, 3, 4, 7, 8, 1 << 20] {
        let most = (stored_len / 4 + 1) * 131_072;
        assert!(Zstd.check_len(stored_len, most).is_ok());
        let error = Zstd.check_len(stored_len, most + 1).unwrap_err();
        assert_eq!(error, Error::Lengths { codec: NAME, stored_len, decoded_len: most + 1 });
    }
    assert!(Zstd.check_len(u64::MAX, u64::MAX).is_ok());
}

#[test]
fn h7_the_worst_real_frame_is_within_the_bound() {
    let zeros = vec![0; 64 << 20];
    let stored = bare(&zeros);
    assert!(Zstd.check_len(stored.len() as u64, zeros.len() as u64).is_ok());
}

#[test]
fn h8_trailing_bytes_are_refused_with_their_place() {
    let frame = encoded(TEXT);
    let at = frame.len() as u64;
    for tail in [&[0][..], &[0; 3], &[0; 64], b"\x28\xb5\x2f", b"TETR"] {
        let stored = [&frame, tail].concat();
        let error = decode(&stored, TEXT.len()).unwrap_err();
        assert_eq!(error, Error::NotAFrame { codec: NAME, at });
    }
    let error = decode(b"no frame at all", 8).unwrap_err();
    assert_eq!(error, Error::NotAFrame { codec: NAME, at: 0 });
}

#[test]
fn h8_dictionaries_are_refused() {
    // Magic, descriptor (one byte of dictionary id, single segment), id 7, content size 0.
    let stored = [0x28, 0xB5, 0x2F, 0xFD, 0x21, 7, 0, 1, 0, 0];
    assert_eq!(decode(&stored, 0), Err(Error::Dictionary { at: 0, id: 7 }));
    // Dictionary 0 means none.
    let stored = [0x28, 0xB5, 0x2F, 0xFD, 0x21, 0, 0, 1, 0, 0];
    assert_eq!(decode(&stored, 0), Ok(vec![]));
}

#[test]
fn h8_windows_end_at_two_to_the_27() {
    // Magic, descriptor (no flag at all), window descriptor, one empty last block.
    let frame = |window: u8| [0x28, 0xB5, 0x2F, 0xFD, 0, window, 1, 0, 0];
    assert_eq!(decode(&frame(17 << 3), 0), Ok(vec![]));
    let (found, wanted) = ((1 << 27) + (1 << 24), 1 << 27);
    assert_eq!(decode(&frame(17 << 3 | 1), 0), Err(Error::Window { at: 0, found, wanted }));
}

#[test]
fn every_prefix_of_a_frame_is_refused() {
    let stored = encoded(TEXT);
    for len in 0..stored.len() {
        assert!(decode(&stored[..len], TEXT.len()).is_err(), "prefix of {len}");
    }
    assert_eq!(decode(&[], 0), Ok(vec![]));
}

#[test]
fn any_flipped_bit_of_ours_is_noticed_or_harmless() {
    let stored = encoded(TEXT);
    for bit in 0..stored.len() * 8 {
        let mut broken = stored.clone();
        broken[bit / 8] ^= 1 << (bit % 8);
        if let Ok(decoded) = decode(&broken, TEXT.len()) {
            assert_eq!(decoded, TEXT, "bit {bit} changed the answer in silence");
        }
    }
    let mut broken = stored;
    *broken.last_mut().unwrap() ^= 1;
    assert_eq!(decode(&broken, TEXT.len()), Err(Error::Checksum { codec: NAME }));
}

#[test]
fn levels_are_zstd_levels() {
    let (min, max) = (zstd_safe::min_c_level(), zstd_safe::max_c_level());
    for level in [min, -1, 0, 1, 3, max] {
        let mut out = Vec::new();
        ZstdEncoder::new(level).unwrap().encode(TEXT, &mut out).unwrap();
        assert_eq!(decode(&out, TEXT.len()).unwrap(), TEXT);
    }
    for level in [min - 1, max + 1] {
        let wanted = Error::Level { codec: NAME, level, min, max };
        assert_eq!(ZstdEncoder::new(level), Err(wanted));
    }
}

#[test]
fn a_failed_chunk_leaves_the_context_usable() {
    let stored = encoded(TEXT);
    assert!(decode(&stored, 3).is_err());
    assert!(decode(&stored[..20], TEXT.len()).is_err());
    assert_eq!(decode(&stored, TEXT.len()).unwrap(), TEXT);
}

/// The answer of a scan in pieces of so many bytes.
fn scan(stored: &[u8], piece: usize, decoded_max: u64) -> Result<Scanned> {
    let mut scan = ZstdScan::new().unwrap();
    // Earlier bytes do not matter.
    scan.begin(9, 27).unwrap();
    let _ = scan.update(&encoded(TEXT));
    scan.begin(decoded_max, 27)?;
    stored.chunks(piece).try_for_each(|piece| scan.update(piece))?;
    scan.finish()
}

#[test]
fn a_scan_finds_what_decoding_finds_whatever_the_pieces() {
    let (head, tail) = TEXT.split_at(30);
    let long: Vec<u8> = (0..400_000_u32).map(|at| (at.wrapping_mul(at) >> 9) as u8).collect();
    let good = [
        (encoded(TEXT), TEXT.len(), 0),
        ([bare(head), bare(tail)].concat(), TEXT.len(), 0),
        ([skippable(0), encoded(head), skippable(9), bare(tail)].concat(), TEXT.len(), 25),
        ([encoded(&[]), encoded(TEXT), encoded(&[])].concat(), TEXT.len(), 0),
        (encoded(&vec![0; 1 << 20]), 1 << 20, 0),
        ([bare(&long), encoded(&long)].concat(), 800_000, 0),
        (vec![], 0, 0),
    ];
    for (stored, len, skipped_len) in good {
        for piece in [1, 7, 64, 1000, 1 << 20] {
            let wanted = Scanned { decoded_len: len as u64, skipped_len };
            assert_eq!(scan(&stored, piece, len as u64), Ok(wanted), "pieces of {piece}");
            if let Some(decoded_max) = (len as u64).checked_sub(1) {
                let error = scan(&stored, piece, decoded_max);
                assert!(matches!(error, Err(Error::TooLong { .. })), "{error:?}");
            }
        }
        assert_eq!(decode(&stored, len).map(|it| it.len()), Ok(len));
    }
}

#[test]
fn a_scan_refuses_what_decoding_refuses() {
    let frame = encoded(TEXT);
    let at = frame.len() as u64;
    let dictionary = vec![0x28, 0xB5, 0x2F, 0xFD, 0x21, 7, 0, 1, 0, 0];
    let window = vec![0x28, 0xB5, 0x2F, 0xFD, 0, 17 << 3 | 1, 1, 0, 0];
    for piece in [1, 5, 4096] {
        for tail in [&[0][..], &[0; 3], &[0; 64], b"\x28\xb5\x2f", b"TETR"] {
            let stored = [&frame, tail].concat();
            let wanted = Err(Error::NotAFrame { codec: NAME, at });
            assert_eq!(scan(&stored, piece, 1000), wanted);
        }
        let refused = scan(&dictionary, piece, 9);
        assert_eq!(refused, Err(Error::Dictionary { at: 0, id: 7 }));
        assert!(matches!(scan(&window, piece, 9), Err(Error::Window { at: 0, .. })));
        for len in 1..frame.len() {
            assert!(scan(&frame[..len], piece, 1000).is_err(), "prefix of {len}");
        }
        for bit in 0..frame.len() * 8 {
            let mut broken = frame.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            let found = scan(&broken, piece, 1 << 20).map(|it| it.decoded_len);
            let decoded = decode(&broken, TEXT.len()).map(|it| it.len() as u64);
            assert!(found == decoded || decoded.is_err() && found != Ok(71), "bit {bit}");
        }
    }
}

#[test]
fn a_scan_shows_what_decoding_gives() {
    let long: Vec<u8> = (0..400_000_u32).map(|at| (at.wrapping_mul(at) >> 9) as u8).collect();
    let (head, tail) = long.split_at(150_000);
    let stored = [bare(head), skippable(5), encoded(tail), encoded(&[])].concat();
    for piece in [1, 13, 4096, 1 << 20] {
        let (mut scan, mut shown) = (ZstdScan::new().unwrap(), Vec::new());
        scan.begin(long.len() as u64, 27).unwrap();
        for piece in stored.chunks(piece) {
            scan.update_with(piece, |bytes| shown.extend_from_slice(bytes)).unwrap();
        }
        scan.finish_with(|bytes| shown.extend_from_slice(bytes)).unwrap();
        assert_eq!(shown, long, "pieces of {piece}");
    }
}

/// Walks frames and blocks, and gives the stored length of each frame and what it says of its content.
fn walk(stored: &[u8]) -> Vec<(u64, Option<u64>)> {
    let (mut at, mut frames) = (0, Vec::new());
    while at < stored.len() {
        let start = at;
        let content = match ZstdStart::read(&stored[at..], at as u64).unwrap() {
            ZstdStart::Skippable { header_len, content_len } => {
                at += (header_len + content_len) as usize;
                continue;
            }
            ZstdStart::Frame { header_len, content_len, checksum_len } => {
                at += header_len as usize;
                loop {
                    let block = ZstdBlock::read(*stored[at..].first_chunk().unwrap()).unwrap();
                    at += (ZstdBlock::HEADER_LEN + block.stored_len) as usize;
                    if block.is_last {
                        break;
                    }
                }
                at += checksum_len as usize;
                content_len
            }
        };
        frames.push(((at - start) as u64, content));
    }
    frames
}

#[test]
fn frames_are_found_without_decoding() {
    let long: Vec<u8> = (0..400_000_u32).map(|at| (at.wrapping_mul(at) >> 9) as u8).collect();
    let zeros = vec![0; 1 << 20];
    let decoded = [&long[..], &zeros, TEXT, &[]];
    let frames: Vec<Vec<u8>> = decoded.iter().flat_map(|it| [encoded(it), bare(it)]).collect();
    let mut stored = skippable(7);
    let mut wanted = Vec::new();
    for (frame, decoded) in frames.iter().zip(decoded.iter().flat_map(|it| [it, it])) {
        stored.extend_from_slice(frame);
        stored.extend(skippable(3));
        wanted.push((frame.len() as u64, decoded.len() as u64));
    }
    let found = walk(&stored);
    assert_eq!(found.len(), wanted.len());
    for (at, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
        assert_eq!(found.0, wanted.0, "frame {at}");
        assert_eq!(found.1, (at % 2 == 0).then_some(wanted.1), "frame {at}");
    }
    assert!(matches!(ZstdStart::read(b"abcd", 3), Err(Error::NotAFrame { at: 3, .. })));
    assert!(ZstdStart::read(&stored[10..12], 0).is_err());
    assert_eq!(ZstdBlock::read([6, 0, 0]), None, "a kind that is none");
}

/// Decoding in pieces takes a compressed block without bytes; decoding in one go does not, and so
/// neither do we.
#[test]
fn an_empty_compressed_block_is_refused_either_way() {
    let block = |kind: u8| vec![0x28, 0xB5, 0x2F, 0xFD, 0, 0x50, kind << 1 | 1, 0, 0];
    let whole = encoded(TEXT);
    for (frame, is_sound) in [(block(2), false), (block(0), true)] {
        let stored = [frame, whole.clone()].concat();
        assert_eq!(decode(&stored, TEXT.len()).is_ok(), is_sound);
        for piece in [1, 2, 7, 4096] {
            assert_eq!(scan(&stored, piece, 1000).is_ok(), is_sound, "in pieces of {piece}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_come_back(decoded in prop::collection::vec(any::<u8>(), 0..4096)) {
        prop_assert_eq!(decode(&encoded(&decoded), decoded.len()).unwrap(), decoded);
    }

    #[test]
    fn any_bytes_get_an_answer(stored in prop::collection::vec(any::<u8>(), 0..256), len in 0..512_usize) {
        let framed = [&FRAME_MAGIC.to_le_bytes()[..], &stored].concat();
        let _ = decode(&framed, len);
        let _ = decode(&stored, len);
    }
}

#[test]
fn a_streamed_frame_is_the_same_for_any_pieces() {
    let elements: Vec<u8> = (0..700_000_u32).map(|at| (at.wrapping_mul(at) >> 13) as u8).collect();
    let stream = |decoded: &[u8], piece_len: usize| {
        let (mut out, mut stream) = (Vec::new(), ZstdStream::new(0).unwrap());
        decoded.chunks(piece_len).for_each(|piece| stream.update(piece, &mut out).unwrap());
        stream.finish(&mut out).unwrap();
        out
    };
    let whole = stream(&elements, elements.len());
    assert_eq!(decode(&whole, elements.len()).unwrap(), elements);
    assert_eq!(whole[..6], [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58], "no content size, no checksum");
    for piece_len in [1000, 131_072, 131_073] {
        assert_eq!(stream(&elements, piece_len), whole);
    }
    assert_eq!(stream(&[], 1), [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x00, 0x01, 0x00, 0x00]);
    assert!(ZstdStream::new(99).is_err());
}
