//! Streams of the library in both layouts, and damaged ones.
//!
//! `make_golden.py` made golden.txt; `library.txt` was made by a program that called `SZ_compress` and `SZ_decompress`
//! of the headers of SZ3 3.1.7 and 3.3.2 with configurations at random, compiled by GCC for x86-64.

use super::fault::{corrupt, unsupported};
use super::*;
use crate::filter::Sz3Stage;
use crate::{Room, Stage, hdf5_stage};

/// A stream, and the CRC-32 of what it decodes to.
struct Golden {
    number: Sz3Number,
    count: usize,
    stream: Vec<u8>,
    crc: u32,
}

impl Golden {
    fn len(&self) -> usize {
        self.count * usize::try_from(self.number.size()).unwrap()
    }
}

fn golden() -> Vec<Golden> {
    let pairs = |text: &'static str| text.as_bytes().as_chunks::<2>().0.iter();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    let lines = include_str!("golden.txt").lines().chain(include_str!("library.txt").lines());
    lines
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let names = ["f4", "f8", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"];
            let id = names.iter().position(|name| *name == words[0]).unwrap();
            Golden {
                number: Sz3Number::of_id(id.try_into().unwrap()).unwrap(),
                count: words[1].parse().unwrap(),
                stream: pairs(words[2]).map(byte).collect(),
                crc: words[3].parse().unwrap(),
            }
        })
        .collect()
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// A short stream of each layout, of three axes.
fn of_each_layout() -> [Golden; 2] {
    let all = || golden().into_iter().filter(|it| it.stream.len() < 400);
    let is_headed = |it: &Golden| it.stream.starts_with(&MAGIC);
    [all().find(|it| !is_headed(it)).unwrap(), all().find(|it| is_headed(it)).unwrap()]
}

const MAGIC: [u8; 4] = [0x10, 0xF3, 0x42, 0xF3];

#[test]
fn streams_of_the_library_are_decoded_bit_for_bit() {
    let all = golden();
    assert_eq!(all.len(), 158);
    let mut unsupported_count = 0;
    for (at, golden) in all.iter().enumerate() {
        let array = Sz3Array::of_stream(&golden.stream, golden.number).unwrap();
        assert_eq!(array.byte_len(), Some(golden.len() as u64));
        let mut out = vec![0xAA; golden.len()];
        if let Err(error) = array.decode(&mut out) {
            let reason = "regression alone of blocks of one element along an axis";
            assert_eq!(error, unsupported(reason));
            unsupported_count += 1;
            continue;
        }
        assert_eq!(crc(&out), golden.crc, "stream {at}, {:?}", golden.number);
        let mut staged = Vec::new();
        let stage = Sz3Stage::Numbers(golden.number);
        stage.undo(&golden.stream, Room::AtMost(golden.len() as u64 + 5), &mut staged).unwrap();
        assert_eq!(staged, out);
        assert!(stage.undo_into(&golden.stream, &mut out[1..]).is_err());
    }
    assert_eq!(unsupported_count, 1);
}

#[test]
fn short_streams_are_refused() {
    for golden in golden() {
        let mut out = vec![0; golden.len()];
        for len in 0..golden.stream.len() {
            let stage = Sz3Stage::Numbers(golden.number);
            assert!(stage.undo_into(&golden.stream[..len], &mut out).is_err(), "{len}");
        }
        let array = Sz3Array::of_stream(&golden.stream, golden.number).unwrap();
        if array.head.algorithm == Algorithm::Lossless {
            continue;
        }
        let body = array.body().unwrap();
        for len in 0..body.len() {
            assert!(array.elements(&body[..len], &mut out).is_err(), "{len} of {}", body.len());
        }
    }
}

#[test]
fn changed_streams_decode_or_are_refused() {
    for golden in golden() {
        let mut out = vec![0; golden.len()];
        let changes = [1, 0x80, 0xFF, 0x10];
        for at in 0..golden.stream.len() {
            let mut other = golden.stream.clone();
            other[at] ^= changes[at % 4];
            let _ = Sz3Stage::Numbers(golden.number).undo_into(&other, &mut out);
        }
        // A changed body gets behind zstd.
        let array = Sz3Array::of_stream(&golden.stream, golden.number).unwrap();
        if array.head.algorithm == Algorithm::Lossless {
            continue;
        }
        let body = array.body().unwrap();
        for at in 0..body.len() {
            let mut other = body.clone();
            other[at] ^= changes[at % 4];
            let _ = array.elements(&other, &mut out);
        }
    }
}

