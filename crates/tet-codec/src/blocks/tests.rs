//! Values as the libraries of the types have them: `ml_dtypes` 0.5 and `gguf` 0.19 wrote the two files.

use super::*;

/// All codes of the floats of eight bits, then those of four, each as the float32 that `ml_dtypes` makes of it.
const FLOATS: &[u8] = include_bytes!("floats.bin");
/// Of each type of blocks, two blocks of random bits and the values that `gguf.dequantize` makes of them.
const GGML: &[u8] = include_bytes!("ggml.bin");

fn decoded(block: NumberBlock, blocks: &[u8], skipped: u64, count: usize) -> Vec<u8> {
    let mut out = vec![0xee; count * 4];
    block.decode(blocks, skipped, &mut out).unwrap();
    out
}

/// Whether both are the same numbers; the bits of a NaN may be others.
fn is_same(left: &[u8], right: &[u8]) -> bool {
    let numbers = |bytes: &[u8]| -> Vec<f32> {
        bytes.as_chunks::<4>().0.iter().map(|it| f32::from_le_bytes(*it)).collect()
    };
    let same = |(a, b): (f32, f32)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    left.len() == right.len() && numbers(left).into_iter().zip(numbers(right)).all(same)
}

#[test]
fn every_code_of_a_float_has_the_value_that_ml_dtypes_gives_it() {
    let codes: Vec<u8> = (0..=255).collect();
    let names = ["e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0fnu"];
    for (name, values) in names.iter().zip(FLOATS.as_chunks::<1024>().0) {
        let block = NumberBlock::from_name(&format!("float8_{name}")).unwrap();
        assert!(is_same(&decoded(block, &codes, 0, 256), values), "{name}");
    }
    let fours = FLOATS[5 * 1024..].as_chunks::<4>().0;
    let of_byte = |byte: usize| [fours[byte & 15], fours[byte >> 4]].concat();
    let wanted: Vec<u8> = (0..256).flat_map(of_byte).collect();
    let block = NumberBlock::from_name("float4_e2m1fn").unwrap();
    assert_eq!(decoded(block, &codes, 0, 512), wanted);
}

#[test]
fn blocks_are_decoded_to_the_bits_that_gguf_computes() {
    let mut rest = GGML;
    for block in &ALL[6..] {
        let (blocks, behind) = rest.split_at(2 * block.len() as usize);
        let (values, behind) = behind.split_at(8 * block.count() as usize);
        rest = behind;
        let count = block.count() as usize;
        assert_eq!(decoded(*block, blocks, 0, 2 * count), values, "{}", block.name());
        // Parts that begin and end inside of blocks.
        for (first, len) in [(0, 1), (1, count), (count - 1, 2), (count, 3), (2 * count - 1, 1)] {
            let part = decoded(*block, blocks, first as u64, len);
            assert_eq!(part, values[4 * first..][..4 * len], "{} {first}", block.name());
        }
        let mut out = vec![0; 4 * count];
        assert!(block.decode(blocks, count as u64 + 1, &mut out).is_err());
    }
    assert!(rest.is_empty());
}

/// The numbers of a block of several bytes each, as places of its bytes.
#[test]
fn big_endian_blocks_have_the_same_values() {
    let numbers: [&[(usize, usize)]; 10] = [
        &[(0, 2)],
        &[(0, 2), (2, 2)],
        &[(0, 2), (2, 4)],
        &[(0, 2), (2, 2), (4, 4)],
        &[(0, 2)],
        &[(80, 2), (82, 2)],
        &[(108, 2)],
        &[(0, 2), (2, 2)],
        &[(0, 2), (2, 2)],
        &[(208, 2)],
    ];
    let mut rest = GGML;
    for (block, numbers) in ALL[6..].iter().zip(numbers) {
        let mut blocks = rest[..block.len() as usize].to_vec();
        let (_, values) = rest.split_at(2 * block.len() as usize);
        rest = &values[8 * block.count() as usize..];
        numbers.iter().for_each(|&(at, len)| blocks[at..at + len].reverse());
        let count = block.count() as usize;
        assert_eq!(decoded(block.swapped(), &blocks, 0, count), values[..4 * count]);
    }
}

#[test]
fn halves_are_widened_exactly() {
    for (half, wide) in [(0, 0.0), (0x3c00, 1.0), (1, 2_f32.powi(-24)), (0xfc00, f32::NEG_INFINITY)]
    {
        assert_eq!(widened(half), wide, "{half:04x}");
    }
    assert!(widened(0x7e00).is_nan());
}
