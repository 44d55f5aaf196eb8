//! Streams of the reference library, which `make_golden.py` made; and damaged ones.

use super::*;
use crate::Stage;
use crate::filter::ZfpStage;

/// The type, the shape, the stream and what it decodes to.
type Golden = (&'static str, Vec<u64>, Vec<u8>, Vec<u8>);

/// The streams of the file.
fn golden() -> Vec<Golden> {
    let bytes = |text: &str| -> Vec<u8> {
        let pairs = text.as_bytes().as_chunks::<2>().0.iter();
        pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    };
    let lines = include_str!("golden.txt").lines();
    lines
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let shape = words[1].split('x').map(|extent| extent.parse().unwrap()).collect();
            (words[0], shape, bytes(words[2]), bytes(words[3]))
        })
        .collect()
}

#[test]
fn streams_of_the_reference_library_are_decoded_bit_for_bit() {
    let all = golden();
    assert_eq!(all.len(), 72);
    for (dtype, shape, stream, wanted) in all {
        let (array, start) = ZfpArray::of_header(&stream).unwrap();
        let number = match dtype {
            "i4" => ZfpNumber::Int32,
            "i8" => ZfpNumber::Int64,
            "f4" => ZfpNumber::Float32,
            _ => ZfpNumber::Float64,
        };
        assert_eq!((array.number(), array.shape()), (number, shape.as_slice()));
        let mut out = vec![0xAA; wanted.len()];
        array.decode(&stream, start, &mut out).unwrap();
        assert_eq!(out, wanted, "{dtype} {shape:?}");
        let mut staged = vec![0; wanted.len()];
        ZfpStage::Stated.undo_into(&stream, &mut staged).unwrap();
        assert_eq!(staged, wanted);
        assert!(ZfpStage::Stated.undo_into(&stream, &mut staged[1..]).is_err());
    }
}

#[test]
fn client_data_of_hdf5_has_the_header() {
    let (.., stream, wanted) = golden().into_iter().find(|it| it.0 == "f8").unwrap();
    // A header of 96 bits ends with a byte.
    let words = stream[..12].as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    let values: Vec<u32> = [0x1015_5111].into_iter().chain(words).collect();
    let stage = ZfpStage::hdf5(&values).unwrap();
    let mut out = vec![0; wanted.len()];
    stage.undo_into(&stream[12..], &mut out).unwrap();
    assert_eq!(out, wanted);
    assert_eq!(ZfpStage::hdf5(&values[..3]), None);
    assert_eq!(ZfpStage::hdf5(&[]), None);
}

#[test]
fn short_streams_are_refused() {
    for (dtype, shape, stream, wanted) in golden() {
        let mut out = vec![0; wanted.len()];
        let mut is_refused = false;
        for len in (0..stream.len()).rev() {
            let found = ZfpStage::Stated.undo_into(&stream[..len], &mut out);
            // Streams end with padding up to a whole word, which is not needed.
            assert!(found.is_err() || !is_refused, "{dtype} {shape:?} {len}");
            is_refused |= found.is_err();
        }
        assert!(is_refused);
    }
}

#[test]
fn changed_streams_decode_or_are_refused() {
    for (_, _, stream, wanted) in golden() {
        let mut out = vec![0; wanted.len()];
        for at in 0..stream.len() {
            for change in [1, 0x10, 0x80, 0xFF] {
                let mut other = stream.clone();
                other[at] ^= change;
                let _ = ZfpStage::Stated.undo_into(&other, &mut out);
            }
        }
    }
}

#[test]
fn lengths_are_bounded_by_the_stream() {
    let array = ZfpArray::new(ZfpNumber::Float64, &[1 << 40], ZfpMode::REVERSIBLE).unwrap();
    assert_eq!(array.decoded_max(2), 2 * 8 * 4 * 8);
    assert!(array.decode(&[0; 2], 0, &mut [0; 8]).is_err());
    // A bit of zero is a block of zeros.
    let array = ZfpArray::new(ZfpNumber::Float32, &[33], ZfpMode::REVERSIBLE).unwrap();
    let mut out = [1; 132];
    array.decode(&[0, 0], 0, &mut out).unwrap();
    assert_eq!(out, [0; 132]);
    assert!(array.decode(&[0], 0, &mut out).is_err());
    assert_eq!(ZfpArray::new(ZfpNumber::Float32, &[1; 5], ZfpMode::REVERSIBLE), None);
    assert_eq!(ZfpArray::new(ZfpNumber::Float32, &[], ZfpMode::REVERSIBLE), None);
}
