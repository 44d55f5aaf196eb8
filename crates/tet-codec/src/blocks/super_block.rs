//! Blocks of 256 quantized numbers, in groups with a scale of few bits each: the types `Q2_K` to `Q6_K` of ggml.

use super::old::part;
use super::{Block, Order, Ordered};

/// 16 times 4 bits of scale and of minimum; 256 times 2 bits; a scale and a minimum of these.
pub(super) type Q2K<O> = Ordered<(O, [u8; 84])>;
/// 256 times 1 bit; 256 times 2 bits; 16 scales of 6 bits; a scale of these.
pub(super) type Q3K<O> = Ordered<(O, [u8; 110])>;
/// A scale and a minimum of 8 scales and minima of 6 bits; 256 times 4 bits.
pub(super) type Q4K<O> = Ordered<(O, [u8; 144])>;
/// Super-blocks with 256 high bits before the 4-bit parts.
pub(super) type Q5K<O> = Ordered<(O, [u8; 176])>;
/// 256 times 4 bits; 256 times 2 bits; 16 scales; a scale of these.
pub(super) type Q6K<O> = Ordered<(O, [u8; 210])>;

/// The number of two bits at a place, of 256 in 64 bytes: 32 bytes hold 128 of them.
fn twos(bytes: &[u8; 64], at: usize) -> u8 {
    bytes[at / 128 * 32 + at % 32] >> (at % 128 / 32 * 2) & 3
}

/// The bit at a place, of 256 in 32 bytes.
fn bit(bytes: &[u8; 32], at: usize) -> u8 {
    bytes[at % 32] >> (at / 32) & 1
}

/// The number of four bits at a place, of 256 in 128 bytes: `width` bytes hold twice as many.
fn fours<const WIDTH: usize>(bytes: &[u8; 128], at: usize) -> u8 {
    bytes[at / (2 * WIDTH) * WIDTH + at % WIDTH] >> (at / WIDTH % 2 * 4) & 15
}

impl<O: Order> Block<256, 84> for Q2K<O> {
    fn values(block: &[u8; 84], values: &mut [f32; 256]) {
        let (scales, quants) = (part::<16>(block, 0), part::<64>(block, 16));
        let (scale, min) = (O::half(part(block, 80)), O::half(part(block, 82)));
        for (group, (values, own)) in
            values.as_chunks_mut::<16>().0.iter_mut().zip(scales).enumerate()
        {
            let (scale, min) = (scale * f32::from(own & 15), min * f32::from(own >> 4));
            for (at, value) in values.iter_mut().enumerate() {
                *value = scale * f32::from(twos(&quants, group * 16 + at)) - min;
            }
        }
    }
}

/// The scales of a `Q3_K`: four bits of each, then two bits of each.
fn sixes(bytes: [u8; 12]) -> [i8; 16] {
    std::array::from_fn(|at| {
        let low = bytes[at % 8] >> (at / 8 * 4) & 15;
        let high = bytes[8 + at % 4] >> (at / 4 * 2) & 3;
        (low | high << 4).cast_signed() - 32
    })
}

impl<O: Order> Block<256, 110> for Q3K<O> {
    fn values(block: &[u8; 110], values: &mut [f32; 256]) {
        let (high, low) = (part::<32>(block, 0), part::<64>(block, 32));
        let (scales, scale) = (sixes(part(block, 96)), O::half(part(block, 108)));
        for (group, (values, own)) in
            values.as_chunks_mut::<16>().0.iter_mut().zip(scales).enumerate()
        {
            let scale = scale * f32::from(own);
            for (at, value) in values.iter_mut().enumerate() {
                let at = group * 16 + at;
                // A bit that is set takes nothing off.
                let quant = twos(&low, at).cast_signed() - 4 * (1 - bit(&high, at).cast_signed());
                *value = scale * f32::from(quant);
            }
        }
    }
}

/// The scales and minima of a `Q4_K` or a `Q5_K`, by group.
fn scales(bytes: [u8; 12]) -> [[u8; 2]; 8] {
    std::array::from_fn(|at| match at {
        0..4 => [bytes[at] & 63, bytes[at + 4] & 63],
        _ => {
            let (low, scale, min) = (bytes[at + 4], bytes[at - 4], bytes[at]);
            [low & 15 | scale >> 2 & 0x30, low >> 4 | min >> 2 & 0x30]
        }
    })
}

/// Sets the values of groups of 32 with a scale and a minimum each.
fn set_groups(
    values: &mut [f32; 256],
    [scale, min]: [f32; 2],
    groups: [[u8; 2]; 8],
    quant: impl Fn(usize) -> u8,
) {
    for (group, (values, own)) in values.as_chunks_mut::<32>().0.iter_mut().zip(groups).enumerate()
    {
        let (scale, min) = (scale * f32::from(own[0]), min * f32::from(own[1]));
        for (at, value) in values.iter_mut().enumerate() {
            *value = scale * f32::from(quant(group * 32 + at)) - min;
        }
    }
}

impl<O: Order> Block<256, 144> for Q4K<O> {
    fn values(block: &[u8; 144], values: &mut [f32; 256]) {
        let whole = [O::half(part(block, 0)), O::half(part(block, 2))];
        let quants = part::<128>(block, 16);
        set_groups(values, whole, scales(part(block, 4)), |at| fours::<32>(&quants, at));
    }
}

impl<O: Order> Block<256, 176> for Q5K<O> {
    fn values(block: &[u8; 176], values: &mut [f32; 256]) {
        let whole = [O::half(part(block, 0)), O::half(part(block, 2))];
        let (high, low) = (part::<32>(block, 16), part::<128>(block, 48));
        let quant = |at| fours::<32>(&low, at) | bit(&high, at) << 4;
        set_groups(values, whole, scales(part(block, 4)), quant);
    }
}

impl<O: Order> Block<256, 210> for Q6K<O> {
    fn values(block: &[u8; 210], values: &mut [f32; 256]) {
        let (low, high) = (part::<128>(block, 0), part::<64>(block, 128));
        let (scales, scale) = (part::<16>(block, 192), O::half(part(block, 208)));
        for (group, (values, own)) in
            values.as_chunks_mut::<16>().0.iter_mut().zip(scales).enumerate()
        {
            let scale = scale * f32::from(own.cast_signed());
            for (at, value) in values.iter_mut().enumerate() {
                let at = group * 16 + at;
                let quant = fours::<64>(&low, at) | twos(&high, at) << 4;
                *value = scale * f32::from(quant.cast_signed() - 32);
            }
        }
    }
}
