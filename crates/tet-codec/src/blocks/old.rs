//! Blocks of 32 quantized numbers with one scale: the older types of ggml.

use super::{Block, Order, Ordered};

/// The bytes of a part of a block.
pub(super) fn part<const LEN: usize>(block: &[u8], at: usize) -> [u8; LEN] {
    block.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; LEN])
}

/// The low four bits of 16 bytes, then the high ones.
fn nibbles(bytes: [u8; 16]) -> [u8; 32] {
    let mut all = [0; 32];
    for (at, byte) in bytes.into_iter().enumerate() {
        (all[at], all[at + 16]) = (byte & 15, byte >> 4);
    }
    all
}

/// Five bits: four of each, and one of a word.
fn fives(low: [u8; 16], high: u32) -> [u8; 32] {
    let mut all = nibbles(low);
    for (at, five) in all.iter_mut().enumerate() {
        *five |= if high >> at & 1 == 1 { 16 } else { 0 };
    }
    all
}

/// Sets each value to what `of` computes of the quantized number at its place.
fn set(values: &mut [f32; 32], quants: [u8; 32], of: impl Fn(f32) -> f32) {
    for (value, quant) in values.iter_mut().zip(quants) {
        *value = of(f32::from(quant));
    }
}

/// A scale; 32 times 4 bits.
pub(super) type Q4_0<O> = Ordered<(O, [u8; 18])>;
/// A scale, a minimum; 32 times 4 bits.
pub(super) type Q4_1<O> = Ordered<(O, [u8; 20])>;
/// A scale; 32 times 1 bit; 32 times 4 bits.
pub(super) type Q5_0<O> = Ordered<(O, [u8; 22])>;
/// A scale, a minimum; 32 times 1 bit; 32 times 4 bits.
pub(super) type Q5_1<O> = Ordered<(O, [u8; 24])>;
/// A scale; 32 integers.
pub(super) type Q8_0<O> = Ordered<(O, [u8; 34])>;

impl<O: Order> Block<32, 18> for Q4_0<O> {
    fn values(block: &[u8; 18], values: &mut [f32; 32]) {
        let scale = O::half(part(block, 0));
        set(values, nibbles(part(block, 2)), |quant| scale * (quant - 8.0));
    }
}

impl<O: Order> Block<32, 20> for Q4_1<O> {
    fn values(block: &[u8; 20], values: &mut [f32; 32]) {
        let (scale, min) = (O::half(part(block, 0)), O::half(part(block, 2)));
        set(values, nibbles(part(block, 4)), |quant| scale * quant + min);
    }
}

impl<O: Order> Block<32, 22> for Q5_0<O> {
    fn values(block: &[u8; 22], values: &mut [f32; 32]) {
        let scale = O::half(part(block, 0));
        let quants = fives(part(block, 6), O::word(part(block, 2)));
        set(values, quants, |quant| scale * (quant - 16.0));
    }
}

impl<O: Order> Block<32, 24> for Q5_1<O> {
    fn values(block: &[u8; 24], values: &mut [f32; 32]) {
        let (scale, min) = (O::half(part(block, 0)), O::half(part(block, 2)));
        let quants = fives(part(block, 8), O::word(part(block, 4)));
        set(values, quants, |quant| scale * quant + min);
    }
}

impl<O: Order> Block<32, 34> for Q8_0<O> {
    fn values(block: &[u8; 34], values: &mut [f32; 32]) {
        let scale = O::half(part(block, 0));
        for (value, quant) in values.iter_mut().zip(part::<32>(block, 2)) {
            *value = f32::from(quant.cast_signed()) * scale;
        }
    }
}