#[test]
fn what_is_not_read_is_named() {
    let [bare, headed] = of_each_layout();
    let refused = |golden: &Golden, at: usize, byte: u8| {
        let mut stream = golden.stream.clone();
        let at = if at < 8 { at } else { stream.len() - at };
        stream[at] = byte;
        Sz3Array::of_stream(&stream, golden.number).unwrap_err().to_string()
    };
    let version = "sz3: a version of the layout other than 3.3.2 is not supported";
    assert_eq!(refused(&headed, 7, 4), version);
    // From the end: the rank, the block, the symbols, the type, the flags.
    let threads = "sz3: a stream in parts, written by several threads is not supported";
    assert_eq!(refused(&headed, 11, 0x88), threads);
    let mut stream = bare.stream.clone();
    let flag = stream.len() - 5;
    stream[flag] = 1;
    let error = Sz3Array::of_stream(&stream, bare.number).unwrap_err();
    assert_eq!(error.to_string(), threads);
    let error = Sz3Array::of_stream(b"", bare.number).unwrap_err();
    assert_eq!(error, corrupt("the stream has no configuration"));
}

#[test]
fn client_data_of_hdf5_states_the_type() {
    let stage = |values: &[u32]| Sz3Stage::hdf5(values);
    let numbers = |number| Some(Sz3Stage::Numbers(number));
    assert_eq!(stage(&[2, 0, 30, 20, 0, 1]), numbers(Sz3Number::Float32));
    assert_eq!(stage(&[1, 9, 0, 20]), numbers(Sz3Number::Int64));
    assert_eq!(stage(&[1, 9, 1, 0]), numbers(Sz3Number::Int64));
    assert_eq!(stage(&[4, 2, 3, 1, 5, 2]), numbers(Sz3Number::Uint8));
    // Fewer than 20 elements, and strings, are stored as they are.
    assert_eq!(stage(&[1, 9, 0, 19]), Some(Sz3Stage::Plain));
    assert_eq!(stage(&[]), Some(Sz3Stage::Plain));
    let mut out = [0; 3];
    Sz3Stage::Plain.undo_into(b"abc", &mut out).unwrap();
    assert_eq!(&out, b"abc");
    for bad in [&[2, 10, 30, 20][..], &[5, 0, 2, 2, 2, 2, 2], &[2, 0, 30], &[3], &[0, 0, 0, 0]] {
        assert_eq!(stage(bad), None, "{bad:?}");
        assert!(hdf5_stage(32024, bad, 4).unwrap_err().to_string().contains("options"));
    }
    // The other filter has the bytes of a configuration, which is at the end of the stream too.
    let [_, headed] = of_each_layout();
    let len = Sz3Array::of_stream(&headed.stream, headed.number).unwrap().head.payload.len();
    let mut config = headed.stream[16 + len..].to_vec();
    config.resize(config.len().next_multiple_of(4), 0);
    let words = config.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    let words: Vec<u32> = words.collect();
    let wanted = if headed.count < 20 { Some(Sz3Stage::Plain) } else { numbers(headed.number) };
    assert_eq!(stage(&words), wanted);
    assert_eq!(stage(&words[..2]), None);
}

#[test]
fn lengths_are_bounded() {
    let [bare, _] = of_each_layout();
    let array = Sz3Array::of_stream(&bare.stream, bare.number).unwrap();
    assert_eq!(Sz3Array::decoded_max(3), 3 << 24);
    assert!(array.decode(&mut vec![0; bare.len() + 1]).is_err());
    assert!(array.decode(&mut []).is_err());
    // A length before zstd that no array of so few elements needs.
    let mut payload = (1_u64 << 32).to_le_bytes().to_vec();
    payload.extend(&array.head.payload[8..]);
    let mut other = array.clone();
    other.head.payload = &payload;
    assert!(matches!(other.decode(&mut vec![0; bare.len()]), Err(Error::Lengths { .. })));
}

#[test]
fn numbers_outside_the_type_are_cut_as_on_x86() {
    assert_eq!(i8::of_f64(300.5), 44);
    assert_eq!(u8::of_f64(-1.5), 255);
    assert_eq!((i32::of_f64(-2_147_483_648.9), i32::of_f64(2_147_483_648.0)), (i32::MIN, i32::MIN));
    assert_eq!((u16::of_f64(f64::NAN), u16::of_f64(1e10)), (0, 0));
    assert_eq!((u32::of_f64(-1.0), u32::of_f64(1e30)), (u32::MAX, 0));
    assert_eq!((i64::of_f64(1e30), i64::of_f64(-7.9)), (i64::MIN, -7));
    assert_eq!((u64::of_f64(1.5e19), u64::of_f64(-1.0)), (15_000_000_000_000_000_000, u64::MAX));
    assert_eq!(u64::of_f64(f64::NAN), 1 << 63);
}
